"""One attempt to deliver a message: this is the only module that speaks HTTP to receivers.

    1. The URL is read by strict rules, its name is looked up once, and every address of it is checked (`addresses`).
    2. The connection is made to a checked address and to no other: the connector looks nothing up, and asks the rules
       once more for the very address that a socket is made for. TLS is verified for the URL's own name, by the usual
       issuers and those of GAINSAY_CA_FILE.
    3. A redirect (307 or 308, which keep the POST) is followed at most `HOPS` times, each hop by the steps above and
       never from https to http. Others are failures: they would turn the POST into a GET.
    4. The whole attempt ends after policy's ``timeout_s``. Of the answer the status counts; `BODY_MAX` bytes of its
       body are read at most, for `BODY_S` at most, not decompressed, and dropped.
    5. No connection is kept, no cookie, no proxy and no password of the environment is used.

Nothing that is raised or returned has a header, a secret or the path of a URL.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Mapping, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

import service
from service.delivering.addresses import (
    AddressRefused,
    AddressRules,
    Target,
    check_address,
    check_resolved,
    read_location,
    read_url,
)
from service.delivering.resolving import LookupFailed, Resolver
from service.delivering.sent import Sent
from service.errors import SettingsError
from service.policy.trust import trust_own, usual_issuers

HOPS = 3
BODY_MAX, BODY_S = 4_096, 1.0
HEAD_MAX = 8_190
CONNECT_S = 5.0
FOLLOWED = frozenset({307, 308})


class Sender:
    """Sends messages to receivers."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver()

    def close(self) -> None:
        """End; call this when no attempt is under way."""
        self._resolver.close()

    async def send(
        self, url: str, headers: Mapping[str, str], body: bytes, *, rules: AddressRules, timeout_s: float, tenant: str
    ) -> Sent:
        """Make one attempt. Raises nothing."""
        attempt = _Attempt(self._resolver, rules, tenant)
        try:
            async with asyncio.timeout(timeout_s):
                return await attempt.run(url, headers, body)
        except TimeoutError:
            return Sent(reason=f"no answer within {timeout_s:g} s", asked=attempt.asked)
        except AddressRefused as refused:
            return Sent(reason=str(refused), asked=attempt.asked, refused=True)
        except LookupFailed as failed:
            return Sent(reason=str(failed), asked=attempt.asked)
        except Exception as error:  # noqa: BLE001 - the libraries' errors have hosts, paths and headers in them
            return Sent(reason=_reason(error), asked=attempt.asked)

    async def check(self, url: str, rules: AddressRules, tenant: str, within_s: float) -> None:
        """Raise `AddressRefused` for a URL that is refused by its text, or by the addresses that its name has now.

        A name that has none yet is taken: it is checked at each attempt.
        """
        target = read_url(url, rules)
        try:
            async with asyncio.timeout(within_s):
                await _Attempt(self._resolver, rules, tenant).addresses(target)
        except (LookupFailed, TimeoutError):
            return


class _Attempt:
    """An attempt under way; ``asked`` is the last address that a connection was begun to."""

    def __init__(self, resolver: Resolver, rules: AddressRules, tenant: str) -> None:
        self._resolver, self._rules, self._tenant = resolver, rules, tenant
        self._receiver: str | None = None
        self.asked: str | None = None

    async def addresses(self, target: Target) -> Sequence[str]:
        """The addresses of a target, each of which may be asked."""
        self._receiver = self._receiver or target.host
        if target.literal is not None:
            return (target.literal,)
        found = await self._resolver.look_up(target.host, target.port, self._tenant, self._receiver)
        return check_resolved(found, self._rules, target.scheme)

    async def run(self, url: str, headers: Mapping[str, str], body: bytes) -> Sent:
        target = read_url(url, self._rules)
        for hop in range(HOPS + 1):
            sent, location = await self._ask(target, headers, body)
            if sent.status not in FOLLOWED:
                return sent
            if location is None or hop == HOPS:
                why = "without a Location" if location is None else f"after {HOPS} others"
                return Sent(sent.status, f"the answer is a redirect {why}, which is not followed", self.asked)
            target = read_location(location, target, self._rules)
        raise AssertionError("unreachable: the last hop returns")

    async def _ask(self, target: Target, headers: Mapping[str, str], body: bytes) -> tuple[Sent, str | None]:
        addresses = await self.addresses(target)

        def make_socket(address: tuple[Any, ...]) -> socket.socket:
            """A socket for an address that is checked here, whatever led to it."""
            family, kind, protocol, _, place = address
            check_address(ip_address(place[0]), self._rules, target.scheme, resolved=target.literal is None)
            self.asked = str(place[0])
            return socket.socket(family, kind, protocol)

        connector = aiohttp.TCPConnector(
            resolver=_Fixed(addresses),
            use_dns_cache=False,
            force_close=True,
            ssl=_trusted(),
            socket_factory=make_socket,
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                trust_env=False,
                auto_decompress=False,
                max_line_size=HEAD_MAX,
                max_field_size=HEAD_MAX,
                skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept"),
            ) as session,
            session.post(
                URL(target.url, encoded=True), data=body, headers=_HEADERS | dict(headers), allow_redirects=False
            ) as answer,
        ):
            await _drop(answer)
            reason = "" if 200 <= answer.status < 300 else f"the receiver answered {answer.status}"
            sent = Sent(answer.status, reason, self.asked, retry_after=answer.headers.get("Retry-After"))
            return sent, answer.headers.get("Location")


_HEADERS = {
    "content-type": "application/json",
    "user-agent": f"gainsay/{service.__version__}",
    "accept-encoding": "identity",
}


async def _drop(answer: aiohttp.ClientResponse) -> None:
    """Read a little of the body, so that a receiver that answers briefly is not cut off, and drop it.

    The status has come, and a body that breaks off takes nothing from it.
    """
    left = BODY_MAX
    try:
        async with asyncio.timeout(BODY_S):
            while left > 0 and (piece := await answer.content.read(left)):
                left -= len(piece)
    except (aiohttp.ClientError, TimeoutError):
        pass
    finally:
        answer.close()


class _Fixed(AbstractResolver):
    """Answers with addresses that were looked up and checked before."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses, as aiohttp wants them."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """There is nothing to end."""


@cache
def _trusted() -> ssl.SSLContext:
    """The usual issuers and the deployment's own; raises `SettingsError` if a file has none."""
    return trust_own(usual_issuers())


def _reason(error: Exception) -> str:
    """What an error of the libraries means, by its type; of a certificate also what is wrong with it."""
    match error:
        case SettingsError():
            return error.detail
        case aiohttp.ClientConnectorCertificateError(certificate_error=ssl.SSLCertVerificationError() as wrong):
            return f"the certificate is not trusted: {wrong.verify_message}"
        case aiohttp.ClientSSLError():
            return "TLS could not be agreed on"
        case aiohttp.ConnectionTimeoutError():
            return f"no connection within {CONNECT_S:g} s"
        case aiohttp.ClientConnectorError():
            number = error.os_error.errno
            return f"no connection: {os.strerror(number) if number else 'no address of the name answers'}"
        case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError() | ValueError():
            return "what came back is not HTTP, or has a longer head than is read"
        case aiohttp.ClientError() | OSError():
            return "the connection ended before there was an answer"
        case _:
            return f"the attempt failed with {type(error).__name__}"
