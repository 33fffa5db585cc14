"""The client with threads: `Gainsay`."""

from __future__ import annotations

import copy
import ssl
from collections.abc import Callable, Generator, Iterator, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast, overload

import httpx

from gainsay_client.calls import (
    BATCHES,
    EVALUATION_SETS,
    EVALUATIONS,
    Lines,
    Metadata,
    ReportForm,
    ResultForm,
    Submitted,
    Values,
    View,
    asked_of,
    batch_path,
    debate_path,
    evaluation_path,
    pairs,
)
from gainsay_client.connection import calls_of, settings_of
from gainsay_client.errors import GainsayError
from gainsay_client.events import Event
from gainsay_client.head_memory import HeadNotice
from gainsay_client.heads import Head, HeadStore
from gainsay_client.shell import Shell
from gainsay_client.steps import Broken, Give, Steps
from gainsay_client.wire import Answer

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from gainsay_client import types

T = TypeVar("T")


class Gainsay:
    """A client of one service; safe with threads. `AsyncGainsay` has the same calls.

    ``address`` is that of the service, with a path if a proxy serves it below one. ``token`` is sent as a bearer
    token, and ``headers`` with every request, to this origin alone: no redirect is followed. ``verify`` is an
    SSLContext, or a file or folder with the certificates of authorities, in the place of the public ones.

    Times are in seconds. ``give_up_after`` is the time for one call with all repetitions, ``answer_within`` that for
    one answer, and ``silence`` the most between two pieces of a stream, which sends a comment every 15 seconds.
    ``first_pause`` comes before the first repetition; each further pause is twice as long.

    ``heads`` remembers the head of each audit log (`MemoryHeads` unless you give a `FileHeads`). Proofs are asked for
    at most once in ``prove_every`` seconds, and ``on_head`` is told what is no reason to refuse an answer.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        verify: ssl.SSLContext | str | None = None,
        heads: HeadStore | None = None,
        prove_every: float = 1.0,
        on_head: Callable[[HeadNotice], None] | None = None,
        give_up_after: float = 60.0,
        answer_within: float = 60.0,
        silence: float = 45.0,
        first_pause: float = 0.25,
    ) -> None:
        self._calls = calls_of(
            address,
            token=token,
            headers=headers,
            heads=heads,
            prove_every=prove_every,
            on_head=on_head,
            give_up_after=give_up_after,
            answer_within=answer_within,
            silence=silence,
            first_pause=first_pause,
        )
        self._http = httpx.Client(**settings_of(self._calls.exchange.terms, verify))
        self._headers: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Gainsay({self._calls.exchange.terms.server.origin!r})"

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """This client with further headers in each request, such as the ``traceparent`` of a request of yours.

        Connections and heads are those of this client, which closes them.
        """
        other = copy.copy(self)
        other._headers = {**self._headers, **{name.lower(): value for name, value in headers.items()}}
        return other

    def submit(
        self,
        case: types.CaseRequest | Mapping[str, Any],
        *,
        key: str | None = None,
        wait: float | None = None,
        view: View = "summary",
    ) -> Submitted:
        """Submit a case: one record and one bill, however often connections break.

        All tries go under ``key``, a new UUID unless you give one; with ``wait`` the service answers when the debate
        ends, or after so many seconds (60 at most). Raises `Refused`, `BudgetExhausted`, `Unavailable`, `Unreachable`.
        """
        return self._run(self._calls.submit(case, key, wait, view))

    @overload
    def review(
        self,
        case: types.CaseRequest | Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = 600.0,
        view: Literal["summary"] = "summary",
    ) -> types.Summary: ...
    @overload
    def review(
        self,
        case: types.CaseRequest | Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = 600.0,
        view: Literal["full"],
    ) -> types.Result: ...
    def review(
        self,
        case: types.CaseRequest | Mapping[str, Any],
        *,
        key: str | None = None,
        timeout: float | None = 600.0,
        view: View = "summary",
    ) -> Any:
        """Submit a case, wait, and read the result; raises `TimedOut` with the debate, which goes on."""
        return self._run(self._calls.review(case, key, timeout, view))

    @overload
    def result(self, debate: str, *, view: Literal["summary"] = "summary") -> types.Summary: ...
    @overload
    def result(self, debate: str, *, view: Literal["full"]) -> types.Result: ...
    def result(self, debate: str, *, view: View = "summary") -> Any:
        """Read one debate in its present state."""
        return self._run(self._calls.result(debate, view))

    @overload
    def wait(
        self, debate: str, *, timeout: float | None = 600.0, view: Literal["summary"] = "summary"
    ) -> types.Summary: ...
    @overload
    def wait(self, debate: str, *, timeout: float | None = 600.0, view: Literal["full"]) -> types.Result: ...
    def wait(self, debate: str, *, timeout: float | None = 600.0, view: View = "summary") -> Any:
        """Wait until a debate is over, and read its result; raises `TimedOut`. ``None`` waits without a limit."""
        return self._run(self._calls.wait(debate, timeout, view))

    def follow(self, debate: str, *, after: int | None = None, view: View = "summary") -> Iterator[Event]:
        """Iterate over the events of a debate to its end, each once, however often connections break.

        ``after`` is the id of the last event seen. A stream in which nothing comes for ``give_up_after`` seconds, over
        all connections, raises `Unreachable`.
        """
        return cast("Iterator[Event]", self._drive(self._calls.follow(debate, after, view)))

    def abort(self, debate: str, *, reason: str | None = None) -> types.Abortion:
        """Abort a debate: it makes no further model calls. An abort is idempotent."""
        return cast("types.Abortion", self._run(self._calls.abort(debate, reason)))

    def create_batch(
        self,
        lines: Lines,
        *,
        ceiling: str | int | Decimal | None = None,
        deadline: str | datetime | None = None,
        name: str | None = None,
        key: str | None = None,
    ) -> types.BatchState:
        """Submit many cases as one file, under a ``ceiling`` in US dollars: stored once under ``key``.

        ``lines`` is the file, or its lines: cases, or ``{"key": ..., "case": ...}`` with a key of your own.
        """
        return cast("types.BatchState", self._run(self._calls.create_batch(lines, ceiling, deadline, name, key)))

    def batches(self, *, limit: int | None = None, after: str | None = None) -> types.BatchList:
        """Read one page of batches, the newest first; ``after`` is ``next`` of the page before."""
        query = pairs({"limit": limit, "after": after})
        return cast("types.BatchList", self._run(self._calls.get(BATCHES, query)))

    def batch(self, batch: str) -> types.BatchState:
        """Read how a batch stands."""
        return cast("types.BatchState", self._run(self._calls.get(batch_path(batch))))

    def batch_results(self, batch: str, file: str | PathLike[str], *, form: Literal["jsonl", "csv"] = "jsonl") -> Path:
        """Save the lines of a batch with what became of them, or as ``csv`` its decisions."""
        return self._run(self._calls.batch_results(batch, file, form))

    def abort_batch(self, batch: str, *, reason: str | None = None) -> types.BatchState:
        """Abort a batch: none of its cases begins any more. An abort is idempotent."""
        return cast("types.BatchState", self._run(self._calls.abort_batch(batch, reason)))

    def register_evaluation(self, plan: str, *, key: str | None = None) -> types.EvaluationState:
        """Register the text of a plan file (TOML), once under ``key``. The service then asks its items."""
        return cast("types.EvaluationState", self._run(self._calls.register_evaluation(plan, key)))

    def evaluations(self, *, limit: int | None = None, after: str | None = None) -> types.EvaluationList:
        """Read one page of evaluations, the newest first; ``after`` is ``next`` of the page before."""
        query = pairs({"limit": limit, "after": after})
        return cast("types.EvaluationList", self._run(self._calls.get(EVALUATIONS, query)))

    def evaluation_sets(self) -> types.GoldenSetList:
        """List the golden sets that plans may name; no item and no label is shown."""
        return cast("types.GoldenSetList", self._run(self._calls.get(EVALUATION_SETS)))

    def evaluation(self, evaluation: str) -> types.EvaluationState:
        """Read how an evaluation stands, with its result once there is one."""
        return cast("types.EvaluationState", self._run(self._calls.get(evaluation_path(evaluation))))

    def follow_evaluation(self, evaluation: str, *, after: int | None = None) -> Iterator[Event]:
        """Iterate over the events of an evaluation to its end, each once, however often connections break."""
        return cast("Iterator[Event]", self._drive(self._calls.follow_evaluation(evaluation, after)))

    def stop_evaluation(self, evaluation: str, *, reason: str | None = None) -> types.EvaluationState:
        """Stop an evaluation: nothing more of it is asked. A stop is idempotent."""
        return cast("types.EvaluationState", self._run(self._calls.stop_evaluation(evaluation, reason)))

    def evaluation_report(
        self, evaluation: str, form: ResultForm = "markdown", *, paper: Literal["a4", "letter"] | None = None
    ) -> bytes:
        """Read the report of an evaluation as ``json``, ``html``, ``markdown`` (all in UTF-8) or ``pdf``."""
        return self._run(self._calls.evaluation_report(evaluation, form, paper))

    def export_evaluation(
        self, evaluation: str, file: str | PathLike[str], *, form: Literal["records", "bundle"] = "records"
    ) -> Path:
        """Save the records of an evaluation and its debates, or its bundle. The file gets its name once it is whole."""
        return self._run(self._calls.export_evaluation(evaluation, file, form))

    def gate(self, case: types.GateRequest | Mapping[str, Any]) -> types.Gate:
        """Ask the gate alone; nothing is stored."""
        return cast("types.Gate", self._run(self._calls.gate(case)))

    def quote(self, case: types.CaseRequest | Mapping[str, Any]) -> types.PriceQuote:
        """Quote the cost of a case; nothing is stored."""
        return cast("types.PriceQuote", self._run(self._calls.quote(case)))

    def check_citations(self, batch: types.Batch | Mapping[str, Any]) -> types.CheckedCitations:
        """Check citations against sources; nothing is stored."""
        return cast("types.CheckedCitations", self._run(self._calls.post("/v1/citations/check", batch)))

    def find(self, *, metadata: Metadata = None, limit: int = 100, **filters: Values) -> Iterator[types.DebateSummary]:
        """Iterate over the debates that match, over all pages of ``limit``.

        Filters are those of ``GET /v1/debates``, in Python's spelling (``task_type``); a list means any of its values.
        """
        query = (*asked_of(filters, metadata), ("limit", str(limit)))
        return cast("Iterator[types.DebateSummary]", self._drive(self._calls.find(query)))

    def find_page(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        facets: Values = None,
        metadata: Metadata = None,
        **filters: Values,
    ) -> types.DebateList:
        """Read one page of the debates that match, with facets; ``after`` is ``next`` of the page before."""
        query = (*asked_of(filters, metadata), *pairs({"limit": limit, "after": after, "facets": facets}))
        return cast("types.DebateList", self._run(self._calls.get("/v1/debates", query)))

    def documents(self, debate: str) -> dict[str, Any]:
        """List the documents of a debate, as recorded."""
        return self._run(self._calls.get(f"{debate_path(debate)}/documents"))

    def document(self, debate: str, document: str) -> str:
        """Read the text of a document."""
        return self._run(self._calls.document(debate, document))

    def report(
        self, debate: str, form: ReportForm = "markdown", *, paper: Literal["a4", "letter"] | None = None
    ) -> bytes:
        """Read the report of a debate as ``html``, ``markdown`` (both in UTF-8) or ``pdf``."""
        return self._run(self._calls.report(debate, form, paper))

    def bundle(self, debate: str, file: str | PathLike[str]) -> Path:
        """Save the evidence of a decision. The file gets its name once it is whole, in the place of an older one."""
        return self._run(self._calls.bundle(debate, file))

    def export(
        self, log: str, file: str | PathLike[str], *, form: Literal["jsonl", "csv"] = "jsonl", **filters: Values
    ) -> Path:
        """Save the records of a log, all or filtered (``task_type``). The file gets its name once it is whole."""
        return self._run(self._calls.export(log, file, form, filters))

    def logs(self) -> types.LogList:
        """List the audit logs with their keys and latest heads."""
        return cast("types.LogList", self._run(self._calls.get("/v1/audit/logs")))

    def keys(self) -> types.KeyList:
        """List the verifier keys, for information."""
        return cast("types.KeyList", self._run(self._calls.get("/v1/audit/keys")))

    def checkpoint(self, log: str | None = None) -> str:
        """Read the latest signed checkpoint of a log; of the newest without one."""
        return self._run(self._calls.checkpoint(log))

    def consistency(self, log: str, old: int, new: int | None = None) -> list[str]:
        """Read the proof that ``old`` records of a log begin the ``new`` ones, as base64 hashes."""
        return self._run(self._calls.consistency(log, old, new))

    def prove_record(self, log: str, record: str | int, *, size: int | None = None) -> str:
        """Read the proof that a record, by its index or as ``debate.n``, is in a log."""
        return self._run(self._calls.prove_record(log, record, size))

    def recall(self, *, limit: int | None = None, after: str | None = None, **asked: str) -> types.RecallList:
        """Read one page of the debates that rest on a prompt, a model, a document ..., by the service's parameter."""
        query = pairs({**asked, "limit": limit, "after": after})
        return cast("types.RecallList", self._run(self._calls.get("/v1/audit/recall", query)))

    def caller(self) -> types.KnownCaller:
        """Read who you are to the service: your tenant, your roles, and what you may do."""
        return cast("types.KnownCaller", self._run(self._calls.get("/v1/caller")))

    def models(self) -> types.ModelList:
        """List the models."""
        return cast("types.ModelList", self._run(self._calls.get("/v1/models")))

    def prompts(self) -> types.PromptList:
        """List the pinned prompts."""
        return cast("types.PromptList", self._run(self._calls.get("/v1/prompts")))

    def policy(self) -> types.PolicyDetail:
        """Read the policy."""
        return cast("types.PolicyDetail", self._run(self._calls.get("/v1/policy")))

    def budget(self) -> types.TenantBudget:
        """Read what remains of the tenant's money for today and this month, and what of it is only held."""
        return cast("types.TenantBudget", self._run(self._calls.get("/v1/budget")))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Values] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send any other request. Only a read, and what has an Idempotency-Key, is sent again after a failure."""
        return self._run(self._calls.request(method, path, query, body, headers))

    def prove_heads(self) -> Mapping[Head, str]:
        """Prove now what is kept aside; returns the heads that could not be proved, with the reasons."""
        return self._run(self._calls.prove_heads())

    @property
    def api_version(self) -> str | None:
        """The version of the API that gave the latest answer, such as ``1.0``; ``None`` before there was one."""
        return self._calls.exchange.api_version

    @property
    def unproved(self) -> Mapping[Head, str]:
        """The heads that are not proved yet, with the reason why not; empty for one that was not asked for so far."""
        return self._calls.exchange.memory.unproved

    @property
    def heads(self) -> Mapping[str, Head]:
        """The remembered head of each log."""
        return self._calls.exchange.memory.store.heads()

    def _run(self, steps: Steps[T]) -> T:
        """What a call returns."""
        driven = self._drive(steps)
        while True:
            try:
                next(driven)
            except StopIteration as end:
                return cast(T, end.value)

    def _drive(self, steps: Steps[T]) -> Generator[object, None, T]:
        """The items that a call gives, and what it returns."""
        shell = Shell(self._http, self._calls, self._headers)
        found: object = None
        fault: Exception | None = None
        try:
            while True:
                try:
                    step = steps.send(found) if fault is None else steps.throw(fault)
                except StopIteration as end:
                    return cast(T, end.value)
                found = fault = None
                if isinstance(step, Give):
                    yield step.item
                    continue
                try:
                    found = shell.perform(step)
                except (Broken, GainsayError, OSError) as error:
                    fault = error
        finally:
            steps.close()
            shell.close()
