"""A convergence debater's seat: an independent answer, then one that defends or updates it on the whole transcript.

Debaters with the same answer repeat the best arguments of the transcript in their own words, because there is nothing
to add; in the first round after the drafts each still keeps one argument of its own. A debater with another answer
argues with other passages. So answers converge if the documents lead them to one conclusion.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.debate.findings import Citation
from service.debate.replies import Position, Statement
from service.simulated.answers import Answered, chosen, conclude
from service.simulated.arguments import state, without_passage
from service.simulated.moderator import WeighedArgument
from service.simulated.passage_choice import Desk
from service.simulated.transcript import HeardVoice, latest, plain_value, voices

SHARED = 3


def position(desk: Desk, limit: int) -> Position:
    """The answer in few words, and the arguments that it rests on."""
    said = voices(desk)
    answered = conclude(desk, said)
    own = state(answered.desk, chosen(answered, min(limit, SHARED)), answered.side)
    if not any(not v.spoken.own for v in said):
        return Position(answered.words, tuple(own or without_passage(answered.desk, answered.side, 2)))
    again = sum(v.spoken.own for v in said) > 1
    taken = _taken(answered, latest(said), min(limit, SHARED))
    made = taken if again or not own else _with_own(own, taken)
    return Position(answered.words, tuple(made or own or without_passage(answered.desk, answered.side, 2)))


def _with_own(own: Sequence[Statement], taken: Sequence[Statement]) -> list[Statement]:
    """The debater's first argument, and the shared ones that do not rest on its passage."""
    quoted = {c.quote for c in own[0].citations}
    rest = [s for s in taken if not quoted & {c.quote for c in s.citations}][: max(0, len(taken) - 1)]
    return [Statement(n, s.text, s.citations, s.basis) for n, s in enumerate([own[0], *rest], start=1)]


def _taken(answered: Answered, last: Sequence[HeardVoice], most: int) -> list[Statement]:
    """The best arguments of all debaters for an answer, each passage once."""
    found: dict[str, WeighedArgument] = {}
    for argument in sorted((w for v in last for w in v.arguments), key=lambda w: w.said.text):
        for e in argument.evidence[:1]:
            if not answered.side or e.side == answered.side:
                found.setdefault(e.quote, argument)
    ranked = sorted(found.values(), key=lambda w: (-plain_value(w.evidence[0]), w.said.text))
    return [
        Statement(n, w.said.text, tuple(Citation(c.quote, c.source_id) for c in w.said.citations))
        for n, w in enumerate(ranked[:most], start=1)
    ]
