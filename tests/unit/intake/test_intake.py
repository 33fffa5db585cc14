"""What is refused before anything is written, each with its code and pointer, and what the rest is resolved to."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate import kernel
from service.debate.adversarial import SEATS
from service.debate.entries import DebateStarted, Entry, GateDecided, encode
from service.debate.facts import Facts
from service.debate.model import AdversarialOptions
from service.errors import FAULTS_MAX, GainsayError, InvalidCase, TooLarge
from service.intake import Deployment, Prepared, decide, prepare, start, validation
from service.intake.request import CaseRequest, DocumentRequest, GateRequest, document_ids
from service.policy import Policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts import Prompts

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = "2026-11-21"
POLICY = read_policy(SHIPPED_POLICY)
PROMPTS = Prompts.load()
BODY: dict[str, Any] = {
    "question": "Does this agreement leave us with uncapped liability?",
    "taskType": "contract",
    "estimatedDownside": 250000,
    "confidenceScore": 0.55,
    "documents": [{"id": "D1", "text": "12.1 The Supplier shall indemnify the Bank against all losses."}],
}
SURROGATE = "half \ud800 a pair"


def a_case(**changes: Any) -> CaseRequest:
    """A request as the API decodes it."""
    return msgspec.json.decode(msgspec.json.encode({**BODY, **changes}), type=CaseRequest)


def a_gate_request(**changes: Any) -> GateRequest:
    body = {name: value for name, value in BODY.items() if name not in ("question", "documents")}
    return msgspec.json.decode(msgspec.json.encode({**body, **changes}), type=GateRequest)


def policy(**changes: Any) -> Policy:
    """The shipped policy with parts of it changed: ``limits__documents=1``."""
    changed = POLICY
    for name, value in changes.items():
        part, _, key = name.partition("__")
        inner = msgspec.structs.replace(getattr(changed, part), **{key: value}) if key else value
        changed = msgspec.structs.replace(changed, **{part: inner})
    return changed


def taken(
    request: CaseRequest, under: Policy = POLICY, role: str = "operator"
) -> tuple[Prepared, DebateStarted | None]:
    """What a request is prepared to, and the start of its debate unless it is declined."""
    deployment = Deployment(PROMPTS, under, DAY, "00" * 32)
    salts = {name: bytes(32) for name in document_ids(request)}
    prepared = prepare(request, deployment, role, salts, NOW)
    return prepared, start(prepared, deployment, "ab" * 32) if prepared.decision.debate else None


def refused(request: CaseRequest, under: Policy = POLICY, role: str = "operator") -> tuple[str, tuple[str, ...]]:
    """The code and the pointers of the error that a request is refused with."""
    with pytest.raises(GainsayError) as error:
        taken(request, under, role)
    assert len(error.value.detail) < 1_000
    error.value.detail.encode()
    return error.value.code, error.value.pointers


def documents(*rounds: int) -> list[dict[str, Any]]:
    return [{"text": f"Clause {i} says so.", "round": r} for i, r in enumerate(rounds, 1)]


POSITIONS = [{"id": "keep", "text": "Keep it."}, {"id": "leave", "text": "Leave it."}]

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an empty question": ({"question": ""}, "invalid_case", "/question"),
    "a blank question": ({"question": " \n\t"}, "invalid_case", "/question"),
    "a long question": ({"question": "x" * 4_001}, "too_large", "/question"),
    "no documents": ({"documents": []}, "invalid_case", "/documents"),
    "a document too many": ({"documents": documents(*[1] * 21)}, "too_large", "/documents"),
    "an empty document": ({"documents": [{"text": " "}]}, "invalid_case", "/documents/0/text"),
    "two documents of one id": ({"documents": [{"id": "A", "text": "x"}] * 2}, "invalid_case", "/documents"),
    "an id that is given by default too": (
        {"documents": [{"id": "D2", "text": "x"}, {"text": "y"}]},
        "invalid_case",
        "/documents",
    ),
    "a document id with NUL": ({"documents": [{"id": "a\0b", "text": "x"}]}, "invalid_case", "/documents/0/id"),
    "a document id with a line break": ({"documents": [{"id": "a\n", "text": "x"}]}, "invalid_case", "/documents/0/id"),
    "a blank document id": ({"documents": [{"id": "  ", "text": "x"}]}, "invalid_case", "/documents/0/id"),
    "a long document id": ({"documents": [{"id": "a" * 101, "text": "x"}]}, "invalid_case", "/documents/0/id"),
    "a long title": ({"documents": [{"title": "a" * 2_001, "text": "x"}]}, "too_large", "/documents/0/title"),
    "a misspelled task type": ({"taskType": "Contract"}, "invalid_case", "/taskType"),
    "a task type with NUL": ({"taskType": "contract\0"}, "invalid_case", "/taskType"),
    "a huge task type": ({"taskType": "x" * 5_000}, "too_large", "/taskType"),
    "an unknown format": ({"options": {"format": "shouting"}}, "invalid_case", "/options/format"),
    "a format with its version": ({"options": {"format": "adversarial/1"}}, "invalid_case", "/options/format"),
    "no downside": ({"estimatedDownside": None}, "invalid_case", "/estimatedDownside"),
    "a negative downside": ({"estimatedDownside": -1}, "invalid_case", "/estimatedDownside"),
    "a downside that is NaN": ({"estimatedDownside": "NaN"}, "invalid_case", "/estimatedDownside"),
    "an infinite downside": ({"estimatedDownside": "Infinity"}, "invalid_case", "/estimatedDownside"),
    "a downside beyond all money": ({"estimatedDownside": "1E+15"}, "invalid_case", "/estimatedDownside"),
    "a downside that no arithmetic holds": ({"estimatedDownside": "1E+999999"}, "invalid_case", "/estimatedDownside"),
    "a downside past every context": ({"estimatedDownside": "1E+99999999999"}, "invalid_case", "/estimatedDownside"),
    "a downside of many digits": ({"estimatedDownside": "1." + "3" * 60}, "invalid_case", "/estimatedDownside"),
    "a confidence above one": ({"confidenceScore": 1.01}, "invalid_case", "/confidenceScore"),
    "a negative confidence": ({"confidenceScore": -0.1}, "invalid_case", "/confidenceScore"),
    "a confidence that is NaN": ({"confidenceScore": "nan"}, "invalid_case", "/confidenceScore"),
    "a confidence out of all proportion": ({"confidenceScore": "1E-99999999"}, "invalid_case", "/confidenceScore"),
    "a long basis": ({"downsideBasis": "x" * 2_001}, "too_large", "/downsideBasis"),
    "a long use case": ({"useCase": "x" * 2_001}, "too_large", "/useCase"),
    "a long intended use": ({"intendedUse": "x" * 2_001}, "too_large", "/intendedUse"),
    "a long answer": ({"singleAgentAnswer": "x" * 20_001}, "too_large", "/singleAgentAnswer"),
    "a ceiling of nothing": ({"costCeilingUSD": 0}, "invalid_case", "/costCeilingUSD"),
    "a negative ceiling": ({"costCeilingUSD": "-0.50"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling above the policy's": ({"costCeilingUSD": "25.000001"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling finer than a micro-dollar": ({"costCeilingUSD": "0.1234567"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling that is NaN": ({"costCeilingUSD": "NaN"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling beyond every column": ({"costCeilingUSD": "1E+30"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling past every context": ({"costCeilingUSD": "1E+99999999999"}, "invalid_case", "/costCeilingUSD"),
    "a ceiling too small": ({"costCeilingUSD": "0.000001"}, "ceiling_too_small", "/costCeilingUSD"),
    "a deadline that is none": ({"deadline": "tomorrow"}, "invalid_case", "/deadline"),
    "a deadline without an offset": ({"deadline": "2027-01-31T17:00:00"}, "invalid_case", "/deadline"),
    "a deadline that has passed": ({"deadline": "2026-11-21T11:59:59Z"}, "invalid_case", "/deadline"),
    "a deadline of now": ({"deadline": "2026-11-21T12:00:00Z"}, "invalid_case", "/deadline"),
    "a deadline after the calendar": ({"deadline": "9999-12-31T23:59:59-14:00"}, "invalid_case", "/deadline"),
    "no round": ({"options": {"format": "adversarial", "maxRounds": 0}}, "invalid_case", "/options/maxRounds"),
    "a fourth round": ({"options": {"format": "adversarial", "maxRounds": 4}}, "invalid_case", "/options/maxRounds"),
    "a strength of nothing": (
        {"options": {"format": "adversarial", "minChallengeStrength": 0}},
        "invalid_case",
        "/options/minChallengeStrength",
    ),
    "a strength above ten": (
        {"options": {"format": "adversarial", "requireCriticRetryBelow": 11}},
        "invalid_case",
        "/options/requireCriticRetryBelow",
    ),
    "a persona of no seat": (
        {"options": {"format": "adversarial", "personas": {"judge": "x"}}},
        "invalid_case",
        "/options/personas/judge",
    ),
    "an empty persona": (
        {"options": {"format": "adversarial", "personas": {"critic": " "}}},
        "invalid_case",
        "/options/personas/critic",
    ),
    "a long persona": (
        {"options": {"format": "adversarial", "personas": {"critic": "x" * 2_001}}},
        "too_large",
        "/options/personas/critic",
    ),
    "a model of no seat": (
        {"options": {"format": "adversarial", "models": {"judge": "alder-large"}}},
        "invalid_case",
        "/options/models/judge",
    ),
    "an unknown model": (
        {"options": {"format": "adversarial", "models": {"critic": "gpt-9"}}},
        "invalid_case",
        "/options/models/critic",
    ),
    "one position": (
        {"options": {"format": "adversarial", "positions": POSITIONS[:1]}},
        "invalid_case",
        "/options/positions",
    ),
    "two positions of one id": (
        {"options": {"format": "adversarial", "positions": POSITIONS[:1] * 2}},
        "invalid_case",
        "/options/positions",
    ),
    "a position too many": (
        {"options": {"format": "adversarial", "positions": [{"id": f"p{i}", "text": "x"} for i in range(7)]}},
        "invalid_case",
        "/options/positions",
    ),
    "a position's id with a dot": (
        {"options": {"format": "adversarial", "positions": [{"id": "a.1", "text": "x"}, POSITIONS[0]]}},
        "invalid_case",
        "/options/positions/0/id",
    ),
    "a position's id of hyphens": (
        {"options": {"format": "adversarial", "positions": [POSITIONS[0], {"id": "--", "text": "x"}]}},
        "invalid_case",
        "/options/positions/1/id",
    ),
    "a long id of a position": (
        {"options": {"format": "adversarial", "positions": [POSITIONS[0], {"id": "x" * 41, "text": "x"}]}},
        "invalid_case",
        "/options/positions/1/id",
    ),
    "an empty position": (
        {"options": {"format": "adversarial", "positions": [POSITIONS[0], {"id": "x", "text": ""}]}},
        "invalid_case",
        "/options/positions/1/text",
    ),
    "a long position": (
        {"options": {"format": "adversarial", "positions": [POSITIONS[0], {"id": "x", "text": "x" * 4_001}]}},
        "too_large",
        "/options/positions/1/text",
    ),
    "evidence that begins later": ({"documents": documents(2)}, "invalid_case", "/documents"),
    "evidence of round nothing": ({"documents": documents(1, 0)}, "invalid_case", "/documents"),
    "evidence after the last round": ({"documents": documents(1, 4)}, "invalid_case", "/documents"),
    "evidence after the rounds that are asked for": (
        {"documents": documents(1, 2), "options": {"format": "adversarial", "maxRounds": 1}},
        "invalid_case",
        "/documents",
    ),
    "evidence of a round beyond all numbers": ({"documents": documents(1, 10**30)}, "invalid_case", "/documents"),
    "too much metadata": ({"metadata": {f"k{i}": "v" for i in range(33)}}, "invalid_case", "/metadata"),
    "a long key of metadata": ({"metadata": {"k" * 2_001: "v"}}, "too_large", "/metadata"),
    "a long value of metadata": ({"metadata": {"k": "v" * 2_001}}, "too_large", "/metadata"),
    "a force without a reason": ({"force": {"debate": True, "reason": " "}}, "invalid_case", "/force/reason"),
    "a force with a long reason": ({"force": {"debate": True, "reason": "x" * 2_001}}, "too_large", "/force/reason"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_case_is_refused_with_its_code_and_field(name: str) -> None:
    changes, code, pointer = REFUSED[name]

    assert refused(a_case(**changes)) == (code, (pointer,))


def with_surrogate(*path: str | int) -> CaseRequest:
    """A request whose text at a path is not Unicode: JSON cannot say so, a command line can."""
    options = {"format": "adversarial", "personas": {"critic": "x"}, "positions": POSITIONS}
    full = msgspec.to_builtins(
        a_case(options=options, metadata={"k": "v"}, force={"debate": True, "reason": "x"}, useCase="x")
    )
    inner: Any = full
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = SURROGATE
    return msgspec.convert(full, CaseRequest)


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        (("question",), "/question"),
        (("taskType",), "/taskType"),
        (("singleAgentAnswer",), "/singleAgentAnswer"),
        (("downsideBasis",), "/downsideBasis"),
        (("useCase",), "/useCase"),
        (("intendedUse",), "/intendedUse"),
        (("options", "format"), "/options/format"),
        (("deadline",), "/deadline"),
        (("documents", 0, "text"), "/documents/0/text"),
        (("documents", 0, "title"), "/documents/0/title"),
        (("documents", 0, "id"), "/documents/0/id"),
        (("metadata", "k"), "/metadata"),
        (("metadata", SURROGATE), "/metadata"),
        (("force", "reason"), "/force/reason"),
        (("options", "personas", "critic"), "/options/personas/critic"),
        (("options", "personas", SURROGATE), "/options/personas/half \\ud800 a pair"),
        (("options", "positions", 0, "text"), "/options/positions/0/text"),
        (("options", "positions", 0, "id"), "/options/positions/0/id"),
        (("options", "models", SURROGATE), "/options/models/half \\ud800 a pair"),
        (("options", "models", "critic"), "/options/models/critic"),
    ],
)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(path: tuple[str | int, ...], pointer: str) -> None:
    assert refused(with_surrogate(*path)) == ("invalid_case", (pointer,))


def test_documents_are_refused_by_size_one_by_one_and_together() -> None:
    tight = policy(limits__document_characters=10, limits__total_characters=15)

    assert refused(a_case(documents=[{"text": "x" * 11}]), tight) == ("too_large", ("/documents/0/text",))
    assert refused(a_case(documents=[{"text": "x" * 8}] * 2), tight) == ("too_large", ("/documents",))
    taken(a_case(documents=[{"text": "x" * 8}, {"text": "x" * 7}]), tight)


def windows(tokens: int, *aliases: str) -> Policy:
    """A policy where these models can read only so much."""
    models = {
        alias: msgspec.structs.replace(model, context_window=tokens if alias in aliases else model.context_window)
        for alias, model in POLICY.models.items()
    }
    return policy(models=models)


@pytest.mark.parametrize("alias", sorted({seat.model for seat in POLICY.seats.values()}))
def test_documents_too_large_for_any_seat_are_refused_before_a_cent_is_spent(alias: str) -> None:
    request = a_case(documents=[{"text": "Clause. " * 10_000}], costCeilingUSD=25)

    assert refused(request, windows(20_000, alias)) == ("too_large", ("/documents",))
    taken(request, windows(60_000, alias))


def test_documents_of_a_later_round_must_fit_as_well() -> None:
    later = [{"text": "Short."}, {"text": "Clause. " * 10_000, "round": 2}]

    assert refused(a_case(documents=later, costCeilingUSD=25), windows(20_000, "alder-large")) == (
        "too_large",
        ("/documents",),
    )


def test_a_model_may_be_chosen_only_where_policy_says_so() -> None:
    chosen = a_case(options={"format": "adversarial", "models": {"critic": "cedar-large"}})

    _, started = taken(chosen)
    assert started is not None
    assert started.seat("critic").model == "cedar-large"
    assert refused(chosen, policy(debate__may_choose_models=False)) == ("invalid_case", ("/options",))


def test_a_model_without_a_price_in_force_is_not_used() -> None:
    future = {
        alias: msgspec.structs.replace(
            model, prices=tuple(msgspec.structs.replace(p, effective="2027-01-01") for p in model.prices)
        )
        for alias, model in POLICY.models.items()
    }

    assert refused(a_case(), policy(models=future)) == ("invalid_case", ())


def test_only_an_entitled_role_may_force() -> None:
    forced = a_case(force={"debate": True, "reason": "the board asks"})

    assert refused(forced, role="requester") == ("invalid_case", ("/force",))
    assert taken(forced)[0].decision.decided_by == "forced"


# -- what is resolved


@pytest.mark.parametrize(
    ("changes", "rounds"),
    [
        ({}, 1),
        ({"estimatedDownside": 1_000_000}, 1),
        ({"estimatedDownside": "1000000.01"}, 2),
        ({"materiality": "high"}, 2),
        ({"materiality": "moderate"}, 1),
        ({"documents": documents(1, 2)}, 2),
        ({"documents": documents(1, 3)}, 3),
        ({"materiality": "high", "documents": documents(1, 3)}, 3),
        ({"materiality": "high", "options": {"format": "adversarial", "maxRounds": 1}}, 1),
        ({"options": {"format": "adversarial", "maxRounds": 3}}, 3),
    ],
)
def test_rounds_are_one_or_more_where_the_case_is_high_stakes_or_brings_evidence(
    changes: dict[str, Any], rounds: int
) -> None:
    assert taken(a_case(**changes))[0].options.max_rounds == rounds


def test_every_option_that_is_left_out_is_resolved_from_policy() -> None:
    under = policy(
        debate__min_challenge_strength=7, debate__require_critic_retry_below=5, debate__human_review=("contract",)
    )

    _, started = taken(a_case(), under)

    assert started is not None
    options = started.options
    assert isinstance(options, AdversarialOptions)
    assert (options.min_challenge_strength, options.require_critic_retry_below, options.human_review) == (7, 5, True)
    assert started.ceiling == POLICY.debate.ceiling
    assert started.attempts_per_turn == POLICY.debate.attempts_per_turn
    assert {plan.seat: plan.model for plan in started.seats} == {n: POLICY.seats[n].model for n in SEATS}
    assert (started.simulated, started.diversity, started.approved_by) == (True, "crossFamily", "unapproved")


def test_the_start_says_how_far_apart_seats_are_and_what_each_is_expected_to_cost() -> None:
    prepared, started = taken(a_case(options={"format": "adversarial", "models": {"critic": "cedar-small"}}))

    assert started is not None
    near = {pair.seats: pair.diversity for pair in started.pairs if pair.diversity != "crossFamily"}
    assert near == {("moderator", "critic"): "sameFamily"}
    assert (started.diversity, len(started.pairs)) == ("sameFamily", 5)
    assert sum(started.expected_by_seat.values()) == started.expected_cost == prepared.expected_cost
    assert set(started.expected_by_seat) == {plan.seat for plan in started.seats}
    assert started.turn_deadline_s == POLICY.calls.turn_deadline_s


def test_a_model_that_brings_seats_nearer_than_policy_demands_is_refused_at_its_pointer() -> None:
    under = policy(debate__diversity="crossFamily")
    request = a_case(options={"format": "adversarial", "models": {"critic": "cedar-small"}})

    assert refused(request, under) == ("invalid_case", ("/options/models/critic",))
    assert taken(a_case(options={"format": "adversarial", "models": {"critic": "birch-small"}}), under)[1] is not None


def test_documents_are_named_in_order_and_committed_to_by_salt() -> None:
    prepared, _ = taken(a_case(documents=[{"text": "one"}, {"id": "ADR-7", "title": "Why", "text": "two"}]))

    first, second = prepared.case.documents
    assert (first.id, first.title, second.id, second.title) == ("D1", "D1", "ADR-7", "Why")
    assert first.commitment != second.commitment
    assert prepared.sources == {"D1": "one", "ADR-7": "two"}


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("2027-01-31T17:00:00Z", "2027-01-31T17:00:00+00:00"),
        ("2027-01-31T17:00:00+02:00", "2027-01-31T15:00:00+00:00"),
        ("2027-01-31T17:00:00+23:59", "2027-01-30T17:01:00+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
    ],
)
def test_a_deadline_is_kept_in_utc(given_: str, kept: str) -> None:
    """PostgreSQL refuses offsets of sixteen hours and more."""
    assert taken(a_case(deadline=given_))[0].case.deadline == kept


def test_the_expected_cost_counts_every_seat_once_a_round_and_every_position() -> None:
    one = taken(a_case())[0].expected_cost
    two = taken(a_case(options={"format": "adversarial", "maxRounds": 2}))[0].expected_cost
    several = taken(a_case(options={"format": "adversarial", "positions": POSITIONS}, costCeilingUSD=2))[
        0
    ].expected_cost

    by_hand = {
        "framing": 6_000 * 150_000 + 350 * 600_000,
        "proposer": 6_000 * 2_500_000 + 900 * 10_000_000,
        "critic": 6_000 * 3_000_000 + 900 * 15_000_000,
        "rebuttal": 6_000 * 400_000 + 750 * 1_600_000,
        "moderator": 6_000 * 1_250_000 + 750 * 5_000_000,
    }
    cost = {seat: -(-exact // 1_000_000) for seat, exact in by_hand.items()}
    assert one == sum(cost.values())
    assert two == 2 * one - cost["framing"]
    assert several == one + cost["proposer"] + cost["rebuttal"]


def test_documents_longer_than_a_usual_request_raise_the_expected_cost_and_what_the_gate_asks_for() -> None:
    usual = taken(a_case())[0]
    long = taken(a_case(documents=[{"text": "x " * 100_000}], costCeilingUSD=5))[0]

    read = 50_000 * (150_000 + 2_500_000 + 3_000_000 + 400_000 + 1_250_000)
    said = 350 * 600_000 + 900 * 10_000_000 + 900 * 15_000_000 + 750 * 1_600_000 + 750 * 5_000_000
    assert abs(long.expected_cost - (read + said) // 1_000_000) <= 5
    assert long.decision.debate_cost_threshold == long.expected_cost > usual.decision.debate_cost_threshold


def test_a_declined_case_is_not_held_to_what_a_debate_may_cost() -> None:
    prepared, started = taken(a_case(contested=False, costCeilingUSD="0.000001"))

    assert (prepared.decision.debate, prepared.decision.decided_by, started) == (False, "contested", None)


def test_the_gate_refuses_and_decides_as_a_debate_does() -> None:
    assert decide(a_gate_request(), POLICY, DAY, "operator", PROMPTS) == taken(a_case())[0].decision
    for changes in (
        {"taskType": "contracts"},
        {"options": {"format": "adversarial", "maxRounds": 4}},
        {"estimatedDownside": "1E+999999"},
    ):
        with pytest.raises(InvalidCase):
            decide(a_gate_request(**changes), POLICY, DAY, "operator", PROMPTS)


MANY: dict[str, tuple[dict[str, Any], set[str]]] = {
    "of a case": (
        {
            "question": " ",
            "taskType": "Contract",
            "documents": [{"text": "", "id": "a\n"}, {"text": "Clause 1."}, {"text": " "}],
            "estimatedDownside": -1,
            "confidenceScore": 2,
            "deadline": "tomorrow",
            "costCeilingUSD": 0,
            "options": {
                "format": "adversarial",
                "maxRounds": 9,
                "minChallengeStrength": 11,
                "personas": {"x": "y", "critic": " ", "z": "y"},
            },
        },
        {
            "/question",
            "/taskType",
            "/documents/0/id",
            "/documents/0/text",
            "/documents/2/text",
            "/estimatedDownside",
            "/confidenceScore",
            "/deadline",
            "/costCeilingUSD",
            "/options/maxRounds",
            "/options/minChallengeStrength",
            "/options/personas/x",
            "/options/personas/critic",
            "/options/personas/z",
        },
    ),
    "of a size, beside one of a value": (
        {"question": "x" * 4_001, "taskType": "contracts", "estimatedDownside": "1E+999999"},
        {"/question", "/taskType", "/estimatedDownside"},
    ),
    "of debaters and what hangs on them": (
        {
            "options": {
                "format": "ballot",
                "debaters": [{"name": " "}, {"name": "b", "role": " ", "prompt": "own"}, {"name": "c", "stance": "no"}],
                "consensusThreshold": 4,
                "maxRounds": 0,
                "votes": ["go", "go"],
                "models": {"debater-3": "none", "debater-4": "alder-large"},
            },
        },
        {
            "/options/debaters/0/name",
            "/options/debaters/1/role",
            "/options/debaters/2/stance",
            "/options/consensusThreshold",
            "/options/maxRounds",
            "/options/votes",
            "/options/models/debater-3",
            "/options/models/debater-4",
        },
    ),
    "of a number of debaters, and not of what hangs on it": (
        {
            "options": {
                "format": "ballot",
                "debaters": [{"name": f"d{n}"} for n in range(12)],
                "consensusThreshold": 11,
                "maxRounds": 0,
                "models": {"debater-12": "none"},
            },
        },
        {"/options/debaters", "/options/maxRounds"},
    ),
    "of one debater alone, and not of what nobody sent": (
        {"options": {"format": "convergence", "debaters": [{"name": "a"}], "maxRounds": 0}},
        {"/options/debaters", "/options/maxRounds"},
    ),
    "of one voter alone": (
        {"options": {"format": "ballot", "debaters": [{"name": "a"}], "votes": ["go", "go"]}},
        {"/options/debaters", "/options/votes"},
    ),
    "of one debater alone, whose stance is missing too": (
        {"options": {"format": "stances", "debaters": [{"name": "a"}], "maxRounds": 0}},
        {"/options/debaters", "/options/debaters/0/stance", "/options/maxRounds"},
    ),
    "of no debater of stances at all": (
        {"options": {"format": "stances", "debaters": [], "maxRounds": 0}},
        {"/options/debaters", "/options/maxRounds"},
    ),
    "of an option of another format": (
        {"options": {"format": "panel", "votes": ["a"], "maxRounds": 99}},
        {"/options/votes", "/options/maxRounds"},
    ),
}


@pytest.mark.parametrize("name", MANY)
def test_all_faults_of_a_case_are_refused_together(name: str) -> None:
    changes, pointers = MANY[name]

    with pytest.raises(InvalidCase) as caught:
        taken(a_case(**changes))

    assert {pointer for part in caught.value.parts for pointer in part.pointers} == pointers
    assert len(caught.value.parts) == len(pointers)


def test_a_fault_of_a_debater_names_it_as_the_caller_did() -> None:
    with pytest.raises(InvalidCase) as caught:
        taken(a_case(options={"format": "stances", "debaters": [{"name": "planner"}]}))

    assert [part.detail for part in caught.value.parts] == [
        "expected 2 to 6 debaters, found 1",
        "debater 'planner' needs a stance of one line: the position that it argues to the end",
    ]


def test_faults_of_size_alone_stay_faults_of_size() -> None:
    assert refused(a_case(question="x" * 4_001, useCase="x" * 9_000)) == ("too_large", ("/question", "/useCase"))


def test_a_refusal_lists_no_more_faults_than_a_reader_can_use() -> None:
    with pytest.raises(InvalidCase) as caught:
        taken(a_case(options={"format": "adversarial", "personas": {f"seat {n}": "x" for n in range(200)}}))

    assert len(caught.value.parts) == FAULTS_MAX


@pytest.mark.parametrize("kind", ["gate", "case"])
def test_an_unknown_task_type_is_declined_and_keeps_its_name(kind: str) -> None:
    request = a_case(taskType="poetry")
    prepared, started = taken(request)

    assert started is None
    assert prepared.case.task_type == "poetry"
    assert prepared.case.asked_task_type is None
    if kind == "gate":
        assert decide(a_gate_request(taskType="poetry"), POLICY, DAY, "operator", PROMPTS) == prepared.decision


def test_policy_may_review_an_unknown_task_type_as_a_known_one() -> None:
    under = policy(gate__unknown_task_type="as:contract")

    prepared, started = taken(a_case(taskType="poetry"), under)

    assert started is not None
    assert (prepared.case.task_type, prepared.case.asked_task_type) == ("contract", "poetry")
    assert prepared.decision.decided_by == taken(a_case(taskType="contract"))[0].decision.decided_by


def test_policy_may_refuse_an_unknown_task_type() -> None:
    under = policy(gate__unknown_task_type="refuse")

    assert refused(a_case(taskType="poetry"), under) == ("invalid_case", ("/taskType",))


@given(
    ceiling=st.decimals(allow_nan=True, allow_infinity=True),
    downside=st.decimals(allow_nan=True, allow_infinity=True),
    rounds=st.none() | st.integers(),
    evidence=st.lists(st.integers(-1, 5), max_size=3),
    text=st.text(st.characters(), max_size=20),
)
def test_whatever_is_asked_is_refused_with_a_reason_or_starts_a_legal_debate(
    ceiling: Decimal, downside: Decimal, rounds: int | None, evidence: list[int], text: str
) -> None:
    request = msgspec.structs.replace(
        a_case(),
        question=text,
        cost_ceiling_usd=ceiling,
        estimated_downside=downside,
        options=msgspec.structs.replace(a_case().options, max_rounds=rounds),
        documents=tuple(DocumentRequest(text=text, round=r) for r in evidence),
        metadata={text: text},
    )

    try:
        prepared, started = taken(request)
    except (InvalidCase, TooLarge):
        return

    facts = Facts()
    entries: list[Entry] = [
        prepared.received("local"),
        GateDecided(prepared.decision),
        *([started] if started else []),
    ]
    for entry in entries:
        kernel.refuse_illegal(facts, entry)
        facts.add(entry)
        assert encode(entry)


def test_a_pointer_names_the_member_as_rfc_6901_writes_it() -> None:
    assert validation.key("a/b~c") == "a~1b~0c"
    assert len(validation.key("x" * 1_000)) == 80


def test_a_message_repeats_only_the_beginning_of_what_was_sent() -> None:
    assert validation.check_text("x" * 1_000).endswith("...")
    assert len(validation.check_text("x" * 1_000)) < 100
