"""``gainsay evaluate items``: what each item came to, for one who doubts a score or a label."""

from __future__ import annotations

import click
import msgspec

from service.cli import exit_codes
from service.cli.display import evaluations as display
from service.cli.evaluate.here import Here, perform
from service.cli.help_sections import Command
from service.cli.terminal_text import print_json, say
from service.errors import Forbidden


@click.command(cls=Command)
@click.argument("evaluation")
@click.option("--arm", metavar="NAME", help="Of this arm alone.")
@click.option("--wrong", is_flag=True, help="Only what is not as labelled, answers that are missing included.")
@click.option("--held", is_flag=True, help="Act as a validator: scores of a split held are close to its labels.")
@click.option("--json", "as_json", is_flag=True, help="Print the recorded scores as JSON.")
def items(evaluation: str, arm: str | None, *, wrong: bool, held: bool, as_json: bool) -> int:
    """Show what each item of an evaluation came to, and in which debate.

    \b
    gainsay evaluate items 01890a5d-ac96-774b-bcce-b302099a8057 --wrong
    gainsay evaluate items 01890a5d-ac96-774b-bcce-b302099a8057 --arm debate --json

    Exit codes: 0 shown, 2 usage, 3 failed.
    """

    async def work(here: Here) -> int:
        from service.audit.evaluation_events import ItemScored
        from service.evaluation.scoring.scores import Score, is_as_labelled

        standing = await here.desk.read(evaluation, here.caller)
        if standing.stored.lost:
            await here.desk.refuse_lost(evaluation, here.caller.tenant)
        found = standing.progress
        arms = [one.name for one in found.plan.arms]
        if arm is not None and arm not in arms:
            raise click.UsageError(f"expected an arm of the plan ({', '.join(arms)}), found {arm!r}")
        if not held and any(asked.split == "held" for asked in found.registered.sets):
            raise Forbidden("scores of items of a split held are close to their labels; act as a validator by --held")
        rows = [
            (entry, score)
            for entry in await here.desk.entries(evaluation, here.caller.tenant, 0)
            if isinstance(entry, ItemScored) and arm in (None, entry.arm)
            for score in (msgspec.convert(entry.score, Score),)
            if not (wrong and is_as_labelled(score))
        ]
        if as_json:
            print_json([msgspec.to_builtins(entry) for entry, _ in rows])
        else:
            say(display.items(rows, repeats=found.plan.repeats))
        return exit_codes.DONE

    return perform("items", (), work, held=held)
