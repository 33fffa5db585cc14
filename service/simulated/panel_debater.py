"""A panel debater's seat: a blind answer first, then answers revised in the light of the others'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import TypeGuard, get_args

from service.debate.replies import BlindAnswer, Claim, ObjectionAnswers, RevisedAnswer, Statement
from service.debate.replies.panel import (
    Challenge,
    Framework,
    Interval,
    Mark,
    NamedClaim,
    ObjectionAnswer,
    ObjectionReply,
    OpenPoint,
    Severity,
    Stance,
    StrongestObjection,
)
from service.simulated.answers import Answered, chosen, conclude, in_words, summary
from service.simulated.arguments import state, without_passage
from service.simulated.claim_marks import by_claim, mark, rival
from service.simulated.evidence import BearingSentence
from service.simulated.gaps import missing
from service.simulated.ideas import ideas
from service.simulated.leaning import Level, lean, sureness
from service.simulated.moderator import WeighedArgument
from service.simulated.passage_choice import Desk, value
from service.simulated.phrases import does, follows, upper
from service.simulated.transcript import HeardVoice, latest, others, plain_value, quoted, voices
from service.simulated.uncertainties import absent_texts

STANCES: dict[Level | None, Stance] = {"yes": "affirmative", "part": "qualified", "no": "negative", None: "open"}
LEVELS: dict[str, Level] = {"affirmative": "yes", "qualified": "part", "negative": "no"}
_FRAMEWORKS: dict[str, tuple[Framework, Framework, Framework]] = {
    "exposure": ("textual", "riskAssessment", "textual"),
    "conformity": ("textual", "riskAssessment", "empirical"),
    "presence": ("textual", "textual", "empirical"),
    "sufficiency": ("textual", "riskAssessment", "empirical"),
    "adoption": ("costBenefit", "riskAssessment", "empirical"),
    "soundness": ("costBenefit", "riskAssessment", "empirical"),
}
_VALUES: tuple[Framework, Framework, Framework] = ("rightsAndDuties", "consequences", "precedent")


def blind(desk: Desk, limit: int) -> BlindAnswer:
    """The answer of a debater that has seen no other."""
    answered = conclude(desk)
    return BlindAnswer(
        answer=_answer(answered),
        stance=STANCES[answered.level],
        framework=_framework(desk),
        claims=_claims(desk, answered, (), limit),
        overall_confidence=sureness(answered.leaning, desk),
        assumptions=_assumptions(desk, answered, limit),
        probability=_probability(desk, answered, ()),
    )


def deliberation(desk: Desk, limit: int) -> RevisedAnswer:
    """The answer of a debater that has read the others'; ``limit`` bounds its claims."""
    said = latest(voices(desk))
    answered = conclude(desk, said)
    marks = mark(desk, answered, said)
    devil = desk.reading.asks("panel.devil")
    return RevisedAnswer(
        answer=_answer(answered),
        stance=STANCES[answered.level],
        framework=_moved_framework(desk, said, marks),
        claims=_claims(desk, answered, said, limit),
        overall_confidence=_confidence(desk, answered, said),
        assumptions=_assumptions(desk, answered, limit),
        learned_from_others=_learned(answered, said),
        corrections=_corrections(desk, answered, said),
        still_challenges=_challenges(answered, said, marks),
        unresolved=_unresolved(said, marks),
        marks=marks,
        probability=_probability(desk, answered, said),
        objection=_objection(answered, said) if devil else None,
        answers_to_objections=_answers(answered, said),
    )


def _answer(answered: Answered) -> str:
    if answered.desk.reading.asks("panel.brainstorm"):
        if not answered.desk.documents:
            return "The ideas below are general ones, because no document was given."
        return "The ideas below follow from what the documents leave open and from what they already hold."
    return f"{answered.words} {summary(answered)}"


def _claims(desk: Desk, answered: Answered, said: Sequence[HeardVoice], limit: int) -> tuple[Claim, ...]:
    if desk.reading.asks("panel.brainstorm"):
        made = ideas(desk, said, limit)
    else:
        found = chosen(answered, limit)
        made = state(answered.desk, found, answered.side) or without_passage(answered.desk, answered.side, 2)
    worth = {e.quote: e for e in (*answered.leaning.pool, *quoted(said), *lean(desk).own)}
    return tuple(_claim(s, [worth[c.quote] for c in s.citations if c.quote in worth]) for s in made)


def _claim(said: Statement, found: Sequence[BearingSentence]) -> Claim:
    if not found:
        return Claim(said.n, said.text, 45, said.citations, said.basis)
    sure = 46 + 8 * found[0].weight + 8 * found[0].relevance - (12 if "hedge" in found[0].cues else 0)
    return Claim(said.n, said.text, round(sure), said.citations, said.basis)


def _framework(desk: Desk) -> Framework:
    place = ("alder", "birch", "cedar").index(desk.strategy.family)
    if desk.reading.asks("panel.normative") or desk.reading.asks("panel.belief"):
        return _VALUES[place]
    usual = _FRAMEWORKS[desk.kind][place]
    return "consequences" if usual == "textual" and not desk.documents else usual


def _moved_framework(desk: Desk, said: Sequence[HeardVoice], marks: Sequence[Mark]) -> Framework:
    """The framework behind most of the claims that the debater accepts.

    It is its own if none has more; from round three on, a lenient family adopts another one with as many.
    """
    own = next((v for v in said if v.spoken.own), None)
    now = str(own.spoken.body.get("framework")) if own else _framework(desk)
    accepted = by_claim(marks)
    counted: Counter[str] = Counter({now: len(own.arguments) if own else 1})
    for voice in others(said):
        framework = str(voice.spoken.body.get("framework"))
        counted[framework] += sum(accepted.get((w.label, w.said.n)) == "accept" for w in voice.arguments)
    gives_way = desk.strategy.family == "alder" and desk.reading.round > 2
    known = [f for f in _KNOWN if f in counted] or [_framework(desk)]
    return max(known, key=lambda f: (counted[f], (f == now) != gives_way, f))


_KNOWN: tuple[Framework, ...] = get_args(Framework)


def _confidence(desk: Desk, answered: Answered, said: Sequence[HeardVoice]) -> int:
    """The debater's own confidence, moved half way to that of the others which agree with it."""
    own = sureness(answered.leaning, desk)
    alike = [
        sure
        for v in others(said)
        if v.spoken.body.get("stance") == STANCES[answered.level]
        and isinstance(sure := v.spoken.body.get("overallConfidence"), int)
    ]
    return round((own + mean(alike)) / 2) if alike else max(20, own - 5)


def _assumptions(desk: Desk, answered: Answered, limit: int) -> tuple[str, ...]:
    if not desk.documents:
        return ("No document was given, so nothing that is assumed here was checked.",)
    absent = absent_texts(desk.documents, answered.leaning.pool)
    found = [
        f"{upper(name)}, which is not among the documents, holds nothing that changes this." for name in absent[:1]
    ]
    items = [item for side in (-1, 1) for item in missing(desk, side)[:1]]
    found += [
        f"The documents do not show {item.remedy}; nothing there is taken to change this answer." for item in items
    ]
    found = found or ["The documents supplied are complete and in force."]
    return tuple(found[: max(1, limit - 2)])


def _probability(desk: Desk, answered: Answered, said: Sequence[HeardVoice]) -> Interval | None:
    """The interval of a prediction in per cent: around the opinion, moved to the others' once they are known."""
    if not desk.reading.asks("panel.prediction"):
        return None
    centre = 50 + 40 * answered.leaning.opinion
    probabilities = [v.spoken.body.get("probability") for v in others(said)]
    middles = [(p["low"] + p["high"]) / 2 for p in probabilities if _is_interval(p)]
    if middles:
        centre = (centre + mean(middles)) / 2
    half = 14 - min(7, len(answered.leaning.pool)) + (3 if desk.strategy.most < 5 else 0)
    return Interval(max(1, round(centre - half)), min(99, round(centre + half)))


def _is_interval(body: object) -> TypeGuard[dict[str, int]]:
    return isinstance(body, dict) and isinstance(body.get("low"), int) and isinstance(body.get("high"), int)


def _learned(answered: Answered, said: Sequence[HeardVoice]) -> str:
    whose = {e: v.label for v in others(said) for w in v.arguments for e in w.evidence}
    own = [v for v in said if v.spoken.own]
    held = {c.quote for v in own for w in v.arguments for c in w.said.citations}
    learned = " ".join(str(v.spoken.body.get("learnedFromOthers", "")) for v in own)
    new = [e for e in answered.leaning.learned if e in whose and e.quote not in held]
    fresh = next((e for e in new if e.where not in learned), None)
    if fresh is None:
        return "Nothing was shown that this answer had not weighed before."
    return f"{whose[fresh]} pointed to {fresh.where}, which {does(fresh)}; this answer had not weighed it before."


def _corrections(desk: Desk, answered: Answered, said: Sequence[HeardVoice]) -> str:
    own = next((v for v in said if v.spoken.own), None)
    if own is None:
        return ""
    before = str(own.spoken.body.get("stance", ""))
    if before == STANCES[answered.level] or before not in LEVELS:
        return "" if before == STANCES[answered.level] else f"The answer is now: {answered.words}"
    moved = next((e for e in answered.leaning.learned if e.side == answered.side or not answered.side), None)
    because = f" {upper(moved.where)} {does(moved)}, and {follows(moved)}." if moved else ""
    return f"The answer before was “{in_words(desk, LEVELS[before])}” That went too far.{because}"


def _challenges(answered: Answered, said: Sequence[HeardVoice], marks: Sequence[Mark]) -> tuple[Challenge, ...]:
    """The first rejected claim of another, with the passage that stands against it."""
    rejected = by_claim(marks)
    for voice in others(said):
        for claim in voice.arguments:
            if rejected.get((claim.label, claim.said.n)) == "reject" and (e := rival(answered, claim.evidence[0])):
                return (Challenge(claim.label, claim.said.n, f"It does not hold against {e.where}, which {does(e)}."),)
    return ()


def _unresolved(said: Sequence[HeardVoice], marks: Sequence[Mark]) -> tuple[OpenPoint, ...]:
    """The first claim of another whose passage may not carry it."""
    unsure = by_claim(marks)
    for voice in others(said):
        for claim in voice.arguments:
            if unsure.get((claim.label, claim.said.n)) == "unsure" and claim.evidence:
                text = f"How far {claim.evidence[0].brief} carries."
                return (OpenPoint((NamedClaim(claim.label, claim.said.n),), text),)
    return ()


def _objection(answered: Answered, said: Sequence[HeardVoice]) -> StrongestObjection | None:
    """The strongest flaw of the majority's position: a passage that its claims ignore, against the best of them."""
    claims = [w for v in said for w in v.arguments]
    if not claims:
        return StrongestObjection("The majority names no claim that could be tested.", "", 1, "low") if said else None
    counted = Counter(str(v.spoken.body.get("stance", "")) for v in said)
    majority = max(counted, key=lambda stance: (counted[stance], stance))
    side = {"affirmative": 1, "negative": -1}.get(majority, 0)
    own = [w for v in said if v.spoken.body.get("stance") == majority for w in v.arguments] or claims
    target = max(own, key=lambda w: (w.weight, w.label, -w.said.n))
    sides = {side} if side else {e.side for e in target.evidence}
    quoted = {e.quote for w in own for e in w.evidence}
    against = [e for e in answered.leaning.pool if e.side and e.side not in sides]
    passed_over = [e for e in against if e.quote not in quoted]
    best = max(passed_over or against, key=lambda e: (value(answered.desk, e), -e.start), default=None)
    if best is None:
        flaw = "The majority's position rests on few passages, and none was tested against a contrary one."
        if not answered.desk.documents:
            flaw = "The majority's position rests on premises that cannot be checked in this debate."
        return StrongestObjection(flaw, target.label, target.said.n, "low")
    flaw = f"The majority's position has to reckon with {best.where}, which {does(best)}: {follows(best)}."
    if answered.desk.reading.asks("panel.brainstorm"):
        flaw = f"Few of the ideas take up {best.where}, which {does(best)}: {follows(best)}."
    return StrongestObjection(flaw, target.label, target.said.n, _severity(best, target, best in passed_over))


def _severity(against: BearingSentence, target: WeighedArgument, passed_over: bool) -> Severity:
    if passed_over and plain_value(against) > 1.25 * max((plain_value(e) for e in target.evidence), default=0.0):
        return "high"
    return "medium" if passed_over and against.weight >= 4 else "low"


def answer(desk: Desk, limit: int) -> ObjectionAnswers:  # noqa: ARG001 - every seat takes a limit
    """The answers to the strong objections of others that stand after the last round.

    Each is taken as a risk that the answer accepts.
    """
    said = latest(voices(desk))
    answered = conclude(desk, said)
    replies = {o.label: o.text for o in _answers(answered, voices(desk))}
    strong = [
        v.label
        for v in others(voices(desk))
        if isinstance(o := v.spoken.body.get("objection"), dict) and o.get("severity") == "high"
    ]
    made = (ObjectionReply(label, "acceptedRisk", replies[label]) for label in dict.fromkeys(strong))
    return ObjectionAnswers(tuple(made))


def _answers(answered: Answered, said: Sequence[HeardVoice]) -> tuple[ObjectionAnswer, ...]:
    """An answer to each objection that another debater raised."""
    made = []
    for voice in others(said):
        objection = voice.spoken.body.get("objection")
        if not isinstance(objection, dict):
            continue
        carrying = answered.leaning.on(answered.side or 1)
        held = f" Against it stands {carrying[0].where}, which {does(carrying[0])}." if carrying else ""
        text = f"The flaw that {voice.label} names is real, and it narrows the answer without turning it round.{held}"
        made.append(ObjectionAnswer(voice.label, text))
    return tuple(made)
