"""Under a scripted load with failures on real processes, every panel and every alert finds its data in Prometheus.

`make dashboards-preview` runs the same and draws what the panels showed into docs/dashboards/.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.dashboards.boards import boards, filled, queries
from tests.dashboards.load import under_load
from tests.dashboards.preview import draw_all
from tests.dashboards.rules import alerts
from tests.dashboards.scraping import NAMESPACE, Prometheus
from tests.dashboards.taken_apart import parts
from tests.fixtures.postgres import Database

pytestmark = [pytest.mark.no_replay, pytest.mark.timeout(300), pytest.mark.long]

VALUES = {
    "namespace": NAMESPACE,
    "task_type": ".*",
    "format": ".*",
    "model": ".*",
    "tenant": ".*",
    "window": "30m",
    "__rate_interval": "10s",
    "__range": "5m",
}
"""What Grafana would put in place of the variables, with the shortest windows that a load of a minute fills."""
WITHOUT_DATA: dict[str, str] = {}
"""Expressions that have no data here, by panel or alert, each with the reason."""


async def test_every_panel_and_every_alert_has_data_after_a_load_with_failures(
    database: Database, tmp_path: Path
) -> None:
    panels = [(str(query), query.expr) for board in boards().values() for query in queries(board)]
    compared = [(f"{rule.name}: {part}", part) for rule in alerts() for part in parts(rule.expr)]
    async with under_load(database, tmp_path) as found:
        empty = {name for name, expr in [*panels, *compared] if not await has_data(found.prometheus, expr)}
        if os.environ.get("GAINSAY_TEST_DASHBOARDS") == "draw":
            await draw_all(found.prometheus, VALUES)
    assert (len(panels) > 150, len(compared) > 50) == (True, True)
    if unexpected := sorted(empty ^ {*WITHOUT_DATA}):
        pytest.fail("\n".join(unexpected), pytrace=False)


async def has_data(prometheus: Prometheus, expr: str) -> bool:
    """Whether an expression gave a number at any time of the load."""
    return any(line.values for line in await prometheus.over_time(filled(expr, VALUES)))
