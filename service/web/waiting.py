"""Waits for the end of a debate on behalf of a caller that stays connected."""

from __future__ import annotations

import asyncio

from service.web.app_state import AppState, HttpRequest
from service.web.callers import caller
from service.web.revocation import revoked, until_revoked


async def ended_in_time(request: HttpRequest, site: AppState, debate: str, seconds: float, *, leaving: bool) -> bool:
    """Whether a debate ended in time. The wait ends early when the service stops or the caller disconnects.

    Where ``leaving`` is set the debate ends with its listeners, and a caller that disconnects counts as one that left.
    Raises `Unauthenticated` where the caller's credential is revoked meanwhile, with the error of a wait that failed at
    the same time as its cause; and whatever the wait or the look at the credential raises.
    """
    over = asyncio.ensure_future(site.reviews.wait(debate, caller(request), seconds))
    closing = asyncio.ensure_future(site.closing.wait())
    gone = asyncio.ensure_future(_caller_gone(request))
    refused = asyncio.ensure_future(until_revoked(site.authenticator, caller(request)))
    if leaving:
        site.leaving.listener_joined(debate, caller(request).tenant)
    try:
        await asyncio.wait({over, closing, gone, refused}, return_when=asyncio.FIRST_COMPLETED)
        if refused.done():
            refused.result()  # a look that failed is no revocation
            raise revoked() from (over.exception() if over.done() else None)
        return over.done() and over.result()
    finally:
        if leaving:
            site.leaving.listener_left(debate, of_itself=gone.done() and not over.done() and not closing.done())
        for task in (over, closing, gone, refused):
            task.cancel()


async def _caller_gone(request: HttpRequest) -> None:
    """Returns when the caller closes the connection; its body has come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
