"""``gainsay evaluate export``: the bundle of an evaluation, for an examiner."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from service.cli import exit_codes
from service.cli.evaluate.here import Here, held_option, perform, sets_option
from service.cli.help_sections import Command
from service.cli.new_file import refuse_present, written
from service.cli.terminal_text import say
from service.errors import NotProvable

if TYPE_CHECKING:
    from service.reviews.evidence import Bundled

HOLD_S, LOOK_S = 10.0, 0.2
"""For how long, and how often, a checkpoint over the end of the evaluation, or of a report in it, is waited for."""


@click.command(cls=Command)
@click.argument("evaluation", metavar="ID")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@sets_option
@held_option
def export(evaluation: str, out: Path, folders: tuple[Path, ...], *, force: bool, held: bool) -> int:
    """Write the bundle of an evaluation whose end is proven: all of its evidence in one file, to be verified offline.

    The bundle is a ZIP of plain files: the plan, the records with proofs, the sets, the bundle of each debate, and the
    result. `gainsay audit verify` verifies it, and computes every score and the result again. Labels of a set with a
    split held are in it with --held alone; else their hash is. The log records that the evidence was handed out.

    \b
    gainsay evaluate export 01890a5d-ac96-774b-bcce-b302099a8057 -o evaluation.zip
    gainsay evaluate export 01890a5d-ac96-774b-bcce-b302099a8057 -o evaluation.zip --sets lease-questions --held

    Exit codes: 0 written, 2 usage, 3 failed.
    """
    refuse_present(out, force)
    with written(out, force) as file:
        made = perform("export", folders, lambda here: write_export(here, evaluation, file, held=held), held=held)
    say(f"wrote {out} (debates: {made.debates})", err=True)
    for name in made.withheld:
        say(f"the labels of {name} are not in it, only their hash; --held adds them", err=True)
    for name in made.absent:
        say(f"the set {name} is not in it, because it is not at hand; name its folder with --sets", err=True)
    return exit_codes.DONE


async def write_export(here: Here, evaluation: str, file: IO[bytes], *, held: bool) -> Bundled:
    """Write the bundle; an end that is recorded, and a report, wait for their checkpoint. Raises as `write_bundle`."""
    from service.audit.evaluation_events import is_last
    from service.cli.access.in_process import writer
    from service.reviews.evaluations import NotConcluded
    from service.reviews.evidence import EvidenceDesk

    reading = EvidenceDesk(here.app.database, here.desk.logs, here.caller, writer())
    until = time.monotonic() + HOLD_S
    while True:
        file.seek(0)
        file.truncate()
        try:
            return await here.desk.write_bundle(evaluation, here.caller, reading, file, held=held)
        except (NotConcluded, NotProvable) as error:
            entries = await here.desk.entries(evaluation, here.caller.tenant, 0)
            if time.monotonic() > until or (isinstance(error, NotConcluded) and not is_last(entries[-1])):
                raise
        await asyncio.sleep(LOOK_S)
