"""The documents of identity providers over real HTTP: what is trusted, and what a bad provider can do."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.errors import IdentityUnavailable, SettingsError, Unauthenticated
from service.identity.jwks_fetch import BODY_MAX, DocumentFetch, ProviderUnreachable
from service.identity.provider_keys import ProviderKeys
from tests.fixtures.hostile_servers import Asked, Lying, answer, certified, lying
from tests.fixtures.identity_provider import SETTING, key, public


async def fault(say: Callable[[Asked], bytes | AsyncIterator[bytes]], call_s: float = 5.0) -> str:
    """Why a document could not be had from a server that says this."""
    async with lying(say) as server:
        with pytest.raises(ProviderUnreachable) as failure:
            await DocumentFetch(call_s=call_s)(f"{server.url}/jwks")
        assert len(server.seen) == 1
    return str(failure.value)


async def test_a_document_is_got_as_it_is_and_nothing_of_the_service_is_said() -> None:
    async with lying(lambda _: answer(200, {"keys": []}, {"set-cookie": "a=b"})) as server:
        fetch = DocumentFetch()
        for _ in range(2):
            assert json.loads(await fetch(f"{server.url}/jwks?p=1")) == {"keys": []}

    for asked in server.seen:
        assert (asked.method, asked.target) == ("GET", "/jwks?p=1")
        assert not {"cookie", "authorization"} & set(asked.headers)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    async with lying(lambda _: answer(200, {"keys": []})) as elsewhere:
        assert "it redirects" in await fault(lambda _: answer(status, b"", {"location": elsewhere.url}))
        assert "it redirects" in await fault(lambda _: answer(status, b"", {"location": "/jwks2"}))
    assert not elsewhere.seen


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (answer(500, b""), "it answers 500"),
        (answer(404, b"{}"), "it answers 404"),
        (answer(204, b""), "it answers 204"),
        (answer(200, b"x" * (BODY_MAX + 1)), f"longer than {BODY_MAX} bytes"),
        (answer(200, b"x", {"content-encoding": "gzip"}), "compressed"),
        (answer(200, b"x", {"content-length": "100"}), "not HTTP, or is incomplete"),
        (b"SSH-2.0-OpenSSH\r\n", "not HTTP, or is incomplete"),
        (b"", "not HTTP, or is incomplete"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_whole_document_is_none(said: bytes, why: str) -> None:
    assert why in await fault(lambda _: said)


async def test_a_provider_that_hangs_or_drips_is_left_after_its_time() -> None:
    async def dripping(_: Asked) -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        while True:
            yield b"1\r\nx\r\n"
            await asyncio.sleep(0.02)

    begun = time.monotonic()

    assert "no complete answer within 0.2 seconds" in await fault(dripping, call_s=0.2)
    assert time.monotonic() - begun < 3


async def test_a_provider_that_is_not_there_is_named_without_its_errors() -> None:
    async with lying(lambda _: b"") as server:
        gone = server.url
    with pytest.raises(ProviderUnreachable, match="no connection could be made") as failure:
        await DocumentFetch()(gone)
    assert failure.value.__cause__ is None


async def test_tls_is_verified_with_the_named_certificates_and_no_others(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified(tmp_path, authority))

    async with lying(lambda _: answer(200, {"keys": []}), tls=context) as server:
        assert await DocumentFetch(str(authority))(server.url)
        with pytest.raises(ProviderUnreachable, match="its certificate is not trusted"):
            await DocumentFetch()(server.url)
        with pytest.raises(ProviderUnreachable, match="its certificate is not trusted"):  # it is for 127.0.0.1 alone
            await DocumentFetch(str(authority))(server.url.replace("127.0.0.1", "localhost"))


@pytest.mark.parametrize("text", [None, "", "no certificate"])
def test_a_file_without_certificates_is_refused_at_the_start(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "ca.pem"
    if text is not None:
        path.write_text(text)

    with pytest.raises(SettingsError, match="expected certificates in PEM in"):
        DocumentFetch(str(path))


# -- the keys of a provider that does not behave


def keys_of(server: Lying, clock: Callable[[], float]) -> ProviderKeys:
    return ProviderKeys(replace(SETTING, issuer=server.url), DocumentFetch(call_s=0.5), clock)


def provider(jwks: Callable[[Asked], bytes], issuer: str | None = None) -> Callable[[Asked], bytes]:
    """A provider on this machine with a discovery document, and keys as a function says them."""

    def say(asked: Asked) -> bytes:
        if asked.path != "/.well-known/openid-configuration":
            return jwks(asked)
        own = f"http://{asked.headers['host']}"
        return answer(200, {"issuer": issuer or own, "jwks_uri": f"{own}/jwks"})

    return say


GOOD = answer(200, {"keys": [public(key("one"))]})


async def test_a_thousand_tokens_of_unknown_keys_do_not_make_the_service_hammer_the_provider() -> None:
    async with lying(provider(lambda _: GOOD)) as server:
        keys = keys_of(server, lambda: 1_000.0)
        assert await keys.find("one", "ES256")

        found = await asyncio.gather(*[keys.find(f"k{i}", "ES256") for i in range(1_000)], return_exceptions=True)

    assert {type(one) for one in found} == {Unauthenticated}
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("say", "why"),
    [
        (provider(lambda _: answer(200, {"keys": [{"kty": "oct", "kid": "one", "k": "AAAA"}]})), "no public key"),
        (provider(lambda _: answer(200, {"keys": [public(key("one"))] * 1_000})), "more than 100 keys"),
        (provider(lambda _: answer(200, b"<html>")), "no JSON object"),
        (provider(lambda _: GOOD, issuer="https://id.bank.example"), "its issuer is not"),
        (provider(lambda _: answer(302, b"", {"location": "http://127.0.0.1:1/jwks"})), "it redirects"),
        (lambda _: answer(200, b"x" * (BODY_MAX + 1)), "longer than"),
    ],
    ids=["symmetric", "many", "page", "issuer", "redirect", "huge"],
)
async def test_a_provider_that_lies_lets_none_in(say: Callable[[Asked], bytes], why: str) -> None:
    async with lying(say) as server:
        with pytest.raises(IdentityUnavailable, match=why):
            await keys_of(server, lambda: 1_000.0).find("one", "ES256")
