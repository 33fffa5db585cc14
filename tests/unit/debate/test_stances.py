"""Format stances/1: who argues when and sees what, the judge at the end, the projection, and how a debate ends."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import DebateStarted, Entry
from service.debate.facts import Facts
from service.debate.kernel import next_move, replay, unusable
from service.debate.model import AdversarialOptions, Ask, Cap, Debater, StancesOptions, Turn
from service.debate.replies import Projection, Reply
from service.debate.results import StancesResult, Verdict
from service.debate.script import Script
from service.debate.stances import ROUNDS_MAX, misfit, shown, table
from service.debate.suspicions import InjectionFound, Suspicion
from service.debate.turns import TurnId, seat_of, take_of
from service.money import worst_case
from tests.fixtures.debates import INPUT_TOKENS, TURN_COST, World, a_case, a_plan, drive, found, outcome, turns_asked
from tests.unit.debate.between import a_start, asked, asking, judged, judgement, stances, stopped_after, verdict_of

THREE = ("aggressive", "conservative", "neutral")
HELD = worst_case(INPUT_TOKENS, a_plan("judge", "oak"))
CLOSING = [TurnId("2.judge.1"), TurnId("2.synthesizer.1")]
ARGUED = [TurnId("1.debater-1.1"), TurnId("1.debater-2.1"), TurnId("2.debater-1.1"), TurnId("2.debater-2.1")]


def labels(started: DebateStarted, entries: Sequence[Entry], turn: TurnId) -> list[str]:
    """The labels that a turn sees, in their order."""
    facts = Facts.of(entries)
    return list(shown(Script(started, facts), asked(entries, turn)).values())


# Who argues when, and what each sees.


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_every_debater_speaks_every_round_in_declared_order_and_then_the_judge_once(rounds: int) -> None:
    entries = drive(a_start(stances(*THREE, max_rounds=rounds)), judged())

    assert turns_asked(entries) == [
        *(f"{r}.debater-{k}.1" for r in range(1, rounds + 1) for k in (1, 2, 3)),
        f"{rounds}.judge.1",
        f"{rounds}.synthesizer.1",
    ]
    assert verdict_of(entries).rounds == rounds


def test_only_one_debater_is_asked_at_a_time() -> None:
    entries = drive(a_start(stances(*THREE)), judged())

    assert all(len(asking(entries, turn).turns) == 1 for turn in turns_asked(entries))


def test_the_first_speaker_of_the_first_round_argues_to_nobody() -> None:
    assert asked(drive(a_start(stances()), judged()), TurnId("1.debater-1.1")).sees == ()


def test_a_debater_sees_all_earlier_rounds_and_whoever_spoke_before_it_in_its_own() -> None:
    entries = drive(a_start(stances(*THREE, max_rounds=3)), judged())
    spoken = tuple(f"{r}.debater-{k}.1" for r in (1, 2, 3) for k in (1, 2, 3))

    assert [asked(entries, TurnId(turn)).sees for turn in spoken] == [spoken[:i] for i in range(9)]


def test_the_judge_sees_the_whole_transcript_and_the_synthesizer_the_verdict_too() -> None:
    entries = drive(a_start(stances()), judged())

    assert set(asked(entries, TurnId("2.judge.1")).sees) == set(ARGUED)
    assert asked(entries, TurnId("2.synthesizer.1")).sees == (*ARGUED, TurnId("2.judge.1"))


@pytest.mark.parametrize("rounds", [2, 3])
def test_no_argument_ends_a_debate_early_for_the_judge_is_not_its_loop(rounds: int) -> None:
    """Unlike a format that asks its decider every round, nobody but the count of rounds decides to stop."""
    entries = drive(a_start(stances(max_rounds=rounds)), judged(level="HIGH"))

    assert [turn for turn in turns_asked(entries) if "judge" in turn] == [f"{rounds}.judge.1"]
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "roundCeiling")
    assert outcome(entries).detail == f"judged after all {rounds} rounds"


# Under which names.


def test_debaters_see_stances_and_never_names() -> None:
    options = stances(*THREE, anonymize_transcript=False)
    started = a_start(options)
    entries = drive(started, judged())

    assert labels(started, entries, TurnId("2.debater-2.1")) == [*THREE, THREE[0]]
    assert not any("name-" in label for t in ARGUED for label in labels(started, entries, t))


@pytest.mark.parametrize("seat", ["judge", "synthesizer"])
@pytest.mark.parametrize("anonymous", [True, False])
def test_names_reach_the_judge_and_the_synthesizer_only_where_anonymity_is_switched_off(
    seat: str, anonymous: bool
) -> None:
    started = a_start(stances("for", "against", anonymize_transcript=anonymous, shuffle_for_judge=False))
    entries = drive(started, judged())

    told = ["for", "against"] if anonymous else ["name-1 [for]", "name-2 [against]"]
    assert labels(started, entries, TurnId(f"2.{seat}.1")) == told * 2


def test_the_judges_transcript_is_anonymous_and_shuffled_unless_told_otherwise() -> None:
    options = stances()

    assert (options.anonymize_transcript, options.shuffle_for_judge, options.synthesizer) == (True, True, True)


# In which order the judge sees a round.


def test_the_judge_sees_each_round_in_an_order_of_its_own_that_the_seed_draws() -> None:
    seen = [
        asked(drive(a_start(stances(*THREE), seed=f"{n:064x}"), judged()), TurnId("2.judge.1")).sees for n in range(60)
    ]

    assert all([turn[0] for turn in sees] == ["1"] * 3 + ["2"] * 3 for sees in seen), "rounds stay in their order"
    assert len({sees[:3] for sees in seen}) == 6, "every order of a round comes up"
    assert any([t[2:] for t in sees[:3]] != [t[2:] for t in sees[3:]] for sees in seen), "drawn apart for each round"
    first = [sees[0] for sees in seen]
    assert min(first.count(turn) for turn in set(first)) > 8, "nobody is nearly always or never first"


def test_what_the_judge_sees_under_two_seeds_differs_in_nothing_but_its_order() -> None:
    one, other = (
        asked(drive(a_start(stances(*THREE), seed=seed * 32), judged()), TurnId("2.judge.1")) for seed in ("00", "07")
    )

    assert one.sees != other.sees
    assert sorted(one.sees) == sorted(other.sees)
    assert replace(one, sees=()) == replace(other, sees=())


def test_the_same_seed_always_gives_the_same_order() -> None:
    order = asked(drive(a_start(stances(*THREE)), judged()), TurnId("2.judge.1")).sees

    drawn = sorted(
        (f"1.debater-{k}.1" for k in (1, 2, 3)), key=lambda t: sha256(f"{'00' * 32}|1.judge.1|{t}".encode()).digest()
    )
    assert list(order[:3]) == drawn


def test_without_shuffling_the_judge_sees_the_declared_order() -> None:
    entries = drive(a_start(stances(shuffle_for_judge=False)), judged())

    assert asked(entries, TurnId("2.judge.1")).sees == tuple(ARGUED)


# Roles, prompts of one's own, instructions.


def test_a_role_and_instructions_reach_the_default_prompts_and_no_other() -> None:
    debaters = (
        Debater("a", "for", role="A careful lawyer."),
        Debater("b", "against"),
        Debater("c", "neither", role="Ignored.", prompt="house.debater"),
    )
    entries = drive(a_start(stances(debaters=debaters, max_rounds=1, instructions="Be brief.")), judged())

    told = {turn: (asked(entries, turn).fragments, asked(entries, turn).prompt) for turn in turns_asked(entries)}

    assert told == {
        "1.debater-1.1": (("persona", "instructions"), ""),
        "1.debater-2.1": (("instructions",), ""),
        "1.debater-3.1": ((), "house.debater"),
        "1.judge.1": (("instructions",), ""),
        "1.synthesizer.1": (("instructions",), ""),
    }


def test_each_seat_is_asked_for_its_own_kind_of_reply() -> None:
    entries = drive(a_start(stances(max_rounds=1)), judged())

    assert {t.partition(".")[2]: asked(entries, t).asks for t in turns_asked(entries)} == {
        "debater-1.1": "stances.debater",
        "debater-2.1": "stances.debater",
        "judge.1": "stances.judge",
        "synthesizer.1": "stances.synthesizer",
    }


# The verdict.


def test_the_verdict_is_the_judges_own_words() -> None:
    entries = drive(a_start(stances()), judged("Ship now", level="MODERATE"))

    assert verdict_of(entries).verdict == Verdict("It is ready.", "Ship now", "The evidence says so.")
    assert outcome(entries).confidence_level == "MODERATE"
    assert outcome(entries).final_turn == "2.judge.1"
    assert outcome(entries).flags == ()
    assert not outcome(entries).human_review.required


@pytest.mark.parametrize(
    ("winner", "stance"),
    [
        ("ship now", "ship now"),
        ("  SHIP   now. ", "ship now"),
        ("“Ship now”", "ship now"),
        ("[ship now]", "ship now"),
        ("name-2", "do not ship now"),
        ("name-2 [do not ship now]", "do not ship now"),
        ("not ship now", None),
        ("a staged release, which nobody argued", None),
        (None, None),
    ],
)
def test_a_winner_is_free_and_may_name_an_assigned_stance_or_none(winner: str | None, stance: str | None) -> None:
    entries = drive(a_start(stances()), judged(winner))

    result = verdict_of(entries)
    assert result.verdict is not None
    assert result.verdict.winner == winner
    assert result.winner_stance == stance
    assert outcome(entries).status == "completed"


def test_a_stance_that_is_another_debaters_name_means_the_stance_for_the_judge_has_seen_stances() -> None:
    debaters = (Debater("for", "against"), Debater("against", "for"))

    assert verdict_of(drive(a_start(stances(debaters=debaters)), judged("for"))).winner_stance == "for"


@pytest.mark.parametrize("winner", [" ", '""', "..."])
def test_a_winner_that_says_nothing_is_refused_with_what_to_say(winner: str) -> None:
    entries = drive(a_start(stances()), judged())
    before = Facts.of(entries[: next(n for n, e in enumerate(entries) if getattr(e, "turn", "") == "2.judge.1") + 1])

    assert unusable(before, asked(entries, TurnId("2.judge.1")), judgement(winner)) == (
        "winner is null where the verdict combines stances, and else names one in words; it is empty here"
    )
    assert unusable(before, asked(entries, TurnId("2.judge.1")), judgement(None)) is None


@pytest.mark.parametrize(("family", "capped"), [("oak", True), ("elm", True), ("birch", False)])
def test_a_judge_of_a_debaters_family_is_never_highly_sure(family: str, capped: bool) -> None:
    entries = drive(a_start(stances(), {"judge": family}), judged())

    assert (Cap("deciderOfDebatersFamily", "MODERATE") in outcome(entries).caps) is capped
    assert outcome(entries).confidence_level == ("MODERATE" if capped else "HIGH")


# The projection.


def test_the_projection_is_the_output_as_plain_json() -> None:
    entries = drive(a_start(stances(output_schema={"type": "object"})), judged(output='{"b": [1, null], "a": 0.5}'))

    assert verdict_of(entries).output == {"a": 0.5, "b": [1, None]}


def test_without_a_synthesizer_nobody_projects_and_the_verdict_is_the_result() -> None:
    entries = drive(a_start(stances(synthesizer=False)), judged())

    assert turns_asked(entries)[-1] == "2.judge.1"
    assert verdict_of(entries) == StancesResult(
        2, Verdict("It is ready.", "ship now", "The evidence says so."), winner_stance="ship now"
    )


def test_a_projection_that_is_no_json_is_refused_with_what_was_expected() -> None:
    entries = drive(a_start(stances()), judged())
    before = Facts.of(entries[: next(n for n, e in enumerate(entries) if getattr(e, "turn", "") == CLOSING[1]) + 1])

    why = unusable(before, asked(entries, CLOSING[1]), Projection('{"a": 1, "a": 2}'))

    assert why == ("output must be the text of one JSON value and nothing around it, found an object with a name twice")


# The decider asked twice.


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_judge_asked_again_sees_every_round_turned_round(shuffled: bool) -> None:
    entries = drive(a_start(stances(*THREE, swapped=True, shuffle_for_judge=shuffled)), judged())
    first, second = asked(entries, TurnId("2.judge.1")), asked(entries, TurnId("2.judge.swapped.1"))

    assert second.sees == tuple(reversed(first.sees[:3])) + tuple(reversed(first.sees[3:]))
    assert replace(second, id=first.id, sees=first.sees) == first


@pytest.mark.parametrize(
    ("winner", "again", "same"),
    [
        ("ship now", "Ship now!", True),
        ("ship now", "name-1", True),
        ("name-1 [ship now]", "ship now", True),
        (None, None, True),
        ("a staged release", "A staged release.", True),
        ("ship now", "do not ship now", False),
        ("ship now", None, False),
        (None, "ship now", False),
        ("a staged release", "a canary release", False),
    ],
)
def test_the_same_winner_stands_and_another_one_is_nobodys(winner: str | None, again: str | None, same: bool) -> None:
    entries = drive(a_start(stances(swapped=True)), judged(winner, again))
    end, result = outcome(entries), verdict_of(entries)

    assert ("orderSensitive" in end.flags) is not same
    assert result.swapped_verdict is not None
    assert result.swapped_verdict.winner == again
    if same:
        assert (result.verdict and result.verdict.winner) == winner
        expected = () if winner and result.winner_stance else ("winnerNotArgued" if winner else "orderNotCompared",)
        assert end.flags == expected
        assert end.confidence_level == ("MODERATE" if expected else "HIGH")
        assert turns_asked(entries)[-3:] == ["2.judge.1", "2.judge.swapped.1", "2.synthesizer.1"]
    else:
        assert (result.verdict, result.winner_stance, result.output) == (None, None, None)
        assert (end.confidence_level, end.human_review.required) == ("LOW", True)
        assert Cap("orderSensitive", "LOW") in end.caps
        assert turns_asked(entries)[-1] == "2.judge.swapped.1", "a projection would claim a winner"


@pytest.mark.parametrize(
    ("one", "other"), [("> 5 %", "< 5 %"), ("!safe", "safe"), ("~ 10", "10"), ("Sign", "(sign)"), ("sign", "Sign")]
)
def test_stances_that_differ_in_signs_and_print_alone_are_two_winners(one: str, other: str) -> None:
    started = a_start(stances(one, other, swapped=True))

    assert "orderSensitive" in outcome(drive(started, judged(one, other))).flags
    for winner in (one, other):
        assert verdict_of(drive(started, judged(winner, winner))).winner_stance == winner


def test_a_winner_that_fits_two_stances_or_two_names_is_neither() -> None:
    debaters = (Debater("Ann!", "sign"), Debater("Ann", "do not"))

    assert verdict_of(drive(a_start(stances("> 5 %", "< 5 %")), judged("5 %"))).winner_stance is None
    assert verdict_of(drive(a_start(stances(debaters=debaters)), judged("ann"))).winner_stance is None
    assert verdict_of(drive(a_start(stances(debaters=debaters)), judged("Ann!"))).winner_stance == "sign"


def test_a_second_judgement_that_cannot_be_had_leaves_the_first_unchecked() -> None:
    started = a_start(stances(swapped=True))

    silent = drive(started, judged(), fails=lambda turn, _: ".swapped." in turn)
    unfunded = drive(started, judged(), refuses=lambda turns: any(".swapped." in turn for turn in turns))

    for entries in (silent, unfunded):
        end = outcome(entries)
        assert (end.status, end.confidence_level) == ("completed", "MODERATE")
        assert end.flags == ("orderUnchecked",)
        assert end.caps == (Cap("orderUnchecked", "MODERATE"),)
        assert verdict_of(entries).winner_stance == "ship now"
        assert verdict_of(entries).output is not None


# How many rounds.


@pytest.mark.parametrize(("rounds", "flagged"), [(1, False), (4, False), (5, True), (ROUNDS_MAX, True)])
def test_more_than_four_rounds_are_played_and_flagged(rounds: int, flagged: bool) -> None:
    entries = drive(a_start(stances(max_rounds=rounds)), judged())

    assert ("manyRounds" in outcome(entries).flags) is flagged
    assert outcome(entries).confidence_level == "HIGH"
    assert len(turns_asked(entries)) == 2 * rounds + 2


# Money, silence, stops.


def test_a_judge_that_has_to_be_asked_again_may_use_what_was_held_for_what_follows_it() -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        unfit = turn.id == "1.judge.1" and facts.attempts[turn.id] < 5
        return judgement("...") if unfit else judged()(turn, facts)

    entries = drive(a_start(stances(max_rounds=1, swapped=True), ceiling=TURN_COST + 7 * HELD, attempts=5), replies)

    assert turns_asked(entries)[2:] == ["1.judge.1"] * 5 + ["1.synthesizer.1"]
    assert outcome(entries).flags == ("orderUnchecked",)
    assert verdict_of(entries).winner_stance == "ship now"


def test_what_closes_a_debate_is_held_for_while_others_speak() -> None:
    entries = drive(a_start(stances(swapped=True)), judged())

    held = {turn: {held.id: set(held.sees) for held in asking(entries, turn).holding} for turn in turns_asked(entries)}

    heard = {"1.debater-1.1", "1.debater-2.1"}
    assert held[TurnId("1.debater-2.1")] == {
        "1.judge.1": heard,
        "1.judge.2": {*heard, "1.judge.1"},
        "1.judge.swapped.1": heard,
        "1.judge.swapped.2": {*heard, "1.judge.swapped.1"},
        "1.synthesizer.1": {*heard, "1.judge.1"},
        "1.synthesizer.2": {*heard, "1.judge.1", "1.synthesizer.1"},
    }
    assert held[TurnId("2.judge.1")] == {}, "what follows a verdict must not keep it from being asked for again"
    assert set(held[TurnId("2.judge.swapped.1")]) == {TurnId("2.synthesizer.1")}
    assert held[TurnId("2.synthesizer.1")] == {}


@pytest.mark.parametrize("spoken", [1, 2, 3])
def test_when_money_ends_judge_and_synthesizer_close_on_what_was_argued(spoken: int) -> None:
    started = a_start(stances(), ceiling=(spoken - 1) * TURN_COST + 5 * HELD)

    entries = drive(started, judged())

    last = (spoken // 2) + 1
    assert turns_asked(entries) == [*ARGUED[:spoken], f"{last}.judge.1", f"{last}.synthesizer.1"]
    assert sorted(asked(entries, TurnId(f"{last}.judge.1")).sees) == ARGUED[:spoken]
    end = outcome(entries)
    assert (end.status, end.stop_reason, end.confidence_level) == ("truncated", "budget", "LOW")
    assert end.flags == ("DEBATE_TRUNCATED", *(("unchallenged",) if spoken == 1 else ()))
    assert verdict_of(entries).winner_stance == "ship now"


def test_a_debate_without_any_money_has_no_verdict() -> None:
    entries = drive(a_start(stances(), ceiling=5 * HELD - 1), judged())

    assert turns_asked(entries) == []
    assert outcome(entries).status == "truncated"
    assert verdict_of(entries) == StancesResult(0)


@pytest.mark.parametrize("turn", CLOSING)
def test_a_closing_turn_that_no_limit_allows_is_left_out(turn: str) -> None:
    entries = drive(a_start(stances()), judged(), refuses=lambda turns: turn in turns)

    assert outcome(entries).status == "truncated"
    assert (verdict_of(entries).verdict is None) is (turn == "2.judge.1")
    assert verdict_of(entries).output is None
    assert turns_asked(entries)[-1] == {"2.judge.1": "2.debater-2.1", "2.synthesizer.1": "2.judge.1"}[turn]


@pytest.mark.parametrize("turn", [*ARGUED, *CLOSING])
def test_a_silent_seat_fails_the_debate_and_keeps_what_was_said(turn: str) -> None:
    entries = drive(a_start(stances()), judged(), fails=lambda asked, _: asked == turn)

    end = outcome(entries)
    assert (end.status, end.stop_reason, end.confidence_level) == ("failed", "seatSilent", "LOW")
    assert end.detail.startswith(turn)
    assert turns_asked(entries)[-1] == turn
    assert (verdict_of(entries).verdict is not None) is (turn == "2.synthesizer.1")


@pytest.mark.parametrize(("by", "status"), [("abort", "aborted"), ("deadline", "truncated")])
def test_a_stop_ends_the_debate_where_it_stands(by: str, status: str) -> None:
    entries = drive(a_start(stances()), judged(), stops=stopped_after(TurnId("1.debater-2.1"), by))

    assert outcome(entries).status == status
    assert turns_asked(entries) == ARGUED[:2]
    assert verdict_of(entries) == StancesResult(1)


def test_a_document_that_speaks_to_models_lowers_the_confidence() -> None:
    def suspicious(check, facts):  # type: ignore[no-untyped-def]
        return (
            InjectionFound((Suspicion("document", (0, 3), "address", "Words", "D1"),))
            if check.kind == "injection"
            else found(check, facts)
        )

    entries = drive(a_start(stances()), judged(), findings=suspicious)

    assert "injectionSuspected" in outcome(entries).flags
    assert outcome(entries).confidence_level == "LOW"


def test_every_debaters_citations_are_checked_before_the_next_one_sees_them() -> None:
    entries = drive(a_start(stances()), judged())

    checks = [e.check for e in entries if hasattr(e, "check")]
    assert checks == [
        "case/injection",
        *(f"{turn}/{kind}" for turn in ARGUED for kind in ("citations", "texts")),
        "2.judge.1/texts",
        "debate/voices",
        "2.synthesizer.1/texts",
    ]


# What may start.


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (stances("one"), "a debate has 2 to 10 debaters, found 1"),
        (stances(*(f"s{n}" for n in range(11))), "a debate has 2 to 10 debaters, found 11"),
        (stances(max_rounds=0), "a debate has 1 to 20 rounds, found maxRounds 0"),
        (stances(max_rounds=21), "a debate has 1 to 20 rounds, found maxRounds 21"),
        (
            stances(debaters=(Debater("a", "for"), Debater("a", "against"))),
            "debaters have distinct names, found ['a', 'a']",
        ),
        (stances(debaters=(Debater(" ", "for"), Debater("a", "x"))), "debaters have distinct names, found [' ', 'a']"),
        (
            stances(debaters=(Debater("a", "for"), Debater("b"))),
            "every debater has a stance in words to argue, found none for ['b']",
        ),
        (
            stances(debaters=(Debater("a", "for"), Debater("b", "?"))),
            "every debater has a stance in words to argue, found none for ['b']",
        ),
        (
            stances(output_schema={"type": "object"}, synthesizer=False),
            "an output schema needs a synthesizer to apply it to; found outputSchema with synthesizer false",
        ),
        (AdversarialOptions(1, 6, 6, False), "expected the options of stances/1, found those of another format"),
    ],
)
def test_what_makes_no_debate_may_not_start(options: StancesOptions | AdversarialOptions, why: str) -> None:
    assert misfit(replace(a_start(stances()), options=options)) == why


@pytest.mark.parametrize("seat", ["debater-2", "judge", "synthesizer"])
def test_every_seat_has_a_plan_and_the_judge_can_never_be_left_out(seat: str) -> None:
    started = a_start(stances())

    without = replace(started, seats=tuple(plan for plan in started.seats if plan.seat != seat))

    assert misfit(started) is None
    assert misfit(without) == f"no plan for the seats ['{seat}']"


def test_two_debaters_may_argue_the_same_stance() -> None:
    entries = drive(a_start(stances("ship", "ship", "wait")), judged("ship"))

    assert verdict_of(entries).winner_stance == "ship"


# The table.


@pytest.mark.parametrize(
    "options", [stances(), stances(*THREE, swapped=True), stances(synthesizer=False, max_rounds=1)]
)
def test_the_table_says_who_is_asked_how_often(options: StancesOptions) -> None:
    seated = table(options)
    entries = drive(a_start(options), judged())

    spoke = [seat_of(turn) for turn in turns_asked(entries)]
    assert {seat: spoke.count(seat) for seat in seated.seats} == dict(seated.usual)
    assert seated.closing == (("judge", "synthesizer") if options.synthesizer else ("judge",))


@pytest.mark.parametrize("options", [stances(), stances(swapped=True), stances(synthesizer=False)])
def test_a_ceiling_for_what_the_table_begins_with_pays_for_one_whole_round(options: StancesOptions) -> None:
    beginning = table(options).beginning

    entries = drive(a_start(options, ceiling=len(beginning) * HELD), judged())

    assert [turn for turn in turns_asked(entries) if "debater" in turn] == ARGUED[:2]
    assert outcome(entries).status == "truncated"
    first_takes = {turn.id for turn in beginning if take_of(turn.id) == 1}
    assert first_takes == {f"1{turn[1:]}" for turn in turns_asked(entries)}
    for turn in beginning:
        assert set(turn.sees) < {t.id for t in beginning}


def test_no_debater_thinks_like_the_judge_or_another_debater_if_it_can_be_helped() -> None:
    pairs = {frozenset(pair) for pair in table(stances(*THREE)).apart}

    debaters = ["debater-1", "debater-2", "debater-3"]
    assert {frozenset(("judge", d)) for d in debaters} <= pairs
    assert {frozenset((a, b)) for a in debaters for b in debaters if a != b} <= pairs


# Whatever happens.


@pytest.mark.replay
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(2, 4),
    rounds=st.integers(1, 3),
    swapped=st.booleans(),
    synthesizer=st.booleans(),
    winners=st.tuples(*[st.sampled_from(["stance 1", "Stance 2.", None, "neither"])] * 2),
    ceiling=st.integers(0, 20),
    failing=st.integers(0, 40),
)
def test_whatever_is_said_fails_or_is_refused_a_debate_keeps_its_order_and_replays(
    seed: int,
    count: int,
    rounds: int,
    swapped: bool,
    synthesizer: bool,
    winners: tuple[str | None, str | None],
    ceiling: int,
    failing: int,
) -> None:
    names = tuple(f"stance {n}" for n in range(1, count + 1))
    options = stances(*names, max_rounds=rounds, swapped=swapped, synthesizer=synthesizer)
    world = World(seed, failing=failing, refusing=5)
    started = a_start(options, ceiling=ceiling * TURN_COST, seed=f"{seed:064x}")

    entries = drive(
        started,
        judged(*winners),
        findings=world.findings,
        fails=world.fails,
        used=world.used,
        refuses=world.refuses,
        order=Random(seed),
    )

    replay(a_case(), entries)
    turns = list(dict.fromkeys(turns_asked(entries)))
    spoken = [turn for turn in turns if "debater" in turn]
    assert spoken == [f"{r}.debater-{k}.1" for r in range(1, rounds + 1) for k in range(1, count + 1)][: len(spoken)]
    closing = turns[len(spoken) :]
    assert len(closing) <= 2 * (1 + swapped + synthesizer)
    assert sum(take_of(turn) == 1 for turn in closing) <= 1 + swapped + synthesizer
    assert not any("debater" in turn for turn in closing)
    result = verdict_of(entries)
    assert result.output is None or result.verdict is not None
    assert not (result.winner_stance and "orderSensitive" in outcome(entries).flags)
    for n in range(3, len(entries)):
        move = next_move(a_case(), entries[:n])
        assert not isinstance(move, Ask) or all(turn.round <= rounds for turn in move.turns)
