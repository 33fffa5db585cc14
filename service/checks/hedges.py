"""Hedges: phrases by which an answer says itself that it is uncertain, which the gate reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEDGES: Mapping[str, str] = {
    "i think": "",
    "i believe": "",
    "might": "",
    "may be": r"(?! \w+ed\b)",  # "may be terminated" is a right, not a doubt
    "could be": "",
    "possibly": "",
    "perhaps": "",
    "probably": "",
    "likely": "",
    "unlikely": "",
    "it seems": "",
    "appears to": "",
    "not sure": "",
    "not certain": "",
    "uncertain": r"(?! tax\b)",
    "unclear": "",
    "hard to say": "",
    "it depends": "",
    "cannot determine": "",
    "can't determine": "",
    "not enough information": "",
    "in most cases": "",
    "generally": r"(?! accepted\b)",  # generally accepted accounting principles
    "arguably": "",
    "as far as i can tell": "",
}
"""Phrases of an uncertain answer, each with what must not follow for it to count as a hedge."""

_HEDGES = {words: re.compile(rf"\b{re.escape(words)}\b{unless}") for words, unless in HEDGES.items()}


def first_hedge(answer: str) -> str | None:
    """The first hedge of the list in the answer; a plain search selects the few expressions that are worth running."""
    text = " ".join(answer.casefold().replace("\u2019", "'").split())
    return next((words for words, said in _HEDGES.items() if words in text and said.search(text)), None)
