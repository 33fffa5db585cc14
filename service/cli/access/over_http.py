"""A running service behind its HTTP API, through the client that callers have too (`gainsay_client`).

Errors of the client become those that commands print. A service on another machine is remembered by the heads of its
logs (`heads_file`), so that a log that forks between two commands is noticed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, unquote, urlsplit

import msgspec

import gainsay_client
from service.audit.checkpoint import BadCheckpoint, Checkpoint, parse_checkpoint
from service.audit.note import BadNote, decode_base64, parse_note
from service.audit.report_forms import Form, Paper
from service.audit.tree import ProofError, verify_consistency
from service.cli.access.advice import COMMANDS, Advice
from service.cli.access.batches_over_http import BatchesOverHTTP
from service.cli.access.downloads import copy, download
from service.cli.access.port import (
    JSON,
    Aborted,
    Contradicted,
    Exported,
    Query,
    Recorded,
    Running,
    ShownEvent,
    SignedHead,
    Working,
)
from service.cli.access.problems import ServiceProblem, whole_id
from service.cli.members import items, member
from service.errors import GainsayError, NotFound, NotProvable
from service.policy import Limits
from service.report import sent
from service.report.result.types import Gate, Result

if TYPE_CHECKING:
    from gainsay_client import AsyncGainsay
    from service.cli.case_options import CaseRules
    from service.web.budget import TenantBudget
    from service.web.citations import CheckedCitations
    from service.web.model_types import ModelList
    from service.web.quote_types import PriceQuote

QUICK_S, PATIENT_S = 3.0, 30.0
"""For how long a request is sent again: the first one, whose address may be wrong, and all others."""
RECALL_PAGE = 100
T = TypeVar("T")
MEDIA: Mapping[Form, str] = {"html": "text/html", "markdown": "text/markdown", "pdf": "application/pdf"}
CLOSES = "the service"
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*|sha256:[0-9a-f]{64}", re.ASCII)
"""Names of documents that stand in an address as they are."""
_AMOUNT = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)


class OverHTTP(BatchesOverHTTP):
    """A service that runs elsewhere."""

    def __init__(self, address: str, client: AsyncGainsay, kept: Path | None, advice: Advice = COMMANDS) -> None:
        self._address, self._client, self._kept, self._advice = address, client, kept, advice
        self._batches = client

    @property
    def name(self) -> str:
        """Its address."""
        return self._address

    def with_headers(self, headers: Mapping[str, str]) -> OverHTTP:
        """The service over the same connections, with these headers in each request."""
        return OverHTTP(self._address, self._client.with_headers(headers), self._kept, self._advice)

    async def rules(self) -> CaseRules:
        """What the policy of the service says of cases; raises `ServiceProblem`."""
        from service.cli.case_options import CaseRules

        found = await self._json("/v1/policy", ())
        try:
            return CaseRules(msgspec.convert(found["limits"], Limits), str(found["debate"]["format"]))
        except (msgspec.ValidationError, LookupError, TypeError) as error:
            raise self._unknown(f"a policy that this version cannot read ({error})") from None

    async def gate(self, case: JSON) -> Gate:
        """The gate's decision by the policy of the service; nothing is recorded."""
        with self._spoken():
            return self._read(await self._client.gate(_plain(case)), Gate)

    async def quote(self, case: JSON) -> PriceQuote:
        """The cost of a case by the policy of the service, and under its limits; nothing is recorded."""
        from service.web.quote_types import PriceQuote

        with self._spoken():
            return self._read(await self._client.quote(_plain(case)), PriceQuote)

    async def check_citations(self, batch: JSON) -> CheckedCitations:
        """Verdicts on citations by the engine of the service; nothing is recorded."""
        from service.web.citations import CheckedCitations

        with self._spoken():
            return self._read(await self._client.check_citations(_plain(batch)), CheckedCitations)

    async def models(self) -> ModelList:
        """The models of the service."""
        from service.web.model_types import ModelList

        with self._spoken():
            return self._read(await self._client.models(), ModelList)

    async def budget(self) -> TenantBudget:
        """What remains of the tenant's money."""
        from service.web.budget import TenantBudget

        with self._spoken():
            return self._read(await self._client.budget(), TenantBudget)

    async def find(self, query: Query) -> JSON:
        """One page of debates."""
        return await self._json("/v1/debates", query)

    async def result(self, debate: str) -> Result:
        """The whole result; raises `ServiceProblem` for one that this build cannot read."""
        return self._read(await self.result_json(debate), Result, ", or --json")

    async def result_json(self, debate: str) -> JSON:
        """The whole result as it came, of a newer service too."""
        with self._spoken():
            return cast(JSON, await self._client.result(debate, view="full"))

    async def documents(self, debate: str) -> JSON:
        """The list of a debate's documents."""
        with self._spoken():
            return await self._client.documents(debate)

    async def document(self, debate: str, document: str) -> str:
        """The text of a document."""
        name = document
        if not _PLAIN.fullmatch(document):  # not fit for an address: the list has one with its hash
            listed = items(await self.documents(debate), "documents")
            name = next((_last(member(one, "href")) for one in listed if member(one, "id") == document), "")
            if not name:
                known = ", ".join(member(one, "id") for one in listed) or "no document"
                raise NotFound(f"the case of debate {debate} has no document of this name; it has {known}")
        with self._spoken():
            return await self._client.document(debate, name)

    async def report(self, debate: str, form: Form, paper: Paper) -> bytes:
        """The report of a debate."""
        with self._spoken():
            answer = await self._client.request(
                "GET", f"{_path(debate)}/report", query={"paper": paper}, headers={"accept": MEDIA[form]}
            )
        if answer.media != MEDIA[form] or "request-id" not in answer.headers:  # any server may answer with a page
            raise self._unknown(f"{answer.media or 'no media type'} and not with a report as {MEDIA[form]}")
        return answer.body

    async def follow(self, debate: str) -> AsyncGenerator[ShownEvent, None]:
        """The events of a debate, across connections that break."""
        with self._spoken():
            stream = cast("AsyncGenerator[gainsay_client.Event, None]", self._client.follow(debate))
            async with aclosing(stream) as events:
                async for event in events:
                    yield ShownEvent(event.name, event.data)

    async def submit(self, case: JSON, key: str | None = None) -> Recorded:
        """Record a case under this key, or under one of its own."""
        with self._spoken():
            found = await self._client.submit(_plain(case), key=key)
        return Recorded(whole_id(found.debate_id), found.status)

    @asynccontextmanager
    async def running(self, debate: str) -> AsyncIterator[Running]:
        """The workers of the service run it; an error of its stream is all the trouble that shows here."""
        yield Running(asyncio.get_running_loop().create_future(), lambda: None, CLOSES)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Working]:
        """The workers of the service run all debates."""
        yield Working(asyncio.get_running_loop().create_future(), lambda: None)

    async def abort(self, debate: str, why: str) -> Aborted:
        """Abort a debate."""
        with self._spoken():
            found = await self._client.abort(debate, reason=why)
        spent, held = member(found, "spentUSD"), member(found, "stillHeldUSD")
        if not (_AMOUNT.fullmatch(spent) and _AMOUNT.fullmatch(held)):
            raise self._unknown("an abort without its amounts")
        return Aborted(debate, member(found, "status"), spent, held, None)

    async def bundle(self, debate: str, file: IO[bytes]) -> None:
        """Write the bundle of a debate, once it is whole."""
        with self._spoken(), download() as part:
            await self._client.bundle(debate, part)
            copy(part, file)

    async def export(self, log: str | None, filters: JSON, form: str, file: IO[bytes]) -> Exported:
        """Write the records of a log, once they are whole."""
        logs = await self._logs()
        name = _named(logs, log)
        asked = {"task_type" if key == "taskType" else key: value for key, value in filters.items()}
        with self._spoken(), download() as part:
            await self._client.export(name, part, form=cast(Any, form), **asked)
            copy(part, file)
        return Exported(name, [each["log"] for each in logs if each["log"] != name])

    async def head(self, log: str | None) -> SignedHead:
        """The latest head of a log."""
        logs = await self._logs()
        name = _named(logs, log)
        found = next(each for each in logs if each["log"] == name)
        if "size" not in found:
            raise NotProvable(f"the log {name} has no checkpoint yet; check that a sequencer runs")
        with self._spoken():
            note = (await self._client.checkpoint(name)).encode()
        try:
            return SignedHead(parse_checkpoint(parse_note(note).text), note, member(found, "key"))
        except (BadNote, BadCheckpoint) as error:
            raise self._unknown(f"a checkpoint of {name} that is none ({error.detail})") from None

    async def expect_prefix(self, kept: Checkpoint, head: Checkpoint) -> None:
        """Verify the proof that one head continues the other (RFC 9162, 2.1.4.2)."""
        path: Sequence[bytes | None] = ()
        if 0 < kept.size < head.size:
            with self._spoken():
                lines = await self._client.consistency(head.origin, kept.size, head.size)
            path = [decode_base64(line) for line in lines]
        try:
            verify_consistency(kept.size, head.size, [node or b"" for node in path], kept.root, head.root)
        except ProofError as error:
            raise Contradicted(
                f"the first {kept.size} records of the log {head.origin} are not those of the head that was kept, "
                f"whose root is {kept.root.hex()}: {error}"
            ) from None

    async def keys(self) -> JSON:
        """The register of verifier keys."""
        return await self._json("/v1/audit/keys", ())

    async def recall(self, asked: str, value: str) -> JSON:
        """All debates that rest on something, over all pages."""
        found: list[Any] = []
        after: Query = ()
        while True:
            page = await self._json("/v1/audit/recall", ((asked, value), ("limit", str(RECALL_PAGE)), *after))
            found += page.get("debates", ())
            if not (following := page.get("next")) or after == (("after", following),):
                return {"asked": asked, "value": value, "debates": found}
            after = (("after", following),)

    async def _logs(self) -> Sequence[JSON]:
        """The caller's logs, oldest first."""
        return [each for each in items(await self._json("/v1/audit/logs", ()), "logs") if "log" in each]

    async def post(self, path: str, body: JSON, kind: type[T]) -> T:
        """What a request that changes something is answered with; it is sent once."""
        with self._spoken():
            answer = (await self._client.request("POST", path, body=dict(body))).members()
        return self._read(answer, kind)

    async def get(self, path: str, query: Query, kind: type[T]) -> T:
        """What a request is answered with, as a type."""
        return self._read(await self._json(path, query), kind)

    async def _json(self, path: str, query: Query) -> dict[str, Any]:
        named: dict[str, list[str]] = {}
        for name, value in query:
            named.setdefault(name, []).append(value)
        with self._spoken():
            return (await self._client.request("GET", path, query=named)).members()

    def _read(self, answer: object, kind: type[T], instead: str = "") -> T:
        """An answer as the type that the pages show; raises `ServiceProblem` for one that this build cannot read."""
        try:
            return sent.read_json(answer, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise self._unknown(f"a {kind.__name__} that this version cannot read ({error})", instead) from None

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Raise the client's errors as those of commands."""
        try:
            yield
        except gainsay_client.GainsayError as error:
            raise problem_of(error, self._address, self._kept, self._advice) from error

    def _unknown(self, found: str, instead: str = "") -> ServiceProblem:
        return ServiceProblem(
            f"{self._address} answered with {found}; it may be of a newer version: use that one{instead}",
            code="unexpected_answer",
            status=502,
        )


@asynccontextmanager
async def connected(
    address: str, data: Path, token: str | None = None, advice: Advice = COMMANDS
) -> AsyncIterator[OverHTTP]:
    """The service at an address, which `service.policy.settings.read_server` has checked.

    ``token`` shows it who the caller is.

    ``data`` is the folder in which heads of logs are remembered. Raises `ServiceProblem` for one that cannot be used.
    """
    clients = Clients(address, data, advice)
    await clients.reach(token)
    async with clients.service(token, PATIENT_S) as service:
        yield service


class Clients:
    """A service for callers each of whom has a credential; the heads of its logs are remembered for all of them."""

    def __init__(self, address: str, data: Path, advice: Advice) -> None:
        self._address, self._advice = address, advice
        self._heads = remembered(address, data)
        self._kept = heads_file(address, data) if isinstance(self._heads, gainsay_client.FileHeads) else None

    @asynccontextmanager
    async def service(self, token: str | None, seconds: float = PATIENT_S) -> AsyncIterator[OverHTTP]:
        """The service as the caller with this credential, or with none, sees it."""
        async with self._client(token, seconds) as client:
            yield OverHTTP(self._address, client, self._kept, self._advice)

    async def reach(self, token: str | None) -> None:
        """Raise `ServiceProblem` where nothing answers soon: a wrong address is reported without a long wait."""
        async with self._client(token, QUICK_S) as client:
            await _reach(client, self._address, self._kept)

    async def identify(self, token: str | None) -> None:
        """Raise the service's own error unless it lets this credential, or none, in."""
        async with self.service(token, QUICK_S) as service:
            await service.get("/v1/caller", (), object)

    def _client(self, token: str | None, seconds: float) -> AsyncGainsay:
        return gainsay_client.AsyncGainsay(self._address, token=token, heads=self._heads, give_up_after=seconds)


async def _reach(client: AsyncGainsay, address: str, kept: Path | None) -> None:
    try:
        await client.request("GET", "/")
    except (gainsay_client.Unreachable, gainsay_client.LogForked, gainsay_client.BadHeadStore) as error:
        raise problem_of(error, address, kept) from error
    except gainsay_client.NotFound as error:
        if address.endswith("/v1"):  # as other services have it in their addresses
            raise ServiceProblem(
                f"expected the address of a service, found that of its paths; write {address.removesuffix('/v1')}",
                code="unexpected_answer",
                status=502,
            ) from error
    except gainsay_client.GainsayError:  # something answers; what it is shows the command's own request
        pass


def remembered(address: str, data: Path) -> gainsay_client.HeadStore:
    """The heads of a service's logs: in a file, but for services of this machine.

    Services on this machine come and go at one address with new databases, whose logs have the same names.
    """
    from service.cli.access.place import is_here

    return gainsay_client.MemoryHeads() if is_here(address) else gainsay_client.FileHeads(heads_file(address, data))


def heads_file(address: str, data: Path) -> Path:
    """Where the heads of a service are remembered."""
    host = urlsplit(address).hostname or ""
    return data / "services" / f"{host}-{sha256(address.encode()).hexdigest()[:12]}.json"


def problem_of(
    error: gainsay_client.GainsayError, address: str, kept: Path | None, advice: Advice = COMMANDS
) -> GainsayError:
    """An error of the client as one that a command prints, with the code and the exit code of a local one."""
    match error:
        case gainsay_client.LogForked():
            until = f", and one of them in {kept}: remove it only if you know that the service was set up anew"
            words = f"{error.detail}. The heads were shown by {address}{until if kept else ''}"
            return ServiceProblem(words, code=error.code, status=500)
        case gainsay_client.Unreachable():
            words = (
                f"{error.detail}{_again(error, advice)}; check the address, and that the service runs (`gainsay serve`)"
            )
            return ServiceProblem(words, code=error.code, status=503)
        case gainsay_client.UnexpectedAnswer():
            words = f"{error.detail} ({address} may be no service of Gainsay: check --server or GAINSAY_SERVER)"
            return ServiceProblem(words, code=error.code, status=502, request=error.request_id)
        case _:
            return _answered(error, address, advice).later(error.retry_after)


def _answered(error: gainsay_client.GainsayError, address: str, advice: Advice) -> ServiceProblem:
    """An error that the service, or what stands before it, answered."""
    status = error.status or 500
    if error.code == f"http_{status}":  # without a problem document, which a service always sends
        words = f"expected an answer of Gainsay at {address}, found another server's: {error.detail}; check the address"
        return ServiceProblem(words, code="unexpected_answer", status=502, request=error.request_id)
    if isinstance(error, gainsay_client.Unavailable) and error.key:
        words = f"{error.detail}; the case may be recorded{_again(error, advice)}"
        return ServiceProblem(words, code=error.code, status=status, request=error.request_id)
    if status == 401:
        words = f"{error.detail}; {advice.credential}"
        return ServiceProblem(words, code=error.code, status=status, request=error.request_id)
    faults = [(fault.pointer, fault.detail) for fault in error.errors]
    words = error.detail.replace("say lastOperator: true", "give --last-operator")
    return ServiceProblem.of(words, error.code, status, faults, error.request_id)


def _again(error: gainsay_client.GainsayError, advice: Advice) -> str:
    """How a case whose fate is not known is sent again without a second bill."""
    return f"; {advice.repeat.format(key=error.key)}" if error.key else ""


def _named(logs: Sequence[JSON], log: str | None) -> str:
    """The log of this name, or the one to which new debates go; raises `NotFound`."""
    names = [str(each["log"]) for each in logs]
    if log is None and names:
        return names[-1]
    if log is None:
        raise NotFound("there is no log yet; nothing has been recorded")
    if log not in names:
        raise NotFound(f"there is no log {log[:200]!r}; GET /v1/audit/logs lists those that there are")
    return log


def _path(debate: str) -> str:
    return f"/v1/debates/{quote(debate, safe='')}"


def _plain(case: JSON) -> dict[str, Any]:
    """A body with the forms that the service itself gives numbers and amounts."""
    found: dict[str, Any] = json.loads(msgspec.json.encode(case))
    return found


def _last(address: str) -> str:
    """The last part of an address."""
    return unquote(address.rpartition("/")[2])
