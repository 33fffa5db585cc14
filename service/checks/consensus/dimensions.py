"""The four dimensions of consensus, each in per mille or undefined.

stance_alignment        mean over pairs of voices of
                          0 if one is affirmative and the other negative, or two of their claims or answers are
                          opposed (`opposition`); otherwise the mean of those defined of
                          - the nearness of the conclusions: 1,000 the same stance, 600 affirmative and qualified,
                            300 open and any other, 200 qualified and negative; of two that are open, 1,000 if they
                            make a claim in common, or accept all claims of both, each of which rests on a verified
                            passage; undefined otherwise;
                            for predictions 1,000 less 20 for each point between the middles of the two intervals
                          - the marks of the two on each other's claims: accept 1,000, unsure 500, reject 0
                        brainstorm: 1,000 less the share of new ideas; undefined in the blind round
empirical_overlap       mean over pairs of: claims that both accept and passages that both quote, by those that
                        either does. Passages are verified citations of claims that are not struck; overlapping
                        ones of a document are one. Where no claim has been marked, as in the blind round: the
                        claims that are alike by those of either, times 0.9. An empty union of marked claims is 0.
                        Undefined in a case without documents, which has no evidence to share
framework_agreement     mean over pairs: 1,000 the same framework, 500 one of the same family, 0 otherwise;
                        undefined if both are "other"
confidence_convergence  1,000 less 20 for each point between the highest and the lowest overall confidence, and 10
                        more for each point by which that has grown since the round before

The overall score is the mean of the dimensions that the type uses and that are defined (`USES`, without empirical
overlap in a case without documents), and at most 900
where no claim has been marked: code's reading of two claims is less than their readers' marks.

                stance      empirical   framework   confidence
factual         yes         yes         -           yes
normative       yes         yes         -           yes         frameworks may differ, as the reference says
business        yes         yes         -           yes
prediction      yes         yes         -           yes
brainstorm      yes         yes         -           yes         stance alignment is the coverage
belief          -           yes         yes         yes         conclusions may differ, as the reference says
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.checks.consensus.comparison import alike, near
from service.checks.consensus.matter import Compared, Span
from service.checks.consensus.opposition import contradicts, contrary, opposed
from service.checks.consensus.transcript import PanelVoice, ShownClaims, Transcript, mean, share, words
from service.debate.findings import Dimension, NamedClaims
from service.debate.replies import BlindAnswer
from service.debate.replies.panel import Framework, Interval

WHOLE = 1_000
UNMARKED = 900
"""The most that claims without marks count for, and the most of the overall score then."""
SIDES: Mapping[frozenset[str], int] = {
    frozenset({"affirmative", "negative"}): 0,
    frozenset({"affirmative", "qualified"}): 600,
    frozenset({"qualified", "negative"}): 200,
}
ANSWER = 0
"""The number of an answer among an author's claims, which begin with 1."""
OPEN = 300
"""The nearness of an answer that finds no yes or no possible to one that gives either."""
MARKS = {"accept": 1_000, "unsure": 500, "reject": 0}
FAMILIES: tuple[frozenset[Framework], ...] = (
    frozenset({"textual", "precedent"}),
    frozenset({"riskAssessment", "costBenefit", "consequences"}),
)
"""Families of frameworks: those that weigh authority, and those that weigh consequences."""
RESTATED = 600
"""An idea is not new if a single earlier claim has so many of its words, per mille."""


def dimensions(t: Transcript, r: int) -> dict[Dimension, int | None]:
    """All four after a round; undefined with fewer than two voices."""
    shown = t.shown(r)
    stance = coverage(t, r) if t.kind == "brainstorm" else mean(_stance(t, a, b, shown) for a, b in t.pairs(r))
    return {
        "stance_alignment": stance if len(t.voices(r)) > 1 else None,
        "empirical_overlap": mean(_empirical(t, a, b, shown) for a, b in t.pairs(r)) if t.documented else None,
        "framework_agreement": mean(framework(a, b) for a, b in t.pairs(r)),
        "confidence_convergence": _confidence(t, r),
    }


def overall(t: Transcript, r: int, measured: Mapping[Dimension, int | None]) -> int:
    """The mean of the dimensions that count; 0 if none does."""
    found = mean(measured[name] for name in counted(t, measured)) or 0
    return found if t.shown(r) else min(found, UNMARKED)


def counted(t: Transcript, measured: Mapping[Dimension, int | None]) -> tuple[Dimension, ...]:
    """The dimensions that the type uses and that are defined."""
    return tuple(name for name in t.uses if measured.get(name) is not None)


def claim_jaccard(t: Transcript, r: int) -> int | None:
    """The mean over pairs of claims that both accept by claims that either accepts; an empty union is left out."""
    shown = t.shown(r)
    return mean(share(*_accepted(a, b, shown)) for a, b in t.pairs(r))


def coverage(t: Transcript, r: int) -> int | None:
    """The share of a round's claims that restate earlier ones."""
    fresh = new_ideas(t, r)
    return None if fresh is None else WHOLE - fresh


def new_ideas(t: Transcript, r: int) -> int | None:
    """The share of a round's claims that restate no earlier claim, by their words.

    A paraphrase counts as new, so this errs towards going on. Undefined in the blind round: nothing came before it.
    """
    earlier = [words(claim.text) for q in range(1, r) for voice in t.voices(q) for claim in t.standing(voice)]
    now = [words(claim.text) for voice in t.voices(r) for claim in t.standing(voice)]
    fresh = [claim for claim in now if not any(restates(claim, known) for known in earlier)]
    return share(len(fresh), len(now)) if r > 1 else None


def wording_overlap(t: Transcript, r: int, known: frozenset[str]) -> int | None:
    """Shared words of the answers by words of either, mean over pairs, without the words of question and documents."""
    texts = {voice.seat: words(voice.reply.answer) - known for voice in t.voices(r)}
    return mean(share(len(texts[a.seat] & texts[b.seat]), len(texts[a.seat] | texts[b.seat])) for a, b in t.pairs(r))


def framework(one: PanelVoice, other: PanelVoice) -> int | None:
    """The nearness of two voices' frameworks."""
    ways = {one.reply.framework, other.reply.framework}
    if ways == {"other"}:
        return None
    if len(ways) == 1:
        return WHOLE
    return WHOLE // 2 if any(ways <= family for family in FAMILIES) else 0


def apart(one: Interval, other: Interval) -> bool:
    """Whether two intervals of probability have no point in common."""
    return max(one.low, other.low) > min(one.high, other.high)


def spread(voices: Sequence[PanelVoice]) -> int:
    """The points between the highest and the lowest overall confidence."""
    said = [voice.reply.overall_confidence for voice in voices]
    return max(said) - min(said)


def conclusion(t: Transcript, one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> int | None:
    """The nearness of two voices' conclusions; undefined if both are open and nothing shows that they are one."""
    if t.kind == "prediction" and one.reply.probability and other.reply.probability:
        here, there = one.reply.probability, other.reply.probability
        return max(0, WHOLE - 10 * abs((here.low + here.high) - (there.low + there.high)))
    stances = frozenset({one.reply.stance, other.reply.stance})
    if stances == {"open"}:
        return WHOLE if _in_common(t, one, other) or _all_accepted(one, other, shown) else None
    return WHOLE if len(stances) == 1 else SIDES.get(stances, OPEN)


def claims_are_compared(t: Transcript, one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> bool:
    """Whether one of two voices has marked a claim of the other, or code found two of their claims alike."""
    return _mutual(one, other, shown) is not None or bool(_matched(t, one, other))


def share_a_claim(t: Transcript, one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> bool:
    """Whether both voices accept a claim, or code found two of theirs alike."""
    return _accepted(one, other, shown)[0] > 0 or bool(_matched(t, one, other))


def opposed_claims(t: Transcript, one: PanelVoice, other: PanelVoice) -> tuple[NamedClaims, ...]:
    """The pairs of two voices' claims and answers that exclude each other; an answer has the number 0.

    Ideas of a brainstorm stand beside each other. In a question of belief, conclusions may differ, so its answers are
    not compared.
    """
    if t.kind == "brainstorm":
        return ()
    here, there = t.compared(one), t.compared(other)
    found = [(n, m) for n, mine in here.items() for m, theirs in there.items() if opposed(mine, theirs)]
    if t.kind != "belief":
        predicts = t.kind == "prediction"
        mine, theirs = one.reply.answer, other.reply.answer
        found += [(ANSWER, ANSWER)] if contrary(mine, theirs, predicts=predicts) else []
        found += [(ANSWER, m) for m, claim in there.items() if contradicts(mine, claim, predicts=predicts)]
        found += [(n, ANSWER) for n, claim in here.items() if contradicts(theirs, claim, predicts=predicts)]
    return tuple(NamedClaims((one.turn, other.turn), pair) for pair in found)


def _stance(t: Transcript, one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> int | None:
    if {one.reply.stance, other.reply.stance} == {"affirmative", "negative"} or opposed_claims(t, one, other):
        return 0
    return mean((conclusion(t, one, other, shown), _mutual(one, other, shown)))


def _in_common(t: Transcript, one: PanelVoice, other: PanelVoice) -> bool:
    """Whether two voices make a claim in common: alike in the blind round, near once they have read each other."""
    same = alike if one.reply.__class__ is BlindAnswer else near
    return any(same(a, b) for a in t.compared(one).values() for b in t.compared(other).values())


def _all_accepted(one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> bool:
    """Whether both voices accept all claims of both, and each of these rests on a verified passage."""
    theirs = [claim for claim in shown if claim.author in (one.seat, other.seat)]
    both = {one.seat, other.seat}
    return len({claim.author for claim in theirs}) == len(both) and all(
        claim.rests and both <= set(claim.by("accept")) for claim in theirs
    )


def _matched(t: Transcript, one: PanelVoice, other: PanelVoice) -> int:
    """The number of claims of one voice that are alike to one of the other, each paired once."""
    here, there = list(t.compared(one).values()), list(t.compared(other).values())
    return max(_paired(here, there), _paired(there, here))


def _paired(claims: Sequence[Compared], others: Sequence[Compared]) -> int:
    """How many claims find one of the others, each taken by the first that it is alike to."""
    left, found = list(others), 0
    for claim in claims:
        at = next((i for i, theirs in enumerate(left) if alike(claim, theirs)), None)
        if at is not None:
            del left[at]
            found += 1
    return found


def _mutual(one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> int | None:
    """The mean of two voices' marks on each other's claims."""
    given = [
        MARKS[opinion.mark]
        for claim in shown
        for author, reader in ((one.seat, other.seat), (other.seat, one.seat))
        if claim.author == author and (opinion := claim.opinions.get(reader))
    ]
    return mean(given)


def _empirical(t: Transcript, one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> int | None:
    if not shown:
        here, there, both = len(t.standing(one)), len(t.standing(other)), _matched(t, one, other)
        return UNMARKED * both // (here + there - both) if here and there else None
    claims, passages = _accepted(one, other, shown), _quoted(t.spans(one), t.spans(other))
    marked = any({one.seat, other.seat} & set(claim.opinions) for claim in shown)
    return share(claims[0] + passages[0], claims[1] + passages[1]) or (0 if marked else None)


def _accepted(one: PanelVoice, other: PanelVoice, shown: Sequence[ShownClaims]) -> tuple[int, int]:
    """The number of claims that both voices accept, and of those that either accepts."""
    by = [{one.seat, other.seat} & set(claim.by("accept")) for claim in shown]
    return sum(len(who) == 2 for who in by), sum(bool(who) for who in by)


def _quoted(one: frozenset[Span], other: frozenset[Span]) -> tuple[int, int]:
    """The number of passages that both voices quote, and of those that either quotes; overlapping ones are one."""
    both = either = 0
    where, end, who = "", 0, set[int]()
    marked = sorted([(span, 0) for span in one] + [(span, 1) for span in other])
    for (source, start, stop), whose in marked:
        if source != where or start >= end:
            both, either, where, end, who = both + (len(who) == 2), either + 1, source, stop, set()
        end, who = max(end, stop), who | {whose}
    return both + (len(who) == 2), either


def _confidence(t: Transcript, r: int) -> int | None:
    voices = t.voices(r)
    if len(voices) < 2:
        return None
    here = {voice.seat for voice in voices}
    earlier = [voice for voice in t.voices(r - 1) if voice.seat in here]
    grown = max(0, spread(voices) - spread(earlier)) if len(earlier) == len(voices) else 0
    return max(0, WHOLE - 20 * spread(voices) - 10 * grown)


def restates(claim: frozenset[str], known: frozenset[str]) -> bool:
    """Whether an earlier claim has most of a claim's words; a claim without words is never new."""
    return len(claim & known) * WHOLE >= RESTATED * len(claim)
