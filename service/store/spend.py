"""What tenants have left of their days and months, and whether the accounts agree.

The limits are kept by PostgreSQL (migrations/0003_tenant_limits.sql); a debate draws on them through its `DebateLog`.
Here they are only read: at the door, so that nobody queues for what cannot be paid, and by whoever checks the books.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from msgspec import Struct

from service import telemetry
from service.debate.amounts import MicroUSD, usd
from service.errors import BudgetExhausted, SettingsError
from service.policy import Budget, Budgets
from service.store.pool import Database

RETRY_MAX_S = 86_400
"""The longest that a caller is told to stay away: money comes back when debates conclude, and limits are raised."""
LIMITS = {"day": "tenantDay", "month": "tenantMonth"}
"""The names of the limits in records and errors, by the period that they are for."""


class Left(Struct, frozen=True):
    """What one limit leaves of its ``whole`` now, in micro-dollars, and when its period is over."""

    limit: str
    whole: MicroUSD
    amount: MicroUSD
    ends: datetime
    ends_s: float


class Period(Struct, frozen=True):
    """One day or month of a tenant, in micro-dollars: its row (``drawn``, ``excess``) beside what the evidence says.

    ``recorded`` is what the draws add up to, returns deducted; ``spent`` and ``overrun`` are the charges within and
    above their reservations; ``open`` is what debates that are not over have drawn and not spent.
    """

    tenant: str
    period: str
    starts: date
    ceiling: MicroUSD | None
    drawn: MicroUSD
    excess: MicroUSD
    recorded: MicroUSD
    spent: MicroUSD
    overrun: MicroUSD
    open: MicroUSD

    @property
    def exact(self) -> bool:
        """Whether the row says what the evidence adds up to, and nothing is drawn that nobody has."""
        return self.drawn == self.recorded == self.spent + self.open and self.excess == self.overrun


class Balance(Struct, frozen=True):
    """The periods of tenants with limits, and the ids of debates whose own accounts do not agree."""

    periods: tuple[Period, ...]
    astray: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether every micro-dollar is where it should be."""
        return not self.astray and all(period.exact for period in self.periods)


def limited(budget: Budget) -> bool:
    """Whether a tenant's debates have to draw what they spend."""
    return budget.day is not None or budget.month is not None


async def left(database: Database, tenant: str, budgets: Budgets) -> list[Left]:
    """What each limit of a tenant leaves now, the month first; empty without limits. Raises `StoreUnavailable`."""
    budget = budgets.of(tenant)
    if not limited(budget):
        return []
    params = {"tenant": tenant, "zone": budgets.zone, "day": budget.day, "month": budget.month}
    rows = await database.query("left", params)
    whole = {"day": budget.day or 0, "month": budget.month or 0}
    return [
        Left(LIMITS[r["period"]], whole[r["period"]], r["remaining"], r["ends"].astimezone(UTC), r["ends_s"])
        for r in rows
    ]


def refuse_exhausted(limits: list[Left], needed: MicroUSD) -> None:
    """Raise `BudgetExhausted` for the first limit that leaves less than a debate needs to begin."""
    for found in limits:
        if found.amount >= needed:
            continue
        ends = found.ends.isoformat().replace("+00:00", "Z")
        telemetry.SUBMISSIONS_REFUSED.labels(limit=found.limit).inc()
        what = found.limit.removeprefix("tenant").lower()
        raise BudgetExhausted(
            f"the tenant's limit for the {what}, {usd(found.whole)} USD, leaves {usd(max(0, found.amount))} USD and "
            f"the debate needs {usd(needed)} USD to begin; the {what} ends at {ends}. {_advice(found, needed, what)}",
            limit=found.limit,
            left=found.amount,
            ends=ends,
            retry_after=min(RETRY_MAX_S, max(1, int(found.ends_s) + 1)),
        )


def _advice(found: Left, needed: MicroUSD, what: str) -> str:
    """Waiting helps where the whole limit would pay."""
    if found.whole < needed:
        return f"No {what} pays for it: have the limit raised, or choose cheaper models or shorter documents"
    return "Try again then, or when running debates have given back what they did not spend, or have the limit raised"


async def balance(database: Database, tenant: str | None = None) -> Balance:
    """Both sides of the accounts, of one tenant or of all. It reads every draw and charge: not for a request path.

    Each side is one snapshot, so it may be asked while debates run.
    """
    periods = await database.query("balance", {"tenant": tenant})
    astray = await database.query("astray", {"tenant": tenant})
    return Balance(tuple(Period(**row) for row in periods), tuple(str(row["debate"]) for row in astray))


async def check_zone(database: Database, budgets: Budgets) -> None:
    """Raise `SettingsError` for a zone that PostgreSQL does not know: it says when a day begins."""
    (row,) = await database.query("zone", {"zone": budgets.zone})
    if not row["known"]:
        raise SettingsError(
            f"expected in budgets.zone a time zone that PostgreSQL knows, such as UTC or Europe/London, found "
            f"{budgets.zone!r}; pg_timezone_names lists them all"
        )
