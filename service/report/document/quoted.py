"""Quoted words in the first part of a report: how many were compared, how many mislead, and in whose texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.report.document.blocks import Block, Fact, Text
from service.report.labels import MARKED, PLACES
from service.report.result.passage_types import PassageCounts, PassageDetail, TurnPassages
from service.report.result.types import Result

MARKED_TERM = "Marked"
_WHY = {
    "marked": ", which do not stand where the text says",
    "unclear": ". Code did not find these words, and they may be no quotations",
    "unchecked": ", because no document was given",
}
"""Passages that a reader has to look at, in the order in which reports tell them."""


def in_short(r: Result) -> Iterator[str]:
    """The passages that are not as a reader expects, in lines for the first box; nothing where no reply has one."""
    passages = [passage for one in _standing(r) for passage in one.passages]
    total = _count(sum(passage.kind != "verdict" for passage in passages), "passage")
    for word, why in _WHY.items():
        if number := sum(_word(passage) == word for passage in passages):
            yield f"Quoted words: {number} of {total} {word}{why}."
    if opposed := sum(passage.status == "opposed" for passage in passages):
        yield f"Verdict: {_count(opposed, 'sentence')} marked, the opposite of the typed verdict."


def compared(r: Result) -> Iterator[Fact]:
    """What was compared, what is marked in replies that stand, and in whose; nothing where no reply was compared."""
    if found := r.passage_counts:
        yield Fact("Quoted words", _compared(found))
        for word in _WHY:
            if found_in := {one.speaker: number for one in _standing(r) if (number := _number(one, word))}:
                yield Fact(word.capitalize(), f"{sum(found_in.values())}: {_listed(found_in)}")
        taken = [one for one in r.passages if one.replaced and one.seat != "critic"]
        if again := {one.speaker: number for one in taken if (number := _number(one, MARKED_TERM.lower()))}:
            yield Fact("Second take", f"asked for because of the marks in the first: {_listed(again)}")


def has_marks(r: Result) -> bool:
    """Whether a text of the result has a mark of code, on quoted words or on a sentence against the verdict."""
    return any(passage.mark is not None for one in r.passages for passage in one.passages)


def key(r: Result) -> Iterator[Block]:
    """What a mark is, where there is one."""
    if has_marks(r):
        yield Text(MARKED, "note")


def _compared(found: PassageCounts) -> str:
    counts = {
        "inDocument": found.in_document,
        "inDebate": found.in_debate,
        "onlyInDebate": found.only_in_debate,
        "unclear": found.unclear,
        "unchecked": found.unchecked,
        "nowhere": found.nowhere,
    }
    total, read = sum(counts.values()), f"in the texts of {_count(found.replies, 'reply', 'replies')}"
    places = ", ".join(f"{number} {PLACES[status]}" for status, number in counts.items() if number)
    how = "compared" if found.unchecked < total else "found"
    compared = f"{_count(total, 'passage')} {read} {how}: {places}" if total else f"none {read}"
    late = f"; {_count(found.not_compared, 'reply', 'replies')} not compared" if found.not_compared else ""
    return compared + late


def _standing(r: Result) -> list[TurnPassages]:
    return [one for one in r.passages if not one.replaced]


def _listed(marked: Mapping[str, int]) -> str:
    return "; ".join(f"{speaker} ({number})" for speaker, number in marked.items())


def _number(one: TurnPassages, word: str) -> int:
    return sum(_word(passage) == word for passage in one.passages)


def _word(passage: PassageDetail) -> str:
    """``marked``, ``unclear``, ``unchecked``, or where the words stand."""
    return "marked" if passage.marked else passage.status


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"
