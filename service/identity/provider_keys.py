"""The keys of one identity provider, as old as they may be.

    the keys are                                 a token that names a key
    younger than `refresh_s`                     is verified with them
    older, and the provider answered last time   waits for the keys to be fetched
    older, and it did not                        is verified with the old ones; they are fetched in the background
    older than `keep_s`, or never fetched        waits for them, and is refused with 503 where they do not come
    and do not have this one                     waits for them, at most once in `PAUSE_S` for all such tokens together

So a key that the provider no longer publishes ends within `refresh_s`, and within `keep_s` where the provider does not
answer. All who wait at one time wait for one fetch. Two fetches begin at least `PAUSE_S` apart, whatever tokens come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from service import log_lines
from service.errors import IdentityUnavailable
from service.identity.jwks_fetch import Fetch, ProviderUnreachable
from service.identity.key_sets import BadDocument, KeySet, VerificationKey, read_discovery, read_key_set
from service.identity.provider_settings import OidcSetting
from service.identity.tokens import refused

PAUSE_S = 10.0
DISCOVERY = "/.well-known/openid-configuration"


class ProviderKeys:
    """The keys of one provider, fetched by need. ``clock`` is in seconds and never goes back."""

    def __init__(self, setting: OidcSetting, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._setting = setting
        self._fetch = fetch
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched = 0.0
        self._begun: float | None = None
        self._failure = ""
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, kid: str, algorithm: str) -> tuple[VerificationKey, ...]:
        """The keys of this ``kid`` that fit an algorithm.

        Raises `Unauthenticated` where the provider has none, and `IdentityUnavailable` where that cannot be known.
        """
        keys = await self._current()
        if not (found := keys.find(kid, algorithm)) and self._may_fetch:
            await self._refreshed()
            keys = self._usable()
            found = keys.find(kid, algorithm)
        if not found and self._failure:  # it may be a new key
            raise self._unavailable()
        if not found:
            raise refused(f"the identity provider {self._setting.name} has no key of this name for this algorithm")
        return found

    async def close(self) -> None:
        """End a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    async def _current(self) -> KeySet:
        """The keys that are there, fetched where they have to be; raises `IdentityUnavailable`."""
        if self._keys is None or self._age >= self._setting.keep_s:
            await self._refreshed()
        elif self._age >= self._setting.refresh_s:
            if self._failure:
                self._begin()
            else:
                await self._refreshed()
        return self._usable()

    def _usable(self) -> KeySet:
        if self._keys is None or self._age >= self._setting.keep_s:
            raise self._unavailable()
        return self._keys

    def _unavailable(self) -> IdentityUnavailable:
        return IdentityUnavailable(
            f"the key of the token is not known, and the identity provider {self._setting.name} does not say its keys "
            f"({self._failure}); try again",
            retry_after=int(PAUSE_S),
        )

    @property
    def _age(self) -> float:
        return self._clock() - self._fetched

    @property
    def _may_fetch(self) -> bool:
        """Whether a fetch is under way, or may begin."""
        under_way = self._fetching is not None and not self._fetching.done()
        return under_way or self._begun is None or self._clock() - self._begun >= PAUSE_S

    async def _refreshed(self) -> None:
        """Wait for a fetch: the one that is under way, or a new one where the last is long enough ago."""
        self._begin()
        if self._fetching is not None:
            await asyncio.shield(self._fetching)  # a waiter that is cancelled does not end it for the others

    def _begin(self) -> None:
        if (self._fetching is None or self._fetching.done()) and self._may_fetch:
            self._begun = self._clock()
            self._fetching = asyncio.create_task(self._fetched_anew(), name=f"keys of {self._setting.name}")

    async def _fetched_anew(self) -> None:
        begun = self._clock()
        try:
            self._keys = read_key_set(await self._fetch(await self._place()))
        except (ProviderUnreachable, BadDocument) as error:
            self._failure = str(error)
            log_lines.PROVIDER_KEYS_AWAY(**self._fields)
        else:
            self._fetched, self._failure = begun, ""

    @property
    def _fields(self) -> dict[str, str]:
        return {"provider": self._setting.name, "why": self._failure}

    async def _place(self) -> str:
        if self._setting.jwks is not None:
            return self._setting.jwks
        document = await self._fetch(self._setting.issuer.rstrip("/") + DISCOVERY)
        try:
            return read_discovery(document, self._setting.issuer)
        except BadDocument as error:
            raise BadDocument(f"its discovery document cannot be used: {error}") from None
