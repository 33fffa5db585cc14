"""A worker of this process for a debate with a caller at the keyboard: what stops it is reported at once."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from service.app import App
from service.errors import GainsayError
from service.policy.file.tenants import all_budgets, all_evaluation_budgets, confined
from service.running.worker import Worker, WorkerConfig, new_process_name


def wait_finished(app: App, only: str | None) -> tuple[App, asyncio.Future[GainsayError]]:
    """The app with a worker of its own, and a future for the error that stops that worker."""
    trouble: asyncio.Future[GainsayError] = asyncio.get_running_loop().create_future()

    def note(error: GainsayError) -> None:
        if not trouble.done():
            trouble.set_result(error)

    settings, build = app.settings, app.reviews.deployment.build_hash
    of = {"budgets": all_budgets(settings.policy, settings.tenants), "confined": confined(settings.tenants)}
    of["items"] = all_evaluation_budgets(settings.policy, settings.tenants)
    config = WorkerConfig.of(settings.policy, new_process_name(), settings.lease_s, build, **of)
    config = replace(config, only=only)
    worker = Worker(app.database, app.hub, app.prompts, app.providers, config, on_trouble=note)
    return replace(app, worker=worker), trouble
