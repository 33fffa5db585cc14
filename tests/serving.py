"""A real server on this machine, on a real database, and a client that speaks HTTP to it."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from service import samples
from service.app import App, open_app, sequencing, working
from service.audit.note import SigningKey
from service.settings import SHIPPED_POLICY, Settings, read_settings
from service.web.server import listening
from tests.postgres import SEQUENCERS

JSON = dict[str, Any]


@dataclass(frozen=True)
class Served:
    """A server's client and what stands behind it."""

    http: httpx.AsyncClient
    app: App
    url: str

    async def submit(self, case: JSON | None = None, **headers: str) -> JSON:
        """The answer to a case that is expected to be recorded."""
        answer = await self.http.post("/v1/debates", json=case or a_case(), headers=headers)
        assert answer.is_success, answer.text
        told: JSON = answer.json()
        return told

    async def finished(self, case: JSON | None = None) -> JSON:
        """The result of a case, once its debate is over."""
        told = await self.submit(case, prefer="wait=30")
        assert "rounds" in told, told
        return told

    async def events(self, debate: str, after: int | None = None) -> list[Event]:
        """The stream of a debate to its end."""
        headers = {} if after is None else {"last-event-id": str(after)}
        answer = await self.http.get(f"/v1/debates/{debate}/events", headers=headers)
        assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
        return list(events_of(answer.text))


@dataclass(frozen=True)
class Event:
    """One server-sent event, its data as the text that was sent; ``id`` is 0 where more of its entry follows."""

    id: int
    name: str
    text: str

    @property
    def data(self) -> Any:
        """The data as JSON."""
        return json.loads(self.text)


def events_of(stream: str) -> list[Event]:
    """The events of a stream; comments and retry hints are left out. Every event here has two or three lines."""
    found = []
    for block in stream.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith((":", "retry:"))]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            assert list(fields) in (["id", "event", "data"], ["event", "data"]), block[:200]
            found.append(Event(int(fields.get("id", 0)), fields["event"], fields["data"]))
    return found


def a_case(**changes: Any) -> JSON:
    """The sample contract, which the gate sends to a debate."""
    return {**samples.load("contract").case, **changes}


def a_declined_case() -> JSON:
    """The same where hardly anything is at stake."""
    return a_case(estimatedDownside=1, confidenceScore=0.99, materiality="low", singleAgentAnswer=None)


def slow_policy(folder: Path, latency_ms: int) -> Path:
    """The shipped policy with models that take their time."""
    text = re.sub(
        r'kind = "offline"', f'kind = "offline"\nlatency_ms = {latency_ms}', SHIPPED_POLICY.read_text("utf-8")
    )
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return path


KEPT = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=1.0)
"""Connections are dropped here long before the server drops them: after a test that held up the loop both might do so
at once, and a request would be lost."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of servers on this machine, which speak plain HTTP: loading the world's certificates takes a while."""
SIGNING_KEY = SigningKey.from_seed("localhost", b"\x07" * 32)
"""Signs the logs of every served database."""


def settings_for(url: str, **variables: str) -> Settings:
    """Settings on a test's database."""
    return read_settings({"GAINSAY_DATABASE_URL": url, "GAINSAY_DATA_DIR": "/nonexistent", **variables})


def sequenced(url: str, folder: Path) -> dict[str, str]:
    """The settings with which a test's database has a sequencer, whose key and heads are in a folder."""
    key = folder / "log.key"
    key.write_text(f"{SIGNING_KEY.encode()}\n", "ascii")
    key.chmod(0o600)
    return {
        "GAINSAY_SEQUENCER_URL": SEQUENCERS[url],
        "GAINSAY_SIGNING_KEY": f"file:{key}",
        "GAINSAY_HEADS_DIR": str(folder / "heads"),
    }


@asynccontextmanager
async def served(
    url: str,
    *,
    work: bool = True,
    sequence: bool = True,
    heartbeat_s: float = 15.0,
    slow_s: float = 30.0,
    **variables: str,
) -> AsyncIterator[Served]:
    """A server on a database, with a worker and a sequencer unless told otherwise, and a client.

    The sequencer's signer forgets its heads when this ends.
    """
    async with AsyncExitStack() as stack:
        if sequence and url in SEQUENCERS:
            folder = stack.enter_context(TemporaryDirectory(prefix="gainsay-test-heads-"))
            variables = {**sequenced(url, Path(folder)), **variables}
        app = await stack.enter_async_context(open_app(settings_for(url, **variables), url, pool=6))
        if sequence:
            await stack.enter_async_context(sequencing(app))
        if work:
            await stack.enter_async_context(working(app))
        address = await stack.enter_async_context(listening(app, heartbeat_s=heartbeat_s, slow_s=slow_s))
        client = httpx.AsyncClient(base_url=address, timeout=60, limits=KEPT, verify=NO_TLS)
        http = await stack.enter_async_context(client)
        yield Served(http, app, address)
