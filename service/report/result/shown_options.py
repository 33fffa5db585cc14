"""A debate's options as results, events and quotes show them: shares from 0 to 1, usual values among them."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
    TrackRecord,
)
from service.report.result.shares import share


class ShownConvergenceOptions(
    ConvergenceOptions, frozen=True, rename="camel", tag="convergence/1", tag_field="format", omit_defaults=False
):
    """The options of convergence, each of them, also where it has its usual value.

    ``max_rounds`` counts the rounds after the independent round 0. ``debaters`` are those that the caller has named, or
    a number of debaters without names. ``convergence_similarity`` is a share from 0 to 1. Instructions are absent where
    the case gave none.
    """

    convergence_similarity: float = 0.85  # type: ignore[assignment]
    """The overlap of words that ends the debate: a share from 0 to 1."""
    debater_instructions: str | UnsetType = UNSET  # type: ignore[assignment]
    judge_instructions: str | UnsetType = UNSET  # type: ignore[assignment]


class ShownTrackRecord(TrackRecord, frozen=True, rename="camel"):
    """A model's track record on questions of one type; ``score`` is a share from 0 to 1."""

    score: float  # type: ignore[assignment]
    """The mean of the model's scores in these debates: a share from 0 to 1, drawn towards 0.5 where there are few."""


class ShownPanelOptions(
    PanelOptions, frozen=True, rename="camel", tag="panel/1", tag_field="format", omit_defaults=True
):
    """The options of a panel; ``thresholds`` by question type and scores of ``track_records`` are shares from 0 to 1.

    ``max_rounds`` counts the blind round. ``question_type`` is known before the debate; ``typed_by`` names its source.
    If the source is ``classifier``, a turn may still change the type. ``track_records`` are the basis of an automatic
    choice of models.
    """

    thresholds: dict[str, float]  # type: ignore[assignment]
    """The consensus that ends the debate, by type of question: shares from 0 to 1."""
    track_records: tuple[ShownTrackRecord, ...] = ()
    """The track records by which the models were chosen. Absent in mode manual."""


ShownOptions = AdversarialOptions | StancesOptions | BallotOptions | ShownPanelOptions | ShownConvergenceOptions


def shown_options(options: Options) -> ShownOptions:
    """The options of a debate for its caller."""
    match options:
        case ConvergenceOptions():
            similarity = share(options.convergence_similarity)
            given: dict[str, Any] = {name: value for name, value in asdict(options).items() if value is not None}
            return ShownConvergenceOptions(**{**given, "convergence_similarity": similarity})
        case PanelOptions():
            wanted = {kind: share(value) for kind, value in options.thresholds.items()}
            records = tuple(ShownTrackRecord(one.model, one.debates, share(one.score)) for one in options.track_records)
            return ShownPanelOptions(**{**asdict(options), "thresholds": wanted, "track_records": records})
        case _:
            return options
