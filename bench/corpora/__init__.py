"""The labelled corpora beside the bench: critiques that are lazy or honest, and texts that quote truly or not.

    documents.jsonl   short documents that the other files quote
    cases.jsonl       questions over them, with the proposals that the critiques attack
    critiques.jsonl   critiques, lazy or honest
    texts.jsonl       texts that people read, honest or with invented words and the spans that must be marked

A third of each corpus is held back from the authors of the engines, and only that third is measured: `held_back`
draws it by the item's id. `python -m bench.corpora critiques` prints the other two thirds, which rules may be
written from. What the corpora can show is in `docs/testing.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

from service.debate.replies import Critique, Proposal
from service.debate.turns import TurnId

FOLDER = Path(__file__).resolve().parent
SEED = "gainsay-15"

Topic = Literal["contract", "security", "architecture", "investment", "compliance"]
LazyKind = Literal[
    "agrees",
    "agreesInWords",
    "restates",
    "namesNone",
    "assertion",
    "generic",
    "padding",
    "praise",
    "softened",
    "concedesAll",
    "straw",
    "irrelevantQuote",
    "positionSpared",
]
HonestKind = Literal[
    "sharp", "decisive", "partial", "terms", "cited", "reasoned", "decoy", "terse", "nonNative", "several"
]
HonestText = Literal[
    "exact",
    "singleWord",
    "title",
    "definedTerm",
    "proposed",
    "reference",
    "reported",
    "debater",
    "scare",
    "nested",
    "ellipsis",
    "apostrophe",
    "foreign",
    "denied",
    "question",
    "long",
    "bracket",
    "layout",
]
InventedText = Literal[
    "numberChanged",
    "negationDropped",
    "noSuchClause",
    "debaterAsDocument",
    "stitched",
    "paraphrase",
    "partySwapped",
    "fabricated",
    "conditionDropped",
    "mixed",
]
Field = Literal["synthesis", "thesis", "objection", "concession", "rationale", "verdict"]


class Identified(Protocol):
    """An item with an id that is unique in its corpus."""

    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=Identified)
Row = TypeVar("Row")


class Document(Struct, frozen=True, forbid_unknown_fields=True):
    """A short document, written for the corpora."""

    id: str
    title: str
    text: str


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """One of several positions of a case."""

    id: str
    text: str


class Argued(Struct, frozen=True, forbid_unknown_fields=True):
    """A proposal, and the position that it argues for where the case has several."""

    reply: Proposal
    position: str | None = None


class ArguedCase(Struct, frozen=True, forbid_unknown_fields=True):
    """A question over documents (by id), with what the proposers reply to it."""

    id: str
    topic: Topic
    question: str
    documents: tuple[str, ...]
    proposals: tuple[Argued, ...]
    positions: tuple[Position, ...] = ()


class LabelledCritique(Struct, frozen=True, forbid_unknown_fields=True):
    """A critique of a case (by id). ``softening`` is the author's judgement of its wording."""

    id: str
    label: Literal["lazy", "honest"]
    kind: LazyKind | HonestKind
    softening: bool
    case: str
    critique: Critique


class Heard(Struct, frozen=True, forbid_unknown_fields=True):
    """A text of an earlier reply that the author of a text was shown."""

    turn: TurnId
    text: str


class LabelledText(Struct, frozen=True, forbid_unknown_fields=True):
    """A text that people read, over documents (by id).

    ``marks`` are spans in code points of ``text``, end exclusive: one for each quotation, or report of a clause, that
    must be marked. An honest text has none.
    """

    id: str
    label: Literal["honest", "invented"]
    kind: HonestText | InventedText
    field: Field
    question: str
    documents: tuple[str, ...]
    text: str
    replies: tuple[Heard, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()


def documents() -> dict[str, Document]:
    """All documents by id."""
    return {row.id: row for row in _read("documents", Document)}


def cases() -> dict[str, ArguedCase]:
    """All cases by id."""
    return {row.id: row for row in _read("cases", ArguedCase)}


def critiques() -> tuple[LabelledCritique, ...]:
    """All critiques, in the file's order."""
    return tuple(_read("critiques", LabelledCritique))


def texts() -> tuple[LabelledText, ...]:
    """All texts, in the file's order."""
    return tuple(_read("texts", LabelledText))


def held_back(item: Identified) -> bool:
    """Whether an item belongs to the third that the engines are measured on."""
    return int.from_bytes(hashlib.sha256(f"{SEED}/{item.id}".encode()).digest()) % 3 == 0


def measured(items: Iterable[Item]) -> tuple[Item, ...]:
    """The third that is held back."""
    return tuple(item for item in items if held_back(item))


def shown(items: Iterable[Item]) -> tuple[Item, ...]:
    """The two thirds that rules may be written from."""
    return tuple(item for item in items if not held_back(item))


def _read(name: str, row: type[Row]) -> Iterator[Row]:
    for line in (FOLDER / f"{name}.jsonl").read_bytes().splitlines():
        yield msgspec.json.decode(line, type=row)


CORPORA: dict[str, Callable[[], tuple[Identified, ...]]] = {"critiques": critiques, "texts": texts}
