"""Two replies of a decider to one question that differ, with the sentence that says what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.debate.model import Difference, Differing, Outcome
from service.debate.turns import round_of, seat_of
from service.report.labels import label_of, seat_name
from service.report.result.seat_types import DifferingReplies

ASKED_TWICE: Mapping[str, str] = {
    "secondTake": "asked again because of the marks in its words",
    "repair": "asked again because its reply could not be used",
    "otherOrder": "asked again in the reverse order",
    "masked": "asked again with the flagged passages masked",
}
"""Why a decider replied twice."""
DIFFERS: Mapping[str, str] = {
    "conclusion": "another conclusion",
    "winner": "another winner",
    "finalAnswer": "another final answer",
    "ranking": "another ranking",
    "recommendAnotherRound": "another word on whether a further round is due",
    "scores": "other scores",
    "ideas": "ideas that rest on other claims",
    "dimensions": "a consensus score on the other side of the threshold",
    "output": "other values in the projection",
    "confidenceLevel": "another confidence",
}
"""What a decider gave otherwise."""


def differing(outcome: Outcome | None) -> tuple[DifferingReplies, ...]:
    """Every such pair of a debate; none before it has concluded."""
    return tuple(_detail(pair) for pair in outcome.differing) if outcome else ()


def _detail(pair: Differing) -> DifferingReplies:
    return DifferingReplies(
        why=pair.why,
        first=pair.first,
        second=pair.second,
        attempt=pair.attempt,
        members=pair.members,
        sentence=_sentence(pair),
    )


def _sentence(pair: Differing) -> str:
    """For instance: The moderator of round 1, asked again, gave another conclusion (first upheld; then rejected).

    It repeats no free words of a reply: those stand in the replies, with their marks.
    """
    changed = list(map(_changed, pair.members))
    listed = " and ".join(filter(None, (", ".join(changed[:-1]), changed[-1])))
    who = f"The {seat_name(seat_of(pair.first)).lower()} of round {round_of(pair.first)}"
    return f"{who}, {label_of(ASKED_TWICE, pair.why)}, gave {listed}."


def _changed(one: Difference) -> str:
    words = label_of(DIFFERS, one.member)
    return words if one.first is None else f"{words} ({'; '.join(_values(one))})"


def _values(one: Difference) -> Iterator[str]:
    yield f"first {one.first}"
    yield f"then {one.second}"
