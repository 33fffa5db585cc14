"""A line of a key file, and the hashes by which a simulated model with known faults knows a case again.

    material    SHA-256 of the documents by id, and of the given replies that a seat is shown
    reply       its thesis and its numbered arguments with their quotations: of a proposal, a critique, a rebuttal
    shown       SHA-256 of the material and of the question: it names the case in draws

An arm of an evaluation may add words to a question, such as the closed list of answers. So a case is looked for by its
material, and there by its question, which stands in what is asked. Texts are hashed as models read them
(`service.debate.neutral`), without the marks that code writes into them. The order of documents and replies does not
count, and neither do titles and labels: a case is the same in each order.

Nothing here imports labels: a line holds its own copy, and the simulated provider alone reads the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from service.debate.neutral import neutral
from service.prompts.marks import BEGIN, END

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
_encoder = msgspec.json.Encoder(order="sorted")


class HashedArgument(NamedTuple):
    """An argument of a reply as far as it is hashed; a quotation is its words and the id of its document."""

    n: int
    text: str
    quotes: tuple[tuple[str, str], ...]


class KeySpan(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The decisive passage, exactly as it stands in a document of the case."""

    document: str
    quote: str


class KeyLine(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A case and what is right in it.

    Of questions ``answers`` is the closed list and ``states`` the answer that ``proposition`` states. Of critics
    ``family``, ``argument``, ``span`` and ``value`` are the planted flaw, or where it would be. Of pairs ``favours`` is
    the side that has the ``feature``.
    """

    material: Hash
    shown: Hash
    question: str
    kind: Literal["questions", "critic", "pairs"]
    answer: str
    answers: tuple[str, ...] = ()
    proposition: str = ""
    states: str = ""
    family: str = ""
    argument: int = 0
    span: KeySpan | None = None
    value: str = ""
    feature: str = ""
    favours: Literal["proposer", "critic", ""] = ""


def hash_of_reply(thesis: str, arguments: Iterable[HashedArgument]) -> str:
    """The hash of a reply that a seat is shown, by its thesis and its numbered arguments."""
    said = [[a.n, _plain(a.text), [[_plain(quote), source] for quote, source in a.quotes]] for a in arguments]
    return _hash([_plain(thesis), said])


def hash_of_material(documents: Mapping[str, str], replies: Iterable[str] = ()) -> str:
    """The hash of a case but for its question: texts by the ids of documents, and the hashes of the given replies."""
    texts = {id: sha256(neutral(text).encode()).hexdigest() for id, text in documents.items()}
    return _hash([sorted(texts.items()), sorted(replies)])


def hash_of_case(question: str, material: str) -> str:
    """The hash of a case by its question and the hash of its material."""
    return _hash([as_shown(question), material])


def as_shown(text: str) -> str:
    """A question or a proposition as a model reads it."""
    return neutral(text).strip()


def _plain(text: str) -> str:
    return neutral(text.replace(BEGIN, "").replace(END, ""))


def _hash(value: object) -> str:
    return sha256(_encoder.encode(value)).hexdigest()
