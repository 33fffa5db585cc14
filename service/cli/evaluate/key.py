"""``gainsay evaluate key``: the key of golden sets for simulated models with known faults."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli import exit_codes
from service.cli.evaluate.sets import named_set, print_faults
from service.cli.new_file import refuse_present, written
from service.cli.terminal_text import say
from service.evaluation.sets.faults import BadSet
from service.evaluation.sets.key import key_of, write_key


@click.command()
@click.argument("which", nargs=-1, required=True, metavar="SET...")
@click.option("--to", "path", required=True, type=click.Path(path_type=Path), help="The key file; a new one.")
@click.option("--held", is_flag=True, help="State that labels of the split held may be in it.")
def key(which: tuple[str, ...], path: Path, *, held: bool) -> int:
    """Write the key of golden sets, by which simulated models with known faults know their cases.

    A SET is the id of a shipped set or a folder. The key has a line for each item: the hash of what a seat is shown of
    it, and its label. It is for tests of the measuring: the provider of simulated models reads it where the setting
    GAINSAY_SIMULATED_KEY names it, and nothing else does. Keep it where no model of a vendor is asked.

    \b
    gainsay evaluate key contract-critic contract-questions --to key.jsonl

    Exit codes: 0 written, 2 no such set, a set with faults, or two items that look alike; 3 the file cannot be written.
    """
    refuse_present(path, force=None)
    try:
        lines = key_of([named_set(one) for one in which], allow_held=held)
    except BadSet as error:
        print_faults("", error)
        return exit_codes.USAGE
    with written(path, force=False) as file:
        file.write(write_key(lines))
    say(f"wrote {path}: {len(lines)} cases, with their labels; give it to simulated models alone")
    if held:
        say("This was a look at held labels: record it with the next plan that names these sets.", err=True)
    return exit_codes.DONE
