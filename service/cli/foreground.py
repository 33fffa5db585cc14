"""A debate with a caller at the keyboard: an error that stops its worker is reported at once, without a wait."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from service.app import App
from service.errors import GainsayError
from service.running.worker import Worker, WorkerConfig, new_process_name


def wait_finished(app: App, only: str | None) -> tuple[App, asyncio.Future[GainsayError]]:
    """The app with a worker of its own, and a future for the error that stops that worker."""
    trouble: asyncio.Future[GainsayError] = asyncio.get_running_loop().create_future()

    def note(error: GainsayError) -> None:
        if not trouble.done():
            trouble.set_result(error)

    settings, build = app.settings, app.reviews.deployment.build_hash
    config = replace(WorkerConfig.of(settings.policy, new_process_name(), settings.lease_s, build), only=only)
    worker = Worker(app.database, app.hub, app.prompts, app.providers, config, on_trouble=note)
    return replace(app, worker=worker), trouble


class DebateUnfinished(GainsayError):
    """The worker cannot continue a debate."""

    code = "debate_unfinished"
    title = "The debate could not be finished"


async def wait_over(debate: str, following: asyncio.Task[None], trouble: asyncio.Future[GainsayError]) -> None:
    """Wait for the end of a debate; raises `DebateUnfinished` if its worker cannot continue it."""
    await asyncio.wait((following, trouble), return_when=asyncio.FIRST_COMPLETED)
    if not following.done():
        raise _unfinished(debate, trouble.result())
    await following


def _unfinished(debate: str, why: GainsayError) -> DebateUnfinished:
    return DebateUnfinished(
        f"debate {debate} is recorded but not finished, because: {why.detail}. The next worker on this database claims "
        "it: run `gainsay work`, `gainsay serve` or another review"
    )
