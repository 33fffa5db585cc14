"""``gainsay evaluate run`` and ``resume``: a plan is registered, and an evaluation gone on with to its end."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli import exit_codes
from service.cli.display import evaluations as display
from service.cli.evaluate.here import RUN, Here, go_on, held_option, perform, read_plan, sets_option, text_of
from service.cli.evaluate.show import shown
from service.cli.help_sections import Command, option
from service.cli.terminal_text import say


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@sets_option
@held_option
@option(RUN, "--detach", is_flag=True, help="Register the plan and end: a service on this database goes on with it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def run(file: Path, folders: tuple[Path, ...], *, held: bool, detach: bool, as_json: bool) -> int:
    """Register a plan, and ask all of its items.

    The plan is recorded first, and nothing is asked before a checkpoint of the log covers it. Debates run in this
    process. Ctrl-C ends the command and not the evaluation: `gainsay evaluate resume` goes on with it, and nothing is
    asked or paid twice.

    \b
    gainsay evaluate run my-plan.toml
    gainsay evaluate run my-plan.toml --sets my-set/

    Exit codes: 0 shown, 1 stopped or worse, 2 usage, 3 failed or interrupted, 5 inconclusive.
    """
    text = text_of(file)

    async def work(here: Here) -> int:
        planned = await read_plan(here, file, text)
        say(display.plan_page(planned), err=True)
        if not detach:
            await here.app.ask_vendors()  # without a key nothing is registered
        evaluation = await here.desk.register(planned, here.caller)
        if detach:
            say(evaluation)
            return exit_codes.DONE
        return await _to_the_end(here, evaluation, as_json=as_json)

    return perform("run", folders, work, held=held)


@click.command(cls=Command)
@click.argument("evaluation")
@option(RUN, "--plan", "file", type=click.Path(path_type=Path), help="Register this changed plan first.")
@sets_option
@held_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def resume(evaluation: str, file: Path | None, folders: tuple[Path, ...], *, held: bool, as_json: bool) -> int:
    """Go on with an evaluation to its end, in this process.

    What is recorded stays: no item is asked again, and no debate is paid again. A plan may be changed in what it is
    judged by (margin, alpha, ceiling, ...). Changed after the first score, its result is exploratory for good.

    \b
    gainsay evaluate resume 01890a5d-ac96-774b-bcce-b302099a8057

    Exit codes: 0 shown, 1 stopped or worse, 2 usage, 3 failed or interrupted, 5 inconclusive.
    """
    text = None if file is None else text_of(file)

    async def work(here: Here) -> int:
        await here.desk.row(evaluation, here.caller)
        await here.app.ask_vendors()
        if file is not None and text is not None:
            await here.desk.change(evaluation, await read_plan(here, file, text), here.caller)
        return await _to_the_end(here, evaluation, as_json=as_json)

    return perform("resume", folders, work, held=held)


async def _to_the_end(here: Here, evaluation: str, *, as_json: bool) -> int:
    if not await go_on(here, evaluation):
        words = f"evaluation {evaluation} is recorded so far: `gainsay evaluate resume {evaluation}`"
        exit_codes.print_error("interrupted", words)
        return exit_codes.FAILED
    return shown(await here.desk.read(evaluation, here.caller), as_json=as_json)
