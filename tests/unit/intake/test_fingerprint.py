"""Two cases that say the same have one fingerprint, and no others."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import samples
from service.checks.output_schema import check_schema
from service.errors import InvalidCase
from service.intake.fingerprint import fingerprint
from service.intake.request import CaseRequest

CASE: dict[str, Any] = {
    "question": "Does this agreement leave us with uncapped liability?",
    "taskType": "contract",
    "estimatedDownside": 250000,
    "confidenceScore": 0.55,
    "documents": [{"id": "D1", "text": "Neither party's liability shall exceed the fees paid."}],
    "options": {"format": "adversarial", "maxRounds": 1},
    "metadata": {"desk": "7", "case": "4711"},
}


def of(body: str) -> str:
    return fingerprint(msgspec.json.decode(body, type=CaseRequest)).hex()


def print_of(**changes: Any) -> str:
    return of(json.dumps({**CASE, **changes}))


def test_the_fingerprint_of_a_case_stays_what_it_was() -> None:
    """Keys are kept for as long as the record: a later version has to know a case again.

    The first three were taken when the format stood beside the options of a request.
    """
    usual = {name: value for name, value in CASE.items() if name != "options"}

    assert print_of() == "a959cab480f4149b603d611acb3f59a66d253ca6b4c3335045e6d64fd5522c61"
    assert print_of(options={"format": "auto", "maxRounds": 1}) == (
        "9fcee6ba27e3f82756cdf0e77f49d3833e1da39a670876d01bbf71337355545b"
    )
    assert print_of(options={"format": "panel"}) == "a34406f315e01a8d0be605f7fa449373612333160e6cdf739460a6f779e873d3"
    assert of(json.dumps(usual)) == "b5bbb8ffa5adc5500e010a42cade3da8aa251c0b3485b79b201346c6a5d4b64d"


def test_how_a_case_is_written_down_does_not_matter() -> None:
    turned = dict(reversed(CASE.items())) | {"metadata": {"case": "4711", "desk": "7"}}

    assert of(json.dumps(turned, indent=4)) == print_of()
    assert of(json.dumps(CASE).replace("agreement", "agre\\u0065ment")) == print_of()


@pytest.mark.parametrize("same", ["250000", "250000.0", '"250000"', '"250000.00"', "2.5e5", '"25E4"'])
def test_a_number_counts_by_its_value(same: str) -> None:
    assert of(json.dumps(CASE).replace("250000", same)) == print_of()


@pytest.mark.parametrize("other", ["250001", "250000.000000000000000000000000000000000001", "25E40000000", "-250000"])
def test_another_number_makes_another_case_however_long_it_is(other: str) -> None:
    assert of(json.dumps(CASE).replace("250000", other)) != print_of()


def shaped(schema: str) -> str:
    """The fingerprint of a case with a schema of its caller's, as written."""
    return of(
        json.dumps({**CASE, "options": {"format": "adversarial", "outputSchema": {"here": 0}}}).replace(
            '{"here": 0}', schema
        )
    )


@pytest.mark.parametrize("same", ["1.0", "10e-1", "1E0", "1.000"])
def test_a_number_in_a_schema_of_the_caller_s_counts_by_its_value(same: str) -> None:
    written = '{"minimum": %s, "enum": [%s, {"const": %s}]}'
    one = written % ("1", "1", "1")
    large = "1000000000000000000"

    assert shaped(written % (same, same, same)) == shaped(one)
    assert shaped(f'{{"const": {large}}}') == shaped('{"const": 1e18}')
    others = ["true", '"1"', '"1e0"', "2", "1.1", "[1]", "null", "0", "false"]
    assert len({shaped(written % (each, each, each)) for each in ["1", *others]}) == len(others) + 1


@pytest.mark.parametrize("levels", [30, 600, 900])
def test_a_schema_without_end_is_refused_in_the_words_of_its_check(levels: int) -> None:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}

    with pytest.raises(InvalidCase, match="plain JSON of at most 24 levels") as refused:
        print_of(options={"format": "adversarial", "outputSchema": schema})
    assert refused.value.detail == check_schema(schema)


def test_what_says_no_more_than_its_absence_does_not_matter() -> None:
    """So a case keeps its fingerprint when later versions know more members."""
    options = {"format": "adversarial", "maxRounds": 1, "positions": [], "models": {}, "synthesizer": None}
    documents = [{**CASE["documents"][0], "title": None, "round": 1}]

    assert print_of(contested=None, onDisconnect="continue", options=options, documents=documents) == print_of()


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Does this agreement leave us with uncapped liability? "},
        {"contested": False},
        {"onDisconnect": "abort"},
        {"options": {"format": "adversarial"}},
        {"options": {"format": "auto", "maxRounds": 1}},
        {"options": {"format": "adversarial", "maxRounds": 1, "synthesizer": False}},
        {"documents": []},
        {"documents": [*CASE["documents"], {"text": "more"}]},
        {"metadata": {"desk": "4711", "case": "7"}},
        {"force": {"debate": True, "reason": "asked for"}},
        {"confidenceScore": None},
    ],
)
def test_whatever_else_differs_makes_another_case(change: dict[str, Any]) -> None:
    assert print_of(**change) != print_of()


def test_no_two_samples_are_the_same_case() -> None:
    prints = [of(json.dumps(samples.load(name).case)) for name in samples.names()]

    assert len(set(prints)) == len(prints) > 3


@given(st.decimals(allow_nan=False, allow_infinity=False), st.decimals(allow_nan=False, allow_infinity=False))
def test_two_numbers_have_one_fingerprint_where_they_are_equal(one: Any, other: Any) -> None:
    assert (print_of(confidenceScore=str(one)) == print_of(confidenceScore=str(other))) == (one == other)
