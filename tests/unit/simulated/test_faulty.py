"""Models with known faults: over 1,000 cases each rate is that of the table, and the same request has the same answer.

An observed count lies within the bounds that a binomial count leaves once in a million; sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
import pytest

from service.debate.replies.decoding import decode_reply
from service.evaluation.sets.labels import FAMILIES
from service.policy.known_faults import FLAW_FAMILIES, FaultShares, ModelFaults
from service.prompts.fence import Block
from service.simulated.faulty_answers import Who, answer, right
from service.simulated.faulty_moderator import decided
from service.simulated.known_cases import KnownCase
from service.simulated.provider import FAULTY_FINGERPRINT, FINGERPRINT
from service.simulated.provider import answer as answered
from service.simulated.request_reader import Reading
from service.simulated.request_reader import read as read_request
from tests.unit.simulated.known import (
    ANSWERS,
    DOCUMENTS,
    MODEL,
    SECOND,
    SPAN,
    argument,
    ballot_body,
    body_of,
    critic_body,
    critic_line,
    models,
    moderator_body,
    pair_line,
    question_line,
    request_of,
    said,
    statement,
)
from tests.unit.simulated.rates import assert_rate

CASES = 1_000
KNOWN = tuple(KnownCase(n, question_line(n)) for n in range(1, CASES + 1))


ONE = Who(MODEL, "debater-1")


def answers(who: Who = ONE, *, later: int = 0, states: bool = False, **shares: Any) -> list[bool]:
    """In which of the known cases a model is right."""
    found = [right(FaultShares(**shares), who, case, later=later, states=states) for case in KNOWN]
    assert None not in found
    return [bool(one) for one in found]


# -- a critic


def test_a_critic_hits_and_alarms_as_often_as_the_table_says() -> None:
    flaws = ["flawed" if n % 2 else "sound" for n in range(2 * CASES)]
    faulty = models([critic_line(n, flaw) for n, flaw in enumerate(flaws)], hits=700, false_alarms=200)
    yes: dict[str, list[bool]] = {"flawed": [], "sound": []}
    for n, flaw in enumerate(flaws):
        reply = said(critic_body(n), faulty, "critic")
        named = [point for point in reply.points if 2 in point.attacks]
        assert all((c.quote, c.source_id) == (SPAN, "D1") for point in named for c in point.citations)
        assert all(point.citations for point in named)
        assert all(c.quote in DOCUMENTS["D1"] for point in reply.points for c in point.citations)
        yes[flaw].append(bool(named))

    assert_rate(yes["flawed"], 700)
    assert_rate(yes["sound"], 200)


def test_hits_are_by_family_and_others_have_their_own_rate() -> None:
    hits = {FLAW_FAMILIES[0]: 1_000, "others": 0}
    lines = [critic_line(n, "flawed", FLAW_FAMILIES[n % 2]) for n in range(20)]
    faulty = models(lines, hits=hits)

    found = [any(2 in p.attacks for p in said(critic_body(n), faulty, "critic").points) for n in range(20)]

    assert found == [n % 2 == 0 for n in range(20)]


def test_the_families_are_those_of_golden_sets() -> None:
    assert FLAW_FAMILIES == FAMILIES


def test_a_critic_decides_alike_when_it_is_asked_again() -> None:
    faulty = models([critic_line(n, "flawed") for n in range(40)], hits=500)

    for n in range(40):
        once = said(critic_body(n), faulty, "critic")
        again = said(critic_body(n, again=True), faulty, "critic")
        assert [2 in p.attacks for p in once.points[:1]] == [2 in p.attacks for p in again.points[:1]]


# -- first answers and later turns


@pytest.mark.parametrize("accuracy", [0, 300, 800, 1_000])
def test_first_answers_are_right_as_often_as_the_table_says(accuracy: int) -> None:
    assert_rate(answers(accuracy=accuracy), accuracy)
    assert_rate(answers(accuracy=accuracy, correlation=600), accuracy)


def test_without_correlation_models_and_seats_err_apart() -> None:
    one, other = answers(accuracy=700), answers(Who(SECOND, "debater-1"), accuracy=700)
    seated = answers(Who(MODEL, "debater-2"), accuracy=700)

    for second in (other, seated):
        assert_rate([a == b for a, b in zip(one, second, strict=True)], 580)  # 0.7 * 0.7 + 0.3 * 0.3


def test_with_correlation_one_all_models_have_one_answer() -> None:
    one = answers(accuracy=700, correlation=1_000)

    assert one == answers(Who(SECOND, "debater-3"), accuracy=700, correlation=1_000)
    assert answers(accuracy=600, correlation=1_000) != one


def test_in_between_a_share_of_cases_is_common() -> None:
    one = answers(accuracy=500, correlation=800)
    other = answers(Who(SECOND, "debater-2"), accuracy=500, correlation=800)

    assert_rate([a == b for a, b in zip(one, other, strict=True)], 820)  # 0.64 in common, half of the rest by chance


@pytest.mark.parametrize("correlation", [0, 1_000])
def test_later_turns_mend_and_break_as_often_as_the_table_says(correlation: int) -> None:
    shares: dict[str, Any] = {"accuracy": 500, "mended": 250, "broken": 50, "correlation": correlation}
    first, later = answers(**shares), answers(later=1, **shares)

    assert_rate([b for a, b in zip(first, later, strict=True) if not a], 250)
    assert_rate([not b for a, b in zip(first, later, strict=True) if a], 50)


def test_a_stated_confidence_has_its_own_rate_of_right_answers() -> None:
    shares: dict[str, Any] = {"accuracy": 900, "confidence": 950, "true_rate": 600, "mended": 500}

    assert_rate(answers(states=True, **shares), 600)
    assert_rate(answers(states=True, later=1, **shares), 600)
    assert_rate(answers(**shares), 900)


def test_wrong_answers_are_of_the_list_and_common_to_all() -> None:
    wrong = {answer(case, is_right=False) for case in KNOWN}

    assert wrong == {*ANSWERS} - {"yes"}


# -- a moderator


def concluded(reading: Reading, case: KnownCase, **shares: Any) -> str | None:
    return decided(reading, FaultShares(**shares), Who(MODEL, "moderator"), case)


@cache
def moderated(longer: str = "", *, swapped: bool = False) -> tuple[tuple[Reading, KnownCase], ...]:
    """What the moderator reads in each case; ``longer`` is the seat whose words are longer."""
    lines = [pair_line(n, longer=longer, feature="family", favours="critic") for n in range(CASES)]
    bodies = [moderator_body(n, longer=longer, swapped=swapped) for n in range(CASES)]
    return tuple(
        (read_request(request_of(body)), KnownCase(n, line))
        for n, (body, line) in enumerate(zip(bodies, lines, strict=True), start=1)
    )


def upheld(shown: tuple[tuple[Reading, KnownCase], ...], **shares: Any) -> list[bool]:
    return [concluded(reading, case, **shares) == "upheld" for reading, case in shown]


def test_a_pull_to_the_first_slot_decides_in_its_share_of_cases() -> None:
    shares = {"first_slot_pull": 300, "accuracy": 1_000}
    one, other = upheld(moderated(), **shares), upheld(moderated(swapped=True), **shares)

    assert all(one)  # the proposal, which is right, stands first
    assert_rate([not b for b in other], 300)


def test_a_pull_to_the_longer_side_decides_in_its_share_of_cases() -> None:
    shares = {"length_pull": 300, "accuracy": 1_000}

    assert_rate([not found for found in upheld(moderated("critic"), **shares)], 300)
    assert all(upheld(moderated("rebuttal"), **shares))


def test_a_pull_to_the_own_family_decides_in_its_share_of_cases() -> None:
    assert_rate([not found for found in upheld(moderated(), family_pull=300, accuracy=1_000)], 300)


def test_a_case_has_one_pull() -> None:
    shares = {"first_slot_pull": 300, "length_pull": 300, "family_pull": 400, "accuracy": 0}

    assert_rate(upheld(moderated("critic"), **shares), 300)


def test_without_a_pull_a_moderator_is_as_accurate_as_the_table_says() -> None:
    assert_rate(upheld(moderated(), accuracy=800), 800)
    assert concluded(*moderated()[0], hits=500) is None


def test_conclusions_rest_on_what_a_proposition_states() -> None:
    right_one, wrong_one = KnownCase(1, question_line(1)), KnownCase(1, question_line(1, "no"))
    reading = read_request(request_of(body_of("moderator", 1)))

    assert concluded(reading, right_one, accuracy=1_000) == "upheld"
    assert concluded(reading, wrong_one, accuracy=1_000) == "rejected"
    assert concluded(reading, KnownCase(1, critic_line(1, "flawed")), accuracy=1_000) == "rejected"
    assert concluded(reading, KnownCase(1, critic_line(1, "sound")), accuracy=0) == "rejected"


@pytest.mark.parametrize(("confidence", "level"), [(950, "HIGH"), (800, "HIGH"), (799, "MODERATE"), (499, "LOW")])
def test_a_moderator_states_the_confidence_of_the_table(confidence: int, level: str) -> None:
    faulty = models([pair_line(1)], accuracy=0, confidence=confidence)

    reply = said(moderator_body(1), faulty, "moderator")

    assert (reply.confidence_level, reply.conclusion) == (level, "rejected")


# -- the seats of the other formats


def test_a_ballot_votes_for_the_answer_and_moves_in_later_phases() -> None:
    faulty = models([question_line(n) for n in range(30)], accuracy=0, mended=1_000)

    for n in range(30):
        first = said(ballot_body(n), faulty, "ballot.debater")
        assert first.vote in {*ANSWERS} - {"yes"}
        assert said(ballot_body(n, phase="critique"), faulty, "ballot.debater").vote == first.vote
        assert said(ballot_body(n, phase="revision"), faulty, "ballot.debater").vote == "yes"
        assert said(ballot_body(n, phase="draft"), faulty, "ballot.debater").vote == first.vote


def test_votes_are_right_as_often_as_the_table_says() -> None:
    faulty = models([question_line(n) for n in range(CASES)], accuracy=700)

    assert_rate([said(ballot_body(n), faulty, "ballot.debater").vote == "yes" for n in range(CASES)], 700)


def heard(label: str, **body: Any) -> Block:
    return statement([argument(1, 1)], label=label, body=body)


REPLIES: Mapping[str, tuple[tuple[Block, ...], str]] = {
    "convergence.debater": ((), "final_answer"),
    "convergence.judge": ((heard("A", finalAnswer="no"), heard("B", finalAnswer="yes")), "final_answer"),
    "panel.blind": ((), "answer"),
    "panel.deliberation": ((heard("A", answer="No.", stance="negative"),), "answer"),
    "panel.synthesizer": ((heard("A", answer="No.", stance="negative"),), "answer"),
    "stances.judge": ((heard("no"), heard("Yes")), "winner"),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_every_seat_that_answers_gives_the_answer_of_the_list(kind: str) -> None:
    blocks, member = REPLIES[kind]
    lines = [msgspec.structs.replace(question_line(1), answers=("yes", "no"))]

    true = said(body_of(kind, 1, *blocks), models(lines, accuracy=1_000), kind)
    false = said(body_of(kind, 1, *blocks), models(lines, accuracy=0), kind)

    assert getattr(true, member).casefold() == "yes"
    assert getattr(false, member).casefold() == "no"


@pytest.mark.parametrize("kind", ["convergence.judge", "panel.synthesizer", "stances.judge"])
def test_every_decider_states_the_confidence_of_the_table(kind: str) -> None:
    faulty = models([question_line(1)], accuracy=500, confidence=900)

    assert said(body_of(kind, 1, *REPLIES[kind][0]), faulty, kind).confidence_level == "HIGH"


def test_a_panel_s_debater_states_it_in_per_cent() -> None:
    faulty = models([question_line(1)], accuracy=1_000, confidence=915)
    reply = said(body_of("panel.blind", 1), faulty, "panel.blind")

    assert (reply.overall_confidence, reply.stance) == (91, "affirmative")


# -- replies that cannot be used, changes, and repetition


def test_unusable_replies_do_not_decode_and_are_as_many_as_the_table_says() -> None:
    faulty = models([critic_line(n, "sound") for n in range(CASES)], unusable=200)
    texts = [answered(critic_body(n), faulty).text for n in range(CASES)]

    assert_rate([isinstance(decode_reply("critic", text), str) for text in texts], 200)


def test_faults_change_at_a_case_of_the_key_file() -> None:
    lines = [critic_line(n, "flawed") for n in range(1, 21)]
    faulty = models(lines, hits=1_000, changes_at=11, after=FaultShares(hits=0))

    found = [any(2 in p.attacks for p in said(critic_body(n), faulty, "critic").points) for n in range(1, 21)]

    assert found == [True] * 10 + [False] * 10


def test_faults_that_change_have_both_tables() -> None:
    later = FaultShares(accuracy=0)
    faults = ModelFaults(accuracy=900, changes_at=3, after=later)

    assert [faults.at(n).accuracy for n in (1, 2, 3, 4)] == [900, 900, 0, 0]


BODIES = {"critic": critic_body(1), "ballot.debater": ballot_body(1)}
BODIES |= {kind: body_of(kind, 1, *blocks) for kind, (blocks, _) in REPLIES.items()}


@pytest.mark.parametrize("kind", BODIES)
def test_the_same_body_always_has_the_same_answer(kind: str) -> None:
    body, lines = BODIES[kind], [critic_line(1, "flawed"), question_line(1)]
    shares = {"hits": 500, "accuracy": 500, "correlation": 500, "unusable": 500}

    assert answered(body, models(lines, **shares)) == answered(body, models(lines, **shares))


@pytest.mark.parametrize("kind", BODIES)
def test_a_case_that_is_not_in_the_key_is_played_without_faults(kind: str) -> None:
    body, faulty = BODIES[kind], models([question_line(2)], hits=0, accuracy=0, unusable=1_000)

    assert answered(body, faulty) == answered(body)
    assert answered(body, faulty).fingerprint == FINGERPRINT


# -- debates of one case


def marks(n: int) -> str:
    """The mark of the nth debate of a case."""
    return f"{n:016x}"


def votes(debates: range, case: int = 1, **shares: Any) -> list[bool]:
    """In which debates of a case a debater votes rightly."""
    faulty = models([question_line(case)], **shares)
    return [said(ballot_body(case, mark=marks(n)), faulty, "ballot.debater").vote == "yes" for n in debates]


def agreeing(**shares: Any) -> list[bool]:
    """In which cases two debates have one vote."""
    return [len(set(votes(range(2), case, **shares))) == 1 for case in range(CASES)]


def test_without_scatter_all_debates_of_a_case_have_one_answer() -> None:
    assert all(agreeing(accuracy=700))


def test_with_scatter_a_case_is_answered_anew_in_each_debate_at_the_rates_of_the_table() -> None:
    assert_rate(votes(range(CASES), accuracy=700, scatter=1_000), 700)
    assert_rate(agreeing(accuracy=700, scatter=1_000), 580)  # 0.7 * 0.7 + 0.3 * 0.3
    assert_rate(agreeing(accuracy=700, scatter=500), 790)


def test_a_critic_and_a_moderator_scatter_too() -> None:
    faulty = models([critic_line(1, "flawed")], hits=700, scatter=1_000)
    critiques = [said(critic_body(1, mark=marks(n)), faulty, "critic") for n in range(CASES)]
    pulled = models([pair_line(1)], first_slot_pull=400, accuracy=0, scatter=1_000)
    judged = [said(moderator_body(1, mark=marks(n)), pulled, "moderator").conclusion for n in range(CASES)]

    assert_rate([any(2 in point.attacks for point in made.points) for made in critiques], 700)
    assert_rate([one == "upheld" for one in judged], 400)


def test_within_a_debate_nothing_scatters() -> None:
    """A critic that is asked again, a moderator in reverse order, and a body that is sent again after a kill."""
    critic = models([critic_line(1, "flawed")], hits=500, scatter=1_000)
    judge = models([pair_line(1)], accuracy=500, scatter=1_000)

    for n in range(40):
        once = said(critic_body(1, mark=marks(n)), critic, "critic")
        again = said(critic_body(1, mark=marks(n), again=True), critic, "critic")
        one, other = (said(moderator_body(1, mark=marks(n), swapped=s), judge, "moderator") for s in (False, True))
        assert once == said(critic_body(1, mark=marks(n)), critic, "critic")
        assert [2 in p.attacks for p in once.points[:1]] == [2 in p.attacks for p in again.points[:1]]
        assert one.conclusion == other.conclusion


def test_models_with_one_scatter_still_have_one_answer_where_their_draws_are_common() -> None:
    shares = {"accuracy": 500, "correlation": 1_000, "scatter": 600}
    faulty = models([question_line(1)], **shares)

    for n in range(100):
        found = {said(ballot_body(1, model=m, mark=marks(n)), faulty, "ballot.debater").vote for m in (MODEL, SECOND)}
        assert len(found) == 1


def test_a_reply_with_known_faults_says_so_in_its_fingerprint() -> None:
    faulty = models([critic_line(1, "flawed")], hits=1_000)

    assert answered(critic_body(1), faulty).fingerprint == FAULTY_FINGERPRINT
    assert answered(critic_body(1, model="cedar-small"), faulty).fingerprint == FINGERPRINT
