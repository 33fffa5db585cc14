"""Which requests have a span: whose trace is kept, and what the service failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.identity.caller import LOCAL
from service.observing import tracing
from service.observing.span import Span
from service.observing.tracing import Tracing
from service.web.middleware import CALLER, Middleware

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def spans() -> Iterator[list[Span]]:
    """The spans that are sent; no trace is drawn."""
    sent: list[Span] = []
    before = tracing.use(Tracing(sent.append, share=0.0))
    yield sent
    tracing.use(before)


async def ask(status: int, *, known: bool, traceparent: str = f"00-{TRACE}-{SPAN}-01") -> None:
    """A request, and its answer."""

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        if known:
            scope["state"][CALLER] = LOCAL
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def nothing(*_given: Any) -> Any:
        return None

    headers = [(b"traceparent", traceparent.encode())]
    scope: Any = {"type": "http", "method": "GET", "path": "/", "headers": headers, "state": {}}
    await Middleware(app)(scope, nothing, nothing)


async def test_a_caller_whom_the_service_knows_has_its_trace_kept(spans: list[Span]) -> None:
    await ask(200, known=True)
    await ask(200, known=True, traceparent=f"00-{TRACE}-{SPAN}-00")

    assert [(span.trace, span.parent) for span in spans] == [(TRACE, SPAN)]


@pytest.mark.parametrize("status", [200, 401, 404, 429])
async def test_another_one_cannot_fill_the_queue_of_spans(spans: list[Span], status: int) -> None:
    await ask(status, known=False)

    assert spans == []


async def test_what_the_service_failed_is_kept_for_each(spans: list[Span]) -> None:
    await ask(500, known=False)

    assert [span.error for span in spans] == ["500"]
