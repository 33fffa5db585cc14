"""The panel's adjudicator: four scores for the agreement of the last answers, and after the synthesis each debater's.

stance alignment         pairs of one conclusion in full, next to each other half
empirical overlap        passages that two debaters share, of those that either rests on; accepted claims count too
framework agreement      pairs with the same framework
confidence convergence   100 less the spread of the overall confidences, and of the probabilities of a prediction
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from statistics import mean

from service.debate.replies import AccuracyReview, Adjudication
from service.debate.replies.panel import DebaterReview
from service.simulated.framing import SIMULATED
from service.simulated.passage_choice import Desk
from service.simulated.phrases import listed
from service.simulated.transcript import HeardVoice, latest, voices

_PLACES = {"affirmative": 1.0, "qualified": 0.0, "negative": -1.0}


def adjudication(desk: Desk, limit: int) -> Adjudication:  # noqa: ARG001 - every seat takes a limit
    """The consensus of the last answers."""
    last = latest(voices(desk))
    scores = {
        "conclusions": _pairs(last, _aligned),
        "evidence": _pairs(last, _overlap),
        "frameworks": _pairs(
            last, lambda a, b: float(a.spoken.body.get("framework") == b.spoken.body.get("framework"))
        ),
        "confidence": max(0, 100 - _spread(last)),
    }
    low = [name for name, score in scores.items() if score < 70]
    notes = (
        f"The answers are furthest apart in their {listed(low)}." if low else "The answers agree in all four respects."
    )
    return Adjudication(
        stance_alignment=scores["conclusions"],
        empirical_overlap=scores["evidence"],
        framework_agreement=scores["frameworks"],
        confidence_convergence=scores["confidence"],
        notes=f"{notes} {SIMULATED}",
    )


def _pairs(said: Sequence[HeardVoice], alike: Callable[[HeardVoice, HeardVoice], float]) -> int:
    pairs = [alike(a, b) for a, b in combinations(said, 2)]
    return round(100 * mean(pairs)) if pairs else 0


def _aligned(one: HeardVoice, other: HeardVoice) -> float:
    a, b = one.spoken.body.get("stance"), other.spoken.body.get("stance")
    if a not in _PLACES or b not in _PLACES:
        return float(a == b)
    return max(0.0, 1 - abs(_PLACES[str(a)] - _PLACES[str(b)]) / 2) if a != b else 1.0


def _overlap(one: HeardVoice, other: HeardVoice) -> float:
    a, b = _accepted(one, other), _accepted(other, one)
    either = a | b
    return len(a & b) / len(either) if either else 0.0


def _accepted(voice: HeardVoice, other: HeardVoice) -> set[str]:
    """The passages that a debater rests on, and those of the other's claims that it accepts."""
    own = {c.quote for w in voice.arguments for c in w.said.citations}
    marks = {(str(m.get("label")), m.get("n")) for m in _marks(voice) if m.get("mark") == "accept"}
    theirs = {c.quote for w in other.arguments if (w.label, w.said.n) in marks for c in w.said.citations}
    return own | theirs


def _marks(voice: HeardVoice) -> list[dict[str, object]]:
    marks = voice.spoken.body.get("marks")
    return [m for m in marks if isinstance(m, dict)] if isinstance(marks, list) else []


def _spread(said: Sequence[HeardVoice]) -> int:
    sure = [n for v in said if isinstance(n := v.spoken.body.get("overallConfidence"), int)]
    ranges = [p for v in said if isinstance(p := v.spoken.body.get("probability"), dict)]
    middles = [(p.get("low", 0) + p.get("high", 0)) // 2 for p in ranges]
    return max((max(found) - min(found) for found in (sure, middles) if found), default=100)


def accuracy(desk: Desk, limit: int) -> AccuracyReview:  # noqa: ARG001 - every seat takes a limit
    """The review of each debater, under its label."""
    said = voices(desk)
    labels = sorted({v.label for v in said})
    return AccuracyReview(tuple(_review([v for v in said if v.label == label], said) for label in labels))


def _review(own: Sequence[HeardVoice], said: Sequence[HeardVoice]) -> DebaterReview:
    claims = [w for v in own for w in v.arguments]
    citations = [c for w in claims for c in w.said.citations]
    verified = mean([c.verdict == "verified" for c in citations]) if citations else 0.4
    label = own[0].label
    marks = [m.get("mark") for v in said for m in _marks(v) if m.get("label") == label]
    accepted = mean([m == "accept" for m in marks]) if marks else 0.5
    rejected = mean([m == "reject" for m in marks]) if marks else 0.0
    struck = sum(len(v.spoken.struck) for v in own)
    cited = mean([bool(w.evidence) for w in claims]) if claims else 0.0
    weight = mean([w.weight for w in claims]) if claims else 0.0
    return DebaterReview(
        label=label,
        factual_accuracy=_percent(35 + 30 * verified + 30 * accepted - 20 * rejected - 15 * struck),
        logical_consistency=_percent(92 - 14 * _silent_turns(own)),
        evidence_quality=_percent(30 + 45 * cited + 5 * weight - 10 * struck),
        trajectory_score=_percent(_trajectory(own)),
    )


def _percent(score: float) -> int:
    return max(0, min(100, round(score)))


def _silent_turns(own: Sequence[HeardVoice]) -> int:
    """The number of times that a debater changed its conclusion without a correction."""
    pairs = list(pairwise(own))
    return sum(
        a.spoken.body.get("stance") != b.spoken.body.get("stance") and not b.spoken.body.get("corrections")
        for a, b in pairs
    )


def _trajectory(own: Sequence[HeardVoice]) -> float:
    """The score for a debater's response to others: corrections, challenges, new citations."""
    if len(own) < 2:
        return 50.0
    before = {c.quote for w in own[0].arguments for c in w.said.citations}
    after = {c.quote for v in own[1:] for w in v.arguments for c in w.said.citations}
    engaged = [bool(v.spoken.body.get(key)) for v in own[1:] for key in ("corrections", "stillChallenges")]
    trend = 2 * mean(engaged)
    taken = len(after - before) / len(after) if after else 0.0
    return 45 + 35 * taken + 10 * min(2.0, trend)
