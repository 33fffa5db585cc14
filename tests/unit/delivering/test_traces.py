"""The span of an attempt to deliver a message: kept as its debate's trace is, and a part of what there is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from service.delivering.sent import Sent
from service.delivering.traces import attempted
from service.observing import tracing
from service.observing.span import Span
from service.observing.tracing import Tracing
from service.report.trace import debate_span
from service.store.webhooks import Claimed

DEBATE = "0190a5f0-1111-7000-8000-000000000001"
REQUEST = {"trace": "0af7651916cd43dd8448eb211c80319c", "span": "b7ad6b7169203331", "sampled": True}


@pytest.fixture
def spans() -> Iterator[list[Span]]:
    """The spans that are sent; no trace is drawn."""
    sent: list[Span] = []
    before = tracing.use(Tracing(sent.append, share=0.0))
    yield sent
    tracing.use(before)


def claimed(status: str, arrival: dict[str, Any] | None = None) -> Claimed:
    """A message of that end."""
    return Claimed(
        seq=1,
        id="msg_1",
        tenant="acme",
        webhook="wh_1",
        debate=DEBATE,
        status=status,
        last_record=None,
        happened=datetime.now(UTC),
        log=None,
        idx=None,
        size=None,
        root=None,
        attempts=1,
        age_s=0.0,
        arrival=arrival,
    )


@pytest.mark.parametrize(("status", "kept"), [("completed", 0), ("declined", 0), ("failed", 1), ("aborted", 1)])
def test_what_went_wrong_is_kept_and_a_declined_case_did_not(spans: list[Span], status: str, kept: int) -> None:
    attempted(claimed(status), Sent(status=200), 5)

    assert [span.parent for span in spans] == [debate_span(DEBATE)] * kept


def test_a_message_of_a_declined_case_is_a_part_of_its_request(spans: list[Span]) -> None:
    """There is no span of a debate that it could be a part of."""
    attempted(claimed("declined", REQUEST), Sent(status=200), 5)
    attempted(claimed("completed", REQUEST), Sent(status=200), 5)

    assert [(span.trace, span.parent) for span in spans] == [
        (REQUEST["trace"], REQUEST["span"]),
        (REQUEST["trace"], debate_span(DEBATE)),
    ]
