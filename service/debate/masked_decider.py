"""The decider asked once more without what the check of the case flagged: an order in a document must not decide.

    due         the options say so, and the recorded finding about the case has a suspicion
    the turn    the decider's last one with the phase `masked`: the same replies in the first order, the same fragments,
                one take. In its request every flagged passage is masked (`service.debate.masks`)
    held        as a closing turn, from the moment at which the finding is recorded
    another     conclusion, winner, final answer or first position: ``injectionSensitive``, LOW, and nothing is decided
    the same    with a lower level, that level counts; with another typed member, ``maskedDiffers``
    no reply    ``maskedUnchecked``, MODERATE: no money, or a silent seat

The first reply stands where both decide the same. The masked one never takes its place, so its words decide nothing,
and it is not asked for a second take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from service.debate.ending import INJECTION, texts
from service.debate.findings import TextsFound
from service.debate.model import Turn, TurnId
from service.debate.options import masked_of
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.suspicions import InjectionFound, Suspicion
from service.debate.turns import MASKED, round_of, seat_of, turn_id

R = TypeVar("R", bound=Reply)


def masked(turn: Turn) -> Turn:
    """The turn that asks a decider the same again, in the same order, with the flagged passages masked."""
    return replace(turn, id=turn_id(turn.round, turn.seat, MASKED))


def suspicions(s: Script) -> tuple[Suspicion, ...]:
    """The passages of the case that the recorded check flagged."""
    found = s.facts.found.get(INJECTION.id)
    return found.suspicions if isinstance(found, InjectionFound) else ()


def masked_turns(s: Script, *deciders: Turn) -> tuple[Turn, ...]:
    """The masked turn of each of these deciders, if it is due."""
    return tuple(map(masked, deciders)) if masked_of(s.started.options) and suspicions(s) else ()


async def ask_masked(
    s: Script, kind: type[R], decider: Turn, holding: Callable[[], Sequence[Turn]] = lambda: ()
) -> bool:
    """Ask a decider that spoke once more with the flagged passages masked, if that is due; whether it answered.

    ``holding`` are the closing turns that follow.
    """
    for again in masked_turns(s, decider):
        if await s.close(kind, again, holding):
            await s.find(TextsFound, texts(again))
            return True
    return False


def masked_reply(s: Script, first: TurnId | None) -> TurnId | None:
    """The masked turn of a decider whose standing take is ``first``, if it spoke."""
    again = turn_id(round_of(first), seat_of(first), MASKED) if first else None
    return again if again and s.said(again) else None


def is_unchecked(s: Script, first: TurnId | None) -> bool:
    """Whether a decider decided, was to be asked once more with the passages masked, and did not answer."""
    due = first is not None and masked_of(s.started.options) and bool(suspicions(s))
    return due and masked_reply(s, first) is None


def masked_flags(s: Script, first: TurnId | None, *, sensitive: bool, blurred: bool = False) -> dict[str, bool]:
    """The flags that all formats raise; ``blurred`` says that code could not compare the two replies."""
    return {
        "injectionSensitive": sensitive,
        "maskedUnchecked": is_unchecked(s, first),
        "maskedNotCompared": blurred and not sensitive,
    }
