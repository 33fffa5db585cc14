"""The trace of an attempt to deliver a message: a part of its debate's."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from service.debate.entries import Arrival
from service.delivering.sent import Sent
from service.observing import attributes as names
from service.observing import trace_context, tracing
from service.observing.span import Span, Value, span_id
from service.report.trace import debate_span, trace_of
from service.store.webhooks import Claimed

DECLINED = "declined"
"""The end of a case of which no debate came, and so no span of one."""


def headers_of(claimed: Claimed) -> Mapping[str, str]:
    """The ``traceparent`` of an attempt; none for a message that is about no debate."""
    if claimed.debate is None:
        return {}
    trace = _trace(claimed, claimed.debate)
    return {"traceparent": trace_context.header(trace, _span(claimed), sampled=_kept(claimed, trace))}


def attempted(claimed: Claimed, sent: Sent, took_ms: int) -> None:
    """Send the span of an attempt that has just ended, if its debate's trace is kept."""
    if claimed.debate is None or not _kept(claimed, trace := _trace(claimed, claimed.debate)):
        return
    now_us = time.time_ns() // 1_000
    about: dict[str, Value] = {
        names.DEBATE: claimed.debate,
        names.TENANT: claimed.tenant,
        names.WEBHOOK: claimed.webhook,
        names.DELIVERY: claimed.id,
        names.ATTEMPT: claimed.attempts,
        names.HTTP_METHOD: "POST",
    }
    if sent.status is not None:
        about[names.HTTP_STATUS] = sent.status
    if not sent.taken:
        about[names.ERROR_TYPE] = "refused" if sent.refused else "failed"
    tracing.current().send(
        Span(
            name="deliver webhook",
            trace=trace,
            id=_span(claimed),
            kind="client",
            start_us=now_us - took_ms * 1_000,
            end_us=now_us,
            parent=_parent(claimed, claimed.debate),
            attributes=about,
            error=None if sent.taken else sent.reason,
        )
    )


def _trace(claimed: Claimed, debate: str) -> str:
    return trace_of(debate, _arrival(claimed))


def _span(claimed: Claimed) -> str:
    return span_id(claimed.id, str(claimed.attempts))


def _kept(claimed: Claimed, trace: str) -> bool:
    """Whether the debate's trace is kept, as far as a message says it: that it is for a person it does not say."""
    arrival = _arrival(claimed)
    sampled = arrival is not None and arrival.sampled and arrival.batch is None
    return sampled or claimed.status not in ("completed", DECLINED) or tracing.current().drawn(trace)


def _parent(claimed: Claimed, debate: str) -> str | None:
    """The debate's span. Of a case that was declined there is none, so it is its request's, where that is kept."""
    if claimed.status != DECLINED:
        return debate_span(debate)
    arrival = _arrival(claimed)
    return arrival.span if arrival is not None and arrival.sampled and arrival.batch is None else None


def _arrival(claimed: Claimed) -> Arrival | None:
    return None if claimed.arrival is None else msgspec.convert(claimed.arrival, Arrival)
