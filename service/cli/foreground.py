"""A debate with a caller at the keyboard: shown as it happens, aborted by Ctrl-C, ended at once by a second one.

An error that stops its worker is reported at once, without a wait.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from service.app import App, open_app, running_sequencer, running_worker
from service.cli import exit_codes, logs, startup
from service.cli.display.console import console, counted
from service.cli.display.progress import Progress
from service.debate.amounts import usd
from service.errors import GainsayError
from service.intake.request import CaseRequest
from service.policy.settings import Settings
from service.report import Line, Result, events
from service.reviews.abort import Aborted
from service.running.worker import Worker, WorkerConfig, new_process_name
from service.store.startup import DatabaseAddresses

PROOF_S = 30.0
"""How long to wait until the end of a debate is provable; the debate itself may take longer."""


async def review_case(settings: Settings, where: DatabaseAddresses, case: CaseRequest) -> Result | None:
    """Submit the case, follow it to its end, and return the result; ``None`` where its calls were cancelled.

    Raises the error that stops the worker; the recorded entries of the debate stay.
    """
    progress = Progress(console(stderr=True))
    async with open_app(settings, where, pool=4) as opened, running_sequencer(opened):
        debate = (await opened.reviews.submit(case, startup.LOCAL)).debate
        # The embedded database may hold debates that an earlier command left; a shared one has its own workers.
        app, trouble = wait_finished(opened, only=debate if settings.database_url else None)
        with logs.only_about(debate), startup.interruptions() as interrupted:
            if not await _run(app, debate, progress, interrupted, trouble):
                _print_cancelled(await app.reviews.abort(debate, startup.LOCAL, _why(interrupted)))
                return None
            return await app.reviews.result(debate, startup.LOCAL)


async def _run(
    app: App,
    debate: str,
    progress: Progress,
    interrupted: startup.Interruptions,
    trouble: asyncio.Future[GainsayError],
) -> bool:
    """Run the debate to its end, or, after a second interruption, no further; say whether it has ended."""
    async with running_worker(app) as release:
        following = asyncio.create_task(_follow(app, debate, progress))
        first, second = (asyncio.create_task(event.wait()) for event in (interrupted.first, interrupted.second))
        try:
            await asyncio.wait((following, first, trouble), return_when=asyncio.FIRST_COMPLETED)
            progress.stop()
            if first.done() and not following.done():
                _print_aborted(found := await app.reviews.abort(debate, startup.LOCAL, _why(interrupted)))
                progress.wait_for_calls(found.calls)
                await asyncio.wait((following, second, trouble), return_when=asyncio.FIRST_COMPLETED)
            if second.done() and not following.done():
                release()
                release()  # the second time it cancels the calls
                return False
            await wait_over(debate, following, trouble)
            return True
        finally:
            progress.stop()
            for task in (following, first, second):
                task.cancel()


async def _follow(app: App, debate: str, progress: Progress) -> None:
    """Show every entry as it is recorded, until the debate is over."""
    lines: list[Line] = []
    async for line in app.reviews.follow(debate, startup.LOCAL, retry_window_s=PROOF_S):
        for name, data in events(line, debate, lines):
            progress.show_event(name, data)
        lines.append(line)


def _why(interrupted: startup.Interruptions) -> str:
    return f"stopped at the keyboard ({interrupted.name})"


def _print_aborted(found: Aborted) -> None:
    """Say what an abort did, what is waited for, and how to end that; calls in flight may still be charged."""
    if found.status != "aborted":
        exit_codes.print_error(
            "interrupted", f"too late to abort: the debate is {found.status}; spent {usd(found.spent)} USD"
        )
        return
    waiting = (
        f"; waiting for {counted(found.calls, 'call')} in flight, at most {usd(found.held)} USD more; "
        f"Ctrl-C again cancels {'it' if found.calls == 1 else 'them'} and books that as held"
        if found.calls
        else ""
    )
    exit_codes.print_error("aborted", f"the debate was aborted; spent {usd(found.spent)} USD{waiting}")


def _print_cancelled(found: Aborted) -> None:
    """Say what the books hold after calls were cancelled."""
    held = (
        f"; {usd(found.held)} USD held for {counted(found.calls, 'call')}, which the next `gainsay review`, `work` or "
        "`serve` on this database charges and closes"
        if found.calls
        else ""
    )
    exit_codes.print_error(
        "interrupted", f"calls cancelled; debate {found.debate} is aborted, spent {usd(found.spent)} USD{held}"
    )


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
