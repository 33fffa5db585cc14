"""The ways by which a service finds out who calls, in one order.

1  a bearer token that begins as an API key does is one, and is nothing else
2  any other bearer token is one of an identity provider
3  a request without a bearer token may come from a proxy that has authenticated its caller
4  a request with none of these is refused
"""

from __future__ import annotations

from typing import ClassVar

from service.errors import Unauthenticated
from service.identity.api_keys import PREFIX
from service.identity.authentication import Authenticator, Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller

_KEY = PREFIX.encode()


class CombinedAuthenticator:
    """Asks the authenticator of what a request presents. Where one is ``None`` its way is closed."""

    configured: ClassVar[bool] = True

    def __init__(
        self,
        *,
        keys: Authenticator | None = None,
        tokens: Authenticator | None = None,
        proxy: Authenticator | None = None,
    ) -> None:
        self._keys, self._tokens, self._proxy = keys, tokens, proxy

    async def identify(self, presented: Presented) -> Caller:
        """The caller of a request; raises what `Authenticator.identify` raises."""
        token = bearer_token(presented)
        if token is not None:
            way = self._keys if token.startswith(_KEY) else self._tokens
            if way is None:
                raise Unauthenticated(
                    f"expected {self._accepted}, found another bearer token; this service accepts no such",
                    presented=True,
                )
            return await way.identify(presented)
        if self._proxy is not None:
            return await self._proxy.identify(presented)
        raise Unauthenticated(f"expected {self._accepted} in a header `Authorization: Bearer`, found no such header")

    async def still(self, caller: Caller) -> bool:
        """Whether the authenticator that found this caller still would."""
        way = {"apiKey": self._keys, "oidc": self._tokens, "proxy": self._proxy}.get(caller.via)
        return way is not None and await way.still(caller)

    @property
    def _accepted(self) -> str:
        ways = {"an API key of this service": self._keys, "a token of an identity provider": self._tokens}
        return " or ".join(name for name, way in ways.items() if way) or "no bearer token, but a proxy's subject"
