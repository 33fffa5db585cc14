"""HTTP to one vendor: a body goes out, and a status with a body comes back, or a typed failure.

    no redirects, no cookies, no netrc and no retry of its own: an attempt is one request, whose bytes we know
    one time limit for making the connection, and one for the whole call
    a body of at most `BODY_MAX` bytes, counted after decompression

This is the only module that imports httpx and aiohttp. Their errors carry the request and its keys, so none of them
leaves this module, also not as the context of our error. A failure is returned from here; the caller raises it after
the library's error is gone.

A failure can have cost something only if a part of the request was sent. httpx-aiohttp reports a connection that ends
after the request as a `ConnectTimeout`, so the error of aiohttp behind it decides.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from msgspec import Struct

import service
from service.errors import SettingsError
from service.policy import ProviderSetting
from service.policy.trust import trust_own
from service.providers.credentials import Credentials
from service.providers.failures import ProviderFailure
from service.running.provider_port import CallFailed

BODY_MAX = 4_000_000
PIECE = 262_144
"""Larger requests are sent in pieces of this many bytes, so that other calls go on; aiohttp warns otherwise."""
KEPT_HEADERS = ("content-type", "retry-after-ms", "retry-after", "x-request-id", "request-id")

# httpx logs the URL of every request at INFO, and a URL's query may hold a secret.
logging.getLogger("httpx").setLevel(logging.WARNING)


class HttpReply(Struct, frozen=True):
    """A response. ``unread`` is the reason why the body could not be read; names of headers are in lower case.

    ``keys`` is the number of `Credentials.reread` with which the request went out.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    unread: str = ""
    keys: int = 0


class Transport:
    """The connections to one URL, through an HTTP proxy where there is one. Time limits are in seconds."""

    def __init__(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        credentials: Credentials,
        *,
        connect_s: float,
        call_s: float,
        proxy: str | None = None,
    ) -> None:
        self._url = url
        self._credentials = credentials
        self._call_s = call_s
        self._client = httpx.AsyncClient(
            transport=AiohttpTransport(verify=_trusted(), client=_session, proxy=httpx.Proxy(proxy) if proxy else None),
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",
                "content-type": "application/json",
                "user-agent": f"gainsay/{service.__version__}",
                **headers,
            },
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=httpx.Timeout(None, connect=connect_s),
            trust_env=False,
        )

    async def post(self, body: bytes) -> HttpReply | CallFailed:
        """Send a body; returns the response, or the reason why no whole response came. Raises no error."""
        if self._client.is_closed:
            return CallFailed("providerFault", "the provider is closed; nothing was sent", retry=False, billable=False)
        try:
            async with asyncio.timeout(self._call_s):
                return await self._exchange(body)
        except TimeoutError:
            return ProviderFailure("timeout", f"no whole reply within the {self._call_s:g} s that a call may take")
        except Exception as error:  # noqa: BLE001 - any error of the library may hold the request and its keys
            return _failure(error)

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    async def _exchange(self, body: bytes) -> HttpReply:
        large = len(body) > PIECE
        keys = self._credentials.reread()
        async with self._client.stream(
            "POST",
            self._url,
            content=_sliced(body) if large else body,
            headers={**self._credentials.revealed(), **(_length(body) if large else {})},
        ) as response:
            headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
            read = _Body(response.headers.get("content-encoding", "identity").strip().lower())
            async for chunk in response.aiter_raw():
                if not read.take(chunk):
                    break
            return HttpReply(response.status_code, headers, read.whole(), read.fault, keys)


async def _sliced(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), PIECE):
        yield body[at : at + PIECE]


def _length(body: bytes) -> dict[str, str]:
    """Content-Length, so that a body in pieces is not sent in chunked encoding, which some servers refuse."""
    return {"content-length": str(len(body))}


class _Body:
    """A body as it arrives, decompressed up to the limit only: a few bytes can expand to gigabytes."""

    def __init__(self, encoding: str) -> None:
        self._chunks: list[bytes] = []
        self._left = BODY_MAX
        self._packed = zlib.decompressobj(wbits=47) if encoding in ("gzip", "x-gzip", "deflate") else None
        self.fault = (
            "" if self._packed or encoding in ("", "identity") else "it is packed in a way that was not asked for"
        )

    def take(self, chunk: bytes) -> bool:
        """Add a chunk; returns whether the next one is wanted."""
        if self._packed and not self.fault:
            try:
                chunk = self._packed.decompress(chunk, self._left + 1)
            except zlib.error:
                self.fault = "it cannot be unpacked"
        self._left -= len(chunk)
        if self._left < 0:
            self.fault = f"it is longer than {BODY_MAX} bytes"
        self._chunks.append(chunk)
        return not self.fault

    def whole(self) -> bytes:
        """The whole body; empty if it could not be read (``fault``)."""
        if self._packed and not self.fault and (self._packed.unused_data or not self._packed.eof):
            self.fault = "it cannot be unpacked to its end"
        return b"" if self.fault else b"".join(self._chunks)


def _failure(error: Exception) -> CallFailed:
    """The failure that an error of the libraries means, by its type alone: its message names hosts and headers."""
    cause = error.__cause__ if isinstance(error, httpx.HTTPError) and error.__cause__ else error
    match cause:
        case aiohttp.ConnectionTimeoutError() | httpx.PoolTimeout():
            return ProviderFailure("timeout", "no connection in time; nothing was sent", billable=False)
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return ProviderFailure("connectionCut", "the proxy did not connect; nothing was sent", billable=False)
        case aiohttp.ClientConnectorDNSError():
            return ProviderFailure(
                "connectionCut", "the name in base_url is not known; nothing was sent", billable=False
            )
        case aiohttp.ClientSSLError():
            advice = "TLS could not be agreed on; nothing was sent; see whether GAINSAY_CA_FILE has the issuer"
            return ProviderFailure("connectionCut", advice, billable=False)
        case aiohttp.ClientConnectorError():
            return ProviderFailure("connectionCut", "the connection was refused; nothing was sent", billable=False)
        case aiohttp.ClientResponseError():
            return CallFailed("providerFault", "what came back is not HTTP")
        case aiohttp.ServerTimeoutError():
            return ProviderFailure("timeout", "the connection fell silent")
        case aiohttp.ClientError() | OSError():
            return ProviderFailure("connectionCut", "the connection ended before the whole reply was there")
        case _:
            return ProviderFailure("connectionCut", f"the call broke off with {type(cause).__name__}")


def address(name: str, setting: ProviderSetting, path: str) -> httpx.URL:
    """The URL of a provider's calls; raises `SettingsError`, whose message never shows the address."""
    base = setting.base_url or ""
    try:
        parts = urlsplit(base)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        plain = whole and "@" not in parts.netloc and not parts.query and not parts.fragment
        url = httpx.URL(base.rstrip("/") + (setting.path or path)) if plain else None
    except (ValueError, httpx.InvalidURL):
        url = None
    if url is None:
        raise SettingsError(
            f"providers.{name}.base_url: expected http:// or https://, a host and perhaps a path, found "
            f"{'something else' if base else 'none'}; a user, a password or a query has no place in it (see key, "
            "secret_headers and query)"
        )
    return url.copy_merge_params(setting.query) if setting.query else url


def _session() -> aiohttp.ClientSession:
    """Our own session, because the default one keeps cookies and allows only a hundred calls at the same time.

    The number of claimed debates limits the calls, not this session.
    """
    connector = aiohttp.TCPConnector(limit=0, ssl=_trusted())
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted issuers of certificates (`service.policy.trust`); SSL_CERT_DIR names a folder. Reading them is slow.

    Raises `SettingsError` if the file has none.
    """
    try:
        return trust_own(httpx.create_ssl_context())
    except OSError as error:
        raise SettingsError(
            "expected issuers' certificates in PEM in the file that SSL_CERT_FILE names, found none that can be read "
            f"({error.strerror or error}); correct the variable, or leave it out to trust the usual issuers"
        ) from None
