"""Answers packed by the coding that the request accepts, outside the endpoints and inside the access log.

What is packed: text, JSON, CSV and scripts from `LEAST` bytes on. What is not: a ZIP, a PDF and tiles, which hold no
repetition or are packed by their endpoint; a stream of events, whose events must not wait for a buffer; and an answer
that says no-transform. A client that refuses identity gets everything packed but events.

An answer in pieces (an export) is packed piece by piece, and each piece leaves when it is packed. More than `INLINE`
bytes are packed in a thread, so that the event loop is free meanwhile. HEAD is answered as GET, so its header fields
are the same. Litestar has such a middleware, which looks for a name anywhere in Accept-Encoding, reads no weights,
keeps one strong tag for all codings and packs on the event loop.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from typing import Any, Protocol

import zstandard
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from service.web.codings import Wanted, coded_tag, plain_tags, wanted_coding

LEAST = 1_000
"""Bytes that fit into one packet with the header fields anyway."""
INLINE = 1 << 15
"""The most bytes that are packed on the event loop."""
GZIP_LEVEL, ZSTD_LEVEL = 5, 6
"""A step above costs twice the time and saves a fiftieth."""
KEPT_MAX = 16
"""Packed files that never change, of which the service has fewer."""
_GZIP = 31
"""zlib's window of 2^15 bytes with the header and trailer of gzip."""
_PACKED_TYPES = (
    "text/",
    "application/json",
    "application/x-ndjson",
    "application/jsonl",
    "application/openmetrics-text",
)
_EVENTS = b"text/event-stream"
Headers = list[tuple[bytes, bytes]]


class Packer(Protocol):
    """Packs the pieces of one answer."""

    def piece(self, content: bytes) -> bytes:
        """A piece, packed so that the reader can unpack all of it."""
        ...

    def last(self, content: bytes) -> bytes:
        """The last piece or the only one, and the end of the coding."""
        ...


class _Gzip:
    def __init__(self) -> None:
        self._packing = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, _GZIP)

    def piece(self, content: bytes) -> bytes:
        return self._packing.compress(content) + self._packing.flush(zlib.Z_SYNC_FLUSH) if content else b""

    def last(self, content: bytes) -> bytes:
        return self._packing.compress(content) + self._packing.flush()


class _Zstd:
    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._begun: zstandard.ZstdCompressionObj | None = None

    def piece(self, content: bytes) -> bytes:
        packing = self._begun = self._begun or self._compressor.compressobj()
        return packing.compress(content) + packing.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) if content else b""

    def last(self, content: bytes) -> bytes:
        if self._begun is None:  # its size is known, so little memory suffices
            return self._compressor.compress(content)
        return self._begun.compress(content) + self._begun.flush()


PACKERS: dict[str, Callable[[], Packer]] = {"zstd": _Zstd, "gzip": _Gzip}


class Compression:
    """An ASGI application whose answers are packed where the request accepts that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._kept: dict[tuple[bytes, str], bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; other kinds of ASGI scopes pass through unchanged."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        accepted = _fields(scope["headers"], b"accept-encoding")
        tags = [tag.strip() for field in _fields(scope["headers"], b"if-none-match") for tag in field.split(",")]
        known = plain_tags(tags, accepted)
        sent = {plain.removeprefix("W/"): tag.removeprefix("W/") for plain, tag in zip(known, tags, strict=True)}
        answer = _Answer(send, wanted_coding(accepted), sent, self._kept)
        await self._app(scope if known == tags else _asked(scope, known), receive, answer.take)


class _Answer:
    """One answer on its way out. ``tags`` leads from a tag that the endpoint knows to the one that the client sent."""

    def __init__(self, send: Send, wanted: Wanted, tags: dict[str, str], kept: dict[tuple[bytes, str], bytes]) -> None:
        self._send = send
        self._wanted = wanted
        self._tags = tags
        self._kept = kept
        self._start: Any = None
        self._packer: Packer | None = None

    async def take(self, message: Message) -> None:
        """One message of the application."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] == "http.response.body" and self._start is not None:
            await self._whole(message)
        elif message["type"] == "http.response.body" and self._packer is not None:
            await self._piece(message)
        else:
            await self._send(message)

    async def _begin(self, message: Any) -> None:
        """The status and header fields: an answer of one piece is held until its size is known."""
        headers: Headers = list(message["headers"])
        kind = _field(headers, b"content-type")
        if not kind.startswith(_EVENTS):
            headers = _varied(headers)
        if message["status"] == 304:
            sent = _field(headers, b"etag").decode("latin-1")
            headers = _with(headers, b"etag", self._tags.get(sent, sent).encode("latin-1"))
        elif self._packs(message["status"], headers):
            if _field(headers, b"content-length"):
                message["headers"] = headers
                self._start = message
                return
            self._packer = PACKERS[str(self._wanted.coding)]()
            headers = self._coded(headers)
        message["headers"] = headers
        await self._send(message)

    def _packs(self, status: int, headers: Headers) -> bool:
        kind = _field(headers, b"content-type").decode("latin-1").lower()
        if self._wanted.coding is None or status < 200 or status == 204 or kind.startswith(_EVENTS.decode()):
            return False
        if _field(headers, b"content-encoding") or b"no-transform" in _field(headers, b"cache-control"):
            return False
        plain = kind.partition(";")[0].strip()
        return self._wanted.packed_only or plain.startswith(_PACKED_TYPES) or plain.endswith("+json")

    async def _whole(self, message: Any) -> None:
        """An answer of one piece, packed where that makes it smaller, or where nothing else is accepted."""
        start, self._start = self._start, None
        body: bytes = message["body"]
        if body and (len(body) >= LEAST or self._wanted.packed_only):
            packed = await self._packed(start["headers"], body)
            if len(packed) < len(body) or self._wanted.packed_only:
                start["headers"] = _with(self._coded(start["headers"]), b"content-length", str(len(packed)).encode())
                message["body"] = packed
        await self._send(start)
        await self._send(message)

    async def _packed(self, headers: Headers, body: bytes) -> bytes:
        coding = str(self._wanted.coding)
        if b"immutable" not in _field(headers, b"cache-control") or not _field(headers, b"etag"):
            return await _off_loop(PACKERS[coding]().last, body)
        key = _field(headers, b"etag"), coding
        if key not in self._kept and len(self._kept) < KEPT_MAX:
            self._kept[key] = await _off_loop(PACKERS[coding]().last, body)
        return self._kept[key] if key in self._kept else await _off_loop(PACKERS[coding]().last, body)

    async def _piece(self, message: Any) -> None:
        packer, more = self._packer or PACKERS[str(self._wanted.coding)](), message.get("more_body", False)
        packed = await _off_loop(packer.piece if more else packer.last, message["body"])
        if packed or not more:
            message["body"] = packed
            await self._send(message)

    def _coded(self, headers: Headers) -> Headers:
        """The header fields of a packed answer."""
        coding = str(self._wanted.coding)
        kept = [(name, value) for name, value in headers if name.lower() != b"content-length"]
        if tag := _field(kept, b"etag").decode("latin-1"):
            kept = _with(kept, b"etag", coded_tag(tag, coding).encode("latin-1"))
        return [*kept, (b"content-encoding", coding.encode())]


async def _off_loop(pack: Callable[[bytes], bytes], content: bytes) -> bytes:
    return await asyncio.to_thread(pack, content) if len(content) > INLINE else pack(content)


def _fields(headers: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _field(headers: Headers, name: bytes) -> bytes:
    return next((value for key, value in headers if key.lower() == name), b"")


def _with(headers: Headers, name: bytes, value: bytes) -> Headers:
    """The header fields with this value in the place of the field's own, or at the end."""
    if not any(key.lower() == name for key, _ in headers):
        return [*headers, (name, value)] if value else headers
    return [(key, value if key.lower() == name else old) for key, old in headers]


def _varied(headers: Headers) -> Headers:
    varied = _field(headers, b"vary")
    if b"accept-encoding" in varied.lower():
        return headers
    return _with(headers, b"vary", varied + b", Accept-Encoding" if varied else b"Accept-Encoding")


def _asked(scope: HTTPScope, tags: list[str]) -> HTTPScope:
    """The request with the tags that the endpoints know."""
    inner = scope.copy()
    others = [(name, value) for name, value in scope["headers"] if name.lower() != b"if-none-match"]
    inner["headers"] = [*others, (b"if-none-match", ", ".join(tags).encode("latin-1"))]
    return inner
