"""Any interleaving of debates, days, limits, take-overs and lost answers leaves the accounts that a model predicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.debate.turns import TurnId
from service.errors import Fenced, StoreUnavailable
from service.identity.caller import Caller
from service.money import Refusal
from service.store import queue
from tests.fixtures.batching import a_batch
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import Bench, bench
from tests.fixtures.spending import Spender, Spenders, a_tenant, exact, limits, set_day

pytestmark = pytest.mark.no_replay

CEILING = 400
BATCH_CEILING = 600
STEPS = ("draw", "draw", "draw", "lose", "hold", "hold", "settle", "settle", "conclude", "take over", "day")


class Purse:
    """What one debate has drawn, by day, and what it has done with it; under which limits its worker draws."""

    def __init__(self, *, batched: bool = False) -> None:
        self.batched = batched
        self.day: int | None = 300
        self.month: int | None = 700
        self.draws: list[tuple[date, int]] = []
        self.spent = self.excess = self.over_batch = 0
        self.held: dict[TurnId, int] = {}

    @property
    def granted(self) -> int:
        return sum(amount for _, amount in self.draws)

    @property
    def free(self) -> int:
        return self.granted - self.spent - self.excess - sum(self.held.values())

    def spent_by_day(self) -> dict[date, int]:
        """The draws are spent in their order."""
        left, found = self.spent, dict[date, int]()
        for day, amount in self.draws:
            found[day] = found.get(day, 0) + min(left, amount)
            left -= min(left, amount)
        return found


class Model:
    """The tenant's accounts, as they should be."""

    def __init__(self) -> None:
        self.today = date(2026, 11, 28)
        self.over: dict[date, int] = {}
        self.purses: list[Purse] = []
        self.ended: list[Purse] = []

    def drawn(self, period: str, starts: date) -> int:
        open_ = sum(amount for p in self.purses for day, amount in p.draws if first(period, day) == starts)
        return open_ + sum(
            amount for p in self.ended for day, amount in p.spent_by_day().items() if first(period, day) == starts
        )

    def excess(self, period: str, starts: date) -> int:
        return sum(amount for day, amount in self.over.items() if first(period, day) == starts)

    def drawn_of_batch(self) -> int:
        return sum(p.granted for p in self.purses if p.batched) + sum(p.spent for p in self.ended if p.batched)

    def excess_of_batch(self) -> int:
        return sum(p.over_batch for p in (*self.purses, *self.ended) if p.batched)

    def left_of_batch(self) -> int:
        return BATCH_CEILING - self.drawn_of_batch() - self.excess_of_batch()

    def left(self, period: str, limit: int | None) -> int | None:
        starts = first(period, self.today)
        return None if limit is None else limit - self.drawn(period, starts) - self.excess(period, starts)

    def draw(self, purse: Purse, need: int, want: int) -> Refusal | None:
        """What a draw must answer; what it grants is in the purse then."""
        room = CEILING - purse.granted
        if need > room:
            return Refusal("debateCeiling", need, room)
        batch = self.left_of_batch() if purse.batched else None
        if batch is not None and batch < need:
            return Refusal("batchCeiling", need, batch)
        month, day = self.left("month", purse.month), self.left("day", purse.day)
        if month is not None and month < need:
            return Refusal("tenantMonth", need, month)
        if day is not None and day < need:
            return Refusal("tenantDay", need, day)
        most = min(max(need, want), room)
        plenty = all(left is None or left // 10 >= most for left in (batch, month, day))
        purse.draws.append((self.today, most if plenty else need))
        return None


def first(period: str, day: date) -> date:
    return day if period == "day" else day.replace(day=1)


class Losing:
    """A database that loses the next answer to a draw, after or before it was made."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.loses: str | None = None

    @property
    def pooled(self) -> Any:
        """The database of the connections."""
        return self._database

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
        loses, self.loses = (self.loses, None) if name == "draw" else (None, self.loses)
        rows = [] if loses == "before" else await self._database.query(name, params)
        if loses:
            raise StoreUnavailable("the connection is lost")
        return list(rows)


class Play:
    """The same steps on the database and on the model."""

    def __init__(self, service: Bench, server: Server, spenders: Spenders, data: st.DataObject) -> None:
        self.service, self.server, self.spenders, self.data = service, server, spenders, data
        self.tenant, self.model = a_tenant(), Model()
        self.batch = ""
        self.database: Any = Losing(service.database)
        self.open: list[tuple[Spender, Purse]] = []
        set_day(server, self.model.today.isoformat())

    def amount(self, most: int) -> int:
        return self.data.draw(st.integers(0, max(0, most)))

    async def begin(self) -> None:
        batched = self.data.draw(st.booleans())
        if batched and not self.batch:
            self.batch = await a_batch(self.service.database, BATCH_CEILING, caller=Caller(self.tenant))
        batch = self.batch if batched else None
        debate = await self.spenders.queue(limits(day=1), self.tenant, CEILING, batch)
        purse = Purse(batched=batched)
        self.model.purses.append(purse)
        self.open.append((await self.take(debate, purse), purse))

    async def take(self, debate: str, purse: Purse) -> Spender:
        return await self.spenders.take(debate, limits(purse.day, purse.month), self.database)

    async def step(self) -> None:
        what = self.data.draw(st.sampled_from(STEPS))
        if what == "day":
            self.model.today += timedelta(days=self.data.draw(st.integers(1, 2)))
            set_day(self.server, self.model.today.isoformat())
            return
        if not self.open:
            await self.begin()
        at = self.data.draw(st.integers(0, len(self.open) - 1))
        spender, purse = self.open[at]
        match what:
            case "draw" | "lose":
                await self.draws(spender, purse, lose=what == "lose")
            case "hold" if purse.free > 0:
                amount = self.amount(purse.free)
                purse.held[await spender.hold(amount)] = amount
            case "settle" if purse.held:
                await self.settles(spender, purse)
            case "conclude":
                await self.concludes(at)
            case "take over":
                await self.takes_over(at)

    async def takes_over(self, at: int) -> None:
        """Another worker has it, under a policy of its own; the one that had it can do nothing any more."""
        old, purse = self.open[at]
        purse.day = self.data.draw(st.none() | st.integers(0, 500))
        purse.month = self.data.draw(st.none() | st.integers(0, 5_000))
        await queue.release(self.service.database, queue.ClaimedDebate(old.debate, self.tenant, old.log.epoch))
        new = await self.take(old.debate, purse)
        new.open, new.attempts = old.open, old.attempts
        self.open[at] = (new, purse)
        with pytest.raises(Fenced):
            await old.allocate(1, 1)

    async def draws(self, spender: Spender, purse: Purse, *, lose: bool) -> None:
        need = 1 + self.amount(150)
        want = need + self.amount(150)
        expected = self.model.draw(purse, need, want)
        if lose:
            self.database.loses = self.data.draw(st.sampled_from(["before", "after"]))
        assert await spender.allocate(need, want) == expected

    async def settles(self, spender: Spender, purse: Purse) -> None:
        turn: TurnId = self.data.draw(st.sampled_from(sorted(purse.held)))
        held = purse.held.pop(turn)
        billed = self.amount(held) if self.amount(9) else held + 1 + self.amount(50)
        await spender.settle(turn, billed)
        self.charge(purse, held, billed)

    def charge(self, purse: Purse, held: int, billed: int) -> None:
        purse.spent += min(held, billed)
        purse.excess += max(0, billed - held)
        if purse.draws and billed > held:
            latest = purse.draws[-1][0]
            self.model.over[latest] = self.model.over.get(latest, 0) + billed - held
            purse.over_batch += billed - held

    async def concludes(self, at: int) -> None:
        """What is open is settled in the same append."""
        spender, purse = self.open.pop(at)
        settled = []
        for turn, held in sorted(purse.held.items()):
            billed = self.amount(held)
            settled.append(spender.settled(turn, billed))
            self.charge(purse, held, billed)
        purse.held = {}
        await spender.conclude("truncated", *settled)
        self.model.purses.remove(purse)
        self.model.ended.append(purse)

    async def check(self) -> None:
        """The accounts agree with each other and with the model, and no limit is passed by anything but an excess."""
        balance = await exact(self.service, self.tenant)
        for row in balance.periods:
            assert (row.drawn, row.excess) == (
                self.model.drawn(row.period, row.starts),
                self.model.excess(row.period, row.starts),
            ), row
            assert row.ceiling is None or row.spent <= row.drawn <= row.ceiling
        for account in balance.batches:
            assert (account.drawn, account.excess) == (self.model.drawn_of_batch(), self.model.excess_of_batch())
            assert account.spent <= account.drawn <= account.ceiling == BATCH_CEILING
        for spender, purse in self.open:
            assert (spender.log.allocated, spender.free) == (purse.granted, purse.free)


async def play(server: Server, data: st.DataObject) -> None:
    async with bench(server.service_url) as service:
        spenders = await Spenders.of(service)
        game = Play(service, server, spenders, data)
        for _ in range(3):
            await game.begin()
        for _ in range(data.draw(st.integers(5, 30))):
            await game.step()
            await game.check()
        while game.open:
            await game.concludes(0)
        await game.check()
        balance = await exact(service, game.tenant)
        assert all(row.open == 0 for row in balance.periods)
        assert all(account.open == 0 for account in balance.batches)


@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_no_interleaving_loses_or_makes_a_micro_dollar(module_database: Server, data: st.DataObject) -> None:
    asyncio.run(play(module_database, data))
