"""What an evaluation sees of a debate: from recorded entries alone, in every format and at every end."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import AttemptFailed, CheckFound, DebateStarted, DebateStopped, Entry, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, CritiqueFound, Finding
from service.debate.model import AdversarialOptions, Check, Options, Turn, TurnId, labels
from service.debate.replies import Moderation, Proposal, Reply
from service.evaluation.scoring.observed import observe
from service.evaluation.scoring.observed_types import NONE_IN_WORDS, Passage
from tests.fixtures.debates import DECLINED, Replies, World, a_case, canned, drive, found, opening, start_of, weak_first
from tests.fixtures.formats import plain

FORMATS = ("adversarial/1", "stances/1", "ballot/1", "panel/1", "convergence/1")
SWAPPED = AdversarialOptions(1, 6, 6, human_review=False, swapped=True)


def concluding(conclusion: str, *, turned: str | None = None) -> Replies:
    """Canned replies, but for the moderator's conclusion, and for its conclusion in the reverse order."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        if not isinstance(said, Moderation):
            return said
        return replace(said, conclusion=turned if turned and ".swapped." in turn.id else conclusion)

    return reply


@pytest.mark.parametrize("form", FORMATS)
def test_a_debate_of_every_format_says_something_or_why_it_says_nothing(form: str) -> None:
    seen = observe(drive(start_of(plain(form)), canned))

    assert seen.format == form
    assert seen.status == "completed"
    assert (seen.said is None) == (seen.why_none is not None)
    assert seen.why_none is None or seen.why_none in NONE_IN_WORDS
    assert seen.attempts > 0
    assert seen.charge > 0


@pytest.mark.parametrize("form", FORMATS)
@given(seed=st.integers(0, 10_000), cut=st.floats(0, 1))
def test_no_beginning_of_a_record_is_too_short_or_too_strange_to_be_observed(form: str, seed: int, cut: float) -> None:
    world = World(seed, failing=30, refusing=10)
    whole = drive(start_of(plain(form)), canned, fails=world.fails, refuses=world.refuses, order=Random(seed))

    entries = whole[: int(cut * len(whole))]
    seen = observe(entries)

    assert (seen.said is None) == (seen.why_none is not None)
    assert seen.charge == sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke | AttemptFailed))
    assert seen.lost == 0


def test_the_order_in_which_replies_arrive_changes_nothing_that_is_observed() -> None:
    orders = [observe(drive(start_of(plain("panel/1")), canned, order=Random(seed))) for seed in range(3)]

    assert orders[0] == orders[1] == orders[2]


def test_a_declined_case_has_no_debate_to_observe() -> None:
    received, _, _ = opening(start_of(SWAPPED), a_case())

    seen = observe([received, DECLINED])

    assert (seen.said, seen.why_none, seen.status, seen.charge) == (None, "notStarted", "notStarted", 0)


@pytest.mark.parametrize(("by", "why"), [("abort", "aborted"), ("fault", "failed")])
def test_a_debate_that_was_stopped_gave_no_answer(by: str, why: str) -> None:
    stop = DebateStopped(by, "it was stopped")  # type: ignore[arg-type]

    seen = observe(drive(start_of(SWAPPED), canned, stops=lambda facts: stop if facts.said else None))

    assert (seen.said, seen.why_none) == (None, why)


def test_what_was_charged_for_calls_lost_with_a_worker_stands_apart() -> None:
    whole = drive(start_of(SWAPPED), canned)
    asked = next(i for i, entry in enumerate(whole) if getattr(entry, "turn", "") == "1.critic.1")

    killed = drive(start_of(SWAPPED), canned, entries=whole[: asked + 1])

    undisturbed, seen = observe(whole), observe(killed)
    assert seen.lost > 0
    assert replace(seen, lost=0) == undisturbed


def test_the_critique_that_stands_is_observed_with_its_retries_and_its_own_rating() -> None:
    once, twice = (observe(drive(start_of(SWAPPED), replies)) for replies in (canned, weak_first))

    assert once.critique is not None
    assert twice.critique is not None
    assert (once.critique.retries, once.critique.own_rating) == (0, 8)
    assert (twice.critique.retries, twice.critique.own_rating) == (1, 8)
    assert [point.attacks for point in once.critique.points] == [(1,), (2,)]


def test_weak_signs_of_the_critique_are_those_that_code_recorded() -> None:
    def weak(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        return replace(finding, weak=("fewPoints",), soft=("soft",)) if isinstance(finding, CritiqueFound) else finding

    seen = observe(drive(start_of(SWAPPED), canned, findings=weak))

    assert seen.critique is not None
    assert (seen.critique.weak, seen.critique.soft) == (("fewPoints",), ("soft",))


def test_only_verified_quotations_of_a_critique_have_a_place() -> None:
    def verdicts(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if check.id != "1.critic.1/citations" or not isinstance(finding, CitationsFound):
            return finding
        altered = CitationVerdict("altered", "D1", (40, 60))
        first, second = finding.arguments
        return CitationsFound((first, replace(second, verdicts=(altered,), struck="unverified_citation")))

    seen = observe(drive(start_of(SWAPPED), canned, findings=verdicts))

    assert seen.critique is not None
    assert [point.passages for point in seen.critique.points] == [(Passage("D1", 0, 20),), ()]


def test_arguments_of_the_proposal_that_code_struck_are_named() -> None:
    def struck(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if check.id != "1.proposer.1/citations" or not isinstance(finding, CitationsFound):
            return finding
        wrong = ArgumentVerdict(TurnId("1.proposer.1"), 1, (CitationVerdict("not_found"),), "unverified_citation")
        return CitationsFound((wrong, *finding.arguments[1:]))

    assert observe(drive(start_of(SWAPPED), canned, findings=struck)).struck_by_code == (1,)
    assert observe(drive(start_of(SWAPPED), canned)).struck_by_code == ()


def shown_first(entries: list[Entry]) -> bool:
    """Whether the moderator was shown the proposal before the critique, by the labels of the request that it had."""
    seen: list[dict[str, str]] = []

    def reply(turn: Turn, facts: Facts) -> Reply:
        if turn.id == "1.moderator.1":
            seen.append(labels(turn))
        return canned(turn, facts)

    drive(entries[2], reply)  # type: ignore[arg-type]
    order = list(seen[0])
    return order.index("proposer") < order.index("critic")


@pytest.mark.parametrize("seed", ["00" * 32, "01" * 32, "02" * 32, "03" * 32, "04" * 32, "05" * 32])
def test_a_moderation_s_slot_is_the_place_of_the_side_that_it_favours(seed: str) -> None:
    entries = drive(start_of(SWAPPED, seed=seed), concluding("upheld"))

    seen = observe(entries)

    assert seen.moderation is not None
    assert seen.swapped is not None
    first, second = ("first", "second") if shown_first(entries) else ("second", "first")
    assert (seen.moderation.slot, seen.swapped.slot) == (first, second)


def test_a_moderator_that_goes_by_the_place_favours_one_slot_twice_and_concludes_nothing() -> None:
    seen = observe(drive(start_of(SWAPPED), concluding("upheld", turned="rejected")))

    assert seen.moderation is not None
    assert seen.swapped is not None
    assert seen.moderation.slot == seen.swapped.slot
    assert (seen.said, seen.why_none, seen.conclusion) == (None, "undecided", None)


def test_a_moderation_in_between_favours_no_place() -> None:
    seen = observe(drive(start_of(SWAPPED), concluding("modified")))

    assert seen.moderation is not None
    assert (seen.moderation.slot, seen.said) == ("none", "modified")


def test_models_of_seats_and_prompts_are_those_of_the_start() -> None:
    started = start_of(SWAPPED)

    seen = observe(drive(started, canned))

    assert {seat.seat: seat.alias for seat in seen.seats} == {plan.seat: plan.model for plan in started.seats}
    assert seen.prompts == started.pin


def test_a_reply_that_could_not_be_read_is_counted() -> None:
    def twice(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, Proposal) and turn.id not in facts.failed:
            return replace(reply, arguments=())
        return reply

    seen = observe(drive(start_of(SWAPPED), twice))

    assert seen.unusable == 1
    assert seen.critique is not None


def test_a_finding_of_another_turn_gives_the_critique_no_places() -> None:
    entries = [e for e in drive(start_of(SWAPPED), canned) if not (isinstance(e, CheckFound) and "critic" in e.check)]

    seen = observe(entries)

    assert seen.critique is not None
    assert all(not point.passages for point in seen.critique.points)


def planned(options: Options) -> DebateStarted:
    """A start of an evaluation's item: its seed follows from the plan."""
    return replace(start_of(options), seed_from="plan")


def given_by(*turns: str) -> dict[TurnId, Reply]:
    """The canned replies of these turns, as a case gives them."""
    said = Facts.of(drive(start_of(SWAPPED), concluding("upheld"))).said
    return {TurnId(turn): said[TurnId(turn)] for turn in turns}


def test_a_critic_that_was_given_its_proposal_is_observed_and_its_debate_ends_there() -> None:
    options = replace(SWAPPED, until="critic")

    seen = observe(drive(planned(options), weak_first, given=given_by("1.proposer.1")))

    assert seen.critique is not None
    assert (seen.critique.retries, seen.conclusion, seen.said, seen.moderation) == (1, None, None, None)
    asked = observe(drive(start_of(SWAPPED), canned))
    assert 0 < seen.charge < asked.charge


def test_a_moderator_that_was_given_everything_else_is_charged_for_its_two_orders_alone() -> None:
    given_ = given_by("0.framing.1", "1.proposer.1", "1.critic.1", "1.rebuttal.1")

    seen = observe(drive(planned(SWAPPED), concluding("rejected"), given=given_))

    assert seen.moderation is not None
    assert seen.swapped is not None
    assert (seen.moderation.conclusion, seen.attempts) == ("rejected", 2)
    assert {seen.moderation.slot, seen.swapped.slot} == {"first", "second"}


def test_turns_that_a_fallback_spoke_in_are_counted() -> None:
    entries = drive(start_of(SWAPPED), canned)
    by_another = [replace(e, model="yew-1") if isinstance(e, TurnAsked) and "critic" in e.turn else e for e in entries]

    assert observe(entries).fallbacks == 0
    assert observe(by_another).fallbacks == 1
