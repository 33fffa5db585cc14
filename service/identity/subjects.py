"""The register of subjects, as those ask it who name subjects: identity providers and proxies.

Records and reports have a subject's opaque id. How its source names it stands in the register alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from service.errors import Forbidden, Unauthenticated
from service.identity.answer_cache import AnswerCache
from service.identity.caller import Caller, Kind, Via
from service.identity.claims import Claimed
from service.store.identity_register import FoundSubject


class SubjectRegister(Protocol):
    """The register that is asked; `service.store.identity_register.IdentityRegister` is one."""

    async def find_subject(self, tenant: str, source: str, external: str, kind: str) -> FoundSubject | None:
        """The subject that a source names, entered where it is new; ``None`` for an unknown tenant."""
        ...

    async def still(self, subject: str, key: str) -> bool:
        """Whether a subject is still good; ``key`` is empty for one that came without a key."""
        ...


class Subjects:
    """Finds callers by what was claimed of them; the answers of the register are at most some seconds old."""

    def __init__(self, register: SubjectRegister, clock: Callable[[], float] = time.monotonic) -> None:
        self._register = register
        self._found: AnswerCache[tuple[str, str, str, str], FoundSubject] = AnswerCache(self._find, clock=clock)
        self._good: AnswerCache[str, bool] = AnswerCache(self._ask_still, clock=clock)

    async def caller(self, claimed: Claimed, source: str, kind: Kind, via: Via) -> Caller:
        """The caller of whom a source claims this, in the first of its roles.

        Raises `Unauthenticated` for a revoked subject, `Forbidden` for a tenant that does not exist, and
        `StoreUnavailable`.
        """
        found = await self._found.answer((claimed.tenant, source, claimed.external, kind))
        if found is None:
            raise Forbidden(
                f"the caller is known, and its tenant {claimed.tenant} is not; an administrator has to create it "
                "(`gainsay tenants create`)"
            )
        if not found.good:
            raise Unauthenticated(
                "the caller's subject was revoked here; ask an operator of your tenant", presented=True
            )
        return Caller(
            tenant=claimed.tenant,
            subject=found.id,
            role=claimed.roles[0],
            kind=kind,
            via=via,
            roles=claimed.roles,
            until=claimed.until,
        )

    async def is_good(self, subject: str) -> bool:
        """Whether a subject is there and not revoked; raises `StoreUnavailable`."""
        return bool(await self._good.answer(subject))

    async def _find(self, question: tuple[str, str, str, str]) -> FoundSubject | None:
        return await self._register.find_subject(*question)

    async def _ask_still(self, subject: str) -> bool | None:
        return await self._register.still(subject, "") or None
