"""Which arguments are a seat's own: agreement and another side's words are none, and honest arguments all are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from service.checks import given
from service.checks.judgement import Shown, Spoken, check_voices
from service.debate.emptiness import says_nothing
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationVerdict, StrikeReason, Voice
from service.debate.model import Options
from service.debate.replies import Argument, Ballot, Position, Reply, Statement
from service.debate.turns import TurnId, turn_id
from tests.fixtures import formats
from tests.fixtures.debates import a_case, start_of
from tests.unit.debate import between
from tests.unit.debate.test_recorded_transcripts import recorded

FIRST = (
    "Clause 9.2 limits the Supplier's liability to three times the fees, and the wording of that clause covers every "
    "claim that the Bank could bring under this agreement or in connection with it."
)
ENGLISH = "The fee is due at the end of the month and it is to be paid by the bank, as the contract has it."


def heard(
    text: str,
    shown: Sequence[str] = (FIRST,),
    *,
    verified: bool = False,
    struck: StrikeReason | None = None,
    opposed: bool = True,
) -> str:
    """How one argument of a debate in English is judged."""
    turn, other = turn_id(1, "debater-2"), turn_id(1, "debater-3")
    verdict = ArgumentVerdict(turn, 1, (CitationVerdict("verified"),) if verified else (), struck)
    english = Spoken(other, (Statement(1, ENGLISH),), (), ())
    voice = check_voices([Spoken(turn, (Statement(1, text),), (verdict,), shown, opposed), english]).voices[0]
    return next((kind for kind in ("own", "echoed", "empty") if getattr(voice, kind)), "struck")


@pytest.mark.parametrize(
    "text",
    [
        "See above.",
        "...",
        "I agree with the other debater.",
        "I agree with the other debater entirely and have nothing against it.",
        "We fully concur.",
        "As stated before, so it is.",
        "The opposing side makes a compelling case.",
        "It is usual.",
        "No further objections.",
    ],
)
@pytest.mark.parametrize("shown", [(), (FIRST,)])
def test_agreement_and_pointers_are_empty(text: str, shown: Sequence[str]) -> None:
    assert heard(text, shown) == "empty"
    assert heard(text, shown, verified=text == "See above.") == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "The other side is right: clause 11.3 sets fines outside any limit.",
        "My opponent is right. Clause 11.3 sets fines outside any limit.",
        "I side with the first debater, and clause 11.3 sets fines outside any limit.",
        "The critic is entirely right.",
    ],
)
def test_to_take_the_other_side_is_no_argument_of_a_seat_that_was_to_oppose(text: str) -> None:
    assert heard(text, verified=True) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "The other side is not right: clause 11.3 sets fines outside any limit.",
        "I cannot agree with the other debater. Clause 11.3 sets fines outside any limit.",
        "Even if the other side is right: clause 11.3 sets fines outside any limit.",
        "The other side is right. But clause 11.3 sets fines outside any limit.",
        "The other side is right about clause 9.2; clause 11.3 sets fines outside any limit.",
    ],
)
def test_to_deny_the_other_side_or_to_grant_it_in_part_is_an_argument(text: str) -> None:
    assert heard(text, verified=True) == "own"


def test_one_that_need_not_oppose_may_agree_and_give_a_ground() -> None:
    text = "I agree with the second debater: clause 11.3 sets regulatory fines outside any limit."

    assert heard(text, opposed=False) == "own"
    assert heard(text) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        FIRST,
        f"My colleague has put this far better than I could: {FIRST}",
        f"{FIRST} So it stands.",
        f"In round 1, argument 2, it was said far better: {FIRST}",
        f"However: {FIRST}",
        "The wording of clause 9.2 limits liability to three times the fees.",
        FIRST.upper(),
    ],
)
def test_another_sides_words_are_an_echo(text: str) -> None:
    assert heard(text) == heard(text, verified=True) == "echoed"
    assert heard(text, ()) == "own", "said first, it is an argument"


@pytest.mark.parametrize(
    "text",
    [
        "Clause 9.2 limits only what the Bank could bring under this agreement, never fines.",
        FIRST.replace("limits the", "does not limit the"),
        FIRST.replace("three", "five"),
        f"{FIRST} No: clause 11.3 excludes regulatory fines from it.",
        "The wording of clause 9.2 does not limit claims for wilful acts.",
        "Clause 9.2 limits liability to five times the fees.",
        f'The debater before me says "{FIRST}" That overlooks clause 11.3, which sets fines apart.',
        "The other side is right that clause 9.2 sets a limit, but clause 11.3 sets regulatory fines outside it.",
        "I agree with the other debater on the amount. However, clause 11.3 sets regulatory fines outside any limit.",
        "Fines lie outside: clause 11.3 places them on the Supplier without naming an amount.",
    ],
)
def test_what_opposes_adds_or_quotes_is_its_own(text: str) -> None:
    assert heard(text, verified=True) == "own"


def test_a_struck_argument_is_in_no_list() -> None:
    assert heard("Clause 11.3 sets regulatory fines outside any limit.", struck="unverified_citation") == "struck"


def test_words_of_another_language_are_no_agreement_by_an_english_list() -> None:
    turn = turn_id(1, "debater-2")
    text = "Klausel 11.3 nimmt Bußgelder der Aufsicht von jeder Begrenzung der Haftung aus."
    spoken = Spoken(turn, (Statement(1, text),), (), ("Die Haftung ist auf das Dreifache begrenzt.",), opposed=True)

    assert check_voices([spoken]).voices == (Voice(turn, own=(1,)),)


@pytest.mark.parametrize(
    ("texts", "own"),
    [
        (["Rain falls on mountains while rivers carry pebbles to the sea, and no dam lasts."], False),
        (
            ["Rain falls on mountains, and no dam lasts.", "Add two eggs, stir the flour and bake it for an hour."],
            False,
        ),
        (
            ["Rain falls on mountains, and no dam lasts.", "The term ends when the landlord has repaid the deposit."],
            True,
        ),
        (["Whoever pays early carries the risk alone, and the landlord keeps every key until June."], True),
    ],
)
def test_a_turn_without_a_word_of_the_case_argues_nothing(texts: list[str], own: bool) -> None:
    lease = (
        "The landlord lets the warehouse in Dock Street to the tenant for a fixed term of five years. The tenant pays "
        "rent monthly in advance, keeps the roof in repair, insures the goods stored and returns every key at the end. "
        "Either side may end the term early against payment of six rents. The deposit is repaid within thirty days."
        " Machines, cranes and shelves stay the property of whichever firm brought them into the building, except the "
        "lift, which belongs to the owner and is serviced by a contractor. Subletting needs written consent."
        " A broker earns one rent."
    )
    turn = turn_id(1, "debater-2")
    statements = tuple(Statement(n, text) for n, text in enumerate(texts, start=1))
    shown = Shown(("May the tenant end the lease early?",), {"D1": lease})

    (voice,) = check_voices([Spoken(turn, statements, (), (), opposed=True)], shown).voices

    assert bool(voice.own) is own
    assert bool(voice.empty) is not own


def test_english_words_over_a_document_in_another_language_are_arguments() -> None:
    """They share next to nothing with it, however much they are about it."""
    contract = " ".join(
        f"Der Lieferant haftet für Schaden{n} nach Ziffer {n}, soweit nicht Anlage{n} den Fall{n} ausnimmt und der "
        f"Kunde{n} die Anzeige{n} rechtzeitig erstattet."
        for n in range(100)
    )
    text = "A supplier who can walk away within weeks leaves us without letters, and replacing it takes a whole year."
    spoken = Spoken(turn_id(1, "debater-2"), (Statement(1, text),), (), ())

    (voice,) = check_voices([spoken], Shown(("Should the bank sign?",), {"D1": contract})).voices

    assert voice.own == (1,)


def test_no_debater_of_a_recorded_debate_is_without_an_argument(shared: Path) -> None:
    """87 debates between people and models over stories: each of their 174 debaters argued."""
    seats = 0
    for debate in recorded(shared):
        spoken, said = [], ([], [])  # type: tuple[list[Spoken], tuple[list[str], list[str]]]
        for r, pair in enumerate(debate.rounds, start=1):
            for n, text in enumerate(pair):
                statement = Statement(1, text, (), "reasoning")
                turn = turn_id(r, f"debater-{n + 1}")
                spoken.append(Spoken(turn, (statement,), (), tuple(said[1 - n]), opposed=True))
                said[n].append(text)
        argued = {turn.split(".")[1] for turn in check_voices(spoken).argued()}
        assert argued == {"debater-1", "debater-2"}
        seats += len(argued)

    assert seats == 174


@pytest.mark.parametrize(
    "text",
    [
        "It is so.",
        "See above.",
        "Both are right.",
        "...",
        "N/A",
        "I agree.",
        "The proposition is upheld.",
        "Siehe oben.",
    ],
)
def test_a_text_of_pointers_and_agreement_says_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    ["It falls.", "Clause 9 holds.", "Renegotiate.", "7", "both sides just agreed on A.", "责任有上限。", "Es haftet."],
)
def test_a_short_text_may_say_something(text: str) -> None:
    assert not says_nothing(text)


# What a turn may repeat.


def shown_to(options: Options, said: dict[TurnId, Reply]) -> dict[TurnId, list[str]]:
    """The texts that each turn is compared with, where each says its own id."""
    facts = Facts()
    facts.started, facts.said = between.a_start(options), said
    return {one.turn: list(one.shown) for one in given.VOICES["judgement/1"](a_case(), facts, tuple(said)).spoken}


def test_stances_are_compared_with_earlier_turns_of_other_stances_alone() -> None:
    turns = [turn_id(r, f"debater-{n}") for r in (1, 2) for n in (1, 2, 3)]
    said: dict[TurnId, Reply] = {turn: Argument((Statement(1, turn),)) for turn in turns}
    shown = shown_to(between.stances("sign", "do not", "Sign"), said)

    assert shown[turns[0]] == []
    assert shown[turns[1]] == [turns[0]]
    assert shown[turns[2]] == [turns[1]], "the first debater argues the same stance"
    assert shown[turns[4]] == [turns[0], turns[2], turns[3]]


def test_the_first_proposals_of_a_ballot_and_a_round_of_answers_are_compared_with_none() -> None:
    phases = ("proposal", "critique")
    turns = [turn_id(1, f"debater-{n}", phase) for phase in phases for n in (1, 2)]
    said: dict[TurnId, Reply] = {turn: Ballot("-", (Statement(1, turn),), "-") for turn in turns}
    shown = shown_to(between.ballot(), said)
    assert shown == {turns[0]: [], turns[1]: [], turns[2]: [turns[1]], turns[3]: [turns[0], turns[2]]}

    rounds = [turn_id(r, f"debater-{n}") for r in (0, 1) for n in (1, 2)]
    answered: dict[TurnId, Reply] = {turn: Position("-", (Statement(1, turn),)) for turn in rounds}
    facts = Facts()
    facts.started, facts.said = start_of(formats.plain("convergence/1")), answered
    seen = {one.turn: list(one.shown) for one in given.VOICES["judgement/1"](a_case(), facts, tuple(answered)).spoken}
    assert seen == {rounds[0]: [], rounds[1]: [], rounds[2]: [rounds[1]], rounds[3]: [rounds[0]]}
