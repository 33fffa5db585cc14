"""What the document says of values is what the service takes and sends."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.record import SALT_BYTES
from service.debate.model import Status
from service.errors import GainsayError
from service.intake import Deployment, prepare, validation
from service.intake.request import CaseRequest, GateRequest, document_ids
from service.policy.task_types import CHARACTERS_MAX
from service.web.openapi import document
from service.web.value_bounds import AMOUNT, SHARE, CaseBounds
from tests.unit.intake.test_intake import DAY, POLICY, PROMPTS

DEPLOYMENT = Deployment(PROMPTS, POLICY, DAY, "00" * 32)
WHOLE = document(CaseBounds.of(POLICY))
LIMITS = POLICY.limits
CASE: dict[str, Any] = {
    "question": "Sign?",
    "taskType": "contract",
    "estimatedDownside": 250_000,
    "documents": [{"text": "Clause 1."}],
}


def conforms(body: dict[str, Any]) -> bool:
    """Whether a body of ``POST /v1/debates`` is one by the document."""
    whole = {"components": WHOLE["components"], "$ref": "#/components/schemas/CaseRequest"}
    return jsonschema.Draft202012Validator(whole).is_valid(body)


def taken(body: dict[str, Any]) -> bool:
    """Whether the service takes it."""
    try:
        case = msgspec.convert(body, CaseRequest, strict=False)
        salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))
        prepare(case, DEPLOYMENT, "operator", salts, datetime(2026, 1, 1, tzinfo=UTC))
    except (GainsayError, msgspec.ValidationError):
        return False
    return True


def forced(reason: str) -> dict[str, Any]:
    return {"debate": True, "reason": reason}


AT_MOST: dict[str, tuple[Any, Any]] = {
    name: ("x" * most, "x" * (most + 1))
    for name, most in {
        "question": LIMITS.question_characters,
        "singleAgentAnswer": LIMITS.answer_characters,
        **dict.fromkeys(("downsideBasis", "useCase", "intendedUse"), LIMITS.note_characters),
        "taskType": CHARACTERS_MAX,
    }.items()
} | {
    "force": (forced("x" * LIMITS.note_characters), forced("x" * (LIMITS.note_characters + 1))),
    "metadata": (
        {f"{n}": "v" for n in range(LIMITS.metadata)},
        {f"{n}": "v" for n in range(LIMITS.metadata + 1)},
    ),
    "documents": ([{"text": "x"}] * LIMITS.documents, [{"text": "x"}] * (LIMITS.documents + 1)),
}
BLANK: dict[str, Any] = {
    "question": " \n",
    "taskType": "",
    "force": forced(" "),
    "documents": [{"text": "\t"}],
    "costCeilingUSD": 0,
    "estimatedDownside": 10**15,
    "confidenceScore": 1.5,
}


@pytest.mark.parametrize("member", AT_MOST)
def test_the_document_has_the_limits_of_the_policy_that_runs(member: str) -> None:
    within, beyond = ({**CASE, member: value} for value in AT_MOST[member])

    assert (conforms(within), taken(within)) == (True, True)
    assert (conforms(beyond), taken(beyond)) == (False, False)


@pytest.mark.parametrize("member", BLANK)
def test_what_is_blank_or_no_amount_is_refused_by_the_document_as_by_the_service(member: str) -> None:
    body = {**CASE, member: BLANK[member]}

    assert (conforms(body), taken(body)) == (False, False)


@pytest.mark.parametrize("amount", [-1, "-1", "1e15", "NaN"])
@pytest.mark.parametrize("member", ["estimatedDownside", "confidenceScore"])
def test_an_amount_below_nothing_or_beyond_measure_is_refused_by_both(member: str, amount: int | str) -> None:
    body = {**CASE, member: amount}

    assert (conforms(body), taken(body)) == (False, False)


@pytest.mark.parametrize("member", ["question", "taskType", "estimatedDownside"])
def test_what_a_case_cannot_do_without_is_required(member: str) -> None:
    bare = {name: value for name, value in CASE.items() if name != member}

    for body in (bare, {**CASE, member: None}):
        assert (conforms(body), taken(body)) == (False, False)


@given(st.from_regex(re.compile(SHARE["pattern"], re.ASCII), fullmatch=True).filter(lambda text: "\n" not in text))
def test_every_share_of_the_pattern_is_a_confidence(share: str) -> None:
    assert taken({**CASE, "confidenceScore": share})


@given(st.from_regex(re.compile(AMOUNT["pattern"], re.ASCII), fullmatch=True).filter(lambda text: "\n" not in text))
def test_every_amount_of_the_pattern_is_one_that_the_service_takes(amount: str) -> None:
    body = msgspec.json.encode({"taskType": "contract", "estimatedDownside": amount, "confidenceScore": 0})

    validation.amounts(msgspec.json.decode(body, type=GateRequest))


@pytest.mark.parametrize("other", ["1e15", "1000000000000000", "NaN", "-Infinity", "1_000", "", "a", "1e", "12,5"])
def test_a_text_that_is_no_amount_does_not_match(other: str) -> None:
    assert not re.search(AMOUNT["pattern"], other)


def test_every_amount_in_dollars_of_an_answer_has_a_pattern() -> None:
    components = WHOLE["components"]["schemas"]
    amounts = {
        f"{name}.{member}": schema.get("additionalProperties", schema)
        for name, described in components.items()
        for member, schema in described.get("properties", {}).items()
        if member.endswith("USD") and name != "CaseRequest"
    }

    without = [place for place, schema in amounts.items() if "pattern" not in schema]

    assert len(amounts) > 90
    assert without == []


def test_filters_with_closed_values_and_hashes_say_so() -> None:
    operation = WHOLE["paths"]["/v1/audit/logs/{host}/{tenant}/{epoch}/records"]["get"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]}

    assert schemas["status"]["enum"] == [*get_args(Status)]
    assert schemas["prompt"] == schemas["document"] == {"type": "string", "pattern": "^[0-9a-f]{64}$"}
