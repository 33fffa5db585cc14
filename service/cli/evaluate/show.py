"""``gainsay evaluate show``: the evaluations there are, and how one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from service.cli import exit_codes
from service.cli.display import evaluations as display
from service.cli.evaluate.here import Here, perform
from service.cli.help_sections import Command
from service.cli.terminal_text import print_json, say

if TYPE_CHECKING:
    from service.reviews.evaluations import Standing

NEWEST = 50
"""The most evaluations that are listed."""


@click.command(cls=Command)
@click.argument("evaluation", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(evaluation: str | None, *, as_json: bool) -> int:
    """Show an evaluation, or list the newest ones.

    \b
    gainsay evaluate show
    gainsay evaluate show 01890a5d-ac96-774b-bcce-b302099a8057
    gainsay evaluate show 01890a5d-ac96-774b-bcce-b302099a8057 --json

    Exit codes: 0 shown, 1 stopped or worse, 2 usage, 3 failed or lost, 5 inconclusive.
    """

    async def work(here: Here) -> int:
        if evaluation is not None:
            return shown(await here.desk.read(evaluation, here.caller), as_json=as_json)
        found = await here.desk.newest(here.caller, NEWEST)
        if as_json:
            names = ("evaluation", "name", "ended", "lost")
            print_json([{name: getattr(one, name) for name in names} for one in found])
        else:
            say(display.listed(found))
        return exit_codes.DONE

    return perform("show", (), work)


@click.command(cls=Command)
@click.argument("evaluation")
@click.option("--why", required=True, help="Why, in a sentence; it is recorded.")
def stop(evaluation: str, why: str) -> int:
    """Ask nothing more of an evaluation.

    Debates under way go on to their end and are scored. What was not asked counts as missing in the result.

    \b
    gainsay evaluate stop 01890a5d-ac96-774b-bcce-b302099a8057 --why "The vendor changed its model."

    Exit codes: 0 stopped, 2 no such evaluation, or it is over, 3 failed.
    """

    async def work(here: Here) -> int:
        await here.desk.stop(evaluation, why, here.caller)
        say(f"evaluation {evaluation} is stopped; `gainsay evaluate resume {evaluation}` scores what is under way")
        return exit_codes.DONE

    return perform("stop", (), work)


def shown(standing: Standing, *, as_json: bool) -> int:
    """Print an evaluation, with its result once there is one; the exit code."""
    from service.evaluation.scoring.result import result_of

    stored = standing.stored
    if as_json:
        result = None if stored.result is None else msgspec.json.decode(stored.result)
        print_json({"evaluation": stored.evaluation, "standing": display.progress(standing), "result": result})
    else:
        say(display.page(standing, None if stored.result is None else result_of(stored.result)))
    return display.code_of(standing)
