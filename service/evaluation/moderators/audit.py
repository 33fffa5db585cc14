"""The form of an audit of recorded debates: what was read, every statistic with its input, findings and sentences.

figures      each statistic by name with its input and output: `gainsay evaluate statistic` recomputes every one
read         debates = counted for a moderator + left out by reason: nothing drops out unsaid
series       a moderator's debates of one task type, or of all, whole and by window
findings     from a closed list, decided by figures alone; sentences come from findings (`sentences`)
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.evaluation.moderators.windows import Every
from service.evaluation.scoring.result import Figure, Finding, Outcome, Standing

Part = Literal["finding", "excluded", "power", "notShown", "simulated", "evaluations"]
ALL = "*"
"""In the place of a task type: all of them together."""
SIDE, POSITION = "side", "position"


class Period(Struct, frozen=True, rename="camel"):
    """What was asked: debates that began from ``since`` on and before ``until`` (RFC 3339), of these tenants.

    An empty ``task_types`` stands for all.
    """

    tenants: tuple[str, ...]
    task_types: tuple[str, ...]
    since: str
    until: str
    every: Every


class Read(Struct, frozen=True, rename="camel"):
    """How many debates the period has: ``debates`` = ``counted`` + all of ``left``, by reason."""

    debates: int
    counted: int
    left: dict[str, int]


class ModeratorShown(Struct, frozen=True, rename="camel"):
    """A model under one version of the moderator's prompt, and the debates that it moderated.

    ``missing`` are those without a readable moderation. ``id`` stands for it in figures and findings.
    """

    id: str
    alias: str
    model: str
    family: str
    prompt: str
    version: str
    sha256: str
    debates: int
    missing: int


class WindowShown(Struct, frozen=True, rename="camel"):
    """A window of a series: its figures, and their p after adjustment, where enough cases are decided."""

    name: str
    side: str
    position: str | None
    side_adjusted: float | None
    position_adjusted: float | None


class Series(Struct, frozen=True, rename="camel"):
    """A moderator's debates of a task type (``*``: of all) over the whole period, and by window.

    ``position`` is absent where no debate has a moderation in the reverse order.
    """

    moderator: str
    task_type: str
    debates: int
    missing: int
    side: str
    position: str | None
    windows: tuple[WindowShown, ...]


class ConcludedAudit(Struct, frozen=True, rename="camel"):
    """A question of an audit on golden pairs that was concluded in the period, beside the recorded debates.

    ``moderators`` are alias and vendor's name, ``prompts`` the hashes of the pinned manifests. ``figure`` decides it.
    """

    evaluation: str
    name: str
    concluded: str
    window: str
    arm: str
    moderators: tuple[str, ...]
    prompts: tuple[str, ...]
    standing: Standing
    simulated: bool
    aspect: str
    outcome: Outcome
    figure: str


class Said(Struct, frozen=True, rename="camel"):
    """A sentence that a report may show, and the part of it that it belongs to."""

    part: Part
    text: str


class ModeratorAudit(Struct, frozen=True, rename="camel", tag="gainsay.moderators/1", tag_field="form"):
    """A whole audit. ``family`` names the figures whose p-values are adjusted together, in the order of ``adjusted``.

    ``explored`` does so for the p-values of windows, which decide nothing.
    """

    period: Period
    alpha: float
    fewest: int
    simulated: bool
    read: Read
    moderators: tuple[ModeratorShown, ...]
    series: tuple[Series, ...]
    family: tuple[str, ...]
    explored: tuple[str, ...]
    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    evaluations: tuple[ConcludedAudit, ...]
    sentences: tuple[Said, ...]

    def figure(self, id_: str) -> Figure:
        """The figure with this id; raises `KeyError`."""
        for figure in self.figures:
            if figure.id == id_:
                return figure
        raise KeyError(id_)

    def moderator(self, id_: str) -> ModeratorShown:
        """The moderator with this id."""
        return next(one for one in self.moderators if one.id == id_)

    def said(self, part: Part) -> tuple[str, ...]:
        """The sentences of a part, in their order."""
        return tuple(sentence.text for sentence in self.sentences if sentence.part == part)


def headline(audit: ModeratorAudit) -> Outcome:
    """The one finding by which an audit is named: a tilt weighs most, and one that was looked for more than too few."""
    found = {finding.outcome for finding in audit.findings}
    return next((outcome for outcome in ("tilt", "noneSeen") if outcome in found), "notEnough")


def encode(audit: ModeratorAudit) -> bytes:
    """The whole audit as JSON, members sorted."""
    return msgspec.json.encode(audit, order="sorted")


def members(audit: ModeratorAudit) -> dict[str, Any]:
    """The audit as JSON members."""
    found: dict[str, Any] = msgspec.to_builtins(audit)
    return found


def audit_of(written: bytes) -> ModeratorAudit:
    """The audit of its JSON; raises `msgspec.ValidationError` for anything else."""
    return msgspec.json.decode(written, type=ModeratorAudit)
