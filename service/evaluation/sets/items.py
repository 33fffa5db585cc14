"""What is asked: the items of a set with their documents, and nothing of what is right.

What renders a request may import this module. It never imports `service.evaluation.sets.labels`, and an import
contract holds that: no byte of a label can reach a request by way of an item.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from service.debate.replies.adversarial import Answer, Critique, Framing, Point, Proposal, Rebuttal
from service.debate.replies.parts import Statement
from service.evaluation.sets.form import (
    DOCUMENTS_OF_AN_ITEM,
    AnswerText,
    Group,
    Hash,
    Id,
    Kind,
    Question,
    Split,
    Text,
    Title,
)
from service.evaluation.sets.manifest import Manifest


class DocumentRef(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A document of an item: the id by which citations name it, its title, and the SHA-256 of its bytes."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}\Z")]
    title: Title
    sha256: Hash


Documents = Annotated[tuple[DocumentRef, ...], Meta(max_length=DOCUMENTS_OF_AN_ITEM)]


class Given(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The replies that a moderator is given in the place of spoken ones."""

    framing: Framing
    proposal: Proposal
    critique: Critique
    rebuttal: Rebuttal


def numbered_of(
    reply: Proposal | Critique | Rebuttal,
) -> tuple[Statement, ...] | tuple[Point, ...] | tuple[Answer, ...]:
    """The numbered statements of a given reply."""
    match reply:
        case Proposal():
            return reply.arguments
        case Critique():
            return reply.points
        case Rebuttal():
            return reply.rebuttals


class QuestionItem(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A question with a closed list of answers; ``proposition`` states the answer ``states``, right or wrong."""

    id: Id
    question: Question
    documents: Documents
    proposition: Text
    states: AnswerText
    group: Group
    split: Split


class CriticItem(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A proposal that a critic is given; of the two items of a ``pair`` one has a planted flaw."""

    id: Id
    pair: Id
    question: Question
    documents: Annotated[Documents, Meta(min_length=1)]
    proposal: Proposal
    group: Group
    split: Split


class PairItem(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Replies that a moderator is given; the two items of a ``pair`` have a feature on either side."""

    id: Id
    pair: Id
    question: Question
    documents: Annotated[Documents, Meta(min_length=1)]
    given: Given
    group: Group
    split: Split


Item = QuestionItem | CriticItem | PairItem
ITEM_TYPES: Mapping[Kind, type[Item]] = {"questions": QuestionItem, "critic": CriticItem, "pairs": PairItem}


class SourceDocument(Struct, frozen=True, rename="camel"):
    """A document as an item brings it into a debate."""

    id: str
    title: str
    text: str


class ItemSet(Struct, frozen=True, dict=True):
    """A set without its labels: all that a debate about one of its items is made of.

    ``hash`` is that of the whole set, ``texts`` has each document's text by its SHA-256.
    """

    manifest: Manifest
    hash: str
    items: tuple[Item, ...]
    texts: Mapping[str, str]

    def item(self, id: str) -> Item:
        """The item of an id, also a retired one; raises `KeyError`."""
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> Mapping[str, Item]:
        return {item.id: item for item in self.items}

    def active(self, split: Split | None = None) -> tuple[Item, ...]:
        """The items that are not retired, in the order of the file; of one split, or of both."""
        retired = self.manifest.retired
        return tuple(one for one in self.items if one.id not in retired and split in (None, one.split))

    def documents(self, item: Item) -> tuple[SourceDocument, ...]:
        """The documents of an item with their texts, in its order."""
        return tuple(SourceDocument(one.id, one.title, self.texts[one.sha256]) for one in item.documents)
