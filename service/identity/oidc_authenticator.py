"""Bearer tokens of identity providers: from the bytes of a token to its caller.

A token says its issuer before its signature is verified. That chooses the provider, whose keys then have to verify it,
and no more: `read_claims` compares it again. Nothing of a token is asked of any other place than that provider.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from service.errors import Unauthenticated
from service.identity.authentication import Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller
from service.identity.claims import read_claims
from service.identity.jwks_fetch import DocumentFetch
from service.identity.provider_keys import ProviderKeys
from service.identity.provider_settings import OidcSetting
from service.identity.subjects import Subjects
from service.identity.tokens import check_header, read_token, refused, verified_claims


class Provider(NamedTuple):
    """An identity provider: what is configured of it, and its keys."""

    setting: OidcSetting
    keys: ProviderKeys


def open_providers(
    settings: Sequence[OidcSetting], clock: Callable[[], float] = time.monotonic
) -> tuple[Provider, ...]:
    """The identity providers of these settings; nothing is fetched yet. Raises `SettingsError` for a wrong ``ca``."""
    return tuple(Provider(one, ProviderKeys(one, DocumentFetch(one.ca), clock)) for one in settings)


class OidcAuthenticator:
    """Authenticates by tokens of identity providers. ``now`` says the time in seconds since 1970."""

    configured: ClassVar[bool] = True

    def __init__(self, providers: Sequence[Provider], subjects: Subjects, now: Callable[[], float] = time.time) -> None:
        self._providers = {provider.setting.issuer: provider for provider in providers}
        self._subjects = subjects
        self._now = now

    async def identify(self, presented: Presented) -> Caller:
        """The caller whose token a request presents.

        Raises `Unauthenticated`, `Forbidden` for one without a role or a tenant here, `IdentityUnavailable` and
        `StoreUnavailable`.
        """
        token = bearer_token(presented)
        if token is None:
            raise Unauthenticated("expected a token in a header `Authorization: Bearer`, found no such header")
        read = read_token(token)
        provider = self._providers.get(read.issuer)
        if provider is None:
            raise refused("its issuer (iss) is none of the configured identity providers")
        setting = provider.setting
        check_header(read, setting.algorithms)
        keys = await provider.keys.find(read.kid, read.algorithm)
        claims = verified_claims(read, keys, setting.algorithms)
        claimed = read_claims(claims, read.type, setting, self._now())
        return await self._subjects.caller(claimed, setting.name, setting.kind, "oidc")

    async def still(self, caller: Caller) -> bool:
        """Whether a caller's token has not ended, and its subject is not revoked; raises `StoreUnavailable`."""
        if caller.until is None or self._now() >= caller.until:
            return False
        return await self._subjects.is_good(caller.subject)

    async def close(self) -> None:
        """End what is under way."""
        for provider in self._providers.values():
            await provider.keys.close()
