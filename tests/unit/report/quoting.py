"""Debates in which every text of every reply quotes words of its own, which code has marked."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from service.debate.facts import Facts
from service.debate.findings import Finding, Passage, TextsFound
from service.debate.model import Check, Turn
from service.debate.replies import Reply
from service.debate.replies.texts import texts_of, with_texts
from service.report.marks import CLOSE, OPEN
from tests.fixtures.debates import Replies, canned, found

NOWHERE = f"{OPEN}not in any document{CLOSE}"


def words_of(turn: str, path: str) -> str:
    """The words that a text quotes: no text of another turn has them; a decider quotes the same in both orders."""
    place = "".join(c if c.isalnum() else " " for c in f"{turn.replace('.swapped', '')} {path}")
    return f"words of {' '.join(place.split())} alone"


def quoting(replies: Replies = canned) -> Replies:
    """The same replies; each text ends with quoted words of its own."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        return with_texts(replies(turn, facts), lambda path, text: f'{text} It has "{words_of(turn.id, path)}".')

    return reply


def marking(check: Check, facts: Facts) -> Finding:
    """Every quotation of `quoting` stands nowhere."""
    if check.kind != "texts":
        return found(check, facts)
    turn = check.over[-1]
    return TextsFound(
        tuple(
            nowhere(path, (start, start + len(words)))
            for path, text in texts_of(facts.said[turn])
            for words in (words_of(turn, path),)
            for start in (text.index(words),)
        )
    )


def nowhere(path: str, span: tuple[int, int], **others: Any) -> Passage:
    """A passage that stands nowhere, unless ``others`` say otherwise."""
    return replace(Passage(path, span, "quotation", "nowhere", "open"), **others)
