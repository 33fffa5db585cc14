"""Given turns: a reply that an evaluation gives stands as a spoken one, costs nothing and has no model behind it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import (
    Arrival,
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnGiven,
    TurnSilent,
    TurnSpoke,
    decode,
    encode,
)
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, refuse_illegal, replay
from service.debate.model import AdversarialOptions, Turn, TurnId, seat_of
from service.debate.replies import Proposal, Reply
from service.debate.script import Script
from service.errors import IllegalEntry
from service.money import Ledger, worst_case
from tests.fixtures import formats
from tests.fixtures.debates import (
    INPUT_TOKENS,
    ITEM,
    TURN_COST,
    World,
    a_case,
    a_start,
    drive,
    opening,
    outcome,
    reply_for,
    start_of,
    turns_asked,
    weak_first,
)

EVERY = sorted(FORMATS)
PROFILE = settings()
fewer = settings(max_examples=max(PROFILE.max_examples // 3, 1))
PROPOSER, CRITIC = TurnId("1.proposer.1"), TurnId("1.critic.1")


def planned(started: DebateStarted) -> DebateStarted:
    return replace(started, seed_from="plan")


def said(entries: list[Entry]) -> dict[TurnId, Reply]:
    return dict(Facts.of(entries).said)


def spoken(entries: list[Entry]) -> dict[TurnId, Reply]:
    return {entry.turn: entry.reply for entry in entries if isinstance(entry, TurnSpoke)}


def given_in(entries: list[Entry]) -> dict[TurnId, Reply]:
    return {entry.turn: entry.reply for entry in entries if isinstance(entry, TurnGiven)}


@pytest.mark.many
@pytest.mark.parametrize("form", EVERY)
@fewer
@given(data=st.data())
def test_a_given_reply_changes_nothing_that_follows_from_what_was_said(form: str, data: st.DataObject) -> None:
    """The same debate once more, with some of its replies given: the same turns, findings and decision, for less."""
    seed = data.draw(st.integers(0, 2**32))
    started = planned(start_of(data.draw(formats.options(form)), seed=f"{seed:064x}"))
    world = World(seed)
    before = world.drive(started)
    turns = sorted(spoken(before))
    chosen = data.draw(st.sets(st.sampled_from(turns))) if turns else set()
    # A decider, or a critic, whose first take is given is asked for no second one.
    chosen -= {turn for turn in chosen if any(other != turn and other.startswith(turn[:-1]) for other in turns)}

    after = world.drive(started, given={turn: spoken(before)[turn] for turn in chosen})

    assert given_in(after) == {turn: spoken(before)[turn] for turn in chosen}
    assert said(after) == said(before)
    assert set(turns_asked(after)) == set(turns_asked(before)) - chosen
    assert Facts.of(after).found == Facts.of(before).found
    assert outcome(after).conclusion == outcome(before).conclusion
    assert (outcome(after).status, outcome(after).final_turn) == (outcome(before).status, outcome(before).final_turn)
    assert Ledger.of(after).spent <= Ledger.of(before).spent
    replay(a_case(), [decode(encode(entry)) for entry in after])


def test_a_given_reply_has_no_model_and_costs_nothing() -> None:
    entries = drive(planned(a_start()), given={PROPOSER: canned_of(PROPOSER)})
    facts = Facts.of(entries)
    assert facts.started is not None

    assert facts.spoke(PROPOSER) is None
    assert Script(facts.started, facts).model(PROPOSER) is None
    assert not any(isinstance(e, TurnAsked | AttemptFailed) and e.turn == PROPOSER for e in entries)
    assert "fallbackModel" not in outcome(entries).flags
    assert PROPOSER not in Ledger.of(entries).held


def canned_of(turn: TurnId) -> Reply:
    """The canned reply of a turn of the adversarial format, which needs no facts."""
    return reply_for(Turn(turn, seat_of(turn)))


def test_a_given_proposal_thinks_like_no_critic() -> None:
    """A critic of the proposer's model challenges itself, and not the author of a given proposal."""
    started = planned(a_start(critic_family="oak"))
    rebuttal = TurnId("1.rebuttal.1")

    asked, given_ = drive(started), drive(started, given={t: canned_of(t) for t in (PROPOSER, rebuttal)})

    assert "criticOnProposersModel" in {cap.reason for cap in outcome(asked).caps}
    assert "criticOnProposersModel" not in {cap.reason for cap in outcome(given_).caps}
    assert "criticOfProposersFamily" not in outcome(given_).flags


def test_a_given_critique_stands_however_weak() -> None:
    started, facts = planned(a_start()), Facts()
    facts.started = started
    weak = weak_first(Turn(CRITIC, "critic"), facts)

    asked, given_ = drive(started, weak_first), drive(started, given={CRITIC: weak})

    assert TurnId("1.critic.2") in said(asked)
    assert TurnId("1.critic.2") not in said(given_)
    assert "critiqueWeak" in outcome(given_).flags


def until(entries: list[Entry], turn: TurnId) -> tuple[Facts, Entry]:
    """The facts before the entry that gives a turn, and that entry."""
    facts = Facts()
    for entry in entries:
        if isinstance(entry, TurnGiven) and entry.turn == turn:
            return facts, entry
        facts.add(entry)
    raise AssertionError(f"{turn} was not given")


@pytest.fixture
def due() -> tuple[Facts, TurnGiven]:
    facts, entry = until(drive(planned(a_start()), given={PROPOSER: canned_of(PROPOSER)}), PROPOSER)
    assert isinstance(entry, TurnGiven)
    return facts, entry


def test_only_the_reply_of_the_case_may_be_given(due: tuple[Facts, TurnGiven]) -> None:
    facts, entry = due
    assert isinstance(entry.reply, Proposal)
    refuse_illegal(facts, entry)

    with pytest.raises(IllegalEntry, match="no such reply"):
        refuse_illegal(facts, replace(entry, reply=replace(entry.reply, thesis="Another.")))
    with pytest.raises(IllegalEntry, match="is not due"):
        refuse_illegal(facts, TurnGiven(CRITIC, canned_of(CRITIC)))


def test_a_given_turn_is_neither_asked_nor_refused_nor_silent(due: tuple[Facts, TurnGiven]) -> None:
    facts, entry = due

    with pytest.raises(IllegalEntry, match="is given"):
        refuse_illegal(facts, TurnAsked(PROPOSER, 1, "oak-1", "", "", 1, 1))
    with pytest.raises(IllegalEntry, match="are given, and come first"):
        refuse_illegal(facts, BudgetRefused((PROPOSER,), "debateCeiling", 1, 0))
    with pytest.raises(IllegalEntry, match="has a given reply that can be used"):
        refuse_illegal(facts, TurnSilent(PROPOSER, "it was quiet"))
    facts.add(entry)
    with pytest.raises(IllegalEntry, match="is not due"):
        refuse_illegal(facts, entry)


def test_a_given_reply_that_cannot_be_used_is_a_silence() -> None:
    empty = Proposal("It stands.", (), "upheld")

    entries = drive(planned(a_start()), given={PROPOSER: empty})

    assert [e.turn for e in entries if isinstance(e, TurnSilent)] == [PROPOSER]
    assert (outcome(entries).status, outcome(entries).stop_reason) == ("failed", "seatSilent")


@pytest.mark.parametrize("order", [None, *range(5)])
def test_given_and_asked_turns_of_one_move_come_in_any_order(order: int | None) -> None:
    """Positions are argued in parallel: one proposer's case is given, the other is asked for."""
    adopt, defer = TurnId("1.proposer.adopt.1"), TurnId("1.proposer.defer.1")
    started = planned(a_start(positions=("adopt", "defer")))

    entries = drive(started, given={adopt: canned_of(adopt)}, order=None if order is None else Random(order))

    assert set(given_in(entries)) == {adopt}
    assert {adopt, defer} <= set(said(entries))
    assert outcome(entries).status == "completed"


def refused(received: CaseReceived, started: DebateStarted) -> str:
    """Why the entries of an opening do not follow each other."""
    with pytest.raises(IllegalEntry) as error:
        replay(received.case, [received, *opening(started, received.case)[1:]])
    return error.value.detail


def received(arrival: Arrival | None = None, given: Mapping[TurnId, Reply] | None = None) -> CaseReceived:
    return CaseReceived(a_case(), "local", arrival=arrival, given=dict(given or {}))


EVALUATED = Arrival("evaluation", evaluation=ITEM)


def test_only_an_evaluation_gives_replies_and_has_a_plans_seed() -> None:
    plain = a_start()

    assert "only an evaluation has terms" in refused(received(given={PROPOSER: canned_of(PROPOSER)}), plain)
    assert "the door is an evaluation" in refused(received(Arrival("evaluation")), plain)
    assert "the door is an evaluation" in refused(received(Arrival("batch", evaluation=ITEM)), plain)
    assert "the seed is that of a plan" in refused(received(), planned(plain))
    assert "the seed is that of a plan" in refused(received(EVALUATED), plain)


def test_only_an_evaluation_ends_a_debate_before_its_decision() -> None:
    options = AdversarialOptions(1, 6, 6, human_review=False, until="critic")

    assert "only an evaluation ends" in refused(received(), replace(start_of(options), seed_from=None))


@pytest.mark.parametrize("given_too", [True, False])
def test_a_debate_until_its_critic_decides_nothing(*, given_too: bool) -> None:
    options = AdversarialOptions(1, 6, 6, human_review=False, until="critic", swapped=True)
    put = {PROPOSER: canned_of(PROPOSER)} if given_too else {}

    end = outcome(entries := drive(start_of(options), weak_first, given=put))

    seats = {"framing", "critic"} if given_too else {"framing", "proposer", "critic"}
    assert {seat_of(turn) for turn in turns_asked(entries)} == seats
    assert TurnId("1.critic.2") in said(entries)
    assert (end.status, end.stop_reason) == ("truncated", "untilCritic")
    assert end.conclusion is None
    assert end.final_turn is None


def test_a_debate_until_its_critic_holds_no_money_for_a_moderator() -> None:
    """Framing, proposer and critic can be funded, and nothing else: the critique is heard."""
    options = AdversarialOptions(1, 6, 6, human_review=False, until="critic")

    ceiling = 2 * TURN_COST + worst_case(INPUT_TOKENS, start_of(options).seat("critic"))

    assert outcome(drive(start_of(options, ceiling=ceiling))).stop_reason == "untilCritic"
    short = drive(start_of(options, ceiling=ceiling - 1))
    assert outcome(short).stop_reason == "budget"
    assert not any(seat_of(turn) == "moderator" for turn in turns_asked(short))
