"""The replies of the convergence format's seats: typed answers from the debaters, and a judge's own."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from service.debate.replies.parts import ConfidenceLevel, Statement, Words, numbered


class Position(
    Struct,
    frozen=True,
    rename="camel",
    tag="convergence.debater",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A debater's answer: ``final_answer`` in few words, and the arguments that it rests on."""

    final_answer: Annotated[str, Meta(min_length=1, max_length=400)]
    arguments: Annotated[tuple[Statement, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        numbered("arguments", [a.n for a in self.arguments])


class Ruling(
    Struct,
    frozen=True,
    rename="camel",
    tag="convergence.judge",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The judge's final answer over the whole transcript, with a brief justification and the uncertainties."""

    final_answer: Annotated[str, Meta(min_length=1, max_length=400)]
    justification: Words
    confidence_level: ConfidenceLevel
    explicit_uncertainties: Annotated[tuple[Words, ...], Meta(min_length=1)]
