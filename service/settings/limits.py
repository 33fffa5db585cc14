"""Limits on money, time and numbers: [budgets], [calls] and [queue]."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

from service.debate.money import MicroUSD
from service.policy import Budget, Budgets, Calls, Queue
from service.settings.lines import Path
from service.settings.reading import (
    WrittenBudget,
    WrittenBudgets,
    WrittenCalls,
    WrittenQueue,
    Wrong,
    money,
    ranges,
    read,
)

UNLIMITED = "unlimited"
TENANT_MAX = 200
_ZONE = re.compile(r"[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,3}")
"""Names as IANA writes them: no path, and none of the folders that only machines have (posix, right, localtime)."""


def read_budgets(written: Any) -> Budgets:
    """The tenants' limits; raises `Wrong`. What a named tenant's table leaves out is as for all others."""
    path: Path = ("budgets",)
    table = read(written, WrittenBudgets, path)
    _zone((*path, "zone"), table.zone)
    others = _budget(table.day_usd, table.month_usd, path, Budget())
    tenants = {}
    for name, inner in table.tenants.items():
        inside = (*path, "tenants", name)
        if not (name.strip() and name.isprintable() and len(name) <= TENANT_MAX):
            raise Wrong(inside, f"expected a tenant's name of at most {TENANT_MAX} printable characters")
        own = read(inner, WrittenBudget, inside)
        tenants[name] = _budget(own.day_usd, own.month_usd, inside, others)
    return Budgets(table.zone, others, tenants)


def _budget(day: str | None, month: str | None, path: Path, others: Budget) -> Budget:
    budget = Budget(_limit((*path, "day_usd"), day, others.day), _limit((*path, "month_usd"), month, others.month))
    if budget.day is not None and budget.month is not None and budget.day > budget.month:
        raise Wrong((*path, "day_usd"), "a day's limit above the month's limits nothing; correct one of the two")
    return budget


def _limit(path: Path, written: str | None, others: MicroUSD | None) -> MicroUSD | None:
    if written is None:
        return others
    return None if written == UNLIMITED else money(path, written)


def _zone(path: Path, zone: str) -> None:
    """UTC needs no data; of any other zone the beginning of a day has to be known here and now."""
    if zone == "UTC":
        return
    known = False
    if _ZONE.fullmatch(zone):
        try:
            ZoneInfo(zone)
            known = True
        except (LookupError, OSError, ValueError):  # no such file, a folder, a file that is no zone
            known = False
    if not known:
        raise Wrong(
            path,
            f"expected a time zone by its IANA name, such as Europe/London, found {zone!r}, which this machine does "
            "not know; correct it, install the system's time zone data, or use UTC",
        )


def read_calls(written: Any) -> Calls:
    """How often and how long a model is asked; raises `Wrong`."""
    path: Path = ("calls",)
    table = read(written, WrittenCalls, path)
    ranges(path, table, {"turn_deadline_s": (1, 3_600), "backoff_ms": (1, 600_000), "backoff_max_ms": (1, 600_000)})
    if table.backoff_max_ms < table.backoff_ms:
        raise Wrong((*path, "backoff_max_ms"), f"expected at least backoff_ms, {table.backoff_ms}")
    return Calls(table.turn_deadline_s, table.backoff_ms, table.backoff_max_ms)


def read_queue(written: Any) -> Queue:
    """How many debates run and wait; raises `Wrong`."""
    path: Path = ("queue",)
    table = read(written, WrittenQueue, path)
    ranges(
        path,
        table,
        {
            "running_per_worker": (1, 10_000),
            "waiting": (1, 1_000_000),
            "waiting_per_tenant": (1, 1_000_000),
            "give_up_hours": (1, 8_760),
        },
    )
    per_tenant: int | None = None
    if isinstance(table.running_per_tenant, int):
        ranges(path, table, {"running_per_tenant": (1, 1_000_000)})
        per_tenant = table.running_per_tenant
    elif table.running_per_tenant != UNLIMITED:
        raise Wrong((*path, "running_per_tenant"), f'expected a whole number or "{UNLIMITED}"')
    return Queue(table.running_per_worker, per_tenant, table.waiting, table.waiting_per_tenant, table.give_up_hours)
