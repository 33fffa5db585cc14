"""Why replies of a panel that have the right shape cannot be used at their place.

A debater may name only what its request shows: the letters of the debate and the numbers of claims that are not struck.
The seat reads the message, so a message says what to do and repeats only numbers of the reply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from service.debate.facts import UNUSABLE
from service.debate.model import Turn, seat_of
from service.debate.panel_answers import objections
from service.debate.panel_standing import claims_shown, debaters_of, labels_of, latest, question_type
from service.debate.replies import AccuracyReview, BlindAnswer, ObjectionAnswers, Reply, RevisedAnswer, Synthesis
from service.debate.script import Script

CLAIMS_MAX = 12
"""The most claims of an answer, more than any prompt asks for. Every other debater has to mark each of them, so a
hundred claims would leave no room for the others' answers."""
MOST_ASKED = 2
"""The attempts that a turn needs, for a debater to be asked once more about marks that contradict its own text."""
Claimed = tuple[str, int]
"""A claim as debaters name it: its author's letter and its number."""


class _Seen(NamedTuple):
    """The contents of a debater's request: the claims of the others, its own claims, and the authors of objections."""

    own: str
    others: frozenset[Claimed]
    mine: frozenset[Claimed]
    objectors: frozenset[str]


def problem(s: Script, turn: Turn, reply: Reply) -> str | None:
    """Why a reply of the right shape is unusable at this place."""
    match reply:
        case BlindAnswer():
            return _overlong(reply) or _unpredicting(s, reply)
        case RevisedAnswer():
            seen = _seen(s, turn)
            wrong = (_overlong(reply), _unpredicting(s, reply), _unmarked(seen, reply), _unopposing(turn, seen, reply))
            return next(filter(None, (*wrong, _contesting(s, turn, seen, reply))), None)
        case ObjectionAnswers():
            return _unanswering(s, turn, reply)
        case Synthesis():
            return _unsupported(s, reply)
        case AccuracyReview():
            return _unreviewed(s, turn, reply)
        case _:
            return None


def _seen(s: Script, turn: Turn) -> _Seen:
    label = labels_of(s)
    shown = {t: {(label[seat_of(t)], n) for n in claims_shown(s, t)} for t in turn.sees}
    objectors = {
        label[seat_of(t)]
        for t in turn.sees
        if isinstance(said := s.facts.said.get(t), RevisedAnswer) and said.objection and seat_of(t) != turn.seat
    }
    others = frozenset().union(*(claims for t, claims in shown.items() if seat_of(t) != turn.seat))
    mine = frozenset().union(*(claims for t, claims in shown.items() if seat_of(t) == turn.seat))
    return _Seen(label[turn.seat], others, mine, frozenset(objectors))


def _overlong(reply: BlindAnswer | RevisedAnswer) -> str | None:
    if len(reply.claims) <= CLAIMS_MAX:
        return None
    found = len(reply.claims)
    return f"the others mark every claim, so give at most {CLAIMS_MAX}, the most important; {found} found"


def _unpredicting(s: Script, reply: BlindAnswer | RevisedAnswer) -> str | None:
    predicts = question_type(s) == "prediction"
    if predicts and reply.probability is None:
        return "the question is a prediction, so probability must give low and high in per cent; it is null here"
    if not predicts and reply.probability is not None:
        return "the question is no prediction, so probability must be null"
    return None


def _unmarked(seen: _Seen, reply: RevisedAnswer) -> str | None:
    """Why a claim of the others lacks its one mark; a debater may also mark its own claims, to withdraw them."""
    marked = Counter((mark.label, mark.n) for mark in reply.marks)
    if any(times > 1 for times in marked.values()):
        return f"each claim is marked once; {sum(times > 1 for times in marked.values())} claims are marked again"
    if strange := set(marked) - seen.others - seen.mine:
        return f"{len(strange)} marks name no claim that was shown; those shown are {_listed(seen.others)}"
    if left := seen.others - set(marked):
        return f"every claim of the other answers must be marked; the marks leave out {_listed(left)}"
    return None


def _contesting(s: Script, turn: Turn, seen: _Seen, reply: RevisedAnswer) -> str | None:
    """Why challenges and open points do not fit the marks.

    A debater is asked once to decide between accepting a claim and contesting it. If it does not, the mark counts as
    unsure, and the reply is used: a repetition must not cost a seat.
    """
    if strange := reply.contested - seen.others - seen.mine:
        allowed = _listed(seen.others | seen.mine)
        return f"stillChallenges and unresolved name {len(strange)} claims that were not shown; those are {allowed}"
    both = {(mark.label, mark.n) for mark in reply.marks if mark.mark == "accept"} & reply.contested
    asked = any(failed.reason in UNUSABLE for failed in s.facts.failed.get(turn.id, ()))
    if not both or asked or s.started.attempts_per_turn < MOST_ASKED:
        return None
    return (
        f"the marks accept {_listed(both)}, which stillChallenges or unresolved contest; mark a claim that you contest "
        "reject or unsure, or leave it out there"
    )


def _unanswering(s: Script, turn: Turn, reply: ObjectionAnswers) -> str | None:
    """Why the answers are not one to each objector."""
    expected = sorted({label for t, label in objections(s, turn.round).items() if seat_of(t) != turn.seat})
    if sorted(answer.label for answer in reply.answers) != expected:
        return f"answers must have exactly one answer to each of {', '.join(expected)}"
    return None


def _unopposing(turn: Turn, seen: _Seen, reply: RevisedAnswer) -> str | None:
    """Why a devil's advocate lacks an objection, or answers objections that were not raised."""
    objection, devil = reply.objection, "panel.devil" in turn.fragments
    if devil and objection is None:
        return "from round 3 on, objection must name the strongest flaw in the majority's position; it is null here"
    if not devil and objection is not None:
        return "no objection is asked for before round 3; objection must be null"
    aims = seen.others | seen.mine
    if objection and (objection.label, objection.n) not in aims and aims:
        return f"the objection must name a claim that was shown, one of {_listed(aims)}"
    answered = Counter(answer.label for answer in reply.answers_to_objections)
    if set(answered) - seen.objectors or any(times > 1 for times in answered.values()):
        allowed = ", ".join(sorted(seen.objectors)) or "nobody, so that the list must be empty"
        return f"answersToObjections may answer each objector of the round before once: {allowed}"
    return None


def _unsupported(s: Script, reply: Synthesis) -> str | None:
    """Why the ideas of a synthesis are not those of a brainstorm."""
    label = labels_of(s)
    last = [turn for seat in debaters_of(s) if (turn := latest(s, seat))]
    claims = {(label[seat_of(turn)], n) for turn in last for n in claims_shown(s, turn)}
    if question_type(s) != "brainstorm":
        return "ideas are listed for a brainstorm alone; ideas must be empty here" if reply.ideas else None
    if claims and not reply.ideas:
        return "the question is a brainstorm, so ideas must list at least one idea with the claims that endorse it"
    wrong = [i for i, idea in enumerate(reply.ideas, 1) if any((e.label, e.n) not in claims for e in idea.endorsed_by)]
    if wrong:
        return f"ideas {wrong} name claims that are in no debater's last answer; those are {_listed(claims)}"
    return None


def _unreviewed(s: Script, turn: Turn, reply: AccuracyReview) -> str | None:
    label = labels_of(s)
    expected = sorted({label[seat_of(t)] for t in turn.sees if seat_of(t) in label})
    if sorted(review.label for review in reply.reviews) != expected:
        return f"reviews must score exactly the labels {expected}, each once"
    return None


def _listed(claims: Iterable[Claimed]) -> str:
    """Claims in the words of a message: ``Model A 1, 2; Model B 1``."""
    numbers: Mapping[str, list[str]] = {}
    numbers = {label: [str(n) for whose, n in sorted(claims) if whose == label] for label, _ in sorted(claims)}
    return "; ".join(f"{label} {', '.join(ns)}" for label, ns in numbers.items()) or "none"
