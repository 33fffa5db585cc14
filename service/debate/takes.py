"""Several replies of one decider to one question, and what follows where they differ in more than words.

    second take     code marked what the first one quotes, and the decider was asked once more
    repair          a reply could not be used, and the model was asked again in the same turn
    other order     policy has the decider asked again with the replies of each round in reverse order
    masked          a passage of the case was flagged, and policy has the decider asked again with it masked

A later reply stands in the place of an earlier one, so it could change a decision unseen. Hence the lowest level of all
of them counts. Where a second take or a repair decides otherwise: ``secondTakeDiffers``. Where the two orders come to
one decision and differ in another typed member: ``ordersDiffer``; the same with and without the flagged passages:
``maskedDiffers``. All are at most MODERATE, and for a person. Decisions that differ between the orders are the format's
own ``orderSensitive``, those that differ without the passages ``injectionSensitive``. `decision_members` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from service.debate.decision_members import Reading, Side, Span, differences
from service.debate.entries import AttemptFailed
from service.debate.facts import UNUSABLE
from service.debate.findings import DIMENSIONS, TextsFound
from service.debate.model import Difference, Differing, TurnId, seat_of
from service.debate.replies import Adjudication, Conclusion, ConfidenceLevel, Reply
from service.debate.replies.decoding import object_of
from service.debate.script import Script
from service.debate.turns import MASKED, phase_of, round_of, take_of, turn_id

_LEVELS: tuple[ConfidenceLevel, ...] = get_args(ConfidenceLevel)
"""The levels, the surest first."""
_LEVEL = "confidenceLevel"
_FURTHER = "recommendAnotherRound"
Caps = tuple[tuple[bool, str, ConfidenceLevel], ...]


class Compared(Struct, frozen=True):
    """The replies of a debate's deciders that differ, with the flags and caps that follow."""

    differing: tuple[Differing, ...] = ()
    flags: Mapping[str, bool] = {}
    caps: Caps = ()


def compare(
    s: Script,
    standing: Sequence[TurnId],
    reading: Reading,
    *,
    former: Sequence[TurnId] = (),
    sensitive: bool = False,
    injected: bool = False,
) -> Compared:
    """Compare the takes, repairs, orders and masked replies of the deciders whose standing takes these are.

    ``former`` are the standing takes of deciders in rounds that another one followed: their levels do not count.
    ``sensitive`` says that the two orders decided differently, ``injected`` that the decision was another one without
    the flagged passages; the format flags both itself.
    """
    before = tuple(pair for turn in former for pair in _earlier(s, turn, reading))
    again = tuple(pair for turn in standing for pair in _earlier(s, turn, reading))
    orders = tuple(_beside(s, standing, reading, "swapped", "otherOrder"))
    without = tuple(_beside(s, standing, reading, MASKED, "masked"))
    second = any(_decides(pair) for pair in (*before, *again))
    other = not sensitive and any(_decides(pair) for pair in orders)
    hidden = not injected and any(_decides(pair) for pair in without)
    first_level, other_level = _lowered(again), None if sensitive else _lowered(orders, first_stands=True)
    masked_level = None if injected else _lowered(without, first_stands=True)
    caps: Caps = (
        (second, "secondTakeDiffers", "MODERATE"),
        (other, "ordersDiffer", "MODERATE"),
        (hidden, "maskedDiffers", "MODERATE"),
        (first_level is not None, "firstTakeLessSure", first_level or "LOW"),
        (other_level is not None, "otherOrderLessSure", other_level or "LOW"),
        (masked_level is not None, "maskedLessSure", masked_level or "LOW"),
    )
    flags = {"secondTakeDiffers": second, "ordersDiffer": other, "maskedDiffers": hidden}
    return Compared((*before, *again, *orders, *without), flags, caps)


def _decides(pair: Differing) -> bool:
    return any(one.member != _LEVEL for one in pair.members)


def _lowered(pairs: Sequence[Differing], *, first_stands: bool = False) -> ConfidenceLevel | None:
    """The lowest level of the replies that do not stand, where it is below that of the one that does."""
    found: list[ConfidenceLevel] = []
    for difference in (one for pair in pairs for one in pair.members if one.member == _LEVEL):
        stands, weaker = (_level(difference.first), _level(difference.second))[:: 1 if first_stands else -1]
        found += [weaker] if _LEVELS.index(weaker) > _LEVELS.index(stands) else []
    return max(found, default=None, key=_LEVELS.index)


def _level(code: str | None) -> ConfidenceLevel:
    return next(level for level in _LEVELS if level == code)


def _earlier(s: Script, turn: TurnId, reading: Reading) -> Iterator[Differing]:
    """What a standing take differs in from the replies before it: unusable ones of each take, and the first take."""
    first = turn_id(round_of(turn), seat_of(turn), phase_of(turn))
    stands = _side(s, turn)
    for take in dict.fromkeys((first, turn)):
        for failed in s.facts.failed.get(take, ()):
            if (unusable := _unusable(s, failed)) and (apart := differences(unusable, stands, reading)):
                yield Differing("repair", take, turn, apart, failed.attempt)
    if take_of(turn) > 1 and (apart := differences(_side(s, first), stands, reading)):
        yield Differing("secondTake", first, turn, apart)


def _beside(
    s: Script, standing: Sequence[TurnId], reading: Reading, phase: str, why: Literal["otherOrder", "masked"]
) -> Iterator[Differing]:
    """What the replies in the reverse order, or to masked requests, differ in from those that they stand beside."""
    for turn in (turn for turn in standing if not phase_of(turn)):
        again = s.facts.standing(turn_id(round_of(turn), seat_of(turn), phase))
        if again in standing and (apart := _between(_side(s, turn), _side(s, again), reading)):
            yield Differing(why, turn, again, apart)


def _between(first: Side, other: Side, reading: Reading) -> tuple[Difference, ...]:
    """The differences, with the standing reply as the first; its word is whether another round is due."""
    found = [one for one in differences(first, other, reading) if one.member != _FURTHER]
    further = any(one.member == _FURTHER for one in differences(other, first, reading))
    return (*found, Difference(_FURTHER, "false", "true")) if further else tuple(found)


def _side(s: Script, turn: TurnId) -> Side:
    found, marks = s.facts.found.get(f"{turn}/texts"), dict[str, list[Span]]()
    for passage in found.marked if isinstance(found, TextsFound) else ():
        marks.setdefault(passage.field, []).append(passage.span)
    return Side(turn, _members(s.facts.said[turn]), marks)


def _members(reply: Reply) -> Mapping[str, Any]:
    """The members of a reply by their names in JSON; the scores of an adjudicator together, in per mille."""
    if isinstance(reply, Adjudication):
        return {"dimensions": {name: getattr(reply, name) * 10 for name in DIMENSIONS}}
    members: dict[str, Any] = msgspec.to_builtins(reply)
    return {"ranking": [], "ideas": [], **members}


def _unusable(s: Script, failed: AttemptFailed) -> Side | None:
    """What can be read of a reply that could not be used; ``None`` where nothing can."""
    if failed.reason not in UNUSABLE or not failed.said:
        return None
    reply = s.facts.said[failed.turn]
    read, stands = object_of(str(reply.__struct_config__.tag), failed.said), _members(reply)
    if read is None:
        return None
    fits = {name: value for name, value in read.items() if name in _FIT and _FIT[name](value, stands.get(name))}
    return Side(failed.turn, fits, {}, usable=False)


def _scored(value: Any, stands: Any) -> bool:
    """Whether these are scores of the same labels as those of the reply that stands."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    typed = all(isinstance(one.get("label"), str) and isinstance(one.get("score"), int) for one in value)
    return typed and {one["label"] for one in value} == {one["label"] for one in stands or ()}


def _worded(value: Any, _: Any) -> bool:
    return isinstance(value, str) and any(c.isalnum() for c in value)


_FIT: Mapping[str, Callable[[Any, Any], bool]] = {
    "conclusion": lambda value, _: value in get_args(Conclusion),
    "winner": lambda value, _: value is None or _worded(value, _),
    "finalAnswer": _worded,
    "ranking": lambda value, stands: isinstance(value, list) and sorted(map(str, value)) == sorted(stands or ()),
    _FURTHER: lambda value, _: isinstance(value, bool),
    "scores": _scored,
    "output": _worded,
    _LEVEL: lambda value, _: value in _LEVELS,
}
"""Whether a member of an unusable reply is one that could have stood, beside the same member of the reply that does."""
