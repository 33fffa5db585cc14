"""Whether a seat stood behind what a moderator concluded: the last rebuttals, and the latest conclusions.

rebuttalGaveUp   the moderator upholds the proposition, or ranks a position first, whose rebuttal rejects it, or has
                 no answer of its own to the points that stand
moderatorAlone   no seat concluded what the moderator does; a rebuttal that grants a point and answers another has
                 stood for a modified proposition, whatever it concludes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.debate.adversarial_usability import challenge
from service.debate.model import Turn, TurnId
from service.debate.replies import Conclusion, Critique, Proposal, Rebuttal
from service.debate.script import Script
from service.debate.turns import phase_of, round_of, seat_of
from service.debate.voices import argued


def support(s: Script, view: str | None, rebuttals: Sequence[Turn], *, several: bool) -> dict[str, bool]:
    """The flags; ``view`` is what the last moderation concludes, or with ``several`` positions ranks first.

    ``rebuttals`` are the turns of its round; in a debate that was cut short they may not have spoken.
    """
    own = next((turn for turn in rebuttals if phase_of(turn.id) == (view if several else "")), None)
    upheld = several or view == "upheld"
    heard = not several and any(s.said(turn.id) for turn in rebuttals)
    return {
        "rebuttalGaveUp": view is not None and upheld and own is not None and _concedes(s, own),
        "moderatorAlone": view is not None and heard and view not in set(_concluded(s)),
    }


def _concedes(s: Script, turn: Turn) -> bool:
    """Whether a rebuttal leaves its position without defence."""
    reply, voices = s.reply(turn.id), argued(s)
    if not isinstance(reply, Rebuttal):
        return False
    answered = bool(reply.rebuttals) if voices is None else turn.id in voices
    return reply.conclusion == "rejected" or (bool(challenge(s.facts, turn).standing) and not answered)


def _concluded(s: Script) -> Iterator[Conclusion]:
    """The latest conclusion of proposer, critic and rebuttal, and ``modified`` where a rebuttal grants a point."""
    for seat in ("proposer", "critic", "rebuttal"):
        last = max((turn for turn in s.facts.said if seat_of(turn) == seat), default=None, key=_order)
        reply = s.reply(last)
        if isinstance(reply, Proposal | Critique | Rebuttal):
            yield reply.conclusion
        if isinstance(reply, Rebuttal) and reply.concessions:
            yield "modified"


def _order(turn: TurnId) -> tuple[int, TurnId]:
    """By round, and a second take of a critique after the first."""
    return round_of(turn), turn
