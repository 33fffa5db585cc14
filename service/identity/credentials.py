"""Who sent a request, by whatever credential it presents.

    a request presents                                    it is
    two Authorization headers                             refused, 400
    a listed proxy's header and a bearer token            refused, 400: two statements of who that is
    a listed proxy's header                               whom the proxy names
    a bearer token with dots in it                        whom an identity provider names
    another bearer token                                  the subject of an API key of this service
    none of them, or a kind that is not configured        refused, 401

A proxy's header wins over an Authorization header of another scheme, which proxies pass on after they have read it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Protocol

from service.errors import BadRequest, Unauthenticated
from service.identity.authentication import Presented
from service.identity.caller import Caller, Via
from service.identity.proxy import read_proxy
from service.identity.proxy_settings import ProxySetting
from service.identity.subjects import Subjects, registered_caller

_BEARER = re.compile(rb"bearer +([!-~]+)", re.IGNORECASE)


class BearerSource(Protocol):
    """Finds the callers of one kind of bearer token."""

    async def identify(self, token: bytes) -> Caller:
        """The caller of a token; raises what `Authenticator.identify` raises."""
        ...

    async def still(self, caller: Caller) -> bool:
        """Whether its credential and subject are still good."""
        ...


class ProxySource:
    """Finds the callers that a proxy names."""

    def __init__(self, setting: ProxySetting, subjects: Subjects) -> None:
        self._setting = setting
        self._subjects = subjects

    async def identify(self, presented: Presented, *, bearer: bool) -> Caller | None:
        """Whom a listed proxy names, or ``None`` where it names no subject.

        Raises `BadRequest`, `Forbidden`, `Unauthenticated` for a revoked subject, and `StoreUnavailable`.
        """
        named = read_proxy(presented, self._setting)
        if named is None:
            return None
        if bearer:
            raise BadRequest(
                f"expected either a bearer token or the header {self._setting.header}, found both: two statements of "
                "who the caller is; let the proxy take one of them away"
            )
        return await registered_caller(named, "proxy", self._setting.kind, "proxy", self._subjects)

    async def still(self, caller: Caller) -> bool:
        """Whether its subject is not revoked."""
        return await self._subjects.is_good(caller.tenant, caller.subject)


class CredentialAuthenticator:
    """Implements `Authenticator` with the sources that are configured; at least one is."""

    configured: ClassVar[bool] = True

    def __init__(
        self, keys: BearerSource | None = None, tokens: BearerSource | None = None, proxy: ProxySource | None = None
    ) -> None:
        self._keys, self._tokens, self._proxy = keys, tokens, proxy

    async def identify(self, presented: Presented) -> Caller:
        """The caller of a request, by the table above."""
        token = _bearer(presented.authorization)
        if self._proxy is not None and (named := await self._proxy.identify(presented, bearer=token is not None)):
            return named
        if token is None:
            raise Unauthenticated(f"expected {self._expected}, found none")
        source = self._tokens if b"." in token else self._keys
        if source is None:
            raise Unauthenticated(f"expected {self._expected}, found a bearer token of another kind", presented=True)
        return await source.identify(token)

    async def still(self, caller: Caller) -> bool:
        """Whether a caller's credential and subject are still good; no caller of a source that is not configured is."""
        sources: dict[Via, BearerSource | ProxySource | None] = {
            "apiKey": self._keys,
            "oidc": self._tokens,
            "proxy": self._proxy,
        }
        source = sources.get(caller.via)
        return source is not None and await source.still(caller)

    @property
    def _expected(self) -> str:
        kinds = (
            ("an API key as Authorization: Bearer", self._keys),
            ("an access token of an identity provider as Authorization: Bearer", self._tokens),
            ("a proxy that names the caller", self._proxy),
        )
        return " or ".join(kind for kind, source in kinds if source is not None)


def _bearer(values: Sequence[bytes]) -> bytes | None:
    """The bearer token of the Authorization header, or ``None`` where it has none; raises `BadRequest`."""
    if len(values) > 1:
        raise BadRequest(f"expected one Authorization header, found {len(values)}")
    found = _BEARER.fullmatch(values[0].strip()) if values else None
    if found is None and values and values[0][:6].lower() == b"bearer":
        raise Unauthenticated("expected a token after Bearer, in one word, found none", presented=True)
    return found[1] if found else None
