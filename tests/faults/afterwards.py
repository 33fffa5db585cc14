"""What has to be so when debates that something failed under are over, whatever it was.

Nothing is lost, nothing recorded is asked again, nothing is called that is not recorded, nothing is spent that is not
accounted for, the outcome is that of a debate that nobody disturbed, and an examiner's command finds nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import LiteralString

import msgspec
import psycopg

from service.cli import main
from service.debate.entries import AttemptFailed, Charge, DebateStarted, Entry, TurnAsked, TurnSpoke
from service.debate.model import Outcome, SeatPlan, seat_of
from service.debate.turns import TurnId
from service.identity.caller import Caller
from service.reviews import evidence
from service.store import spend
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from tests.faults.books import Books, Told, assert_closed
from tests.faults.bringing import DAY, UNLIMITED
from tests.faults.confirming import Confirmed
from tests.faults.counting import Call
from tests.faults.intents import wire_hash
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import a_writer
from tests.fixtures.sequencing import KEY, MemorySigner, a_sequencer

MICRO = 1_000_000
LEAVES: LiteralString = "SELECT debate::text, n, sha256('\\x00'::bytea || leaf) FROM gainsay.entry"
DRAWN: LiteralString = (
    "SELECT tenant, nth, sum(amount) OVER (PARTITION BY tenant ORDER BY debate, nth) + h.excess "
    "FROM gainsay.draw JOIN gainsay.debate_head h USING (debate, tenant)"
)
"""What a tenant has drawn by each of its draws: it has one debate."""
_LABEL = re.compile(r"\b(Model|Debater|Speaker|Position) [A-Z]\b")


@dataclass(frozen=True)
class Debated:
    """A debate that has to be there, and the calls that the vendor has in its books for it."""

    debate: str
    calls: tuple[Call, ...]


async def expect_well(server: Server, debated: Sequence[Debated], confirmed: Iterable[Confirmed], folder: Path) -> None:
    """All of it, for all debates of a database: the first one is the one that nobody has disturbed."""
    books = await asyncio.to_thread(Books.read, server)
    found = {str(debate.debate): debate for debate in books.debates}
    assert found.keys() == {each.debate for each in debated}, "a case has become no debate, or several"
    assert len(found) == len(debated), "two cases have become one"
    debates = [found[each.debate] for each in debated]
    expect_nothing_lost(server, confirmed)
    for debate, each in zip(debates, debated, strict=True):
        expect_nothing_asked_again(debate)
        expect_every_call_recorded_and_paid(debate, each.calls)
    assert_closed(books)
    assert all(debate.excess == 0 for debate in debates), "a vendor that never bills above what was held"
    expect_within_limits(server, {debate.tenant for debate in debates} - {UNLIMITED})
    expect_one_outcome(debates)
    async with Database.open(server.service_url, size=2) as database:
        balance = await spend.balance(database)
        assert balance.exact, balance
        assert all(period.open == 0 for period in balance.periods)
        await expect_bundles_verify(server, database, {name: each.tenant for name, each in found.items()}, folder)


def expect_nothing_lost(server: Server, confirmed: Iterable[Confirmed]) -> None:
    """Whatever was confirmed to anybody is there, as it was."""
    with psycopg.connect(server.admin_url) as admin:
        stored = {(debate, n): bytes(hash_) for debate, n, hash_ in admin.execute(LEAVES)}
    lost = [record for record in confirmed if stored.get((record.debate, record.n)) != record.leaf_hash]
    assert lost == []


def expect_nothing_asked_again(debate: Told) -> None:
    """No turn is asked after its reply was recorded, and each has one reply."""
    assert asked_again(debate.entries) == []
    spoken = Counter(entry.turn for entry in debate.entries if isinstance(entry, TurnSpoke))
    assert set(spoken.values()) == {1}


def asked_again(entries: Sequence[Entry]) -> list[TurnId]:
    """Turns that were asked although their reply was recorded."""
    spoken: set[TurnId] = set()
    again = []
    for entry in entries:
        if isinstance(entry, TurnSpoke):
            spoken.add(entry.turn)
        if isinstance(entry, TurnAsked) and entry.turn in spoken:
            again.append(entry.turn)
    return again


def expect_every_call_recorded_and_paid(debate: Told, calls: Sequence[Call]) -> None:
    """No record, no call: each call that the vendor has in its books has one recorded intent of its own.

    What was charged is what the vendor bills, or, where nothing came back that tells it, as much or more. An attempt
    that was lost may have been called or not: nobody but the vendor can know.
    """
    charged = {(entry.turn, entry.attempt): entry for entry in debate.charged}
    left = list(debate.asked)
    for body, same in grouped(calls).items():
        intents = [asked for asked in left if asked.wire_hash == wire_hash(asked, body)]
        entries = [charged[asked.turn, asked.attempt] for asked in intents]
        heard = [entry for entry in entries if not is_lost(entry)]
        assert len(heard) <= len(same) <= len(intents), "a call without its record, or a record without its call"
        bills = [_cost(call, _plan(debate, intents[0])) for call in same]
        assert sum(bills) <= sum(entry.charge.amount for entry in entries)
        assert all(entry.charge.amount in bills for entry in heard if entry.charge.basis != "reserved")
        left = [asked for asked in left if asked not in intents]
    assert all(is_lost(charged[asked.turn, asked.attempt]) for asked in left), "a reply that nobody has given"
    for asked in debate.asked:
        if is_lost(entry := charged[asked.turn, asked.attempt]):
            assert entry.charge == Charge(asked.held, "reserved")


def grouped(calls: Iterable[Call]) -> dict[bytes, list[Call]]:
    """Calls by what was asked: one turn that is asked again is asked the same."""
    found: dict[bytes, list[Call]] = {}
    for call in calls:
        found.setdefault(call.body, []).append(call)
    return found


def is_lost(entry: Entry) -> bool:
    """Whether it is an attempt of which nobody knows what became of it."""
    return isinstance(entry, AttemptFailed) and entry.reason == "lost"


def _plan(debate: Told, asked: TurnAsked) -> SeatPlan:
    started = next(entry for entry in debate.entries if isinstance(entry, DebateStarted))
    return started.seat(seat_of(asked.turn)).of(asked.model)


def _cost(call: Call, plan: SeatPlan) -> int:
    """What a call comes to by the price table, rounded up once."""
    if call.usage is None:
        return 0
    return -(-(call.usage.input * plan.price.input + call.usage.output * plan.price.output) // MICRO)


def expect_within_limits(server: Server, tenants: Collection[str]) -> None:
    """At no moment has a tenant with limits drawn more than they are, with what was charged above reservations."""
    with psycopg.connect(server.admin_url) as admin:
        drawn = admin.execute(DRAWN).fetchall()
        left = admin.execute("SELECT tenant, period, drawn + excess FROM gainsay.spend_limit").fetchall()
    assert {row[0] for row in drawn} == {row[0] for row in left} == tenants
    assert [row for row in (*drawn, *left) if row[2] > DAY] == []


def expect_one_outcome(debates: Sequence[Told]) -> None:
    """Every debate came to what the first one did."""
    undisturbed = comparable(debates[0].outcome)
    assert debates[0].outcome.status == "completed"
    for debate in debates:
        assert comparable(debate.outcome) == undisturbed, f"debate {debate.debate}"


def comparable(outcome: Outcome) -> str:
    """An outcome without the labels that seats were given for the debate: they are drawn from its seed."""
    return _LABEL.sub(r"\1 _", msgspec.json.encode(outcome).decode())


async def expect_bundles_verify(
    server: Server, database: Database, debates: Mapping[str, str], folder: Path, signer: MemorySigner | None = None
) -> None:
    """`gainsay audit verify` finds nothing in the bundle of any of them; they are given with their tenants."""
    async with a_sequencer(server, signer) as sequencer:
        await sequencer.catch_up()
    logs = CurrentLogs(database, "localhost")
    file = folder / "bundle.zip"
    for debate, tenant in debates.items():
        made = await evidence.bundle(database, logs, debate, Caller(tenant=tenant), a_writer("examiner"))
        file.write_bytes(made)
        told = StringIO()
        with redirect_stdout(told):
            code = main(["audit", "verify", str(file), "--key", KEY.public.encode(), "--allow-unwitnessed"])
        assert code == 0, told.getvalue()
