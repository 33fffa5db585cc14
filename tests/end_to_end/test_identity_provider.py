"""Bearer tokens of an identity provider that others wrote (npm's oidc-provider), from its keys to an answered request.

It is installed by npm into pytest's cache on the first run, and the tests are skipped where that cannot be done.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from joserfc import jwk
from msgspec.structs import replace

from service.errors import Forbidden, GainsayError, Unauthenticated
from service.identity.authentication import Presented
from service.identity.caller import Caller
from service.identity.jwks_fetch import DocumentFetch
from service.identity.oidc_authenticator import OidcAuthenticator, Provider
from service.identity.provider_keys import PAUSE_S, ProviderKeys
from service.identity.provider_settings import OidcSetting
from service.identity.subjects import Subjects
from tests.fixtures.identity_provider import MemoryRegister, part, signed, signed_with_secret
from tests.fixtures.npm import packages
from tests.fixtures.postgres import Database
from tests.fixtures.serving import NO_TLS, a_case, served

FOLDER = Path(__file__).parent / "identity_provider"
SECRET = "a secret of a test, and no other"


@dataclass
class Running:
    """The two providers: the one that is trusted, and another whose key has the same name."""

    process: subprocess.Popen[str]
    issuer: str
    other: str

    def token(self, client: str, audience: str = "gainsay", issuer: str | None = None) -> bytes:
        """An access token by the client's own word, without a person."""
        asked = {"grant_type": "client_credentials", "resource": f"urn:{audience}"}
        return str(self._ask(client, asked, issuer)["access_token"]).encode()

    def tokens_of(self, person: str, client: str) -> tuple[bytes, bytes]:
        """An access token and an ID token of a person."""
        said = self._ask(client, {"grant_type": "password", "username": person, "audience": "gainsay"}, None)
        return str(said["access_token"]).encode(), str(said["id_token"]).encode()

    def tell(self, line: str) -> None:
        """Change the keys."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        self.read(f"done {line}")

    def read(self, begins: str) -> str:
        """The next line that begins so."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            if line.startswith(begins):
                return line
            lines.append(line)
        raise AssertionError(f"the provider ended without {begins!r}: {''.join(lines)}")

    def _ask(self, client: str, asked: dict[str, str], issuer: str | None) -> Any:
        address = f"{issuer or self.issuer}/token"
        answer = httpx.post(address, data=asked, auth=(client, quote(SECRET)), verify=NO_TLS)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def idp(pytestconfig: pytest.Config) -> Iterator[Running]:
    """Two running identity providers."""
    folder = packages(pytestconfig, "oidc-provider", FOLDER / "package.json")
    with subprocess.Popen(
        [shutil.which("node") or "node", str(FOLDER / "server.mjs"), str(folder)],
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            running = Running(process, "", "")
            running.issuer, running.other = running.read("listening on ").split()[2:]
            yield running
        finally:
            process.kill()


def setting_of(idp: Running) -> OidcSetting:
    return OidcSetting(
        name="bank",
        issuer=idp.issuer,
        audience="gainsay",
        tenant_claim=("gainsay_tenant",),
        role_claim=("gainsay_roles",),
    )


class Desk:
    """The service's side of the provider, with clocks that a test moves."""

    def __init__(self, idp: Running, **others: Any) -> None:
        self.later = 0.0
        setting = replace(setting_of(idp), **others)
        keys = ProviderKeys(setting, DocumentFetch(), self.clock(time.monotonic))
        register = MemoryRegister()
        register.tenants |= {"default"}
        self.side = OidcAuthenticator([Provider(setting, keys)], Subjects(register), self.clock(time.time))

    def clock(self, real: Callable[[], float]) -> Callable[[], float]:
        return lambda: real() + self.later

    async def identify(self, token: bytes) -> Caller:
        return await self.side.identify(Presented((b"Bearer " + token,)))

    async def refused(self, token: bytes, kind: type[GainsayError] = Unauthenticated) -> str:
        with pytest.raises(kind) as refusal:
            await self.identify(token)
        return refusal.value.detail


def claims_of(token: bytes) -> dict[str, Any]:
    body = token.split(b".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + b"=="))
    return found


def published(idp: Running) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx.get(f"{idp.issuer}/jwks", verify=NO_TLS).json()["keys"]
    return found


async def test_a_real_token_says_tenant_roles_and_subject(idp: Running) -> None:
    desk = Desk(idp)

    service, person = await desk.identify(idp.token("desk")), await desk.identify(idp.tokens_of("ada", "risk")[0])

    assert (service.tenant, service.roles, service.via) == ("default", ("requester",), "oidc")
    assert person.roles == ("auditor", "validator")
    assert service.subject != person.subject


async def test_a_real_token_without_a_role_or_a_tenant_here_is_refused(idp: Running) -> None:
    desk = Desk(idp)

    assert "no role that is known" in await desk.refused(idp.token("stray"), Forbidden)
    assert "its tenant no-such-tenant is not" in await desk.refused(idp.token("lost"), Forbidden)


async def test_a_real_id_token_is_no_access_token_whatever_its_audience(idp: Running) -> None:
    _, id_token = idp.tokens_of("ada", "risk")

    assert "expected aud" in await Desk(idp).refused(id_token)
    assert "found an ID token" in await Desk(idp, audience="risk").refused(id_token)


async def test_real_tokens_for_others_of_others_and_of_yesterday_are_refused(idp: Running) -> None:
    desk = Desk(idp)
    token = idp.token("desk")
    assert (await desk.identify(token)).subject

    assert "expected aud to contain gainsay" in await desk.refused(idp.token("desk", audience="payments"))
    assert "none of the configured" in await desk.refused(idp.token("desk", issuer=idp.other))
    assert "lives longer than 60 s" in await Desk(idp, longest_s=60).refused(token)
    desk.later = 320
    assert (await desk.identify(token)).subject
    desk.later = 365
    assert "has expired" in await desk.refused(token)


async def test_forgeries_of_a_real_token_are_refused(idp: Running) -> None:
    desk = Desk(idp)
    real = idp.token("desk")
    claims, (header, body, signature) = claims_of(real), real.split(b".")
    public = next(key for key in published(idp) if key["kid"] == "first")
    others = idp.token("desk", issuer=idp.other)
    more = part(json.dumps({**claims, "gainsay_roles": ["operator"]}).encode())

    assert "not by the key" in await desk.refused(b".".join((header, more, signature)))
    assert "not by the key" in await desk.refused(b".".join((header, body, others.rsplit(b".", 1)[1])))
    none = part(json.dumps({"alg": "none", "kid": "first", "typ": "at+jwt"}).encode())
    assert "another algorithm" in await desk.refused(none + b"." + body + b".")
    rsa = jwk.RSAKey.import_key(public)
    for secret in (rsa.as_pem(), rsa.as_der(), json.dumps(public).encode()):
        assert "another algorithm" in await desk.refused(signed_with_secret(secret, {"kid": "first"}, claims))
    own = jwk.RSAKey.generate_key(2048, {"kid": "first"})
    assert "not by the key" in await desk.refused(signed(claims, own, algorithm="RS256"))
    for kid in ("../first", "first/../first", "%66irst", "first\0", ""):
        assert await desk.refused(signed(claims, own, {"kid": kid}, algorithm="RS256"))


async def test_a_changed_bit_of_a_real_token_is_refused(idp: Running) -> None:
    desk = Desk(idp)
    token = idp.token("desk")
    assert (await desk.identify(token)).subject

    for at in range(0, len(token), 7):
        await desk.refused(token[:at] + bytes([token[at] ^ 1 << at % 7]) + token[at + 1 :])


async def test_the_provider_may_change_its_keys_while_the_service_runs(idp: Running) -> None:
    desk = Desk(idp)
    old = idp.token("desk")
    assert (await desk.identify(old)).subject

    idp.tell("add second")
    new = idp.token("desk")
    assert new.split(b".")[0] != old.split(b".")[0]
    assert "has no key of this name" in await desk.refused(new)  # the keys were fetched a moment ago
    desk.later = PAUSE_S
    assert (await desk.identify(new)).subject
    assert (await desk.identify(old)).subject

    idp.tell("drop first")
    assert (await desk.identify(old)).subject
    desk.later = PAUSE_S + 600
    fresh = idp.token("desk")
    assert "has no key of this name" in await Desk(idp).refused(old)
    assert (await Desk(idp).identify(fresh)).subject
    assert "has no key of this name" in await desk.refused(old)


IDENTITY = """
[[oidc]]
name = "bank"
issuer = "{issuer}"
audience = "gainsay"
tenant_claim = "gainsay_tenant"
role_claim = "gainsay_roles"
kind = "service"
"""


async def test_a_real_token_is_let_into_a_real_service_and_others_are_not(
    idp: Running, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "identity.toml"
    file.write_text(IDENTITY.format(issuer=idp.issuer))
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=str(file)) as site:

        async def status(token: bytes | None, **asked: Any) -> int:
            headers = {} if token is None else {"authorization": f"Bearer {token.decode()}"}
            answer = await site.http.request(asked.pop("method", "GET"), "/v1/debates", headers=headers, **asked)
            return answer.status_code

        desk, risk = idp.token("desk"), idp.token("risk")
        assert await status(desk) == 200
        assert await status(desk, method="POST", json=a_case()) == 202
        assert await status(risk) == 200
        assert await status(risk, method="POST", json=a_case()) == 403
        assert await status(idp.token("stray")) == 403
        assert await status(idp.token("desk", audience="payments")) == 401
        assert await status(desk[:-4]) == 401
        assert await status(None) == 401
        asked = {"tenant": "default", "only": None, "after": "", "limit": 9}
        rows = await site.app.database.query("subjects_of", asked)

    assert {(row["source"], row["external"], row["kind"]) for row in rows} == {
        ("bank", "desk", "service"),
        ("bank", "risk", "service"),
    }
