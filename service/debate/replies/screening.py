"""The reply of the screener: the passages of a case that speak to a model, in the words of the case."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.debate.replies.parts import Words
from service.debate.suspicions import InjectionFamily

PASSAGES_MAX = 30
"""The most passages of one reply. A longer list is unusable, so a vendor cannot fill the record."""
QUOTE_MAX = 2_000
"""The most characters of one quotation."""
NAME_MAX = 200
"""The most characters of the name of a field's text."""
ShownField = Literal[
    "question",
    "answer",
    "position",
    "title",
    "document",
    "persona",
    "instructions",
    "debater",
    "stance",
    "vote",
    "outputSchema",
]
"""The fields of a case that a screener is shown: those that reach the model of any seat."""
Quote = Annotated[str, Meta(min_length=1, max_length=QUOTE_MAX)]
Name = Annotated[str, Meta(max_length=NAME_MAX)]


class ScreenedPassage(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A passage that speaks to a model, in the words of the case. Code looks for the words, and trusts no place.

    ``name`` says which one of the field it is: the id of a document or position, or a seat.
    """

    field: ShownField
    """The field of the case that holds the passage, by the screener's word."""
    name: Name
    """The id or seat of that field's text, by the screener's word. Empty where a case has only one."""
    quote: Quote
    """The words that the screener quotes. Code looks for them in the case."""
    family: InjectionFamily
    """What the passage does."""
    why: Words
    """Why it speaks to a model, in the screener's words."""


class Screening(
    Struct,
    frozen=True,
    rename="camel",
    tag="screener",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Whether a case holds passages that speak to a model, and which. ``suspicious`` may hold without any of them."""

    suspicious: bool
    """Whether the screener holds the case for suspicious."""
    passages: tuple[ScreenedPassage, ...] = ()

    def __post_init__(self) -> None:
        if len(self.passages) > PASSAGES_MAX:
            raise ValueError(f"passages has at most {PASSAGES_MAX} entries, found {len(self.passages)}")

    @property
    def suspects(self) -> bool:
        """Whether the screener holds the case for suspicious: it says so, or it names a passage."""
        return self.suspicious or bool(self.passages)
