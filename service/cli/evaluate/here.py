"""Evaluations on the database of this machine, or on that of GAINSAY_DATABASE_URL, gone on with by this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click
from msgspec.structs import replace

from service.cli import exit_codes
from service.cli.access import place
from service.cli.display import evaluations as display
from service.cli.evaluate.plan_faults import print_faults
from service.cli.evaluate.sets import today
from service.cli.help_sections import Decorated, option
from service.cli.interruptions import interruptions
from service.cli.terminal_text import say
from service.errors import GainsayError
from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.sets.faults import BadSet
from service.policy.set_folders import SetFolder

if TYPE_CHECKING:
    from service.app import App
    from service.identity.caller import Caller
    from service.proving.sequencer import Sequencer
    from service.reviews.evaluations import EvaluationDesk, Planned

FILE, RUN = "The plan", "The run"
LOOK_S, SHOWN_S = 0.2, 5.0
"""How often the command asks how an evaluation stands, and how often it says so at most."""
SEAL_S = 10.0
"""For so long the end of a command waits for the checkpoint over what it has recorded."""
T = TypeVar("T")


class Here(NamedTuple):
    """What the commands of evaluations work with: the app, the desk, and who asks."""

    app: App
    desk: EvaluationDesk
    caller: Caller


def sets_option(command: Decorated) -> Decorated:
    """Give a command the option ``--sets``."""
    return option(
        FILE,
        "--sets",
        "folders",
        multiple=True,
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="The folder of a set of your own; more than once for several.",
    )(command)


def held_option(command: Decorated) -> Decorated:
    """Give a command the option ``--held``."""
    return option(FILE, "--held", is_flag=True, help="Act as a validator: the plan may ask the split held.")(command)


def perform(command: str, folders: Sequence[Path], work: Callable[[Here], Awaitable[T]], *, held: bool = False) -> T:
    """What the work returns; raises `SettingsError` where GAINSAY_SERVER is set and no database is named."""
    place.refuse_server(f"evaluate {command}")
    from service.cli import beginning

    settings = beginning.read()
    given = _fit((*(SetFolder(folder.absolute()) for folder in folders), *settings.evaluation_sets))
    with beginning.database(settings, quiet=True) as where:
        from service.app import open_app, running_sequencer
        from service.cli import startup
        from service.reviews.evaluation_sets import GoldenShelf
        from service.reviews.evaluations import EvaluationDesk
        from service.store.current_log import CurrentLogs

        async def done() -> T:
            async with open_app(settings, where, asks=False) as app, running_sequencer(app) as sequencer:
                caller = startup.LOCAL
                caller = replace(caller, roles=(*caller.roles, "validator")) if held else caller
                logs = CurrentLogs(app.database, settings.log_host)
                desk = EvaluationDesk(app.database, app.current.deployment, logs, GoldenShelf(given))
                try:
                    return await work(Here(app, desk, caller))
                finally:
                    await _seal(sequencer)

        return asyncio.run(done())


def _fit(folders: Sequence[SetFolder]) -> Sequence[SetFolder]:
    """The folders, each once; where a set has faults, prints each, and raises `click.exceptions.Exit`."""
    from service.reviews.evaluation_sets import unfit_sets

    found = tuple({folder.path: folder for folder in reversed(folders)}.values())
    if faults := unfit_sets(found, today()):
        for fault in faults:
            exit_codes.print_error(BadSet.code, fault)
        raise click.exceptions.Exit(exit_codes.USAGE)
    return found


async def _seal(sequencer: Sequencer | None) -> None:
    """Have all that is recorded signed, where this process does: the next one would call what waits for it late."""
    if sequencer is None:
        return
    try:
        async with asyncio.timeout(SEAL_S):
            await sequencer.catch_up()
    except (GainsayError, TimeoutError) as error:
        why = error.public_detail if isinstance(error, GainsayError) else f"nothing was signed within {SEAL_S:.0f} s"
        say(f"gainsay: what was recorded last waits for its checkpoint, which the next process signs: {why}", err=True)


def text_of(path: Path) -> str:
    """The text of a plan file; raises `click.UsageError`."""
    try:
        return path.read_bytes().decode("utf-8-sig")  # some editors begin a file with a mark of its encoding
    except OSError as error:
        raise click.UsageError(f"expected a plan at {path}, and it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"expected a plan in UTF-8 at {path}, found other bytes at {error.start}") from error


async def read_plan(here: Here, path: Path, text: str) -> Planned:
    """The plan of a file; where it has faults, prints each with its line, and raises `click.exceptions.Exit`."""
    try:
        return await here.desk.plan(text, here.caller)
    except InvalidPlan as error:
        print_faults(path, text, error)
        raise click.exceptions.Exit(exit_codes.USAGE) from None


async def go_on(here: Here, evaluation: str) -> bool:
    """Go on with an evaluation until it has ended; ``False`` where it was interrupted, and can be resumed.

    `App.ask_vendors` comes first.
    """
    with interruptions() as interrupted:
        async with _feeding(here, evaluation) as trouble:
            ending = asyncio.create_task(_ended(here, evaluation))
            first = asyncio.create_task(interrupted.first.wait())
            try:
                await asyncio.wait((ending, first, trouble), return_when=asyncio.FIRST_COMPLETED)
                if trouble.done() and not ending.done():
                    raise trouble.result()
                if ending.done():
                    await ending
                return ending.done()
            finally:
                ending.cancel()
                first.cancel()


@asynccontextmanager
async def _feeding(here: Here, evaluation: str) -> AsyncIterator[asyncio.Future[GainsayError]]:
    """A worker and a feeder of this process, for this evaluation alone."""
    from service.app import running_worker
    from service.audit.record import Actor, Writer
    from service.cli.own_worker import wait_finished
    from service.reviews.evaluation_feed import EvaluationFeeder

    app, trouble = wait_finished(here.app, only=None)
    build = here.desk.deployment(here.caller.tenant).build_hash
    writer = Writer(Actor(app.worker.name, "service", "worker", "databaseRole"), build)
    feeder = EvaluationFeeder(here.desk, app.reviews, writer, app.settings.lease_s, only=evaluation)
    async with running_worker(replace(app, evaluating=feeder)):
        yield trouble


async def _ended(here: Here, evaluation: str) -> None:
    """Wait for the end of an evaluation, and say how it stands meanwhile."""
    said, quiet = "", SHOWN_S
    while True:
        if (await here.desk.row(evaluation, here.caller)).ended is not None:
            return
        quiet += LOOK_S
        if quiet >= SHOWN_S:
            words = display.progress(await here.desk.read(evaluation, here.caller))
            if words != said:
                say(f"gainsay: {words}", err=True)
            said, quiet = words, 0.0
        await asyncio.sleep(LOOK_S)
