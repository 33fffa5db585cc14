"""The finding on what came with a case: passages that speak to a model, and what models are not shown of it."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from service.debate.neutral import TakenKind

CaseField = Literal[
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
    "metadata",
    "context",
]
"""The fields of a case that hold a text from outside."""
InjectionFamily = Literal[
    "address",
    "override",
    "verdict",
    "score",
    "format",
    "secrecy",
    "fence",
    "reply",
    "tool",
    "system",
    "authority",
]
"""What a passage does that speaks to a model."""
FAMILIES: tuple[InjectionFamily, ...] = get_args(InjectionFamily)
FoundBy = Literal["rules", "screener", "both"]


class Suspicion(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A passage of a case that speaks to its reader as if it were an instruction to a model."""

    field: CaseField
    """The field of the case that holds the passage."""
    span: tuple[int, int]
    """Start and end of the passage in code points of the stored text, end exclusive."""
    family: InjectionFamily
    """What the passage does."""
    words: str
    """The stored text of the passage. A long one is cut in its middle, with an ellipsis in the place of the rest."""
    name: str = ""
    """Which one of the field: the id of a document or position, a seat, a key. Empty where a case has only one."""
    hidden: str = ""
    """How the passage is written, where a reader does not see it as plain words, such as `base64`."""
    by: FoundBy = "rules"
    """Whether the rules of code found it, the screener's model, or both: then field and place are the rules'."""


class Neutralised(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A text of a case of which models are not shown every character: what no reader sees is kept from them."""

    field: CaseField
    """The field of the case that holds the text."""
    kinds: dict[TakenKind, int]
    """How many characters of each kind are taken, or become line feeds (`lineSeparator`); no kind has zero."""
    name: str = ""
    """Which one of the field: the id of a document or position, a seat, a key. Empty where a case has only one."""


class InjectionFound(Struct, frozen=True, rename="camel", tag="injection", tag_field="kind", omit_defaults=True):
    """Passages of a case that look like orders to a model, in the order of the fields and within a field by place.

    ``suspected`` says that the screener holds the case for suspicious, also where it names no place. ``unlocated``
    counts the passages that the screener quoted and that stand in no text that it was shown. ``neutralised`` are the
    texts of which models are not shown every character. It caps nothing and flags nothing: honest documents have soft
    hyphens and byte order marks. The record keeps every text as it came.
    """

    suspicions: tuple[Suspicion, ...]
    suspected: bool = False
    unlocated: int = 0
    neutralised: tuple[Neutralised, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Whether the rules found a passage, or the screener holds the case for suspicious."""
        return self.suspected or bool(self.suspicions)
