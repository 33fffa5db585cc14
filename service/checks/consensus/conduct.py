"""The conduct of each debater, by rules that code can follow. They measure conduct, and not truth.

    factual accuracy     the mean of those that are defined: the others' marks on its claims (accept 100, unsure 50,
                         reject 0, over all marks of all rounds), and the share of its citations that are verified, of
                         those that could be compared; 50 if neither is defined
    logical consistency  100 less 25 for each fault, and not below 0: turning from yes to no or back, or to a
                         probability that has no point in common with its former one, without a word in corrections;
                         rejecting a former claim of its own without one; making a claim and rejecting the same claim
                         of another in one answer; accepting a claim that the same answer still contests
    evidence quality     the share of its claims that rest on verified citations alone, or without citations on
                         reasoning that gives a ground: one of `GROUNDS` stands in it. An assertion alone earns nothing
    trajectory score     the mean over its answers after the blind round of four times 25: a lesson or correction names
                         another debater; there is a correction; a claim is new and not struck; it marks claims
                         differently, or names the debater that it challenges or whose objection it answers. 50 without
                         such an answer

Shares are per cent, rounded down. Every debater that spoke is scored, also one that was silent later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from service.checks.consensus.dimensions import apart
from service.checks.consensus.transcript import Answer, PanelVoice, ShownClaims, Transcript, read
from service.checks.overlap import words
from service.debate.facts import Facts
from service.debate.findings import AccuracyFound, DebaterScores
from service.debate.model import Check, seat_of
from service.debate.replies import Claim, RevisedAnswer
from service.debate.turns import round_of

UNKNOWN = 50
FAULT = 25
MARKS = {"accept": 100, "unsure": 50, "reject": 0}
GROUNDS = (
    "because since therefore thus hence so if unless whereas given considering accordingly consequently otherwise "
    "implies imply implying means meaning follows shows showing suggests analogous analogy example instance owing "
    "entails"
).split()
"""Words with which a claim gives a ground, draws an inference, compares or gives an example."""
_YES = ("affirmative", "qualified")


def check_accuracy(facts: Facts, check: Check) -> AccuracyFound:
    """The scores of every debater with an answer in the check."""
    return score_transcript(read(facts, check))


def score_transcript(t: Transcript) -> AccuracyFound:
    """The same for a transcript, in the order of the seats' numbers."""
    seats = sorted({seat_of(turn) for turn in t.said}, key=lambda seat: (len(seat), seat))
    shown = [claim for r in range(2, t.rounds + 1) for claim in t.shown(r)]
    return AccuracyFound(tuple(_scores(t, seat, shown) for seat in seats))


def _scores(t: Transcript, seat: str, shown: Iterable[ShownClaims]) -> DebaterScores:
    own = [voice for r in range(1, t.rounds + 1) for voice in t.voices(r) if voice.seat == seat]
    return DebaterScores(
        seat=seat,
        factual_accuracy=_factual(t, own, shown),
        logical_consistency=max(0, 100 - FAULT * _faults(t, own)),
        evidence_quality=_evidence(t, own),
        trajectory_score=_trajectory(t, own),
    )


def _factual(t: Transcript, own: Sequence[PanelVoice], shown: Iterable[ShownClaims]) -> int:
    seat = own[0].seat
    marks = [
        MARKS[opinion.mark]
        for claim in shown
        for reader, opinion in claim.opinions.items()
        if claim.author == seat and reader != seat
    ]
    checked = [v for voice in own for given in t.verdicts(voice).values() for v in given if v.verdict != "unchecked"]
    verdicts = [v.verdict == "verified" for v in checked]
    known = [sum(part) // len(part) for part in (marks, [100 * held for held in verdicts]) if part]
    return sum(known) // len(known) if known else UNKNOWN


def _faults(t: Transcript, own: Sequence[PanelVoice]) -> int:
    faults = 0
    for before, now in pairwise(own):
        if isinstance(now.reply, RevisedAnswer):
            silent = not now.reply.corrections.strip()
            rejected = {(m.label, m.n) for m in now.reply.marks if m.mark == "reject"}
            faults += silent and _reversed(before.reply, now.reply)
            faults += silent and any(label == now.label for label, _ in rejected)
            faults += _contradicts(t, now, rejected)
            faults += any(m.mark == "accept" and (m.label, m.n) in now.reply.contested for m in now.reply.marks)
    return faults


def _reversed(before: Answer, now: Answer) -> bool:
    if before.probability and now.probability and apart(before.probability, now.probability):
        return True
    return (before.stance in _YES and now.stance == "negative") or (before.stance == "negative" and now.stance in _YES)


def _contradicts(t: Transcript, now: PanelVoice, rejected: Iterable[tuple[str, int]]) -> bool:
    """Whether an answer makes a claim in the same words as one that it rejects."""
    theirs = {
        words(claim.text)
        for voice in t.before(_round_of(now))
        for claim in t.standing(voice)
        if (voice.label, claim.n) in rejected and voice.seat != now.seat
    }
    return any(words(claim.text) in theirs for claim in now.reply.claims)


def _evidence(t: Transcript, own: Sequence[PanelVoice]) -> int:
    claims = sum(len(voice.reply.claims) for voice in own)
    return sum(_supported(t, claim) for voice in own for claim in t.standing(voice)) * 100 // claims


def _supported(t: Transcript, claim: Claim) -> bool:
    """Whether a claim that is not struck says what it rests on; a citation that was not compared is nothing that it
    rests on."""
    said = " ".join(words(claim.text))
    return (t.documented and bool(claim.citations)) or any(re.search(rf"\b{ground}\b", said) for ground in GROUNDS)


def _trajectory(t: Transcript, own: Sequence[PanelVoice]) -> int:
    scores = [
        FAULT * sum(_engaged(t, before, now, now.reply))
        for before, now in pairwise(own)
        if isinstance(now.reply, RevisedAnswer)
    ]
    return sum(scores) // len(scores) if scores else UNKNOWN


def _engaged(t: Transcript, before: PanelVoice, now: PanelVoice, reply: RevisedAnswer) -> tuple[bool, ...]:
    """The four signs that an answer responds to the others."""
    others = [label for seat, label in t.labels.items() if seat != now.seat]
    former = {words(claim.text) for claim in before.reply.claims}
    return (
        _names(others, f"{reply.learned_from_others} {reply.corrections}"),
        bool(reply.corrections.strip()),
        any(words(claim.text) not in former for claim in t.standing(now)),
        len({mark.mark for mark in reply.marks}) > 1
        or bool(reply.still_challenges)
        or bool(reply.answers_to_objections),
    )


def _names(labels: Iterable[str], text: str) -> bool:
    """Whether a text names one of these letters; "the model agrees" does not name Model A."""
    named = "|".join(re.escape(label) for label in labels)
    return bool(named) and re.search(rf"\b(?:{named})\b", text) is not None


def _round_of(voice: PanelVoice) -> int:
    return round_of(voice.turn)
