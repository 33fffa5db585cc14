"""The offline models play every seat of stances, ballot, panel and convergence, and what they do can be followed."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import pytest

from service import samples
from service.checks import output_schema
from service.checks.citations import claims_evidence
from service.debate.options import StancesOptions, output_schema_of
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    Ballot,
    BlindAnswer,
    Classification,
    Judgement,
    Position,
    Projection,
    RevisedAnswer,
    Ruling,
    Synthesis,
    statements,
)
from service.debate.replies import Argument as Argued
from service.debate.turns import phase_of, round_of, seat_of, turn_id
from service.prompts.request import Request, encode
from service.simulated.framing import SIMULATED
from service.simulated.propositions import frame
from service.simulated.provider import answer
from service.simulated.standpoints import keenness, polarity
from tests.unit.simulated.formats import FORMATS, Played, play, play_sample

POOLS = (
    ("alder-large", "birch-large", "alder-small", "birch-small"),
    ("cedar-small", "birch-small", "cedar-large", "alder-small"),
)
NAMES = samples.names()
PAIRS = [(form, name) for form in FORMATS for name in NAMES]
SHARED = (
    ("cuad-garrett.txt", "Does this agreement expose us to uncapped liability?"),
    ("nist-63b-auth.txt", "Are the memorized secret requirements sufficient against online guessing?"),
    ("adr-govuk.txt", "Should we adopt Crossplane for abstraction?"),
    ("reg-p-1016.txt", "What must a privacy notice contain?"),
)
ASKED: dict[str, dict[str, Any]] = {
    "stances": {"debaters": [{"name": "a", "stance": "for"}, {"name": "b", "stance": "against"}], "maxRounds": 3},
    "ballot": {"debaters": [{"name": n} for n in "abcd"], "votes": ["approve", "revise", "reject"], "maxRounds": 1},
    "panel": {"debaters": 4, "maxRounds": 3},
    "convergence": {"debaters": 3, "maxRounds": 2},
}


@cache
def played(form: str, name: str) -> Played:
    return play_sample(name, form)


def assert_true(debate: Played) -> None:
    """What holds of every debate of offline models: true quotations, none struck, and evidence where it is claimed."""
    assert debate.outcome.critical_validation_failures == ()
    assert not any(a.struck for a in debate.arguments())
    for said in debate.facts.said.values():
        for argument in statements(said):
            assert bool(argument.citations) == (argument.basis == "evidence"), argument.text
            assert argument.citations or not claims_evidence(argument), argument.text


@pytest.mark.parametrize("pool", POOLS, ids=("alder and birch", "cedar among them"))
@pytest.mark.parametrize(("form", "name"), PAIRS)
def test_every_sample_is_debated_to_its_end_in_every_format_on_true_quotations(
    form: str, name: str, pool: tuple[str, ...]
) -> None:
    debate = play_sample(name, form, pool=pool)

    assert debate.outcome.status == "completed"
    assert_true(debate)
    cited = [a for a in debate.arguments() if a.verdicts]
    assert len(cited) >= 0.7 * len(debate.arguments())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("file", "question"), SHARED)
def test_real_documents_are_quoted_truly_in_every_format(form: str, file: str, question: str, shared: Any) -> None:
    text = (shared / "data" / "documents" / file).read_text(encoding="utf-8")

    debate = play(form, question, [{"id": "D1", "title": file, "text": text}], ASKED[form])

    assert debate.outcome.status == "completed"
    assert_true(debate)
    assert any(a.verdicts for a in debate.arguments())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("question", "text"),
    [("Should we sign?", ""), ("What?", "hello"), ("契約は有効ですか", "責任の上限はない。"), ("", "")],
)
def test_without_evidence_every_format_ends_low_and_says_so(form: str, question: str, text: str) -> None:
    documents = [{"id": "D1", "title": "x", "text": text}] if text else []

    debate = play(form, question, documents, ASKED[form])

    assert debate.outcome.status == "completed"
    assert debate.outcome.confidence_level == "LOW"
    assert not any(a.verdicts for a in debate.arguments())
    assert_true(debate)


@pytest.mark.parametrize("form", FORMATS)
def test_replies_fit_a_small_allowance(form: str) -> None:
    documents = samples.load("contract", form).case["documents"]

    debate = play(form, "Is the liability uncapped?", documents, ASKED[form], allowance=700)

    assert debate.outcome.status == "completed"


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_body_gives_the_same_answer(form: str) -> None:
    for request in played(form, "contract").requests.values():
        assert answer(encode(request)) == answer(encode(request))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["stances", "convergence"])
def test_a_decider_decides_alike_when_the_order_is_turned_round(form: str, name: str) -> None:
    debate = play_sample(name, form, swapped=True)

    deciders = [t for t in debate.facts.said if ".judge." in t]
    assert len(deciders) == (2 if (form, name) != ("convergence", "investment") else 0)
    assert not {"orderSensitive", "orderUnchecked"} & set(debate.outcome.flags)


def test_an_adjudicator_scores_alike_when_the_order_is_turned_round() -> None:
    debate = play_sample("architecture", "panel", adjudicator="model", swapped=True)

    swapped = {t: r for t, r in debate.said(Adjudication).items() if ".swapped." in t}
    assert swapped
    for turn, reply in swapped.items():
        assert reply == debate.facts.said[turn_id(round_of(turn), seat_of(turn))]


def test_a_judge_to_whom_nothing_was_shown_names_whoever_spoke_last_and_is_found_out() -> None:
    debate = play("stances", "Should we sign?", [], {**ASKED["stances"], "swapped": True})

    first, second = debate.said(Judgement).values()
    assert first.winner != second.winner
    assert "orderSensitive" in debate.outcome.flags


@pytest.mark.parametrize("name", NAMES)
def test_debaters_of_stances_argue_their_own_stance_to_the_end_with_passages_of_their_own(name: str) -> None:
    by_seat: dict[str, Counter[str]] = {}
    for turn, said in played("stances", name).said(Argued).items():
        quoted = [c.quote for a in said.arguments for c in a.citations]
        by_seat.setdefault(seat_of(turn), Counter()).update(quoted)

    assert len(by_seat) >= 2
    for seat, own in by_seat.items():
        assert own
        assert max(own.values()) == 1, seat
        for other, theirs in by_seat.items():
            assert other == seat or not set(own) & set(theirs)


@pytest.mark.parametrize("name", NAMES)
def test_debaters_of_stances_answer_each_other_by_stance_and_number(name: str) -> None:
    said = played("stances", name).said(Argued)

    later = [a.text for turn, reply in said.items() if turn.startswith("2.") for a in reply.arguments]
    assert later
    assert sum("rgument" in text and " of [" in text for text in later) >= 0.8 * len(later)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "compliance"])
def test_a_projection_fits_the_callers_schema_and_says_that_it_is_simulated(name: str) -> None:
    debate = played("stances", name)

    (said,) = debate.said(Projection).values()
    options = debate.facts.started.options if debate.facts.started else None
    assert isinstance(options, StancesOptions)
    assert output_schema.misfit(output_schema_of(options), said.output) is None
    assert SIMULATED in said.output


def test_a_projection_says_what_the_judge_said() -> None:
    found = {}
    for name in ("architecture", "investment"):
        (said,) = played("stances", name).said(Projection).values()
        found[name] = msgspec.json.decode(said.output)

    assert found["architecture"]["option"] == "A"
    assert found["investment"]["decision"] == "approveSmallerHold"


def test_voters_differ_at_first_and_some_move_when_they_have_heard_the_others() -> None:
    alike, moved = [], []
    for name in NAMES:
        ballots = played("ballot", name).said(Ballot)
        first = [b.vote for t, b in ballots.items() if ".proposal." in t]
        alike.append(len(set(first)) == 1)
        by_seat: dict[str, list[str]] = {}
        for turn, b in ballots.items():
            by_seat.setdefault(seat_of(turn), []).append(b.vote)
        moved.append(any(len(set(votes)) > 1 for votes in by_seat.values()))

    assert not any(alike)
    assert any(moved)
    assert not all(moved)


def test_a_vote_stays_where_it_was_while_others_are_criticised() -> None:
    for name in NAMES:
        ballots = played("ballot", name).said(Ballot)
        for turn, said in ballots.items():
            if phase_of(turn) == "critique":
                assert said.vote == ballots[turn_id(round_of(turn), seat_of(turn), "proposal")].vote


def test_a_ballot_without_evidence_is_escalated() -> None:
    debate = play("ballot", "Should we sign?", [], ASKED["ballot"])

    assert {b.vote for b in debate.said(Ballot).values()} == {"escalate"}


def test_votes_that_are_on_no_scale_go_to_the_option_that_the_documents_speak_for() -> None:
    case = samples.load("architecture", "ballot").case
    asked = {"debaters": [{"name": n} for n in "ab"], "votes": ["A", "B", "C"], "maxRounds": 1}

    debate = play("ballot", "Which option of ADR-031 should be chosen?", case["documents"], asked)

    assert {b.vote for b in debate.said(Ballot).values()} == {"A"}


def test_debaters_of_two_families_do_not_think_alike_at_first() -> None:
    for name in NAMES:
        blind = played("panel", name).said(BlindAnswer)
        shown = {(r.stance, r.framework, tuple(c.text for c in r.claims)) for r in blind.values()}
        assert len(shown) > 1, name


def test_debaters_say_what_they_learned_and_correct_an_answer_that_they_change() -> None:
    changed = 0
    for name in NAMES:
        debate = played("panel", name)
        for turn, said in debate.said(RevisedAnswer).items():
            assert said.learned_from_others
            before: Any = debate.facts.said[turn_id(round_of(turn) - 1, seat_of(turn))]
            changed += before.stance != said.stance
            assert bool(said.corrections) == (before.stance != said.stance)
    assert changed


def test_a_prediction_has_an_interval_and_the_intervals_come_nearer() -> None:
    debate = played("panel", "investment")

    middles: dict[str, list[int]] = {}
    for turn, said in {**debate.said(BlindAnswer), **debate.said(RevisedAnswer)}.items():
        assert said.probability
        middles.setdefault(turn[0], []).append(said.probability.low + said.probability.high)
    spreads = [max(found) - min(found) for found in middles.values()]
    assert spreads[-1] < spreads[0]


def test_from_round_three_each_debater_names_a_flaw_and_answers_those_of_the_others() -> None:
    thresholds = dict.fromkeys(("factual", "normative", "business", "prediction", "brainstorm", "belief"), 1000)
    debate = play_sample("compliance", "panel", maxRounds=4, thresholds=thresholds)

    revised = debate.said(RevisedAnswer)
    for turn, said in revised.items():
        assert bool(said.objection) == (int(turn[0]) >= 3)
        assert len(said.answers_to_objections) == (2 if turn[0] == "4" else 0)


def test_families_bring_different_ideas_to_a_brainstorm() -> None:
    blind = played("panel", "security").said(BlindAnswer)

    alder, birch = ({c.text for c in blind[turn_id(1, f"debater-{n}")].claims} for n in (1, 2))
    assert len(alder & birch) < len(alder) / 2


def test_ideas_of_a_brainstorm_are_ranked_by_whose_last_answers_hold_them() -> None:
    (said,) = played("panel", "security").said(Synthesis).values()

    voices = [len({e.label for e in idea.endorsed_by}) for idea in said.ideas]
    assert voices == sorted(voices, reverse=True)
    assert voices[0] > 1
    assert len({idea.idea for idea in said.ideas}) == len(said.ideas)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "security"])
def test_a_synthesis_answers_the_question_and_not_about_the_debate(name: str) -> None:
    (said,) = played("panel", name).said(Synthesis).values()

    assert said.ideas == ()
    assert said.answer.startswith(("Yes, ", "No, ", "Only in part: ", "It is ", "Master Services Agreement, clause "))
    assert "Model " not in said.answer


def test_a_model_that_adjudicates_scores_rounds_and_debaters() -> None:
    debate = played("panel", "architecture")

    scores = [r.stance_alignment + r.framework_agreement for r in debate.said(Adjudication).values()]
    assert scores[-1] > scores[0]
    (review,) = debate.said(AccuracyReview).values()
    assert [r.label for r in review.reviews] == ["Model A", "Model B", "Model C"]


def test_a_classifier_types_the_question_with_a_reason() -> None:
    debate = play_sample("investment", "panel", typedBy="classifier")

    (said,) = debate.said(Classification).values()
    assert said.question_type == "prediction"
    assert said.because


def test_converging_debaters_end_in_the_same_words_and_those_apart_in_others() -> None:
    for name in NAMES:
        debate = played("convergence", name)
        last = max(turn[0] for turn in debate.said(Position))
        final = [p for turn, p in debate.said(Position).items() if turn[0] == last]
        converged = debate.outcome.stop_reason == "consensus"
        assert (len({p.final_answer for p in final}) == 1) == converged, name


@pytest.mark.parametrize("name", ["contract", "compliance", "security"])
def test_a_ruling_is_one_of_the_answers_and_rests_on_what_was_quoted(name: str) -> None:
    debate = played("convergence", name)

    (ruling,) = debate.said(Ruling).values()
    assert ruling.final_answer in {p.final_answer for p in debate.said(Position).values()}
    assert len(ruling.justification) > 80


@pytest.mark.parametrize("kind", [Judgement, Synthesis, Ruling])
def test_every_closing_seat_says_that_it_is_simulated(kind: type[Any]) -> None:
    closing = [r for form, name in PAIRS for r in played(form, name).said(kind).values()]

    assert closing
    assert all(SIMULATED in reply.explicit_uncertainties for reply in closing)


def test_a_judge_goes_by_the_last_answers_and_not_by_those_that_were_given_up() -> None:
    debate = played("convergence", "contract")

    first = {p.final_answer for t, p in debate.said(Position).items() if t[0] == "0"}
    (ruling,) = debate.said(Ruling).values()
    assert len(first) > 1
    assert ruling.justification.endswith("Every debater came to this answer.")


def test_a_passage_is_held_against_arguments_of_the_other_side() -> None:
    documents = [
        {
            "id": "D1",
            "title": "Terms",
            "text": "1.1 The liability of the Supplier is unlimited and without limit in amount.",
        }
    ]
    asked = {"debaters": [{"name": n, "stance": "The liability is uncapped"} for n in "ab"], "maxRounds": 1}

    debate = play("stances", "Is the Supplier's liability uncapped?", documents, asked)

    texts = [a.text for r in debate.said(Argued).values() for a in r.arguments]
    assert texts
    assert not any("rgument" in text for text in texts)


def test_a_label_moves_no_judge() -> None:
    debate = played("convergence", "security")
    request = debate.requests["2.judge.1"]

    renamed = msgspec.convert(msgspec.to_builtins(request), Request)
    text = renamed.messages[2].content.replace("Debater A", "Debater X").replace("Debater C", "Debater A")
    messages = (*renamed.messages[:2], msgspec.structs.replace(renamed.messages[2], content=text), renamed.messages[3])
    said = [answer(encode(r)).text for r in (request, msgspec.structs.replace(renamed, messages=messages))]

    first, second = (msgspec.json.decode(text)["finalAnswer"] for text in said)
    assert first == second


@pytest.mark.parametrize(
    ("text", "question", "place"),
    [
        ("for", "Should we sign?", 1.0),
        ("against", "Should we sign?", -1.0),
        ("ship now", "Should we ship?", 1.0),
        ("do not ship now", "Should we ship?", -1.0),
        ("Approve on conditions", "Should we approve?", 0.2),
        ("Only Segments A and D may start", "May it start?", -0.2),
        ("revise", "Should we release?", 0.0),
        ("defer", "Should we release?", -0.4),
        ("Approve a hold of USD 30 million", "Should we approve the hold of USD 45 million?", 0.3),
        ("Approve the hold of USD 45 million", "Should we approve the hold of USD 45 million?", 1.0),
        ("The liability is uncapped: the annex prevails", "Is the Supplier's liability uncapped?", 1.0),
        ("The liability is capped: the order form says so", "Is the Supplier's liability uncapped?", -1.0),
        ("the moon", "Should we sign?", None),
    ],
)
def test_a_stance_is_read_by_its_words(text: str, question: str, place: float | None) -> None:
    assert polarity(text, question, frame(question, None, "")) == place


@pytest.mark.parametrize(
    ("role", "sign"),
    [
        ("You own the payments service and would write the outbox.", 1),
        ("You sign the approval and answer for it.", -1),
        ("You speak for the nine services.", 0),
    ],
)
def test_a_role_inclines_whoever_speaks_in_it(role: str, sign: int) -> None:
    assert (keenness(role) > 0) - (keenness(role) < 0) == sign
