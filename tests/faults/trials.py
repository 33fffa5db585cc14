"""A served deployment whose PostgreSQL is not well: what callers are told then, and what has to be so afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import httpx
import psycopg
import pytest
from httpx import Response

from service.debate.entries import AttemptFailed, Entry, TurnAsked, TurnSpoke, decode
from service.running.provider_port import Answer
from service.simulated import OfflineProvider
from service.store import pool, spend
from service.web import probes
from tests.fixtures.replaying import RECORDS, replay_all
from tests.fixtures.serving import Served, a_case, served, slow_policy

DEBATES = 2
LATENCY_MS = 60
PATIENCE_S = 40.0
AWAY = {"audit_unavailable", "store_unavailable"}
HEADS = "SELECT debate::text, state, spent + excess <= ceiling, held FROM gainsay.debate_head"


@dataclass
class Trial:
    """A deployment under trial; ``admin_url`` may change with the server that has the records."""

    served: Served
    admin_url: str
    sent: list[bytes]
    logged: pytest.LogCaptureFixture
    lost: int = 0
    """How many attempts were lost, once it has recovered."""
    heard: list[int] = field(default_factory=list)
    """The numbers of the entries that a listener to the first debate heard."""
    listener: asyncio.Task[None] | None = None

    async def begin(self) -> list[str]:
        """Submit some cases; their debates, once one of them is well under way."""
        told = [await self.served.submit() for _ in range(DEBATES)]
        self.listener = asyncio.create_task(self._listen(told[0]["debateId"]))
        await self.until(lambda: len(self.sent) > DEBATES, "the debates do not begin")
        return [debate["debateId"] for debate in told]

    async def _listen(self, debate: str) -> None:
        """Follow a debate as an EventSource does, across whatever cuts it."""
        while True:
            headers = {"last-event-id": str(self.heard[-1])} if self.heard else {}
            with suppress(httpx.HTTPError):
                async with self.served.http.stream("GET", f"/v1/debates/{debate}/events", headers=headers) as answer:
                    async for line in answer.aiter_lines():
                        if line.startswith("id: "):
                            self.heard.append(int(line.removeprefix("id: ")))
            await asyncio.sleep(0.1)

    async def is_refused(self) -> None:
        """A new case is turned away as a caller may expect, with nothing of what happened inside."""
        _expect_refusal(await self.served.http.post("/v1/debates", json=a_case()))

    async def until_refused(self) -> None:
        """New cases are turned away sooner or later: what was full may have had room for some."""
        end = time.monotonic() + PATIENCE_S
        while (answer := await self.served.http.post("/v1/debates", json=a_case())).is_success:
            assert time.monotonic() < end, "nothing is refused"
        _expect_refusal(answer)

    async def is_down(self) -> None:
        """Not ready, but alive: nobody restarts a process because its database is away."""
        assert (await self.served.http.get("/readyz")).status_code == 503
        assert (await self.served.http.get("/livez")).status_code == 200

    async def is_up(self) -> None:
        """Ready and alive."""
        await self.until_ready(0.0)
        assert (await self.served.http.get("/livez")).status_code == 200

    async def until_ready(self, within_s: float = PATIENCE_S) -> None:
        """Wait until the process is ready again, by itself."""
        end = time.monotonic() + within_s
        while (answer := await self.served.http.get("/readyz")).status_code != 200:
            assert time.monotonic() < end, answer.text
            await asyncio.sleep(0.05)

    async def recovers(self, debates: Sequence[str]) -> None:
        """The same process goes on: what was begun ends, a new case is taken and ends, and the books are right."""
        await self.until_ready()
        debates = [*debates, await self._taken()]
        await self.until(self._is_over, "a debate does not end")
        await self._heard_all(debates[0])
        heads = {debate: state for debate, state, _, _ in self._heads()}
        assert {debate: heads.get(debate) for debate in debates} == dict.fromkeys(debates, "completed")
        assert all(within and held == 0 for _, _, within, held in self._heads())
        assert replay_all(self.admin_url) == len(heads)
        assert (await spend.balance(self.served.app.database)).exact
        self._expect_no_call_without_a_record()
        told = [record.getMessage() for record in self.logged.records if record.exc_info and record.name == "gainsay"]
        assert told == [], "a fault that nobody foresaw"

    async def _heard_all(self, debate: str) -> None:
        """The listener hears every entry once and in order, from the gate to the outcome, which waits for its proof."""
        with psycopg.connect(self.admin_url) as admin:
            ((count,),) = admin.execute("SELECT next_n FROM gainsay.debate_head WHERE debate = %s", [debate]).fetchall()
        await self.until(lambda: len(self.heard) >= count - 2, f"of {count} entries are heard {self.heard}")
        assert self.heard == list(range(1, count - 1))

    async def until(self, holds: Callable[[], bool], otherwise: str) -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, otherwise
            await asyncio.sleep(0.02)

    async def _taken(self) -> str:
        """A case that is taken within a short while: right after a fault a connection may still be found gone."""
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = await self.served.http.post("/v1/debates", json=a_case())
            if answer.is_success:
                return str(answer.json()["debateId"])
            assert (answer.status_code, time.monotonic() < end) == (503, True), answer.text
            await asyncio.sleep(0.1)

    def _is_over(self) -> bool:
        return all(state not in ("queued", "running") for _, state, _, _ in self._heads())

    def _heads(self) -> list[tuple[str, str, bool, int]]:
        with psycopg.connect(self.admin_url) as admin:
            return admin.execute(HEADS).fetchall()

    def _expect_no_call_without_a_record(self) -> None:
        """Every body that went out was recorded first, went out once, and no turn was asked again after its reply."""
        asked, spoken = list[TurnAsked](), 0
        with psycopg.connect(self.admin_url) as admin:
            rows = admin.execute(RECORDS).fetchall()
        for _, records in groupby(rows, key=lambda row: row[0]):
            entries: list[Entry] = [decode(body) for _, body in records]
            asked += [entry for entry in entries if isinstance(entry, TurnAsked)]
            spoken += _expect_each_reply_once(entries)
            self.lost += sum(isinstance(entry, AttemptFailed) for entry in entries)
        wires = [(bytes.fromhex(intent.request_salt), intent.wire_hash) for intent in asked]
        for body in self.sent:
            recorded = [wire for wire in wires if sha256(wire[0] + body).hexdigest() == wire[1]]
            assert recorded, "a call without a record, or a second one under the same record"
            wires.remove(recorded[0])
        assert spoken <= len(self.sent) <= len(asked)


def _expect_refusal(answer: Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] in AWAY
    assert int(answer.headers["retry-after"]) > 0
    assert "Traceback" not in answer.text


def _expect_each_reply_once(entries: Sequence[Entry]) -> int:
    """No turn is asked when its reply is there; how many replies there are."""
    spoken: set[str] = set()
    for entry in entries:
        assert not (isinstance(entry, TurnAsked | TurnSpoke) and entry.turn in spoken), entry
        if isinstance(entry, TurnSpoke):
            spoken.add(entry.turn)
        if isinstance(entry, AttemptFailed):
            assert entry.reason == "lost", entry
    return len(spoken)


@asynccontextmanager
async def on_trial(
    url: str, admin_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, logged: pytest.LogCaptureFixture
) -> AsyncIterator[Trial]:
    """A deployment on a database, with limits short enough for a test."""
    for name, seconds in (("TIMEOUT_S", 1.0), ("RECONNECT_S", 0.8), ("STATEMENT_S", 0.8), ("SILENT_S", 1.2)):
        monkeypatch.setattr(pool, name, seconds)
    monkeypatch.setattr(probes, "READY_WITHIN_S", 0.5)
    sent, send = list[bytes](), OfflineProvider.send

    async def noted(self: OfflineProvider, body: bytes) -> Answer:
        sent.append(body)
        return await send(self, body)

    monkeypatch.setattr(OfflineProvider, "send", noted)
    policy = str(slow_policy(folder, LATENCY_MS))
    async with served(
        url, sequence=False, GAINSAY_POLICY=policy, GAINSAY_LEASE_S="2", GAINSAY_GRACE_S="1"
    ) as deployment:
        trial = Trial(deployment, admin_url, sent, logged)
        try:
            yield trial
        finally:
            if trial.listener is not None:
                trial.listener.cancel()
                await asyncio.gather(trial.listener, return_exceptions=True)
