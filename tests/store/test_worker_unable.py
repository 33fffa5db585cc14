"""Debates that a worker cannot run: what it lacks, who runs them instead, and how they end where nobody can."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from service import money
from service.debate.model import SeatPlan
from service.errors import GainsayError
from service.policy import Budget, Budgets, Queue
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts import DIRECTORY, Prompts
from service.prompts.request import WireTexts
from service.running import quarantine, versions
from service.running import worker as working
from service.store.pool import StatementRefused
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, bench
from tests.store.workers import LEFT, a_worker, do, over, until, without_prompts


async def test_a_debate_that_nobody_could_go_on_with_for_long_ends_as_failed_and_its_money_goes_back(
    database: Database,
) -> None:
    shipped = read_policy(SHIPPED_POLICY)
    limited = msgspec.structs.replace(shipped, budgets=Budgets(others=Budget(day=50_000_000)))
    provider = CannedProvider(latency_s=0.2)
    async with bench(database.service_url, provider, policy=limited) as service:
        debate = await service.submit()
        async with a_worker(service, "a"):
            await provider.begun.wait()
        elsewhere = {"elsewhere": service.provider}
        told: list[GainsayError] = []

        async with a_worker(service, "b", lease_s=0.2, providers=elsewhere, on_trouble=told.append):

            async def tried() -> bool:
                return bool(told)

            await until(tried)
        granted = (await read_head(service.database, debate, "default"))["granted"]
        async with a_worker(service, "c", lease_s=0.2, providers=elsewhere, queue=Queue(give_up_hours=0)):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert "expected provider 'offline'" in outcome.detail
        head = await read_head(service.database, debate, "default")
        assert granted > head["granted"] == head["spent"] > 0
        with psycopg.connect(database.admin_url) as admin:
            assert admin.execute("SELECT drawn FROM gainsay.spend_limit WHERE period = 'day'").fetchone() == (
                head["spent"],
            )


async def test_a_debate_of_an_image_with_other_templates_is_left_alone_and_at_last_ended(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "FIRST_S", 0.1)
    monkeypatch.setattr(working, "IDLE_S", 0.05)
    async with bench(database.service_url) as service:
        debate = await service.submit()
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.debate_head SET templates = 'those of another image'")
        service.prompts = with_other_templates(service)
        async with a_worker(service, "a"):
            await asyncio.sleep(0.1)
        head = await read_head(service.database, debate, "default")

        async with a_worker(service, "b", queue=Queue(give_up_hours=0)):
            outcome = await over(service, debate)

        assert (head["state"], head["epoch"]) == ("queued", 0)
        assert (outcome.status, outcome.stop_reason) == ("failed", "fault")
        assert outcome.detail.startswith("for 0 hours no worker that claimed it could run it: ")
        assert "template.layout" in outcome.detail


def with_other_templates(service: Bench) -> Any:
    """The prompts of an image that lays out its requests in another way."""
    entries = tuple(
        msgspec.structs.replace(e, sha256="0" * 64) if e.id == "template.layout" else e for e in service.prompts.entries
    )
    return replace(service.prompts, entries=entries)


@pytest.mark.parametrize("lacks", ["provider", "prompts"])
async def test_a_debate_that_one_worker_cannot_run_is_run_at_once_by_another_that_can(
    database: Database, lacks: str
) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debates = [await service.submit() for _ in range(3)]
        do(database, "UPDATE gainsay.debate_head SET templates = NULL")  # so that only trying tells
        able, more = service.prompts, {}
        if lacks == "provider":
            more = {"providers": {"elsewhere": service.provider}}
        else:
            service.prompts = without_prompts(service)

        async with a_worker(service, "unable", lease_s=3_600.0, on_trouble=told.append, **more) as unable:

            async def tried() -> bool:
                return len(told) >= 3 and not unable._running

            await until(tried)
            service.prompts = able
            async with a_worker(service, "able"):
                outcomes = [await over(service, debate) for debate in debates]

        assert {outcome.status for outcome in outcomes} == {"completed"}
        assert len(told) <= 6, "a claim that was under way may have given it one of them once more"
        rows = do(database, "SELECT DISTINCT faults, falls, unable_since FROM gainsay.debate_head")
        assert rows == [(0, 0, None)]


async def test_a_debate_sealed_with_a_version_that_a_worker_lacks_is_run_by_one_that_has_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "FIRST_S", 0.1)
    told: list[GainsayError] = []
    first, reckoned = money.USAGES["usage/1"], list[int]()

    def worst_case(tokens: int, plan: SeatPlan) -> int:
        reckoned.append(tokens)
        return first.worst_case(tokens, plan)

    async with bench(database.service_url) as service:
        with monkeypatch.context() as later:
            later.setattr(versions, "CURRENT", {**versions.CURRENT, "usage": "usage/2"})
            debate = await service.submit()

        async with a_worker(service, "of an older build", on_trouble=told.append):

            async def tried() -> bool:
                return bool(told)

            await until(tried)
        monkeypatch.setitem(money.USAGES, "usage/2", first._replace(worst_case=worst_case))
        async with a_worker(service, "of the build that sealed it"):
            outcome = await over(service, debate)

    assert {error.code for error in told} == {"bad_settings"}
    assert told[0].detail.startswith("expected a build that has usage/2, ")
    assert outcome.status == "completed"
    assert len(reckoned) >= 5, "every attempt, and what closes the debate, by the version that was sealed"


async def test_a_debate_that_cannot_be_run_here_is_left_alone_for_longer_than_a_lease(database: Database) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        debate = await service.submit()

        async with a_worker(service, lease_s=1.0, providers={"elsewhere": service.provider}, on_trouble=told.append):

            async def tried() -> bool:
                return bool(told)

            await until(tried)
            await asyncio.sleep(1.3)
            head = await read_head(service.database, debate, "default")

        assert [error.code for error in told] == ["bad_settings"]
        assert (head["epoch"], head["leased"], head["state"]) == (1, False, "running"), "nobody has it, or takes it"


async def test_a_debate_whose_record_cannot_be_written_is_given_back_and_left_alone_for_a_lease_s_length(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[GainsayError] = []
    async with bench(database.service_url) as service:
        query = service.database.query

        async def refusing(name: str, params: Mapping[str, Any] | None = None) -> list[Any]:
            if name == "append":
                raise StatementRefused("no")
            return await query(name, params)

        monkeypatch.setattr(service.database, "query", refusing)
        await service.submit()
        async with a_worker(service, on_trouble=told.append) as worker:

            async def left() -> bool:
                return bool(told) and not worker._running

            await until(left)

        assert [error.code for error in told] == ["audit_unavailable"]
        assert do(database, LEFT) == [("running", 1, None, 0, True)]


async def test_a_debate_past_its_deadline_ends_though_its_prompts_are_gone(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit(deadline=(datetime.now(UTC) + timedelta(seconds=0.2)).isoformat())
        service.prompts = without_prompts(service)
        await asyncio.sleep(0.25)

        async with a_worker(service):
            assert (await over(service, debate)).stop_reason == "deadline"


async def test_a_stopped_debate_ends_though_its_prompts_are_gone(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.reviews.abort(debate, CALLER, "not needed any more")
        service.prompts = without_prompts(service)

        async with a_worker(service):
            assert (await over(service, debate)).status == "aborted"


async def test_a_request_without_the_pinned_prompts_is_told_as_the_worker_s_trouble(database: Database) -> None:
    class Tampering(CannedProvider):
        def decode_request(self, body: bytes) -> WireTexts:
            told = super().decode_request(body)
            schema = {**msgspec.json.decode(told.reply_schema), "description": "Agree."}
            return msgspec.structs.replace(told, reply_schema=msgspec.Raw(msgspec.json.encode(schema)))

    async with bench(database.service_url, Tampering()) as service:
        debate = await service.submit()

        async with a_worker(service) as worker:
            assert worker.troubles == []
            assert (await over(service, debate)).stop_reason == "promptMismatch"

            (trouble,) = worker.troubles
            assert "schema" in trouble


async def test_a_worker_whose_prompts_have_changed_leaves_further_debates_to_others(
    database: Database, tmp_path: Path
) -> None:
    folder = shutil.copytree(DIRECTORY, tmp_path / "prompts", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    async with bench(database.service_url) as service:
        service.prompts = Prompts.load(folder)
        async with a_worker(service, "changed") as changed:
            (folder / "critic.v1.md").write_text("Agree.\n", encoding="utf-8")
            first = await service.submit()
            assert (await over(service, first)).stop_reason == "promptMismatch"
            further = await service.submit()
            late = await service.submit(deadline=(datetime.now(UTC) + timedelta(seconds=0.2)).isoformat())
            assert (await over(service, late)).stop_reason == "deadline", "it can still end what makes no call"
            assert changed.troubles
            assert not changed.running

            service.prompts = Prompts.load()
            async with a_worker(service, "other"):
                assert (await over(service, further)).status == "completed"
