"""The replies of the adversarial format's seats."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from service.debate.findings import Citation
from service.debate.replies.parts import (
    Basis,
    Conclusion,
    ConfidenceLevel,
    Movement,
    Number,
    Score,
    Statement,
    Words,
    numbered,
)


class Objection(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A likely objection, and the proposer's answer to it in advance."""

    text: Words
    """The objection that the proposer expects."""
    answer: Words
    """Its answer in advance."""


class Point(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A critic's challenge: ``attacks`` names the proposer's arguments by number, ``position`` their position."""

    n: Number
    text: Words
    attacks: tuple[Number, ...] = ()
    citations: tuple[Citation, ...] = ()
    basis: Basis = "evidence"
    position: str | None = None


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A rebuttal of the critic's point ``n``."""

    n: Number
    text: Words
    citations: tuple[Citation, ...] = ()
    basis: Basis = "evidence"


class Concession(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The critic's point ``n`` is granted, with what follows from that."""

    n: Number
    """The number of the critic's point that is granted, from 1 to 99."""
    text: Words
    """What follows from granting it."""


class Shift(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The seat's movement by new evidence since its reply in the round before."""

    movement: Movement
    """How the seat moved since its reply in the round before."""
    because: Words
    """Why, in the seat's words."""


class KeyDocument(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A document that the question turns on, and why."""

    source_id: str
    """The id of the document."""
    why: Words
    """Why the question turns on it."""


class ArgumentScore(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The quality of the arguments under one neutral label, from 1 to 10."""

    label: str
    score: Score


class Framing(
    Struct, frozen=True, rename="camel", tag="framing", tag_field="seat", omit_defaults=True, forbid_unknown_fields=True
):
    """The question as a proposition that can be argued (reference 7.1, step 1)."""

    thesis: Words
    """The question as a proposition that can be argued."""
    scope: Words
    """What the proposition covers, and what not."""
    criteria: tuple[Words, ...]
    """By what it is to be judged."""
    key_documents: tuple[KeyDocument, ...]
    """The documents on which the question turns."""


class Proposal(
    Struct,
    frozen=True,
    rename="camel",
    tag="proposer",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The case for the proposition, arguments in order of priority (reference 6.1)."""

    thesis: Words
    arguments: tuple[Statement, ...]
    conclusion: Conclusion
    objections: tuple[Objection, ...] = ()
    shift: Shift | None = None

    def __post_init__(self) -> None:
        numbered("arguments", [a.n for a in self.arguments])


class Critique(
    Struct, frozen=True, rename="camel", tag="critic", tag_field="seat", omit_defaults=True, forbid_unknown_fields=True
):
    """The strongest case against the proposition, with the critic's rating of itself (reference 6.2)."""

    thesis: Words
    points: tuple[Point, ...]
    challenge_strength: Score
    conclusion: Conclusion
    shift: Shift | None = None

    def __post_init__(self) -> None:
        numbered("points", [p.n for p in self.points])


class Rebuttal(
    Struct,
    frozen=True,
    rename="camel",
    tag="rebuttal",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Answers to the critic's points by number, and the points that are granted (reference 7.1, step 4)."""

    thesis: Words
    rebuttals: tuple[Answer, ...]
    concessions: tuple[Concession, ...]
    conclusion: Conclusion
    shift: Shift | None = None

    def __post_init__(self) -> None:
        numbered("rebuttals", [a.n for a in self.rebuttals])
        numbered("concessions", [c.n for c in self.concessions])


class Moderation(
    Struct,
    frozen=True,
    rename="camel",
    tag="moderator",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """The evaluation of the arguments under neutral labels, and the synthesis (reference 6.1 and 6.3).

    There is always at least one uncertainty (reference 13.4).

    ``ranking`` orders the labels of the positions, best first, where a case has several.
    """

    scores: tuple[ArgumentScore, ...]
    resolved_points: tuple[Words, ...]
    unresolved_points: tuple[Words, ...]
    recommend_another_round: bool
    synthesis: Words
    confidence_level: ConfidenceLevel
    explicit_uncertainties: Annotated[tuple[Words, ...], Meta(min_length=1)]
    conclusion: Conclusion
    ranking: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        labels = [s.label for s in self.scores]
        if len(set(labels)) != len(labels):
            raise ValueError("every label must be scored once, found one that is scored again")
