"""Arms and comparisons of a plan file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import fields

from service.debate.formats import NAMES, FormatName
from service.debate.options import DEBATERS_MAX, AskedOptions
from service.errors import did_you_mean
from service.evaluation.plan.model import DOES, Arm, Comparison, Does, Kind
from service.evaluation.plan.tables import Noted, Path, Table, shown

ARM = ("name", "does", "format", "options", "drafts", "until")
COMPARISON = ("first", "second")
UNTIL: tuple[Literal["critic", "whole"], ...] = ("critic", "whole")
_MEMBERS: Mapping[Does, tuple[str, ...]] = {
    "debate": ("format", "options"),
    "single": (),
    "vote": ("drafts",),
    "critic": ("until", "options"),
    "moderator": ("options",),
}
"""The members that an arm has beside its name, by what it does."""
_OPTIONS = {field.name: field.encode_name for field in fields(AskedOptions)}
_ANSWERS = "the closed answers of the set say it, for all arms alike"
_BY_PLAN = {
    "models": "the plan's table [models] names the models, for all arms alike",
    **dict.fromkeys(("votes", "positions", "instructions", "debater_instructions", "judge_instructions"), _ANSWERS),
}
"""Options that an arm must not have, and what says it instead."""
_AT = re.compile(r" - at `\$\.?([^`]*)`$")


def read_arms(file: Table, kind: Kind, noted: Noted) -> tuple[Arm, ...]:
    """The arms of a plan of one kind, in the order of the file."""
    arms: list[Arm] = []
    for at, table in file.tables("arms", ARM):
        arm = _arm(table, kind, at, noted)
        if arm.name and any(other.name == arm.name for other in arms):
            table.note("name", f"the name {shown(arm.name)} is used twice")
        arms.append(arm)
    return tuple(arms)


def _arm(table: Table, kind: Kind, at: Path, noted: Noted) -> Arm:
    name = table.name("name")
    does = table.choice("does", DOES[kind])
    for member in ("format", "options", "drafts", "until"):
        if table.has(member) and member not in _MEMBERS[does] and noted.sound((*at, "does")):
            table.note(member, f"an arm that does {shown(does)} has no such member; leave it out")
    format_: FormatName | None = table.choice("format", NAMES) if does == "debate" else None
    drafts = table.whole("drafts", 2, DEBATERS_MAX) if does == "vote" else None
    until = table.choice("until", UNTIL) if does == "critic" else None
    options = _options(table.raw("options"), (*at, "options"), noted) if table.has("options") else {}
    return Arm(name=name, does=does, format=format_, options=options, drafts=drafts, until=until)


def _options(written: Any, at: Path, noted: Noted) -> dict[str, Any]:
    """The options of a debate, by their names in a request; each wrong one is noted."""
    if not isinstance(written, dict):
        noted.note(at, f"expected a table of options, found {shown(written)}")
        return {}
    options: dict[str, Any] = {}
    for name, value in written.items():
        if name in _BY_PLAN:
            noted.note((*at, name), f"leave this out: {_BY_PLAN[name]}")
        elif name not in _OPTIONS:
            noted.note((*at, name), f"there is no such option{did_you_mean(name, _OPTIONS)}")
        else:
            try:
                msgspec.convert({_OPTIONS[name]: value}, AskedOptions)
            except msgspec.ValidationError as error:
                noted.note((*at, name), _AT.sub("", str(error)))
            options[_OPTIONS[name]] = value
    return options


def read_comparisons(file: Table, kind: Kind, arms: Sequence[Arm]) -> tuple[Comparison, ...]:
    """The comparisons of a lift, the primary one first; none of another kind."""
    known = [arm.name for arm in arms if arm.name]
    found: list[Comparison] = []
    if kind != "lift":
        if file.has("comparisons"):
            file.note("comparisons", f"a plan of the kind {kind} compares no arms; leave this out")
        return ()
    for _, table in file.tables("comparisons", COMPARISON):
        first, second = table.text("first"), table.text("second")
        for member, name in (("first", first), ("second", second)):
            if name and known and name not in known:
                table.note(member, f"there is no arm {shown(name)}{did_you_mean(name, known)}")
        if first and first == second:
            table.note("second", f"an arm is not compared with itself, found {shown(second)} twice")
        if Comparison(first, second) in found or Comparison(second, first) in found:
            table.note("first", f"{first} and {second} are compared twice")
        found.append(Comparison(first, second))
    return tuple(found)
