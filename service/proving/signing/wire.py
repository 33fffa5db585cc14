"""HTTP to signers and witnesses: one request, one bounded answer, within one time limit.

httpx is imported by the first `Wire`, because most deployments sign for themselves and have no witness.

No redirects, no cookies, no proxies or passwords of the environment, and no retry, which is the caller's decision. An
error is named by its kind alone, since the library's message may quote a header.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext

from msgspec import Struct

import service
from service.policy.trust import trust_own, usual_issuers

CALL_S = 5.0
"""The limit of the whole exchange, from the connection to the last byte."""
BODY_MAX = 1 << 16
KEEP_S = 2.0
"""How long an idle connection is reused: servers close one after some five seconds."""

# httpx logs every request with its address at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)


class SignerUnreachable(Exception):
    """No complete answer; the message says why."""


class SignerReply(Struct, frozen=True):
    """An answer."""

    status: int
    media_type: str
    body: bytes


class Wire:
    """Connections that stay open between requests."""

    def __init__(self, call_s: float = CALL_S) -> None:
        import httpx

        self._call_s = call_s
        self._client = httpx.AsyncClient(
            verify=_trusted(),
            headers={"accept-encoding": "identity", "user-agent": f"gainsay/{service.__version__}"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=httpx.Timeout(call_s),  # between two events; the whole exchange has the same limit, below
            limits=httpx.Limits(keepalive_expiry=KEEP_S),
            trust_env=False,
            follow_redirects=False,
        )

    async def exchange(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        media_type: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> SignerReply:
        """Send a request and read the answer; raises `SignerUnreachable`."""
        import httpx

        sent = {**(headers or {}), **({"content-type": media_type} if media_type else {})}
        try:
            async with asyncio.timeout(self._call_s):
                return await self._exchange(method, url, content, sent)
        except TimeoutError:
            raise SignerUnreachable(f"no complete answer within {self._call_s:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, RuntimeError) as error:
            raise SignerUnreachable(_error_text(error)) from None

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _exchange(self, method: str, url: str, content: bytes, headers: Mapping[str, str]) -> SignerReply:
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
                raise SignerUnreachable("the answer is compressed, which was not requested")
            body = b""
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > BODY_MAX:
                    raise SignerUnreachable(f"the answer is longer than {BODY_MAX} bytes")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return SignerReply(response.status_code, kind, body)


def _error_text(error: Exception) -> str:
    import httpx

    match error:
        case httpx.ConnectError():
            return "no connection could be made"
        case httpx.RemoteProtocolError() | httpx.DecodingError():
            return "the answer is not HTTP, or is incomplete"
        case _:
            return f"the exchange failed ({type(error).__name__})"


@cache
def _trusted() -> SSLContext:
    """The trusted issuers (`service.policy.trust`)."""
    return trust_own(usual_issuers())
