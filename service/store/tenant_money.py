"""What tenants have spent and have left, for the tenants that GAINSAY_METRICS_TENANTS names; all others are one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from service import telemetry
from service.debate.amounts import MICRO, MicroUSD
from service.errors import StoreUnavailable
from service.observing import labelled
from service.observing.labelled import OTHER
from service.policy import Budget, Budgets
from service.store.pool import Database
from service.telemetry import PERIODS

LOOK_S = 15.0
"""The interval of the measurement."""


class TenantMoney:
    """Measures until it is cancelled, by the limits in force.

    A tenant without a limit has no series: its spending is counted in no period.
    """

    def __init__(self, database: Database, budgets: Callable[[], Budgets]) -> None:
        self._database, self._budgets = database, budgets
        self._names = sorted(labelled.NAMED_TENANTS)

    async def run(self) -> None:
        """Measure periodically; while the database is away the gauges are NaN. Returns where no tenant is named."""
        while self._names:
            try:
                await self.measure()
            except StoreUnavailable:
                for metric in (telemetry.TENANT_LEFT, telemetry.TENANT_SPENT):
                    labelled.forget(*metric.every())
            await asyncio.sleep(LOOK_S)

    async def measure(self) -> None:
        """Measure once; raises `StoreUnavailable`."""
        budgets = self._budgets()
        own = {name: _limits(budget) for name, budget in budgets.tenants.items()}
        usual = _limits(budgets.others)
        params = {"names": self._names, "zone": budgets.zone, **usual}
        rows = await self._database.query("tenant_money", {**params, "whole": msgspec.json.encode(own).decode()})
        found = {(row["name"] or OTHER, row["period"]): row for row in rows}
        for tenant in (*self._names, OTHER):
            limits = usual if tenant == OTHER else own.get(tenant, usual)
            for period in PERIODS:
                row = found.get((tenant, period))
                left = limits[period] if row is None else row["remaining"]
                if left is not None:
                    telemetry.TENANT_LEFT.labels(tenant=tenant, period=period).set(left / MICRO)
                if left is not None or row is not None:
                    telemetry.TENANT_SPENT.labels(tenant=tenant, period=period).set(
                        0 if row is None else row["spent"] / MICRO
                    )


def _limits(budget: Budget) -> Mapping[str, MicroUSD | None]:
    return {"day": budget.day, "month": budget.month}
