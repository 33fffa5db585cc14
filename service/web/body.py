"""Bodies of requests, read within their limit; `service.intake.decoding` decodes them."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from service.errors import BadRequest, TooLarge
from service.intake.decoding import decode
from service.intake.shape import SAID_MAX
from service.web.admission import within_time
from service.web.app_state import HttpRequest
from service.web.problems import UnsupportedMediaType

T = TypeVar("T")

THREAD_BYTES = 1 << 16
"""A larger body is decoded in a thread."""


async def read(request: HttpRequest, type_: type[T], limit: int) -> T:
    """The body as a value of a type.

    Raises `UnsupportedMediaType`, `TooLarge` (before more than ``limit`` bytes are held), `RequestTimeout`,
    `BadRequest` and `WrongShape`.
    """
    return await _decoded(await read_json(request, limit), type_)


async def read_json(request: HttpRequest, limit: int) -> bytes:
    """The bytes of a body that says it is JSON; raises what `read` raises, but for what the JSON holds."""
    _json_expected(request)
    return await read_bytes(request, limit)


async def read_optional(request: HttpRequest, type_: type[T], limit: int) -> T | None:
    """The body as a value of a type, or ``None`` where there is no body."""
    raw = await read_bytes(request, limit)
    if not raw:
        return None
    _json_expected(request)
    return await _decoded(raw, type_)


async def _decoded(raw: bytes, type_: type[T]) -> T:
    if len(raw) > THREAD_BYTES:
        return await asyncio.to_thread(decode, raw, type_)
    return decode(raw, type_)


async def read_bytes(request: HttpRequest, limit: int) -> bytes:
    """The body's bytes; raises `TooLarge`, `RequestTimeout`, and `BadRequest` if the caller disconnected."""
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated[:20]) > limit:
        raise TooLarge(f"the body may have {limit} bytes, found {stated[:20]}; send less, or fewer documents")
    async with within_time():
        return await _received(request, limit)


async def _received(request: HttpRequest, limit: int) -> bytes:
    chunks, size = [], 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("the connection was closed before the body had arrived")
        if message["type"] != "http.request":
            continue
        size += len(message["body"])
        if size > limit:
            raise TooLarge(f"the body may have {limit} bytes, found more; send less, or fewer documents")
        chunks.append(message["body"])
        if not message["more_body"]:
            return b"".join(chunks)


async def read_lines(request: HttpRequest, limit: int, media: tuple[str, ...]) -> bytes:
    """A body of JSON Lines, undecoded; raises what `read` raises before it decodes."""
    _json_expected(request, media)
    return await read_bytes(request, limit)


def _json_expected(request: HttpRequest, media: tuple[str, ...] = ("application/json",)) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    name, _, charset = parameters.strip().partition("=")
    if kind.strip().lower() not in media:
        found = kind.strip()[:SAID_MAX] or "none"
        raise UnsupportedMediaType(
            f"expected the header Content-Type: {' or '.join(media)}, found {found}",
            wanted={"Accept": ", ".join(media)},
        )
    if name.strip().lower() == "charset" and charset.strip().strip('"').lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("expected JSON in UTF-8; encode the body in UTF-8 and leave out the charset")
    codings = ",".join(request.headers.getall("content-encoding", [])).lower().split(",")
    if packed := [coding for coding in map(str.strip, codings) if coding not in ("identity", "")]:
        raise UnsupportedMediaType(
            f"expected a body without content coding, found {packed[0][:SAID_MAX]}; send the JSON as it is: a packed "
            "body is not unpacked, whatever it would grow to",
            wanted={"Accept-Encoding": "identity"},
        )
