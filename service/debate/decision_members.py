"""The typed members of deciders' replies, and when two replies to one question give them differently.

    conclusion, confidenceLevel    as codes
    winner, finalAnswer            by the format's own key; an answer that only lost a passage with a mark is the same
    ranking                        by position, in order
    scores                         a party's score moved by `MOVED`, or the lead between two parties turned over by it
    recommendAnotherRound          the reply that counts wants no further round, and the other did
    ideas                          the claims on which each idea rests, in order, without ideas that held a mark
    dimensions                     consensus scores: one reaches the threshold in one reply alone
    output                         truth values, numbers and the strings that the caller's schema lists

Members that are prose (verdict, synthesis, justification) are never compared: other words may say the same, and code
does not read their meaning. A member that only one of the replies has is not compared either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from service.debate import projection
from service.debate.answer_keys import folded
from service.debate.labels import fold
from service.debate.model import Difference, TurnId
from service.debate.turns import split_party

MOVED = 3
"""By how many points of ten a score, or the lead between two scores, has to move: less is the noise of one model."""
Span = tuple[int, int]
_TURNING = frozenset(
    "not no nor never unless except only if but however without until provided cannot neither although".split()
)
"""Words that a decision may hang on: where one of them is dropped with a marked passage, the decision differs."""
_THEREFORE = frozenset("so therefore thus hence accordingly consequently".split())
"""Words that may be dropped before what follows from a marked passage."""


class Reading(NamedTuple):
    """How a format reads its decider: the key of an answer in words, the parties by their labels in a turn, the strings
    that a caller's schema lists, and the dimensions that count in a panel with their threshold in per mille."""

    key: Callable[[str], str] = fold
    parties: Callable[[TurnId], Mapping[str, str]] = lambda _: {}
    listed: frozenset[str] = frozenset()
    counted: tuple[str, ...] = ()
    threshold: int = 0


class Side(NamedTuple):
    """One reply: its turn, its members by their names in JSON, and the marked spans of its texts by their paths.

    ``usable`` is false for a reply that could not be used, of which only well-formed members were read.
    """

    turn: TurnId
    members: Mapping[str, Any]
    marks: Mapping[str, Sequence[Span]]
    usable: bool = True


def differences(one: Side, other: Side, reading: Reading) -> tuple[Difference, ...]:
    """The members that differ between two replies of one decider; ``other`` is the reply that counts."""
    shared = [name for name in _COMPARED if name in one.members and name in other.members]
    found = (_COMPARED[name](name, one, other, reading) for name in shared)
    return tuple(difference for difference in found if difference)


def listed_strings(schema: Any) -> frozenset[str]:
    """The strings that a JSON Schema lists as values, at any depth."""
    if isinstance(schema, list):
        return frozenset().union(*map(listed_strings, schema))
    if not isinstance(schema, dict):
        return frozenset()
    values = [*schema["enum"]] if isinstance(schema.get("enum"), list) else []
    values += [schema["const"]] if "const" in schema else []
    here = frozenset(value for value in values if isinstance(value, str))
    return here.union(*map(listed_strings, schema.values()))


def _as_code(name: str, one: Side, other: Side, _: Reading) -> Difference | None:
    first, second = one.members[name], other.members[name]
    return Difference(name, first, second) if first != second else None


def _in_words(name: str, one: Side, other: Side, reading: Reading) -> Difference | None:
    first, second = one.members[name], other.members[name]
    if first is None or second is None:
        return None if first is second else Difference(name)
    if reading.key(first) == reading.key(second) or _only_lost(first, one.marks.get(name, ()), second):
        return None
    return Difference(name)


def _only_lost(first: str, marks: Sequence[Span], second: str) -> bool:
    """Whether a text is another without its marked passages and the words that introduce them.

    Whatever stands before and after the sentence of the passages has to stay, and of that sentence what comes before
    the words that introduce them. What follows the passages may go where it draws no conclusion from them.
    """
    if not marks:
        return False
    head, tail = first[: min(start for start, _ in marks)], first[max(end for _, end in marks) :]
    begin = max(head.rfind(end) for end in (". ", "! ", "? ", "\n")) + 1
    before, lead = folded(head[:begin]).split(), folded(head[begin:]).split()
    after, kept = folded(tail).split(), folded(second).split()
    for rest in _tails(after):
        middle = kept[len(before) : len(kept) - len(rest)]
        whole = [*before, *middle, *rest] == kept and lead[: len(middle)] == middle
        dropped = [*lead[len(middle) :], *after[: len(after) - len(rest)]]
        if whole and kept and _TURNING.isdisjoint(dropped):
            return True
    return False


def _tails(after: list[str]) -> Iterator[list[str]]:
    """What may stay of the words after a marked passage: all, all but a first "so", or nothing that follows from it."""
    yield after
    if after and after[0] in _THEREFORE:
        yield after[1:]
    elif after:
        yield []


def _ranking(name: str, one: Side, other: Side, reading: Reading) -> Difference | None:
    first, second = ([_position(reading, side, label) for label in side.members[name]] for side in (one, other))
    return Difference(name, ", ".join(first), ", ".join(second)) if first != second else None


def _position(reading: Reading, side: Side, label: str) -> str:
    return split_party(reading.parties(side.turn).get(label, label))[1] or label


def _scores(name: str, one: Side, other: Side, reading: Reading) -> Difference | None:
    first, second = (_by_party(reading, side) for side in (one, other))
    both = sorted(first.keys() & second.keys())
    moved = {party for party in both if abs(first[party] - second[party]) >= MOVED}
    for here, there in combinations(both, 2):
        led, leads = first[here] - first[there], second[here] - second[there]
        if led * leads < 0 and abs(led - leads) >= MOVED:
            moved |= {here, there}
    if not moved:
        return None
    said = (", ".join(f"{party} {scores[party]}" for party in sorted(moved)) for scores in (first, second))
    return Difference(name, *said)


def _by_party(reading: Reading, side: Side) -> dict[str, int]:
    whose = reading.parties(side.turn)
    return {whose.get(given["label"], given["label"]): given["score"] for given in side.members["scores"]}


def _further_round(name: str, one: Side, other: Side, _: Reading) -> Difference | None:
    return Difference(name, "true", "false") if one.members[name] and not other.members[name] else None


def _ideas(name: str, one: Side, other: Side, _: Reading) -> Difference | None:
    given = [(_rests_on(idea), f"ideas[{i}].idea" in one.marks) for i, idea in enumerate(one.members[name])]
    held, first = ([claims for claims, marked in given if marked is holds] for holds in (True, False))
    second = [_rests_on(idea) for idea in other.members[name]]
    if first == second:
        return None
    for gone in held:  # an idea that held a mark may have been written anew in other words
        if gone in second:
            second.remove(gone)
    return Difference(name) if first != second else None


def _rests_on(idea: Mapping[str, Any]) -> list[tuple[str, int]]:
    return sorted((claim["label"], claim["n"]) for claim in idea["endorsedBy"])


def _dimensions(name: str, one: Side, other: Side, reading: Reading) -> Difference | None:
    first, second, least = one.members[name], other.members[name], reading.threshold
    crossed = [d for d in reading.counted if (first[d] >= least) != (second[d] >= least)]
    if not crossed:
        return None
    said = (", ".join(f"{dimension} {scores[dimension]}" for dimension in crossed) for scores in (first, second))
    return Difference(name, *said)


def _output(name: str, one: Side, other: Side, reading: Reading) -> Difference | None:
    texts = one.members[name], other.members[name]
    if any(projection.unreadable(text) for text in texts):
        return None
    first, second = map(projection.value, texts)
    return Difference(name) if _apart(first, second, reading.listed, numbers=one.usable) else None


def _apart(first: Any, second: Any, listed: frozenset[str], *, numbers: bool) -> bool:
    """Whether two values of JSON differ in a truth value, a listed string, or a number where those count."""
    if isinstance(first, dict) and isinstance(second, dict):
        return any(_apart(first[name], second[name], listed, numbers=numbers) for name in first.keys() & second.keys())
    if isinstance(first, list) and isinstance(second, list):
        pairs = zip(first, second, strict=False)
        return any(_apart(here, there, listed, numbers=numbers) for here, there in pairs)
    if isinstance(first, str) and isinstance(second, str):
        return first != second and first in listed and second in listed
    if isinstance(first, bool) and isinstance(second, bool):
        return first is not second
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (first, second))
    return numbers and numeric and bool(first != second)


_COMPARED: Mapping[str, Callable[[str, Side, Side, Reading], Difference | None]] = {
    "conclusion": _as_code,
    "winner": _in_words,
    "finalAnswer": _in_words,
    "ranking": _ranking,
    "recommendAnotherRound": _further_round,
    "scores": _scores,
    "ideas": _ideas,
    "dimensions": _dimensions,
    "output": _output,
    "confidenceLevel": _as_code,
}
