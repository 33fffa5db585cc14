"""The options of a debate: a few for all formats, and those of single formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import click
import msgspec

from service import policy
from service.cli import completion, documents
from service.cli.exit_codes import HelpRequested
from service.cli.help_sections import Decorated, option
from service.cli.option_types import Amount, Choice, Named, Pair
from service.debate.formats import NAMES, FormatName, complete_formats, name_of
from service.debate.replies.panel import QuestionType
from service.errors import InvalidCase, WrongShape
from service.intake.formats import OPTIONS_OF
from service.policy import AUTO, FORMAT_RULES

FORMATS = (*policy.FORMATS, AUTO)
"""The formats that a case may name."""
STDIN = "-"
FILE_CHARACTERS = 1_000_000
"""The most characters of a file with options or a schema; the service's own limits are far lower."""
_NAME_CHARACTERS = 80
_EVERY = "The debate"
_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

EVERY = (
    option(
        _EVERY, *("--format", "format_"), metavar="F", shell_complete=completion.formats, help=f"{', '.join(FORMATS)}."
    ),
    option(_EVERY, "--rounds", type=int, metavar="N", help="The most rounds."),
    option(_EVERY, "--model", "models", type=Pair(), multiple=True, metavar="SEAT=ALIAS", help="The model of a seat."),
    option(
        _EVERY,
        "--options",
        "file",
        metavar="FILE",
        help="A file with all options as JSON, as in a request; - reads standard input.",
    ),
)
Debaters = Literal["--debater", "--debaters"]
"""An option that gives the debaters of a format: names one by one, or their number."""
ASKING: Mapping[FormatName, tuple[Debaters, ...]] = complete_formats(
    {
        "adversarial": (),
        "stances": ("--debater",),
        "ballot": ("--debater",),
        "panel": ("--debaters",),
        "convergence": ("--debater", "--debaters"),
    },
    "cli",
    __file__,
)


class Flag(NamedTuple):
    """An option that some formats know: its parameter, how it is written, and the formats."""

    parameter: str
    written: str
    formats: tuple[FormatName, ...]


def _knowing(member: str) -> tuple[FormatName, ...]:
    """The formats that know an option, by its name in JSON."""
    return tuple(name for name in NAMES if member in OPTIONS_OF[name])


def _asking(debaters: Debaters) -> tuple[FormatName, ...]:
    """The formats whose debaters this option gives."""
    return tuple(name for name in NAMES if debaters in ASKING[name])


_NAMED = _asking("--debater")
_ASSIGNED = tuple(name for name in _NAMED if FORMAT_RULES[name].assigned)
FLAGS = (
    Flag("positions", "--position ID=TEXT", _knowing("positions")),
    Flag("cast", "--debater NAME=STANCE", _ASSIGNED),
    Flag("cast", "--debater NAME", tuple(name for name in _NAMED if name not in _ASSIGNED)),
    Flag("personas", "--persona SEAT=TEXT", _knowing("personas")),
    Flag("personas", "--persona NAME=TEXT", _NAMED),
    Flag("output_schema", "--output-schema FILE", _knowing("outputSchema")),
    Flag("no_synthesizer", "--no-synthesizer", _knowing("synthesizer")),
    Flag("votes", "--vote OPTION", _knowing("votes")),
    Flag("threshold", "--threshold N", _knowing("consensusThreshold")),
    Flag("debaters", "--debaters N", _asking("--debaters")),
    Flag("question_type", "--question-type T", _knowing("questionType")),
    Flag("adjudicator", "--adjudicator WHO", _knowing("adjudicator")),
    Flag("similarity", "--similarity S", _knowing("convergenceSimilarity")),
    Flag("no_judge", "--no-judge", _knowing("judge")),
)
"""The options in the order in which an error lists them."""


def _formats_of(parameter: str) -> list[str]:
    """The formats that know an option, in the order of the list."""
    known = {name for flag in FLAGS if flag.parameter == parameter for name in flag.formats}
    return [name for name in NAMES if name in known]


def _listed(names: list[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _option(parameter: str, declared: str, **given: Any) -> Callable[[Decorated], Decorated]:
    """An option in the section of the formats that know it."""
    return option(_listed(_formats_of(parameter), "and"), declared, parameter, **given)


OF_FORMATS = (
    _option(
        "positions",
        "--position",
        type=Pair(),
        multiple=True,
        metavar="ID=TEXT",
        help="One of several positions to decide between.",
    ),
    _option(
        "personas",
        "--persona",
        type=Pair(),
        multiple=True,
        metavar="SEAT=TEXT",
        help="The persona of a seat, or of the debater with that name.",
    ),
    _option(
        "cast",
        "--debater",
        type=Named(),
        multiple=True,
        metavar="NAME[=STANCE]",
        help=f"A debater, in speaking order; with {_listed([*_ASSIGNED], 'or')}, also its position.",
    ),
    _option("output_schema", "--output-schema", metavar="FILE", help="The JSON Schema of the projection."),
    _option("no_synthesizer", "--no-synthesizer", is_flag=True, help="End with the verdict, without a projection."),
    _option("votes", "--vote", multiple=True, metavar="OPTION", help="An option of the vote."),
    _option(
        "threshold", "--threshold", type=int, metavar="N", help="The number of votes that decide.  [more than half]"
    ),
    _option("debaters", "--debaters", type=int, metavar="N", help="The number of debaters."),
    _option("question_type", "--question-type", type=Choice(_TYPES), metavar="T", help=f"{', '.join(_TYPES)}."),
    _option("adjudicator", "--adjudicator", type=Choice(("algorithmic", "model")), help="What measures consensus."),
    _option("similarity", "--similarity", type=Amount(), metavar="S", help="The overlap that ends the debate, 0 to 1."),
    _option("no_judge", "--no-judge", is_flag=True, help="Decide by majority, without a judge."),
)


def chosen(given: Mapping[str, Any], usual: str, base: Mapping[str, Any]) -> dict[str, Any]:
    """The format of a request and its options: a file's override a sample's, and the command line's override both.

    ``usual`` is policy's format, which is named where there are options and nothing names another. Without any there
    are no options either.

    Raises `click.UsageError` for an option that the format does not know, `InvalidCase` for a file that is no JSON
    object, `WrongShape` for a member of it that no format knows. Errors name the options of this format.
    """
    file = _object(given["file"], "options") if given["file"] is not None else {}
    named = given["format_"] or file.get("format", base.get("format"))
    format_ = usual if named is None else named
    debaters = ASKING[name_of(format_)] if format_ in NAMES else ()
    assigned = format_ in NAMES and FORMAT_RULES[name_of(format_)].assigned
    if isinstance(asked := click.get_current_context().obj, HelpRequested):
        asked.debaters = ", ".join(debaters)
    _refuse_others(given, format_)
    _refuse_unknown(file, format_)
    options = {name: value for name, value in {**base, **file, **_said(given)}.items() if name != "format"}
    if given["cast"]:
        if given["debaters"] is not None:
            raise click.UsageError("--debater names the debaters and --debaters counts them; give one of the two")
        options["debaters"] = _cast(given["cast"], format_, assigned=assigned)
    if assigned and not options.get("debaters"):
        raise click.UsageError("the format assigns stances: give --debater NAME=STANCE for each debater")
    if personas := once("--persona", given.get("personas", ())):
        if debaters:
            options["debaters"] = _in_roles(options.get("debaters"), personas)
        else:
            options["personas"] = personas
    return {"format": format_, **options} if options or named is not None else {}


def once(option: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Pairs as a mapping; raises `InvalidCase` where a name was given twice."""
    listed = list(pairs)
    if len({name for name, _ in listed}) != len(listed):
        raise InvalidCase(f"{option} was given twice for the same name: {[name for name, _ in listed]}")
    return dict(listed)


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    """The members that one option each sets."""
    readers: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "rounds": ("maxRounds", int),
        "models": ("models", lambda pairs: once("--model", pairs)),
        "positions": ("positions", lambda pairs: [{"id": name, "text": text} for name, text in pairs]),
        "votes": ("votes", list),
        "threshold": ("consensusThreshold", int),
        "output_schema": ("outputSchema", lambda name: _object(name, "schema")),
        "no_synthesizer": ("synthesizer", lambda _: False),
        "debaters": ("debaters", int),
        "question_type": ("questionType", str),
        "adjudicator": ("adjudicator", str),
        "similarity": ("convergenceSimilarity", _number),
        "no_judge": ("judge", lambda _: False),
    }
    return {member: read(given[name]) for name, (member, read) in readers.items() if _is_given(given.get(name))}


def _number(value: Decimal) -> float | str:
    """A number for JSON. One that JSON cannot write, such as NaN, stays text, which the service refuses by name."""
    return float(value) if value.is_finite() else str(value)


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != ()


def _refuse_others(given: Mapping[str, Any], format_: str) -> None:
    """Refuse an option of other formats, and list those of this one."""
    for flag in FLAGS:
        if not _is_given(given.get(flag.parameter)):
            continue
        formats = _formats_of(flag.parameter)
        if format_ not in formats:
            name = flag.written.partition(" ")[0]
            raise click.UsageError(f"{name} is for {_listed(formats, 'and')}; {_instead(format_, formats)}")


def _refuse_unknown(file: Mapping[str, Any], format_: str) -> None:
    """Refuse a member that no format knows, and list those of this format, or all if the format is not chosen yet.

    A member of another format is refused later, when the options are resolved, with the names of its formats.
    """
    every = tuple(dict.fromkeys(name for names in OPTIONS_OF.values() for name in names))
    if strangers := [name for name in file if name not in ("format", *every)]:
        name = strangers[0][:_NAME_CHARACTERS]
        whose, known = (format_, OPTIONS_OF[name_of(format_)]) if format_ in NAMES else ("options", every)
        raise WrongShape(
            f"object contains unknown field {name!r}; {whose} may have: {', '.join(known)}",
            pointers=("/options",),
        )


def _instead(format_: str, formats: list[str]) -> str:
    if format_ == AUTO:
        return f"with --format {AUTO} the task type decides: name {_listed(formats, 'or')}, or leave it out"
    own = [flag.written for flag in FLAGS if format_ in flag.formats]
    return f"{format_} takes {_listed([*own, '--rounds N'], 'and')}" if own else f"found --format {format_}"


def _cast(pairs: tuple[tuple[str, str], ...], format_: str, *, assigned: bool) -> list[dict[str, str]]:
    """The debaters in their order, with their stances where the format assigns them."""
    for name, stance in pairs:
        if assigned and not stance:
            raise click.UsageError(f"{format_} needs a stance for each debater: --debater {name}=STANCE")
        if stance and not assigned:
            raise click.UsageError(
                f"the format {format_} assigns no stances: --debater {name}; --persona describes a debater"
            )
    return [{"name": name, **({"stance": stance} if stance else {})} for name, stance in pairs]


def _in_roles(debaters: Any, personas: Mapping[str, str]) -> list[Any]:
    """The debaters, with a role for those that ``personas`` names."""
    known = [d for d in debaters if isinstance(d, dict)] if isinstance(debaters, list) else []
    names = [d.get("name") for d in known]
    if strangers := [name for name in personas if name not in names]:
        expected = f"the debaters are {', '.join(map(str, names))}" if names else "name debaters by --debater"
        raise click.UsageError(f"--persona is for a debater, found {strangers[0]!r}; {expected}")
    return [{**d, "role": personas[d["name"]]} if d.get("name") in personas else d for d in known]


def _object(name: str, what: str) -> dict[str, Any]:
    """The JSON object in a file, or on standard input."""
    raw = sys.stdin.read(FILE_CHARACTERS + 1) if name == STDIN else documents.read_text(Path(name), FILE_CHARACTERS)
    place = "standard input" if name == STDIN else name
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InvalidCase(f"expected the {what} as one JSON object in {place}, found: {error}") from error
