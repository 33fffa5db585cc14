"""A long answer in parts: it is whole, or its connection is cut."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

from service import log_lines
from service.errors import GainsayError
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller
from service.web.middleware import HEAD
from service.web.problems import request_id
from service.web.revocation import LOOK_S, is_still_good, revoked


def content_of(request: HttpRequest, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The chunks; none of them for HEAD, whose answer has the header fields of GET: no length that is not known yet."""
    return nothing() if request.scope["state"].get(HEAD) else chunks


async def nothing() -> AsyncIterator[bytes]:
    """No chunks."""
    for none in tuple[bytes]():
        yield none


async def cut_short(chunks: AsyncIterator[bytes], request: HttpRequest, what: str) -> AsyncIterator[bytes]:
    """The chunks. An error cuts the connection, so that the client cannot take a part for the whole.

    So does the revocation of the caller's credential under way.
    """
    id_, looked_at = request_id.get(), time.monotonic()
    authenticator = app_state(request).authenticator
    try:
        async for chunk in chunks:
            if authenticator.configured and time.monotonic() - looked_at > LOOK_S:
                looked_at = time.monotonic()
                if not await is_still_good(authenticator, caller(request)):
                    raise revoked()
            yield chunk
    except GainsayError as error:
        log_lines.ANSWER_CUT(request=id_, what=what, code=error.code)
        raise
