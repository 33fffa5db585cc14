"""A debate that is over is freed at once: nothing of it waits for a search for garbage."""

from __future__ import annotations

import gc
from weakref import ref

from tests.fixtures.postgres import Database as Stored
from tests.fixtures.running import bench


async def test_what_a_runner_knows_of_a_debate_goes_with_the_runner(database: Stored) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        assert await service.claim() == debate
        runner = await service.runner(debate)
        gc.disable()
        try:
            outcome = await runner.run()
            runner_lives, facts_live = ref(runner), ref(runner.facts)
            del runner
            assert (runner_lives(), facts_live()) == (None, None)
        finally:
            gc.enable()

        assert outcome is not None
        assert outcome.status == "completed"
