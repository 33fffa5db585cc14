"""Format adversarial/1: who is asked, what each seat sees, when a debate ends and with what outcome."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.adversarial import moderated, table
from service.debate.entries import BudgetRefused, DebateStarted, Entry, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, CitationVerdict, CritiqueFound, Finding, StrikeReason
from service.debate.kernel import decide, next_move
from service.debate.model import (
    Ask,
    Cap,
    Check,
    Conclude,
    RankedPosition,
    Turn,
    TurnId,
    ValidationFailure,
    labels,
    seat_of,
)
from service.debate.replies import Critique, Framing, Moderation, Reply
from service.debate.script import Script
from service.debate.suspicions import InjectionFound, Suspicion
from service.debate.turns import turn_id
from service.money import Usage
from tests.fixtures.debates import (
    TURN_COST,
    World,
    a_case,
    a_start,
    canned,
    drive,
    found,
    moderation,
    outcome,
    turns_asked,
)


def rated(*strengths: int) -> Callable[[Turn, Facts], Reply]:
    """Canned replies, but the critic rates itself so, take by take and round by round; the last rating stays."""
    left = list(strengths)

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        if isinstance(said, Critique):
            return replace(said, challenge_strength=left.pop(0) if len(left) > 1 else left[0])
        return said

    return reply


def never_satisfied(turn: Turn, facts: Facts) -> Reply:
    """Canned replies, but the moderator always recommends another round."""
    return moderation(turn, another=True) if turn.seat == "moderator" else canned(turn, facts)


def never_satisfied_and_weak(turn: Turn, facts: Facts) -> Reply:
    """As before, and the critic always rates itself 3."""
    return never_satisfied(turn, facts) if turn.seat == "moderator" else rated(3)(turn, facts)


def finding_weak(*checks: str) -> Callable[[Check, Facts], Finding]:
    """Code finds these critiques weak."""

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        weak = check.id in checks and isinstance(finding, CritiqueFound)
        return replace(finding, weak=("littleNovelty",)) if weak else finding

    return findings


def asked(entries: Sequence[Entry], turn: TurnId) -> Turn:
    """The turn as the kernel asked for it."""
    n = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == turn)
    move = decide(Facts.of(entries[:n]))
    assert isinstance(move, Ask)
    return next(due for due in move.turns if due.id == turn)


# The reference's own unit tests, section 13.1, under its own names.


def test_critic_retry_logic_a_strength_of_four_is_asked_again_with_the_stronger_instruction() -> None:
    entries = drive(a_start(), rated(4, 8))

    assert turns_asked(entries) == [
        "0.framing.1",
        "1.proposer.1",
        "1.critic.1",
        "1.critic.2",
        "1.rebuttal.1",
        "1.moderator.1",
    ]
    assert "critic.retry" not in asked(entries, TurnId("1.critic.1")).fragments
    assert "critic.retry" in asked(entries, TurnId("1.critic.2")).fragments
    assert asked(entries, TurnId("1.critic.2")).sees[-1] == TurnId("1.critic.1")
    assert outcome(entries).status == "completed"


def test_cost_ceiling_known_token_costs_end_the_debate_when_it_is_reached() -> None:
    costs = {"0.framing.1": 1_000, "1.proposer.1": 3_000, "1.critic.1": 3_000, "1.moderator.1": 2_500}
    # Framing and proposer leave 11,500: enough for the critic and its closing in two takes, then too little for the
    # rebuttal and its closing.
    started = a_start(ceiling=15_500)

    entries = drive(started, used=lambda turn: Usage(costs[turn], 0))

    (refusal,) = (entry for entry in entries if isinstance(entry, BudgetRefused))
    assert refusal == BudgetRefused((TurnId("1.rebuttal.1"),), "debateCeiling", 3 * 3_250, 15_500 - 7_000)
    assert turns_asked(entries)[-1] == "1.moderator.1"
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("truncated", "budget")
    assert "DEBATE_TRUNCATED" in outcome(entries).flags
    assert outcome(entries).final_turn == "1.moderator.1"


def test_round_ceiling_two_rounds_end_a_debate_whose_moderator_always_wants_another() -> None:
    entries = drive(a_start(2), never_satisfied)

    assert [turn for turn in turns_asked(entries) if "moderator" in turn] == ["1.moderator.1", "2.moderator.1"]
    assert not any(turn.startswith("3.") for turn in turns_asked(entries))
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "roundCeiling")
    assert outcome(entries).detail == "ended after round 2 of at most 2"


# Rounds.


def test_a_debate_ends_when_its_moderator_wants_no_other_round() -> None:
    entries = drive(a_start(3))

    assert turns_asked(entries)[-1] == "1.moderator.1"
    assert outcome(entries).stop_reason == "moderatorSatisfied"


def test_each_round_is_a_proposition_a_critique_a_rebuttal_and_a_moderation() -> None:
    entries = drive(a_start(3), never_satisfied)

    seats = [seat_of(turn) for turn in turns_asked(entries)]

    assert seats == ["framing", *["proposer", "critic", "rebuttal", "moderator"] * 3]


def test_a_debate_does_not_end_before_all_evidence_was_introduced() -> None:
    entries = drive(a_start(3), case=a_case(1, 2))

    assert turns_asked(entries)[-1] == "2.moderator.1"
    assert outcome(entries).stop_reason == "moderatorSatisfied"


def test_new_evidence_is_named_to_those_who_argue_and_must_say_how_it_moved_them() -> None:
    entries = drive(a_start(2), never_satisfied, case=a_case(1, 2))

    told = {turn for turn in turns_asked(entries) if "evidence" in asked(entries, turn).fragments}
    shifts = {e.turn: getattr(e.reply, "shift", None) for e in entries if isinstance(e, TurnSpoke)}

    assert told == {"2.proposer.1", "2.critic.1", "2.rebuttal.1"}
    assert {turn for turn, shift in shifts.items() if shift} == told


# The critic.


@pytest.mark.parametrize(("strength", "again"), [(1, True), (5, True), (6, False), (10, False)])
def test_a_critique_is_asked_again_below_six(strength: int, again: bool) -> None:
    entries = drive(a_start(), rated(strength))

    assert ("1.critic.2" in turns_asked(entries)) is again


def test_a_critique_that_code_finds_empty_is_asked_again_however_it_rates_itself() -> None:
    entries = drive(a_start(), rated(10), findings=finding_weak("1.critic.1/critique"))

    assert "1.critic.2" in turns_asked(entries)
    assert "critiqueWeak" not in outcome(entries).flags


def test_a_critique_is_never_asked_a_third_time() -> None:
    entries = drive(a_start(), rated(1), findings=finding_weak("1.critic.1/critique", "1.critic.2/critique"))

    assert [turn for turn in turns_asked(entries) if "critic" in turn] == ["1.critic.1", "1.critic.2"]
    assert "critiqueWeak" in outcome(entries).flags
    assert Cap("critiqueWeak", "MODERATE") in outcome(entries).caps


@pytest.mark.parametrize(
    ("strengths", "flags"),
    [
        ((8,), ()),
        ((5, 8), ()),
        ((4, 8), ("promptReview",)),
        ((5, 5), ("critiqueWeak",)),
        ((4, 5), ("critiqueWeak", "promptReview")),
        ((5, 4), ("critiqueWeak", "promptReview")),
    ],
)
def test_the_flags_say_how_the_critic_did(strengths: tuple[int, ...], flags: tuple[str, ...]) -> None:
    entries = drive(a_start(), rated(*strengths))

    assert outcome(entries).flags == flags


def test_a_critique_that_was_asked_again_is_seen_by_nobody_but_its_critic() -> None:
    entries = drive(a_start(2), never_satisfied_and_weak)

    seen_by = {turn: asked(entries, turn).sees for turn in turns_asked(entries)}

    assert {turn for turn, sees in seen_by.items() if "1.critic.1" in sees} == {"1.critic.2"}
    assert {turn for turn, sees in seen_by.items() if "1.critic.2" in sees} == {
        "1.rebuttal.1",
        "1.moderator.1",
        "2.proposer.1",
        "2.critic.1",
        "2.critic.2",
        "2.rebuttal.1",
        "2.moderator.1",
    }


def test_a_critiques_check_is_over_the_proposals_then_its_own_former_words_then_itself() -> None:
    entries = drive(a_start(2), never_satisfied_and_weak, case=a_case(1))

    over: dict[str, tuple[TurnId, ...]] = {}
    for n in range(3, len(entries)):
        move = next_move(a_case(1), entries[:n])
        over |= {c.id: c.over for c in getattr(move, "checks", ()) if c.kind == "critique"}

    assert over == {
        "1.critic.1/critique": ("1.proposer.1", "1.critic.1"),
        "1.critic.2/critique": ("1.proposer.1", "1.critic.1", "1.critic.2"),
        "2.critic.1/critique": ("2.proposer.1", "1.critic.1", "1.critic.2", "2.critic.1"),
        "2.critic.2/critique": ("2.proposer.1", "1.critic.1", "1.critic.2", "2.critic.1", "2.critic.2"),
    }


# Who sees what.


def test_a_seat_sees_the_framing_and_what_came_before_it() -> None:
    entries = drive(a_start(2), never_satisfied)

    sees = {turn: asked(entries, turn).sees for turn in turns_asked(entries)}
    first = ("1.proposer.1", "1.critic.1", "1.rebuttal.1", "1.moderator.1")

    assert sees[TurnId("0.framing.1")] == ()
    assert sees[TurnId("1.proposer.1")] == (TurnId("0.framing.1"),)
    assert sees[TurnId("1.critic.1")] == (TurnId("0.framing.1"), TurnId("1.proposer.1"))
    assert sees[TurnId("1.rebuttal.1")] == (TurnId("0.framing.1"), TurnId("1.proposer.1"), TurnId("1.critic.1"))
    assert sees[TurnId("2.proposer.1")] == (TurnId("0.framing.1"), *first)
    assert sees[TurnId("2.critic.1")] == (TurnId("0.framing.1"), *first, TurnId("2.proposer.1"))
    assert sees[TurnId("2.rebuttal.1")] == (TurnId("0.framing.1"), *first, TurnId("2.proposer.1"), TurnId("2.critic.1"))


def test_the_moderator_sees_every_party_and_none_of_its_own_evaluations() -> None:
    entries = drive(a_start(2), never_satisfied)

    sees = asked(entries, TurnId("2.moderator.1")).sees

    assert sees[0] == "0.framing.1"
    assert set(sees[1:]) == {f"{r}.{seat}.1" for r in (1, 2) for seat in ("proposer", "critic", "rebuttal")}


def test_proposers_of_several_positions_are_asked_at_once_and_do_not_see_each_other() -> None:
    positions = ("adopt-x", "adopt-y", "defer")
    entries = drive(a_start(2, positions=positions), never_satisfied)

    for seat in ("proposer", "rebuttal"):
        for r in (1, 2):
            siblings = {TurnId(f"{r}.{seat}.{position}.1") for position in positions}
            for turn in siblings:
                assert not siblings & set(asked(entries, turn).sees)
    assert asked(entries, TurnId("1.proposer.defer.1")).sees == (TurnId("0.framing.1"),)
    assert asked(entries, TurnId("1.rebuttal.defer.1")).sees == (
        TurnId("0.framing.1"),
        TurnId("1.proposer.defer.1"),
        TurnId("1.critic.1"),
    )
    assert set(asked(entries, TurnId("1.critic.1")).sees) == {
        TurnId("0.framing.1"),
        *(TurnId(f"1.proposer.{p}.1") for p in positions),
    }


def test_the_labels_of_the_moderator_are_neutral_and_in_an_order_that_the_seed_draws() -> None:
    by_seed = {seed: labels(asked(drive(a_start(seed=f"{seed:064x}")), TurnId("1.moderator.1"))) for seed in range(60)}

    orders = {tuple(shown) for shown in by_seed.values()}
    first = [next(iter(shown)) for shown in by_seed.values()]

    assert all(set(shown) == {"proposer", "critic", "rebuttal"} for shown in by_seed.values())
    assert all(list(shown.values()) == ["Statement 1", "Statement 2", "Statement 3"] for shown in by_seed.values())
    assert len(orders) == 6, "every order comes up"
    assert min(first.count(seat) for seat in set(first)) > 8, "no seat is nearly always or never first"


def test_a_partys_label_is_the_same_in_every_round_that_one_moderation_is_shown() -> None:
    turn = asked(drive(a_start(3), never_satisfied), TurnId("3.moderator.1"))

    parties = [seat_of(seen) for seen in turn.sees[1:]]

    assert parties[:3] == parties[3:6] == parties[6:]


def test_personas_and_positions_are_told_by_pinned_fragments() -> None:
    entries = drive(a_start(positions=("adopt", "defer"), personas=("critic",)))

    fragments = {turn: asked(entries, turn).fragments for turn in turns_asked(entries)}

    assert fragments == {
        "0.framing.1": (),
        "1.proposer.adopt.1": ("proposer.position",),
        "1.proposer.defer.1": ("proposer.position",),
        "1.critic.1": ("critic.positions", "persona"),
        "1.rebuttal.adopt.1": ("rebuttal.position",),
        "1.rebuttal.defer.1": ("rebuttal.position",),
        "1.moderator.1": ("moderator.positions",),
    }


# The closing reserve.


def in_two_takes(*sees: str) -> list[set[str]]:
    """What a moderation sees, and its second take, which sees the first one too."""
    return [{*sees}, {*sees, "1.moderator.1"}]


def test_every_ask_after_the_framing_holds_the_moderation_that_would_close_it() -> None:
    entries = drive(a_start(), rated(3))

    holding: dict[TurnId, list[set[TurnId]]] = {}
    for n in range(3, len(entries)):
        move = next_move(a_case(), entries[:n])
        if isinstance(move, Ask):
            holding |= {turn.id: [set(held.sees) for held in move.holding] for turn in move.turns}

    assert holding == {
        "0.framing.1": [],
        "1.proposer.1": in_two_takes("0.framing.1", "1.proposer.1"),
        "1.critic.1": in_two_takes("0.framing.1", "1.proposer.1", "1.critic.1"),
        "1.critic.2": in_two_takes("0.framing.1", "1.proposer.1", "1.critic.2"),
        "1.rebuttal.1": in_two_takes("0.framing.1", "1.proposer.1", "1.critic.2", "1.rebuttal.1"),
        "1.moderator.1": [],
    }


@given(st.integers(0, 2**32), st.integers(3_250, 60_000), st.sampled_from([(), ("a", "a.b")]))
def test_a_truncated_debate_that_said_anything_is_moderated(seed: int, ceiling: int, positions: Any) -> None:
    world = World(seed, another=80)

    entries = world.drive(a_start(3, ceiling=ceiling, positions=positions))

    proposed = any("proposer" in turn for turn in turns_asked(entries))
    assert (outcome(entries).final_turn is not None) is proposed


def test_money_that_ends_in_a_later_round_is_closed_on_all_that_was_said() -> None:
    entries = drive(a_start(2), never_satisfied, refuses=lambda turns: turns == ("2.critic.1",))

    closing = asked(entries, TurnId("2.moderator.1"))

    assert set(closing.sees) == {"0.framing.1", "1.proposer.1", "1.critic.1", "1.rebuttal.1", "2.proposer.1"}
    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", "2.moderator.1")


def test_money_that_ends_before_a_round_said_anything_leaves_the_last_moderation_standing() -> None:
    entries = drive(a_start(2), never_satisfied, refuses=lambda turns: turns == ("2.proposer.1",))

    assert turns_asked(entries)[-1] == "1.moderator.1"
    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", "1.moderator.1")


def test_money_that_ends_before_the_framing_leaves_nothing_to_moderate() -> None:
    entries = drive(a_start(ceiling=TURN_COST))

    assert turns_asked(entries) == []
    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", None)
    assert outcome(entries).confidence_level == "LOW"


def test_a_second_refusal_concludes_without_moderation() -> None:
    entries = drive(a_start(), refuses=lambda turns: turns in (("1.rebuttal.1",), ("1.moderator.1",)))

    assert turns_asked(entries)[-1] == "1.critic.1"
    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", None)


def test_a_refused_retry_of_the_critic_leaves_its_first_critique_standing() -> None:
    entries = drive(a_start(), rated(3), refuses=lambda turns: turns == ("1.critic.2",))

    assert set(asked(entries, TurnId("1.moderator.1")).sees) == {
        TurnId("0.framing.1"),
        TurnId("1.proposer.1"),
        TurnId("1.critic.1"),
    }
    assert outcome(entries).flags == ("DEBATE_TRUNCATED", "critiqueWeak", "promptReview")


def test_a_closing_seat_that_stays_silent_leaves_the_debate_truncated() -> None:
    entries = drive(
        a_start(),
        refuses=lambda turns: turns == ("1.rebuttal.1",),
        fails=lambda turn, _: turn == "1.moderator.1",
    )

    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", None)


# The outcome.


def concluding(**conclusions: str) -> Callable[[Turn, Facts], Reply]:
    """Canned replies with these conclusions by seat."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        return said if isinstance(said, Framing) else replace(said, conclusion=conclusions.get(turn.seat, "modified"))

    return reply


@pytest.mark.parametrize("proposer", ["upheld", "modified", "rejected"])
@pytest.mark.parametrize("moderator", ["upheld", "modified", "rejected"])
def test_a_debate_agrees_with_its_first_proposal_when_both_conclude_the_same(proposer: str, moderator: str) -> None:
    entries = drive(a_start(), concluding(proposer=proposer, moderator=moderator))

    assert outcome(entries).conclusion == moderator
    assert outcome(entries).agrees_with_first_proposal is (proposer == moderator)


def test_the_first_proposal_and_no_later_one_is_what_a_debate_agrees_with() -> None:
    def turning(turn: Turn, facts: Facts) -> Reply:
        if turn.seat == "moderator":
            return replace(moderation(turn, another=True), conclusion="rejected")
        return concluding(proposer="upheld" if turn.round == 1 else "rejected")(turn, facts)

    entries = drive(a_start(2), turning)

    assert outcome(entries).agrees_with_first_proposal is False


def test_seats_of_one_mind_are_flagged() -> None:
    same = drive(a_start(), concluding(proposer="upheld", critic="upheld", rebuttal="upheld", moderator="upheld"))
    not_same = drive(a_start(), concluding(proposer="upheld", critic="upheld", rebuttal="upheld", moderator="modified"))

    assert "sameConclusion" in outcome(same).flags
    assert "sameConclusion" not in outcome(not_same).flags


def _unverified(*turns: TurnId, uncited: bool = False) -> Callable[[Check, Facts], Finding]:
    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if not isinstance(finding, CitationsFound) or not set(turns) & set(check.over):
            return finding
        first = finding.arguments[0]
        reason: StrikeReason = "uncited" if uncited else "unverified_citation"
        verdicts = first.verdicts if uncited else (CitationVerdict("not_found", found_in="D2"),)
        return CitationsFound((replace(first, verdicts=verdicts, struck=reason), *finding.arguments[1:]))

    return findings


def test_a_fabricated_citation_is_a_critical_validation_failure_and_caps_the_confidence() -> None:
    entries = drive(a_start(), findings=_unverified(TurnId("1.critic.1")))

    assert outcome(entries).critical_validation_failures == (
        ValidationFailure(TurnId("1.critic.1"), 1, "not_found", "except for breach of clause 12", "D1", "D2"),
    )
    assert outcome(entries).caps == (Cap("criticalValidationFailure", "MODERATE"),)
    assert outcome(entries).confidence_level == "MODERATE"
    assert outcome(entries).human_review.reasons == ("criticalValidationFailure",)


def test_evidence_without_a_citation_is_a_critical_validation_failure_too() -> None:
    entries = drive(a_start(), findings=_unverified(TurnId("1.proposer.1"), uncited=True))

    assert ValidationFailure(TurnId("1.proposer.1"), 1, "uncited") in outcome(entries).critical_validation_failures


def test_a_fabrication_in_a_critique_that_was_asked_again_is_still_shown() -> None:
    entries = drive(a_start(), rated(3, 8), findings=_unverified(TurnId("1.critic.1")))

    assert [failure.turn for failure in outcome(entries).critical_validation_failures] == ["1.critic.1"]


def test_a_suspicious_document_caps_the_confidence_at_low() -> None:
    def findings(check: Check, facts: Facts) -> Finding:
        suspicious = InjectionFound((Suspicion("document", (0, 5), "address", "Words", "D1"),))
        return suspicious if check.kind == "injection" else found(check, facts)

    entries = drive(a_start(), findings=findings)

    assert "injectionSuspected" in outcome(entries).flags
    assert outcome(entries).confidence_level == "LOW"
    assert outcome(entries).human_review.reasons == ("injectionSuspected", "confidenceLow")


def test_a_decider_of_the_proposers_family_caps_the_confidence() -> None:
    started = a_start(moderator_family="oak")
    other = replace(started.seat("moderator"), model="oak-2", model_name="oak-2")

    entries = drive(replace(started, seats=tuple(other if p.seat == "moderator" else p for p in started.seats)))

    assert outcome(entries).caps == (Cap("moderatorOfProposersFamily", "MODERATE"),)


@given(st.integers(0, 2**32), st.sampled_from([10_000_000, 30_000]), st.integers(0, 2))
def test_code_only_ever_lowers_the_confidence_and_then_asks_for_a_person(seed: int, ceiling: int, rounds: int) -> None:
    order = ("LOW", "MODERATE", "HIGH")
    world = World(seed, failing=20, refusing=5)

    entries = world.drive(a_start(rounds + 1, ceiling=ceiling))

    end = outcome(entries)
    said = Facts.of(entries).said.get(end.final_turn or TurnId(""))
    assert end.confidence_level is not None
    allowed = [order.index(cap.at_most) for cap in end.caps]
    own = order.index(said.confidence_level) if isinstance(said, Moderation) else 0
    assert order.index(end.confidence_level) == min([own, *allowed])
    assert end.human_review.required == bool(end.caps or end.confidence_level == "LOW")


def test_a_clean_debate_needs_no_person_unless_policy_says_so() -> None:
    assert not outcome(drive(a_start())).human_review.required
    assert outcome(drive(a_start(human_review=True))).human_review.reasons == ("policy",)


def test_positions_are_ranked_in_the_moderators_order_with_their_scores() -> None:
    positions = ("adopt-x", "adopt-y", "defer")
    entries = drive(a_start(positions=positions), _scoring)

    shown = labels(asked(entries, TurnId("1.moderator.1")))
    by_label = sorted((label, who) for who, label in shown.items() if who.startswith("proposer."))

    assert outcome(entries).ranking == tuple(
        RankedPosition(rank, who.removeprefix("proposer."), int(label[-1]))
        for rank, (label, who) in enumerate(by_label, start=1)
    )
    assert {ranked.position for ranked in outcome(entries).ranking} == set(positions)
    assert outcome(entries).agrees_with_first_proposal is None
    assert "sameConclusion" not in outcome(entries).flags


def _scoring(turn: Turn, facts: Facts) -> Reply:
    """A moderation that scores each label with its own number."""
    if turn.seat == "moderator":
        return moderation(turn, scores=lambda label: int(label[-1]))
    return canned(turn, facts)


def test_a_silent_moderator_fails_the_debate_and_no_earlier_moderation_counts_as_high() -> None:
    entries = drive(a_start(2), never_satisfied, fails=lambda turn, _: turn == "2.moderator.1")

    end = outcome(entries)

    assert (end.status, end.stop_reason, end.final_turn) == ("failed", "seatSilent", "1.moderator.1")
    assert end.detail == "2.moderator.1 stayed silent: it failed too often"
    assert (end.confidence_level, end.caps) == ("LOW", (Cap("incomplete", "LOW"),))


def test_concluding_twice_gives_the_recorded_outcome() -> None:
    entries = drive(a_start())

    assert next_move(a_case(), entries) == Conclude(outcome(entries))


# The last moderation asked for again, with the order turned round.


def swapping(max_rounds: int = 1, positions: Sequence[str] = (), **others: Any) -> DebateStarted:
    """A debate whose moderator is asked twice."""
    started = a_start(max_rounds, positions=positions, **others)
    return replace(started, options=replace(started.options, swapped=True))


def moderating(first: str, second: str, another: bool = False) -> Callable[[Turn, Facts], Reply]:
    """Canned replies, but the moderator concludes so, and otherwise when it is asked again."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        if turn.seat != "moderator":
            return canned(turn, facts)
        again = ".swapped." in turn.id
        return replace(moderation(turn, another=another), conclusion=second if again else first)

    return reply


def test_the_moderator_is_asked_again_after_the_last_round_alone_and_only_where_the_options_say_so() -> None:
    swapped = drive(swapping(3), never_satisfied)
    plain = drive(a_start(3), never_satisfied)

    assert turns_asked(swapped) == [*turns_asked(plain), "3.moderator.swapped.1"]
    assert turns_asked(drive(swapping(3)))[-2:] == ["1.moderator.1", "1.moderator.swapped.1"]
    assert not any("swapped" in turn for turn in turns_asked(plain))


def test_it_sees_the_same_with_the_parties_of_each_round_in_the_reverse_order_and_labels_anew() -> None:
    entries = drive(swapping(2), never_satisfied)
    first, again = asked(entries, TurnId("2.moderator.1")), asked(entries, TurnId("2.moderator.swapped.1"))

    assert first.sees[0] == again.sees[0] == "0.framing.1"
    assert again.sees[1:4] == first.sees[3:0:-1]
    assert again.sees[4:] == first.sees[:3:-1]
    assert list(labels(again)) == list(labels(first))[::-1]
    assert list(labels(again).values()) == ["Statement 1", "Statement 2", "Statement 3"]
    assert again.fragments == first.fragments


def test_no_later_seat_sees_a_moderation_in_the_other_order() -> None:
    entries = drive(swapping(2), never_satisfied)

    assert not any(".swapped." in seen for turn in turns_asked(entries) for seen in asked(entries, turn).sees)


def test_what_a_moderation_saw_is_read_back_in_its_own_order() -> None:
    started = swapping(positions=("adopt", "defer"))
    script = Script(started, Facts.of(drive(started)))

    first, again = (moderated(script, turn_id(1, "moderator", phase)) for phase in ("", "swapped"))

    assert list(first) == list(again)[::-1]
    assert first != again


def test_the_same_conclusion_in_the_other_order_stands() -> None:
    end = outcome(drive(swapping(), moderating("upheld", "upheld")))

    assert (end.conclusion, end.confidence_level, end.final_turn) == ("upheld", "HIGH", "1.moderator.1")
    assert (end.flags, end.caps) == ((), ())


def test_another_conclusion_in_the_other_order_is_no_conclusion_and_for_a_person() -> None:
    end = outcome(drive(swapping(), moderating("upheld", "modified")))

    assert (end.conclusion, end.agrees_with_first_proposal, end.final_turn) == (None, None, "1.moderator.1")
    assert (end.status, end.stop_reason) == ("completed", "moderatorSatisfied")
    assert (end.flags, end.caps) == (("orderSensitive",), (Cap("orderSensitive", "LOW"),))
    assert end.confidence_level == "LOW"
    assert end.human_review.reasons == ("orderSensitive", "confidenceLow")


@pytest.mark.parametrize("stands", [True, False])
def test_of_several_positions_the_one_ranked_first_has_to_be_the_same(stands: bool) -> None:
    def reply(turn: Turn, facts: Facts) -> Reply:
        """Ranks a position first in the one order, and the same or the next in the other; the conclusions differ."""
        if turn.seat != "moderator":
            return canned(turn, facts)
        again = ".swapped." in turn.id
        favourite = labels(turn)["proposer.defer" if again and not stands else "proposer.adopt"]
        ranked = moderation(turn, best=lambda label: label != favourite)
        return replace(ranked, conclusion="modified" if again else "upheld")

    end = outcome(drive(swapping(positions=("adopt", "defer", "wait")), reply))

    assert ("orderSensitive" in end.flags) is not stands
    assert [ranked.position for ranked in end.ranking][:1] == (["adopt"] if stands else [])
    assert end.conclusion == ("upheld" if stands else None)


def test_a_second_order_that_wants_another_round_and_is_less_sure_is_said_and_opens_none() -> None:
    def reply(turn: Turn, facts: Facts) -> Reply:
        if turn.seat != "moderator":
            return canned(turn, facts)
        again = ".swapped." in turn.id
        return moderation(turn, another=again, level="LOW" if again else "HIGH")

    entries = drive(swapping(3), reply)

    end = outcome(entries)
    assert turns_asked(entries)[-1] == "1.moderator.swapped.1"
    assert (end.stop_reason, end.confidence_level, end.flags) == ("moderatorSatisfied", "LOW", ("ordersDiffer",))
    assert end.caps == (Cap("ordersDiffer", "MODERATE"), Cap("otherOrderLessSure", "LOW"))
    (pair,) = end.differing
    assert [(one.member, one.first, one.second) for one in pair.members] == [
        ("confidenceLevel", "HIGH", "LOW"),
        ("recommendAnotherRound", "false", "true"),
    ]


def test_a_second_asking_that_could_not_be_made_leaves_the_conclusion_unchecked() -> None:
    again = "1.moderator.swapped.1"
    silent = drive(swapping(), fails=lambda turn, _: turn == again)
    refused = drive(swapping(), refuses=lambda turns: turns == (again,))

    for entries in (silent, refused):
        end = outcome(entries)
        assert (end.status, end.conclusion, end.final_turn) == ("completed", "modified", "1.moderator.1")
        assert (end.flags, end.caps) == (("orderUnchecked",), (Cap("orderUnchecked", "MODERATE"),))
        assert end.confidence_level == "MODERATE"


def test_both_moderations_are_held_for_while_others_speak() -> None:
    entries = drive(swapping())

    held: dict[TurnId, list[TurnId]] = {}
    for n in range(3, len(entries)):
        move = next_move(a_case(), entries[:n])
        if isinstance(move, Ask):
            held |= {turn.id: [closing.id for closing in move.holding] for turn in move.turns}

    both = ["1.moderator.1", "1.moderator.swapped.1"]
    takes = ["1.moderator.1", "1.moderator.2", "1.moderator.swapped.1", "1.moderator.swapped.2"]
    assert held == {
        "0.framing.1": [],
        **dict.fromkeys(("1.proposer.1", "1.critic.1", "1.rebuttal.1"), takes),
        **{turn: [] for turn in both},
    }


def test_money_that_ends_is_closed_in_both_orders_and_never_after_a_second_refusal() -> None:
    once = drive(swapping(2), never_satisfied, refuses=lambda turns: turns == ("2.critic.1",))
    nothing_new = drive(swapping(2), never_satisfied, refuses=lambda turns: turns == ("2.proposer.1",))
    twice = drive(swapping(2), never_satisfied, refuses=lambda turns: turns[0] in ("2.critic.1", "2.moderator.1"))

    assert turns_asked(once)[-2:] == ["2.moderator.1", "2.moderator.swapped.1"]
    assert turns_asked(nothing_new)[-2:] == ["1.moderator.1", "1.moderator.swapped.1"]
    assert turns_asked(twice)[-1] == "2.proposer.1"
    assert "orderUnchecked" in outcome(twice).flags
    assert {outcome(entries).status for entries in (once, nothing_new, twice)} == {"truncated"}


@pytest.mark.parametrize("positions", [(), ("adopt", "defer")])
def test_the_table_counts_the_second_asking(positions: Sequence[str]) -> None:
    started = swapping(2, positions)
    plain, again = table(replace(started.options, swapped=False)), table(started.options)

    entries = drive(started, never_satisfied)

    assert again.usual == {**plain.usual, "moderator": 3}
    assert again.usual == {seat: sum(seat_of(turn) == seat for turn in turns_asked(entries)) for seat in again.usual}
    assert [turn.id for turn in again.beginning] == [
        *(turn.id for turn in plain.beginning),
        "1.moderator.swapped.1",
        "1.moderator.swapped.2",
    ]
