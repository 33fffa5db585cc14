"""A process that dies at any append, in every format: another one takes the debate up, and nothing is asked again."""

from __future__ import annotations

import pytest

from service.debate.entries import Entry, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import replay
from service.store.log import DebateLog, read_head
from tests.debates import outcome
from tests.end_to_end.test_parallel_turns import Turned
from tests.faults.test_crash import Death, DyingLog, asked_again, assert_ledger_is_head
from tests.postgres import Database
from tests.running import Bench, a_writer, bench
from tests.small_cases import CASES

pytestmark = pytest.mark.replay

APART = {"debater-1": 2, "debater-2": 1, "debater-3": 0}
"""Replies of one round arrive one by one, so that a process may die between any two of them."""


def spoken(entries: list[Entry]) -> list[str]:
    """Whose replies were recorded: once each, whatever the order."""
    return sorted(e.turn for e in entries if isinstance(e, TurnSpoke))


async def dies_and_goes_on(service: Bench, format_: str, dies_at: int, after: bool) -> tuple[str, bool]:
    """Whether the debate died at that append at all, after another worker has brought it to its end."""
    debate = await service.submit(**CASES[format_])
    await service.claim()
    log = DyingLog(await DebateLog.at(service.database, debate, a_writer("test"), 0.0), dies_at, after)
    try:
        await (await service.runner(debate, log)).run()
    except Death:
        if (await read_head(service.database, debate))["state"] == "running":
            assert await service.claim() == debate
            await (await service.runner(debate)).run()
        return debate, True
    return debate, False


@pytest.mark.timeout(180)
@pytest.mark.parametrize("format_", [name for name in CASES if name != "adversarial"])
@pytest.mark.parametrize("after", [False, True], ids=["before the append", "after the append"])
async def test_a_death_at_any_append_of_any_format_loses_no_reply_and_asks_none_again(
    database: Database, format_: str, after: bool
) -> None:
    async with bench(database.service_url, Turned(APART)) as service:
        undisturbed = await service.entries(await service.run(**CASES[format_]))
        assert outcome(undisturbed).status == "completed"

        deaths = 0
        for dies_at in range(1, 60):
            debate, died = await dies_and_goes_on(service, format_, dies_at, after)
            if not died:
                break
            deaths += 1

            entries = await service.entries(debate)
            ended = outcome(entries)
            assert ended.status == "completed"
            assert not asked_again(entries)
            assert len(spoken(entries)) == len(set(spoken(entries))) == len(Facts.of(entries).said)
            replay(await service.case(debate), entries)
            await assert_ledger_is_head(service, debate, entries)

        else:
            pytest.fail("the debate has more appends than were tried")

        assert deaths >= (4 if format_ == "ballot" else 6)
