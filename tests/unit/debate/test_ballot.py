"""Format ballot/1: who speaks in which phase, when votes decide, what is counted, and the report."""

from collections import Counter
from random import Random
from sys import setprofile
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.ballot import PHASES, misfit, report_of, shown, table
from service.debate.facts import Facts
from service.debate.kernel import decide, next_move, replay
from service.debate.labels import clashing, fold, read
from service.debate.model import AdversarialOptions, Ask, BallotOptions, Cap, Debater
from service.debate.results import BallotResult, Cast, Tally
from service.debate.script import Script
from service.debate.turns import TurnId, seat_of
from tests.fixtures.debates import TURN_COST, World, a_case, drive, outcome, turns_asked
from tests.unit.debate.between import a_start, asked, asking, ballot, count_of, stopped_after, tally, voting

SEATS = ("debater-1", "debater-2", "debater-3")
SPLIT = ("release", "revise", "escalate")
ONE_FAMILY = dict.fromkeys(SEATS, "oak")
PROPOSALS = [TurnId(f"1.{seat}.proposal.1") for seat in SEATS]


# The reference's own worked examples, with its own assertions.


def test_the_first_worked_example_of_the_reference() -> None:
    entries = drive(a_start(ballot()), voting("release", "revise", "revise"))
    result = count_of(entries)

    assert result.decision == "revise"
    assert tally(result) == {"release": 1, "revise": 2}
    assert result.decision_rule == "threshold_vote"
    assert result.rounds_run == 1
    assert tuple(cast.debater for cast in result.votes) == result.speaker_schedule
    assert (
        report_of(result)
        == """debater_ids: [planner, critic, operator]
rounds_run: 1
max_rounds: 2
phase_sequence: [proposal]
consensus_threshold: 2
vote_tally: {release: 1, revise: 2}
decision: revise
decision_rule: threshold_vote
speaker_schedule: [planner, critic, operator]"""
    )


def test_the_second_worked_example_of_the_reference() -> None:
    split_result = count_of(drive(a_start(ballot()), voting(*SPLIT)))

    assert split_result.decision_rule == "max_rounds_exhausted"
    assert split_result.decision == "escalate"
    assert split_result.rounds_run == split_result.max_rounds
    assert tally(split_result) == {"release": 1, "revise": 1, "escalate": 1}


def test_the_report_of_a_ballot_of_two_rounds_names_every_phase_and_every_speaker() -> None:
    result = count_of(drive(a_start(ballot()), voting(*SPLIT)))

    phases, speakers = ", ".join(PHASES * 2), ", ".join(("planner", "critic", "operator") * 8)
    assert report_of(result).splitlines() == [
        "debater_ids: [planner, critic, operator]",
        "rounds_run: 2",
        "max_rounds: 2",
        f"phase_sequence: [{phases}]",
        "consensus_threshold: 2",
        "vote_tally: {release: 1, revise: 1, escalate: 1}",
        "decision: escalate",
        "decision_rule: max_rounds_exhausted",
        f"speaker_schedule: [{speakers}]",
    ]


def test_the_reports_nine_fields_are_those_of_the_result_under_their_own_names() -> None:
    result = count_of(drive(a_start(ballot()), voting("release", "revise", "revise")))

    names = [line.partition(":")[0] for line in report_of(result).splitlines()]
    assert names == list(get_type_hints(BallotResult))[:9]


def test_a_long_ballot_is_looked_at_with_work_that_grows_with_its_turns() -> None:
    """Every entry asks for the move again: whoever counted all votes anew after each phase would never end."""
    names = [f"name-{n}" for n in range(10)]
    entries = drive(a_start(ballot(*names, max_rounds=10, threshold=6), ceiling=10**9), voting(*SPLIT * 4))
    facts, calls = Facts.of(entries[:-1]), Counter[str]()

    setprofile(lambda _frame, event, _what: calls.update([event]))
    try:
        decide(facts)
    finally:
        setprofile(None)

    assert len(turns_asked(entries)) == 400
    assert calls["call"] < 100 * 400


# Who speaks when, and what each sees.


def test_speakers_follow_the_schedule_through_every_phase_of_every_round() -> None:
    entries = drive(a_start(ballot()), voting(*SPLIT))

    assert turns_asked(entries) == [f"{r}.{seat}.{p}.1" for r in (1, 2) for p in PHASES for seat in SEATS]
    assert all(len(asking(entries, turn).turns) == 1 for turn in turns_asked(entries)), "one at a time"


def test_each_phase_is_told_by_its_pinned_prompt() -> None:
    entries = drive(a_start(ballot(max_rounds=1)), voting(*SPLIT))

    for turn in turns_asked(entries):
        assert asked(entries, turn).fragments == (f"ballot.{turn.split('.')[2]}",)
        assert asked(entries, turn).asks == "ballot.debater"


def test_the_first_proposals_are_blind() -> None:
    entries = drive(a_start(ballot()), voting(*SPLIT))

    assert [asked(entries, turn).sees for turn in PROPOSALS] == [(), (), ()]


def test_after_the_first_proposals_everybody_sees_all_that_was_said_before() -> None:
    entries = drive(a_start(ballot()), voting(*SPLIT))
    turns = turns_asked(entries)

    for turn in turns[3:]:
        assert asked(entries, turn).sees == tuple(turns[: turns.index(turn)])


def test_debaters_know_each_other_by_number_and_never_by_name() -> None:
    started = a_start(ballot(max_rounds=1))
    entries = drive(started, voting(*SPLIT))

    labels = shown(Script(started, Facts.of(entries)), asked(entries, TurnId("1.debater-2.revision.1")))

    assert list(labels.values()) == ["Debater 1", "Debater 2", "Debater 3"] * 2 + ["Debater 1"]


def test_a_role_and_instructions_reach_the_default_prompt_and_no_other() -> None:
    debaters = (
        Debater("planner", role="You run the release."),
        Debater("critic"),
        Debater("operator", role="Ignored.", prompt="house.debater"),
    )
    entries = drive(a_start(ballot(debaters=debaters, instructions="Be brief.")), voting("release", "revise", "revise"))

    told = [(asked(entries, turn).fragments, asked(entries, turn).prompt) for turn in PROPOSALS]

    assert told == [
        (("ballot.proposal", "persona", "instructions"), ""),
        (("ballot.proposal", "instructions"), ""),
        (("ballot.proposal",), "house.debater"),
    ]


# When votes decide.


@pytest.mark.parametrize(
    ("votes", "phase"),
    [
        (("release", "revise", "revise"), "proposal"),
        (("release", ["revise", "release"], "escalate"), "critique"),
        (("release", ["revise", "revise", "release"], "escalate"), "revision"),
        (("release", ["revise", "revise", "revise", "release"], "escalate"), "consensus"),
    ],
)
def test_the_threshold_is_counted_after_every_phase(votes: tuple[str | list[str], ...], phase: str) -> None:
    entries = drive(a_start(ballot()), voting(*votes))
    result = count_of(entries)

    played = PHASES[: PHASES.index(phase) + 1]
    assert result.phase_sequence == played
    assert turns_asked(entries) == [f"1.{seat}.{p}.1" for p in played for seat in SEATS]
    assert (result.decision_rule, outcome(entries).stop_reason) == ("threshold_vote", "consensus")
    assert outcome(entries).detail == f"the votes decided after the {phase} of round 1"


def test_a_threshold_that_is_passed_within_a_phase_waits_for_its_end() -> None:
    """The first of the critiques would give one option its two votes; the next speaker takes them away again."""
    votes = (["release", "revise"], ["revise", "escalate"], ["escalate", "release"])

    entries = drive(a_start(ballot(max_rounds=1)), voting(*votes))

    assert len(turns_asked(entries)) == 12
    assert count_of(entries).decision_rule == "max_rounds_exhausted"
    assert tally(count_of(entries)) == {"revise": 1, "escalate": 1, "release": 1}


def test_only_the_latest_vote_of_each_debater_counts() -> None:
    """A debater that votes again and again is one debater."""
    first = (["release", "revise"], ["revise", "escalate"], ["escalate", "release"])

    result = count_of(drive(a_start(ballot(max_rounds=1)), voting(*first)))

    assert tally(result) == {"revise": 1, "escalate": 1, "release": 1}
    assert [one.vote for one in result.vote_tally] == ["revise", "escalate", "release"], "of planner, critic, operator"
    assert len(result.votes) == 12


def test_a_debater_that_changes_its_mind_takes_its_earlier_vote_back() -> None:
    entries = drive(a_start(ballot(max_rounds=1)), voting(["release"], ["revise", "escalate"], ["escalate"]))

    result = count_of(entries)
    assert tally(result) == {"release": 1, "escalate": 2}
    assert (result.decision, result.phase_sequence) == ("escalate", PHASES[:2])


def test_the_decision_may_come_in_a_later_round() -> None:
    entries = drive(a_start(ballot()), voting("release", [*["revise"] * 4, "release"], "escalate"))

    result = count_of(entries)
    assert (result.decision, result.rounds_run) == ("release", 2)
    assert result.phase_sequence == (*PHASES, "proposal")


@pytest.mark.parametrize(
    ("threshold", "votes", "decided"),
    [
        (2, ("release", "release", "release", "revise", "revise"), "release"),
        (2, ("revise", "revise", "release", "release", "release"), "release"),
        (1, ("release", "release", "revise"), "release"),
        (1, ("revise", "release", "release"), "release"),
        (1, ("release", "revise", "escalate", "revise"), "revise"),
        (1, ("hm", "hm", "hm", "release"), "release"),
        (1, ("hm", "hm", "revise", "release", "release"), "release"),
        (2, ("release", "release", "escalate", "escalate", "escalate"), "escalate"),
        (2, ("Release", "**release**", "RELEASE.", "revise", "revise"), "release"),
    ],
)
@pytest.mark.parametrize("phase", PHASES)
def test_of_options_at_the_threshold_the_one_with_more_votes_decides(
    phase: str, threshold: int, votes: tuple[str, ...], decided: str
) -> None:
    """The seed's ``most_common(1)``: unequal counts are no tie, whatever was voted for first."""
    options = ballot(*map(str, range(len(votes))), threshold=threshold, max_rounds=1)
    before = PHASES.index(phase)

    entries = drive(a_start(options), voting(*([*["hm"] * before, vote] for vote in votes)))
    result = count_of(entries)

    assert (result.decision, result.decision_rule, result.tied) == (decided, "threshold_vote", ())
    assert result.phase_sequence == PHASES[: before + 1]
    assert len(turns_asked(entries)) == (before + 1) * len(votes)
    assert "tied" not in outcome(entries).flags
    assert outcome(entries).human_review.required or outcome(entries).confidence_level == "MODERATE"


@pytest.mark.parametrize(
    ("threshold", "votes"),
    [
        (1, ("release", "revise", "hm")),
        (1, ("release", "release", "revise", "revise", "escalate")),
        (2, ("release", "revise", "escalate", "revise", "release")),
        (2, ("hm", "release", "revise", "release", "revise")),
    ],
)
def test_equal_counts_at_the_top_are_a_tie_whatever_is_below_them(threshold: int, votes: tuple[str, ...]) -> None:
    options = ballot(*map(str, range(len(votes))), threshold=threshold, max_rounds=1)

    result = count_of(entries := drive(a_start(options), voting(*votes)))

    assert (result.decision, result.decision_rule) == ("escalate", "max_rounds_exhausted")
    assert result.tied == ("release", "revise")
    assert "tied" in outcome(entries).flags
    assert (outcome(entries).confidence_level, outcome(entries).human_review.required) == ("LOW", True)


def test_an_option_that_leads_below_the_threshold_decides_nothing_and_is_not_tied() -> None:
    result = count_of(drive(a_start(ballot("a", "b", "c", threshold=3)), voting("release", "release", "revise")))

    assert (result.decision, result.tied) == ("escalate", ())


def test_two_options_at_the_threshold_with_equal_counts_are_a_tie_that_goes_on() -> None:
    """The reference's own code would let the option decide that was voted for first."""
    options = ballot("a", "b", "c", "d")
    votes = ("release", "release", "revise", ["revise", "release"])

    entries = drive(a_start(options), voting(*votes))

    assert count_of(entries).phase_sequence == ("proposal", "critique")
    assert tally(count_of(entries)) == {"release": 3, "revise": 1}
    assert (count_of(entries).decision, count_of(entries).tied) == ("release", ())
    assert "tied" not in outcome(entries).flags


@pytest.mark.parametrize(
    ("votes", "tied"),
    [
        (("release", "release", "revise", "revise"), ("release", "revise")),
        (("revise", "revise", "release", "release"), ("revise", "release")),
        (("release", "hm", "revise", "hm"), ("release", "revise")),
        (("release", "hm", "hm", "hm"), ()),
        (("hm", "hm", "hm", "hm"), ()),
    ],
)
def test_a_tie_that_stays_is_named_and_escalates(votes: tuple[str, ...], tied: tuple[str, ...]) -> None:
    entries = drive(a_start(ballot("a", "b", "c", "d")), voting(*votes))
    result = count_of(entries)

    assert (result.decision, result.decision_rule) == ("escalate", "max_rounds_exhausted")
    assert result.tied == tied
    assert ("tied" in outcome(entries).flags) is bool(tied)
    assert outcome(entries).stop_reason == "roundCeiling"


def test_debaters_may_vote_to_escalate() -> None:
    entries = drive(a_start(ballot()), voting("release", "escalate", "escalate"))
    end = outcome(entries)

    assert (count_of(entries).decision, count_of(entries).decision_rule) == ("escalate", "threshold_vote")
    assert end.stop_reason == "consensus"
    assert (end.confidence_level, end.human_review.required) == ("LOW", True)
    assert Cap("escalated", "LOW") in end.caps


def test_an_unresolved_ballot_goes_to_a_person() -> None:
    end = outcome(drive(a_start(ballot()), voting(*SPLIT)))

    assert (end.status, end.confidence_level) == ("completed", "LOW")
    assert end.human_review.reasons == ("escalated", "confidenceLow")


@pytest.mark.parametrize(("threshold", "decided"), [(1, True), (2, True), (3, False)])
def test_the_threshold_is_the_callers(threshold: int, decided: bool) -> None:
    result = count_of(drive(a_start(ballot(threshold=threshold)), voting("revise", "revise", "hm")))

    assert (result.decision_rule == "threshold_vote") is decided
    assert result.consensus_threshold == threshold


# Abstentions.


@pytest.mark.parametrize(
    ("written", "vote"),
    [
        ("revise", "revise"),
        ("Revise", "revise"),
        ("  REVISE \n", "revise"),
        ('"revise".', "revise"),
        ("**revise**", "revise"),
        ("‘revise’", "revise"),
        ("revised", None),
        ("I vote: revise", None),
        ("revise or release", None),
        ("not revise", None),
        ("", None),
        ("abstention", None),
    ],
)
def test_a_vote_is_read_or_is_an_abstention(written: str, vote: str | None) -> None:
    result = count_of(drive(a_start(ballot()), voting(written, "release", "release")))

    assert result.votes[0] == Cast("planner", 1, "proposal", vote, written)
    assert tally(result) == {vote or "abstention": 1, "release": 2}
    assert result.votes_cast == (3 if vote else 2)
    assert result.seats == 3


def test_abstentions_are_counted_as_such_and_never_decide() -> None:
    entries = drive(a_start(ballot()), voting("hm", "hm", "release"))

    result = count_of(entries)
    assert (result.decision, result.decision_rule) == ("escalate", "max_rounds_exhausted")
    assert "vote_tally: {abstention: 2, release: 1}" in report_of(result).splitlines()
    assert (result.votes_cast, result.seats) == (1, 3)
    assert "abstentions" in outcome(entries).flags


def test_a_debater_that_abstains_no_longer_stands_by_its_earlier_vote() -> None:
    entries = drive(
        a_start(ballot(threshold=3, max_rounds=1)), voting("release", "release", ["revise", "hm", "release"])
    )

    result = count_of(entries)
    assert [cast.vote for cast in result.votes if cast.debater == "operator"] == ["revise", None, "release"]
    assert (result.decision, result.phase_sequence) == ("release", PHASES[:3])
    assert "abstentions" not in outcome(entries).flags


@given(st.text(max_size=20), st.sampled_from(SPLIT))
def test_folding_twice_is_folding_once_and_case_and_quotes_never_tell_options_apart(text: str, option: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert read(f' "{option.upper()}" ', SPLIT) == option
    assert (read(text, SPLIT) is None) is (fold(text) not in SPLIT)


def test_names_that_fold_alike_or_to_nothing_clash() -> None:
    assert clashing(("Release", "release."))
    assert clashing(("release", "?"))
    assert not clashing(("release", "re-release", "do not release"))


# How sure a count is.


@pytest.mark.parametrize(("votes", "level"), [(("release", "", ""), "LOW"), (("release", "release", ""), "MODERATE")])
def test_a_decision_of_half_the_seats_or_fewer_is_not_sure_whatever_threshold_the_caller_set(
    votes: tuple[str, ...], level: str
) -> None:
    entries = drive(a_start(ballot(threshold=1)), voting(*votes))

    assert (outcome(entries).stop_reason, count_of(entries).decision) == ("consensus", "release")
    assert outcome(entries).confidence_level == level
    assert "confidenceLow" in outcome(entries).human_review.reasons or level == "MODERATE"
    assert outcome(entries).human_review.required


@pytest.mark.parametrize(
    ("votes", "families", "level"),
    [
        (("revise", "revise", "revise"), {}, "MODERATE"),
        (("revise", "revise", "release"), {}, "MODERATE"),
        (("revise", "revise", "hm"), {}, "MODERATE"),
        (("revise", ["release", "revise"], ["escalate", "revise"]), {}, "MODERATE"),
        (("revise", "revise", "revise"), ONE_FAMILY, "MODERATE"),
        (("escalate", "escalate", "escalate"), {}, "LOW"),
        (SPLIT, {}, "LOW"),
    ],
)
def test_the_confidence_follows_from_the_count(
    votes: tuple[str | list[str], ...], families: dict[str, str], level: str
) -> None:
    assert outcome(drive(a_start(ballot(), families), voting(*votes))).confidence_level == level


@pytest.mark.parametrize(
    ("families", "flags", "caps", "models", "counted"),
    [
        (ONE_FAMILY, ("oneModel", "oneFamily"), (Cap("oneModel", "MODERATE"),), 1, 1),
        ({**ONE_FAMILY, "debater-3": "elm"}, (), (), 2, 2),
        ({}, (), (), 3, 3),
    ],
)
def test_role_labels_over_one_family_are_no_independent_voices(
    families: dict[str, str], flags: tuple[str, ...], caps: tuple[Cap, ...], models: int, counted: int
) -> None:
    entries = drive(a_start(ballot(), families), voting("revise", ["release", "revise"], ["escalate", "revise"]))

    assert outcome(entries).flags == flags
    assert outcome(entries).caps == caps
    assert (count_of(entries).models, count_of(entries).families) == (models, counted)


def test_several_models_of_one_family_are_flagged_as_one_family() -> None:
    started = a_start(ballot(), ONE_FAMILY)
    seats = tuple(replace(plan, model=f"oak-{i}", model_name=f"oak-{i}") for i, plan in enumerate(started.seats))

    entries = drive(replace(started, seats=seats), voting("revise", ["release", "revise"], ["escalate", "revise"]))

    assert outcome(entries).flags == ("oneFamily",)
    assert outcome(entries).caps == (Cap("oneFamily", "MODERATE"),)
    assert (count_of(entries).models, count_of(entries).families) == (3, 1)


def test_a_ballot_that_decides_before_anybody_has_read_another_was_not_challenged_and_a_person_looks() -> None:
    entries = drive(a_start(ballot()), voting("revise", "revise", "revise"))

    assert count_of(entries).phase_sequence == PHASES[:1]
    assert outcome(entries).flags == ("decidedBlind",)
    assert outcome(entries).caps == (Cap("decidedBlind", "MODERATE"),)
    assert outcome(entries).human_review.reasons == ("decidedBlind",)


def test_the_blind_proposals_are_kept_apart_from_what_came_of_them() -> None:
    result = count_of(drive(a_start(ballot()), voting(["release", "revise"], "revise", ["escalate", "revise"])))

    assert result.blind_tally == (Tally("release", 1), Tally("revise", 1), Tally("escalate", 1))
    assert result.vote_tally == (Tally("revise", 3),)


# Money, silence, stops.


def test_a_ballot_whose_money_ends_escalates_with_what_was_counted() -> None:
    entries = drive(a_start(ballot(threshold=3), ceiling=5 * TURN_COST + 250), voting("release", "revise", "revise"))
    end, result = outcome(entries), count_of(entries)

    assert len(turns_asked(entries)) == 5
    assert (end.status, end.stop_reason, end.confidence_level) == ("truncated", "budget", "LOW")
    assert (result.decision, result.decision_rule) == ("escalate", "cut_short")
    assert tally(result) == {"release": 1, "revise": 2}
    assert result.phase_sequence == ("proposal", "critique")
    assert len(result.speaker_schedule) == 5
    assert all(asking(entries, turn).holding == () for turn in turns_asked(entries)), "nobody closes a ballot"


def test_votes_that_would_have_been_enough_decide_nothing_in_a_phase_that_was_cut_short() -> None:
    entries = drive(a_start(ballot(), ceiling=2 * TURN_COST + 250), voting("revise", "revise", "revise"))

    assert tally(count_of(entries)) == {"revise": 2}
    assert (count_of(entries).decision, outcome(entries).status) == ("escalate", "truncated")


def test_a_silent_seat_fails_the_ballot_and_counts_for_nothing() -> None:
    entries = drive(
        a_start(ballot()), voting("revise", "revise", "revise"), fails=lambda turn, _: turn.startswith("1.debater-3")
    )

    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
    assert (count_of(entries).decision, tally(count_of(entries))) == ("escalate", {"revise": 2})
    assert (count_of(entries).votes_cast, count_of(entries).seats) == (2, 3)


@pytest.mark.parametrize(("by", "status"), [("abort", "aborted"), ("deadline", "truncated")])
def test_a_stopped_ballot_decides_nothing_whatever_its_votes(by: str, status: str) -> None:
    entries = drive(a_start(ballot()), voting("revise", "revise", "revise"), stops=stopped_after(PROPOSALS[2], by))

    assert outcome(entries).status == status
    assert (count_of(entries).decision, count_of(entries).decision_rule) == ("escalate", "cut_short")
    assert tally(count_of(entries)) == {"revise": 3}


def test_a_ballot_in_which_nobody_spoke_has_an_empty_report() -> None:
    result = count_of(drive(a_start(ballot(), ceiling=0), voting(*SPLIT)))

    assert report_of(result).splitlines()[5:] == [
        "vote_tally: {}",
        "decision: escalate",
        "decision_rule: cut_short",
        "speaker_schedule: []",
    ]
    assert (result.rounds_run, result.phase_sequence) == (0, ())


def test_every_rationale_is_checked_before_the_next_debater_sees_it() -> None:
    entries = drive(a_start(ballot()), voting("release", "revise", "revise"))

    checks = [e.check for e in entries if hasattr(e, "check")]
    proposals = (f"{turn}/{kind}" for turn in PROPOSALS for kind in ("citations", "texts"))
    assert checks == ["case/injection", *proposals, "debate/voices"]


# What may start.


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (ballot("one"), "a debate has 2 to 10 debaters, found 1"),
        (ballot(*map(str, range(11))), "a debate has 2 to 10 debaters, found 11"),
        (ballot(max_rounds=0), "a debate has 1 to 10 rounds, found maxRounds 0"),
        (ballot(max_rounds=11), "a debate has 1 to 10 rounds, found maxRounds 11"),
        (ballot("a", "a"), "debaters have distinct names of one printable line, found ['a', 'a']"),
        (ballot("a", "b\nc"), "debaters have distinct names of one printable line, found ['a', 'b\\nc']"),
        (ballot(votes=("release",)), "votes are at least one option and 'escalate', found ['release']"),
        (ballot(votes=("escalate",)), "votes are at least one option and 'escalate', found ['escalate']"),
        (
            ballot(votes=("Go", "go", "escalate")),
            "votes differ in more than case and punctuation; none is 'abstention', found ['Go', 'go', 'escalate']",
        ),
        (
            ballot(votes=("Abstention", "escalate")),
            "votes differ in more than case and punctuation; none is 'abstention', found ['Abstention', 'escalate']",
        ),
        (ballot(threshold=0), "a threshold is 1 to 3 votes, found consensusThreshold 0"),
        (ballot(threshold=4), "a threshold is 1 to 3 votes, found consensusThreshold 4"),
        (AdversarialOptions(1, 6, 6, False), "expected the options of ballot/1, found those of another format"),
    ],
)
def test_what_makes_no_ballot_may_not_start(options: BallotOptions | AdversarialOptions, why: str) -> None:
    assert misfit(replace(a_start(ballot()), options=options)) == why


def test_every_debater_has_a_plan() -> None:
    started = a_start(ballot())

    assert misfit(started) is None
    assert misfit(replace(started, seats=started.seats[:2])) == "no plan for the seats ['debater-3']"


# The table.


def test_the_table_says_who_is_asked_how_often_and_what_a_ballot_begins_with() -> None:
    seated = table(ballot())
    entries = drive(a_start(ballot()), voting(*SPLIT))

    assert seated.usual == Counter(seat_of(turn) for turn in turns_asked(entries))
    assert [turn.id for turn in seated.beginning] == PROPOSALS
    assert [asked(entries, turn) for turn in PROPOSALS] == list(seated.beginning)
    assert seated.closing == ()
    assert {frozenset(pair) for pair in seated.apart} == {frozenset((a, b)) for a in SEATS for b in SEATS if a != b}


# Whatever happens.


@pytest.mark.replay
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(2, 5),
    rounds=st.integers(1, 2),
    threshold=st.integers(1, 5),
    ceiling=st.integers(0, 45),
    failing=st.integers(0, 20),
    one=st.booleans(),
)
def test_whatever_is_voted_fails_or_is_refused_what_was_counted_is_what_was_cast(
    seed: int, count: int, rounds: int, threshold: int, ceiling: int, failing: int, one: bool
) -> None:
    names = [f"name-{n}" for n in range(1, count + 1)]
    options = ballot(*names, max_rounds=rounds, threshold=min(threshold, count))
    world, rng = World(seed, failing=failing, refusing=2), Random(seed)
    choices = ("Release", "revise.", "escalate", "who knows")
    votes = [[rng.choice(choices) for _ in range(8)] for _ in names]
    seats = {f"debater-{n}": "oak" for n in range(1, count + 1)} if one else None

    entries = drive(
        a_start(options, seats, ceiling=ceiling * TURN_COST),
        voting(*votes),
        findings=world.findings,
        fails=world.fails,
        used=world.used,
        refuses=world.refuses,
        order=Random(seed),
    )

    replay(a_case(), entries)
    result, end = count_of(entries), outcome(entries)
    spoken = list(dict.fromkeys(turns_asked(entries)))
    scheduled = [f"{r}.debater-{k}.{p}.1" for r in range(1, rounds + 1) for p in PHASES for k in range(1, count + 1)]
    assert spoken == scheduled[: len(spoken)]
    latest = Counter({cast.debater: cast.vote or "abstention" for cast in result.votes}.values())
    assert tally(result) == dict(latest)
    assert result.votes_cast <= len(set(result.speaker_schedule)) <= result.seats
    if result.decision_rule == "threshold_vote":
        named = Counter({v: n for v, n in latest.items() if v != "abstention"}).most_common(2)
        assert named[0][0] == result.decision
        assert named[0][1] >= options.consensus_threshold
        assert len(named) == 1 or named[1][1] < named[0][1]
        assert not result.tied
        assert len(result.votes) % count == 0, "at the end of a phase"
    else:
        assert result.decision == "escalate"
        assert end.human_review.required
    assert end.confidence_level != "HIGH" or result.families > 1
    for n in range(3, len(entries)):
        move = next_move(a_case(), entries[:n])
        assert not isinstance(move, Ask) or move.holding == ()
