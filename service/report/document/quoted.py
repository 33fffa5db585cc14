"""Quoted words in the first part of a report: how many were compared, how many mislead, and in whose texts."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.turns import phase_of
from service.report.document.blocks import Banner, Block, Fact, Text
from service.report.document.decision import decider
from service.report.labels import MARKED, PLACES, seat_name
from service.report.result.history import SWAPPED
from service.report.result.passage_types import PassageCounts, TurnPassages
from service.report.result.types import Result

MARKED_TERM = "Marked"


def compared(r: Result) -> Iterator[Fact]:
    """What was compared, and what is marked; nothing where no reply was compared."""
    if found := r.passage_counts:
        yield Fact("Quoted words", _compared(found))
        if found.marked:
            yield Fact(MARKED_TERM, f"{found.marked}: {'; '.join(_marked(r))}")


def in_decision(r: Result) -> Iterator[Block]:
    """A banner if the decider's own words are marked."""
    if number := _of_decider(r):
        who = seat_name(decider(r)).lower()
        yield Banner(
            "bad",
            "The decision quotes what does not stand where it says",
            (f"{_count(number, 'passage')} of the {who}'s words: code marked each beside it.",),
        )


def key(r: Result) -> Iterator[Block]:
    """What a mark is, where there is one."""
    if r.passage_counts and r.passage_counts.marked:
        yield Text(MARKED, "note")


def _compared(found: PassageCounts) -> str:
    counts = {
        "inDocument": found.in_document,
        "inDebate": found.in_debate,
        "onlyInDebate": found.only_in_debate,
        "nowhere": found.nowhere,
    }
    total = sum(counts.values())
    places = ", ".join(f"{number} {PLACES[status]}" for status, number in counts.items() if number)
    late = f"; {_count(found.not_compared, 'reply', 'replies')} not compared" if found.not_compared else ""
    read = f"in {_count(found.replies, 'reply', 'replies')}"
    return f"{_count(total, 'passage')} compared, {read}{f': {places}' if places else ''}{late}"


def _marked(r: Result) -> Iterator[str]:
    for one in r.passages:
        if number := _marks(one):
            yield f"{number} of {one.speaker}"


def _of_decider(r: Result) -> int:
    """The marks in the latest reply of the seat that decided, from the first time that it was asked."""
    own = [one for one in r.passages if one.seat == decider(r) and phase_of(one.turn) != SWAPPED]
    return _marks(own[-1]) if own else 0


def _marks(one: TurnPassages) -> int:
    return sum(passage.mark is not None for passage in one.passages)


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"
