"""What remains of tenants' limits, and whether the accounts agree.

PostgreSQL enforces the limits (migrations/0003_tenant_limits.sql); a debate allocates from them through its
`DebateLog`. This module only reads them: when a case is submitted, so that no case is queued that cannot be paid for,
and when the accounts are checked.

A debate takes its money in tranches. Each belongs to one day and one month, and a charge counts in the periods of the
tranches that it uses, so a period's row needs no update per attempt and is no hot spot. Near the limit tranches shrink.
The end of the debate returns the rest to the periods that it came from.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Literal

from msgspec import Struct

from service import telemetry
from service.debate.amounts import MicroUSD, usd
from service.errors import BudgetExhausted, SettingsError
from service.policy import Budget, Budgets
from service.store.pool import Database

RETRY_MAX_S = 86_400
"""The longest Retry-After: money returns when debates conclude, and limits may be raised before the period ends."""
LIMITS = {"day": "tenantDay", "month": "tenantMonth"}
"""The names of the limits in records and errors, by their period."""
BATCH = "batchCeiling"
"""The name of a batch's limit."""
Purpose = Literal["evaluation"]
"""What a debate is for that draws on limits of its own."""


class TenantAllowance(Struct, frozen=True):
    """What remains of one limit's ``whole`` now, in micro-dollars, and when its period ends."""

    limit: str
    whole: MicroUSD
    amount: MicroUSD
    ends: datetime
    ends_s: float


class PeriodUse(Struct, frozen=True):
    """A tenant's present day or month, in micro-dollars; without a limit ``whole`` is ``None``.

    ``drawn`` is what debates were allocated, returns deducted. ``held`` is the part of it that unfinished debates have
    not spent. ``excess`` was billed above reservations.
    """

    whole: MicroUSD | None
    drawn: MicroUSD
    excess: MicroUSD
    held: MicroUSD
    begins: datetime
    ends: datetime

    @property
    def spent(self) -> MicroUSD:
        """What was charged within reservations; never below 0, also where the row was corrected by hand."""
        return max(0, self.drawn - self.held)

    @property
    def left(self) -> MicroUSD | None:
        """What a debate may still be allocated: nothing where a limit was lowered below what is gone."""
        return None if self.whole is None else max(0, self.whole - self.drawn - self.excess)


class Period(Struct, frozen=True):
    """One day or month of a tenant, in micro-dollars: its row (``drawn``, ``excess``) beside the evidence.

    ``recorded`` is the sum of the tranches, returns deducted. ``spent`` and ``overrun`` are the charges within and
    above their reservations. ``open`` is what unfinished debates have been allocated and not spent.
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
        """Whether the row agrees with the evidence, and every allocation belongs to a debate."""
        return self.drawn == self.recorded == self.spent + self.open and self.excess == self.overrun


class BatchAccount(Struct, frozen=True):
    """The limit of one batch, in micro-dollars, beside the evidence, as a `Period`."""

    tenant: str
    batch: str
    ceiling: MicroUSD
    drawn: MicroUSD
    excess: MicroUSD
    recorded: MicroUSD
    spent: MicroUSD
    overrun: MicroUSD
    open: MicroUSD

    @property
    def exact(self) -> bool:
        """Whether the row agrees with the evidence, and nothing above the ceiling was spent."""
        agrees = self.drawn == self.recorded == self.spent + self.open and self.excess == self.overrun
        return agrees and self.spent <= self.ceiling


class Balance(Struct, frozen=True):
    """The periods of tenants with limits, the limits of batches, and the debates whose own accounts do not agree."""

    periods: tuple[Period, ...]
    astray: tuple[str, ...]
    batches: tuple[BatchAccount, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all accounts agree."""
        accounts: tuple[Period | BatchAccount, ...] = (*self.periods, *self.batches)
        return not self.astray and all(account.exact for account in accounts)


def limited(budget: Budget) -> bool:
    """Whether a tenant's debates need allocations."""
    return budget.day is not None or budget.month is not None


async def remaining(database: Database, tenant: str, budgets: Budgets) -> list[TenantAllowance]:
    """What remains of each limit of a tenant, the month first; empty without limits. Raises `StoreUnavailable`."""
    budget = budgets.of(tenant)
    if not limited(budget):
        return []
    params = {"tenant": tenant, "zone": budgets.zone, "day": budget.day, "month": budget.month}
    rows = await database.query("left", params)
    whole = {"day": budget.day or 0, "month": budget.month or 0}
    return [
        TenantAllowance(LIMITS[r["period"]], whole[r["period"]], r["remaining"], r["ends"].astimezone(UTC), r["ends_s"])
        for r in rows
    ]


async def use_of(
    database: Database, tenant: str, budgets: Budgets, own: Budget | None = None, purpose: Purpose | None = None
) -> dict[str, PeriodUse]:
    """The tenant's present ``day`` and ``month``, in one snapshot. Raises `StoreUnavailable`.

    With a ``purpose`` they are those of its evaluations, whose ``own`` limits are apart from the tenant's.
    """
    budget = own or budgets.of(tenant)
    whole = {"day": budget.day, "month": budget.month}
    rows = await database.query("budget", {"tenant": tenant, "zone": budgets.zone, "purpose": purpose})
    return {
        r["period"]: PeriodUse(
            whole[r["period"]],
            r["drawn"],
            r["excess"],
            r["held"],
            r["begins"].astimezone(UTC),
            r["ends"].astimezone(UTC),
        )
        for r in rows
    }


def refuse_exhausted(limits: list[TenantAllowance], needed: MicroUSD) -> None:
    """Raise `BudgetExhausted` for a limit with less remaining than a debate needs to begin.

    One that is too small as a whole comes first: waiting for another one would not help.
    """
    for found in sorted(limits, key=lambda limit: limit.whole >= needed):
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
            ever=found.whole >= needed,
        )


def _advice(found: TenantAllowance, needed: MicroUSD, what: str) -> str:
    """The advice: waiting helps only if the whole limit would pay."""
    if found.whole < needed:
        return f"The limit is too small for any {what}: raise it, or choose cheaper models or shorter documents"
    return "Try again then, or when running debates have returned what they did not spend, or raise the limit"


async def balance(database: Database) -> Balance:
    """Both sides of the accounts of all tenants.

    It reads every tranche and charge, so it does not belong in a request. Each side is one snapshot, so it may run
    while debates run.
    """
    periods = await database.query("balance")
    astray = await database.query("astray")
    batches = await database.query("batch_balance")
    return Balance(
        tuple(Period(**row) for row in periods),
        tuple(str(row["debate"]) for row in astray),
        tuple(BatchAccount(**{**row, "batch": str(row["batch"])}) for row in batches),
    )


async def check_zone(database: Database, budgets: Budgets) -> None:
    """Raise `SettingsError` for a zone that PostgreSQL does not know: the zone says when a day begins."""
    (row,) = await database.query("zone", {"zone": budgets.zone})
    if not row["known"]:
        raise SettingsError(
            f"expected in budgets.zone a time zone that PostgreSQL knows, such as UTC or Europe/London, found "
            f"{budgets.zone!r}; pg_timezone_names lists them all"
        )
