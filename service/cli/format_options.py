"""The options of a debate: a few for all formats, and those of single formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
import msgspec

from service import policy
from service.cli import documents
from service.cli.exit_codes import HelpRequested
from service.cli.help_sections import option
from service.cli.option_types import Amount, Named, Pair
from service.debate.formats import NAMES, FormatName, complete_formats, name_of
from service.debate.replies.panel import QuestionType
from service.errors import BadRequest, InvalidCase
from service.intake.formats import OPTIONS_OF
from service.policy import AUTO

FORMATS = (*policy.FORMATS, AUTO)
"""The formats that a case may name."""
STDIN = "-"
FILE_CHARACTERS = 1_000_000
"""The most characters of a file with options or a schema; the service's own limits are far lower."""
_NAME_CHARACTERS = 80
_EVERY = "The debate"
_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

EVERY = (
    option(_EVERY, "--format", "format_", metavar="F", help=f"{', '.join(FORMATS)}."),
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
OF_FORMATS = (
    option(
        "adversarial",
        *("--position", "positions"),
        type=Pair(),
        multiple=True,
        metavar="ID=TEXT",
        help="One of several positions to decide between.",
    ),
    option(
        "adversarial, stances and ballot",
        *("--persona", "personas"),
        type=Pair(),
        multiple=True,
        metavar="SEAT=TEXT",
        help="The persona of a seat, or of the debater with that name.",
    ),
    option(
        "stances and ballot",
        *("--debater", "cast"),
        type=Named(),
        multiple=True,
        metavar="NAME[=STANCE]",
        help="A debater, in speaking order; with stances, also its position.",
    ),
    option("stances", "--output-schema", metavar="FILE", help="The JSON Schema of the projection."),
    option("stances", "--no-synthesizer", is_flag=True, help="End with the verdict, without a projection."),
    option("ballot", "--vote", "votes", multiple=True, metavar="OPTION", help="An option of the vote."),
    option("ballot", "--threshold", type=int, metavar="N", help="The number of votes that decide.  [more than half]"),
    option("panel and convergence", "--debaters", type=int, metavar="N", help="The number of debaters."),
    option("panel", "--question-type", type=click.Choice(_TYPES), metavar="T", help=f"{', '.join(_TYPES)}."),
    option("panel", "--adjudicator", type=click.Choice(("algorithmic", "model")), help="What measures consensus."),
    option("convergence", "--similarity", type=Amount(), metavar="S", help="The overlap that ends the debate, 0 to 1."),
    option("convergence", "--no-judge", is_flag=True, help="Decide by majority, without a judge."),
)


class Flag(NamedTuple):
    """An option that some formats know: its parameter, how it is written, and the formats."""

    parameter: str
    written: str
    formats: tuple[str, ...]


FLAGS = (
    Flag("positions", "--position ID=TEXT", ("adversarial",)),
    Flag("cast", "--debater NAME=STANCE", ("stances",)),
    Flag("cast", "--debater NAME", ("ballot",)),
    Flag("personas", "--persona SEAT=TEXT", ("adversarial",)),
    Flag("personas", "--persona NAME=TEXT", ("stances", "ballot")),
    Flag("output_schema", "--output-schema FILE", ("stances",)),
    Flag("no_synthesizer", "--no-synthesizer", ("stances",)),
    Flag("votes", "--vote OPTION", ("ballot",)),
    Flag("threshold", "--threshold N", ("ballot",)),
    Flag("debaters", "--debaters N", ("panel", "convergence")),
    Flag("question_type", "--question-type T", ("panel",)),
    Flag("adjudicator", "--adjudicator WHO", ("panel",)),
    Flag("similarity", "--similarity S", ("convergence",)),
    Flag("no_judge", "--no-judge", ("convergence",)),
)
"""The options in the order in which an error lists them."""


class Asking(NamedTuple):
    """The option that gives the debaters of a format, empty where it has none, and whether the caller assigns their
    stances."""

    debaters: str
    assigned: bool = False


ASKING: Mapping[FormatName, Asking] = complete_formats(
    {
        "adversarial": Asking(""),
        "stances": Asking("--debater", assigned=True),
        "ballot": Asking("--debater"),
        "panel": Asking("--debaters"),
        "convergence": Asking("--debaters"),
    },
    "cli",
    __file__,
)


def chosen(given: Mapping[str, Any], format_: str, base: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request: a file's override a sample's, and the command line's override both.

    Raises `click.UsageError` for an option that the format does not know, `InvalidCase` for a file that is no JSON
    object, `BadRequest` for a member of it that no format knows. Errors name the options of this format.
    """
    asking = ASKING[name_of(format_)] if format_ in NAMES else Asking("")
    if isinstance(asked := click.get_current_context().obj, HelpRequested):
        asked.debaters = asking.debaters
    _refuse_others(given, format_)
    file = _object(given["file"], "options") if given["file"] is not None else {}
    _refuse_unknown(file, format_)
    options = {**base, **file, **_said(given)}
    if given["cast"]:
        options["debaters"] = _cast(given["cast"], format_, assigned=asking.assigned)
    if asking.assigned and not options.get("debaters"):
        raise click.UsageError("the format assigns stances: give --debater NAME=STANCE for each debater")
    if personas := once("--persona", given.get("personas", ())):
        if asking.debaters:
            options["debaters"] = _in_roles(options.get("debaters"), personas)
        else:
            options["personas"] = personas
    return options


def once(option: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Pairs as a mapping; raises `InvalidCase` where a name was given twice."""
    told = list(pairs)
    if len({name for name, _ in told}) != len(told):
        raise InvalidCase(f"{option} was given twice for the same name: {[name for name, _ in told]}")
    return dict(told)


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
        known = [one for one in FLAGS if one.parameter == flag.parameter]
        formats = list(dict.fromkeys(name for one in known for name in one.formats))
        if format_ not in formats:
            name = flag.written.partition(" ")[0]
            raise click.UsageError(f"{name} is for {_listed(formats, 'and')}; {_instead(format_, formats)}")


def _refuse_unknown(file: Mapping[str, Any], format_: str) -> None:
    """Refuse a member that no format knows, and list those of this format, or all if the format is not chosen yet.

    A member of another format is refused later, when the options are resolved, with the names of its formats.
    """
    every = tuple(dict.fromkeys(name for names in OPTIONS_OF.values() for name in names))
    if strangers := [name for name in file if name not in every]:
        name = strangers[0][:_NAME_CHARACTERS]
        whose, known = (format_, OPTIONS_OF[name_of(format_)]) if format_ in NAMES else ("options", every)
        raise BadRequest(
            f"object contains unknown field {name!r}; {whose} may have: {', '.join(known)}",
            pointers=("/options",),
        )


def _instead(format_: str, formats: list[str]) -> str:
    if format_ == AUTO:
        return f"with --format {AUTO} the task type decides: name {_listed(formats, 'or')}, or leave it out"
    own = [flag.written for flag in FLAGS if format_ in flag.formats]
    return f"{format_} takes {_listed([*own, '--rounds N'], 'and')}" if own else f"found --format {format_}"


def _listed(names: list[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _cast(pairs: tuple[tuple[str, str], ...], format_: str, *, assigned: bool) -> list[dict[str, str]]:
    """The debaters in their order, with their stances where the format assigns them."""
    for name, stance in pairs:
        if assigned and not stance:
            raise click.UsageError(f"{format_} needs a stance for each debater: --debater {name}=STANCE")
        if stance and not assigned:
            raise click.UsageError(f"a {format_} assigns no stances: --debater {name}; --persona describes a debater")
    return [{"name": name, **({"stance": stance} if stance else {})} for name, stance in pairs]


def _in_roles(debaters: Any, personas: Mapping[str, str]) -> list[Any]:
    """The debaters, with a role for those that ``personas`` names."""
    known = [d for d in debaters if isinstance(d, dict)] if isinstance(debaters, list) else []
    names = [d.get("name") for d in known]
    if strangers := [name for name in personas if name not in names]:
        told = f"the debaters are {', '.join(map(str, names))}" if names else "name debaters by --debater"
        raise click.UsageError(f"--persona is for a debater, found {strangers[0]!r}; {told}")
    return [{**d, "role": personas[d["name"]]} if d.get("name") in personas else d for d in known]


def _object(name: str, what: str) -> dict[str, Any]:
    """The JSON object in a file, or on standard input."""
    raw = sys.stdin.read(FILE_CHARACTERS + 1) if name == STDIN else documents.read_text(Path(name), FILE_CHARACTERS)
    place = "standard input" if name == STDIN else name
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InvalidCase(f"expected the {what} as one JSON object in {place}, found: {error}") from error
