"""What so many debates need follows from what one costs, and docs/scale.md shows what was measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import report, sizing
from bench.figures import rewritten
from bench.sizing import Connections, Cost, culprit, most_an_hour, need, saturates

COST = Cost(
    api_ms=4,
    worker_ms=20,
    sequencer_ms=2,
    postgres_ms=10,
    statements=5,
    transactions=12,
    wal=50_000,
    stored=60_000,
    stored_per_character=0.5,
    characters=4_000,
)
EACH = Connections(worker=5, others=16)


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sizing.KEPT.read_text("utf-8"))
    return found


def test_the_document_has_the_figures_that_were_measured() -> None:
    document = sizing.DOCUMENT.read_text("utf-8")
    written = rewritten(document, sizing.BEGIN, sizing.tables(kept()))

    assert written == document, "write them with: python -m bench.sizing"


@pytest.mark.parametrize("row", ["worker", "api"])
def test_a_change_of_speed_asks_for_new_figures(row: str) -> None:
    """docs/performance.md has the same costs, measured apart: where they differ by half, one of them is old."""
    rows, cost = json.loads(report.KEPT.read_text("utf-8"))["http"]["rows"], Cost(**kept()["cost"])
    here = {"worker": cost.worker_ms * 4 / 5, "api": cost.api_ms}[row]

    assert 1 / 1.5 < here / rows[row]["value"] < 1.5, "measure again: make scale, make bench ONLY=http DOCS=1"


def test_debates_that_wait_ask_for_workers_by_how_many_each_holds() -> None:
    """3,600 an hour are one a second, so 120 are under way where each takes 120 s."""
    one = need(3_600, COST, EACH, at_once=50, debate_s=120)

    assert one.held == 120
    assert (one.workers, one.workers_by_cpu, one.apis) == (3, 1, 2)
    assert one.connections == 3 * 5 + 2 * 16
    assert one.sequencer_busy == pytest.approx(0.002)
    assert one.postgres_busy == pytest.approx(0.01)
    assert one.wal_a_second == 50_000
    assert one.day == pytest.approx(3_600 * 24 * (60_000 + 0.5 * 96_000))


def test_debates_that_compute_ask_for_workers_by_their_cpu() -> None:
    one = need(360_000, COST, EACH, at_once=50, debate_s=0.1)

    assert one.workers == one.workers_by_cpu == 4  # 100 a second x 20 ms, half a core each
    assert one.apis == 2
    assert need(10, COST, EACH, at_once=50).workers == 2


def test_one_core_does_so_many_an_hour() -> None:
    assert most_an_hour(20) == 180_000


def test_the_step_that_brought_less_than_a_tenth_more_is_saturation() -> None:
    assert saturates([10, 20, 21]) == 2
    assert saturates([10, 9]) == 1
    assert saturates([10, 20, 30]) is None
    assert saturates([10]) is None


@pytest.mark.parametrize(
    ("step", "named"),
    [
        ({"machine": 0.95, "worker": 0.5, "waits": {"LWLock: WALWrite": 3.0}}, "the cores of the machine"),
        ({"machine": 0.5, "worker": 0.97, "waits": {}}, "the one thread of each worker"),
        ({"machine": 0.5, "worker": 0.5, "waits": {"IO: WalSync": 0.4, "Lock: tuple": 2.0}}, "wait for Lock: tuple"),
        ({"machine": 0.5, "worker": 0.5, "waits": {}}, "none of what is watched"),
    ],
)
def test_what_had_no_room_left_is_named(step: dict[str, Any], named: str) -> None:
    assert named in culprit(step)
