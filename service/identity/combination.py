"""The ways by which a service finds out who calls, in one order.

1  a header of the proxy's and a bearer token in one request are refused: two statements of who the caller is
2  a header of the proxy's is its word, beside any other Authorization, which a proxy may have read and passed on
3  a bearer token that begins as an API key does is one, and is nothing else
4  any other bearer token is one of an identity provider
5  a request with none of these is refused
"""

from __future__ import annotations

from typing import ClassVar

from service.errors import BadRequest, Unauthenticated
from service.identity.api_keys import PREFIX
from service.identity.authentication import Authenticator, Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller
from service.identity.proxy_authenticator import ProxyAuthenticator

_KEY = PREFIX.encode()


class CombinedAuthenticator:
    """Asks the authenticator of what a request presents. Where one is ``None`` its way is closed."""

    configured: ClassVar[bool] = True

    def __init__(
        self,
        *,
        keys: Authenticator | None = None,
        tokens: Authenticator | None = None,
        proxy: ProxyAuthenticator | None = None,
    ) -> None:
        self._keys, self._tokens, self._proxy = keys, tokens, proxy

    async def identify(self, presented: Presented) -> Caller:
        """The caller of a request; raises what `Authenticator.identify` raises."""
        if self._proxy is not None and (header := self._proxy.names(presented)):
            if any(value[:6].lower() == b"bearer" for value in presented.authorization):
                raise BadRequest(
                    f"expected either a bearer token or the header {header} of a listed proxy, found both: two "
                    "statements of who the caller is; leave one of them out"
                )
            return await self._proxy.identify(presented)
        token = bearer_token(presented)
        if token is None:
            raise Unauthenticated(f"expected {self._accepted}, found none")
        way = self._keys if token.startswith(_KEY) else self._tokens
        if way is None:
            raise Unauthenticated(
                f"expected {self._accepted}, found another bearer token; this service accepts no such", presented=True
            )
        return await way.identify(presented)

    async def still(self, caller: Caller) -> bool:
        """Whether the authenticator that found this caller still would."""
        way = {"apiKey": self._keys, "oidc": self._tokens, "proxy": self._proxy}.get(caller.via)
        return way is not None and await way.still(caller)

    @property
    def _accepted(self) -> str:
        ways = {"an API key of this service": self._keys, "a token of an identity provider": self._tokens}
        named = " or ".join(name for name, way in ways.items() if way)
        found = [f"{named} in a header `Authorization: Bearer`"] if named else []
        return " or ".join(found + (["a listed proxy that names the caller"] if self._proxy else []))
