"""The results of the formats between debaters: what was said, what it came to, and what stands beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import TurnSpoke
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, Finding
from service.debate.model import BallotOptions, Check, ConvergenceOptions, Debater, Turn
from service.debate.replies import Ballot, Judgement, Moderation, Reply, Statement
from service.debate.turns import SCREENER, TurnId
from service.report import build_result
from service.report.result.terms import StancesTerms
from tests.fixtures import formats
from tests.fixtures.debates import World, canned, drive, found, start_of
from tests.fixtures.results import adversarial, ballot, stances
from tests.unit.report.played import BETWEEN_DEBATERS, FORMATS, lines, played, told

PROFILE = settings()
STATEMENTS = (Statement(1, "It is ready."), Statement(2, "It is tested."))


def test_an_adversarial_debate_has_its_rounds_and_none_of_what_debaters_have() -> None:
    r = told("adversarial/1")

    assert r.rounds
    assert (r.transcript, r.weighed) == ((), ())
    assert adversarial(r).conclusion == "modified"


@pytest.mark.parametrize("form", BETWEEN_DEBATERS)
def test_a_debate_between_debaters_has_a_transcript_in_the_declared_order_and_no_rounds_of_the_other_format(
    form: str,
) -> None:
    r = told(form)

    assert (r.rounds, r.round_details, r.framing) == ((), (), None)
    order = {"proposal": 0, "critique": 1, "revision": 2, "consensus": 3, "answer": 4}
    places = [(one.round, order.get(one.phase or "", 0), one.seat) for one in r.transcript]
    assert places == sorted(places)
    assert len({one.turn for one in r.transcript}) == len(r.transcript) > 5
    assert {one.seat for one in r.transcript} == {"debater-1", "debater-2", "debater-3"}
    assert all(one.model and one.reply and one.tokens and one.charged_usd != "0.00" for one in r.transcript)
    assert r.result is not None
    assert r.result.__struct_config__.tag == form.removesuffix("/1")


@pytest.mark.parametrize(
    ("form", "blind", "first_drafts"),
    [
        ("stances/1", [], ["1.debater-1.1"]),
        ("ballot/1", *[[f"1.debater-{n}.proposal.1" for n in (1, 2, 3)]] * 2),
        ("panel/1", *[[f"1.debater-{n}.1" for n in (1, 2, 3)]] * 2),
        ("convergence/1", *[[f"0.debater-{n}.1" for n in (1, 2, 3)]] * 2),
    ],
)
def test_first_drafts_are_named_apart_from_what_was_said_after_exchange(
    form: str, blind: list[str], first_drafts: list[str]
) -> None:
    r = told(form)

    assert [one.turn for one in r.transcript if one.blind] == blind
    assert sorted(r.first_draft) == first_drafts


def test_a_debater_has_the_callers_name_and_the_neutral_label_that_others_saw() -> None:
    stances, ballot, panel, convergence = (told(form).transcript[0] for form in BETWEEN_DEBATERS)

    assert (stances.name, stances.stance, stances.label) == ("Ursula", "sign as it stands", "sign as it stands")
    assert (ballot.name, ballot.stance, ballot.label, ballot.vote) == ("Ursula", "The cap holds.", "Debater 1", "sign")
    assert (panel.name, panel.answer, panel.confidence) == (None, "Sign.", 0.7)
    assert panel.label in {"Model A", "Model B", "Model C"}
    assert convergence.label in {"Debater A", "Debater B", "Debater C"}
    assert (convergence.name, convergence.answer) == (None, "sign")


def test_a_letter_is_the_same_in_the_whole_debate_and_the_one_that_the_outcome_names() -> None:
    r = told("panel/1")

    assert r.result is not None
    labels: dict[str, str] = msgspec.to_builtins(r.result)["labels"]
    assert {one.seat: one.label for one in r.transcript} == labels
    assert len({(one.seat, one.label) for one in told("convergence/1").transcript}) == 3


# -- stances: DebateRawOutput


def test_the_raw_output_of_stances_has_the_members_of_its_reference() -> None:
    raw = stances(told("stances/1")).raw

    assert raw is not None
    assert list(raw) == ["rounds", "question", "transcript", "verdict"]
    assert all(list(one) == ["round", "agentName", "stance", "text"] for one in raw["transcript"])
    assert list(raw["verdict"]) == ["verdict", "winner", "reasoning"]
    assert [(one["round"], one["agentName"]) for one in raw["transcript"]] == [
        (r, name) for r in (1, 2) for name in ("Ursula", "Viktor", "Wanda")
    ]
    assert raw["transcript"][0]["text"] == "The cap covers all claims.\n\nIt is usual."


def test_what_was_struck_is_in_the_transcript_with_the_reason_and_not_in_the_raw_output() -> None:
    def findings(check: Check, facts: Any) -> Finding:
        if check.id != "1.debater-1.1/citations":
            return found(check, facts)
        not_there = (CitationVerdict("not_found"),)
        return CitationsFound(
            (
                ArgumentVerdict(TurnId("1.debater-1.1"), 1, not_there, "unverified_citation"),
                ArgumentVerdict(TurnId("1.debater-1.1"), 2),
            )
        )

    r = told("stances/1", findings=findings)

    assert (stances(r).raw or {})["transcript"][0]["text"] == "It is usual."
    assert r.transcript[0].text.startswith("The cap covers all claims.")
    assert r.transcript[0].arguments[0].struck == "unverified_citation"
    assert [(one.turn, one.seat, one.position) for one in r.struck] == [("1.debater-1.1", "debater-1", None)]
    assert r.citation_counts.not_found == 1


def other_winner(turn: Turn, facts: Any) -> Reply:
    reply = canned(turn, facts)
    swapped = isinstance(reply, Judgement) and ".swapped." in turn.id
    other = {"winner": "do not sign", "verdict": "It fails.", "explicit_uncertainties": ("The fines.",)}
    return replace(reply, **other) if swapped else reply


def test_a_verdict_that_the_order_decided_is_withheld_and_both_replies_stand_beside_each_other() -> None:
    r = told("stances/1", other_winner)

    assert "orderSensitive" in r.flags
    assert isinstance(r.result, StancesTerms)
    assert (r.result.verdict, r.synthesis) == (None, None)
    assert (stances(r).raw or {})["verdict"] is None
    judges = [(one.turn, one.swapped, one.reply["winner"]) for one in r.weighed if one.seat == "judge"]
    assert judges == [("2.judge.1", False, "sign as it stands"), ("2.judge.swapped.1", True, "do not sign")]
    assert r.explicit_uncertainties == ("No court has read it.",), "those of its first reply"


# -- the closing seat, in every format


@pytest.mark.parametrize(
    ("form", "synthesis"),
    [("stances/1", "Clause 9 holds."), ("panel/1", "Sign."), ("convergence/1", "Sign.\n\nIt is clear.")],
)
def test_the_closing_seats_answer_its_confidence_and_its_uncertainties_are_told(form: str, synthesis: str) -> None:
    r = told(form)

    assert r.synthesis == synthesis
    assert (r.moderator_confidence_level, r.closing_confidence_level) == (None, "HIGH")
    assert r.explicit_uncertainties == ("No court has read it.",)


def test_where_nobody_closes_nothing_is_put_in_anybodys_mouth() -> None:
    ballot = told("ballot/1")
    majority = told(ConvergenceOptions(3, 1, human_review=False, judge=False))

    for r in (ballot, majority):
        assert (r.synthesis, r.moderator_confidence_level, r.closing_confidence_level) == (None, None, None)
        assert r.explicit_uncertainties == ()
        assert r.weighed == ()


# -- ballot: the report


def voting(by_name: dict[str, str], names: Sequence[str]) -> Any:
    def replies(turn: Turn, _: Any) -> Reply:
        who = names[int(turn.seat.rpartition("-")[2]) - 1]
        return Ballot(f"{who} position", STATEMENTS, by_name[who])

    return replies


FIRST = """\
debater_ids: [planner, critic, operator]
rounds_run: 1
max_rounds: 2
phase_sequence: [proposal]
consensus_threshold: 2
vote_tally: {release: 1, revise: 2}
decision: revise
decision_rule: threshold_vote
speaker_schedule: [planner, critic, operator]"""


def test_the_ballots_report_is_that_of_its_reference_byte_for_byte() -> None:
    names = ("planner", "critic", "operator")
    options = BallotOptions(
        tuple(Debater(name) for name in names), 2, ("release", "revise", "escalate"), 2, human_review=False
    )

    decided = told(options, voting({"planner": "release", "critic": "revise", "operator": "revise"}, names))
    split = told(options, voting({"planner": "release", "critic": "revise", "operator": "escalate"}, names))

    assert ballot(decided).report == FIRST
    assert ballot(split).report is not None
    assert ballot(split).report.split("\n")[5:8] == [
        "vote_tally: {release: 1, revise: 1, escalate: 1}",
        "decision: escalate",
        "decision_rule: max_rounds_exhausted",
    ]


def test_a_vote_that_names_no_option_is_told_as_an_abstention_with_what_was_written() -> None:
    def replies(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, vote="perhaps later") if isinstance(reply, Ballot) else reply

    one = told("ballot/1", replies).transcript[0]

    assert one.vote is None
    assert one.reply["vote"] == "perhaps later"


# -- a moderation asked twice


def test_the_second_moderation_stands_beside_the_first_and_never_in_its_place() -> None:
    def replies(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        swapped = isinstance(reply, Moderation) and ".swapped." in turn.id
        return replace(reply, conclusion="rejected", synthesis="It falls.") if swapped else reply

    same, other = told("adversarial/1"), told("adversarial/1", replies)

    for r, agrees, conclusion in ((same, True, "modified"), (other, False, "rejected")):
        (detail,) = r.round_details
        second = detail.swapped_moderation
        assert second is not None
        assert (second.turn, second.agrees, second.conclusion) == ("1.moderator.swapped.1", agrees, conclusion)
        assert list(second.labels) == list(reversed(detail.labels))
        assert r.rounds[0].moderator_evaluation is not None
        assert r.rounds[0].moderator_evaluation.synthesis == "The cap holds but for clause 12."
    assert (adversarial(same).conclusion, same.synthesis) == ("modified", "The cap holds but for clause 12.")
    assert (adversarial(other).conclusion, other.synthesis) == (None, None)
    assert "orderSensitive" in other.flags


def test_why_a_format_was_chosen_is_told_where_somebody_left_that_open() -> None:
    chosen = replace(start_of(formats.plain("ballot/1")), format_reason="a vote suits it")

    assert build_result("d1", lines(drive(chosen))).format_reason == "a vote suits it"
    assert told("ballot/1").format_reason is None


# -- whatever happens


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 4, 1))
@given(seed=st.integers(0, 400), data=st.data())
def test_every_prefix_of_every_debate_has_a_result_that_tells_who_spoke(
    form: str, seed: int, data: st.DataObject
) -> None:
    world = World(seed, failing=15, refusing=3)
    ceiling = data.draw(st.sampled_from([60_000, 10_000_000]))
    entries = world.drive(start_of(data.draw(formats.options(form)), ceiling=ceiling))
    end = data.draw(st.integers(1, len(entries)))

    r = build_result("d1", lines(entries[:end]))

    spoke = [entry.turn for entry in entries[:end] if isinstance(entry, TurnSpoke) and entry.turn != SCREENER]
    between = form != "adversarial/1"
    assert sorted([one.turn for one in r.transcript] + [one.turn for one in r.weighed]) == (
        sorted(spoke) if between else []
    )
    assert msgspec.json.decode(msgspec.json.encode(r), type=dict)["debateId"] == "d1"
    assert set(r.first_draft) <= set(spoke)
    assert (r.result is not None) == (r.decision is not None) == (end == len(entries))


def test_played_debates_are_the_same_each_time() -> None:
    assert msgspec.json.encode(build_result("d1", played("panel/1"))) == msgspec.json.encode(told("panel/1"))
