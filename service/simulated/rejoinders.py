"""A passage aimed at another seat's argument, which is named by its label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from service.debate.replies import Statement
from service.simulated.arguments import reasoned, state
from service.simulated.critic import Target, closeness, relation_of
from service.simulated.evidence import BearingSentence
from service.simulated.moderator import WeighedArgument
from service.simulated.pairs import counterpart
from service.simulated.passage_choice import Desk
from service.simulated.phrases import attack, flaw, measured
from service.simulated.proposer import cite
from service.simulated.standpoints import head

_LABEL_MOST = 60


class Foe(NamedTuple):
    """An argument of another seat."""

    named: str
    weighed: WeighedArgument

    @property
    def target(self) -> Target:
        return Target(self.weighed.said, "", self.weighed.evidence)


def name(label: str, n: int) -> str:
    """An argument by number and label: ``2 of Debater 1``, ``2 of [Adopt option B]`` if the label is a stance."""
    if len(label.split()) <= 2:
        return f"{n} of {label}" if label else str(n)
    short = head(label)
    if len(short) > _LABEL_MOST:
        short = f"{short[:_LABEL_MOST].rsplit(' ', 1)[0]} ..."
    return f"{n} of [{short}]"


def strike(
    desk: Desk, n: int, evidence: BearingSentence, foes: Sequence[Foe], reached: Counter[str], variant: int
) -> Statement:
    """A statement that holds a passage against the nearest argument on the other side.

    No argument is hit twice in a row. Without arguments on the other side, the passage is stated by itself.
    """
    foes = [f for f in foes if not f.weighed.evidence or any(e.side != evidence.side for e in f.weighed.evidence)]
    if not foes:
        return state(desk, [evidence], 0, n)[0]
    best = max(foes, key=lambda f: closeness(evidence, f.target) - 1.5 * reached[f.named])
    named = best.named
    relation = "" if reached[named] else relation_of(evidence, best.target)
    reached[named] += 1
    norm = counterpart(desk, evidence)
    text = (
        measured(named, evidence, norm, variant)
        if norm
        else attack(desk.strategy.family, relation, named, evidence, variant)
    )
    return Statement(n, text, cite(evidence))


def flaws(desk: Desk, foes: Sequence[Foe], most: int, first: int) -> list[Statement]:
    """The flaws of others' arguments in the words that they quote, each kind of flaw once."""
    made: list[Statement] = []
    seen = set()
    for foe in foes:
        cues = frozenset().union(*(e.cues for e in foe.weighed.evidence)) if foe.weighed.evidence else frozenset()
        text = flaw(desk.wanted.proposition.kind, 0, cues)
        if text is None or text in seen or len(made) == most:
            continue
        seen.add(text)
        plain = text.replace("Argument 0", "One argument of the other side")
        made.append(reasoned(first + len(made), text.replace("Argument 0", f"Argument {foe.named}"), plain))
    return made
