"""A batch whose processes are killed five times: each line one debate and one bill, and nothing above its ceiling.

One process takes the file and answers; two feed it and run its debates; PostgreSQL is real, and the vendor keeps books
of its own. `make test` runs it with 200 cases, `make batches` with CASES (10,000), and says how long it took.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from random import Random
from typing import Any

import httpx
import pytest

from service.debate.entries import CaseReceived, TurnAsked, TurnSpoke
from service.store import spend
from service.store.pool import Database
from tests.end_to_end.vendors.policies import cost
from tests.faults.books import Books, assert_closed, assert_covered
from tests.faults.deployment import Deployment, a_deployment, eventually
from tests.faults.reckoning import is_settled_but_for_witnesses
from tests.fixtures.running import TEXT

pytestmark = pytest.mark.long

CASES = int(os.environ.get("GAINSAY_TEST_BATCH_CASES", "200"))
LONG = CASES > 1_000
KILLS = 5
SEED = int(os.environ.get("GAINSAY_TEST_BATCH_SEED", "7"))
PROCESSES = ("api-1", "work-1", "work-2")
CEILING = "50000"
PATIENCE_S = 7_200.0 if LONG else 300.0


def a_file(cases: int) -> bytes:
    """As many cases, each with its number in its question; every other one has a key."""
    lines = []
    for n in range(cases):
        case: dict[str, Any] = {
            "question": f"Case {n}: does this agreement leave us with uncapped liability?",
            "taskType": "contract",
            "estimatedDownside": 250_000,
            "confidenceScore": 0.55,
            "documents": [{"id": "D1", "text": TEXT}],
            "options": {"format": "adversarial", "maxRounds": 1},
        }
        lines.append(json.dumps({"key": f"k{n}", "case": case} if n % 2 else case))
    return "\n".join(lines).encode()


async def post(house: Deployment, text: bytes) -> str:
    """Bring the file, again and again under one key until an answer comes; the batch's id."""
    headers = {"content-type": "application/jsonl", "idempotency-key": '"the file"'}
    async with httpx.AsyncClient(base_url=house.apis[0], timeout=120) as http:
        while True:
            try:
                answer = await http.post(f"/v1/batches?ceilingUSD={CEILING}", content=text, headers=headers)
            except httpx.TransportError:
                await asyncio.sleep(0.2)
                continue
            if answer.status_code == 202:
                return str(answer.json()["batchId"])
            assert answer.status_code == 503, answer.text
            await asyncio.sleep(0.2)


def debated(house: Deployment) -> int:
    ((count,),) = house.rows("SELECT count(*) FROM debate_head WHERE state NOT IN ('queued', 'running')")
    return int(count)


async def kill_five_times(house: Deployment, random: Random) -> None:
    """Kill a process at each sixth of the batch, amid whatever it does."""
    for nth in range(1, KILLS + 1):
        least = CASES * nth // (KILLS + 1)

        def far(least: int = least) -> bool:
            house.keep()
            return debated(house) >= least

        await patiently(far, f"{least} debates have ended")
        await asyncio.sleep(random.uniform(0.0, 0.2))
        await house.kill(PROCESSES[nth % len(PROCESSES)])


async def patiently(holds: Any, what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if holds():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not so after {PATIENCE_S:g} s: {what}")


@pytest.mark.timeout(PATIENCE_S * 2)
async def test_a_batch_that_is_killed_five_times_is_one_debate_and_one_bill_a_line() -> None:
    begun = time.monotonic()
    with a_deployment(SEED) as house:
        for name in (*PROCESSES, "sequence-1"):
            house.start(name)
        for name in house.children:
            await house.up(name)
        posting = asyncio.create_task(post(house, a_file(CASES)))
        batch = await posting
        taken_s = time.monotonic() - begun
        await kill_five_times(house, Random(SEED))

        def ended() -> bool:
            house.keep()
            return house.rows("SELECT ended IS NOT NULL FROM case_batch") == [(True,)]

        await patiently(ended, "the batch has ended")
        await eventually(lambda: is_settled_but_for_witnesses(house), "every record is provable")
        seconds = time.monotonic() - begun
        await expect_results(house, batch)
        async with Database.open(house.server.url("gainsay_service"), size=2) as database:
            balance = await spend.balance(database)
        assert balance.exact, balance
        await house.stop()
        reckon(house, balance, seconds, taken_s)


async def expect_results(house: Deployment, batch: str) -> None:
    """Every line is there once, in order, with a decision."""
    async with httpx.AsyncClient(base_url=house.apis[0], timeout=120) as http:
        told = (await http.get(f"/v1/batches/{batch}")).json()
        lines = (await http.get(f"/v1/batches/{batch}/results")).text.splitlines()
    assert told["endedBy"] == "completed"
    assert (told["cases"], told["joined"], sum(told["refused"].values())) == (CASES, 0, 0)
    found = [json.loads(line) for line in lines]
    assert [row["line"] for row in found] == list(range(1, CASES + 1))
    assert all("decision" in row for row in found)
    assert len({row["debateId"] for row in found}) == CASES


def reckon(house: Deployment, balance: spend.Balance, seconds: float, taken_s: float) -> None:
    """One debate a line, every bill covered by the charge of its own call, and no text of a case left in the batch."""
    books, bills, calls = Books.at(house.server.url("postgres"), "default"), house.vendor.bills(), house.vendor.cases()
    assert_closed(books)
    assert_covered(books, bills)
    numbers = Counter(debate.case for debate in books.debates)
    assert numbers == Counter(range(CASES)), "a line became no debate, or several"
    for debate in books.debates:
        assert calls[debate.case] <= len(debate.asked), f"debate {debate.debate}: a call that no record tells of"
        spoken: set[str] = set()
        for entry in debate.entries:
            assert not (isinstance(entry, TurnAsked) and entry.turn in spoken), "a recorded turn was asked again"
            if isinstance(entry, TurnSpoke):
                spoken.add(entry.turn)
        received = debate.entries[0]
        assert isinstance(received, CaseReceived)
        assert received.arrival is not None
        assert received.arrival.door == "batch"
    (account,) = balance.batches
    assert (account.drawn, account.open) == (account.spent, 0)
    assert account.spent <= account.ceiling
    assert account.spent == sum(debate.spent for debate in books.debates)
    assert house.rows("SELECT count(*) FROM batch_line WHERE body IS NOT NULL") == [(0,)]
    states = Counter(debate.state for debate in books.debates)
    sys.stdout.write(
        f"{CASES} cases in {seconds:.0f} s ({taken_s:.1f} s until the file was taken), {len(house.hits)} kills "
        f"({', '.join(house.hits)}): {len(books.debates)} debates {dict(states)}, {len(bills)} bills of "
        f"{sum(map(cost, bills)) / 1e6:.2f} USD, "
        f"charged {account.spent / 1e6:.6f} USD, drawn {account.drawn / 1e6:.6f}, above the ceiling 0\n"
    )
