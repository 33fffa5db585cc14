"""Both sides of the money: what the service recorded, read from its tables, and what the vendor billed, by the rates.

Nothing here asks the service what anything costs: prices are multiplied anew, and rows are added up by the tests' own
SQL as a superuser.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    DebateConcluded,
    Entry,
    TurnAsked,
    TurnSpoke,
    decode,
)
from service.debate.model import Outcome
from service.debate.turns import seat_of
from service.running.preparation import TURNS_AHEAD
from tests.end_to_end.vendors.policies import CLOSED, JUDGE, MICRO, OPEN, PRICES, SEATS, cost
from tests.faults.vendor import Billed
from tests.fixtures.policies import WRITTEN, policy_file
from tests.fixtures.postgres import Database

RECORDS = (
    "SELECT e.debate, p.body FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n) "
    "JOIN gainsay.debate_head h USING (debate) WHERE h.tenant = %(tenant)s OR %(tenant)s IS NULL ORDER BY e.debate, e.n"
)
HEADS = (
    "SELECT debate, tenant, state, ceiling, granted, spent, held, excess, draws FROM gainsay.debate_head "
    "WHERE tenant = %(tenant)s OR %(tenant)s IS NULL"
)
CHARGES = "SELECT debate, sum(amount - excess)::bigint, sum(excess)::bigint FROM gainsay.charge GROUP BY debate"
RETURNED = "SELECT debate, -sum(amount)::bigint FROM gainsay.draw WHERE amount < 0 GROUP BY debate"
ALLOWANCES = {"framing": 300, "proposer": 500, "critic": 500, "rebuttal": 400, "moderator": 600}
TOKENIZER = "o200k_base"
"""The vendor counts a quarter of the bytes: the safety factor has to cover the difference."""
HELD_MOST = 1 + TURNS_AHEAD + 2
"""A debate holds at most so many of the dearest turns: the next, those ahead, and a moderation that is asked twice."""
OVER = ("completed", "truncated", "failed", "aborted")


def policy_of(
    folder: Path,
    url: str,
    budgets: Mapping[str, Any],
    *,
    call_timeout_s: int = 60,
    allowances: Mapping[str, int] = ALLOWANCES,
    **tables: Any,
) -> Path:
    """A policy file: the shipped one with its seats at this vendor, by both wires, these limits and other tables."""
    whole = deepcopy(WRITTEN)
    whole["providers"] = wires(url, call_timeout_s)
    whole["models"] = models()
    whole["formats"]["auto"] = {}  # nobody sits at the tables of other formats here
    whole["seats"] = {seat: {"model": SEATS[seat], "allowance": most} for seat, most in allowances.items()}
    whole["budgets"] = {"zone": "UTC", **{name: value for name, value in budgets.items() if name != "tenants"}}
    whole["tenants"] = budgets.get("tenants", {})
    whole["calls"] = {"turn_deadline_s": 60, "backoff_ms": 1, "backoff_max_ms": 50}
    return policy_file(folder, **{**whole, **tables})


def wires(url: str, call_timeout_s: int) -> dict[str, Any]:
    """The vendor as providers of a policy file, by both wires."""
    usual = {"key": "env:VENDOR_KEY", "call_timeout_s": call_timeout_s, "breaker_failures": 1_000}
    return {
        "open": {"kind": "openai-compatible", "base_url": f"{url}/v1", **usual},
        "closed": {"kind": "anthropic", "base_url": url, **usual},
    }


def models() -> list[dict[str, Any]]:
    """The vendor's models, of three families, as a policy file has them."""
    by_wire = [_model(OPEN, "open", "osier"), _model(CLOSED, "closed", "cypress")]
    return [*by_wire, _model(JUDGE, "closed", "juniper")]


def _model(name: str, provider: str, family: str) -> dict[str, Any]:
    kinds = ("input", "cached_input", "cache_write", "output", "reasoning")
    rates = {f"{kind}_usd": str(Decimal(getattr(PRICES[name], kind)) / MICRO) for kind in kinds}
    return {
        "alias": name,
        "provider": provider,
        "name": name,
        "family": family,
        "tokenizer": TOKENIZER,
        "safety": "1.5",
        "overhead_tokens": 100,
        "context_window": 200_000,
        "prices": [{"effective": "2026-01-01", "source": "made up for tests", **rates}],
    }


def total(bills: Iterable[Billed]) -> int:
    """What several come to."""
    return sum(map(cost, bills))


@dataclass(frozen=True)
class Told:
    """One debate as it is recorded: its entries and its head row."""

    debate: UUID
    tenant: str
    state: str
    ceiling: int
    granted: int
    spent: int
    held: int
    excess: int
    draws: int
    entries: tuple[Entry, ...]

    @property
    def case(self) -> int:
        """The number in its question."""
        first = self.entries[0]
        assert isinstance(first, CaseReceived)
        return int(first.case.question.split()[1].rstrip(":"))

    @property
    def format(self) -> str | None:
        """What its case asks for."""
        first = self.entries[0]
        assert isinstance(first, CaseReceived)
        return first.case.format

    @property
    def outcome(self) -> Outcome:
        """What it came to."""
        last = self.entries[-1]
        assert isinstance(last, DebateConcluded), f"debate {self.debate} is {self.state}"
        return last.outcome

    @property
    def charged(self) -> list[TurnSpoke | AttemptFailed]:
        """The entries that carry charges."""
        return [entry for entry in self.entries if isinstance(entry, TurnSpoke | AttemptFailed)]

    @property
    def asked(self) -> list[TurnAsked]:
        """Every attempt."""
        return [entry for entry in self.entries if isinstance(entry, TurnAsked)]

    @property
    def refusals(self) -> list[BudgetRefused]:
        """The turns that could not be funded."""
        return [entry for entry in self.entries if isinstance(entry, BudgetRefused)]

    @property
    def refused_by(self) -> set[str]:
        """Which limits have refused it money."""
        return {refusal.limit for refusal in self.refusals}

    @property
    def unheard(self) -> list[AttemptFailed]:
        """The attempts of which nothing came back that tells its cost."""
        return [e for e in self.charged if isinstance(e, AttemptFailed) and not e.request_id]

    def after(self, entry: Entry) -> Sequence[Entry]:
        """What was recorded after this."""
        return self.entries[self.entries.index(entry) + 1 :]

    def said(self, *seats: str) -> bool:
        """Whether one of these seats has spoken."""
        return any(isinstance(e, TurnSpoke) and seat_of(e.turn) in seats for e in self.entries)


@dataclass(frozen=True)
class Books:
    """Everything that one database says of money."""

    debates: tuple[Told, ...]
    charges: Mapping[UUID, tuple[int, int]]
    returned: Mapping[UUID, int]
    """What debates drew from their tenant's limits, did not spend and gave back at their end."""

    @classmethod
    def read(cls, database: Database) -> Books:
        """As a superuser reads it."""
        return cls.at(database.admin_url)

    @classmethod
    def at(cls, admin_url: str, tenant: str | None = None) -> Books:
        """The same of one tenant, unless all are meant."""
        whose = {"tenant": tenant}
        with psycopg.connect(admin_url, autocommit=True) as admin:
            entries = {
                debate: tuple(decode(body) for _, body in rows)
                for debate, rows in groupby(admin.execute(RECORDS, whose).fetchall(), key=lambda row: row[0])
            }
            rows = admin.cursor(row_factory=dict_row).execute(HEADS, whose).fetchall()
            charges = {debate: (spent, excess) for debate, spent, excess in admin.execute(CHARGES).fetchall()}
            returned: dict[UUID, int] = dict(admin.execute(RETURNED).fetchall())
        return cls(tuple(Told(**row, entries=entries[row["debate"]]) for row in rows), charges, returned)

    def of(self, tenant: str) -> list[Told]:
        """The debates of one tenant."""
        return [debate for debate in self.debates if debate.tenant == tenant]

    def spent(self, tenant: str) -> int:
        """What a tenant has been charged within its reservations."""
        return sum(debate.spent for debate in self.of(tenant))

    @property
    def paid(self) -> int:
        """What everybody has been charged, within reservations and above them."""
        return sum(debate.spent + debate.excess for debate in self.debates)


def assert_closed(books: Books) -> None:
    """Every debate has ended, nothing is held, the accounts add up, and no ceiling is passed but by an excess."""
    for debate in books.debates:
        assert debate.state in OVER, f"debate {debate.debate} is {debate.state}"
        assert debate.outcome.status == debate.state
        assert debate.held == 0
        assert debate.granted == debate.spent or not debate.draws
        assert (debate.spent, debate.excess) == books.charges.get(debate.debate, (0, 0))
        assert debate.spent == sum(e.charge.amount - e.charge.excess for e in debate.charged)
        assert debate.excess == sum(e.charge.excess for e in debate.charged)
        assert debate.spent <= debate.ceiling
        assert len(debate.asked) == len(debate.charged), "an attempt without its charge"


def assert_covered(books: Books, bills: Sequence[Billed]) -> None:
    """Call by call, what the vendor bills is what was charged for it, or within what was charged for calls unheard of.

    A request id ties a record to its bill. A bill that no record names belongs to a call of which nothing came back:
    its debate has at least as many of those charged as held, and at least as much money for them.
    """
    by_id = {f"req-{bill.n}": bill for bill in bills}
    assert len(by_id) == len(bills)
    named: set[str] = set()
    for debate in books.debates:
        for entry in debate.charged:
            bill = by_id.get(entry.request_id or "")
            if bill is None:
                continue
            assert bill.case == debate.case
            assert entry.request_id not in named, "one call charged twice"
            named.add(str(entry.request_id))
            assert entry.charge.amount >= cost(bill)
            assert entry.charge.amount == cost(bill) or entry.charge.basis == "reserved"
    _assert_unheard_covered(books, [bill for name, bill in by_id.items() if name not in named])
    assert total(bills) <= books.paid


def assert_bound(books: Books, tenant: str, name: str, limit: int) -> None:
    """A tenant's limit refused money only when it had too little left, and no debate held more than it may need.

    How much of a limit is spent is chance: debates at work hold their next turns and their moderation, while others
    are refused and end. These bounds hold whatever ends first. When a debate is refused, all but ``left`` has been
    drawn, and whatever was drawn was spent or given back. A debate gives back at most what it held.
    """
    own = books.of(tenant)
    refusals = [refusal for debate in own for refusal in debate.refusals if refusal.limit == name]
    assert refusals, "the limit did not bind"
    assert all(refusal.left < refusal.needed for refusal in refusals)
    returned = [books.returned.get(debate.debate, 0) for debate in own]
    paid = sum(debate.spent + debate.excess for debate in own)
    assert limit - min(refusal.left for refusal in refusals) <= paid + sum(returned)
    assert paid <= limit
    assert max(returned) <= HELD_MOST * max(entry.held for debate in own for entry in debate.asked)


def _assert_unheard_covered(books: Books, unnamed: Sequence[Billed]) -> None:
    debates = {debate.case: debate for debate in books.debates}
    for case, found in groupby(sorted(unnamed, key=lambda bill: bill.case), key=lambda bill: bill.case):
        lost, bills = debates[case].unheard, list(found)
        assert len(bills) <= len(lost)
        assert total(bills) <= sum(entry.charge.amount for entry in lost)
