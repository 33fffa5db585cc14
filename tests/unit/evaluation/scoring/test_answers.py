"""From what a format decided to an answer of the closed list; anything else is none, with a reason."""

import pytest
from msgspec.structs import replace

from service.debate.ballot import ESCALATE
from service.debate.facts import Facts
from service.debate.model import BallotOptions, ConvergenceOptions, Turn
from service.debate.replies import Ballot, Reply, Ruling
from service.evaluation.scoring.answers import answer_of
from service.evaluation.scoring.observed import observe
from tests.fixtures.debates import Replies, canned, drive, start_of
from tests.fixtures.formats import debaters
from tests.unit.evaluation.scoring.seen import seen

YES_NO = ("yes", "no")
LEVELS = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("format_", "said", "answers", "answer", "why"),
    [
        ("ballot/1", "Yes", YES_NO, "yes", None),
        ("ballot/1", "perhaps", YES_NO, None, "notInList"),
        ("convergence/1", "“YES.”", YES_NO, "yes", None),
        ("convergence/1", "≥ 5 %", ("≥ 5 %", "< 5 %"), "≥ 5 %", None),
        ("convergence/1", "yes, within limits", YES_NO, None, "notInList"),
        ("stances/1", "no", YES_NO, "no", None),
        ("stances/1", "something in between", YES_NO, None, "notInList"),
        ("panel/1", "High.", LEVELS, "high", None),
        ("panel/1", "The risk is high because of clause 4.", LEVELS, None, "notInList"),
        ("adversarial/1", "upheld", YES_NO, "yes", None),
        ("adversarial/1", "rejected", YES_NO, "no", None),
        ("adversarial/1", "modified", YES_NO, None, "modified"),
        ("adversarial/1", "rejected", ("yes", "no", "open"), None, "rejectedOfSeveral"),
    ],
)
def test_what_a_format_decided_becomes_an_answer_of_the_list_or_none(
    format_: str, said: str, answers: tuple[str, ...], answer: str | None, why: str | None
) -> None:
    assert answer_of(seen(format_, said), answers, states="yes") == (answer, why)


def test_a_debate_that_decided_nothing_keeps_its_own_reason() -> None:
    assert answer_of(seen("ballot/1", None, why_none="tied"), YES_NO, "yes") == (None, "tied")


def test_a_number_is_never_taken_for_another_one() -> None:
    assert answer_of(seen("convergence/1", "1.5"), ("15", "1 5"), "15").why_none == "notInList"


def test_a_rejected_proposition_that_states_the_wrong_answer_gives_the_right_one() -> None:
    assert answer_of(seen(said="rejected"), YES_NO, states="no").answer == "yes"


def voting(*votes: str) -> Replies:
    """Ballots that vote so in the order of the seats."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        return replace(said, vote=votes[int(turn.seat[-1]) - 1]) if isinstance(said, Ballot) else said

    return reply


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        (("yes", "yes", "no"), ("yes", None)),
        (("yes", "no", "maybe"), (None, "tied")),
        ((ESCALATE, ESCALATE, "no"), (None, "escalated")),
    ],
)
def test_a_ballot_s_decision_is_its_answer_and_a_person_s_decision_or_a_tie_is_none(
    votes: tuple[str, ...], expected: tuple[str | None, str | None]
) -> None:
    options = BallotOptions(debaters(3), 1, ("yes", "no", ESCALATE), 2, human_review=False)

    entries = drive(start_of(options), voting(*votes))

    assert answer_of(observe(entries), YES_NO, "yes") == expected


def test_convergence_s_final_answer_is_folded_as_the_format_folds_it() -> None:
    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        return replace(said, final_answer="Ｙes!") if isinstance(said, Ruling) else said

    entries = drive(start_of(ConvergenceOptions(3, 1, human_review=False)), reply)

    assert answer_of(observe(entries), YES_NO, "no") == ("yes", None)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        (("yes",), ("yes", None)),
        (("no", "yes", "no"), ("no", None)),
        (("yes", "no"), (None, "tied")),
        (("perhaps", "perhaps", "no"), ("no", None)),
        (("perhaps",), (None, "escalated")),
    ],
)
def test_blind_drafts_answer_by_most_votes_and_a_tie_is_none(
    votes: tuple[str, ...], expected: tuple[str | None, str | None]
) -> None:
    options = BallotOptions(debaters(len(votes)), 1, ("yes", "no", ESCALATE), 1, human_review=False, drafts=True)

    entries = drive(replace(start_of(options), seed_from="plan"), voting(*votes), given={})

    assert answer_of(observe(entries), YES_NO, "yes") == expected
