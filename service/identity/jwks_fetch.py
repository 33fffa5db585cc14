"""HTTP to an identity provider: one document by GET, bounded in size and time.

    https, with the public certificates or those of a file; http to this machine alone (provider_settings)
    no redirects, no cookies, no proxies or passwords of the environment, no retry
    status 200 and at most `BODY_MAX` bytes, not compressed, within `CALL_S` seconds in all

This is the only module of `identity` that speaks HTTP. Errors are named by their kind alone.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import service
from service.errors import SettingsError
from service.policy.trust import usual_issuers

if TYPE_CHECKING:
    import httpx

CALL_S = 5.0
"""The limit of the whole exchange, from the connection to the last byte."""
BODY_MAX = 1 << 18

Fetch = Callable[[str], Awaitable[bytes]]
"""Gets the document at an address; raises `ProviderUnreachable`."""

# httpx logs every request with its address at INFO.
logging.getLogger("httpx").setLevel(logging.WARNING)


class ProviderUnreachable(Exception):
    """No complete document; the message says why."""


def trusted(ca: str | None) -> ssl.SSLContext:
    """The certificates to trust: those of a file, or the public ones (SSL_CERT_FILE and SSL_CERT_DIR name others).

    Raises `SettingsError` for a file without any.
    """
    if ca is None:
        return usual_issuers()
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"expected certificates in PEM in {ca}, the ca of an identity provider; found none that can be read"
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class DocumentFetch:
    """Gets documents of one identity provider; a connection lasts for one of them."""

    def __init__(self, ca: str | None = None, call_s: float = CALL_S) -> None:
        """Raises `SettingsError` for a ``ca`` without certificates."""
        self._trusted = trusted(ca)
        self._call_s = call_s

    async def __call__(self, address: str) -> bytes:
        """The document at an address; raises `ProviderUnreachable`."""
        import httpx

        try:
            async with asyncio.timeout(self._call_s), self._client() as client:
                return await _document(client, address)
        except TimeoutError:
            raise ProviderUnreachable(f"no complete answer within {self._call_s:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, RuntimeError) as error:
            raise ProviderUnreachable(_error_text(error)) from None

    def _client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            verify=self._trusted,
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",
                "user-agent": f"gainsay/{service.__version__}",
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=httpx.Timeout(self._call_s),
            trust_env=False,
            follow_redirects=False,
        )


async def _document(client: httpx.AsyncClient, address: str) -> bytes:
    async with client.stream("GET", address) as response:
        if response.is_redirect:
            raise ProviderUnreachable("it redirects, which is not followed; name the address itself")
        if response.status_code != 200:
            raise ProviderUnreachable(f"it answers {response.status_code}")
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise ProviderUnreachable("the answer is compressed, which was not requested")
        body = b""
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > BODY_MAX:
                raise ProviderUnreachable(f"the answer is longer than {BODY_MAX} bytes")
        return body


def _error_text(error: Exception) -> str:
    import httpx

    match error:
        case httpx.ConnectError():
            return "no connection could be made, or its certificate is not trusted"
        case httpx.RemoteProtocolError() | httpx.DecodingError():
            return "the answer is not HTTP, or is incomplete"
        case _:
            return f"the exchange failed ({type(error).__name__})"
