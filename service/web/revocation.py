"""What a long answer does about the revocation of its caller's credential: it ends within 5 seconds of it.

The door looks at a credential once, when a request comes. A stream, a wait or an export may last for minutes after
that, so each of them looks again.
"""

from __future__ import annotations

import asyncio

from service.errors import GainsayError, Unauthenticated
from service.identity.authentication import Authenticator
from service.identity.caller import Caller

LOOK_S = 2.0
"""How often a credential is looked at. The answer of the registers is at most 2 s old, so 4 s pass at most."""
WORDS = (
    "the credential of this request is not known to be good any more: it has expired or was revoked, or the registers "
    "do not answer; come back with a valid one"
)


async def is_still_good(authenticator: Authenticator, caller: Caller) -> bool:
    """Whether a caller may go on. Where the registers do not answer, it may not: it comes back, and is asked again."""
    try:
        return await authenticator.still(caller)
    except GainsayError:
        return False


async def until_revoked(authenticator: Authenticator, caller: Caller) -> None:
    """Return when the caller's credential is not good any more; never in a service without identities."""
    if not authenticator.configured:
        await asyncio.Event().wait()
    while await is_still_good(authenticator, caller):  # noqa: ASYNC110 - the registers announce nothing
        await asyncio.sleep(LOOK_S)


def revoked() -> Unauthenticated:
    """The refusal of a request whose credential was revoked under way."""
    return Unauthenticated(WORDS, presented=True)
