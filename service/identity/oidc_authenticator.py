"""Bearer tokens of identity providers: from the bytes of a token to its caller.

A token says its issuer before its signature is verified. That chooses the provider, whose keys then have to verify it,
and no more: `read_claims` compares it again. Nothing of a token is asked of any other place than that provider.

A caller sends the same token many times. Its signature is verified once for the keys that the provider has: what was
verified is kept by the token's hash, and holds while the provider gives those same keys. Times, tenant, roles and the
register are looked at each time.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from service.errors import Unauthenticated
from service.identity.authentication import Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller
from service.identity.claims import read_claims
from service.identity.jwks_fetch import DocumentFetch
from service.identity.key_sets import VerificationKey
from service.identity.provider_keys import ProviderKeys
from service.identity.provider_settings import OidcSetting
from service.identity.subjects import Subjects
from service.identity.tokens import check_header, read_token, refused, verified_claims

KEPT = 1_000
"""Verified tokens that are kept."""


class Provider(NamedTuple):
    """An identity provider: what is configured of it, and its keys."""

    setting: OidcSetting
    keys: ProviderKeys


class VerifiedToken(NamedTuple):
    """What was verified, with all keys that the token's ``kid`` and algorithm had then."""

    provider: Provider
    kid: str
    algorithm: str
    type: str
    keys: tuple[VerificationKey, ...]
    claims: Mapping[str, Any]


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
        self._kept: OrderedDict[bytes, VerifiedToken] = OrderedDict()

    async def identify(self, presented: Presented) -> Caller:
        """The caller whose token a request presents.

        Raises `Unauthenticated`, `Forbidden` for one without a role or a tenant here, `IdentityUnavailable` and
        `StoreUnavailable`.
        """
        token = bearer_token(presented)
        if token is None:
            raise Unauthenticated("expected a token in a header `Authorization: Bearer`, found no such header")
        found = await self._verified(token)
        setting = found.provider.setting
        claimed = read_claims(found.claims, found.type, setting, self._now())
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

    async def _verified(self, token: bytes) -> VerifiedToken:
        """A token that a key of its provider verifies, as that has its keys now; raises as `identify`."""
        digest = sha256(token).digest()
        if (kept := self._kept.get(digest)) is not None:
            now = await kept.provider.keys.find(kept.kid, kept.algorithm)
            if list(map(id, now)) == list(map(id, kept.keys)):  # the very keys, not such as look the same
                return kept
            self._kept.pop(digest, None)
        found = await self._verify(token)
        self._kept[digest] = found
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    async def _verify(self, token: bytes) -> VerifiedToken:
        read = read_token(token)
        provider = self._providers.get(read.issuer)
        if provider is None:
            raise refused("its issuer (iss) is none of the configured identity providers")
        check_header(read, provider.setting.algorithms)
        keys = await provider.keys.find(read.kid, read.algorithm)
        claims = verified_claims(read, keys, provider.setting.algorithms)
        return VerifiedToken(provider, read.kid, read.algorithm, read.type, keys, claims)
