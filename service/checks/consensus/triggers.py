"""The trigger of each type of question: a rule beside the threshold that can only prevent consensus.

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

In every type two voices are needed whose claims are not all struck, and no strong objection of a devil's advocate may
be unanswered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.checks import overlap
from service.checks.consensus.dimensions import apart, claim_jaccard, framework, new_ideas, restates
from service.checks.consensus.transcript import PanelVoice, ShownClaims, Transcript, words
from service.debate.findings import UnansweredObjection
from service.debate.replies import RevisedAnswer
from service.debate.replies.panel import QuestionType

RANGE = 40
"""The widest range, in points, that intervals of probability may span together as one estimate."""
FRESH = 200
"""The share of new ideas, per mille, from which a brainstorm is not saturated."""

Rule = Callable[[Transcript, int], str | None]


def veto(t: Transcript, r: int) -> str | None:
    """Why the trigger of the question's type is not met, or ``None``."""
    return _RULES[t.kind](t, r)


def unanswered(t: Transcript, r: int) -> tuple[UnansweredObjection, ...]:
    """The strong objections up to a round to which no other debater has replied.

    A reply in ``answers_to_objections`` answers all earlier objections of the named debater. A mention in other text
    does not, because code cannot distinguish an answer from a repetition.
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
    return any(
        answer.label == objector.label
        for later in range(q + 1, r + 1)
        for voice in t.voices(later)
        if voice.seat != objector.seat and isinstance(voice.reply, RevisedAnswer)
        for answer in voice.reply.answers_to_objections
    )


def _factual(t: Transcript, r: int) -> str | None:
    if {"affirmative", "negative"} <= {voice.reply.stance for voice in t.voices(r)}:
        return "One debater answers yes and another no."
    if stand := contradicted(t, r):
        named = ", ".join(f"claim {claim.claim.n} of {t.labels[claim.author]}" for claim in stand)
        return f"Claims stand although another debater rejects them: {named}."
    return None


def _normative(t: Transcript, r: int) -> str | None:
    sides = {"affirmative" if v.reply.stance == "qualified" else v.reply.stance for v in t.voices(r)}
    return "The debaters still differ on what ought to be done." if len(sides) > 1 else None


def _business(t: Transcript, r: int) -> str | None:
    if _normative(t, r):
        return "The debaters recommend different courses of action."
    if _factual(t, r):
        return f"The debaters differ on the risks. {_factual(t, r)}"
    shared = claim_jaccard(t, r)
    if shared is None:
        return "The debaters have not yet judged each other's risks."
    return "The debaters do not yet accept the same risks." if shared < t.threshold else None


def _prediction(t: Transcript, r: int) -> str | None:
    given = [voice.reply.probability for voice in t.voices(r)]
    intervals = [interval for interval in given if interval]
    if len(intervals) < len(given):
        return "A debater states no probability."
    if any(apart(one, other) for i, one in enumerate(intervals) for other in intervals[i + 1 :]):
        return "Intervals of probability do not overlap."
    if max(i.high for i in intervals) - min(i.low for i in intervals) > RANGE:
        return f"Together the intervals of probability span more than {RANGE} points."
    return None


def _brainstorm(t: Transcript, r: int) -> str | None:
    fresh = new_ideas(t, r)
    if fresh is None:
        return "Nothing came before the blind round, so all of its ideas are new."
    return "The debaters are still bringing up new ideas." if fresh >= FRESH else None


def _belief(t: Transcript, r: int) -> str | None:
    if not all(framework(a, b) for a, b in t.pairs(r)):
        return "The debaters do not reason from one framework."
    voices = {voice.seat for voice in t.voices(r)}
    if not any(voices <= set(claim.by("accept")) for claim in t.shown(r)):
        return "There is no claim that all debaters accept."
    return None


_RULES: Mapping[QuestionType, Rule] = {
    "factual": _factual,
    "normative": _normative,
    "business": _business,
    "prediction": _prediction,
    "brainstorm": _brainstorm,
    "belief": _belief,
}
