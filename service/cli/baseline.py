"""``gainsay baseline``: what a usual number of explicit uncertainties is, counted and recorded for an alert."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import print_json, say, unbroken
from service.store.baseline import DEBATES_MIN, Baseline, Counted, baselines, count, keep
from service.store.clock import database_time
from service.store.pool import Database

T = TypeVar("T")
DAY_S = 86_400
BY_MAX = 200


@click.group()
def baseline() -> None:
    """Record, by task type, how many explicit uncertainties are usual; show what is recorded.

    An alert compares what debates have now with this (docs/runbook.md). It is silent until there is a baseline.
    """


@baseline.command()
@click.option("--task-type", required=True, metavar="TYPE", help="The task type, as policy names it.")
@click.option("--days", type=click.IntRange(1, 3660), default=90, show_default=True, help="The last so many days.")
@click.option("--by", required=True, metavar="TEXT", help="Who records it. It stands beside the baseline for good.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def record(task_type: str, days: int, by: str, yes: bool) -> int:
    """Count the debates of a task type, show the mean of their explicit uncertainties, and record it.

    Debates of all tenants count that began in these days, are over, and have the answer of a closing seat; the
    prober's do not. Fewer than 20 are refused. A baseline is never changed: a later one takes its place, and
    both stay.

    \b
    gainsay baseline record --task-type contract --days 90 --by "Ada Lovelace"
    Exit codes: 0 recorded, 1 too few debates, 2 usage, 3 failed.
    """
    place.refuse_server("baseline record")
    if not by.strip() or len(by) > BY_MAX:
        raise click.UsageError(f"--by: expected 1 to {BY_MAX} characters that say who records it")
    counted = _on_database(lambda database: _counted(database, task_type, days))
    say(_measured(counted, days))
    if counted.debates < DEBATES_MIN:
        say(f"not recorded: a baseline needs {DEBATES_MIN} debates; widen --days, or wait for more")
        return exit_codes.NEGATIVE
    if not yes:
        click.confirm("Record this as the baseline?", abort=True)
    at = _on_database(lambda database: keep(database, counted, by))
    say(f"recorded at {at.isoformat(timespec='seconds')} by {unbroken(by)}")
    return exit_codes.DONE


@baseline.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, the baseline in force first by task type.")
def show(as_json: bool) -> int:
    """Show every recorded baseline: for each task type first the one in force, then those before it."""
    place.refuse_server("baseline show")
    found = _on_database(baselines)
    if as_json:
        print_json([_as_json(one) for one in found])
        return exit_codes.DONE
    before = None
    for one in found:
        state = "in force" if one.task_type != before else "before"
        say(_line(one, state))
        before = one.task_type
    if not found:
        say("no baseline is recorded; see `gainsay baseline record --help`")
    return exit_codes.DONE


async def _counted(database: Database, task_type: str, days: int) -> Counted:
    now = (await database_time(database)).now()
    return await count(database, task_type, now - days * DAY_S, now)


def _on_database(work: Callable[[Database], Awaitable[T]]) -> T:
    """What the work returns on the database of the settings."""

    async def done(url: str) -> T:
        async with Database.open(url, size=1) as database:
            return await work(database)

    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        return asyncio.run(done(url))


def _measured(counted: Counted, days: int) -> str:
    return unbroken(
        f"{counted.task_type}: {counted.mean:.3f} explicit uncertainties a debate, in {counted.debates} debates of the "
        f"last {days} days"
    )


def _line(one: Baseline, state: str) -> str:
    window = f"{one.since.date()} to {one.until.date()}"
    return unbroken(
        f"{one.task_type}: {one.mean:.3f} a debate, {one.debates} debates from {window}, recorded "
        f"{one.recorded.isoformat(timespec='seconds')} by {one.recorded_by} ({state})"
    )


def _as_json(one: Baseline) -> dict[str, object]:
    return {
        "taskType": one.task_type,
        "mean": round(one.mean, 6),
        "debates": one.debates,
        "uncertainties": one.uncertainties,
        "since": one.since.isoformat(),
        "until": one.until.isoformat(),
        "recorded": one.recorded.isoformat(),
        "recordedBy": one.recorded_by,
    }
