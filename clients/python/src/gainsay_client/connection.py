"""What a client is made of: its terms, its connections, and what its connections' errors mean."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from gainsay_client.calls import Calls
from gainsay_client.errors import UnexpectedAnswer, Unreachable
from gainsay_client.exchange import Exchange, Terms
from gainsay_client.head_memory import HeadMemory, HeadNotice, log_notice
from gainsay_client.heads import HeadStore, MemoryHeads
from gainsay_client.steps import Broken
from gainsay_client.wire import Answer, Server

ANSWER_MAX = 256 << 20
"""The most bytes of an answer that is read into memory."""
CONNECT_S = 10.0
AGENT = "gainsay-client-python"


def calls_of(
    address: str,
    *,
    token: str | None,
    headers: Mapping[str, str] | None,
    heads: HeadStore | None,
    prove_every: float,
    on_head: Callable[[HeadNotice], None] | None,
    give_up_after: float,
    answer_within: float,
    silence: float,
    first_pause: float,
) -> Calls:
    """The calls of a client with these terms; raises `ValueError` for terms that cannot be."""
    terms = Terms(
        server=Server.at(address),
        headers=_headers(token, headers or {}),
        give_up_after=give_up_after,
        answer_within=answer_within,
        silence=silence,
        first_pause=first_pause,
        clock=time.monotonic,
        draw=random.random,
    )
    memory = HeadMemory(MemoryHeads() if heads is None else heads, prove_every, terms.clock, on_head or log_notice)
    return Calls(Exchange(terms, memory))


def _headers(token: str | None, given: Mapping[str, str]) -> dict[str, str]:
    found = {name.lower(): value for name, value in given.items()}
    if token is not None:
        if "authorization" in found:
            raise ValueError("expected a token or a header Authorization, found both")
        if not (token and token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("expected a token of printable ASCII characters without spaces")
        found["authorization"] = f"Bearer {token}"
    return {"user-agent": AGENT, **found}


def settings_of(terms: Terms, verify: ssl.SSLContext | str | None) -> dict[str, Any]:
    """What connections are made with. Certificates are always verified: ``verify`` says by which authorities."""
    if terms.server.origin.startswith("http:"):
        trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # never used; loading the public authorities takes its time
    elif isinstance(verify, ssl.SSLContext):
        trusted = verify
    elif verify is None:
        trusted = httpx.create_ssl_context()
    else:
        place = Path(verify)
        trusted = ssl.create_default_context(
            cafile=None if place.is_dir() else str(place), capath=str(place) if place.is_dir() else None
        )
    # A proxy of the environment does not lead back to this machine.
    here = _is_loopback(urlsplit(terms.server.origin).hostname or "")
    return {"headers": dict(terms.headers), "verify": trusted, "follow_redirects": False, "trust_env": not here}


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def limits(seconds: float) -> httpx.Timeout:
    """The time-outs of one request."""
    return httpx.Timeout(seconds, connect=min(CONNECT_S, seconds))


def head_of(response: httpx.Response, body: bytes = b"") -> Answer:
    """An answer as a value."""
    return Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


def expect_size(size: int) -> None:
    """Raise `UnexpectedAnswer` for an answer that is too large for memory."""
    if size > ANSWER_MAX:
        raise UnexpectedAnswer(f"expected an answer of at most {ANSWER_MAX} bytes, found a larger one")


def broken_by(error: httpx.TransportError | httpx.DecodingError | httpx.StreamError) -> Broken:
    """What a failed connection means; raises `Unreachable` where trying again cannot help."""
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        raise Unreachable(f"the certificate of the service does not hold: {reason}; give its authority as verify=")
    return Broken(reason, sent=not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout))
