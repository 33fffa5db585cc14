"""The calls of a client as generators of steps: what is asked, in which order, until what."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gainsay_client import files
from gainsay_client.errors import Conflict, GainsayError, Refused, TimedOut, UnexpectedAnswer, Unreachable
from gainsay_client.events import Follower, debate_stream, evaluation_stream
from gainsay_client.exchange import Exchange
from gainsay_client.heads import Head
from gainsay_client.steps import Give, Pause, Steps
from gainsay_client.wire import JSON, QUOTED, Answer, Request, encode, encoded, expect_accepted, log_path, part

if TYPE_CHECKING:
    from gainsay_client.types import CaseRequest, GateRequest

View: TypeAlias = Literal["summary", "full"]
ReportForm: TypeAlias = Literal["html", "markdown", "pdf"]
ResultForm: TypeAlias = Literal["json", "html", "markdown", "pdf"]
Value: TypeAlias = str | int | bool | datetime
Values: TypeAlias = Value | Sequence[Value] | None
Lines: TypeAlias = bytes | str | Iterable[Mapping[str, Any]]
"""A file of cases: as it is, or each line as its members."""

WAIT_MAX_S = 60
UNDER_WAY = ("queued", "running")
POLL_S = 1.0
DEBATES = "/v1/debates"
BATCHES = "/v1/batches"
EVALUATIONS = "/v1/evaluations"
EVALUATION_SETS = "/v1/evaluation-sets"
JSONL, ZIP = "application/jsonl", "application/zip"
LINES: dict[str, str] = {"jsonl": JSONL, "csv": "text/csv"}
MEDIA: dict[str, str] = {"html": "text/html", "markdown": "text/markdown", "pdf": "application/pdf"}
RESULT_MEDIA: dict[str, str] = {"json": JSON, **MEDIA}
FILTERS: dict[str, str] = {
    "since": "since",
    "until": "until",
    "task_type": "taskType",
    "use_case": "useCase",
    "model": "model",
    "status": "status",
    "format": "format",
    "outcome": "outcome",
    "confidence": "confidence",
    "flag": "flag",
    "materiality": "materiality",
    "human_review": "humanReview",
    "q": "q",
    "sort": "sort",
    "prompt": "prompt",
    "document": "document",
}
"""The names of filters here and in the service."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A case that is recorded, once, under ``key``.

    ``status`` is the service's word, such as queued, running, declined, completed. ``answer`` is what came: a
    Submission, or with a wait a Summary or Result; ``None`` where the case came before and its debate is not over.
    """

    debate_id: str
    status: str
    key: str
    replayed: bool
    answer: dict[str, Any] | None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.status not in UNDER_WAY


class Calls:
    """The calls of one client."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange

    def get(self, path: str, query: Iterable[tuple[str, str]] = ()) -> Steps[dict[str, Any]]:
        """The JSON object at a path."""
        return (yield from self.exchange.send(Request("GET", path, tuple(query)))).members()

    def text(self, path: str, query: Iterable[tuple[str, str]] = ()) -> Steps[str]:
        """The text at a path."""
        return (yield from self._accepted(path, tuple(query), "text/plain")).decode("utf-8", "replace")

    def _accepted(self, path: str, query: tuple[tuple[str, str], ...], media: str) -> Steps[bytes]:
        """What stands at a path, which is of this type or no answer of the service."""
        request = Request("GET", path, query, {"accept": media})
        answer = yield from self.exchange.send(request)
        expect_accepted(request, answer, self.exchange.terms.server)
        return answer.body

    def post(self, path: str, body: object) -> Steps[dict[str, Any]]:
        """The answer to a question that stores nothing and costs nothing, so that it may be asked again."""
        headers = {"content-type": JSON}
        return (yield from self.exchange.send(Request("POST", path, (), headers, encode(body)))).members()

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Values] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Steps[Answer]:
        """Any other operation. Without an Idempotency-Key nothing but a read is sent again."""
        given = {name.lower(): value for name, value in (headers or {}).items()}
        sent = None if body is None else encode(body)
        if sent is not None:
            given.setdefault("content-type", JSON)
        if not path.startswith("/"):  # it would be joined to the host, and lead with the token to another
            raise Refused(f"expected a path that begins with /, found {path[:QUOTED]!r}", code="bad_request")
        repeatable = method.upper() in ("GET", "HEAD", "OPTIONS") or "idempotency-key" in given
        asked = Request(method.upper(), path, pairs(query or {}), given, sent, repeatable)
        return (yield from self.exchange.send(asked))

    def submit(
        self, case: CaseRequest | Mapping[str, Any], key: str | None, wait: float | None, view: View
    ) -> Steps[Submitted]:
        """Record a case once. All tries go under one key, which an error has too."""
        key = str(uuid.uuid4()) if key is None else key
        try:
            return (yield from self._submit(case, key, wait, view))
        except Unreachable as lost:
            raise lost.under(key) from None
        except GainsayError as error:
            error.key = key
            raise

    def _submit(
        self, case: CaseRequest | Mapping[str, Any], key: str, wait: float | None, view: View
    ) -> Steps[Submitted]:
        headers = {"content-type": JSON, "idempotency-key": quoted_key(key)}
        waits = 0 if wait is None else int(max(0, min(wait, WAIT_MAX_S)))
        if wait is not None:
            headers["prefer"] = f"wait={waits}"
        asked = Request("POST", DEBATES, (("view", view),), headers, encode(case), waits=waits)
        try:
            answer = yield from self.exchange.send(asked)
        except Conflict as conflict:
            self.exchange.terms.server.expect_own(conflict.location)
            if conflict.code != "idempotency_in_progress" or conflict.debate_id is None:
                raise
            return Submitted(conflict.debate_id, "running", key, replayed=True, answer=None)
        self.exchange.terms.server.expect_own(answer.headers.get("location"))
        found = answer.members()
        if not isinstance(found.get("debateId"), str) or not isinstance(found.get("status"), str):
            raise UnexpectedAnswer(f"expected debateId and status of a recorded case, found {sorted(found)[:10]}")
        replayed = answer.headers.get("idempotency-replayed") == "true"
        return Submitted(found["debateId"], found["status"], key, replayed, found)

    def review(
        self, case: CaseRequest | Mapping[str, Any], key: str | None, timeout: float | None, view: View
    ) -> Steps[dict[str, Any]]:
        """Submit, wait, and read the result."""
        ends_at = self._ends_at(timeout)
        submitted = yield from self.submit(case, key, WAIT_MAX_S if timeout is None else timeout, view)
        if submitted.is_over and submitted.answer and submitted.answer.get("view") == view:
            return submitted.answer
        try:
            return (yield from self._wait_until(submitted.debate_id, ends_at, view))
        except Unreachable as lost:
            raise lost.under(submitted.key, submitted.debate_id) from None
        except GainsayError as error:  # the debate goes on, and so does its bill: it must not be lost with the wait
            error.key = submitted.key
            error.problem.setdefault("debateId", submitted.debate_id)
            raise

    def result(self, debate: str, view: View) -> Steps[dict[str, Any]]:
        """One debate in its present state."""
        return of_debate(debate, (yield from self.get(debate_path(debate), (("view", view),))))

    def wait(self, debate: str, timeout: float | None, view: View) -> Steps[dict[str, Any]]:
        """The result of a debate, once it is over; raises `TimedOut`."""
        return (yield from self._wait_until(debate, self._ends_at(timeout), view))

    def _ends_at(self, timeout: float | None) -> float | None:
        return None if timeout is None else self.exchange.terms.clock() + timeout

    def _wait_until(self, debate: str, ends_at: float | None, view: View) -> Steps[dict[str, Any]]:
        terms, tag = self.exchange.terms, ""
        while True:
            headers = {"if-none-match": tag} if tag else {}
            asked = Request("GET", debate_path(debate), (("view", view),), headers)
            answer = yield from self.exchange.send(asked)
            if answer.status != 304:
                found = of_debate(debate, answer.members())
                if found.get("status") not in UNDER_WAY and "retry-after" not in answer.headers:
                    return found
            tag = answer.headers.get("etag", "")
            pause = max(answer.retry_after or 0.0, POLL_S)
            if ends_at is not None and terms.clock() + pause > ends_at:
                raise TimedOut(f"debate {debate} is not over; it goes on, and can be waited for again", debate)
            yield Pause(pause)

    def follow(self, debate: str, after: int | None, view: View) -> Steps[None]:
        """Give the events of a debate."""
        yield from Follower(self.exchange, debate_stream(debate, view), after).follow()

    def abort(self, debate: str, reason: str | None) -> Steps[dict[str, Any]]:
        """Abort a debate, which is idempotent."""
        return (yield from self.post(f"{debate_path(debate)}/abort", {} if reason is None else {"reason": reason}))

    def gate(self, case: GateRequest | Mapping[str, Any]) -> Steps[dict[str, Any]]:
        """The gate's decision alone."""
        return (yield from self.post("/v1/gate", case))

    def quote(self, case: CaseRequest | Mapping[str, Any]) -> Steps[dict[str, Any]]:
        """What a case would cost."""
        return (yield from self.post("/v1/quotes", case))

    def find(self, query: Sequence[tuple[str, str]]) -> Steps[None]:
        """Give the debates of all pages."""
        after: tuple[tuple[str, str], ...] = ()
        while True:
            page = yield from self.get(DEBATES, (*query, *after))
            for debate in page.get("debates", ()):
                yield Give(debate)
            if not (following := page.get("next")):
                return
            if after == (("after", following),):
                raise UnexpectedAnswer("expected another cursor on the next page of debates, found the same one")
            after = (("after", following),)

    def report(self, debate: str, form: ReportForm, paper: str | None) -> Steps[bytes]:
        """A report in one of its forms."""
        return (yield from self._report(f"{debate_path(debate)}/report", form, MEDIA, paper))

    def _report(self, path: str, form: str, media: Mapping[str, str], paper: str | None) -> Steps[bytes]:
        query = () if paper is None else (("paper", paper),)
        return (yield from self._accepted(path, query, media_of(form, media)))

    def document(self, debate: str, document: str) -> Steps[str]:
        """The text of a document."""
        return (yield from self.text(f"{debate_path(debate)}/documents/{part(document)}"))

    def bundle(self, debate: str, file: str | PathLike[str]) -> Steps[Path]:
        """The evidence of a decision, in a file."""
        asked = Request("GET", f"{debate_path(debate)}/audit", (), {"accept": ZIP})
        return (yield from files.download(self.exchange, asked, Path(file), files.is_zip))

    def export(
        self, log: str, file: str | PathLike[str], form: Literal["jsonl", "csv"], filters: Mapping[str, Values]
    ) -> Steps[Path]:
        """The records of a log, in a file."""
        query = (*asked_of(filters), ("format", form))
        is_whole = files.is_export if form == "jsonl" else files.is_any
        asked = Request("GET", log_path(log, "records"), query, {"accept": media_of(form, LINES)})
        return (yield from files.download(self.exchange, asked, Path(file), is_whole))

    def create_batch(
        self,
        lines: Lines,
        ceiling: str | int | Decimal | None,
        deadline: Value | None,
        name: str | None,
        key: str | None,
    ) -> Steps[dict[str, Any]]:
        """Store a file of cases once. All tries go under one key, which an error has too."""
        query = pairs({"ceilingUSD": None if ceiling is None else str(ceiling), "deadline": deadline, "name": name})
        return (yield from self._stored(BATCHES, query, JSONL, lines_of(lines), key))

    def _stored(
        self, path: str, query: tuple[tuple[str, str], ...], media: str, body: bytes, key: str | None
    ) -> Steps[dict[str, Any]]:
        """What a service answers that stores a body once under a key."""
        key = str(uuid.uuid4()) if key is None else key
        headers = {"content-type": media, "idempotency-key": quoted_key(key)}
        try:
            answer = yield from self.exchange.send(Request("POST", path, query, headers, body))
        except Unreachable as lost:
            raise lost.under(key) from None
        except GainsayError as error:
            error.key = key
            raise
        self.exchange.terms.server.expect_own(answer.headers.get("location"))
        return answer.members()

    def batch_results(self, batch: str, file: str | PathLike[str], form: Literal["jsonl", "csv"]) -> Steps[Path]:
        """The lines of a batch with what became of them, or its decisions as a table, in a file."""
        asked = Request("GET", f"{batch_path(batch)}/results", (), {"accept": media_of(form, LINES)})
        return (yield from files.download(self.exchange, asked, Path(file), files.is_any))

    def abort_batch(self, batch: str, reason: str | None) -> Steps[dict[str, Any]]:
        """Abort a batch, which is idempotent."""
        return (yield from self.post(f"{batch_path(batch)}/abort", {} if reason is None else {"reason": reason}))

    def register_evaluation(self, plan: str, key: str | None) -> Steps[dict[str, Any]]:
        """Register a plan once. All tries go under one key, which an error has too."""
        return (yield from self._stored(EVALUATIONS, (), JSON, encode({"plan": plan}), key))

    def follow_evaluation(self, evaluation: str, after: int | None) -> Steps[None]:
        """Give the events of an evaluation."""
        yield from Follower(self.exchange, evaluation_stream(evaluation), after).follow()

    def stop_evaluation(self, evaluation: str, reason: str | None) -> Steps[dict[str, Any]]:
        """Stop an evaluation, which is idempotent."""
        body = {} if reason is None else {"reason": reason}
        return (yield from self.post(f"{evaluation_path(evaluation)}/stop", body))

    def evaluation_report(self, evaluation: str, form: ResultForm, paper: str | None) -> Steps[bytes]:
        """The report of an evaluation in one of its forms."""
        return (yield from self._report(f"{evaluation_path(evaluation)}/report", form, RESULT_MEDIA, paper))

    def export_evaluation(
        self, evaluation: str, file: str | PathLike[str], form: Literal["records", "bundle"]
    ) -> Steps[Path]:
        """The records of an evaluation and of its debates, or its bundle, in a file."""
        media, is_whole = {
            "records": (JSONL, files.is_export),
            "bundle": (ZIP, files.is_zip),
        }[form]
        asked = Request("GET", f"{evaluation_path(evaluation)}/audit", (), {"accept": media})
        return (yield from files.download(self.exchange, asked, Path(file), is_whole))

    def newest_log(self) -> Steps[str]:
        """The log to which new debates go."""
        logs = (yield from self.get("/v1/audit/logs")).get("logs")
        if not logs:
            raise UnexpectedAnswer("expected a log of the caller, found none: nothing has been recorded yet")
        return str(logs[-1]["log"])

    def checkpoint(self, log: str | None) -> Steps[str]:
        """The latest checkpoint of a log."""
        name = log or (yield from self.newest_log())
        return (yield from self.text(log_path(name, "checkpoint")))

    def consistency(self, log: str, old: int, new: int | None) -> Steps[list[str]]:
        """The consistency proof of two sizes."""
        query = {"from": old} if new is None else {"from": old, "to": new}
        return (yield from self.text(log_path(log, "consistency"), pairs(query))).splitlines()

    def prove_record(self, log: str, record: str | int, size: int | None) -> Steps[str]:
        """The proof that a record is in a log."""
        return (yield from self.text(log_path(log, f"proof/{part(str(record))}"), pairs({"size": size})))

    def prove_heads(self) -> Steps[Mapping[Head, str]]:
        """Prove what is kept aside; returns what could not be proved, with the reasons."""
        yield from self.exchange.prove(now=True)
        return self.exchange.memory.unproved


def of_debate(debate: str, found: dict[str, Any]) -> dict[str, Any]:
    """A result, if it is of this debate; raises `UnexpectedAnswer` for one that a cache has mixed up."""
    if str(found.get("debateId")).lower() != debate.lower():
        raise UnexpectedAnswer(f"expected the result of debate {debate}, found that of {found.get('debateId')!r}")
    return found


def debate_path(debate: str) -> str:
    """The path of a debate."""
    return f"{DEBATES}/{part(debate)}"


def batch_path(batch: str) -> str:
    """The path of a batch."""
    return f"{BATCHES}/{part(batch)}"


def evaluation_path(evaluation: str) -> str:
    """The path of an evaluation."""
    return f"{EVALUATIONS}/{part(evaluation)}"


def media_of(form: str, media: Mapping[str, str]) -> str:
    """The media type of a form; raises `Refused` for a form that there is none of."""
    if form not in media:
        raise Refused(f"expected the form as one of {', '.join(media)}, found {form!r}")
    return media[form]


def lines_of(lines: Lines) -> bytes:
    """A file of cases as it is sent: text and bytes as they are, anything else a line each."""
    if isinstance(lines, bytes):
        return lines
    if isinstance(lines, str):
        return encoded(lines)
    return b"".join(encode(line) + b"\n" for line in lines)


def quoted_key(key: str) -> str:
    """A key as the header has it (RFC 9651, 3.3.3); raises `Refused`."""
    if not (1 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        raise Refused("expected a key of 1 to 255 printable ASCII characters, such as a UUID", code="bad_request")
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def asked_of(filters: Mapping[str, Values], metadata: Metadata = None) -> tuple[tuple[str, str], ...]:
    """Filters by their names in the service; raises `TypeError` for one that there is not."""
    if unknown := sorted(set(filters) - set(FILTERS)):
        raise TypeError(f"expected filters among {', '.join(FILTERS)}, found {unknown[0]!r}")
    named = pairs({FILTERS[name]: value for name, value in filters.items()})
    wanted = metadata.items() if isinstance(metadata, Mapping) else [(name, None) for name in metadata or ()]
    return (*named, *(("metadata", name if value is None else f"{name}={value}") for name, value in wanted))


Metadata: TypeAlias = Mapping[str, str | None] | Sequence[str] | None


def pairs(query: Mapping[str, Values]) -> tuple[tuple[str, str], ...]:
    """The parameters that have a value; a list gives one several times."""
    found = []
    for name, given in query.items():
        values = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        found += [(name, _written(value)) for value in values if value is not None]
    return tuple(found)


def _written(value: Value | None) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise Refused(f"expected a time with its zone, found {value.isoformat()}", code="bad_request")
        return value.isoformat()
    return str(value)
