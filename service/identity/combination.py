"""The ways by which a service finds out who calls, in one order.

1  a header of the proxy's and a bearer token in one request are refused: two statements of who the caller is
2  a header of the proxy's is its word, beside any other Authorization, which a proxy may have read and passed on
3  a bearer token that begins as an API key does is one, and is nothing else
4  any other bearer token is one of an identity provider
5  a request with none of these is asked of the proxy, which refuses it, or is refused
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Literal

from service import telemetry
from service.errors import BadRequest, GainsayError, Unauthenticated
from service.identity.api_keys import PREFIX
from service.identity.authentication import Authenticator, Presented
from service.identity.bearer import bearer_token
from service.identity.caller import Caller

_KEY = PREFIX.encode()
Way = Literal["apiKey", "oidc", "proxy", "none"]
"""What a request presents: the ways of `Caller.via`, or nothing that is accepted."""


class CombinedAuthenticator:
    """Asks the authenticator of what a request presents. Where one is ``None`` its way is closed."""

    configured: ClassVar[bool] = True

    def __init__(
        self,
        *,
        keys: Authenticator | None = None,
        tokens: Authenticator | None = None,
        proxy: Authenticator | None = None,
        proxy_headers: Collection[str] = (),
    ) -> None:
        """``proxy_headers`` are those in which the proxy names a caller, in lower case."""
        self._keys, self._tokens, self._proxy = keys, tokens, proxy
        self._proxy_headers = frozenset(name.encode() for name in proxy_headers)

    async def identify(self, presented: Presented) -> Caller:
        """The caller of a request, which is counted; raises what `Authenticator.identify` raises."""
        way: Way = "none"
        try:
            way, authenticator = self._way(presented)
            caller = await authenticator.identify(presented)
        except GainsayError as error:
            result = "refused" if error.status < 500 else "failed"
            telemetry.AUTHENTICATIONS.labels(way=way, result=result).inc()
            raise
        telemetry.AUTHENTICATIONS.labels(way=way, result="accepted").inc()
        return caller

    def _way(self, presented: Presented) -> tuple[Way, Authenticator]:
        """Whom to ask, and the name of that way; raises `Unauthenticated` and `BadRequest`."""
        if self._proxy is not None and any(name.lower() in self._proxy_headers for name, _ in presented.headers):
            if any(value[:6].lower() == b"bearer" for value in presented.authorization):
                raise BadRequest(
                    "expected either a bearer token or the headers of a listed proxy, found both: two statements of "
                    "who the caller is; leave one of them out"
                )
            return "proxy", self._proxy
        token = bearer_token(presented)
        if token is not None:
            is_key = token.startswith(_KEY)
            asked = self._keys if is_key else self._tokens
            if asked is None:
                raise Unauthenticated(
                    f"expected {self._accepted}, found another bearer token; this service accepts no such",
                    presented=True,
                )
            return "apiKey" if is_key else "oidc", asked
        if self._proxy is not None:
            return "none", self._proxy  # which refuses it
        raise Unauthenticated(f"expected {self._accepted} in a header `Authorization: Bearer`, found no such header")

    async def still(self, caller: Caller) -> bool:
        """Whether the authenticator that found this caller still would."""
        way = {"apiKey": self._keys, "oidc": self._tokens, "proxy": self._proxy}.get(caller.via)
        return way is not None and await way.still(caller)

    @property
    def _accepted(self) -> str:
        ways = {"an API key of this service": self._keys, "a token of an identity provider": self._tokens}
        return " or ".join(name for name, way in ways.items() if way) or "no bearer token, but a proxy's subject"
