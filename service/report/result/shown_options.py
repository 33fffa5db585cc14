"""A debate's options as results, events and quotes show them: shares from 0 to 1, usual values among them."""

from __future__ import annotations

from msgspec.structs import asdict

from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
)
from service.report.result.shares import share


class ShownConvergenceOptions(
    ConvergenceOptions, frozen=True, rename="camel", tag="convergence/1", tag_field="format", omit_defaults=False
):
    """The options of convergence, each of them, also where it has its usual value.

    ``max_rounds`` counts the rounds after the independent round 0. ``debaters`` are those that the caller has named, or
    a number of debaters without names. ``convergence_similarity`` is a share from 0 to 1.
    """

    convergence_similarity: float = 0.85  # type: ignore[assignment]


ShownOptions = AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ShownConvergenceOptions


def shown_options(options: Options) -> ShownOptions:
    """The options of a debate for its caller."""
    if not isinstance(options, ConvergenceOptions):
        return options
    return ShownConvergenceOptions(
        **{**asdict(options), "convergence_similarity": share(options.convergence_similarity)}
    )
