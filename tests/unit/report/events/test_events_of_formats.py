"""The streams of every format: which entry has which events, and a panel's in the shapes of its reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import DebateStopped
from service.debate.findings import (
    DIMENSIONS,
    AccuracyFound,
    Citation,
    ConsensusFound,
    ConvergenceFound,
    DebaterScores,
    Finding,
)
from service.debate.model import Check, ConvergenceOptions, Options, PanelOptions, Status, Turn
from service.debate.panel_standing import labels_of
from service.debate.replies import (
    Adjudication,
    Ballot,
    BlindAnswer,
    Claim,
    Judgement,
    Reply,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.panel import Challenge, Endorsement, Idea, NamedClaim, OpenPoint
from service.debate.script import Script
from service.report import Event, build_result, events, sent, summary_of
from service.report.events import EventName
from service.report.events.panel import status
from service.report.events.panel_types import PanelStatus
from service.report.result.terms import PanelTerms
from tests.fixtures import formats
from tests.fixtures.debates import World, canned, drive, found, start_of
from tests.unit.report.played import BETWEEN_DEBATERS, FORMATS, found_nothing, lines, played, stream

pytestmark = pytest.mark.many

PROFILE = settings()
ALGORITHMIC = PanelOptions(2, 2, False, "business", "rules", formats.THRESHOLDS)
ADJUDICATED = replace(ALGORITHMIC, adjudicator="model")

# The reference's own examples, as far as an event has them.
BLIND: dict[str, Any] = {
    "answer": "The primary proven health effects of caffeine include...",
    "claims": [
        {"claim": "Caffeine improves short-term alertness and reaction time", "confidence": 0.97},
        {"claim": "Regular consumption above 400mg/day is associated with increased anxiety", "confidence": 0.88},
        {"claim": "Caffeine has a protective association with Parkinson's disease risk", "confidence": 0.82},
    ],
    "overall_confidence": 0.91,
    "assumptions": [
        "References healthy adults without pre-existing cardiovascular conditions",
        "Based on peer-reviewed research as of the model's training cutoff",
    ],
}
DELIBERATION: dict[str, Any] = {
    "answer": "Revised position: The health effects of caffeine are well-established for alertness...",
    "claims": [
        {"claim": "Caffeine improves short-term alertness and reaction time", "confidence": 0.97},
        {
            "claim": "The cardiovascular risk threshold is individual-dependent, not a fixed 400mg/day figure",
            "confidence": 0.79,
        },
    ],
    "overall_confidence": 0.88,
    "learned_from_others": "Model B's point about individual metabolic variation is well-supported.",
    "corrections": "I overstated the certainty of the 400mg/day figure.",
    "still_challenges": "Model A's claim that caffeine has a protective effect I believe is correlational.",
    "unresolved": "The degree to which tolerance development affects long-term benefits remains contested.",
}
CONSENSUS: dict[str, Any] = {
    "event": "consensus",
    "round": 2,
    "scores": {
        "stance_alignment": 0.87,
        "empirical_overlap": 0.79,
        "framework_agreement": 0.81,
        "confidence_convergence": 0.72,
    },
    "overall": 0.80,
    "terminated": False,
    "lagging_dimensions": ["confidence_convergence"],
    "notes": "Models are broadly aligned on conclusion and evidence but confidence intervals remain wide.",
}
ACCURACY: dict[str, Any] = {
    "event": "accuracy",
    "scores": {
        "model_a": {
            "factual_accuracy": 91,
            "logical_consistency": 88,
            "evidence_quality": 85,
            "trajectory_score": 72,
        },
        "model_b": {
            "factual_accuracy": 83,
            "logical_consistency": 94,
            "evidence_quality": 90,
            "trajectory_score": 88,
        },
    },
}
FINAL: dict[str, Any] = {
    "event": "final",
    "debate_id": "d1",
    "status": "completed",
    "rounds_completed": 2,
    "consensus_reached": False,
    "final_consensus_score": 0.80,
    "synthesis_id": "2.synthesizer.1",
}


def as_in_the_reference(turn: Turn, facts: Any) -> Reply:
    """The reference's answers, in our own record's terms."""
    reply = canned(turn, facts)
    said = DELIBERATION if isinstance(reply, RevisedAnswer) else BLIND
    if not isinstance(reply, BlindAnswer | RevisedAnswer):
        return reply
    claims = tuple(
        Claim(n, claim["claim"], round(claim["confidence"] * 100), (Citation("its words"),), "reasoning")
        for n, claim in enumerate(said["claims"], start=1)
    )
    words = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    words |= {
        "claims": claims,
        "assumptions": tuple(BLIND["assumptions"]),
        "overall_confidence": round(float(str(said["overall_confidence"])) * 100),
    }
    if isinstance(reply, RevisedAnswer):
        mark = replace(reply.marks[0], mark="unsure")
        named = NamedClaim(mark.label, mark.n)
        words["marks"] = (mark, *reply.marks[1:])
        words["still_challenges"] = (Challenge(mark.label, mark.n, DELIBERATION["still_challenges"]),)
        words["unresolved"] = (OpenPoint((named,), DELIBERATION["unresolved"]),)
    return replace(reply, **words)


def measured_as_there(check: Check, facts: Any) -> Finding:
    """The reference's scores, in our own record's terms."""
    if check.kind == "consensus":
        dimensions = {d: round(score * 1_000) for d, score in CONSENSUS["scores"].items()}
        return ConsensusFound(2, dimensions, 800, 850, False, ("confidence_convergence",), CONSENSUS["notes"])
    if check.kind == "accuracy":
        letters = {"Model A": "model_a", "Model B": "model_b"}
        labels = labels_of(Script(facts.started, facts))
        scores = {seat: ACCURACY["scores"][letters[label]] for seat, label in labels.items()}
        return AccuracyFound(tuple(DebaterScores(seat, *given.values()) for seat, given in scores.items()))
    return found(check, facts)


@pytest.fixture(scope="module")
def panel() -> list[Event]:
    return stream(played(ALGORITHMIC, as_in_the_reference, findings=measured_as_there))


def of(events_: Sequence[Event], *names: str) -> list[dict[str, Any]]:
    return [event.data for event in events_ if event.name in names]


def plain(data: dict[str, Any]) -> dict[str, Any]:
    """What of an event is the reference's by name: its data as a client reads it, without what is ours."""
    told = msgspec.json.decode(msgspec.json.encode(data))
    return {name: value for name, value in told.items() if name not in ("gainsay", "marks", "objection")}


def test_a_blind_answer_has_exactly_the_members_of_the_reference(panel: list[Event]) -> None:
    first = plain(of(panel, "round")[0])

    assert {name: first.pop(name) for name in ("event", "debate_id", "round")} == {
        "event": "round",
        "debate_id": "d1",
        "round": 1,
    }
    assert first.pop("model") in ("model_a", "model_b")
    assert first == BLIND


def test_a_deliberation_has_exactly_the_members_of_the_reference(panel: list[Event]) -> None:
    last = plain(of(panel, "round")[-1])

    assert (last.pop("event"), last.pop("round"), last.pop("debate_id")) == ("round", 2, "d1")
    assert last.pop("model") in ("model_a", "model_b")
    assert last == DELIBERATION | {"assumptions": BLIND["assumptions"]}


def test_consensus_scores_are_told_after_each_round_as_the_reference_has_them(panel: list[Event]) -> None:
    first, second = (plain(data) for data in of(panel, "consensus"))

    assert second == CONSENSUS | {"debate_id": "d1"}
    assert first["round"] == 1
    assert list(second["scores"]) == list(DIMENSIONS)


def test_accuracy_is_told_by_letters_as_the_reference_has_it(panel: list[Event]) -> None:
    (accuracy,) = (plain(data) for data in of(panel, "accuracy"))

    assert accuracy == ACCURACY | {"debate_id": "d1"}


def test_the_final_event_refers_to_the_synthesis_and_carries_the_result(panel: list[Event]) -> None:
    told = played(ALGORITHMIC, as_in_the_reference, findings=measured_as_there)

    (final,) = of(panel, "final")
    (synthesis,) = of(panel, "synthesis")

    assert plain(final) == FINAL
    assert plain(synthesis) == {
        "event": "synthesis",
        "debate_id": "d1",
        "synthesis_id": FINAL["synthesis_id"],
        "synthesis": "Sign.",
    }
    assert msgspec.json.encode(final["gainsay"]["result"]) == sent.encode(summary_of(build_result("d1", told)))


def test_a_panels_events_come_in_the_order_of_the_reference(panel: list[Event]) -> None:
    """Round events as each debater completes, consensus after each round, then synthesis, accuracy and final."""
    names = [name for name, _ in panel if name in ("round", "consensus", "synthesis", "accuracy", "final")]

    assert names == [*["round", "round", "consensus"] * 2, "synthesis", "accuracy", "final"]


def test_what_is_ours_of_a_panels_reply_stands_in_one_member(panel: list[Event]) -> None:
    first = of(panel, "round")[0]

    ours = first["gainsay"]

    assert ours["turn"].startswith("1.debater-")
    assert (ours["tokens"], ours["chargedUSD"], ours["framework"]) == (1_500, "0.003", "textual")
    assert ours["label"].lower().replace(" ", "_") == first["model"]


def test_marks_objections_and_assumptions_are_members_of_a_panels_answer() -> None:
    told = of(stream(played("panel/1")), "round")

    third = next(data for data in told if data["round"] == 3)

    assert {mark["mark"] for mark in third["marks"]} <= {"accept", "unsure", "reject"}
    assert all(0 <= mark["confidence"] <= 1 for mark in third["marks"])
    assert all(mark["model"] != third["model"] for mark in third["marks"])
    assert set(third["objection"]) == {"model", "claim", "flaw", "severity"}
    assert third["assumptions"]
    assert not any("marks" in data or "objection" in data for data in told if data["round"] == 1)


def test_the_ideas_of_a_brainstorm_are_ranked_in_its_synthesis() -> None:
    options = replace(ALGORITHMIC, question_type="brainstorm")

    def storming(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        if not isinstance(reply, Synthesis):
            return reply
        both = tuple(Endorsement(label, 1) for label in ("Model B", "Model A"))
        return replace(reply, ideas=(Idea("Insure.", both[:1]), Idea("Sign in part.", both)))

    told = played(options, storming)
    (data,) = of(stream(told), "synthesis")
    result = build_result("d1", told).result

    assert [(one["rank"], one["idea"], one["endorsedBy"]) for one in data["ideas"]] == [
        (1, "Sign in part.", ("model_a", "model_b")),
        (2, "Insure.", ("model_b",)),
    ]
    assert isinstance(result, PanelTerms)
    assert [one.idea for one in result.ideas] == ["Sign in part.", "Insure."]


# -- the lifecycle of a panel


@pytest.mark.parametrize(
    ("ours", "synthesised", "theirs"),
    [
        ("running", False, "running"),
        ("queued", False, "running"),
        ("completed", True, "completed"),
        ("truncated", True, "completed"),
        ("truncated", False, "failed"),
        ("failed", False, "failed"),
        ("aborted", False, "aborted"),
    ],
)
def test_a_panels_status_has_the_four_words_of_the_reference(ours: Status, synthesised: bool, theirs: str) -> None:
    assert status(ours, synthesised=synthesised) == theirs
    assert theirs in get_args(PanelStatus)


def test_a_panel_that_reached_its_round_limit_completed_and_did_not_fail() -> None:
    (final,) = of(stream(played("panel/1")), "final")

    assert (final["status"], final["consensus_reached"], final["rounds_completed"]) == ("completed", False, 3)
    assert final["synthesis_id"] == "3.synthesizer.1"


def test_a_panel_in_which_all_debaters_of_a_round_failed_has_failed_without_a_synthesis() -> None:
    told = played(ALGORITHMIC, fails=lambda turn, _: turn.startswith("2.debater-"))

    (final,) = of(stream(told), "final")

    assert (final["status"], final["synthesis_id"], final["rounds_completed"]) == ("failed", None, 1)
    assert build_result("d1", told).transcript, "the partial transcript is kept"


def test_an_aborted_panel_has_a_final_event_and_what_it_reached() -> None:
    told = played(ALGORITHMIC, stops=lambda f: DebateStopped("abort", "enough") if len(f.found) > 3 else None)

    (final,) = of(stream(told), "final")

    assert (final["status"], final["synthesis_id"]) == ("aborted", None)
    assert len(build_result("d1", told).transcript) >= 2


def test_the_history_of_a_panel_holds_all_that_its_stream_told(panel: list[Event]) -> None:
    """Transcript, consensus by round, synthesis, scores, the type of the question, the rounds and the state."""
    r = build_result("d1", played(ALGORITHMIC, as_in_the_reference, findings=measured_as_there))
    assert isinstance(r.result, PanelTerms)

    spoken = [(data["round"], data["model"], data["answer"]) for data in of(panel, "round")]
    labels = {seat: label.replace("Model ", "model_").lower() for seat, label in r.result.labels.items()}
    assert sorted((one.round, labels[one.seat], one.reply["answer"]) for one in r.transcript) == sorted(spoken)
    assert [(c.round, {d: s or 0 for d, s in c.dimensions.items()}, c.notes) for c in r.result.consensus] == [
        (data["round"], data["scores"], data["notes"]) for data in of(panel, "consensus")
    ]
    assert [r.result.synthesis] == [data["synthesis"] for data in of(panel, "synthesis")]
    (accuracy,) = of(panel, "accuracy")
    assert {labels[one.seat]: one.trajectory_score for one in r.result.accuracy} == {
        label: given["trajectory_score"] for label, given in accuracy["scores"].items()
    }
    assert (r.result.question_type, r.result.rounds_completed, r.status) == ("business", 2, "completed")


# -- who scores a panel's consensus


def adjudicating(score: int, swapped: int) -> Any:
    def replies(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        given = swapped if ".swapped." in turn.id else score
        return Adjudication(given, given, given, given, "So it is.") if isinstance(reply, Adjudication) else reply

    return replies


def names_by_entry(given: Sequence[Any]) -> list[str]:
    return ["+".join(event.name for event in events(line, "d1", given[:n])) for n, line in enumerate(given)]


def test_a_models_scores_are_the_consensus_and_codes_own_are_told_beside_them() -> None:
    told = played(ADJUDICATED, adjudicating(60, 60))

    consensus = of(stream(told), "consensus")

    assert names_by_entry(told).count("measured") == names_by_entry(told).count("adjudication+consensus") == 2
    assert [data["overall"] for data in consensus] == [0.6, 0.6]
    assert consensus[0]["gainsay"]["by"] == "model"
    assert consensus[0]["gainsay"]["measured"]["overall"] == 0.5


def test_an_adjudicator_that_is_to_be_asked_twice_settles_nothing_with_its_first_answer() -> None:
    options = replace(ADJUDICATED, swapped=True)

    agrees, differs = (played(options, adjudicating(90, again)) for again in (90, 10))

    ended = [name for name in names_by_entry(agrees) if "adjudication" in name or "swapped" in name]
    assert ended == ["adjudication", "swapped+consensus"]
    assert [data["terminated"] for data in of(stream(agrees), "consensus")] == [True]
    assert [data["terminated"] for data in of(stream(differs), "consensus")] == [False, False]
    assert all("turned round" in data["notes"] for data in of(stream(differs), "consensus"))


def test_where_the_adjudicator_stays_silent_code_measures_and_says_so() -> None:
    told = played(ADJUDICATED, fails=lambda turn, _: turn.endswith(".adjudicator.1"))

    consensus = of(stream(told), "consensus")

    assert names_by_entry(told).count("notice+consensus") == 2
    assert [data["gainsay"]["by"] for data in consensus] == ["algorithmic", "algorithmic"]


def test_a_models_scores_of_the_debaters_are_told_as_accuracy() -> None:
    (accuracy,) = of(stream(played(ADJUDICATED)), "accuracy")

    assert sorted(accuracy["scores"]) == ["model_a", "model_b"]
    assert (accuracy["gainsay"]["by"], accuracy["gainsay"]["seat"]) == ("model", "adjudicator")


# -- convergence


def converging(check: Check, facts: Any) -> Finding:
    finding = found(check, facts)
    return replace(finding, converged=True, why_not=()) if isinstance(finding, ConvergenceFound) else finding


def test_convergence_has_its_three_events_and_says_so_where_answers_have_not_converged() -> None:
    options = ConvergenceOptions(2, 1, human_review=False)

    apart = [name for name, _ in stream(played(options)) if name not in ("gate", "started", "notice")]
    at_once = [name for name, _ in stream(played(options, findings=converging)) if name.startswith("debate.")]

    asked, said = ["debate.round_started", "asked", "asked"], ["debate.response", "debate.response"]
    round_ = [*asked, *said, "citations", "citations", "passages", "passages", "convergence"]
    assert apart == [*round_, *round_, "asked", "synthesis", "passages", "final"]
    assert at_once == ["debate.round_started", *said, "debate.converged"]


def test_the_events_of_convergence_name_the_round_and_call_word_overlap_by_its_name() -> None:
    told = stream(played(ConvergenceOptions(2, 1, human_review=False)))

    started, measured = of(told, "debate.round_started"), of(told, "convergence")

    assert [(data["round"], data["independent"]) for data in started] == [(0, True), (1, False)]
    assert sorted(one["label"] for one in started[0]["debaters"]) == ["Debater A", "Debater B"]
    assert [one["seat"] for one in started[0]["debaters"]] == ["debater-1", "debater-2"]
    assert [(data["round"], data["leastOverlap"], data["similarity"]) for data in measured] == [
        (0, 0.25, 0.85),
        (1, 0.25, 0.85),
    ]
    assert measured[0]["whyNot"] == ("overlap",)


# -- stances, ballots, deciders


def test_a_judge_of_stances_gives_a_verdict_and_no_round_and_its_second_answer_has_a_name_of_its_own() -> None:
    told = stream(played("stances/1"))

    (verdict,), (swapped,), (synthesis,) = (of(told, name) for name in ("verdict", "swapped", "synthesis"))

    assert {data["seat"].partition("-")[0] for data in of(told, "round")} == {"debater"}
    assert (verdict["turn"], verdict["winner"]) == ("2.judge.1", "sign as it stands")
    assert verdict["explicitUncertainties"] == ("No court has read it.",)
    assert swapped["turn"] == "2.judge.swapped.1"
    assert synthesis["output"] == '{"decision": "sign"}'


def test_a_winner_that_combines_stances_is_null_as_in_the_reference() -> None:
    def combining(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, winner=None) if isinstance(reply, Judgement) else reply

    (verdict,) = of(stream(played("stances/1", combining)), "verdict")

    assert verdict["winner"] is None


def test_a_debaters_turn_is_told_whole_and_without_verdicts_yet() -> None:
    first, *_ = of(stream(played("ballot/1")), "round")

    assert (first["vote"], first["written"], first["phase"], first["blind"]) == ("sign", "sign", "proposal", True)
    assert "position" not in first, "a phase is no position"
    assert "verdict" not in first["arguments"][0]["citations"][0]


def test_an_abstention_has_no_vote_and_its_words() -> None:
    def torn(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, vote="I cannot say") if isinstance(reply, Ballot) else reply

    first, *_ = of(stream(played("ballot/1", torn)), "round")

    assert (first.get("vote"), first["written"]) == (None, "I cannot say")


# -- whatever happens


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 4, 1))
@given(seed=st.integers(0, 400), data=st.data())
def test_every_entry_that_says_something_has_events_that_name_it_and_every_round_is_settled_once(
    form: str, seed: int, data: st.DataObject
) -> None:
    options: Options = data.draw(formats.options(form))
    ceiling = data.draw(st.sampled_from([60_000, 10_000_000]))
    told = lines(World(seed, failing=15, refusing=3).drive(start_of(options, ceiling=ceiling)))

    by_entry = [events(line, "d1", told[:n]) for n, line in enumerate(told)]

    assert by_entry[0] == ()
    for n, of_entry in enumerate(by_entry[1:], start=1):
        assert bool(of_entry) != found_nothing(told[n].entry)
        assert {event.name for event in of_entry} <= set(get_args(EventName))
        named = [{**event.data, **event.data.get("gainsay", {})} for event in of_entry]
        assert all(each["n"] == n and each.get("debateId", each.get("debate_id")) == "d1" for each in named)
    assert [event.name for event in by_entry[-1]] == ["final"]
    consensus = [event.data["round"] for of_entry in by_entry for event in of_entry if event.name == "consensus"]
    assert consensus == [] or form == "panel/1"
    measured = {line.entry.check for line in told if isinstance(getattr(line.entry, "finding", None), ConsensusFound)}  # type: ignore[union-attr]
    assert [r for r, _ in groupby(consensus)] == consensus
    assert len(measured) - 1 <= len(consensus) <= len(measured)


@pytest.mark.parametrize("form", BETWEEN_DEBATERS)
def test_the_last_event_of_each_format_carries_the_result_that_is_answered_without_a_stream(form: str) -> None:
    told = played(form)

    (final,) = events(told[-1], "d1", told[:-1], last_record="ab" * 32)

    whole = final.data["gainsay"]["result"] if form == "panel/1" else final.data
    read = sent.as_json(summary_of(build_result("d1", told)))
    assert whole == (read if form == "panel/1" else read | {"n": told[-1].n, "at": told[-1].at})


def test_drives_are_recorded_debates_of_their_formats() -> None:
    """Guards the tests above: what they play ends as the format says."""
    ended = {form: drive(start_of(formats.plain(form)))[-1] for form in FORMATS}

    assert {form: entry.outcome.status for form, entry in ended.items()} == dict.fromkeys(FORMATS, "completed")  # type: ignore[union-attr]
