"""``gainsay evaluate sets``: the golden sets, shipped and one's own: list, check, show, register."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from service.cli import exit_codes
from service.cli.completion import set_names
from service.cli.new_file import written
from service.cli.terminal_text import print_json, say
from service.evaluation.sets import files
from service.evaluation.sets.coverage import family_counts, shortfalls
from service.evaluation.sets.faults import SHOWN_MAX, BadSet
from service.evaluation.sets.register import extended, write_register

if TYPE_CHECKING:
    from service.evaluation.sets.golden_set import GoldenSet

TASK_TYPES = ("contract", "security", "architecture", "investment", "compliance")
"""The task types for which sets are shipped."""
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@_JSON
@click.pass_context
def sets(context: click.Context, *, as_json: bool) -> int:
    """List the shipped golden sets, check a set of your own, or show one.

    A golden set has questions or proposals whose right answer is known. Its items and its labels are files of their
    own, and a plan names it by version and hash. docs/evaluation.md says how to write one.

    \b
    gainsay evaluate sets
    gainsay evaluate sets check my-set/
    gainsay evaluate sets show contract-questions

    Exit codes: 0 done, 2 a set has faults.
    """
    if context.invoked_subcommand is not None:
        return exit_codes.DONE
    from service.cli.display import golden_sets

    found = [files.load_shipped(folder) for folder in files.shipped()]
    if as_json:
        print_json([golden_sets.as_json(golden) for golden in found])
    else:
        say("\n".join(golden_sets.row(golden) for golden in found) or "no set is shipped")
    return exit_codes.DONE


@sets.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option("--complete", is_flag=True, help="Ask also for what the shipped sets have together.")
def check(folders: tuple[Path, ...], *, complete: bool) -> int:
    """Check golden sets: every fault of each by file and line, and what they cover.

    Nothing is read by half: a set with one fault is refused as a whole, by this command as by a plan. --complete asks
    of all the folders together for 20 questions on 10 documents, 22 pairs of proposals, and 12 crossed pairs on 6
    documents in each task type, and for each family of flaws and each held feature of a side 12 times.

    Exit codes: 0 no fault, 1 --complete and something is missing, 2 a set has faults.
    """
    from service.cli.display import golden_sets

    read, broken = list["GoldenSet"](), False
    for folder in folders:
        try:
            golden = files.load(folder, today())
        except BadSet as error:
            broken = True
            print_faults(f"{folder}/", error)
        else:
            read.append(golden)
            say(golden_sets.covered(golden))
    if len(read) > 1:
        say(golden_sets.families(family_counts(read)))
    missing = list(shortfalls(read, TASK_TYPES)) if complete else []
    for words in missing:
        say(f"missing: {words}")
    return exit_codes.USAGE if broken else exit_codes.NEGATIVE if missing else exit_codes.DONE


def print_faults(inside: str, error: BadSet) -> None:
    """Every fault on a line of standard error, and how many there are; ``inside`` is what stands before their files."""
    for fault in error.faults[:SHOWN_MAX]:
        exit_codes.print_error(error.code, f"{inside}{fault}")
    many = len(error.faults)
    say(f"{many} fault{'s' if many > 1 else ''}; nothing of the set is used", err=True)


@sets.command()
@click.argument("which", metavar="ID|FOLDER", shell_complete=set_names)
@click.option(
    "--labels", "split", type=click.Choice(["open", "held"]), help="Print the labels of a split, as JSON lines."
)
@click.option("--held", is_flag=True, help="State that labels of the split held may be shown.")
@_JSON
def show(which: str, split: str | None, *, held: bool, as_json: bool) -> int:
    """Show a golden set: what it is, who labelled it, how much it has, what was retired.

    Labels are shown with --labels alone. Those of the split held are for claims: each look at them is counted, and a
    set that was looked at often supports no claim any more. So --labels held needs --held beside it.

    \b
    gainsay evaluate sets show contract-questions
    gainsay evaluate sets show contract-questions --labels open
    gainsay evaluate sets show my-set/ --json

    Exit codes: 0 shown, 2 no such set, or a set with faults.
    """
    from service.cli.display import golden_sets

    golden = named_set(which)
    if split is None:
        say(golden_sets.page(golden)) if not as_json else print_json(golden_sets.as_json(golden))
        return exit_codes.DONE
    if split == "held" and not held:
        raise click.UsageError(
            "labels of the split held are for claims, and each look at them is counted; add --held if this is one, or "
            "take --labels open"
        )
    for label in golden.labels("held" if split == "held" else "open", allow_held=held).values():
        print_json(label, indented=False)
    if split == "held":
        say("This was a look at held labels: record it with the next plan that names this set.", err=True)
    return exit_codes.DONE


@sets.command()
def register() -> int:
    """Enter the shipped sets of this checkout into their register, for a release.

    The register names each version of a set with its hash and its items. It is extended and never changed: a set that
    differs from what was registered, lacks an item of an earlier version, or has one with other content is refused.

    Exit codes: 0 done, 2 a set is not what was registered.
    """
    found = [files.load_shipped(folder) for folder in files.shipped()]
    before = files.shipped_register()
    after = extended(before, found)
    if after != before:
        with written(files.REGISTER, force=True) as file:
            file.write(write_register(after))
    new = sum(map(len, after.sets.values())) - sum(map(len, before.sets.values()))
    say(f"{len(found)} sets, {new} versions new in the register")
    return exit_codes.DONE


def named_set(which: str) -> GoldenSet:
    """The set by the id of a shipped one, or by its folder."""
    shipped = {folder.name: folder for folder in files.shipped()}
    if which in shipped:
        return files.load_shipped(shipped[which])
    if "/" not in which and not Path(which).is_dir():
        known = ", ".join(shipped) or "none"
        raise files.NoSet(f"expected the id of a shipped set or a folder, found {which!r}; shipped are: {known}")
    return files.load(Path(which), today())


def today() -> date:
    """The day in UTC: no set can have been published later."""
    return datetime.now(UTC).date()
