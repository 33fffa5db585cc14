"""The replies of the stances format's seats: debaters, one judge, and a synthesizer for the caller's schema."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from service.debate.replies.parts import ConfidenceLevel, Statement, Words, numbered


class Argument(
    Struct,
    frozen=True,
    rename="camel",
    tag="stances.debater",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A debater's argument for its assigned stance, in numbered parts so that each stands or falls by its evidence."""

    arguments: Annotated[tuple[Statement, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        numbered("arguments", [a.n for a in self.arguments])


class Judgement(
    Struct,
    frozen=True,
    rename="camel",
    tag="stances.judge",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The judge's ``{verdict, winner, reasoning}`` on the whole transcript, with the uncertainties.

    ``winner`` is free-form and may name a position that no debater argued; null says that the verdict combines stances.
    """

    verdict: Words
    winner: Words | None
    reasoning: Words
    confidence_level: ConfidenceLevel
    explicit_uncertainties: Annotated[tuple[Words, ...], Meta(min_length=1)]


class Projection(
    Struct,
    frozen=True,
    rename="camel",
    tag="stances.synthesizer",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The debate in the caller's own shape: ``output`` is JSON text that fits the case's output schema."""

    output: Words
