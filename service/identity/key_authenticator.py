"""Finds out who sent a request by the API key that it presents.

Unknown, expired and revoked keys, and those of a revoked subject or of a tenant that is gone, get one answer: it does
not say which of them a key is. A text that is no key is refused before the register is asked.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import ClassVar, Protocol, cast

from service import log_lines
from service.errors import StoreUnavailable, Unauthenticated
from service.identity.answer_cache import KEPT, AnswerCache
from service.identity.api_keys import read_key
from service.identity.authentication import Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller, Kind
from service.identity.roles import ROLES, SCOPES, SERVICE_WIDE, Scope
from service.identity.tenants import SERVICE_TENANT
from service.store.identity_register import FoundKey

USED_EVERY_S = 60.0
"""The last use of a key is kept no more exactly than this."""
NOTING = 32
"""Uses that are written at the same time; more are left out until the key is used again."""


class KeyRegister(Protocol):
    """The register that is asked; `service.store.identity_register.IdentityRegister` is one."""

    async def find_key(self, hash: bytes) -> FoundKey | None:
        """The valid key of a hash."""
        ...

    async def still(self, subject: str, key: str) -> bool:
        """Whether a subject and its key are still good."""
        ...

    async def key_used(self, key: str) -> None:
        """Keep that a key was used just now."""
        ...


class KeyAuthenticator:
    """Authenticates by API keys; the answers of the register are at most some seconds old (`answer_cache`)."""

    configured: ClassVar[bool] = True

    def __init__(self, register: KeyRegister, clock: Callable[[], float] = time.monotonic) -> None:
        self._register, self._clock = register, clock
        self._callers: AnswerCache[bytes, Caller] = AnswerCache(self._find, clock=clock)
        self._good: AnswerCache[tuple[str, str], bool] = AnswerCache(self._ask_still, clock=clock)
        self._used: OrderedDict[str, float] = OrderedDict()
        self._noting: set[asyncio.Task[None]] = set()

    async def identify(self, presented: Presented) -> Caller:
        """The caller whose key a request presents; raises what `Authenticator.identify` raises."""
        token = bearer_token(presented)
        if token is None:
            raise Unauthenticated("expected an API key in a header `Authorization: Bearer`, found no such header")
        found = await self._callers.answer(read_key(token))
        if found is None:
            raise Unauthenticated(
                "expected a valid API key, found one that is unknown, expired or revoked; ask an operator of your "
                "tenant for a new one",
                presented=True,
            )
        self._note(found.credential)
        return found

    async def still(self, caller: Caller) -> bool:
        """Whether a caller's key and subject are still good; raises `StoreUnavailable`."""
        return bool(await self._good.answer((caller.subject, caller.credential)))

    async def close(self) -> None:
        """End what is still being written of uses."""
        for task in tuple(self._noting):
            task.cancel()
        await asyncio.gather(*self._noting, return_exceptions=True)

    async def _find(self, hashed: bytes) -> Caller | None:
        found = await self._register.find_key(hashed)
        return None if found is None else caller_of(found)

    async def _ask_still(self, question: tuple[str, str]) -> bool | None:
        return await self._register.still(*question) or None

    def _note(self, key: str) -> None:
        """Have the use of a key written, outside of its request."""
        now = self._clock()
        if now < self._used.get(key, 0.0) or len(self._noting) >= NOTING:
            return
        self._used[key] = now + USED_EVERY_S
        self._used.move_to_end(key)
        if len(self._used) > KEPT:
            self._used.popitem(last=False)
        task = asyncio.create_task(self._write_use(key), name="key used")
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _write_use(self, key: str) -> None:
        try:
            await self._register.key_used(key)
        except StoreUnavailable as error:  # the next use is written instead
            self._used.pop(key, None)
            log_lines.KEY_USE_LOST(detail=error.detail, code=error.code)


def caller_of(key: FoundKey) -> Caller:
    """The caller of a key.

    A role or scope that this version does not know grants nothing, nor does a role of a tenant without one.
    """
    known = frozenset[Scope](scope for scope in SCOPES if key.scopes is not None and scope in key.scopes)
    roles = tuple(role for role in ROLES if role in key.roles and (role in SERVICE_WIDE) == (key.tenant is None))
    return Caller(
        tenant=SERVICE_TENANT if key.tenant is None else key.tenant,
        subject=key.subject,
        role=roles[0] if roles else "requester",
        kind=cast(Kind, key.kind),
        via="apiKey",
        roles=roles,
        scopes=None if key.scopes is None else known,
        credential=key.id,
    )
