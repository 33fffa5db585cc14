"""A stances debater's seat: it argues its assigned stance and never changes it.

round 1, no reply yet        the best passages for the stance
later                        passages that no debater has used yet, each aimed at an argument of another stance; then
                             an answer to the strongest passage against it, and the flaws of others' arguments
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from service.debate.replies import Argument, Statement
from service.simulated.arguments import reasoned, state, without_passage
from service.simulated.evidence import BearingSentence
from service.simulated.passage_choice import Desk, pick, turned_to
from service.simulated.rejoinders import Foe, flaws, name, strike
from service.simulated.standpoints import option_letter, polarity
from service.simulated.transcript import HeardVoice, latest, others, plain_value, voices


class Stood(NamedTuple):
    """The standpoint of a stance: the desk turned to it, and the side of the passages that carry it (0: either)."""

    desk: Desk
    side: int

    def carries(self, evidence: BearingSentence) -> bool:
        """Whether a passage is on the side of the stance."""
        return bool(evidence.side) and (not self.side or evidence.side == self.side)


def stand(desk: Desk, stance: str) -> Stood:
    """Read a stance: an option by its letter has passages for and against it of its own."""
    if option_letter(stance):
        return Stood(turned_to(desk, stance, "adoption"), 1)
    placed = polarity(stance, desk.reading.question, desk.wanted.proposition)
    side = 1 if placed is None or placed > 0.5 else -1 if placed < -0.1 else 0
    return Stood(turned_to(desk, stance), side)


def argument(desk: Desk, limit: int) -> Argument:
    """The arguments for the seat's stance; ``limit`` bounds how many."""
    stood = stand(desk, desk.reading.stance)
    said = voices(stood.desk)
    foes = _foes(stood, said)
    found = _fresh(stood, limit)
    if not foes:
        made = state(stood.desk, found, stood.side)
        return Argument(tuple(made or without_passage(stood.desk, stood.side or 1, min(limit, 2))))
    reached: Counter[str] = Counter()
    opening = 1 if found and not any(v.spoken.own for v in said) else 0
    made = state(stood.desk, found[:opening], stood.side)
    for i, e in enumerate(found[opening : max(opening + 1, limit - 1)]):
        made.append(strike(stood.desk, len(made) + 1, e, foes, reached, i + desk.reading.round))
    if len(made) < limit and (met := _met(stood, foes, len(made) + 1, desk.reading.round)):
        made.append(met)
    if len(made) < 2 <= limit:
        made += flaws(stood.desk, foes, 2 - len(made), len(made) + 1)
    return Argument(tuple(made[:limit] or _last_resort(stood, said, foes)))


def _fresh(stood: Stood, limit: int) -> list[BearingSentence]:
    """The best passages for the stance that no debater has quoted."""
    desk = stood.desk
    sides = (stood.side,) if stood.side else (1, -1)
    found = [e for side in sides for e in pick(desk, side, limit, desk.strategy.floor)]
    if not stood.side:
        found.sort(key=lambda e: (-e.relevance, e.source_id, e.start))
    return found[:limit]


def _foes(stood: Stood, said: tuple[HeardVoice, ...]) -> list[Foe]:
    """The arguments of other stances, of each the last statement, the weightiest first."""
    mine = stood.desk.reading.stance.strip()
    rivals = [v for v in latest(others(said)) if v.label.strip() != mine and f"[{mine}]" not in v.label]
    found = [Foe(name(v.label, w.said.n), w) for v in rivals for w in v.arguments]
    return sorted(found, key=lambda foe: (-foe.weighed.weight, foe.weighed.label, foe.weighed.said.n))


_STANDS = (
    "The case made here does not rest on that passage.",
    "What was argued here keeps its own footing.",
    "It narrows nothing of what this side has shown.",
)


def _met(stood: Stood, foes: list[Foe], n: int, round_: int) -> Statement | None:
    """The answer to the strongest passage of another stance, without a passage of one's own."""
    against = [f for f in foes if f.weighed.evidence and not stood.carries(f.weighed.evidence[0])] or foes
    strongest = next((f for f in against if f.weighed.evidence and f.weighed.evidence[0].rule), None)
    if strongest is None or strongest.weighed.evidence[0].rule is None:
        return None
    meet = strongest.weighed.evidence[0].rule.meet
    stands = _STANDS[(round_ + stood.desk.strategy.most) % len(_STANDS)]
    return reasoned(n, f"Argument {strongest.named} does not decide the matter. {meet} {stands}", f"{meet} {stands}")


def _last_resort(stood: Stood, said: tuple[HeardVoice, ...], foes: list[Foe]) -> list[Statement]:
    """Without a new passage: the own passage that no other outweighs, or the documents' silence."""
    own = [e for v in said if v.spoken.own for w in v.arguments for e in w.evidence if stood.carries(e)]
    if own:
        best = max(own, key=lambda e: (plain_value(e), -e.start))
        return [strike(stood.desk, 1, best, foes, Counter(), 1)]
    return without_passage(stood.desk, stood.side or 1, 1)
