"""``gainsay evaluate import``: a golden set from the files of others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import click

from service.cli import exit_codes
from service.cli.evaluate.sets import print_faults, today
from service.cli.help_sections import Command, option
from service.cli.new_file import CannotWrite
from service.cli.option_types import Choice
from service.cli.terminal_text import say
from service.evaluation.sets.faults import BadSet
from service.evaluation.sets.form import TOTAL_BYTES
from service.evaluation.sets.importing import READERS, Form, ImportOptions, import_set

_SET, _ITEMS = "The set", "What the files leave open"
_NEVER = "no"


class _Published(click.ParamType[date | bool]):
    """A date such as 2026-11-01, or ``no``, which is `False`."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date | bool:
        """The date of publication, or `False`."""
        if value == _NEVER:
            return False
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            self.fail(f"expected a date such as 2026-11-01, or {_NEVER}, found {value!r}", param, ctx)


@click.command("import", cls=Command)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@option("Files", "--form", required=True, type=Choice(tuple(READERS)), help="The form of the files.")
@option("Files", "--ignore", multiple=True, metavar="NAME", help="Leave a member or a column out, knowingly.")
@option("Files", "--to", required=True, type=click.Path(path_type=Path), help="The folder of the set; a new one.")
@option(_SET, "--id", required=True, help="Its id: a letter, then letters in lower case, digits and hyphens.")
@option(_SET, "--version", type=click.IntRange(1), default=1, show_default=True, help="Its version.")
@option(_SET, "--labelled-by", required=True, help="Who made the labels.")
@option(_SET, "--labelling", required=True, help="How they were made, in a sentence.")
@option(
    _SET,
    "--basis",
    required=True,
    type=Choice(("expert", "construction", "outcome")),
    help="What labels rest on.",
)
@option(_SET, "--published", required=True, type=_Published(), help=f"The day on which it was published, or {_NEVER}.")
@option(_SET, "--task-type", help="Its task type, where the files name none.")
@option(_SET, "--licence", help="Its licence, where the files name none.")
@option(_ITEMS, "--answer", "answers", multiple=True, help="An answer of the closed list; default: the labels.")
@option(_ITEMS, "--proposition", metavar="TEMPLATE", help="A proposition with {answer}, and {question} if wanted.")
@option(
    _ITEMS,
    "--held",
    type=click.IntRange(0, 100),
    default=50,
    show_default=True,
    metavar="PERCENT",
    help="The share of the items that is held back for claims.",
)
@option(_ITEMS, "--seed", default="1", show_default=True, help="What draws splits and propositions.")
def import_(files: tuple[Path, ...], form: Form, to: Path, ignore: tuple[str, ...], held: int, **stated: object) -> int:
    """Make a golden set of questions from files of another form.

    golden: one JSON object a line, with id, task_type, question, context, label, label_meaning, origin and licence.
    inspect: the samples of Inspect as JSON Lines, with input, target, choices, id, metadata and files. csv: a table
    with the columns id, question and answer, and others that docs/evaluation.md lists.

    What cannot be mapped is refused by line, all at once, and nothing is written then. A question needs a proposition
    that can be argued: where the files have none, --proposition makes it. Half of the propositions of each split state
    the labelled answer and half another one, drawn by SHA-256: labels take part in this alone, and the set says so.

    \b
    gainsay evaluate import contract.jsonl --form golden --to my-set --id my-set --labelled-by "law students" \\
        --labelling "Each clause was read by two of them." --basis expert --published 2023-08-20 \\
        --proposition 'The right answer to the question "{question}" is "{answer}".'

    Exit codes: 0 written, 2 something cannot be mapped, 3 the folder cannot be written.
    """
    options = _options(stated, ignore, held)
    if os.path.lexists(to):
        raise click.UsageError(f"{to} exists, and no set is overwritten; choose another name")
    try:
        built = import_set(form, [(str(file), _read(file)) for file in files], options, today())
    except BadSet as error:
        print_faults("", error)
        say("nothing was written", err=True)
        return exit_codes.USAGE
    _write(built.files, to)
    from service.cli.display import golden_sets

    say(f"wrote {to}\n{golden_sets.page(built.golden)}")
    if built.rewritten:
        say(f"    note: documents with CR in their line ends, which are LF now: {built.rewritten}")
    return exit_codes.DONE


def _options(stated: Mapping[str, object], ignore: tuple[str, ...], held: int) -> ImportOptions:
    template, answers = stated["proposition"], stated["answers"]
    if isinstance(template, str) and "{answer}" not in template:
        raise click.UsageError("--proposition needs {answer}, in whose place the answer is put")
    if isinstance(answers, tuple) and (len(answers) == 1 or len(set(answers)) < len(answers)):
        raise click.UsageError("--answer needs two answers or more, each once; repeat the option")
    published = stated["published"] or None
    rest = {name: value for name, value in stated.items() if name != "published"}
    return ImportOptions(**rest, published=published, ignore=frozenset(ignore), held_per_cent=held)  # type: ignore[arg-type]


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        raw = opened.read(TOTAL_BYTES + 1)
    if len(raw) > TOTAL_BYTES:
        raise click.UsageError(f"{file} has more than {TOTAL_BYTES:,} bytes; divide it")
    return raw


def _write(files: Mapping[str, bytes], to: Path) -> None:
    """Write a whole set: into a folder beside it, which then takes its name; raises `CannotWrite`."""
    beside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        beside.mkdir()
        for path, raw in files.items():
            place = beside / path
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(raw)
        beside.rename(to)
    except OSError as error:
        raise CannotWrite(f"expected to write {to}, found: {error.strerror}; choose another place") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
