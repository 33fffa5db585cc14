"""Finds out who sent a request by the header in which a listed proxy names the caller."""

from __future__ import annotations

from typing import ClassVar

from service.errors import Unauthenticated
from service.identity.authentication import Presented
from service.identity.caller import Caller
from service.identity.proxy import read_proxy
from service.identity.proxy_settings import ProxySetting
from service.identity.subjects import Subjects


class ProxyAuthenticator:
    """Authenticates by the subject that a listed proxy names."""

    configured: ClassVar[bool] = True

    def __init__(self, setting: ProxySetting, subjects: Subjects) -> None:
        self._setting, self._subjects = setting, subjects

    async def identify(self, presented: Presented) -> Caller:
        """The caller whom a listed proxy names.

        Raises `BadRequest`, `Forbidden`, `Unauthenticated` where it names none, or a revoked one, and
        `StoreUnavailable`.
        """
        named = read_proxy(presented, self._setting)
        if named is None:
            raise Unauthenticated(
                f"expected the header {self._setting.header} of a listed proxy, which names the caller, or a bearer "
                "token of a kind that this service accepts, found none"
            )
        return await self._subjects.caller(named, "proxy", self._setting.kind, "proxy")

    async def still(self, caller: Caller) -> bool:
        """Whether a caller's subject is not revoked; raises `StoreUnavailable`."""
        return await self._subjects.is_good(caller.subject)
