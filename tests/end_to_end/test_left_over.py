"""Attempts and replies that a worker left behind are settled whatever the next worker lacks. On real PostgreSQL."""

import asyncio
from contextlib import suppress

import pytest
from msgspec.structs import replace

from service.debate.entries import AttemptFailed
from service.errors import SettingsError
from service.store.stored_debate import read_head
from tests.end_to_end.test_attempts import a_policy
from tests.end_to_end.test_debates import outcome_of
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, bench
from tests.fixtures.waiting import within


async def test_an_attempt_whose_worker_died_is_settled_by_a_worker_that_lacks_its_provider(database: Database) -> None:
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        dying = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        dying.cancel()
        with suppress(asyncio.CancelledError):
            await dying
        service.providers = {"another": provider}
        await service.claim()
        with pytest.raises(SettingsError):
            await (await service.runner(debate)).run()

        head = await read_head(service.database, debate, "default")
        assert (head["held"], head["spent"] > 0) == (0, True)
        (failed,) = [e for e in await service.entries(debate) if isinstance(e, AttemptFailed)]
        assert (failed.reason, failed.charge.basis) == ("lost", "reserved")


async def test_a_debate_does_without_a_fallback_whose_provider_is_gone(database: Database) -> None:
    policy = a_policy(critic="spare")
    spare = replace(policy.models["cedar-small"], alias="spare", provider="cedars")
    providers = {**policy.providers, "cedars": policy.providers["offline"]}
    policy = replace(policy, models={**policy.models, "spare": spare}, providers=providers)
    async with bench(database.service_url, policy=policy, providers={"offline": CannedProvider()}) as service:
        debate = await service.run()

        assert (await outcome_of(service, debate)).status == "completed"


async def test_an_abort_is_heard_while_a_vendor_is_looked_at_again_and_again(database: Database) -> None:
    """Whoever waits for another's probe of a vendor is told to ask again soon, many times over."""

    class Probed(CannedProvider):
        def backoff_s(self, model: str) -> float:
            self.begun.set()
            return 0.05

    provider = Probed()
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim()
        run = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()
        await service.reviews.abort(debate, CALLER, "no longer wanted")

        outcome = await within(10, run)

        assert outcome is not None
        assert outcome.status == "aborted"
