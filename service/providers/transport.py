"""HTTP to one vendor: a body goes out, and a status with a body comes back, or a typed failure.

    no redirects, no cookies, no netrc and no retry of its own: an attempt is one request, whose bytes we know
    one time limit for making the connection, and one for the whole call
    a body of at most `BODY_MAX` bytes, counted after decompression

This is the only module that calls vendors, with the connections and the parser of aiohttp. Its session is left out: a
request would be built out of the same parts for each call, and sent by a task of its own. aiohttp's errors may carry
what was sent, so none of them leaves this module, also not as the context of our error. A failure is returned from
here; the caller raises it after the library's error is gone.

A failure can have cost something only if a part of the request was sent. aiohttp's own time-outs are of the type
`TimeoutError` too, and the one for making a connection costs nothing, so they are
looked at before the limit of the call.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage, StreamWriter
from msgspec import Struct
from yarl import URL

import service
from service.errors import SettingsError
from service.observing.trace_context import OUTGOING
from service.policy import ProviderSetting
from service.policy.trust import trust_own, usual_issuers
from service.providers.credentials import Credentials
from service.providers.failures import ProviderFailure
from service.running.provider_port import CallFailed

BODY_MAX = 4_000_000
PIECE = 262_144
"""Larger requests are sent in pieces of this many bytes, so that other calls go on."""
KEPT_HEADERS = ("content-type", "retry-after-ms", "retry-after", "x-request-id", "request-id")


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
        url: URL,
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
        self._connecting = aiohttp.ClientTimeout(total=None, sock_connect=connect_s)
        self._proxy = URL(proxy) if proxy else None
        target = str(url) if proxy and url.scheme == "http" else url.raw_path_qs
        usual = {
            "host": url.host_port_subcomponent or "",
            "connection": "keep-alive",
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": f"gainsay/{service.__version__}",
            **headers,
        }
        self._trace = usual.pop("traceparent", "")
        fixed = [(name, value) for name, value in usual.items() if name not in credentials.headers]
        self._head = f"POST {target} HTTP/1.1\r\n{_lines(fixed)}"
        self._line: _Line | None = None
        self._closed = False
        _trusted()  # a file of issuers that cannot be read stops the start

    async def post(self, body: bytes) -> HttpReply | CallFailed:
        """Send a body; returns the response, or the reason why no whole response came. Raises no error."""
        if self._closed:
            return CallFailed("providerFault", "the provider is closed; nothing was sent", retry=False, billable=False)
        try:
            async with asyncio.timeout(self._call_s):
                return await self._exchange(body)
        except aiohttp.ClientError as error:  # some of them are a TimeoutError too
            return _failure(error)
        except TimeoutError:
            return ProviderFailure("timeout", f"no whole reply within the {self._call_s:g} s that a call may take")
        except Exception as error:  # noqa: BLE001 - any error of the library may hold the request and its keys
            return _failure(error)

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        if self._line is not None:
            await self._line.connector.close()

    async def _exchange(self, body: bytes) -> HttpReply:
        if (line := self._line) is None:
            connector = aiohttp.TCPConnector(limit=0, ssl=_trusted())  # claimed debates limit the calls
            line = self._line = _Line(connector, aiohttp.ClientRequest("POST", self._url, proxy=self._proxy), WeakSet())
        keys = self._credentials.reread()
        head = self._head_of(body)
        connection = await self._connection(line)
        upload: asyncio.Task[None] | None = None
        try:
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ServerDisconnectedError
            protocol.set_response_params(read_until_eof=True, auto_decompress=False)
            if len(body) <= PIECE:
                transport.write(head + body)
            else:  # in a task of its own, because some vendors answer before they have read all
                upload = asyncio.create_task(_upload(StreamWriter(protocol, line.target.loop), head, body))
            message, content = await _response(line, protocol)
            read = _Body(", ".join(message.headers.getall("content-encoding", ("identity",))).strip().lower())
            while (chunk := await content.readany()) and read.take(chunk):
                pass
            if (upload is None or upload.done()) and not transport.get_write_buffer_size():
                line.used.add(protocol)
                connection.release()  # to be used again: the request has gone out whole; aiohttp looks at the response
            return HttpReply(message.code, _kept(message), read.whole(), read.fault, keys)
        finally:
            connection.close()  # unless it was released
            if upload is not None:
                upload.cancel()
                await asyncio.gather(upload, return_exceptions=True)

    async def _connection(self, line: _Line) -> Connection:
        """A connection: a kept one that has had no response, and nothing that is none, since its last; else a new one.

        What comes while no call waits answers nothing that was asked. It would be read as the response to the next
        call, which may be of another debate, and each later response as that to the call after its own.
        """
        while True:
            try:
                connection = await line.connector.connect(line.target, [], self._connecting)
            except TimeoutError:
                raise aiohttp.ConnectionTimeoutError from None
            protocol = connection.protocol
            if protocol is None or protocol not in line.used or not protocol.should_close:
                return connection
            connection.close()

    def _head_of(self, body: bytes) -> bytes:
        """The head of a request, with no header twice: the secret one of a name is the one that goes out.

        Content-Length is there for a body in pieces too: some servers refuse chunks.
        """
        of_call = {"content-length": str(len(body))}
        if trace := OUTGOING.get() or self._trace:  # our ids are random or hashes; a caller's own trace keeps its id
            of_call["traceparent"] = trace
        of_call.update(self._credentials.revealed())
        return f"{self._head}{_lines(of_call.items())}\r\n".encode("ascii")


class _Line(NamedTuple):
    """The connections that are kept, and what aiohttp connects to: a request that is never sent.

    It has no header of ours, because some of them are said to a proxy. ``used`` are those that have had a response.
    """

    connector: aiohttp.TCPConnector
    target: aiohttp.ClientRequest
    used: WeakSet[ResponseHandler]


async def _upload(writer: StreamWriter, head: bytes, body: bytes) -> None:
    """Send a large request as fast as it is taken. Where the connection ends, so does the wait for a response."""
    await writer.write(head)
    for at in range(0, len(body), PIECE):
        await writer.write(body[at : at + PIECE])
        await writer.drain()


async def _response(line: _Line, protocol: ResponseHandler) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
    """The head of the response, and its body as it comes; those of status 1xx before it are left out."""
    try:
        while True:
            message, content = await protocol.read()
            if not 100 <= message.code <= 199 or message.code == 101:
                return message, content
    except HttpProcessingError:
        raise aiohttp.ClientResponseError(line.target.request_info, ()) from None


def _lines(headers: Iterable[tuple[str, str]]) -> str:
    """Headers as they go out; raises `ValueError` for one that would end its line."""
    lines = [f"{name}: {value}" for name, value in headers]
    if not all(map(str.isprintable, lines)):
        raise ValueError("expected headers of printable characters, found one with another")
    return "".join([f"{line}\r\n" for line in lines])


def _kept(message: RawResponseMessage) -> dict[str, str]:
    """The headers that are read, those that come twice as one."""
    return {name: ", ".join(found) for name in KEPT_HEADERS if (found := message.headers.getall(name, ()))}


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
    """The failure that an error of the library means, by its type alone: its message names hosts and headers."""
    match error:
        case aiohttp.ConnectionTimeoutError():
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
            return ProviderFailure("connectionCut", f"the call broke off with {type(error).__name__}")


def address(name: str, setting: ProviderSetting, path: str) -> URL:
    """The URL of a provider's calls; raises `SettingsError`, whose message never shows the address."""
    base = setting.base_url or ""
    try:
        parts = urlsplit(base)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        plain = whole and "@" not in parts.netloc and not parts.query and not parts.fragment
        url = URL(base.rstrip("/") + (setting.path or path)) if plain and base.isprintable() else None
    except ValueError:
        url = None
    if url is None:
        raise SettingsError(
            f"providers.{name}.base_url: expected http:// or https://, a host and perhaps a path, found "
            f"{'something else' if base else 'none'}; a user, a password or a query has no place in it (see key, "
            "secret_headers and query)"
        )
    return url.update_query(setting.query) if setting.query else url


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted issuers of certificates (`service.policy.trust`)."""
    return trust_own(usual_issuers())
