"""Rules between keys of the policy; each check raises `WrongSetting` at the key to change."""

from __future__ import annotations

from collections.abc import Collection

from service.debate.ballot import ABSTENTION, ESCALATE
from service.debate.formats import FormatName, name_of
from service.debate.labels import clashing
from service.errors import did_you_mean
from service.policy.bounds import within
from service.policy.dropin import DropIn
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.formats import FORMAT_RULES, FORMATS
from service.policy.policy import Policy
from service.policy.rules import (
    AS,
    DEBATERS_MIN,
    BallotPolicy,
    DebatePolicy,
    FormatsPolicy,
    GatePolicy,
)
from service.policy.task_types import DECLINE, REFUSE

VOTE_CHARACTERS = 200
"""As long as a vote may be written in a reply."""


def check_gate(gate: GatePolicy) -> None:
    """The gate debates something, does not contradict itself, and maps to a task type that it knows."""
    path: Path = ("gate",)
    faults = Faults()
    if not gate.risk_categories:
        faults.note((*path, "risk_categories"), "it is empty, and then nothing is ever debated; list the task types")
    if both := sorted(set(gate.always) & set(gate.never)):
        faults.note((*path, "never"), f"{both} stand under always too")
    unknown = gate.unknown_task_type
    mapped = unknown.startswith(AS) and unknown.removeprefix(AS) in gate.task_types
    if unknown not in (DECLINE, REFUSE) and not mapped:
        known = ", ".join(gate.task_types)
        faults.note(
            (*path, "unknown_task_type"),
            f'expected "{DECLINE}", "{REFUSE}", or "{AS}" and one of: {known}; found {unknown!r}',
        )
    faults.refuse()


def check_ceiling(debate: DebatePolicy) -> None:
    """The usual ceiling is no more than the highest."""
    if not 0 < debate.ceiling <= debate.ceiling_max:
        raise WrongSetting(("debate", "ceiling_usd"), "expected more than 0 and not more than debate.ceiling_max_usd")


def check_usual_numbers(formats: FormatsPolicy, name: FormatName) -> None:
    """What a format is played with is no more than what a case may ask for."""
    rules, faults = FORMAT_RULES[name], Faults()
    if rules.size is None:
        return
    path, size = ("formats", name), rules.size(formats)
    with faults.noted():
        within((*path, "rounds"), size.rounds, 1, size.rounds_max)
    if size.debaters is not None:
        with faults.noted():
            within((*path, "debaters"), size.debaters, DEBATERS_MIN, size.debaters_max)
    faults.refuse()


def check_votes(ballot: BallotPolicy) -> None:
    """The default votes differ in every spelling, and are not too many."""
    path: Path = ("formats", "ballot", "votes")
    options = tuple(vote for vote in ballot.votes if vote != ESCALATE)
    plain = all(vote.isprintable() and len(vote) <= VOTE_CHARACTERS for vote in options)
    if not options or not plain or clashing((*options, ESCALATE, ABSTENTION)):
        beside = f"{ESCALATE!r} and {ABSTENTION!r}"
        raise WrongSetting(path, f"expected different printable options beside {beside}, found {list(ballot.votes)}")
    if len(options) + 1 > ballot.votes_max:
        most = ballot.votes_max
        raise WrongSetting(path, f"expected at most votes_max, {most}, with {ESCALATE!r}, found {len(options) + 1}")


def check_task_types(policy: Policy) -> None:
    """Every rule about a task type is about one that a case can have."""
    places: tuple[tuple[Path, tuple[str, ...]], ...] = (
        (("gate", "thresholds"), tuple(policy.gate.thresholds)),
        (("debate", "human_review"), policy.debate.human_review),
    )
    known, faults = sorted(policy.task_types), Faults()
    for path, named in places:
        if unknown := sorted(set(named) - set(known)):
            faults.note(path, f"no case can have the task types {unknown}; there are {known}")
    usual = policy.dropin.task_type if isinstance(policy.dropin, DropIn) else None
    if usual is not None and usual not in known:
        place: Path = ("dropin", "task_type")
        faults.note(place, f"policy knows no task type {usual!r}; there are {known}{did_you_mean(usual, known)}")
    for task in policy.formats.auto:
        if task not in known:
            near = did_you_mean(task, known)
            faults.note(("formats", "auto", task), f"no case can have the task type {task!r}; there are {known}{near}")
    faults.refuse()


def check_usual_format(policy: Policy, seats: Collection[str]) -> None:
    """The format of a case that names none exists, and its seats are among the written ones."""
    _check_chosen(policy, seats, ("debate", "format"), policy.debate.format, "be the usual format")


def check_automatic_formats(policy: Policy, seats: Collection[str]) -> None:
    """The formats that are chosen automatically exist, and their seats are among the written ones."""
    faults = Faults()
    for task, name in policy.formats.auto.items():
        with faults.noted():
            _check_chosen(policy, seats, ("formats", "auto", task), name, "be chosen automatically")
    faults.refuse()


def _check_chosen(policy: Policy, seats: Collection[str], path: Path, name: object, what: str) -> None:
    """Raise `WrongSetting` for a format that is none, cannot be what it is chosen for, or lacks seats."""
    offered = [known for known in FORMATS if not FORMAT_RULES[known].assigned]
    if not isinstance(name, str) or name not in tuple(FORMATS):
        near = did_you_mean(name, offered) if isinstance(name, str) else ""
        raise WrongSetting(path, f"expected one of: {', '.join(offered)}, found {name!r}{near}")
    if FORMAT_RULES[name_of(name)].assigned:
        raise WrongSetting(path, f"{name} cannot {what}: only the caller can assign its stances")
    if missing := [seat for seat in FORMAT_RULES[name_of(name)].needs(policy.formats) if seat not in seats]:
        tables = ", ".join(f"seats.{seat}" for seat in missing)
        raise WrongSetting(path, f"the format {name!r} needs seats that are not filled; add {tables}")
