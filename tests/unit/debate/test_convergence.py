"""Format convergence/1: who is asked, what each sees, when the answers have converged, and who decides on which."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.answer_keys import folded, votes
from service.debate.convergence import labels, table
from service.debate.entries import BudgetRefused, CheckFound, DebateStopped, Entry, StoppedBy, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import Citation, ConvergenceFound, Finding, PairOverlap
from service.debate.kernel import FORMATS, decide, replay
from service.debate.model import Ask, Cap, Check, ConvergenceOptions, StancesOptions, Turn, TurnId, seat_of
from service.debate.options import Debater, personas_of
from service.debate.replies import ConfidenceLevel, Position, Reply, Ruling, Statement
from service.debate.results import AnswerVotes, ConvergenceResult
from service.debate.script import Script
from service.errors import IllegalEntry
from tests.fixtures.debates import (
    TURN_COST,
    a_case,
    a_plan,
    canned,
    drive,
    found,
    opening,
    outcome,
    start_of,
    turns_asked,
)

HELD = 3_250
"""What is held for one attempt of any seat."""
QUOTE = (Citation("the Supplier's liability shall not exceed the Fees", "D1"),)
THREE = ("debater-1", "debater-2", "debater-3")
SAME = dict.fromkeys(THREE, "Sign.")
SPLIT = {"debater-1": "Sign.", "debater-2": "Wait.", "debater-3": "sign"}


def options(debaters: int | tuple[Debater, ...] = 3, rounds: int = 2, **others: Any) -> ConvergenceOptions:
    return ConvergenceOptions(debaters, rounds, human_review=False, **others)


def answering(
    *by_round: Mapping[str, str], judge: str = "Sign.", again: str | None = None, level: ConfidenceLevel = "HIGH"
) -> Callable[[Turn, Facts], Reply]:
    """Debaters that answer so, round by round; the last of them stays. The judge says ``again`` in the other order."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        if turn.seat == "judge":
            ruled = again if again and ".swapped." in turn.id else judge
            return Ruling(ruled, "It is clear.", level, ("No court has read it.",))
        answers = by_round[min(turn.round, len(by_round) - 1)]
        return Position(answers[turn.seat], (Statement(1, "The cap covers claims.", QUOTE),))

    return reply


def converging(*rounds: int) -> Callable[[Check, Facts], Finding]:
    """All answers are found near enough in these rounds."""

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        here = isinstance(finding, ConvergenceFound) and int(check.id.partition("/")[0]) in rounds
        return replace(finding, converged=True, why_not=()) if here else finding

    return findings


def result(entries: Sequence[Entry]) -> ConvergenceResult:
    end = outcome(entries).result
    assert isinstance(end, ConvergenceResult)
    return end


def asking(entries: Sequence[Entry]) -> dict[TurnId, tuple[Turn, Ask]]:
    """Every turn as it was asked for, and the move that asked for it first."""
    facts, seen = Facts(), dict[TurnId, tuple[Turn, Ask]]()
    for entry in entries:
        if isinstance(entry, TurnAsked):
            move = decide(facts)
            assert isinstance(move, Ask)
            seen.setdefault(entry.turn, (next(t for t in move.turns if t.id == entry.turn), move))
        facts.add(entry)
    return seen


def asked(entries: Sequence[Entry], turn: TurnId) -> Turn:
    return asking(entries)[turn][0]


def gone(*turns: TurnId) -> Callable[[TurnId, int], bool]:
    return lambda turn, _: turn in turns


def round_(r: int, *debaters: str) -> set[TurnId]:
    return {TurnId(f"{r}.{d}.1") for d in debaters or THREE}


# Rounds.


def test_round_0_is_independent_and_all_at_once() -> None:
    seen = asking(drive(start_of(options())))

    for turn in round_(0):
        due, move = seen[turn]
        assert due.sees == ()
        assert due.fragments == ("convergence.independent",)
        assert {t.id for t in move.turns} == round_(0)


def test_each_later_round_is_asked_at_once_and_sees_the_full_transcript() -> None:
    seen = asking(drive(start_of(options(rounds=3))))

    for r in (1, 2, 3):
        for turn in round_(r):
            due, move = seen[turn]
            assert set(due.sees) == set().union(*(round_(q) for q in range(r)))
            assert [int(t[0]) for t in due.sees] == sorted(int(t[0]) for t in due.sees)
            assert due.fragments == ("convergence.debate",)
            assert {t.id for t in move.turns} == round_(r)


def test_without_convergence_all_rounds_are_played() -> None:
    entries = drive(start_of(options(rounds=3)))

    assert turns_asked(entries) == [*(f"{r}.{d}.1" for r in range(4) for d in THREE), "3.judge.1"]
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "roundCeiling")
    assert outcome(entries).detail == "ended after round 3 of at most 3"
    assert (result(entries).rounds, result(entries).converged_in) == (3, None)


@pytest.mark.parametrize("r", [0, 1, 2])
def test_convergence_after_any_round_ends_the_debate_early(r: int) -> None:
    entries = drive(start_of(options()), findings=converging(r))

    assert turns_asked(entries)[-1] == f"{r}.judge.1"
    assert not any(turn.startswith(f"{r + 1}.") for turn in turns_asked(entries))
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("completed", "consensus")
    assert (result(entries).rounds, result(entries).converged_in) == (r, r)


def test_with_the_check_switched_off_full_rounds_are_played_although_all_agree() -> None:
    entries = drive(start_of(options(convergence_check=False)), answering(SAME), findings=converging(0, 1, 2))

    assert not [e for e in entries if isinstance(e, CheckFound) and e.check.endswith("/convergence")]
    assert turns_asked(entries)[-1] == "2.judge.1"
    assert outcome(entries).stop_reason == "roundCeiling"
    assert result(entries).similarities == ()


def test_the_check_is_over_those_who_spoke_in_the_round_after_their_citations_were_checked() -> None:
    entries = drive(start_of(options()), fails=gone(TurnId("1.debater-2.1")))

    checks = [e.check for e in entries if isinstance(e, CheckFound)]
    over = dict[str, tuple[TurnId, ...]]()
    for n in range(3, len(entries)):
        over |= {c.id: c.over for c in getattr(decide(Facts.of(entries[:n])), "checks", ())}

    assert checks[0] == "case/injection"
    for r in (0, 1, 2):
        spoke = {t for t in round_(r) if t in Facts.of(entries).said}
        assert {f"{t}/citations" for t in spoke} <= set(checks[: checks.index(f"{r}/convergence")])
        assert set(over[f"{r}/convergence"]) == spoke
    assert over["1/convergence"] == tuple(t for t in over["1/convergence"] if "debater-2" not in t)


def test_the_similarities_are_the_least_of_all_pairs_and_nothing_where_one_is_undefined() -> None:
    overlaps = {"0": (900, 400, 700), "1": (900, None, 950), "2": (900, 950, 1_000)}

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if not isinstance(finding, ConvergenceFound):
            return finding
        pairs = (PairOverlap((TurnId("0.a.1"), TurnId("0.b.1")), 1, 2, overlap) for overlap in overlaps[check.id[0]])
        return replace(finding, pairs=tuple(pairs))

    assert result(drive(start_of(options()), findings=findings)).similarities == (400, None, 900)


# How a debate may start.


def test_the_seats_are_the_debaters_and_a_judge_where_there_is_one() -> None:
    assert list(table(options()).seats) == [*THREE, "judge"]
    assert list(table(options(judge=False)).seats) == [*THREE]
    assert table(options()).closing == ("judge",)
    assert table(options(judge=False)).closing == ()


@pytest.mark.parametrize(("swapped", "judge", "times"), [(False, True, 1), (True, True, 2), (True, False, 0)])
def test_the_usual_course_asks_every_debater_in_every_round_and_the_judge_again_where_it_is_swapped(
    swapped: bool, judge: bool, times: int
) -> None:
    told = options(swapped=swapped, judge=judge)

    entries = drive(start_of(told))

    usual = table(told).usual
    assert usual == {**dict.fromkeys(THREE, 3), **({"judge": times} if times else {})}
    assert usual == {seat: sum(seat_of(turn) == seat for turn in turns_asked(entries)) for seat in usual}


def test_a_ceiling_for_what_the_table_begins_with_pays_for_the_independent_round_and_its_judge() -> None:
    for told in (options(), options(swapped=True), options(judge=False)):
        least = len(table(told).beginning) * HELD

        entries = drive(start_of(told, ceiling=least))
        under = drive(start_of(told, ceiling=least - 1))

        assert set(turns_asked(entries)) >= round_(0)
        assert turns_asked(under) == []


def test_judge_and_debaters_should_not_think_alike() -> None:
    apart = table(options(debaters=2)).apart

    assert apart == (("judge", "debater-1"), ("judge", "debater-2"), ("debater-2", "debater-1"))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (options(debaters=1), "2 to 10 debaters, found 1"),
        (options(debaters=11), "2 to 10 debaters, found 11"),
        (options(debaters=(Debater("a"), Debater("a"))), "debaters have distinct names"),
        (options(debaters=(Debater("a"), Debater(" "))), "debaters have distinct names"),
        (options(debaters=(Debater("a"),)), "2 to 10 debaters, found 1"),
        (options(rounds=0), "1 to 20 rounds after the independent one, found maxRounds 0"),
        (options(rounds=21), "1 to 20 rounds after the independent one, found maxRounds 21"),
        (options(convergence_similarity=-1), "0 to 1, found -0.001"),
        (options(convergence_similarity=1_001), "0 to 1, found 1.001"),
    ],
)
def test_a_debate_may_not_start_with_these_options(told: ConvergenceOptions, message: str) -> None:
    started = start_of(told)

    with pytest.raises(IllegalEntry, match=message):
        replay(a_case(), opening(started, a_case()))


def test_a_debate_may_not_start_with_a_seat_missing_or_another_formats_options() -> None:
    started = start_of(options())

    for wrong, message in (
        (replace(started, seats=started.seats[1:]), r"no plan for the seats \['debater-1'\]"),
        (replace(started, seats=started.seats[:-1]), r"no plan for the seats \['judge'\]"),
        (replace(started, options=StancesOptions((), 1, human_review=False)), "those of another format"),
    ):
        with pytest.raises(IllegalEntry, match=message):
            replay(a_case(), opening(wrong, a_case()))
    replay(a_case(), opening(start_of(options(judge=False)), a_case()))


def test_the_similarity_is_085_and_judge_and_check_are_there_unless_told_otherwise() -> None:
    told = options()

    assert (told.convergence_similarity, told.convergence_check, told.judge) == (850, True, True)


# Who sees what.


def test_own_instructions_reach_debaters_and_judge_apart() -> None:
    def told(**others: Any) -> dict[str, bool]:
        entries = drive(start_of(options(**others)))
        return {
            t: "instructions" in asked(entries, t).fragments
            for t in (TurnId("0.debater-1.1"), TurnId("1.debater-1.1"), TurnId("2.judge.1"))
        }

    assert set(told().values()) == {False}
    assert told(debater_instructions="Weigh fines.") == {
        "0.debater-1.1": True,
        "1.debater-1.1": True,
        "2.judge.1": False,
    }
    assert told(judge_instructions="Be brief.") == {"0.debater-1.1": False, "1.debater-1.1": False, "2.judge.1": True}


REFERENCE = (
    Debater("optimist", role="Argue for the positive case."),
    Debater("skeptic", role="Argue for the cautious case."),
    Debater("analyst", role="Argue from the data."),
)
"""The three debaters of the reference's own example."""


def test_the_references_three_debaters_argue_each_in_its_own_role() -> None:
    started = start_of(options(REFERENCE, judge_instructions="You are the CIO. Pick the best decision."))
    entries = drive(started)

    assert outcome(entries).status == "completed"
    assert personas_of(started.options) == dict(zip(THREE, (d.role for d in REFERENCE), strict=True))
    for r, phase in ((0, "convergence.independent"), (1, "convergence.debate"), (2, "convergence.debate")):
        for seat in THREE:
            assert asked(entries, TurnId(f"{r}.{seat}.1")).fragments == (phase, "persona")
    assert asked(entries, TurnId("2.judge.1")).fragments == ("instructions",)
    assert {*labels(Script(started, Facts.of(entries))).values()} == {"Debater A", "Debater B", "Debater C"}


def test_a_debater_with_a_prompt_of_its_own_has_neither_role_nor_instructions() -> None:
    debaters = (replace(REFERENCE[0], prompt="convergence.debater.own"), *REFERENCE[1:])
    entries = drive(start_of(options(debaters, debater_instructions="Weigh fines.")))

    own, other = asked(entries, TurnId("1.debater-1.1")), asked(entries, TurnId("1.debater-2.1"))
    assert (own.prompt, own.fragments) == ("convergence.debater.own", ("convergence.debate",))
    assert (other.prompt, other.fragments) == ("", ("convergence.debate", "persona", "instructions"))


def test_names_change_neither_the_course_nor_the_outcome() -> None:
    named, counted = (drive(start_of(options(debaters, judge=False))) for debaters in (REFERENCE, 3))

    assert turns_asked(named) == turns_asked(counted)
    assert result(named) == result(counted)


def test_the_judge_sees_the_whole_transcript_round_by_round_and_every_debater_under_its_letter() -> None:
    started = start_of(options(swapped=True))
    entries = drive(started)
    script = Script(started, Facts.of(entries))

    first, again = asked(entries, TurnId("2.judge.1")), asked(entries, TurnId("2.judge.swapped.1"))

    assert set(first.sees) == set().union(*(round_(r) for r in range(3)))
    assert [t[0] for t in first.sees] == sorted(t[0] for t in first.sees)
    assert again.sees == tuple(t for r in "012" for t in reversed([t for t in first.sees if t.startswith(r)]))
    for turn in (first, again, asked(entries, TurnId("2.debater-1.1"))):
        shown = FORMATS["convergence/1"].shown(script, turn)
        assert shown == {t: labels(script)[seat_of(t)] for t in turn.sees}


def test_the_letters_are_drawn_from_the_seed_and_tell_nothing() -> None:
    drawn = []
    for seed in range(60):
        script = Script(start_of(options(), seed=f"{seed:064x}"), Facts())
        drawn.append(tuple(labels(script).items()))
        assert list(labels(script).values()) == ["Debater A", "Debater B", "Debater C"]

    assert len(set(drawn)) == 6
    assert min(sum(d[0][0] == seat for d in drawn) for seat in THREE) > 8


# The judge.


def test_the_judges_answer_is_the_debates() -> None:
    entries = drive(start_of(options()), answering(SPLIT, judge="Renegotiate.", level="MODERATE"))

    assert (result(entries).decided_by, result(entries).final_answer) == ("judge", "Renegotiate.")
    assert (outcome(entries).final_turn, outcome(entries).confidence_level) == ("2.judge.1", "MODERATE")
    assert result(entries).votes == (
        AnswerVotes("Sign.", ("debater-1", "debater-3")),
        AnswerVotes("Wait.", ("debater-2",)),
    )
    assert result(entries).tied == ()


def test_a_judge_of_a_debaters_family_caps_the_confidence() -> None:
    started = start_of(options())
    seats = tuple(a_plan(p.seat, "oak" if p.seat == "judge" else p.family) for p in started.seats)

    end = outcome(drive(replace(started, seats=seats)))

    reasons = ("debatersDivided", "deciderOfDebatersFamily", "deciderOnWeighedModel")
    assert end.caps == tuple(Cap(reason, "MODERATE") for reason in reasons)


def test_what_a_judge_makes_of_debaters_that_differ_to_the_end_is_never_sure() -> None:
    entries = drive(start_of(options()), answering(SPLIT, judge="Wait.", level="HIGH"))

    assert (outcome(entries).confidence_level, outcome(entries).flags) == ("MODERATE", ("debatersDivided",))
    assert outcome(entries).human_review.reasons == ("debatersDivided",)


@pytest.mark.parametrize(
    ("first", "converges_in", "caps"),
    [
        (SAME, 0, ("decidedBlind",)),
        (SPLIT, 1, ("agreedOnlyAfterExchange",)),
        (dict.fromkeys(THREE, "Wait."), 1, ("agreedOnlyAfterExchange",)),
        (SAME, 1, ()),
    ],
)
def test_answers_that_nobody_had_read_or_that_agreed_only_after_that_are_never_sure(
    first: Mapping[str, str], converges_in: int, caps: tuple[str, ...]
) -> None:
    entries = drive(start_of(options()), answering(first, SAME, level="HIGH"), findings=converging(converges_in))

    assert result(entries).converged_in == converges_in
    assert tuple(cap.reason for cap in outcome(entries).caps) == outcome(entries).flags == caps
    assert outcome(entries).confidence_level == ("MODERATE" if caps else "HIGH")


@pytest.mark.parametrize(
    ("first", "second", "last", "caps"),
    [
        (SAME, SAME, SAME, ("decidedBlind",)),
        (SAME, SPLIT, SAME, ("decidedBlind",)),  # a seat that wavered in between challenged nothing that stands
        (dict.fromkeys(THREE, "Wait."), SAME, SAME, ("agreedOnlyAfterExchange",)),
        (SPLIT, SAME, SAME, ("agreedOnlyAfterExchange",)),
        (SAME, SAME, SPLIT, ("debatersDivided",)),
    ],
)
@pytest.mark.parametrize("judge", [True, False])
def test_where_no_round_is_checked_the_answers_themselves_say_when_they_agreed(
    judge: bool, first: Mapping[str, str], second: Mapping[str, str], last: Mapping[str, str], caps: tuple[str, ...]
) -> None:
    started = start_of(options(judge=judge, convergence_check=False))

    entries = drive(started, answering(first, second, last, level="HIGH"))

    assert not any(isinstance(entry, CheckFound) and "/convergence" in entry.check for entry in entries)
    assert tuple(cap.reason for cap in outcome(entries).caps) == outcome(entries).flags == caps
    assert outcome(entries).confidence_level == "MODERATE"
    assert outcome(entries).human_review.required


@pytest.mark.parametrize(
    ("judge", "argued"), [("Sign.", True), ("SIGN", True), ("Wait.", True), ("Sign, perhaps.", False), ("Yes", False)]
)
def test_a_ruling_is_argued_where_a_debater_held_its_answer_at_the_end(judge: str, argued: bool) -> None:
    end = outcome(drive(start_of(options()), answering(SPLIT, judge=judge)))

    assert ("rulingUnargued" in end.flags) is not argued
    assert (Cap("rulingUnargued", "MODERATE") in end.caps) is not argued


def test_a_ruling_for_an_answer_that_was_given_up_is_unargued() -> None:
    gone_by = outcome(drive(start_of(options()), answering(SPLIT, SAME, judge="Wait.")))

    assert "rulingUnargued" in gone_by.flags
    assert gone_by.human_review.required


def test_a_silent_judge_fails_the_debate_and_decides_nothing() -> None:
    entries = drive(start_of(options()), answering(SAME), fails=gone(TurnId("2.judge.1")))

    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
    assert (result(entries).decided_by, result(entries).final_answer) == ("nobody", None)
    assert result(entries).votes == (AnswerVotes("Sign.", THREE),)


@pytest.mark.parametrize(
    ("again", "stands"), [("sign", True), ("SIGN.", True), ("Wait.", False), ("Do not sign.", False), (None, True)]
)
def test_the_same_answer_in_the_other_order_stands_and_another_is_for_a_person(again: str | None, stands: bool) -> None:
    entries = drive(start_of(options(swapped=True)), answering(SAME, judge="Sign.", again=again))

    assert turns_asked(entries)[-2:] == ["2.judge.1", "2.judge.swapped.1"]
    assert result(entries).swapped_answer == (again or "Sign.")
    assert outcome(entries).final_turn == "2.judge.1"
    assert outcome(entries).flags == (() if stands else ("orderSensitive",))
    if stands:
        assert (result(entries).decided_by, result(entries).final_answer) == ("judge", "Sign.")
        assert (outcome(entries).confidence_level, outcome(entries).caps) == ("HIGH", ())
    else:
        assert (result(entries).decided_by, result(entries).final_answer) == ("nobody", None)
        assert (outcome(entries).confidence_level, outcome(entries).caps) == ("LOW", (Cap("orderSensitive", "LOW"),))
        assert outcome(entries).human_review.reasons == ("orderSensitive", "confidenceLow")


def test_the_second_asking_is_held_for_with_the_first_and_its_failure_leaves_the_first_unchecked() -> None:
    entries = drive(start_of(options(swapped=True)), answering(SAME), fails=gone(TurnId("2.judge.swapped.1")))

    for turn, (_, move) in asking(entries).items():
        held = [t.id for t in move.holding]
        r = turn[0]
        takes = [f"{r}.{judge}.{take}" for judge in ("judge", "judge.swapped") for take in (1, 2)]
        assert held == (takes if "debater" in turn else [])
    assert outcome(entries).status == "completed"
    assert outcome(entries).flags == ("orderUnchecked",)
    assert outcome(entries).caps == (Cap("orderUnchecked", "MODERATE"),)
    assert result(entries).decided_by == "judge"


# The vote.


def voted(*by_round: Mapping[str, str], families: Sequence[str] = ("oak", "elm", "ash"), **others: Any) -> list[Entry]:
    return drive(start_of(options(judge=False, **others), families=families), answering(*by_round))


def test_without_a_judge_the_majority_of_the_last_rounds_answers_decides() -> None:
    entries = voted(
        {**SPLIT, "debater-2": "Sign."}, SPLIT, {"debater-1": "Wait", "debater-2": "wait.", "debater-3": "Sign"}
    )

    assert turns_asked(entries)[-1] == "2.debater-3.1"
    assert (result(entries).decided_by, result(entries).final_answer) == ("majority", "Wait")
    assert result(entries).votes == (
        AnswerVotes("Wait", ("debater-1", "debater-2")),
        AnswerVotes("Sign", ("debater-3",)),
    )
    assert result(entries).blind_answers == (AnswerVotes("Sign.", THREE),)
    assert outcome(entries).final_turn is None


FOUR = {"debater-1": "Wait.", "debater-2": "Sign.", "debater-3": "sign", "debater-4": "wait"}


@pytest.mark.parametrize(
    ("ties", "answer", "by", "flag"),
    [("lowestDebater", "Wait.", "majority", "tieBroken"), ("noAnswer", None, "nobody", "tied")],
)
def test_a_tie_goes_to_the_lowest_debater_or_to_nobody_and_is_named(
    ties: str, answer: str | None, by: str, flag: str
) -> None:
    entries = voted(FOUR, debaters=4, ties=ties, families=("oak", "elm", "ash", "pine"))

    assert (result(entries).decided_by, result(entries).final_answer) == (by, answer)
    assert result(entries).tied == ("Wait.", "Sign.")
    assert outcome(entries).confidence_level == "LOW"
    assert outcome(entries).flags == ("debatersDivided", flag)


def test_an_answer_of_the_most_seats_is_no_tie_although_the_rest_is() -> None:
    answers = {**FOUR, "debater-1": "sign", "debater-4": "Renegotiate."}

    entries = voted(answers, debaters=4)

    assert (result(entries).final_answer, result(entries).tied) == ("sign", ())


def test_the_vote_after_convergence_is_on_the_round_that_converged() -> None:
    started = start_of(options(judge=False))

    entries = drive(started, answering(SPLIT, SAME, SPLIT), findings=converging(1))

    assert outcome(entries).stop_reason == "consensus"
    assert (result(entries).final_answer, result(entries).converged_in) == ("Sign.", 1)


WAIT = dict.fromkeys(THREE, "Wait.")


@pytest.mark.parametrize(
    ("blind", "last", "families", "level"),
    [
        (SAME, SAME, ("oak", "elm", "ash"), "HIGH"),
        (SPLIT, SAME, ("oak", "elm", "ash"), "MODERATE"),  # two of three blind drafts had it, the third came round
        (dict.fromkeys(THREE, "SIGN!"), SAME, ("oak", "elm", "ash"), "HIGH"),  # in other print
        (WAIT, SAME, ("oak", "elm", "ash"), "MODERATE"),  # no blind draft had it, but several families have it now
        (SAME, SPLIT, ("oak", "elm", "ash"), "MODERATE"),  # not all of them
        (SAME, SPLIT, ("oak", "elm", "oak"), "MODERATE"),  # one family, but most blind drafts had it
        (WAIT, SPLIT, ("oak", "elm", "oak"), "LOW"),  # one family, and no blind draft
        (SAME, {"debater-1": "a", "debater-2": "b", "debater-3": "c"}, ("oak", "elm", "ash"), "LOW"),
    ],
)
def test_the_confidence_of_a_vote_follows_from_drafts_families_and_seats(
    blind: Mapping[str, str], last: Mapping[str, str], families: Sequence[str], level: str
) -> None:
    assert outcome(voted(blind, last, families=families)).confidence_level == level


def test_half_of_the_blind_drafts_is_not_most_of_them() -> None:
    entries = voted(FOUR, dict.fromkeys(FOUR, "Sign."), debaters=4)

    assert outcome(entries).confidence_level == "MODERATE"


def test_debaters_of_one_family_allow_at_most_moderate_also_where_a_judge_decides() -> None:
    judged = outcome(drive(start_of(options(), families=("oak",)), answering(SAME)))
    vote = outcome(voted(SAME, families=("oak",)))

    for end in (judged, vote):
        assert end.confidence_level == "MODERATE"
        assert end.flags == ("oneModel", "oneFamily")
        assert Cap("oneModel", "MODERATE") in end.caps


# Silence, money, stops.


def test_a_silent_debater_is_missing_from_then_on_and_two_go_on() -> None:
    entries = drive(start_of(options(judge=False)), answering(SAME), fails=gone(TurnId("1.debater-2.1")))

    left = {"debater-1", "debater-3"}
    assert {turn for turn in turns_asked(entries) if turn.startswith("2.")} == {f"2.{d}.1" for d in left}
    assert set(asked(entries, TurnId("2.debater-1.1")).sees) == round_(0) | round_(1, *left)
    assert outcome(entries).status == "completed"
    assert (result(entries).missing, outcome(entries).flags) == (("debater-2",), ("debaterMissing",))
    assert Cap("debaterMissing", "MODERATE") in outcome(entries).caps
    assert result(entries).votes == (AnswerVotes("Sign.", ("debater-1", "debater-3")),)
    assert result(entries).blind_answers == (AnswerVotes("Sign.", THREE),)
    assert outcome(entries).confidence_level == "MODERATE"


def test_a_debate_fails_when_fewer_than_two_debaters_remain_and_nobody_has_decided() -> None:
    entries = drive(
        start_of(options(judge=False)),
        answering(SAME),
        fails=gone(TurnId("0.debater-1.1"), TurnId("1.debater-2.1"), TurnId("1.debater-3.1")),
    )

    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")
    assert outcome(entries).detail == "1.debater-2.1 stayed silent: it failed too often"
    assert result(entries).missing == THREE
    assert (result(entries).decided_by, result(entries).final_answer) == ("nobody", None)
    assert result(entries).votes == (AnswerVotes("Sign.", ("debater-2", "debater-3")),)


def test_a_round_is_refused_whole_and_the_judge_closes_on_what_was_said() -> None:
    entries = drive(start_of(options()), refuses=lambda turns: "1.debater-1.1" in turns)

    (refusal,) = (e for e in entries if isinstance(e, BudgetRefused))
    assert set(refusal.turns) == round_(1)
    assert turns_asked(entries)[-1] == "0.judge.1"
    assert set(asked(entries, TurnId("0.judge.1")).sees) == round_(0)
    end = outcome(entries)
    assert (end.status, end.stop_reason, end.final_turn) == ("truncated", "budget", "0.judge.1")
    assert (result(entries).decided_by, end.confidence_level) == ("judge", "LOW")
    assert end.flags == ("DEBATE_TRUNCATED", "debatersDivided")


def test_a_judge_closes_also_on_the_part_of_a_round_that_was_said_and_is_asked_twice_there_too() -> None:
    entries = drive(
        start_of(options(swapped=True)),
        fails=lambda turn, nth: turn == "1.debater-2.1" and nth == 1,
        refuses=lambda turns: turns == ("1.debater-2.1",),
    )

    assert turns_asked(entries)[-2:] == ["1.judge.1", "1.judge.swapped.1"]
    assert set(asked(entries, TurnId("1.judge.1")).sees) == round_(0) | round_(1, "debater-1", "debater-3")
    assert outcome(entries).status == "truncated"


def test_without_a_judge_the_vote_of_the_last_whole_round_stands_when_the_money_ends() -> None:
    started = start_of(options(judge=False))
    entries = drive(
        started,
        answering(SPLIT, WAIT),
        fails=lambda turn, nth: turn == "1.debater-2.1" and nth == 1,
        refuses=lambda turns: turns == ("1.debater-2.1",),
    )

    assert (outcome(entries).status, outcome(entries).confidence_level) == ("truncated", "LOW")
    assert (result(entries).decided_by, result(entries).final_answer) == ("majority", "Sign.")
    assert result(entries).rounds == 1


def test_money_that_ends_before_anybody_spoke_leaves_nothing_to_decide() -> None:
    for judge in (True, False):
        entries = drive(start_of(options(judge=judge), ceiling=TURN_COST))

        assert turns_asked(entries) == []
        assert (outcome(entries).status, result(entries).decided_by) == ("truncated", "nobody")
        assert (result(entries).votes, result(entries).blind_answers) == ((), ())


def test_a_second_refusal_concludes_without_a_judge() -> None:
    entries = drive(
        start_of(options(swapped=True)), refuses=lambda turns: turns[0].startswith("1.") or "judge" in turns[0]
    )

    assert set(turns_asked(entries)) == round_(0)
    assert (outcome(entries).status, outcome(entries).final_turn) == ("truncated", None)
    assert result(entries).decided_by == "nobody"


@pytest.mark.parametrize(
    ("by", "status", "decided_by"), [("deadline", "truncated", "majority"), ("abort", "aborted", "nobody")]
)
def test_a_vote_stands_after_a_deadline_and_not_after_an_abort(by: StoppedBy, status: str, decided_by: str) -> None:
    def stops(facts: Facts) -> DebateStopped | None:
        return DebateStopped(by, "somebody stopped it") if "2.debater-1.1" in facts.attempts else None

    entries = drive(start_of(options(judge=False)), answering(SAME, WAIT, WAIT), stops=stops)

    assert outcome(entries).status == status
    assert result(entries).decided_by == decided_by
    assert result(entries).votes == (AnswerVotes("Wait.", THREE),)
    assert outcome(entries).confidence_level == "LOW"


def test_an_answer_that_says_nothing_cannot_be_used() -> None:
    turns = list[TurnId]()

    def empty(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if turn.id in ("0.debater-1.1", "2.judge.1") and turn.id not in turns and isinstance(reply, Position | Ruling):
            turns.append(turn.id)
            return replace(reply, final_answer=" ... ")
        return reply

    entries = drive(start_of(options()), empty)

    failed = [e for e in entries if getattr(e, "reason", "") == "malformedReply"]
    assert [e.turn for e in failed if hasattr(e, "turn")] == ["0.debater-1.1", "2.judge.1"]
    assert all("letters or digits" in getattr(e, "detail", "") for e in failed)
    assert outcome(entries).status == "completed"


def test_a_judge_that_heard_one_debater_alone_is_said_to_have_heard_no_challenge() -> None:
    asked = set[TurnId]()

    def refuses(turns: Sequence[TurnId]) -> bool:
        again = "0.debater-1.1" in asked.intersection(turns)
        asked.update(turns)
        return again

    entries = drive(start_of(options(2)), answering(SAME), fails=lambda t, _: t == "0.debater-1.1", refuses=refuses)
    end = outcome(entries)

    assert (end.status, end.final_turn) == ("truncated", "0.judge.1")
    assert "unchallenged" in end.flags
    assert Cap("unchallenged", "LOW") in end.caps


# Final answers as they are compared.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes.", "  YES"),
        ("**Sign** it!", "sign it"),
        ("Naïve", "nai\u0308ve"),
        ("ｆｕｌｌ width", "Full Width"),
        ("the Supplier\u2019s cap", "the supplier's cap"),
        ("up\u00adgrade \u200bnow", "upgrade now"),
        ("\u22125 %", "-5 %"),
        ("5\u201310 days", "5-10 days"),
        ("✔\ufe0f Sign®", "✔ sign"),
        ("ﬁnal", "final"),
        ("e\u200b\u0301t\u00e9", "\u00e9te\u0301"),
    ],
)
def test_answers_that_differ_in_print_alone_are_one(one: str, other: str) -> None:
    assert folded(one) == folded(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5", "-5"),
        ("5", "5 %"),
        ("5 $", "5 €"),
        ("1.5", "15"),
        ("1.5", "1 5"),
        ("10²", "102"),
        (".5", "5"),
        ("1/2", "1-2"),
        ("10:1", "10 1"),
        ("C#", "C"),
        ("✅ Sign", "❌ Sign"),
        ("👍", "👎"),
        ("1½", "11/2"),
        (">= 5", "5"),
        ("sign", "do not sign"),
        ("re-sign", "resign"),
        ("कानून", "कनन"),
    ],
)
def test_answers_that_differ_in_what_they_say_are_two(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize("nothing", ["", "...", " - ", "?!", "\u200b", "**"])
def test_an_answer_without_letters_or_digits_folds_to_nothing(nothing: str) -> None:
    assert folded(nothing) == ""


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.dictionaries(st.sampled_from(THREE), st.sampled_from(["Sign.", "sign", "Wait.", "wait", "No"])))
def test_every_vote_is_counted_once_and_the_most_come_first(answers: dict[str, str]) -> None:
    groups = votes(answers, THREE)

    assert sorted(seat for group in groups for seat in group.seats) == sorted(answers)
    assert [len(g.seats) for g in groups] == sorted((len(g.seats) for g in groups), reverse=True)
    for group in groups:
        assert {folded(answers[seat]) for seat in group.seats} == {folded(group.answer)}
        assert group.answer == answers[group.seats[0]]
