"""The result of an evaluation: what was asked and counted, every statistic with its input, findings and sentences.

figures      each statistic by name with its input and output: `gainsay evaluate statistic` recomputes every one
counts       asked = answered + missing by reason, for each arm: nothing drops out of a denominator
findings     from a closed list, decided by figures alone; sentences come from findings (`sentences`)
compared     the result as canonical JSON without ``lostToInterruptions``: byte-equal however often a run was killed
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.evaluation.plan.power import Power
from service.evaluation.scoring.cases import SetShown

Kind = Literal["lift", "critic", "moderator"]
Outcome = Literal["better", "worse", "inconclusive", "passes", "stops", "blindSpot", "tilt", "noneSeen", "notEnough"]
Because = Literal[
    "nothingDiffers",
    "pAboveAlpha",
    "intervalHoldsZero",
    "belowMargin",
    "missingAboveLimit",
    "groupsDisagree",
    "hitsTooLow",
    "alarmsTooHigh",
    "ratingTooLow",
    "unusableTooMany",
    "familyMissed",
    "tooFewCases",
    "noCases",
]
"""Why a finding is no better one."""
Standing = Literal["registered", "exploratory"]
WhyExploratory = Literal["planSaysSo", "planChanged", "openSplit", "wornSet"]
"""Why a result supports no claim."""


class Figure(Struct, frozen=True, rename="camel"):
    """A statistic with its input and its output, by which it is recomputed; ``id`` is its place in the result."""

    id: str
    statistic: str
    input: dict[str, Any]
    output: dict[str, Any]


class Counts(Struct, frozen=True, rename="camel"):
    """A denominator that adds up: ``asked`` = ``answered`` + all of ``missing``, by reason."""

    asked: int
    answered: int
    missing: dict[str, int]


class ArmShown(Struct, frozen=True, rename="camel"):
    """What one arm did: its debates (items times repeats), its items, and its money in micro-dollars.

    ``debates`` counts runs, ``items`` the items by their majority. ``right`` is ``None`` where being right is not what
    is measured. ``models`` are seat, alias and vendor's name, ``prompts`` the hashes of the pinned prompts: each that
    was seen. ``fallbacks`` are turns in which another model spoke than the seat's own.
    """

    name: str
    does: str
    debates: Counts
    items: Counts
    right: int | None
    charge: MicroUSD
    attempts: int
    unusable: int
    fallbacks: int
    models: tuple[str, ...]
    prompts: tuple[str, ...]


class Finding(Struct, frozen=True, rename="camel"):
    """What a question came to. ``about`` names arms, a task type, a family or an aspect; ``figures`` decide it.

    ``visible`` is the smallest effect (a share) that these cases would have shown, where nothing was seen.
    """

    question: str
    about: tuple[str, ...]
    outcome: Outcome
    figures: tuple[str, ...]
    because: tuple[Because, ...] = ()
    visible: float | None = None
    primary: bool = False


class Row(Struct, frozen=True, rename="camel"):
    """A row of a table that explains and decides nothing, such as the chance that a rule passes a good critic."""

    table: str
    cells: dict[str, Any]


class Sentence(Struct, frozen=True, rename="camel"):
    """A sentence that a report may show, and the part of it that it belongs to."""

    part: Literal["finding", "excluded", "power", "notShown", "provenance", "simulated", "standing"]
    text: str


class Result(Struct, frozen=True, rename="camel", tag="gainsay.result/1", tag_field="form"):
    """A whole result.

    ``planned`` items are those of the sets, ``items`` those that were asked, ``groups`` what they are not independent
    of. ``alpha``, ``margin`` and ``missing_limit`` are shares. ``stopped`` says why the run ended early, if it did.
    """

    kind: Kind
    plan: str
    plan_name: str
    question: str
    standing: Standing
    why_exploratory: tuple[WhyExploratory, ...]
    stopped: str | None
    simulated: bool
    alpha: float
    margin: float
    missing_limit: float
    repeats: int
    seed: str
    sets: tuple[SetShown, ...]
    planned: int
    items: int
    groups: int
    power: Power
    arms: tuple[ArmShown, ...]
    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    rows: tuple[Row, ...]
    sentences: tuple[Sentence, ...]
    lost_to_interruptions: MicroUSD

    def figure(self, id_: str) -> Figure:
        """The figure with this id; raises `KeyError`."""
        for figure in self.figures:
            if figure.id == id_:
                return figure
        raise KeyError(id_)

    def find(self, id_: str) -> Figure | None:
        """The figure with this id, if the result has it."""
        return next((figure for figure in self.figures if figure.id == id_), None)

    def table(self, name: str) -> tuple[Row, ...]:
        """The rows of a table, in their order."""
        return tuple(row for row in self.rows if row.table == name)


_WEIGHT: tuple[Outcome, ...] = ("stops", "tilt", "worse", "notEnough", "inconclusive", "passes", "noneSeen", "better")


def headline(result: Result) -> Outcome:
    """The one finding by which a result is named: of its primary findings the one that weighs most.

    A pull that was seen weighs most in every audit, whichever the plan asked for first: all are adjusted together.
    """
    primary = [finding.outcome for finding in result.findings if finding.primary or finding.outcome == "tilt"]
    return min(primary, key=_WEIGHT.index, default="notEnough" if result.kind == "moderator" else "inconclusive")


def members(result: Result) -> dict[str, Any]:
    """The result as JSON members, ``lostToInterruptions`` among them."""
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found


def compared(result: Result) -> bytes:
    """The part that has to be byte-equal after kills, as canonical JSON: members sorted, no spaces, UTF-8.

    Numbers have nine significant digits: the last ones of a double may differ with a machine's library of mathematics.
    """
    kept = {name: _rounded(value) for name, value in members(result).items() if name != "lostToInterruptions"}
    return msgspec.json.encode(kept, order="sorted")


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.9g}")
        case dict():
            return {name: _rounded(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_rounded(inner) for inner in value]
        case _:
            return value


def result_hash(result: Result) -> str:
    """SHA-256 of the compared part, in hex: by this a result is named in the log."""
    return sha256(compared(result)).hexdigest()


def result_of(written: bytes) -> Result:
    """The result of its whole JSON; raises `msgspec.ValidationError` for anything else."""
    return msgspec.json.decode(written, type=Result)


def encode(result: Result) -> bytes:
    """The whole result as JSON, members sorted."""
    return msgspec.json.encode(result, order="sorted")
