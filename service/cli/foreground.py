"""A debate with a caller at the keyboard: shown as it happens, aborted by Ctrl-C, ended at once by a second one.

It may run in this process or in a service. An error that stops its worker is reported at once, without a wait.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from service.cli import exit_codes, logs
from service.cli.access.port import JSON, Aborted, Service
from service.cli.access.problems import ServiceProblem
from service.cli.display.console import console, counted
from service.cli.display.progress import Progress
from service.cli.interruptions import Interruptions, interruptions
from service.debate.amounts import micro
from service.errors import GainsayError


async def review_case(service: Service, case: JSON, key: str | None = None) -> str | None:
    """Submit the case, follow it to its end, and return its debate; ``None`` where its calls were cancelled.

    Raises the error that stops the worker; the recorded entries of the debate stay.
    """
    with interruptions() as interrupted:
        debate = await _submit(service, case, key, interrupted)
        try:
            with logs.only_about(debate):
                return debate if await _run(service, debate, Progress(console(stderr=True)), interrupted) else None
        except ServiceProblem:
            words = f"debate {debate} is recorded, and goes on in {service.name} unless that says otherwise"
            exit_codes.print_error("unfollowed", f"{words}: `gainsay show {debate} --follow`, `gainsay abort {debate}`")
            raise


async def _submit(service: Service, case: JSON, key: str | None, interrupted: Interruptions) -> str:
    """The id of the case's debate. An interruption meanwhile is heard once the case is recorded, and can be aborted.

    Raises `Unsubmitted` at a second one.
    """
    submitting = asyncio.create_task(service.submit(case, key))
    first, second = (asyncio.create_task(event.wait()) for event in (interrupted.first, interrupted.second))
    try:
        await asyncio.wait((submitting, first), return_when=asyncio.FIRST_COMPLETED)
        if not submitting.done():
            words = f"waiting until {service.name} has recorded the case, to abort it; Ctrl-C again ends the command"
            exit_codes.print_error("interrupted", words)
            await asyncio.wait((submitting, second), return_when=asyncio.FIRST_COMPLETED)
        if not submitting.done():
            raise Unsubmitted(
                f"stopped by the keyboard before {service.name} answered; the case may have been recorded there: see "
                "`gainsay list`"
            )
        return (await submitting).debate
    finally:
        for task in (submitting, first, second):
            task.cancel()


async def _run(service: Service, debate: str, progress: Progress, interrupted: Interruptions) -> bool:
    """Run the debate to its end, or, after a second interruption, no further; say whether it has ended."""
    async with service.running(debate) as running:
        following = asyncio.create_task(show_events(service, debate, progress))
        first, second = (asyncio.create_task(event.wait()) for event in (interrupted.first, interrupted.second))
        try:
            await asyncio.wait((following, first, running.trouble), return_when=asyncio.FIRST_COMPLETED)
            progress.stop()
            if first.done() and not following.done():
                _print_aborted(found := await service.abort(debate, _why(interrupted)))
                progress.wait_for_calls(found.calls or 0)
                await asyncio.wait((following, second, running.trouble), return_when=asyncio.FIRST_COMPLETED)
            if not second.done() or following.done():
                await wait_over(debate, following, running.trouble)
                return True
            running.cancel()
        finally:
            progress.stop()
            for task in (following, first, second):
                task.cancel()
    _print_cancelled(await service.abort(debate, _why(interrupted)), running.closes)
    return False


async def show_events(service: Service, debate: str, progress: Progress) -> None:
    """Show every event as it comes, until the debate is over.

    An event of another version may lack what is shown of it. It is named, and what follows is shown.
    """
    async with aclosing(service.follow(debate)) as events:
        async for name, data in events:
            try:
                progress.show_event(name, data)
            except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
                exit_codes.print_error("unexpected_event", f"this version cannot show an event {name!r} ({error!r})")


def _why(interrupted: Interruptions) -> str:
    return f"stopped at the keyboard ({interrupted.name})"


def _print_aborted(found: Aborted) -> None:
    """Say what an abort did, what is waited for, and how to end that; calls in flight may still be charged."""
    if found.status != "aborted":
        exit_codes.print_error(
            "interrupted", f"too late to abort: the debate is {found.status}; spent {found.spent} USD"
        )
        return
    exit_codes.print_error("aborted", f"the debate was aborted; spent {found.spent} USD{_waited_for(found)}")


def _waited_for(found: Aborted) -> str:
    """What is waited for after an abort, and what a second interruption does; empty where there is nothing."""
    if found.calls is None:
        rest = f"; waiting for calls in flight, at most {found.held} USD more; Ctrl-C again leaves them to the service"
        return rest if micro(found.held) else ""
    if not found.calls:
        return ""
    return (
        f"; waiting for {counted(found.calls, 'call')} in flight, at most {found.held} USD more; "
        f"Ctrl-C again cancels {'it' if found.calls == 1 else 'them'} and books that as held"
    )


def _print_cancelled(found: Aborted, closes: str) -> None:
    """Say what the books hold after calls were cancelled, or left to a service."""
    if found.calls is None:
        rest = (
            f"; at most {found.held} USD more for calls in flight, which {closes} charges" if micro(found.held) else ""
        )
        words = f"no longer waiting; debate {found.debate} is aborted, spent {found.spent} USD{rest}"
        exit_codes.print_error("interrupted", words)
        return
    calls = counted(found.calls, "call")
    held = f"; {found.held} USD held for {calls}, which {closes} charges and closes" if micro(found.held) else ""
    exit_codes.print_error(
        "interrupted", f"calls cancelled; debate {found.debate} is aborted, spent {found.spent} USD{held}"
    )


class Unsubmitted(GainsayError):
    """The command was ended while a case was being submitted."""

    code = "interrupted"
    title = "The command was interrupted"


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
