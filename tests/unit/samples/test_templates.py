"""Every template of a question is a case that the service takes once it is filled, and none before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from service import intake
from service.audit.record import SALT_BYTES
from service.errors import GainsayError, InvalidCase
from service.intake.decoding import decode
from service.intake.deployment import assemble
from service.intake.request import CaseRequest, document_ids
from service.policy.settings import read_settings
from service.samples import templates

NAMES = tuple(templates.templates())
NOW = datetime(2026, 11, 24, tzinfo=UTC)


def filled(name: str) -> dict[str, Any]:
    """The template with words of our own, and a document."""
    template = templates.load(name)
    words = {name: f"the {name.replace('-', ' ')}" for name in template.placeholders}
    case = templates.fill(template, {**words, "downside-usd": "2500000"})
    return {**case, "documents": [{"title": "Agreement", "text": "1. The Supplier is liable for each breach."}]}


def read(case: dict[str, Any]) -> CaseRequest:
    return decode(msgspec.json.encode(case), CaseRequest)


@pytest.mark.parametrize("name", NAMES)
def test_a_filled_template_is_a_case_that_deserves_a_debate_and_may_begin_one(name: str) -> None:
    case, deployment = read(filled(name)), assemble(read_settings({}), "2026-11-24")
    salts = dict.fromkeys(document_ids(case), bytes(SALT_BYTES))

    prepared = intake.prepare(case, deployment, "operator", salts, NOW)
    intake.start(prepared, deployment, seed="0" * 64)

    assert prepared.decision.debate
    assert case.task_type == name.partition("/")[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_template_that_is_not_filled_is_no_case_for_any_reader(name: str) -> None:
    """Also where it is sent by HTTP as it is: its downside is no number."""
    case, deployment = templates.load(name).case, assemble(read_settings({}), "2026-11-24")

    with pytest.raises(GainsayError) as refusal:
        intake.prepare(read(case), deployment, "operator", {}, NOW)

    assert "/estimatedDownside" in refusal.value.pointers


@pytest.mark.parametrize("name", NAMES)
def test_a_template_asks_for_what_its_reader_needs(name: str) -> None:
    template = templates.load(name)

    assert template.case["question"].endswith("?")
    assert "downside-usd" in template.placeholders
    assert {"taskType", "downsideBasis", "options"} <= set(template.case)
    assert len(template.about) <= 60


def test_each_task_type_of_the_shipped_policy_has_templates() -> None:
    assert {name.partition("/")[0] for name in NAMES} == set(read_settings({}).policy.gate.task_types)


def test_a_placeholder_that_is_filled_in_part_is_said_until_it_is_whole() -> None:
    template = templates.load("security/release")

    some = templates.fill(template, {"date": "October 5"})

    assert "date" not in templates.unfilled(some)
    assert set(templates.unfilled(some)) == set(template.placeholders) - {"date"}
    assert some["options"]["debaters"][0]["stance"] == "release on October 5"
    assert templates.load("security/release") == template


@pytest.mark.parametrize(
    ("name", "said"),
    [("contract/liabilty", "did you mean 'contract/liability'?"), ("", "choose one of: contract/liability")],
)
def test_an_unknown_template_is_told_the_nearest(name: str, said: str) -> None:
    with pytest.raises(templates.UnknownTemplate, match=r".") as refusal:
        templates.load(name)

    assert said in refusal.value.detail


def test_a_name_that_is_no_placeholder_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidCase) as refusal:
        templates.fill(templates.load("contract/liability"), {"partie": "we"})

    assert "found 'partie'; did you mean 'party'? it has: party, counterparty" in refusal.value.detail


def test_words_that_look_like_a_placeholder_or_a_pattern_are_put_in_as_they_are() -> None:
    words = {"party": r"A\1 & \g<0> <FILL: event>"}

    case = templates.fill(templates.load("contract/termination"), words)

    assert case["question"].startswith(r"May A\1 & \g<0> <FILL: event> terminate")
