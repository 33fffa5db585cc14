"""The screener: a simulated guard, which names sentences that both speak to a model and order something of it.

It goes by two short lists of English words and no more. It is there to show the seat, and judges nothing well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.debate.replies import ScreenedPassage, Screening
from service.debate.replies.screening import PASSAGES_MAX, QUOTE_MAX, ShownField
from service.debate.suspicions import InjectionFamily
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk

_SENTENCE = re.compile(r"[^\s.!?](?:[^.!?\n]{0,1900})[.!?]?")
_ADDRESSED = re.compile(
    r"\b(?:ai|llm|language model|assistant|chatbot|reviewer model|moderator|critic|proposer|system prompt|"
    r"(?:previous|prior|above) instructions?)\b",
    re.IGNORECASE,
)
_ORDERS: dict[InjectionFamily, re.Pattern[str]] = {
    "override": re.compile(r"\b(?:ignore|disregard|forget|override)\b", re.IGNORECASE),
    "secrecy": re.compile(r"\b(?:do not (?:mention|report|reveal)|keep (?:this )?secret)\b", re.IGNORECASE),
    "score": re.compile(r"\b(?:score|rate|give)\b.{0,80}\b(?:10|ten|highest|full marks)\b", re.IGNORECASE),
    "verdict": re.compile(r"\b(?:conclude|uphold|reject|approve|agree|side with)\b", re.IGNORECASE),
}


def screening(desk: Desk, limit: int) -> Screening:
    """At most ``limit`` sentences, in the order in which the request has them."""
    found = tuple(passage for _, passage in zip(range(min(limit, PASSAGES_MAX)), _passages(desk), strict=False))
    return Screening(suspicious=bool(found), passages=found)


def _passages(desk: Desk) -> Iterator[ScreenedPassage]:
    for field, name, text in _texts(desk):
        for sentence in _SENTENCE.finditer(text):
            quote = sentence[0].strip()[:QUOTE_MAX]
            family = next((family for family, order in _ORDERS.items() if order.search(quote)), None)
            if family and _ADDRESSED.search(quote):
                why = f"It speaks to a model and orders something of it. {SIMULATED}"
                yield ScreenedPassage(field, name, quote, family, why)


def _texts(desk: Desk) -> Iterator[tuple[ShownField, str, str]]:
    reading = desk.reading
    yield "question", "", reading.question
    if reading.answer:
        yield "answer", "", reading.answer
    for name, text in reading.positions:
        yield "position", name, text
    for document in reading.documents:
        yield "title", document.id, document.title
        yield "document", document.id, document.text
