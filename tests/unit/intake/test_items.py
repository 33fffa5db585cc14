"""Items of evaluations: what they alone may ask for, what is refused, and that no caller's request can say it."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.entries import CaseReceived, EvaluationItem, GateDecided
from service.debate.formats import FormatName
from service.debate.model import AdversarialOptions, BallotOptions, Debater, TurnId, seat_of
from service.debate.options import EvaluationTerms, Options
from service.debate.replies import Critique, Point, Proposal, Reply, Statement
from service.debate.replies.adversarial import Answer, Framing, Rebuttal
from service.errors import GainsayError, InvalidCase
from service.intake import Deployment
from service.intake.decoding import decode
from service.intake.quote import CaseQuote, quote
from service.intake.request import USUAL, CaseRequest, DocumentRequest, ItemRequest, OptionsRequest
from service.reviews.evaluation_items import EvaluationCase
from service.verify.asked import options_of
from service.verify.opened_bundle import LegalDebate
from tests.fixtures.debates import DECIDED
from tests.unit.intake.test_intake import BODY, DAY, POLICY, PROMPTS, policy, taken

RUN = EvaluationItem("0199c0de-0000-7000-8000-00000000e7a1", "0e" * 32, "0f" * 32, "clause-7", "vote", 2)
PROPOSER = TurnId("1.proposer.1")
PROPOSAL = Proposal("It stands.", (Statement(1, "The cap is usual.", (), "reasoning"),), "upheld")
ADVERSARIAL = OptionsRequest(format="adversarial")
BALLOT = OptionsRequest(format="ballot", votes=("yes", "no"))


def an_item(options: OptionsRequest = ADVERSARIAL, **more: Any) -> ItemRequest:
    return EvaluationCase(
        evaluation=RUN,
        question="Does this agreement leave us with uncapped liability?",
        task_type="contract",
        documents=(DocumentRequest("12.1 The Supplier shall indemnify the Bank against all losses.", "D1"),),
        options=options,
        **more,
    ).request


def refused(item: ItemRequest, role: str = "operator") -> str:
    with pytest.raises(GainsayError) as error:
        taken(item, role=role)
    return error.value.detail


def test_an_item_is_debated_whatever_its_downside_and_its_seed_is_that_of_its_plan() -> None:
    prepared, started = taken(an_item())

    assert prepared.decision.decided_by == "forced"
    assert started is not None
    assert started.seed_from == "plan"
    assert started.seed == sha256(f"{'0e' * 32}\nclause-7\nvote\n2".encode()).hexdigest()


def test_only_a_role_that_may_force_opens_an_item() -> None:
    with pytest.raises(InvalidCase) as error:
        taken(an_item(), role="requester")

    assert error.value.pointers == ("/force",)


def test_an_item_names_models_also_where_policy_lets_no_case_choose() -> None:
    alias = next(iter(POLICY.models))
    item = an_item(replace(ADVERSARIAL, models={"critic": alias}))

    prepared, _ = taken(item, policy(debate__may_choose_models=False))

    assert next(plan for plan in prepared.seats if plan.seat == "critic").model == alias


def options_read(item: ItemRequest) -> Options:
    prepared, _ = taken(item)
    return prepared.options


def test_a_debate_until_its_critic_has_one_round_and_no_other_format_has_that_end() -> None:
    found = options_read(an_item(terms=EvaluationTerms(until="critic")))

    assert isinstance(found, AdversarialOptions)
    assert (found.until, found.max_rounds) == ("critic", 1)
    assert "maxRounds" in refused(an_item(replace(ADVERSARIAL, max_rounds=2), terms=EvaluationTerms(until="critic")))
    assert "until belongs to" in refused(an_item(BALLOT, terms=EvaluationTerms(until="critic")))


@pytest.mark.parametrize("count", [1, 3])
def test_drafts_have_one_round_in_which_one_vote_decides(count: int) -> None:
    debaters = tuple(Debater(f"d{n}") for n in range(count))
    found = options_read(an_item(replace(BALLOT, debaters=debaters), terms=EvaluationTerms(drafts=True)))

    assert isinstance(found, BallotOptions)
    assert (found.drafts, found.max_rounds, found.consensus_threshold) == (True, 1, 1)
    assert len(found.debaters) == count


def test_drafts_belong_to_a_ballot_and_a_ballot_of_one_to_drafts() -> None:
    one = replace(BALLOT, debaters=(Debater("d"),))

    assert "drafts belong to a ballot" in refused(an_item(terms=EvaluationTerms(drafts=True)))
    assert "2 to" in refused(an_item(one))
    for changed in (replace(one, max_rounds=2), replace(one, consensus_threshold=2)):
        assert "must be from 1 to 1" in refused(an_item(changed, terms=EvaluationTerms(drafts=True)))


@pytest.mark.parametrize("asked", [True, False, None])
def test_an_item_may_say_whether_its_decider_is_asked_twice(*, asked: bool | None) -> None:
    found = options_read(an_item(terms=EvaluationTerms(swapped=asked), downside=Decimal(10**8)))

    assert isinstance(found, AdversarialOptions)
    assert found.swapped is (asked is not False)


TERMS: list[tuple[FormatName, OptionsRequest, EvaluationTerms]] = [
    ("adversarial", ADVERSARIAL, EvaluationTerms(until="critic")),
    ("adversarial", replace(ADVERSARIAL, max_rounds=1), EvaluationTerms(swapped=True)),
    ("ballot", BALLOT, EvaluationTerms(drafts=True)),
    ("ballot", replace(BALLOT, debaters=(Debater("d"),)), EvaluationTerms(drafts=True)),
    ("convergence", OptionsRequest(format="convergence"), EvaluationTerms(swapped=True)),
]


@pytest.mark.parametrize(("name", "asked", "terms"), TERMS)
def test_the_verifier_and_intake_read_the_same_of_an_items_terms(
    name: FormatName, asked: OptionsRequest, terms: EvaluationTerms
) -> None:
    prepared, _ = taken(an_item(asked, terms=terms))
    debate = LegalDebate([prepared.received("local"), GateDecided(DECIDED.decision, {})])

    assert options_of(debate, POLICY, name) == prepared.options


def test_the_record_has_terms_and_given_replies_and_of_other_cases_neither() -> None:
    prepared, _ = taken(an_item(terms=EvaluationTerms(until="critic"), given={PROPOSER: PROPOSAL}))
    plain, _ = taken(an_item())

    assert prepared.received("local").terms == EvaluationTerms(until="critic")
    assert prepared.received("local").given == {PROPOSER: PROPOSAL}
    assert plain.received("local") == CaseReceived(plain.case, "local", plain.asked, plain.asked_ceiling)


CRITIQUE = Critique("It leaks.", (Point(1, "It is not usual.", (1,), (), "reasoning"),), 8, "rejected")
UNUSABLE: dict[str, tuple[dict[TurnId, Reply], str]] = {
    "of another seat": ({PROPOSER: CRITIQUE}, "1.proposer.1 cannot be used"),
    "that its format refuses": ({PROPOSER: replace(PROPOSAL, arguments=())}, "1.proposer.1 cannot be used"),
    "that no model could give": (
        {PROPOSER: replace(PROPOSAL, arguments=(Statement(0, "No number.", (), "reasoning"),))},
        "1.proposer.1 cannot be used",
    ),
    "to a turn that is never due": ({TurnId("4.proposer.1"): PROPOSAL}, "4.proposer.1 is never due"),
    "to the retry of a given critique": (
        {TurnId("1.critic.1"): CRITIQUE, TurnId("1.critic.2"): CRITIQUE},
        "1.critic.2 is never due",
    ),
    "to no turn at all": ({TurnId("nonsense"): PROPOSAL}, "nonsense is never due"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_reply_that_cannot_be_used_is_refused_before_anything_is_written(name: str) -> None:
    given, why = UNUSABLE[name]

    assert why in refused(an_item(given=given))


def test_all_replies_that_cannot_be_used_are_refused_together() -> None:
    found = refused(an_item(given={PROPOSER: CRITIQUE, TurnId("9.critic.1"): CRITIQUE}))

    assert found.startswith("2 faults: ")
    assert "turn 1.proposer.1 cannot be used" in found
    assert "9.critic.1 is never due" in found


FRAMED: dict[TurnId, Reply] = {
    TurnId("0.framing.1"): Framing("It stands.", "All of it.", ("It is clear.",), ()),
    PROPOSER: PROPOSAL,
    TurnId("1.critic.1"): CRITIQUE,
    TurnId("1.rebuttal.1"): Rebuttal("It stands.", (Answer(1, "It is usual."),), (), "upheld"),
}


def quoted(given: dict[TurnId, Reply], **terms: Any) -> CaseQuote:
    item = an_item(replace(ADVERSARIAL, max_rounds=1), terms=EvaluationTerms(**terms), given=given)
    prepared, _ = taken(item)
    return quote(prepared, Deployment(PROMPTS, POLICY, DAY, "00" * 32))


def test_turns_that_are_given_are_neither_expected_to_cost_anything_nor_needed_to_begin() -> None:
    whole, proposed, judged = quoted({}), quoted({PROPOSER: PROPOSAL}), quoted(FRAMED, swapped=True)
    by_seat = {seat.plan.seat: seat.expected for seat in whole.seats}

    assert whole.expected == whole.started.expected_cost
    assert whole.expected - proposed.expected == by_seat["proposer"] > 0
    assert {seat.plan.seat for seat in judged.seats if seat.expected} == {"moderator"}
    assert judged.expected == judged.started.expected_by_seat["moderator"]
    assert judged.needed < proposed.needed < whole.needed
    assert judged.needed <= judged.asked_at_most


def test_an_item_is_begun_under_a_ceiling_that_pays_for_what_is_asked_of_it() -> None:
    """The same ceiling is too small where the proposal has to be paid as well."""
    least = quoted({PROPOSER: PROPOSAL}).needed
    one = replace(ADVERSARIAL, max_rounds=1)

    _, started = taken(an_item(one, given={PROPOSER: PROPOSAL}, ceiling=least))

    assert started is not None
    assert started.ceiling == least
    assert "may cost" in refused(an_item(one, ceiling=least))
    assert "may cost" in refused(an_item(one, given={PROPOSER: PROPOSAL}, ceiling=least - 1))


def test_a_reply_beyond_the_end_of_the_debate_is_refused() -> None:
    given: dict[TurnId, Reply] = {PROPOSER: PROPOSAL, TurnId("1.moderator.1"): PROPOSAL}

    assert "1.moderator.1 is never due" in refused(an_item(given=given, terms=EvaluationTerms(until="critic")))


@pytest.mark.parametrize("member", ["terms", "given", "evaluation", "drafts", "until"])
@pytest.mark.parametrize("inside", ["", "options"])
def test_no_request_of_a_caller_can_say_what_only_an_evaluation_asks(member: str, inside: str) -> None:
    value: Any = {"until": "critic", "drafts": True}.get(member, {})
    body = {**BODY, member: value} if not inside else {**BODY, "options": {"format": "ballot", member: value}}

    with pytest.raises(InvalidCase, match=member):
        decode(msgspec.json.encode(body), CaseRequest)


def test_nothing_of_a_request_makes_it_an_item() -> None:
    prepared, started = taken(msgspec.json.decode(msgspec.json.encode(BODY), type=CaseRequest))

    assert prepared.item is None
    assert started is not None
    assert (started.seed_from, started.seed) == (None, "ab" * 32)
    assert seat_of(PROPOSER) == "proposer"
    assert OptionsRequest(format=msgspec.UNSET) == USUAL
