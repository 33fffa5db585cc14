"""A ballot debater's seat: a stance, its rationale and a vote, in each of the four phases.

    proposal     the model's own reading; the first weighs no other debater's
    critique     passages against the others' arguments; the vote does not change
    revision     all quoted passages are weighed, and the vote moves as far as they carry it
    consensus    the model joins the leading option if its own opinion is near enough

Votes on a scale from no to yes go to the option nearest to the opinion; votes that are on none go to the option with
most support in the documents. A model votes for ``escalate`` if no passage bears on the question; so does a strict
model that still stands alone at the end of a second round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from service.debate.replies import Ballot, Statement
from service.simulated.answers import Answered, chosen, summary
from service.simulated.arguments import GRANTED, reasoned, state, without_passage
from service.simulated.evidence import BearingSentence
from service.simulated.leaning import Leaning, Level, lean
from service.simulated.passage_choice import Desk, pick, turned_to
from service.simulated.phrases import does, upper
from service.simulated.proposer import cite
from service.simulated.rejoinders import Foe, flaws, name, strike
from service.simulated.standpoints import ESCALATE, option_letter, scale
from service.simulated.transcript import PHASES, HeardVoice, latest, others, plain_value, voices

MOST = 3
NEAR = 0.75
"""The greatest distance from its opinion of an option that a model joins for the sake of a decision."""
_LEAST = -0.4


class Choice(NamedTuple):
    """An option, its distance from the model's opinion (0: equal), the answer that it means, and its place."""

    option: str
    distance: float
    answered: Answered
    place: float = 0.0


def ballot(desk: Desk, limit: int, decided: str | None = None) -> Ballot:
    """The turn of a debater in a phase; ``limit`` bounds its rationale, ``decided`` is an option that is set."""
    said = voices(desk)
    phase = next((p for p in PHASES[1:] if desk.reading.asks(f"ballot.{p}")), "proposal")
    before = _own_vote(said)
    choices = _choices(desk, () if phase == "proposal" and not before else said)
    choice = next((c for c in choices if c.option == decided), None) or _vote(desk, phase, choices, before, said)
    former = next((c for c in choices if c.option == before), choice)
    rationale = _rationale(phase, choice, former, said, min(limit, MOST))
    return Ballot(_stance(choice, before), tuple(rationale), choice.option)


def _own_vote(said: Sequence[HeardVoice]) -> str:
    return next((str(v.spoken.body.get("vote", "")) for v in reversed(said) if v.spoken.own), "")


def _choices(desk: Desk, said: Sequence[HeardVoice]) -> list[Choice]:
    """All options but ``escalate``, the nearest to the model's opinion first."""
    options = [o for o in (desk.reading.ballots.options if desk.reading.ballots else ()) if not ESCALATE.search(o)]
    placed = scale(options, desk.reading.question, desk.wanted.proposition)
    found = _by_scale(desk, placed, said) if placed else _by_support(desk, options, said)
    return sorted(found, key=lambda c: (c.distance, options.index(c.option)))


def _by_scale(desk: Desk, placed: Mapping[str, float], said: Sequence[HeardVoice]) -> list[Choice]:
    leaning = lean(desk, said)
    lowest = min(placed.values())
    # Of two options, the lesser one is for every opinion that is not for the other.
    at = {o: _LEAST if len(placed) == 2 and p == lowest else p for o, p in placed.items()}
    return [Choice(o, round(abs(at[o] - leaning.opinion), 3), _answer(desk, leaning, p), p) for o, p in placed.items()]


def _answer(desk: Desk, leaning: Leaning, place: float) -> Answered:
    level: Level = "yes" if place > 0.5 else "no" if place < -0.1 else "part"
    return Answered("", level, leaning, desk)


def _by_support(desk: Desk, options: Sequence[str], said: Sequence[HeardVoice]) -> list[Choice]:
    found = []
    for option in options:
        turned = turned_to(desk, option, "adoption" if option_letter(option) else None)
        leaning = lean(turned, said)
        found.append(Choice(option, round(1 - leaning.opinion, 3), Answered("", "yes", leaning, turned)))
    return found


def _vote(desk: Desk, phase: str, choices: Sequence[Choice], before: str, said: Sequence[HeardVoice]) -> Choice:
    known = {c.option: c for c in choices}
    if not choices or not choices[0].answered.leaning.pool:
        return _escalated(desk, choices)
    if phase == "critique" and before in known:
        return known[before]
    if phase != "consensus":
        return choices[0]
    counted = Counter(str(v.spoken.body.get("vote", "")) for v in latest(others(said)))
    leading = [o for o, n in counted.items() if n == max(counted.values()) and o in known]
    near = [c for c in choices if c.option in leading and c.distance - choices[0].distance <= NEAR]
    if near and counted[near[0].option] > counted[choices[0].option]:
        return near[0]
    alone = counted[choices[0].option] == 0
    if alone and desk.reading.round > 1 and desk.strategy.strictness > 2:
        return _escalated(desk, choices)
    return choices[0]


def _escalated(desk: Desk, choices: Sequence[Choice]) -> Choice:
    named = next((o for o in (desk.reading.ballots.options if desk.reading.ballots else ()) if ESCALATE.search(o)), "")
    leaning = choices[0].answered.leaning if choices else lean(desk)
    return Choice(named or "escalate", 0.0, Answered("", "part", leaning, desk))


def _stance(choice: Choice, before: str) -> str:
    moved = f" (moved from {before})" if before and before != choice.option else ""
    return f"{upper(choice.option)}{moved}: {summary(choice.answered, 1)}"


def _rationale(
    phase: str, choice: Choice, former: Choice, said: Sequence[HeardVoice], most: int
) -> Sequence[Statement]:
    answered = choice.answered
    made: list[Statement] = []
    if phase == "critique":
        made = _critique(answered, said, most)
    elif phase == "revision":
        made = _revision(choice, former, said, most)
    made = made or state(answered.desk, _best(answered, phase, most), answered.side)
    return made or without_passage(answered.desk, answered.side, min(most, 2))


def _best(answered: Answered, phase: str, most: int) -> list[BearingSentence]:
    """The passages of an answer: at the end by their plain value, before that by the model's preference."""
    found = chosen(answered, most)
    return sorted(found, key=lambda e: (-plain_value(e), e.source_id, e.start))[:2] if phase == "consensus" else found


def _foes(said: Sequence[HeardVoice], own_vote: str) -> list[Foe]:
    """The others' arguments in their last statements, those of another vote first."""
    last = latest(others(said))
    found = [
        (str(v.spoken.body.get("vote", "")) == own_vote, Foe(name(v.label, w.said.n), w))
        for v in last
        for w in v.arguments
        if not w.said.text.startswith(GRANTED)
    ]
    found.sort(key=lambda p: (p[0], -p[1].weighed.weight, p[1].weighed.label, p[1].weighed.said.n))
    return [foe for _, foe in found]


def _critique(answered: Answered, said: Sequence[HeardVoice], most: int) -> list[Statement]:
    desk = answered.desk
    foes = _foes(said, _own_vote(said))[:6]
    if not foes:
        return []
    sides = (answered.side,) if answered.side else (-1, 1)
    each = [pick(desk, side, most, desk.strategy.floor) for side in sides]
    found = [e for row in zip_longest(*each) for e in row if e][:most]
    reached: Counter[str] = Counter()
    made = [strike(desk, n, e, foes, reached, n + desk.reading.round) for n, e in enumerate(found, start=1)]
    return made + flaws(desk, foes, max(0, min(most, 2) - len(made)), len(made) + 1)


def _revision(choice: Choice, former: Choice, said: Sequence[HeardVoice], most: int) -> list[Statement]:
    """The reason why the vote moved or stays, and then its passages."""
    answered = choice.answered
    side = answered.side
    towards = (choice.place > former.place) - (choice.place < former.place)
    made = _moved(answered, towards, said) if choice.option != former.option else _answered(answered, said)
    quoted = {c.quote for s in made for c in s.citations}
    rest = [e for e in chosen(answered, most + 1) if e.quote not in quoted]
    return [*made, *state(answered.desk, rest[: most - len(made)], side, len(made) + 1)]


def _moved(answered: Answered, towards: int, said: Sequence[HeardVoice]) -> list[Statement]:
    """The passage of another debater that moved the vote."""
    learned = {e: v.label for v in others(said) for w in v.arguments for e in w.evidence}
    reasons = [e for e in answered.leaning.learned if e in learned and (not towards or e.side == towards)]
    text = "What moves this vote is {}, which {} brought: it {}."
    return [Statement(1, text.format(e.where, learned[e], does(e)), cite(e)) for e in reasons[:1]]


def _answered(answered: Answered, said: Sequence[HeardVoice]) -> list[Statement]:
    """The answer to the weightiest of the arguments that name one of the debater's own."""
    label = next((v.label for v in said if v.spoken.own), "")
    attacks = [Foe(name(v.label, w.said.n), w) for v in latest(others(said)) for w in v.arguments]
    attacks = [foe for foe in attacks if label and f" of {label}" in foe.weighed.said.text and foe.weighed.evidence]
    if not attacks:
        return []
    strongest = max(attacks, key=lambda foe: (foe.weighed.weight, foe.named))
    against = strongest.weighed.evidence[0]
    fresh = pick(answered.desk, -against.side, 1, answered.desk.strategy.floor) if against.side else []
    if fresh:
        return [strike(answered.desk, 1, fresh[0], [strongest], Counter(), answered.desk.reading.round)]
    meet = against.rule.meet if against.rule else "It does not decide the vote."
    return [reasoned(1, f"Argument {strongest.named} was weighed. {meet}", meet)]
