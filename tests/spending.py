"""Debates that spend money without a runner: opened, taken, held, charged and concluded by the log alone.

The day is the database's own; `set_day` replaces the one function that it is taken from, in one test's database.
"""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
from msgspec.structs import replace
from psycopg import sql

from service.audit.record import Place, Record
from service.budget import Refusal
from service.debate.entries import AttemptFailed, Charge, DebateConcluded, DebateStarted, Entry, TurnAsked
from service.debate.model import Outcome, Status
from service.debate.turns import TurnId
from service.policy import Budget, Budgets
from service.store import spend
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.queue import Wanted, claim
from service.store.sealing import NewDebate, open_debate, seal_entry, uuid7
from tests.postgres import Database as Server
from tests.running import Bench, a_writer, take_log

CEILING = 1_000_000


def limits(day: int | None = None, month: int | None = None, zone: str = "UTC") -> Budgets:
    """The same limits for every tenant."""
    return Budgets(zone, Budget(day, month))


def set_day(server: Server, day: str) -> None:
    """From now on it is this day in every zone."""
    body = sql.SQL("SELECT {}::date").format(sql.Literal(date.fromisoformat(day).isoformat()))
    statement = sql.SQL("CREATE OR REPLACE FUNCTION gainsay.today(zone text) RETURNS date LANGUAGE sql VOLATILE AS {}")
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        admin.execute(statement.format(sql.Literal(body.as_string(admin))))


def rows(server: Server, statement: LiteralString, *params: Any) -> list[tuple[Any, ...]]:
    """What a superuser reads."""
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        return admin.execute(statement, params).fetchall()


def change(server: Server, statement: LiteralString) -> None:
    """What a superuser does."""
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        admin.execute(statement)


def drawn(server: Server) -> list[tuple[Any, ...]]:
    """The rows of the limits: period, first day, drawn, excess."""
    return rows(server, "SELECT period, starts, drawn, excess FROM gainsay.spend_limit ORDER BY period, starts")


async def exact(service: Bench, tenant: str | None = None) -> spend.Balance:
    """The accounts, once they are known to agree."""
    balance = await spend.balance(service.database, tenant)
    assert balance.exact, balance
    return balance


async def waiting(server: Server, count: int = 1) -> None:
    """Return once so many statements of the service wait for a lock."""
    found = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    for _ in range(200):
        if rows(server, found) == [(count,)]:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("nothing came to wait")


class Spender:
    """One debate of a tenant, as the worker that has taken it sees it."""

    def __init__(self, log: DebateLog) -> None:
        self.log = log
        self.debate = log.debate
        self.attempts = 0
        self.open: dict[TurnId, tuple[int, int]] = {}

    @property
    def free(self) -> int:
        """What the debate may still hold of what it was granted."""
        ledger = self.log.ledger
        return self.log.granted - ledger.spent - ledger.excess - sum(ledger.held.values())

    async def draw(self, need: int, want: int = 0) -> Refusal | None:
        """Draw on the tenant's limits."""
        return await self.log.draw(need, want)

    async def hold(self, amount: int) -> TurnId:
        """Record an attempt that may cost this much; its turn."""
        self.attempts += 1
        turn = TurnId(f"{self.attempts}.proposer.1")
        await self.log.append([TurnAsked(turn, 1, "alder-large", "00" * 16, "00" * 32, 10, amount)])
        self.open[turn] = (self.attempts, amount)
        return turn

    def settled(self, turn: TurnId, amount: int) -> AttemptFailed:
        """The entry that charges an attempt; what is above its reservation is excess."""
        _, held = self.open.pop(turn)
        charge = Charge(amount, "usage", excess=max(0, amount - held))
        return AttemptFailed(turn, 1, "timeout", "late", charge)

    async def settle(self, turn: TurnId, amount: int) -> None:
        """Charge an attempt."""
        await self.log.append([self.settled(turn, amount)])

    async def spend(self, amount: int) -> None:
        """Hold and charge as much."""
        await self.settle(await self.hold(amount), amount)

    async def conclude(self, status: Status = "completed", *before: Entry) -> None:
        """Record the end, with these entries in the same append."""
        await self.log.append([*before, DebateConcluded(Outcome(status, "aborted", "over"))])


_template: list[Entry] = []
"""The entries that begin a debate, from the first one that a test submits."""


class Spenders:
    """Opens debates of any tenant without going through the intake: copies of one that did."""

    def __init__(self, service: Bench, template: list[Entry]) -> None:
        self._service = service
        self._template = template

    @classmethod
    async def of(cls, service: Bench) -> Spenders:
        """On this service."""
        if not _template:
            _template.extend((await service.entries(await service.submit()))[:3])
        return cls(service, _template)

    async def queue(self, budgets: Budgets, tenant: str = "acme", ceiling: int = CEILING) -> str:
        """A debate that nobody has taken."""
        place = Place(f"localhost/{tenant}/1", tenant, uuid7())
        records: list[Record] = []
        for entry in self._template:
            mine = replace(entry, ceiling=ceiling) if isinstance(entry, DebateStarted) else entry
            prev = records[-1].leaf_hash if records else b""
            records.append(seal_entry(mine, place=place, writer=a_writer("t"), n=len(records), prev=prev))
        new = NewDebate(
            place,
            (bytes(32), b"{}"),
            getattr(self._template[0], "case"),  # noqa: B009 - the first entry is case.received
            "adversarial/1",
            "queued",
            ceiling,
            None,
            tuple(records),
            {},
            spend.limited(budgets.of(tenant)),
        )
        await open_debate(self._service.database, new, [])
        return place.debate

    async def take(
        self, debate: str, budgets: Budgets, database: Database | None = None, lease_s: float = 5.0
    ) -> Spender:
        """Take a debate over, whoever has it."""
        (taken,) = await claim(self._service.database, Wanted(worker="t", lease_s=0.0, only=debate))
        log = await take_log(database or self._service.database, debate, taken.epoch, "t", lease_s, budgets)
        await log.tail()
        return Spender(log)

    async def open(self, budgets: Budgets, tenant: str = "acme", ceiling: int = CEILING) -> Spender:
        """A debate that is taken and has drawn nothing yet."""
        return await self.take(await self.queue(budgets, tenant, ceiling), budgets)


def a_tenant() -> str:
    """A tenant that no other test has."""
    return f"tenant-{uuid4().hex[:12]}"
