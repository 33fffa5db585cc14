"""What it costs to know who calls: submissions and reads with an API key and with a token, next to the same without.

Four API processes as they ship stand on one database: one without identities, and three with the same file of them. One
is asked with an API key, two with a token of an identity provider, whose keys this process serves. The first token has
the roles of the key; the other is a requester's, who reaches its own cases alone, so that each read asks the database
whose the case is. Rates and the record of readings are on in all. A caller asks them in turns of a few requests, one at
a time and in another order each time, so what slows the machine down slows all of them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx
import uvloop
from httpx_aiohttp import HttpxAiohttpClient

from bench.figures import Measured, NotRun, Turn
from bench.processes import Process, api
from bench.servers import server
from service.policy.settings import SHIPPED_POLICY
from service.store.pool import Database
from tests.fixtures.hostile_servers import Asked, answer, lying
from tests.fixtures.identity_provider import claims, key, key_set, public, signed
from tests.fixtures.issuing import KEYBOARD, a_key, issuing_on
from tests.fixtures.serving import a_case

TURNS, FIRST, EACH = 40, 3, 10
"""Turns that count, turns before them that do not, and requests of a kind in a turn."""
RATES = "\n[rates]\n" + "".join(f"{of}_per_minute = 1000000\n" for of in ("submit", "read", "check", "evidence"))
"""Rates that count and that this bench does not reach."""
WITHOUT = "without"
KEY, TOKEN, OWN = "a key", "a token", "a requester's token"
WAYS = (WITHOUT, KEY, TOKEN, OWN)
ROLES = ["operator", "requester", "auditor"]
"""Of the key and of the first token: they reach every case of their tenant."""
SUBMITTED, READ = "a case", "a read of it"
KEPT = httpx.Limits(keepalive_expiry=1.0)
"""A client drops an idle connection before the server does: a request on its way just then would be lost."""
KINDS = (SUBMITTED, READ)
"""A case that is queued, which is answered once it is durable. The answer of one that is declined waits for the log."""


class Way(NamedTuple):
    """A process, and a client that presents itself to it in one way."""

    process: Process
    client: httpx.AsyncClient


@dataclass
class Spent:
    """What one kind of request took in one way: the wait of each in milliseconds, and the API's CPU in seconds."""

    waits: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    @property
    def p50(self) -> float:
        """The median wait, in milliseconds."""
        return median(self.waits)

    @property
    def cpu_ms(self) -> float:
        """The CPU of one request, in milliseconds."""
        return 1_000 * self.cpu_s / len(self.waits)


Table = dict[tuple[str, str], Spent]
"""By the kind of request and the way."""


def measure() -> Turn:
    """One turn, on a server of its own on which nothing else works."""
    with server() as here:
        told = uvloop.run(_measured(here.service))
    found = dict[str, Measured | NotRun]()
    for kind in KINDS:
        for way in WAYS[1:]:
            ours, bare = told[kind, way], told[kind, WITHOUT]
            found[f"{kind} with {way}: p50"] = Measured(ours.p50, bare.p50, f"without {bare.p50:.2f} ms")
            found[f"{kind} with {way}: CPU"] = Measured(ours.cpu_ms, None, f"without {bare.cpu_ms:.2f} ms")
    return found


async def _measured(url: str) -> Table:
    told: Table = {(kind, way): Spent() for kind in KINDS for way in WAYS}
    async with _ways(url) as ways:
        debates = {name: (await _asked(way, SUBMITTED, "")).json()["debateId"] for name, way in ways.items()}
        for turn in range(-FIRST, TURNS):
            for kind in KINDS:
                for nth in range(len(WAYS)):
                    name = WAYS[(turn + nth) % len(WAYS)]
                    spent = await _turn(ways[name], kind, debates[name])
                    if turn >= 0:
                        told[kind, name].waits += spent.waits
                        told[kind, name].cpu_s += spent.cpu_s
    return told


async def _turn(way: Way, kind: str, debate: str) -> Spent:
    """One turn; its first request warms what other processes have taken of the core, and is not counted."""
    await _asked(way, kind, debate)
    spent, cpu = Spent(), way.process.cpu_s
    for _ in range(EACH):
        begun = time.perf_counter()
        await _asked(way, kind, debate)
        spent.waits.append(1_000 * (time.perf_counter() - begun))
    spent.cpu_s = way.process.cpu_s - cpu
    return spent


async def _asked(way: Way, kind: str, debate: str) -> httpx.Response:
    if kind == READ:
        said = await way.client.get(f"/v1/debates/{debate}")
    else:
        said = await way.client.post("/v1/debates", json=a_case())
    if not said.is_success:
        raise RuntimeError(f"expected the service to answer {kind}, found {said.status_code}: {said.text}")
    return said


@asynccontextmanager
async def _ways(url: str) -> AsyncIterator[dict[str, Way]]:
    """The four processes, each with a client."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (policy := folder / "policy.toml").write_text(SHIPPED_POLICY.read_text("utf-8") + RATES, "utf-8")
        keys = answer(200, key_set(public(key("bench"))))
        provider = await stack.enter_async_context(lying(lambda asked: _provides(asked, keys)))
        (identity := folder / "identity.toml").write_text(_identities(provider.url), "utf-8")
        tokens = {TOKEN: _token(provider.url, ROLES), OWN: _token(provider.url, ["requester"])}
        credentials = {WITHOUT: "", KEY: await _key(url), **tokens}
        ways = {}
        for name, credential in credentials.items():
            variables = {"GAINSAY_POLICY": str(policy), **({"GAINSAY_IDENTITY": str(identity)} if credential else {})}
            process = stack.enter_context(api(url, **variables))
            headers = {"authorization": f"Bearer {credential}"} if credential else {}
            client = HttpxAiohttpClient(base_url=process.said, timeout=60, headers=headers, limits=KEPT)
            ways[name] = Way(process, await stack.enter_async_context(client))
        yield ways


def _provides(asked: Asked, keys: bytes) -> bytes:
    own = f"http://{asked.headers['host']}"
    found = asked.path.startswith("/.well-known")
    return answer(200, {"issuer": own, "jwks_uri": f"{own}/jwks"}) if found else keys


def _identities(issuer: str) -> str:
    said = {"name": "bench", "issuer": issuer, "audience": "gainsay", "tenant": "default"}
    named = "".join(f'{name} = "{value}"\n' for name, value in said.items())
    return f'[keys]\n\n[[oidc]]\n{named}role_claim = "gainsay_roles"\n'


async def _key(url: str) -> str:
    async with Database.open(url, size=1) as database:
        return (await issuing_on(database).issue(KEYBOARD, a_key("default", *ROLES))).secret


def _token(issuer: str, roles: list[str]) -> str:
    now = int(time.time())
    named = claims(iss=issuer, iat=now, exp=now + 3_600, sub="-".join(roles), gainsay_roles=roles)
    return signed(named, key("bench")).decode()
