"""Quoted words in the first part of a report: how many were compared, how many mislead, and in whose texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.report.document.blocks import Block, Fact, Text
from service.report.labels import MARKED, PLACES
from service.report.result.passage_types import PassageCounts, TurnPassages
from service.report.result.types import Result

MARKED_TERM = "Marked"


def in_short(r: Result) -> Iterator[str]:
    """The marked passages in a line for the first box; nothing where no reply that stands has one."""
    standing = _standing(r)
    total = _count(sum(len(one.passages) for one in standing), "passage")
    unchecked = sum(passage.status == "unchecked" for one in standing for passage in one.passages)
    if marked := sum(map(_marks, standing)) - unchecked:
        yield f"Quoted words: {marked} of {total} marked, which do not stand where the text says."
    if unchecked:
        yield f"Quoted words: {unchecked} of {total} unchecked, because no document was given."


def compared(r: Result) -> Iterator[Fact]:
    """What was compared, what is marked in replies that stand, and in whose; nothing where no reply was compared."""
    if found := r.passage_counts:
        yield Fact("Quoted words", _compared(found))
        if marked := {one.speaker: _marks(one) for one in _standing(r) if _marks(one)}:
            yield Fact(MARKED_TERM, f"{sum(marked.values())}: {_listed(marked)}")
        if again := {one.speaker: _marks(one) for one in r.passages if one.replaced and one.seat != "critic"}:
            yield Fact("Second take", f"asked for because of the marks in the first: {_listed(again)}")


def key(r: Result) -> Iterator[Block]:
    """What a mark is, where there is one."""
    if r.passage_counts and r.passage_counts.marked:
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


def _marks(one: TurnPassages) -> int:
    return sum(passage.mark is not None for passage in one.passages)


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"
