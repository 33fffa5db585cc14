"""Each passage of a reply's texts, with the place where it stands, of all that the seat was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

from service.checks.citations.text import lexicon
from service.checks.citations.text.reported import clauses, passages
from service.checks.citations.verdict import location
from service.checks.citations.verdict.judge import Sources, check
from service.debate.findings import Citation, Passage, TextsFound
from service.debate.replies import Reply
from service.debate.replies.texts import texts_of
from service.debate.turns import TurnId

ENGINE = f"texts/1+{lexicon.VERSION}"
"""The rules' version and the word list's: recorded beside every finding."""


class Shown(Protocol):
    """A reply, and all that its seat was shown (`service.checks.given.ReadTexts`)."""

    @property
    def reply(self) -> Reply:
        """The reply whose texts are compared."""
        ...

    @property
    def titles(self) -> Sequence[str]:
        """The documents' titles."""
        ...

    @property
    def asked(self) -> Sequence[str]:
        """The question, and the caller's texts."""
        ...

    @property
    def shown(self) -> Mapping[TurnId, Reply]:
        """The replies, by turn, without struck arguments."""
        ...


def compare(read: Shown, documents: Mapping[str, str]) -> TextsFound:
    """The passages of a reply's texts; ``documents`` are those that its seat was given, by id."""
    desk = _Desk(read, documents)
    found = (passage for path, text in texts_of(read.reply) for passage in desk.passages(path, text))
    return TextsFound(tuple(found))


class _Desk:
    """What a seat was shown, ready to be searched."""

    def __init__(self, read: Shown, documents: Mapping[str, str]) -> None:
        self._documents = Sources(documents)
        self._said = Sources({turn: _words_of(reply) for turn, reply in read.shown.items()})
        self._asked = Sources({str(n): text for n, text in enumerate(chain(read.asked, read.titles))})

    def passages(self, path: str, text: str) -> Iterator[Passage]:
        """The passages of one text, in order."""
        quoted = [self._quotation(path, text, span) for span in passages(text)]
        reported = [self._clause(path, text, span) for span in clauses(text)]
        yield from sorted([*quoted, *reported], key=lambda passage: passage.span)

    def _quotation(self, path: str, text: str, span: tuple[int, int]) -> Passage:
        quote = Citation(text[slice(*span)])
        found = check(quote, self._documents)
        if found.verdict == "verified":
            return Passage(path, span, "quotation", "inDocument", "open", source_id=found.source_id)
        said = check(quote, self._said)
        if said.verdict == "verified":
            turn = TurnId(said.source_id or "")
            return Passage(path, span, "quotation", "inDebate", "open", turn=turn)
        if check(quote, self._asked).verdict == "verified":
            return Passage(path, span, "quotation", "inDebate", "open", reason="asked")
        return Passage(path, span, "quotation", "nowhere", "open", reason=found.reason or found.verdict)

    def _clause(self, path: str, text: str, span: tuple[int, int]) -> Passage:
        name = text[slice(*span)]
        for source in sorted(self._documents):
            place = location.locate(name, self._documents.document(source))
            if place and place.spans:
                return Passage(path, span, "clause", "inDocument", "document", source_id=source)
        return Passage(path, span, "clause", "nowhere", "document", reason="no_such_clause")


def _words_of(reply: Reply) -> str:
    return "\n\n".join(text for _, text in texts_of(reply))
