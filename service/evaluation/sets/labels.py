"""What is right: the labels of a set, which are read at scoring alone.

Nothing that renders a request imports this module (`service.evaluation.sets.items`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from service.evaluation.sets.form import AnswerText, Basis, Id, Kind, Note, Text

Family = Literal[
    "misreadFigure",
    "deadlineOrDate",
    "dutyAgainstRight",
    "partiesSwapped",
    "exceptionLeftOut",
    "contradictingClause",
    "arithmeticOrUnit",
    "beyondPremises",
    "supersededVersion",
]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""The families of flaws, in the order of reports."""
Feature = Literal["length", "family", "confident", "citations"]
FEATURES: tuple[Feature, ...] = get_args(Feature)
"""The features of a side that should not count, in the order of reports."""
Side = Literal["proposer", "critic"]


class Rating(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One rater's own answer."""

    rater: Annotated[str, Meta(min_length=1, max_length=200)]
    answer: AnswerText


class Span(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The decisive passage, exactly as it stands in a document of the item."""

    document: Annotated[str, Meta(min_length=1, max_length=60)]
    quote: Text


class QuestionLabel(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The right answer of a question; ``kappa`` is the agreement of its raters."""

    id: Id
    answer: AnswerText
    basis: Basis
    note: Note
    raters: tuple[Rating, ...] = ()
    kappa: Annotated[float, Meta(ge=-1, le=1)] | None = None


class CriticLabel(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Whether a given proposal has the planted flaw, and where it stands or would stand: both twins have the same.

    ``argument`` is the number of the proposal's argument, ``value`` the decisive value as the document writes it.
    """

    id: Id
    answer: Literal["flawed", "sound"]
    basis: Literal["construction"]
    family: Family
    argument: Annotated[int, Meta(ge=1, le=99)]
    span: Span
    note: Note
    value: Annotated[str, Meta(min_length=1, max_length=500)] | None = None


class PairLabel(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The right judgement of a moderator, and the side that has the feature which should not count."""

    id: Id
    answer: Literal["upheld", "rejected"]
    basis: Basis
    feature: Feature
    favours: Side
    note: Note


Label = QuestionLabel | CriticLabel | PairLabel
LABEL_TYPES: Mapping[Kind, type[Label]] = {"questions": QuestionLabel, "critic": CriticLabel, "pairs": PairLabel}
MEMBERS = frozenset(name for one in LABEL_TYPES.values() for name in one.__struct_encode_fields__ if name != "id")
"""Every member that a label of some kind has: none of them belongs into an item."""
