"""[formats]: what each format but the adversarial one is played with, and how far a case may go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from service.debate.ballot import ABSTENTION, ESCALATE
from service.debate.folding import clashing
from service.debate.options import DEBATERS_MAX
from service.debate.replies.panel import QuestionType
from service.policy import (
    FORMATS,
    BallotPolicy,
    ConvergencePolicy,
    FormatsPolicy,
    PanelPolicy,
    Policy,
    StancesPolicy,
)
from service.settings.lines import Path
from service.settings.reading import (
    WrittenBallot,
    WrittenConvergence,
    WrittenFormats,
    WrittenPanel,
    WrittenStances,
    WrittenThresholds,
    Wrong,
    number,
    read,
    tables,
    within,
)

ROUNDS_MAX = 10
"""The most rounds that any format is given (the longest debates of the panel's reference)."""
DEBATERS_MIN = 2
VOTES_MAX = 20
VOTE_CHARACTERS = 200
"""As long as a vote may be written in a reply."""
TRACK_RECORD_MAX = 1_000


def read_formats(written: Any) -> FormatsPolicy:
    """The rules of each format; raises `Wrong`. What is left out has the default of its type."""
    path: Path = ("formats",)
    found = read(written, WrittenFormats, path)
    return FormatsPolicy(
        auto=dict(tables(found.auto, (*path, "auto"))),
        stances=_stances(found.stances, (*path, "stances")),
        ballot=_ballot(found.ballot, (*path, "ballot")),
        panel=_panel(found.panel, (*path, "panel")),
        convergence=_convergence(found.convergence, (*path, "convergence")),
    )


def check_formats(policy: Policy) -> None:
    """Raise `Wrong` for a format that is to be debated by default, or automatically, and that has no seats."""
    _seated(policy, ("debate", "format"), policy.debate.format)
    for task, name in policy.formats.auto.items():
        path: Path = ("formats", "auto", task)
        if task not in policy.task_types:
            raise Wrong(path, f"no case can have the task type {task!r}; there are {sorted(policy.task_types)}")
        if name not in FORMATS:
            raise Wrong(path, f"expected one of: {', '.join(n for n in FORMATS if n != 'stances')}, found {name!r}")
        if name == "stances":
            raise Wrong(path, "stances cannot be chosen automatically, since nobody but the caller can say which")
        _seated(policy, path, name)


def _seated(policy: Policy, path: Path, name: str) -> None:
    if name == "stances" and path == ("debate", "format"):
        raise Wrong(path, "stances cannot be the usual format, since nobody but the caller can say which")
    if missing := policy.missing(name):
        tables = ", ".join(f"seats.{seat}" for seat in missing)
        raise Wrong(path, f"the format {name!r} needs seats that are not filled; add {tables}")


def _stances(written: Any, path: Path) -> StancesPolicy:
    table = read(written, WrittenStances, path)
    _rounds(table, path)
    within((*path, "debaters_max"), table.debaters_max, DEBATERS_MIN, DEBATERS_MAX)
    return StancesPolicy(**msgspec.structs.asdict(table))


def _ballot(written: Any, path: Path) -> BallotPolicy:
    table = read(written, WrittenBallot, path)
    _rounds(table, path)
    _debaters(table, path)
    within((*path, "votes_max"), table.votes_max, 2, VOTES_MAX)
    fields = msgspec.structs.asdict(table)
    share = _per_mille((*path, "threshold_share"), fields.pop("threshold_share"))
    _votes((*path, "votes"), table.votes, table.votes_max)
    return BallotPolicy(**fields, threshold_per_mille=share)


def _votes(path: Path, votes: tuple[str, ...], most: int) -> None:
    """Options that can be told apart however they are written."""
    options = tuple(vote for vote in votes if vote != ESCALATE)
    plain = all(vote.isprintable() and len(vote) <= VOTE_CHARACTERS for vote in options)
    if not options or not plain or clashing((*options, ESCALATE, ABSTENTION)):
        beside = f"{ESCALATE!r} and {ABSTENTION!r}"
        raise Wrong(path, f"expected different printable options beside {beside}, found {list(votes)}")
    if len(options) + 1 > most:
        raise Wrong(path, f"expected at most votes_max, {most}, with {ESCALATE!r}, found {len(options) + 1}")


def _panel(written: Any, path: Path) -> PanelPolicy:
    table = read(written, WrittenPanel, path)
    _rounds(table, path)
    _debaters(table, path)
    within((*path, "track_record_debates"), table.track_record_debates, 1, TRACK_RECORD_MAX)
    inside = (*path, "thresholds")
    shares = msgspec.structs.asdict(read(table.thresholds, WrittenThresholds, inside))
    thresholds = {name: _per_mille((*inside, name), share) for name, share in shares.items()}
    fields = {**msgspec.structs.asdict(table), "thresholds": cast(Mapping[QuestionType, int], thresholds)}
    return PanelPolicy(**fields)


def _convergence(written: Any, path: Path) -> ConvergencePolicy:
    table = read(written, WrittenConvergence, path)
    _rounds(table, path)
    _debaters(table, path)
    fields = msgspec.structs.asdict(table)
    similarity = _per_mille((*path, "similarity"), fields.pop("similarity"))
    return ConvergencePolicy(**fields, similarity_per_mille=similarity)


def _rounds(table: WrittenStances | WrittenBallot | WrittenPanel | WrittenConvergence, path: Path) -> None:
    within((*path, "rounds_max"), table.rounds_max, 1, ROUNDS_MAX)
    within((*path, "rounds"), table.rounds, 1, table.rounds_max)


def _debaters(table: WrittenBallot | WrittenPanel | WrittenConvergence, path: Path) -> None:
    within((*path, "debaters_max"), table.debaters_max, DEBATERS_MIN, DEBATERS_MAX)
    within((*path, "debaters"), table.debaters, DEBATERS_MIN, table.debaters_max)


def _per_mille(path: Path, written: str) -> int:
    """A share with at most three decimals, as whole per mille."""
    share = number(path, written, 0, 1) * 1_000
    if share != int(share):
        raise Wrong(path, f"expected a share with at most three decimals, found {written!r}")
    return int(share)
