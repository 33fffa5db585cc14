"""The trace of a debate that this process runs: what goes out with its calls, and its spans once it has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from service.debate.entries import Arrival, DebateConcluded, Entry, TurnAsked
from service.observing import trace_context, tracing
from service.policy.traces import USUAL_TRACES, Traces
from service.report import trace as spans
from service.report.trace import Moment


class DebateTrace:
    """The trace of one debate; ``sampled`` says that it is kept, which its own end may decide too.

    ``policy`` says what its spans may hold.
    """

    def __init__(self, debate: str, tenant: str, arrival: Arrival | None, policy: Traces = USUAL_TRACES) -> None:
        self._debate, self._tenant = debate, tenant
        self._words = policy.shown if policy.content else None
        self.id = spans.trace_of(debate, arrival)
        kept = arrival is not None and arrival.sampled and arrival.batch is None
        self.sampled = kept or tracing.current().drawn(self.id)

    def header(self, asked: TurnAsked) -> str:
        """The ``traceparent`` of an attempt's call."""
        span = spans.attempt_span(self._debate, asked.turn, asked.attempt)
        return trace_context.header(self.id, span, sampled=self.sampled)

    def ended(self, entries: Sequence[Entry], moments: Sequence[Moment]) -> None:
        """Send the spans of the debate, which has ended with these entries, if its trace is kept."""
        to = tracing.current()
        outcome = next((e.outcome for e in reversed(entries) if isinstance(e, DebateConcluded)), None)
        if to.on and outcome and (self.sampled or spans.kept_for_itself(outcome)):
            to.send_made(lambda: spans.spans(self._debate, self._tenant, entries, moments, words=self._words))


CURRENT: ContextVar[DebateTrace | None] = ContextVar("trace of the debate", default=None)
"""The trace of the debate that is run here; a worker sets it."""


@contextmanager
def outgoing(asked: TurnAsked) -> Iterator[None]:
    """Let what is called in the block, and in tasks that begin in it, be a part of this attempt."""
    debate = CURRENT.get()
    if debate is None:
        yield
        return
    token = trace_context.OUTGOING.set(debate.header(asked))
    try:
        yield
    finally:
        trace_context.OUTGOING.reset(token)
