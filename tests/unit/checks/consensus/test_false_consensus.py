"""Agreements that are none, and thresholds that every type of question can reach."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any, get_args

import pytest

from service.checks.consensus.assessment import assess_transcript
from service.checks.consensus.dimensions import FAMILIES
from service.checks.consensus.transcript import Transcript
from service.debate.findings import ConsensusFound
from service.debate.model import DEBATERS_MAX
from service.debate.panel_standing import USES
from service.debate.replies import ObjectionAnswers
from service.debate.replies.panel import Framework, ObjectionReply, QuestionType
from service.debate.turns import TurnId
from service.policy.rules import THRESHOLDS
from tests.fixtures.transcripts import transcript

KINDS: tuple[QuestionType, ...] = get_args(QuestionType)
FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)
LETTERS = "ABCDEFGHIJ"
QUOTE = ["D1 0 80"]


def _blind(kind: str, *claims: str, **said: Any) -> ConsensusFound:
    """The first round of debaters that quote one passage word for word and claim these things."""
    answers = [_answer(1, i, claim, [], said) for i, claim in enumerate(claims, 1)]
    return assess_transcript(transcript({"type": kind, "threshold": THRESHOLDS[_kind(kind)], "answers": answers}))


def _marked(kind: str, mark: str, *claims: str, **said: Any) -> ConsensusFound:
    """Two rounds in which nobody changes a claim, and each marks all claims of the others so."""
    threshold = said.pop("threshold", THRESHOLDS[_kind(kind)])
    answers = []
    for r in (1, 2):
        for i, claim in enumerate(claims, 1):
            others = [f"{letter} 1 {mark}" for n, letter in enumerate(LETTERS[: len(claims)], 1) if n != i]
            answers.append(_answer(r, i, claim, others if r == 2 else [], said))
    return assess_transcript(transcript({"type": kind, "threshold": threshold, "answers": answers}))


def _answer(r: int, i: int, claim: str, marks: list[str], said: dict[str, Any]) -> dict[str, Any]:
    made = [{"n": 1, "text": claim, "quotes": said.get("quotes", QUOTE)}]
    rest = {name: value for name, value in said.items() if name != "quotes"}
    return {"turn": f"{r}.debater-{i}.1", "stance": "negative", "claims": made, "marks": marks, **rest}


def _kind(name: str) -> QuestionType:
    return next(kind for kind in KINDS if kind == name)


def _codes(found: ConsensusFound) -> set[str]:
    return {veto.code for veto in found.vetoes}


DISTINCT = [
    ("The limit is three times the amount stated.", "The limit for data loss is three times the amount stated."),
    ("Clause 9 caps liability at EUR 5 million.", "Clause 12 caps liability at EUR 5 million."),
    ("Liability for data loss is capped at EUR 5 million.", "Liability for delay is capped at EUR 5 million."),
    ("The limit is EUR 5 million.", "The fee is EUR 5 million."),
    ("The term ends on 1 March 2026.", "The warranty ends on 1 March 2026."),
    ("The notice period is 30 days.", "The notice period for defects is 30 days."),
]
"""Claims on one passage with the same words and figures, about different subjects."""


@pytest.mark.parametrize("claims", DISTINCT)
@pytest.mark.parametrize("stance", ["negative", "open"])
def test_claims_about_different_subjects_are_no_blind_consensus_nor_one_where_nobody_accepts_them(
    claims: tuple[str, str], stance: str
) -> None:
    for kind in ("factual", "normative"):
        assert not _blind(kind, *claims, stance=stance).terminated
        assert not _marked(kind, "unsure", *claims, stance=stance).terminated


# -- as they were sent to the product, and came back as consensus

LIMITS = (
    "The limit is one hundred thousand euro for each contract year.",
    "The limit is one hundred thousand euro once for the whole term and never again.",
    "There is no cap at all on the supplier.",
)


def test_three_readings_of_one_passage_are_no_consensus_after_the_blind_round() -> None:
    found = _blind("factual", *LIMITS)
    assert not found.terminated
    assert {"claimsOpposed", "claimsNotCompared"} <= _codes(found)
    assert found.dimensions["stance_alignment"] == found.dimensions["empirical_overlap"] == 0


def test_an_open_question_that_all_answer_alike_may_end_blind() -> None:
    claim = "Caffeine improves alertness within 30 minutes."
    found = _blind("factual", claim, claim, claim, stance="open", framework="empirical")
    assert (found.overall, found.terminated, found.lagging) == (900, True, ())


@pytest.mark.parametrize("framework", ["other", "consequences"])
def test_a_brainstorm_is_saturated_whatever_its_frameworks_are_called(framework: str) -> None:
    idea = "Host a monthly podcast for customers."
    assert _marked("brainstorm", "accept", idea, idea, stance="open", framework=framework, quotes=[]).terminated


def test_two_frameworks_with_one_conclusion_are_value_alignment() -> None:
    answers = [
        {**_answer(r, i, "Labels inform readers.", [f"{other} 1 accept"] if r == 2 else [], {}), "framework": framework}
        for r in (1, 2)
        for i, other, framework in ((1, "B", "rightsAndDuties"), (2, "A", "consequences"))
    ]
    found = assess_transcript(transcript({"type": "normative", "threshold": 800, "answers": answers}))
    assert (found.dimensions["framework_agreement"], found.terminated) == (0, True)
    assert found.counted == ("stance_alignment", "empirical_overlap", "confidence_convergence")


AMOUNTS = (
    "The limit is one hundred thousand each year.",
    "The limit is nothing whatever.",
    "The limit is five million in total.",
)


def test_marks_that_accept_claims_which_exclude_each_other_are_no_consensus() -> None:
    found = _marked("factual", "accept", *AMOUNTS)
    assert (found.terminated, "claimsOpposed" in _codes(found)) == (False, True)


@pytest.mark.parametrize("member", ["challenges", "open"])
def test_a_mark_that_accepts_what_its_author_contests_counts_as_unsure(member: str) -> None:
    claims = ("The cap holds.", "Clause 12 leaves it as it is.")
    answers = [
        {**_answer(r, i, claim, [f"{other} 1 accept"] if r == 2 else [], {}), member: [f"{other} 1"] if r == 2 else []}
        for r in (1, 2)
        for i, (claim, other) in enumerate(zip(claims, "BA", strict=True), 1)
    ]
    found = assess_transcript(transcript({"type": "factual", "threshold": 850, "answers": answers}))
    assert [(c.accept, c.unsure) for c in found.claims] == [
        (("debater-1",), ("debater-2",)),
        (("debater-2",), ("debater-1",)),
    ]
    assert not found.terminated


# -- others

FALSE = {
    "different dates": ("The fee is due on 1 May 2026.", "The fee is due on 1 June 2026."),
    "opposite polarity": ("The supplier is liable for loss of data.", "The supplier is not liable for loss of data."),
    "parties swapped": ("The Supplier shall indemnify the Buyer.", "The Buyer shall indemnify the Supplier."),
    "parties in small letters": ("the supplier bears the cost", "the buyer bears the cost"),
    "currencies": ("The cap is EUR 5 million.", "The cap is USD 5 million."),
    "percentages": ("Interest runs at 5 %.", "Interest runs at eight per cent."),
    "at least, at most": ("Notice takes at least 30 days.", "Notice takes at most 30 days."),
    "before, after": ("It ends before 1 May 2026.", "It ends after 1 May 2026."),
    "nothing is owed": ("The supplier owes nothing whatever.", "The supplier owes EUR 5 million."),
    "no cap": ("Liability is unlimited.", "Liability is limited to EUR 5 million."),
    "once, each year": ("The cap is EUR 5 million per year.", "The cap is EUR 5 million in total."),
    "allowed, forbidden": ("The clause permits assignment.", "The clause forbids assignment."),
}
CONCLUDING = ("factual", "normative", "business", "prediction", "belief")


@pytest.mark.parametrize("stance", ["negative", "open"])
@pytest.mark.parametrize("kind", CONCLUDING)
@pytest.mark.parametrize("claims", FALSE.values(), ids=FALSE)
def test_claims_that_exclude_each_other_end_no_debate_blind_or_with_every_mark(
    claims: tuple[str, str], kind: str, stance: str
) -> None:
    said = {"stance": stance, "probability": [60, 70]} if kind == "prediction" else {"stance": stance}
    for found in (_blind(kind, *claims, **said), _marked(kind, "accept", *claims, **said)):
        assert not found.terminated
        assert "claimsOpposed" in _codes(found)


@pytest.mark.parametrize("kind", KINDS)
def test_marks_that_are_all_unsure_end_no_debate(kind: str) -> None:
    said = {"probability": [60, 70]} if kind == "prediction" else {}
    for threshold in (THRESHOLDS[_kind(kind)], 0):
        claims = ("The cap holds.", "Clause 12 leaves it.", "Fees set it.")
        found = _marked(kind, "unsure", *claims, threshold=threshold, **said)
        assert (found.threshold, found.terminated) == (threshold, False)
        assert "noSharedClaim" in _codes(found)


@pytest.mark.parametrize("mark", ["accept", "unsure"])
@pytest.mark.parametrize("kind", CONCLUDING)
def test_three_different_open_answers_without_a_document_are_no_consensus(kind: str, mark: str) -> None:
    said: dict[str, Any] = {"stance": "open", "framework": "other", "quotes": []}
    if kind == "prediction":
        said["probability"] = [60, 70]
    claims = ("Raise the price.", "Hire salespeople abroad.", "Sell the company.")
    for found in (_blind(kind, *claims, **said), _marked(kind, mark, *claims, **said)):
        if kind == "prediction" and mark == "accept" and found.claims:
            continue  # the intervals are the conclusions, and every claim is accepted
        assert not found.terminated


@pytest.mark.parametrize("kind", KINDS)
def test_answers_with_one_confidence_and_one_framework_alone_are_no_consensus(kind: str) -> None:
    claims = ("Batteries get cheaper.", "Mandates bind from 2035.")
    found = _blind(kind, *claims, quotes=[], stance="affirmative", confidence=90)
    assert not found.terminated
    assert found.dimensions["confidence_convergence"] == found.dimensions["framework_agreement"] == 1_000


# -- every threshold is in reach


def _frameworks(kind: str, debaters: int) -> Iterator[tuple[Framework, ...]]:
    """The combinations of frameworks with which a type may reach consensus; those of belief are of one family."""
    if kind != "belief":
        yield from combinations_with_replacement(FRAMEWORKS, 2) if debaters == 2 else ()
        yield tuple(FRAMEWORKS[i % len(FRAMEWORKS)] for i in range(debaters))
        return
    for framework in FRAMEWORKS:
        if framework != "other":
            yield (framework,) * debaters
    for family in FAMILIES:
        named = sorted(family)
        yield tuple(named[i % len(named)] for i in range(debaters))


def _debate(kind: str, frameworks: tuple[Framework, ...], last: str, threshold: int) -> Transcript:
    """Everybody accepts every claim, but the marks of the last debater are ``last``; of belief all marks are."""
    answers = []
    letters = LETTERS[: len(frameworks)]
    for r in (1, 2):
        for i, framework in enumerate(frameworks, 1):
            mark = last if i == len(letters) or kind == "belief" else "accept"
            marks = [f"{letter} 1 {mark}" for letter in letters if letter != letters[i - 1]]
            said: dict[str, Any] = {"framework": framework, "stance": "affirmative"}
            if kind == "prediction":
                said["probability"] = [60, 70] if last == "accept" or i < len(letters) else [10, 20]
            if kind in ("normative", "business") and last == "reject" and i == len(letters):
                said["stance"] = "negative"
            if kind == "brainstorm" and last == "reject":
                said["quotes"] = []
                answers.append(_answer(r, i, f"Idea {r} of{'x' * i} alone{r}{i}.", marks if r == 2 else [], said))
                continue
            answers.append(_answer(r, i, f"Claim{'y' * i} stands.", marks if r == 2 else [], said))
    return transcript({"type": kind, "threshold": threshold, "answers": answers})


@pytest.mark.parametrize("debaters", range(2, DEBATERS_MAX + 1))
@pytest.mark.parametrize("kind", KINDS)
def test_every_threshold_is_in_reach_and_none_of_a_debate_that_must_go_on(kind: QuestionType, debaters: int) -> None:
    for frameworks in _frameworks(kind, debaters):
        agreed = assess_transcript(_debate(kind, frameworks, "accept", THRESHOLDS[kind]))
        assert agreed.terminated, (frameworks, agreed.notes)
        assert set(agreed.counted) <= set(USES[kind])
        assert not assess_transcript(_debate(kind, frameworks, "reject", THRESHOLDS[kind])).terminated


@pytest.mark.parametrize("kind", ["factual", "normative", "prediction"])
@pytest.mark.parametrize("debaters", range(2, DEBATERS_MAX + 1))
def test_types_without_a_need_for_marks_may_end_blind_with_any_number(kind: str, debaters: int) -> None:
    said = {"probability": [60, 70]} if kind == "prediction" else {}
    assert _blind(kind, *["The limit is EUR 5 million."] * debaters, **said).terminated


# -- answers after the last round


def _objected(*verdicts: str) -> ConsensusFound:
    """Three debaters who agree; the first objects strongly in round 3, and the others answer so afterwards."""
    answers = []
    for r in (1, 2, 3):
        for i, letter in enumerate("ABC", 1):
            marks = [f"{other} 1 accept" for other in "ABC" if other != letter] if r > 1 else []
            said = {"objection": f"B 1 {'high' if i == 1 else 'low'}"} if r == 3 else {}
            answers.append(_answer(r, i, "The cap holds.", marks, said))
    said_so = {
        TurnId(f"3.debater-{i}.answer.1"): ObjectionAnswers((ObjectionReply("Model A", verdict, "So it is."),))  # type: ignore[arg-type]
        for i, verdict in enumerate(verdicts, 2)
    }
    found = transcript({"type": "factual", "threshold": 850, "answers": answers})
    return assess_transcript(found._replace(answered=said_so))


@pytest.mark.parametrize(
    ("verdicts", "ends"),
    [
        ((), False),
        (("fails", "fails"), True),
        (("acceptedRisk", "fails"), True),
        (("fails",), True),  # the other is silent
        (("fails", "holds"), False),
        (("holds", "holds"), False),
    ],
)
def test_an_objection_is_answered_after_the_last_round_unless_somebody_says_that_it_holds(
    verdicts: tuple[str, ...], ends: bool
) -> None:
    found = _objected(*verdicts)
    assert found.terminated is ends
    assert len(found.unanswered) == (not ends)


def test_open_answers_in_other_words_agree_where_all_accept_all_claims_on_verified_passages() -> None:
    claims = ("Caffeine improves alertness.", "Sleep is delayed by coffee.")
    assert _marked("factual", "accept", *claims, stance="open", framework="other").terminated
    assert not _marked("factual", "accept", *claims, stance="open", framework="other", quotes=[]).terminated
    assert not _marked("factual", "unsure", *claims, stance="open", framework="other").terminated


def test_an_authors_mark_on_its_own_claim_is_no_agreement_beyond_chance() -> None:
    """Two that only mark each other have no claim with two readers; of three, the two readers of each agree in full."""
    assert _marked("factual", "unsure", "The cap holds.", "The fee is due.").beyond_chance is None
    marks = {1: ["B 1 reject", "C 1 accept"], 2: ["A 1 accept", "C 1 accept"], 3: ["A 1 accept", "B 1 reject"]}
    claims = {1: "The cap holds.", 2: "The fee is due.", 3: "Notice is written."}
    answers = [_answer(r, i, claims[i], marks[i] if r == 2 else [], {}) for r in (1, 2) for i in claims]
    found = assess_transcript(transcript({"type": "factual", "threshold": THRESHOLDS["factual"], "answers": answers}))
    assert found.beyond_chance == 1_000


def test_two_that_are_unsure_of_one_claim_of_four_do_not_agree_less_than_by_chance() -> None:
    claims = {1: "The cap holds.", 2: "The fee is due.", 3: "Notice is written.", 4: "The term is five years."}
    made = [{"n": n, "text": text, "quotes": QUOTE} for n, text in claims.items()]
    answers = [
        {
            "turn": f"{r}.debater-{i}.1",
            "stance": "negative",
            "claims": made,
            "marks": [f"{other} {n} {'unsure' if n == i else 'accept'}" for n in claims] if r == 2 else [],
        }
        for r in (1, 2)
        for i, other in ((1, "B"), (2, "A"))
    ]
    found = assess_transcript(transcript({"type": "factual", "threshold": THRESHOLDS["factual"], "answers": answers}))
    assert (found.terminated, found.beyond_chance) == (True, None)
