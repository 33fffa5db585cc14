"""How models did in panels: noted when one concludes, made anew from the records, and a tenant's own alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest

from service.debate.entries import DebateConcluded, DebateStarted
from service.debate.options import PanelOptions, TrackRecord
from service.debate.results import PanelResult
from service.intake.model_ranking import Standing
from service.proving.row_check import RowCheck
from service.simulated import OfflineProvider
from service.store.impact import standings
from service.store.rebuild import rebuild
from tests.fixtures.postgres import Database as Place
from tests.fixtures.running import Bench, bench

BUILD = "00" * 32
ELSEWHERE = "01930000-0000-7000-8000-000000000001"
OPTIONS = {"debaters": 2, "maxRounds": 2, "questionType": "factual"}
PANEL: dict[str, Any] = {"options": {"format": "panel", **OPTIONS}}


@pytest.fixture
async def running(database: Place) -> AsyncIterator[Bench]:
    """A service whose models answer whatever the format asks."""
    async with bench(database.service_url, OfflineProvider()) as running:
        yield running


@pytest.fixture
def owner(database: Place) -> Iterator[psycopg.Connection[Any]]:
    """A superuser, whom nothing stops."""
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as connection:
        yield connection


def rows(owner: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return owner.execute("SELECT * FROM track_record ORDER BY tenant, debate, model").fetchall()


async def test_a_panel_that_concludes_leaves_one_row_for_each_model_and_its_next_one_goes_by_them(
    running: Bench, owner: psycopg.Connection[Any]
) -> None:
    debate = await running.run(**PANEL)
    entries = await running.entries(debate)
    (started,) = [entry for entry in entries if isinstance(entry, DebateStarted)]
    (concluded,) = [entry for entry in entries if isinstance(entry, DebateConcluded)]
    result = concluded.outcome.result
    assert isinstance(result, PanelResult)
    scores = {
        started.seat(one.seat).model: (
            one.factual_accuracy,
            one.logical_consistency,
            one.evidence_quality,
            one.trajectory_score,
        )
        for one in result.accuracy
    }

    noted = {row[2]: row[3:] for row in rows(owner)}
    known = await standings(running.database, "default")
    again = await running.submit(**PANEL)
    (restarted,) = [entry for entry in await running.entries(again) if isinstance(entry, DebateStarted)]

    assert len(scores) == 2
    assert noted == {model: ("factual", *points, True) for model, points in scores.items()}
    assert set(known) == {Standing("factual", model, 1, 4, sum(points)) for model, points in scores.items()}
    assert await standings(running.database, "another") == ()
    assert isinstance(restarted.options, PanelOptions)
    assert {r.model: r for r in restarted.options.track_records if r.debates} == {
        model: TrackRecord(model, 1, (sum(points) * 10 // 4 + 5 * 500) // 6) for model, points in scores.items()
    }


async def test_what_was_not_checked_counts_in_no_mean(running: Bench, owner: psycopg.Connection[Any]) -> None:
    debate = await running.run(**PANEL, documents=[])
    (concluded,) = [entry for entry in await running.entries(debate) if isinstance(entry, DebateConcluded)]
    assert isinstance(concluded.outcome.result, PanelResult)
    given = [one.factual_accuracy for one in concluded.outcome.result.accuracy]
    conduct = [
        one.logical_consistency + one.evidence_quality + one.trajectory_score
        for one in concluded.outcome.result.accuracy
    ]

    known = await standings(running.database, "default")
    assert any(given)  # the record has a number, from the marks of the others alone
    assert [row[-1] for row in rows(owner)] == [False, False]
    assert sorted((each.scores, each.points) for each in known) == sorted((3, points) for points in conduct)
    assert {each.mean for each in known} == {points * 10 // 3 for points in conduct}
    assert await RowCheck(running.database, 24, BUILD).round() == 0
    owner.execute("UPDATE track_record SET factual_checked = true")  # as a version before this column left it
    assert await RowCheck(running.database, 24, "11" * 32).round() == 0
    assert await RowCheck(running.database, 24, BUILD).round() == 1


CHANGES = {
    "nothing": (),
    "every row": ("DELETE FROM track_record",),
    "a forged score": ("UPDATE track_record SET trajectory_score = 100 - trajectory_score / 2",),
    "a check that was none": ("UPDATE track_record SET factual_checked = false",),
    "another tenant's": ("UPDATE track_record SET tenant = 'another'",),
    "a model that did not speak": (
        "INSERT INTO track_record SELECT tenant, debate, 'nobody', question_type, 1, 1, 1, 1 FROM track_record LIMIT 1",
    ),
    "a debate that is not there": (
        f"INSERT INTO track_record VALUES ('default', '{ELSEWHERE}', 'm', 'factual', 1, 1, 1, 1)",
    ),
}


async def test_track_records_are_made_anew_from_the_records(running: Bench, owner: psycopg.Connection[Any]) -> None:
    await running.run(**PANEL)
    before = rows(owner)
    for name, statements in CHANGES.items():
        for statement in statements:
            owner.execute(statement.encode())
        changed = rows(owner)

        told = await rebuild(running.database)

        assert (changed != before, rows(owner)) == (bool(statements), before), name
        assert bool(told.added or told.removed) == bool(statements), name
        assert told.troubles == [], name


async def test_only_the_newest_of_many_track_records_count(running: Bench, owner: psycopg.Connection[Any]) -> None:
    owner.execute(
        "INSERT INTO track_record SELECT 'default', gen_random_uuid(), 'old', 'belief', 1, 1, 1, 1"
        " FROM generate_series(1, 10)"
    )
    owner.execute("UPDATE track_record SET debate = overlay(debate::text placing '00000000' from 1 for 8)::uuid")
    owner.execute(
        "INSERT INTO track_record SELECT 'default', overlay(gen_random_uuid()::text placing 'ffffffff' from 1 for 8)"
        "::uuid, 'new', 'belief', 100, 100, 100, 100 FROM generate_series(1, 10000)"
    )

    assert await standings(running.database, "default") == (Standing("belief", "new", 10_000, 40_000, 4_000_000),)
