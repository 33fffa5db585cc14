"""The states of a panel: whatever became of one, its history is stored, told in order, and names how it ended."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from service.prompts.request import Request
from service.report.events.panel import status
from service.report.result.terms import PanelTerms
from service.report.result.types import Result
from service.reviews import DebateQuery
from service.running.provider_port import Answer, CallFailed
from service.simulated import OfflineProvider
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, bench

PANEL: dict[str, Any] = {"options": {"format": "panel", "debaters": 3, "maxRounds": 3, "questionType": "business"}}
"""Of a type whose consensus needs marks, so that there is always a second round."""


class Deserting(OfflineProvider):
    """Answers the blind round, and no debater after it; ``holds`` lets the second round wait instead."""

    def __init__(self, *, deserts: bool = False, holds: bool = False) -> None:
        super().__init__()
        self.second = asyncio.Event()
        self._deserts, self._holds = deserts, holds

    async def send(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body, type=Request)
        if request.schema_id == "panel.deliberation":
            self.second.set()
            if self._deserts:
                raise CallFailed("overload", "try later", billable=False)
            if self._holds:
                await asyncio.sleep(0.3)
        return await super().send(body)


async def ended(service: Bench, state: str, provider: Deserting) -> Result:
    """What is read of a panel that was brought to a state."""
    debate = await service.submit(**PANEL)
    await service.claim(lease_s=30.0)
    running = asyncio.create_task((await service.runner(debate)).run())
    if state == "aborted":
        await provider.second.wait()
        unfinished = await service.reviews.result(debate, CALLER)
        assert (unfinished.status, len(unfinished.transcript)) == ("running", 3), "what was said so far can be read"
        await service.reviews.abort(debate, CALLER, "the deal is off")
    await running
    assert debate in [one.debate for one in (await service.reviews.find(DebateQuery(), CALLER)).debates]
    return await service.reviews.result(debate, CALLER)


@pytest.mark.parametrize(("state", "rounds"), [("completed", (2, 3)), ("failed", (1,)), ("aborted", (1, 2))])
async def test_whatever_became_of_a_panel_its_history_is_stored_and_tells_its_state(
    database: Database, state: str, rounds: tuple[int, ...]
) -> None:
    """The reference leaves out requests that nobody has signed in for; nobody has here, and all are kept."""
    provider = Deserting(deserts=state == "failed", holds=state == "aborted")
    async with bench(database.service_url, provider) as service:
        r = await ended(service, state, provider)

    assert isinstance(r.result, PanelTerms)
    completed = state == "completed"
    assert (r.status, status(r.status, synthesised=completed)) == (state, state)
    assert len([one for one in r.transcript if one.round == 1]) == 3
    assert r.result.rounds_completed == len(r.result.consensus) in rounds
    assert r.result.question_type == "business"
    assert (r.result.synthesis is not None, len(r.result.accuracy)) == (completed, 3 if completed else 0)
    assert len(r.result.missing) == (3 if state == "failed" else 0)
    assert r.overall_cost.spent_usd != "0.00"
