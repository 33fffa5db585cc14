"""What one connection may take before a request of it is read, and how many connections there may be.

    the head of a request (its line and headers)   `HEAD_BYTES`, `HEADERS` of them, an address of `ADDRESS_BYTES`
    its time to arrive                             ``head_s`` after its first byte, and as long for the first one
    the whole request                              ``message_s`` after its head, whatever was answered meanwhile
    an answer that is not read                     ``unread_s`` without a byte taken
    connections                                    ``most`` of the process, ``per_peer`` of one address

The server behind it has no such bounds. A connection beyond them is answered with a problem document where an answer
can still be read, and closed.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from service import log_lines, telemetry
from service.errors import AddressTooLong, BadRequest, GainsayError, HeadTooLarge, Overloaded, RequestTimeout
from service.observing.trace_context import trace_of_headers
from service.web.every_answer import headers_of_every_answer, id_of_headers
from service.web.safe_headers import Headers, add_safe_headers

HEAD_BYTES = 64 << 10
HEADERS = 100
ADDRESS_BYTES = 16 << 10
NO_HTTP = "expected a request of HTTP/1.1, found bytes that are none; correct it"
LINGER_S = 1.0
"""How long a refused connection stays open so that its answer can be read."""
LINGERING = 64
"""The most refused connections that stay open; further ones are closed at once."""
SPARE = 96
"""Descriptors that connections of callers leave to everything else."""
PEER_SHARE = 3, 4
"""The share of all connections that one address may have: a proxy brings those of many callers."""


class ConnectionBounds(Struct, frozen=True):
    """The bounds of a server's connections; times are in seconds, and ``None`` is what the process can open."""

    head_s: float = 10.0
    message_s: float = 75.0
    idle_s: int = 5
    unread_s: float = 60.0
    most: int | None = None
    per_peer: int | None = None


class Connections:
    """The connections of one server, counted by the address that they come from."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        self.bounds = bounds
        self.most = most_connections() if bounds.most is None else bounds.most
        self.per_peer = self.most * PEER_SHARE[0] // PEER_SHARE[1] if bounds.per_peer is None else bounds.per_peer
        self.lingering = 0
        self._peers: Counter[str] = Counter()
        self._all = 0

    def joined(self, peer: str) -> GainsayError | None:
        """Count a connection; the refusal if it is one too many."""
        self._all += 1
        self._peers[peer] += 1
        if self._all > self.most:
            reason, found = "connections", f"this process has {self.most} connections open, the most that it may have"
        elif self._peers[peer] > self.per_peer:
            reason, found = "peerConnections", f"{self.per_peer} connections of this address are open, its most"
        else:
            return None
        telemetry.HTTP_REFUSED.labels(reason=reason).inc()
        return Overloaded(f"{found}; close some, or connect again later or to another process", retry_after=1)

    def left(self, peer: str) -> None:
        """Count a connection no more."""
        self._all -= 1
        self._peers[peer] -= 1
        if not self._peers[peer]:
            del self._peers[peer]


def most_connections() -> int:
    """How many connections of callers this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else max(SPARE, soft - SPARE)


class _StrangersWords(logging.LoggerAdapter):  # type: ignore[type-arg] # generic for type checkers alone
    """uvicorn's log without its warnings of what a peer sends: any stranger could fill the log with them.

    They are counted where the request is refused (`telemetry.HTTP_REFUSED`). Errors of this process stay errors.
    """

    @property
    def level(self) -> int:
        """What uvicorn compares before it writes of each connection."""
        level: int = self.logger.level
        return level

    def warning(self, msg: object, *given: Any, **more: Any) -> None:
        """At DEBUG."""
        self.debug(msg, *given, **more)


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's connection within the bounds of ``shared``, which a server sets on a class of its own."""

    shared = Connections(ConnectionBounds())

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.logger = _StrangersWords(self.logger)  # type: ignore[assignment] # called as a logger is
        self._refused: GainsayError | None = None
        self._ended = False
        self._in_head = False
        self._head = 0
        self._sized = 0
        self._peer = ""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    # -- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to take requests, or refuse the connection."""
        super().connection_made(transport)
        self._peer = self.client[0] if self.client else "unix"
        if (refusal := self.shared.joined(self._peer)) is not None:
            self._refuse(refusal)
            return
        self._within(self.shared.bounds.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.shared.left(self._peer)
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request, unless the connection is refused."""
        if self._ended:
            return
        self._head += len(data) if self._in_head else 0
        super().data_received(data)
        if self.transport.is_closing() or self._is_over():
            return
        if self._in_head and self._head > HEAD_BYTES:
            self._refuse(_head_too_large())
        elif self._timer is None and self.timeout_keep_alive_task is None and self._idle:
            self._within(self.shared.bounds.head_s)  # bytes between requests are no way to stay

    def _is_over(self) -> bool:
        return self._ended

    @property
    def _idle(self) -> bool:
        return (answering := self._answering) is None or answering.response_complete

    @property
    def _answering(self) -> RequestResponseCycle | None:
        """The latest request whose head has come, and its answer."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle

    def pause_writing(self) -> None:
        """The peer does not read as fast as it is sent to."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.shared.bounds.unread_s, self._drop)

    def resume_writing(self) -> None:
        """The peer reads."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    # -- a request, by the parser

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head, self._head, self._sized = True, 0, 0
        if self._timer is None:
            self._within(self.shared.bounds.head_s)

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        super().on_url(url)
        if len(self.url) > ADDRESS_BYTES:
            telemetry.HTTP_REFUSED.labels(reason="head").inc()
            self._stop_parsing(
                AddressTooLong(
                    f"the address may have {ADDRESS_BYTES} bytes, found more; send fewer parameters, or a case's "
                    "texts in a body"
                )
            )

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        super().on_header(name, value)
        self._sized += len(name) + len(value) + 4
        if len(self.headers) > HEADERS or self._sized > HEAD_BYTES:
            self._stop_parsing(_head_too_large())

    def on_headers_complete(self) -> None:
        """The head has come; its body follows within a time."""
        self._in_head = False
        self._within(self.shared.bounds.message_s)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The whole request has come."""
        self._within(None)
        super().on_message_complete()

    # -- an end

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or what a bound stopped."""
        if self._refused is None:
            telemetry.HTTP_REFUSED.labels(reason="noHTTP").inc()
        self._refuse(self._refused or BadRequest(NO_HTTP))

    def _stop_parsing(self, refusal: GainsayError) -> None:
        """Raise out of the parser, which then has the refusal answered."""
        self._refused = self._refused or refusal
        raise refusal

    def _within(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        """Close a connection whose request does not come; one that sent a part of a head gets an answer."""
        self._timer = None
        bounds = self.shared.bounds
        if self._in_head:
            telemetry.HTTP_REFUSED.labels(reason="slowHead").inc()
            self._refuse(RequestTimeout(f"the headers did not arrive within {bounds.head_s:g} s; send them at once"))
        elif (answering := self._answering) is None or answering.response_started:
            self.transport.close()
        else:
            telemetry.HTTP_REFUSED.labels(reason="slowBody").inc()
            self._refuse(RequestTimeout(f"the body did not arrive within {bounds.message_s:g} s; send it at once"))

    def _refuse(self, refusal: GainsayError) -> None:
        """Answer a connection for the last time, and close it once the answer could be read."""
        if self._ended or self.transport.is_closing():
            return
        self._ended = True
        self._within(None)
        self._unset_keepalive_if_required()
        if (answering := self._answering) is not None and not answering.response_complete:
            answering.disconnected = True
            answering.message_event.set()
            if answering.response_started:  # the refusal would stand in the middle of that answer
                self._drop()
                return
        self.transport.write(_answer(refusal, [] if self._in_head or self._answering is None else self.headers))
        if self.shared.lingering >= LINGERING or not self.transport.can_write_eof():
            self._drop()
            return
        self.transport.write_eof()
        self.shared.lingering += 1
        self.loop.call_later(LINGER_S, self._linger_no_more)

    def _linger_no_more(self) -> None:
        self.shared.lingering -= 1
        self._drop()

    def _drop(self) -> None:
        self._unread = None
        self.transport.abort()


def _head_too_large() -> GainsayError:
    telemetry.HTTP_REFUSED.labels(reason="head").inc()
    return HeadTooLarge(
        f"the head of a request may have {HEADERS} headers and {HEAD_BYTES} bytes, found more; send fewer or "
        "shorter ones"
    )


def _answer(refusal: GainsayError, given: Headers) -> bytes:
    """A problem document as the bytes of a whole answer; no endpoint has seen the request.

    ``given`` are the headers of a request whose head has come: its id and its trace are answered as by an endpoint.
    """
    id_, trace = id_of_headers(given), trace_of_headers(given)
    document = {
        "type": f"/problems/{refusal.code}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": refusal.detail,
        "code": refusal.code,
        "instance": "/",
        "requestId": id_,
        "traceId": trace.id,
    }
    log_lines.REFUSED_UNREAD(request=id_, trace_id=trace.id, code=refusal.code)
    body = msgspec.json.encode(document)
    head: Headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    if refusal.retry_after is not None:
        head.append((b"retry-after", b"%d" % refusal.retry_after))
    add_safe_headers(head)
    lines = [b"%s: %s" % field for field in (*head, *headers_of_every_answer(id_, trace))]
    return STATUS_LINE[refusal.status] + b"\r\n".join([*lines, b"", body])
