"""Consensus and conduct as code measures them: hand-scored transcripts, the rules of each type, and invariants."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.checks.consensus.assessment import assess_transcript
from service.checks.consensus.chance import alpha, kappa
from service.checks.consensus.conduct import score_transcript
from service.checks.consensus.dimensions import new_ideas
from service.checks.consensus.transcript import Transcript, known_words
from service.debate.findings import DIMENSIONS, ConsensusFound, DebaterScores
from service.debate.model import seat_of
from service.debate.replies import RevisedAnswer
from service.debate.turns import TurnId, round_of
from tests.fixtures.transcripts import LETTERS, Vector, transcript, vectors

VECTORS = {vector.name: vector for vector in vectors()}


# -- hand-scored transcripts


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_a_transcript_scores_as_it_was_scored_by_hand(vector: Vector) -> None:
    found = assess_transcript(vector.transcript)
    values = {name: getattr(found, name) for name in found.__struct_fields__} | dict(found.dimensions)
    values["unanswered"] = [objection.turn for objection in found.unanswered]
    values["lagging"] = list(found.lagging)
    measured = {name: "undefined" if values[name] is None else values[name] for name in vector.expected}
    assert measured == vector.expected


def test_at_least_ten_transcripts_are_scored_by_hand() -> None:
    assert len(VECTORS) >= 10


def test_words_of_the_question_and_its_documents_do_not_count_as_overlap() -> None:
    said = VECTORS["words-without-claims"].transcript
    known = known_words(["Is the supplier's liability capped?", "The fees paid in a year"])
    assert assess_transcript(said, known).wording_overlap == 0


# -- what a note tells


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two-voices", "Stance alignment is 0.65: Model A answers yes and Model B answers yes under conditions"),
        ("two-voices", "1 of 5 claims are rejected by somebody, 1 left unsure."),
        (
            "prediction-apart",
            "Empirical overlap is 0.00: no claim has been marked yet, and code finds few or none alike",
        ),
        ("blind-amounts-apart", "These exclude each other: claim 1 of Model A and claim 1 of Model B;"),
        ("blind-amounts-apart", "No claim has been marked, and code finds no two that are alike: Model A and Model B"),
        ("empty-union", "No claim is accepted by both of: Model A and Model B."),
        ("prediction-apart", "Model A says 70 to 70 %, Model B says 68 to 75 % and Model C says 30 to 30 %."),
        ("prediction-apart", "Intervals of probability do not overlap."),
        ("one-voice", "Fewer than two debaters spoke, and one voice is no consensus."),
        ("unanswered-objection", "A strong objection of Model B has not been answered by another debater."),
        ("words-without-claims", "Claims stand although another debater rejects them: claim 1 of Model A, claim 1 of"),
        ("yes-and-no", "One debater answers yes and another no."),
        ("claims-without-words", "Overall 0.973 reaches 0.85."),
    ],
)
def test_a_note_says_what_lags_and_why(name: str, words: str) -> None:
    assert words in assess_transcript(VECTORS[name].transcript).notes


def test_a_note_says_when_confidences_drift_apart() -> None:
    said = _changed(VECTORS["two-voices"].transcript, TurnId("2.debater-2.1"), overall_confidence=30)
    assert (
        "Model B is 30 % sure and Model A 80 %, further apart than in the round before."
        in assess_transcript(said).notes
    )


# -- the claims that all support


def test_a_claim_is_supported_where_all_accept_it_surely_on_a_verified_citation() -> None:
    said = VECTORS["claims-without-words"].transcript
    quoted = {"n": 1, "text": "Capped.", "quotes": ["D1 0 40"]}
    answers = [
        {"turn": "1.debater-1.1", "claims": [quoted, {"n": 2, "text": "Fully."}]},
        {"turn": "1.debater-2.1", "claims": [quoted]},
        {"turn": "2.debater-1.1", "claims": [quoted], "marks": ["B 1 accept 69"]},
        {"turn": "2.debater-2.1", "claims": [quoted], "marks": ["A 1 accept 70", "A 2 accept"]},
    ]
    cited = transcript({"type": "factual", "threshold": 850, "answers": answers})
    assert [c.supported for c in assess_transcript(said).claims] == [False, False, False]  # nothing was quoted then
    assert [(c.turn, c.n) for c in assess_transcript(cited).claims if c.supported] == [("1.debater-1.1", 1)]


def test_a_struck_claim_is_shown_to_nobody_and_counts_for_nothing() -> None:
    answers = [
        {"turn": "1.debater-1.1", "claims": [{"n": 1, "text": "Made up."}], "struck": [1]},
        {"turn": "1.debater-2.1", "claims": [{"n": 1, "text": "True."}]},
        {"turn": "2.debater-1.1", "claims": [{"n": 1, "text": "True."}], "marks": ["B 1 accept"]},
        {"turn": "2.debater-2.1", "claims": [{"n": 1, "text": "True."}]},
    ]
    found = assess_transcript(transcript({"type": "factual", "threshold": 500, "answers": answers}))
    assert [(claim.turn, claim.n) for claim in found.claims] == [("1.debater-2.1", 1)]


def test_what_a_struck_claim_quotes_is_no_passage_in_common() -> None:
    claims = [{"n": 1, "text": "Made up.", "quotes": ["D1 0 40"]}, {"n": 2, "text": "Reasoned."}]
    answers = [{"turn": f"1.debater-{i}.1", "claims": claims, "struck": [1]} for i in (1, 2)]
    found = assess_transcript(transcript({"type": "factual", "threshold": 850, "answers": answers}))
    assert found.dimensions["empirical_overlap"] == 0
    assert [veto.code for veto in found.vetoes] == ["claimsNotCompared"]


@pytest.mark.parametrize("kind", ["factual", "normative", "business", "prediction", "brainstorm", "belief"])
def test_answers_of_which_nothing_stands_are_no_consensus_at_any_threshold(kind: str) -> None:
    answers = [
        {"turn": f"{r}.debater-{i}.1", "claims": [{"n": 1, "text": "Made up."}], "struck": [1], "probability": [60, 70]}
        for r in (1, 2)
        for i in (1, 2, 3)
    ]
    answers[-1]["struck"] = []  # one alone that stands agrees with nobody
    found = assess_transcript(transcript({"type": kind, "threshold": 0, "answers": answers}))
    assert not found.terminated
    assert "Fewer than two debaters have a claim that stands" in found.notes


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (["D1 0 40"], ["D1 40 80"], 0),  # one ends where the other begins
        (["D1 0 40"], ["D1 39 80"], 1_000),
        (["D1 0 40"], ["D2 0 40"], 0),
        (["D1 0 100"], ["D1 10 20", "D1 50 60"], 1_000),  # all within one passage
        (["D1 0 40", "D1 200 240"], ["D1 0 40"], 500),
        (["D1 0 40"], [], 0),
        ([], [], 0),
    ],
)
def test_passages_that_overlap_in_one_document_are_one_passage(
    one: list[str], other: list[str], overlap: int | None
) -> None:
    """Nobody accepts the claims of the first round, so that only passages are shared."""
    answers = [
        {
            "turn": f"{r}.debater-{i}.1",
            "claims": [{"n": 1, "text": "Capped.", "quotes": quotes}],
            "marks": ["A 1 reject", "B 1 reject"],
        }
        for r in (1, 2)
        for i, quotes in enumerate((one, other), 1)
    ]
    found = assess_transcript(transcript({"type": "factual", "threshold": 850, "answers": answers}))
    assert found.dimensions["empirical_overlap"] == overlap


# -- each type's own rule


def _round(kind: str, *answers: dict[str, Any], threshold: int = 0) -> ConsensusFound:
    """What is found after the second round of these, each with one claim that all accept unless it says otherwise."""
    letters = "ABCDEFGHIJ"[: len(answers)]
    first = [
        {"turn": f"1.debater-{i}.1", "claims": [{"n": 1, "text": f"Point {letter}."}]}
        for i, letter in enumerate(letters, 1)
    ]
    second = [
        {
            "turn": f"2.debater-{i}.1",
            "claims": [{"n": 1, "text": f"Point {letter}."}],
            "marks": [f"{other} 1 accept" for other in letters if other != letter],
            **said,
        }
        for i, (letter, said) in enumerate(zip(letters, answers, strict=True), 1)
    ]
    return assess_transcript(transcript({"type": kind, "threshold": threshold, "answers": first + second}))


REJECTS = {"marks": ["B 1 reject"]}
MOVED = {"claims": [{"n": 1, "text": "Something else entirely."}], "corrections": "I was wrong."}


def _said_again(times: int) -> dict[str, Any]:
    """An answer that makes one former claim so many times."""
    return {"claims": [{"n": n, "text": "Point A."} for n in range(1, times + 1)]}


@pytest.mark.parametrize(
    ("kind", "answers", "ends"),
    [
        ("factual", ({}, {}), True),
        ("factual", ({}, {"stance": "qualified"}), True),
        ("factual", ({}, {"stance": "negative"}), False),
        ("factual", (REJECTS, {}), False),  # B repeats what A rejects
        ("factual", (REJECTS, MOVED), True),  # B has corrected it
        ("factual", (REJECTS, {"marks": ["A 1 accept", "B 1 reject"]}), True),  # B withdraws it
        ("factual", (REJECTS, {"claims": [{"n": 1, "text": "The same point B, again."}]}), False),  # silently reworded
        ("normative", ({"framework": "precedent"}, {"framework": "consequences"}), True),
        ("normative", ({}, {"stance": "negative"}), False),
        ("normative", ({"stance": "qualified"}, {"stance": "negative"}), False),
        ("normative", ({}, {"stance": "open"}), False),
        ("business", ({}, {}), True),
        ("business", ({}, {"stance": "negative"}), False),  # the diagnosis alone
        ("business", (REJECTS, {}), False),  # the prescription alone
        ("prediction", ({"probability": [60, 70]}, {"probability": [55, 65]}), True),
        ("prediction", ({"probability": [60, 70]}, {"probability": [70, 80]}), True),  # they touch
        ("prediction", ({"probability": [60, 70]}, {"probability": [71, 80]}), False),
        ("prediction", ({"probability": [0, 100]}, {"probability": [60, 70]}), False),  # says nothing
        ("prediction", ({"probability": [40, 70]}, {"probability": [50, 80]}), True),  # together 40 points
        ("prediction", ({"probability": [40, 70]}, {"probability": [50, 81]}), False),  # together 41
        ("prediction", ({"probability": [60, 70]}, {}), False),
        ("brainstorm", ({}, {}), True),
        ("brainstorm", ({}, MOVED), False),  # half of the ideas are new
        ("brainstorm", (_said_again(4), MOVED), False),  # one of five
        ("brainstorm", (_said_again(5), MOVED), True),  # one of six
        ("belief", ({}, {"stance": "negative"}), True),
        ("belief", ({"framework": "textual"}, {"framework": "precedent"}), True),  # one family
        ("belief", ({"framework": "textual"}, {"framework": "empirical"}), False),
        ("belief", ({"framework": "other"}, {"framework": "other"}), False),
        ("belief", (REJECTS, {"marks": ["A 1 reject"]}), False),  # nothing in common
    ],
)
def test_consensus_is_of_the_kind_that_the_question_asks_for(
    kind: str, answers: tuple[dict[str, Any], ...], ends: bool
) -> None:
    """The threshold is 0, so that only the type's own rule can prevent it."""
    assert _round(kind, *answers).terminated is ends


def test_risks_have_to_be_accepted_to_the_threshold_and_not_only_on_average() -> None:
    unsure = {"marks": ["B 1 unsure"]}
    found = _round("business", unsure, {}, threshold=700)
    assert (found.overall, found.claim_jaccard, found.terminated) == (791, 500, False)


@pytest.mark.parametrize(
    ("kind", "ends"), [("factual", True), ("normative", True), ("business", False), ("belief", False)]
)
def test_facts_and_values_may_end_after_the_blind_round_what_needs_marks_cannot(kind: str, ends: bool) -> None:
    quotes = [{"n": 1, "text": "Capped.", "quotes": ["D1 0 40"]}]
    answers = [{"turn": f"1.debater-{i}.1", "claims": quotes} for i in (1, 2, 3)]
    found = assess_transcript(transcript({"type": kind, "threshold": 850, "answers": answers}))
    assert (found.overall, found.terminated) == (900, ends), "at most 900 where no claim has been marked"


def test_nothing_is_saturated_in_the_blind_round() -> None:
    answers = [{"turn": f"1.debater-{i}.1", "claims": [{"n": 1, "text": "The same idea."}]} for i in (1, 2)]
    found = assess_transcript(transcript({"type": "brainstorm", "threshold": 0, "answers": answers}))
    assert (found.new_ideas, found.dimensions["stance_alignment"], found.terminated) == (None, None, False)


def test_an_idea_is_new_unless_most_of_its_words_stand_in_one_earlier_claim() -> None:
    first = [{"n": 1, "text": "Host a monthly customer podcast."}, {"n": 2, "text": "Sponsor tram drivers."}]
    second = [
        {"n": 1, "text": "Host customer podcast weekly dinners."},  # 3 of 5 words: 600, known
        {"n": 2, "text": "Host customer dinners, sponsor trams."},  # 2 of 5 words of one claim, 1 of the other: new
    ]
    answers = [{"turn": "1.debater-1.1", "claims": first}, {"turn": "2.debater-1.1", "claims": second}]
    assert new_ideas(transcript({"type": "brainstorm", "threshold": 0, "answers": answers}), 2) == 500


# -- objections


def _objecting(*rounds: list[dict[str, Any]]) -> ConsensusFound:
    """Two debaters who agree on everything; ``rounds`` are what each adds from the third round on."""
    answers = [
        {"turn": f"{r}.debater-{i}.1", "claims": [{"n": 1, "text": f"Point {own}."}], "marks": [f"{other} 1 accept"]}
        for r in range(1, 3 + len(rounds))
        for i, (own, other) in enumerate((("A", "B"), ("B", "A")), 1)
    ]
    for r, said in enumerate(rounds, start=3):
        for i, added in enumerate(said, 1):
            next(a for a in answers if a["turn"] == f"{r}.debater-{i}.1").update(added)
    return assess_transcript(transcript({"type": "factual", "threshold": 0, "answers": answers}))


STRONG, MILD = {"objection": "B 1 high"}, {"objection": "B 1 medium"}


@pytest.mark.parametrize(
    ("rounds", "unanswered"),
    [
        (([STRONG, MILD],), 1),  # just raised: nobody can have answered
        (([MILD, MILD],), 0),
        (([STRONG, MILD], [MILD, MILD]), 1),  # nobody answers
        (([STRONG, MILD], [MILD, {**MILD, "answers_to": ["A"]}]), 0),
        (([STRONG, MILD], [{**MILD, "answers_to": ["A"]}, MILD]), 1),  # its author's own words are no answer
        (([STRONG, MILD], [MILD, MILD], [MILD, {**MILD, "answers_to": ["A"]}]), 0),  # answered a round later
        (([STRONG, MILD], [STRONG, {**MILD, "answers_to": ["A"]}]), 1),  # another one since
    ],
)
def test_a_strong_objection_blocks_until_another_debater_answers_it(rounds: Any, unanswered: int) -> None:
    found = _objecting(*rounds)
    assert (len(found.unanswered), found.terminated) == (unanswered, not unanswered)


# -- agreement beyond chance


@pytest.mark.parametrize(
    ("marks", "value"),
    [
        ([("accept", "accept"), ("reject", "reject")], 1_000),
        ([("accept", "reject"), ("reject", "accept")], -1_000),
        # Cohen (1960) as it is usually taught: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no. 0.4
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 400),
        ([("accept", "accept")] * 9, None),
        ([], None),
    ],
)
def test_kappa(marks: list[tuple[str, str]], value: int | None) -> None:
    assert kappa(marks) == value


@pytest.mark.parametrize(
    ("units", "value"),
    [
        # Krippendorff's own examples (2011): two observers of ten units, 0.095 ...
        ([list(pair) for pair in zip("0100000010", "1110010000", strict=True)], 95),
        # ... and four observers of twelve with values missing, 0.743
        (["111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"], 743),
        (["aa", "aa"], None),
        (["a"], None),
    ],
)
def test_alpha(units: list[Any], value: int | None) -> None:
    assert alpha([list(unit) for unit in units]) == value


# -- conduct


def _scores(*answers: dict[str, Any]) -> dict[str, DebaterScores]:
    said = transcript({"type": "factual", "threshold": 850, "answers": answers})
    return {one.seat: one for one in score_transcript(said).scores}


def _two(second: dict[str, Any], other: dict[str, Any] | None = None, **first: Any) -> DebaterScores:
    """How A does over two rounds beside B."""
    mine, theirs = {"n": 1, "text": "Point A."}, {"n": 1, "text": "Point B."}
    both = ["B 1 accept", "B 2 accept"]
    return _scores(
        {"turn": "1.debater-1.1", "claims": [mine], **first},
        {"turn": "1.debater-2.1", "claims": [theirs, {"n": 2, "text": "Aside."}]},
        {"turn": "2.debater-1.1", "claims": [mine], "marks": both, **second},
        {"turn": "2.debater-2.1", "claims": [theirs], "marks": ["A 1 accept"], **(other or {})},
    )["debater-1"]


def test_factual_accuracy_is_what_others_made_of_the_claims_and_how_the_citations_held() -> None:
    quoting = {"claims": [{"n": 1, "text": "Point A.", "quotes": ["D1 0 9"]}]}
    assert _two({}).factual_accuracy == 100
    assert _two({}, {"marks": ["A 1 unsure"]}).factual_accuracy == 50
    assert _two({}, {"marks": ["A 1 reject"]}).factual_accuracy == 0
    assert _two(quoting, {"marks": ["A 1 reject"]}).factual_accuracy == 50


def test_nothing_known_of_the_claims_is_neither_good_nor_bad() -> None:
    alone = _scores({"turn": "1.debater-1.1", "claims": [{"n": 1, "text": "Point A."}]})["debater-1"]
    assert (alone.factual_accuracy, alone.trajectory_score) == (50, 50)


@pytest.mark.parametrize(
    ("second", "score"),
    [
        ({}, 100),
        ({"stance": "negative"}, 75),  # a silent reversal
        ({"stance": "negative", "corrections": "Model B's clause decides."}, 100),  # an acknowledged one
        ({"stance": "open"}, 100),
        ({"marks": ["A 1 reject", "B 1 accept", "B 2 accept"]}, 75),  # drops its own claim without a word
        (
            {"marks": ["B 1 reject", "B 2 accept"], "claims": [{"n": 1, "text": "point B!"}]},
            75,
        ),  # claims what it rejects
        ({"stance": "negative", "marks": ["A 1 reject", "B 1 accept", "B 2 accept"]}, 50),
        ({"challenges": ["B 1"]}, 75),  # accepts what it still challenges
        ({"open": ["B 2"]}, 75),
    ],
)
def test_logical_consistency_loses_by_silent_reversals_and_contradictions(second: dict[str, Any], score: int) -> None:
    assert _two(second).logical_consistency == score


def test_a_probability_that_leaps_without_a_word_is_a_reversal() -> None:
    leap = _two({"probability": [10, 20]}, probability=[70, 80])
    told = _two({"probability": [10, 20], "corrections": "The subsidy ends."}, probability=[70, 80])
    assert (leap.logical_consistency, told.logical_consistency) == (75, 100)


def test_evidence_quality_is_the_share_of_claims_that_stand_on_passages_or_reasoning() -> None:
    claims = [
        {"n": 1, "text": "Quoted.", "quotes": ["D1 0 9"]},
        {"n": 2, "text": "It is capped, because clause 9 limits every claim."},
        {"n": 3, "text": "Struck, because it cites nothing."},
        {"n": 4, "text": "It is capped."},
    ]
    assert _scores({"turn": "1.debater-1.1", "claims": claims, "struck": [3]})["debater-1"].evidence_quality == 50


@pytest.mark.parametrize(
    ("second", "score"),
    [
        ({}, 0),  # repeats itself and waits for the end
        ({"learned": "The carve-out."}, 0),  # learned from nobody in particular
        ({"learned": "The model behaves well, so the model a bank uses may."}, 0),  # names no letter
        ({"learned": "Model B's carve-out."}, 25),
        ({"corrections": "I overstated it."}, 25),
        ({"corrections": "Model B is right on point 1."}, 50),
        ({"claims": [{"n": 1, "text": "Point A, less so."}]}, 25),
        ({"claims": [{"n": 1, "text": "Point A."}, {"n": 2, "text": "Made up."}], "struck": [2]}, 0),
        ({"marks": ["B 1 accept", "B 2 unsure"]}, 25),
        ({"challenges": ["B 1"], "marks": ["B 1 reject", "B 2 reject"]}, 25),
        ({"learned": "From Model B.", **MOVED, "challenges": ["B 2"]}, 100),
    ],
)
def test_a_trajectory_is_constructive_where_an_answer_responds_to_others(second: dict[str, Any], score: int) -> None:
    assert _two(second).trajectory_score == score


def test_every_debater_that_spoke_is_scored_in_the_order_of_the_seats() -> None:
    answers = [{"turn": f"1.debater-{i}.1", "claims": [{"n": 1, "text": "x"}]} for i in (10, 2, 1)]
    assert list(_scores(*answers)) == ["debater-1", "debater-2", "debater-10"]


# -- invariants


STANCES, FRAMEWORKS = ("affirmative", "qualified", "negative", "open"), ("textual", "precedent", "empirical", "other")
MARKS = ("accept", "reject", "unsure")


KINDS = ("factual", "normative", "business", "prediction", "brainstorm", "belief")
TEXTS = ("Fees cap it.", "No cap at all.", "Clause 12 lifts the cap.")
percents = st.integers(0, 100)


@st.composite
def panels(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> dict[str, Any]:
    """Two to four debaters over one to three rounds, who claim, quote and mark what they like."""
    letters = "ABCD"[: draw(st.integers(2, 4))]
    answers: list[dict[str, Any]] = []
    before: list[str] = []
    for r in range(1, draw(st.integers(1, 3)) + 1):
        now = []
        for i, letter in enumerate(letters, 1):
            others = [claim for claim in before if claim[0] != letter]
            said = draw(_answers(others)) | {"turn": f"{r}.debater-{i}.1"}
            answers.append(said | ({"objection": f"A 1 {draw(st.sampled_from(('low', 'high')))}"} if r > 2 else {}))
            now += [f"{letter} {claim['n']}" for claim in said["claims"]]
        before = now
    return {"type": draw(st.sampled_from(kinds)), "threshold": draw(st.integers(0, 1_000)), "answers": answers}


@st.composite
def _answers(draw: st.DrawFn, others: list[str]) -> dict[str, Any]:
    """An answer that marks these claims of others."""
    quotes = [f"D1 {at} {at + 20}" for at in draw(st.lists(st.integers(0, 60), max_size=1))]
    texts = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2))
    return {
        "stance": draw(st.sampled_from(STANCES)),
        "framework": draw(st.sampled_from(FRAMEWORKS)),
        "confidence": draw(percents),
        "probability": sorted((draw(percents), draw(percents))),
        "claims": [{"n": n, "text": text, "quotes": quotes} for n, text in enumerate(texts, 1)],
        "marks": [f"{claim} {draw(st.sampled_from(MARKS))}" for claim in others],
    }


def _renamed(written: dict[str, Any], order: tuple[int, ...]) -> dict[str, Any]:
    """The same panel with its debaters in other seats."""
    letter = {"ABCD"[i]: "ABCD"[j] for i, j in enumerate(order)}

    def named(text: str) -> str:
        return f"{letter[text[0]]}{text[1:]}"

    answers = []
    for one in written["answers"]:
        r, seat, take = one["turn"].split(".")
        moved = {**one, "turn": f"{r}.debater-{order[int(seat.partition('-')[2]) - 1] + 1}.{take}"}
        moved["marks"] = [named(mark) for mark in one["marks"]]
        answers.append(moved | ({"objection": named(one["objection"])} if "objection" in one else {}))
    return {**written, "answers": answers}


def _values(found: ConsensusFound) -> dict[str, Any]:
    seats = ("notes", "claims", "unanswered", "vetoes", "opposed")
    values = {name: getattr(found, name) for name in found.__struct_fields__ if name not in seats}
    vetoes = [veto.code for veto in found.vetoes]
    return values | {"unanswered": len(found.unanswered), "vetoes": vetoes, "opposed": len(found.opposed)}


@given(panels(), st.data())
def test_who_sits_where_changes_nothing(written: dict[str, Any], data: st.DataObject) -> None:
    count = len({seat_of(one["turn"]) for one in written["answers"]})
    order = data.draw(st.sampled_from(list(permutations(range(count)))))
    here, there = transcript(written), transcript(_renamed(written, order))
    assert _values(assess_transcript(here)) == _values(assess_transcript(there))
    scores = {one.seat: one for one in score_transcript(here).scores}
    for one in score_transcript(there).scores:
        came_from = order.index(int(one.seat.partition("-")[2]) - 1) + 1
        assert one == replace(scores[f"debater-{came_from}"], seat=one.seat)


@given(panels())
def test_every_value_is_in_its_range(written: dict[str, Any]) -> None:
    found, scores = assess_transcript(transcript(written)), score_transcript(transcript(written)).scores
    shares = [*found.dimensions.values(), found.claim_jaccard, found.wording_overlap, found.new_ideas, found.overall]
    assert all(share is None or 0 <= share <= 1_000 for share in shares)
    assert found.beyond_chance is None or -1_000 <= found.beyond_chance <= 1_000
    assert set(found.dimensions) == set(DIMENSIONS)
    given_scores = [getattr(one, name) for one in scores for name in one.__struct_fields__ if name != "seat"]
    assert all(0 <= score <= 100 for score in given_scores)


@given(panels())
def test_an_end_needs_the_threshold_and_two_voices_and_no_open_objection(written: dict[str, Any]) -> None:
    found = assess_transcript(transcript(written))
    if found.terminated:
        assert found.overall >= found.threshold
        assert found.voices >= 2
        assert not found.unanswered
        assert not found.vetoes
        assert not found.opposed
        assert not found.lagging


@given(panels(("factual", "normative", "business", "prediction", "belief")), st.data())
def test_to_reject_what_all_accept_never_raises_agreement(written: dict[str, Any], data: st.DataObject) -> None:
    last = max(round_of(one["turn"]) for one in written["answers"])
    said = transcript(written)
    agreed = [(c.turn, c.n) for c in assess_transcript(said).claims if not c.reject and not c.unsure]
    readers = [turn for turn in said.said if round_of(turn) == last]
    choices = [(turn, n, reader) for turn, n in agreed for reader in readers if seat_of(reader) != seat_of(turn)]
    if not choices:
        return
    turn, n, reader = data.draw(st.sampled_from(choices))
    before, after = assess_transcript(said), assess_transcript(_rejecting(said, reader, LETTERS[seat_of(turn)], n))
    for name in DIMENSIONS:
        assert (after.dimensions[name] or 0) <= (before.dimensions[name] or 0)
    assert after.overall <= before.overall
    assert after.terminated <= before.terminated


def _rejecting(said: Transcript, reader: TurnId, label: str, n: int) -> Transcript:
    reply = said.said[reader]
    assert isinstance(reply, RevisedAnswer)
    marks = tuple(replace(m, mark="reject") if (m.label, m.n) == (label, n) else m for m in reply.marks)
    return _changed(said, reader, marks=marks)


def _changed(said: Transcript, turn: TurnId, **members: Any) -> Transcript:
    """A transcript with an answer that says something else."""
    return said._replace(said={**said.said, turn: replace(said.said[turn], **members)})
