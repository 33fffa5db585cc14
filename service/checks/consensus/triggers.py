"""Vetoes: the facts that exclude consensus whatever the scores are, also those of a model that adjudicates.

In every type of question:

    fewVoices               fewer than two debaters spoke
    nothingStands           fewer than two debaters have a claim that is not struck
    conclusionsNotCompared  two answers are open, they make no claim in common, and they have not accepted all claims
                            of both on verified passages (not in a brainstorm)
    claimsNotCompared       two debaters have marked no claim of each other, and code finds none of theirs alike
    noSharedClaim           two debaters accept no claim in common, and none of theirs are alike (belief: all debaters)
    claimsOpposed           two claims or answers exclude each other (not in a brainstorm)
    objectionStands         no other debater has answered a strong objection of a devil's advocate

The trigger of each type, as far as code can follow it:

    factual     Metric Convergence       no yes against no, and no claim that one voice rejects while its author
                                         repeats it: in the same words, or nearly so without a correction.
                                         Code cannot judge the importance of facts
    normative   Value Alignment          the conclusions are on one side; frameworks may differ, as the reference says
    business    Risk Stability           the prescription: conclusions on one side. The diagnosis: no contradicted
                                         claim, and the claims that both accept reach the threshold over all pairs
    prediction  Probability Convergence  every two intervals have a point in common, and all of them together span no
                                         more than `RANGE` points, so that a very wide interval agrees with no other
    brainstorm  Coverage Saturation      the share of new ideas is below `FRESH`; never after the blind round
    belief      Framework Consensus      every two voices reason by one framework or one of the same family, and all
                                         accept at least one claim in common; conclusions may differ
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from service.checks import overlap
from service.checks.consensus.dimensions import (
    ANSWER,
    apart,
    claim_jaccard,
    claims_are_compared,
    conclusion,
    framework,
    new_ideas,
    opposed_claims,
    restates,
    share_a_claim,
)
from service.checks.consensus.transcript import PanelVoice, ShownClaims, Transcript, words
from service.debate.findings import NamedClaims, UnansweredObjection, Veto
from service.debate.model import seat_of
from service.debate.replies import RevisedAnswer
from service.debate.replies.panel import QuestionType

FEWEST = 2
"""The least number of voices: one alone has no agreement."""
RANGE = 40
"""The widest range, in points, that intervals of probability may span together as one estimate."""
FRESH = 200
"""The share of new ideas, per mille, from which a brainstorm is not saturated."""

Rule = Callable[[Transcript, int], Iterator[Veto]]


def vetoes(t: Transcript, r: int) -> tuple[Veto, ...]:
    """Every fact after a round that excludes consensus."""
    voices = t.voices(r)
    if len(voices) < FEWEST:
        return (Veto("fewVoices", "Fewer than two debaters spoke, and one voice is no consensus."),)
    if sum(bool(t.standing(voice)) for voice in voices) < FEWEST:
        text = "Fewer than two debaters have a claim that stands, and an answer alone shows no agreement."
        return (Veto("nothingStands", text),)
    return (*_RULES[t.kind](t, r), *_uncompared(t, r), *_opposed(t, r), *_objections(t, r))


def all_opposed(t: Transcript, r: int) -> tuple[NamedClaims, ...]:
    """Every two claims of a round, or answers, that exclude each other."""
    return tuple(pair for one, other in t.pairs(r) for pair in opposed_claims(t, one, other))


def unanswered(t: Transcript, r: int) -> tuple[UnansweredObjection, ...]:
    """The strong objections up to a round to which no other debater has replied.

    A reply in ``answers_to_objections`` answers all earlier objections of the named debater. So does an answer after
    the last round, unless a debater says there that the objection holds. A mention in other text does not, because code
    cannot distinguish an answer from a repetition.
    """
    found = []
    for q in range(1, r + 1):
        for voice in t.voices(q):
            objection = voice.reply.objection if isinstance(voice.reply, RevisedAnswer) else None
            if objection and objection.severity == "high" and not _answered(t, voice, q, r):
                found.append(UnansweredObjection(voice.turn, objection.flaw))
    return tuple(found)


def contradicted(t: Transcript, r: int) -> tuple[ShownClaims, ...]:
    """Claims that a voice rejects while their author, who accepts them, repeats them in the same round."""
    author = {voice.seat: voice for voice in t.voices(r)}
    return tuple(
        claim
        for claim in t.shown(r)
        if claim.by("reject") and claim.author in claim.by("accept") and _repeated(t, claim, author[claim.author])
    )


def _repeated(t: Transcript, claim: ShownClaims, author: PanelVoice) -> bool:
    """Whether an answer makes a former claim again: in the same words, or nearly so and without a correction."""
    corrected = isinstance(author.reply, RevisedAnswer) and author.reply.corrections.strip()
    return any(
        overlap.words(now.text) == overlap.words(claim.claim.text)
        or (not corrected and restates(words(claim.claim.text), words(now.text)))
        for now in t.standing(author)
    )


def _answered(t: Transcript, objector: PanelVoice, q: int, r: int) -> bool:
    last = [
        answer.verdict
        for turn, reply in t.answered.items()
        if seat_of(turn) != objector.seat
        for answer in reply.answers
        if answer.label == objector.label
    ]
    if last:
        return "holds" not in last
    return any(
        answer.label == objector.label
        for later in range(q + 1, r + 1)
        for voice in t.voices(later)
        if voice.seat != objector.seat and isinstance(voice.reply, RevisedAnswer)
        for answer in voice.reply.answers_to_objections
    )


def _uncompared(t: Transcript, r: int) -> Iterator[Veto]:
    """Confidences and frameworks alone are never consensus: conclusions and claims have to be compared."""
    pairs, shown = t.pairs(r), t.shown(r)
    if t.kind != "brainstorm" and (open_ := [p for p in pairs if conclusion(t, *p, shown) is None]):
        text = f"No claim in common shows that the open answers agree: {_between(open_)}."
        yield Veto("conclusionsNotCompared", text)
    if unlike := [p for p in pairs if not claims_are_compared(t, *p, shown)]:
        text = f"No claim has been marked, and code finds no two that are alike: {_between(unlike)}."
        yield Veto("claimsNotCompared", text)
    elif t.kind != "belief" and (none := [p for p in pairs if not share_a_claim(t, *p, shown)]):
        yield Veto("noSharedClaim", f"No claim is accepted by both of: {_between(none)}.")


def _between(pairs: list[tuple[PanelVoice, PanelVoice]]) -> str:
    return ", ".join(" and ".join(sorted((one.label, other.label))) for one, other in pairs)


def _opposed(t: Transcript, r: int) -> Iterator[Veto]:
    named = []
    for pair in all_opposed(t, r):
        sides = zip(pair.turns, pair.numbers, strict=True)
        named.append(" and ".join(sorted(f"{_part(n)} of {t.labels[seat_of(turn)]}" for turn, n in sides)))
    if named:
        yield Veto("claimsOpposed", f"These exclude each other: {'; '.join(sorted(named))}.")


def _part(n: int) -> str:
    return "the answer" if n == ANSWER else f"claim {n}"


def _objections(t: Transcript, r: int) -> Iterator[Veto]:
    if standing := unanswered(t, r):
        who = sorted({t.labels[seat_of(objection.turn)] for objection in standing})
        listed = " and ".join(filter(None, (", ".join(who[:-1]), who[-1])))
        yield Veto("objectionStands", f"A strong objection of {listed} has not been answered by another debater.")


def _contested(t: Transcript, r: int) -> Iterator[Veto]:
    if stand := contradicted(t, r):
        named = ", ".join(f"claim {claim.claim.n} of {t.labels[claim.author]}" for claim in stand)
        yield Veto("claimsContested", f"Claims stand although another debater rejects them: {named}.")


def _factual(t: Transcript, r: int) -> Iterator[Veto]:
    if {"affirmative", "negative"} <= {voice.reply.stance for voice in t.voices(r)}:
        yield Veto("conclusionsDiffer", "One debater answers yes and another no.")
    yield from _contested(t, r)


def _normative(t: Transcript, r: int) -> Iterator[Veto]:
    if _sides(t, r) > 1:
        yield Veto("conclusionsDiffer", "The debaters still differ on what ought to be done.")


def _sides(t: Transcript, r: int) -> int:
    return len({"affirmative" if v.reply.stance == "qualified" else v.reply.stance for v in t.voices(r)})


def _business(t: Transcript, r: int) -> Iterator[Veto]:
    if _sides(t, r) > 1:
        yield Veto("conclusionsDiffer", "The debaters recommend different courses of action.")
    yield from _contested(t, r)
    shared = claim_jaccard(t, r)
    if shared is None:
        yield Veto("risksNotShared", "The debaters have not yet judged each other's risks.")
    elif shared < t.threshold:
        yield Veto("risksNotShared", "The debaters do not yet accept the same risks.")


def _prediction(t: Transcript, r: int) -> Iterator[Veto]:
    given = [voice.reply.probability for voice in t.voices(r)]
    intervals = [interval for interval in given if interval]
    if len(intervals) < len(given):
        yield Veto("probabilitiesApart", "A debater states no probability.")
    elif any(apart(one, other) for i, one in enumerate(intervals) for other in intervals[i + 1 :]):
        yield Veto("probabilitiesApart", "Intervals of probability do not overlap.")
    elif max(i.high for i in intervals) - min(i.low for i in intervals) > RANGE:
        yield Veto("probabilitiesApart", f"Together the intervals of probability span more than {RANGE} points.")


def _brainstorm(t: Transcript, r: int) -> Iterator[Veto]:
    fresh = new_ideas(t, r)
    if fresh is None:
        yield Veto("newIdeas", "Nothing came before the blind round, so all of its ideas are new.")
    elif fresh >= FRESH:
        yield Veto("newIdeas", "The debaters are still bringing up new ideas.")


def _belief(t: Transcript, r: int) -> Iterator[Veto]:
    if not all(framework(a, b) for a, b in t.pairs(r)):
        yield Veto("frameworksApart", "The debaters do not reason from one framework.")
    voices = {voice.seat for voice in t.voices(r)}
    if not any(voices <= set(claim.by("accept")) for claim in t.shown(r)):
        yield Veto("noSharedClaim", "There is no claim that all debaters accept.")


_RULES: Mapping[QuestionType, Rule] = {
    "factual": _factual,
    "normative": _normative,
    "business": _business,
    "prediction": _prediction,
    "brainstorm": _brainstorm,
    "belief": _belief,
}
