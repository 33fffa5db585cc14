"""Every way in which a vendor says no, on both wires: the reason, whether to ask again, and who pays.

A row holds on both wires unless it names its own. What a vendor cannot have billed costs nothing; all else is charged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

import pytest

from service.running.provider_port import Answer, FailureReason
from tests.end_to_end.vendors.adapters import WIRES, adapter, answered, failed, outcome, usage_of
from tests.end_to_end.vendors.requests import TOLD
from tests.fixtures import vendors
from tests.fixtures.behaviours import Behaviour, Body, Raw, Say, Status
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import VENDORS, Answered, Tokens, Wire


@dataclass(frozen=True)
class Row:
    """A behaviour and how the call that meets it ends."""

    behaviour: Behaviour
    reason: FailureReason
    retry: bool
    billable: bool
    only: Wire | None = None


TOO_LONG = "prompt is too long: 250000 tokens > 200000 maximum"
ROWS = {
    "401": Row(Status(401), "refusedKey", False, False),
    "403": Row(Status(403), "refusedKey", False, False),
    "401 in HTML": Row(Status(401, b"<html>", content_type="text/html"), "refusedKey", False, False),
    "404": Row(Status(404), "unknownModel", False, False),
    "404 by code": Row(Status(404, code="model_not_found"), "unknownModel", False, False, "openai"),
    "400 model_not_found": Row(Status(400, code="model_not_found"), "unknownModel", False, False, "openai"),
    "400 not_found_error": Row(Status(400, kind="not_found_error"), "unknownModel", False, False, "anthropic"),
    "413": Row(Status(413), "contextTooLong", False, False),
    "413 in HTML": Row(Status(413, b"<html>", content_type="text/html"), "contextTooLong", False, False),
    "400 too long": Row(Status(400, code="context_length_exceeded"), "contextTooLong", False, False, "openai"),
    "400 prompt is too long": Row(Status(400, message=TOO_LONG), "contextTooLong", False, False, "anthropic"),
    "400": Row(Status(400), "providerFault", False, False),
    "400 empty": Row(Status(400, b""), "providerFault", False, False),
    "409": Row(Status(409), "providerFault", False, False),
    "418 in HTML": Row(Status(418, b"<html>", content_type="text/html"), "providerFault", False, False),
    "422": Row(Status(422), "providerFault", False, False),
    "402": Row(Status(402), "rateLimit", False, False),
    "429": Row(Status(429), "rateLimit", True, False),
    "429 in HTML": Row(Status(429, b"<html>", content_type="text/html"), "rateLimit", True, False),
    "429 no quota": Row(Status(429, code="insufficient_quota"), "rateLimit", False, False, "openai"),
    "429 billing": Row(Status(429, kind="billing_error"), "rateLimit", False, False, "anthropic"),
    "529": Row(Status(529, kind="overloaded_error"), "overload", True, False),
    "529 in HTML": Row(Status(529, b"<html>", content_type="text/html"), "overload", True, False),
    "503 of the vendor": Row(Status(503, kind="overloaded_error"), "overload", True, False),
    "503 of a proxy": Row(Status(503, b"busy", content_type="text/plain"), "overload", True, True),
    "504": Row(Status(504, b"", content_type=None), "overload", True, True),
    "500": Row(Status(500), "providerFault", True, True),
    "502": Row(Status(502, b"<html>", content_type="text/html"), "providerFault", True, True),
    "501": Row(Status(501), "providerFault", True, True),
    "302": Row(Status(302, b"", {"location": "/v1/elsewhere"}), "providerFault", False, False),
    "308": Row(Status(308, b"", {"location": "/v1/elsewhere"}), "providerFault", False, False),
    "204": Row(Status(204, b"", content_type=None), "providerFault", True, True),
    "200 empty": Row(Body(b""), "providerFault", True, True),
    "200 HTML": Row(Body(b"<html>busy</html>", "text/html"), "providerFault", True, True),
    "200 HTML called JSON": Row(Body(b"<html>busy</html>"), "providerFault", True, True),
    "200 JSON called HTML": Row(Say(TOLD, content_type="text/html"), "providerFault", True, True),
    "200 a stream": Row(Body(b"data: {}\n\n", "text/event-stream"), "providerFault", True, True),
    "200 not UTF-8": Row(Body(b'{"id": "\xff\xfe"}'), "providerFault", True, True),
    "200 a list": Row(Body([]), "providerFault", True, True),
    "200 null": Row(Body(None), "providerFault", True, True),
    "200 an empty object": Row(Body({}), "providerFault", True, True),
    "200 no choices": Row(Say(TOLD, changes={"choices": []}), "providerFault", True, True, "openai"),
    "200 choices are no list": Row(Say(TOLD, changes={"choices": {"0": {}}}), "providerFault", True, True, "openai"),
    "200 content is no list": Row(Say(TOLD, changes={"content": 7}), "providerFault", True, True, "anthropic"),
    "nonsense": Row(Raw(b"\x16\x03\x01 no HTTP at all\r\n\r\n"), "providerFault", True, True),
}
CASES = [
    pytest.param(wire, row, id=f"{wire} {name}")
    for name, row in ROWS.items()
    for wire in WIRES
    if row.only in (None, wire)
]


@pytest.mark.parametrize(("wire", "row"), CASES)
async def test_every_refusal_has_one_reason(wire: Wire, row: Row) -> None:
    async with upstream(row.behaviour) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == (row.reason, row.retry, row.billable), ended.detail
    assert len(up.calls) == 1
    assert "elsewhere" not in ended.detail
    if ended.answer is not None and (usage := usage_of(wire, ended.answer)) is not None:
        assert (usage.inputs, usage.outputs) == (up.billed.input, up.billed.output)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_vendor_that_is_down_is_left_alone_and_one_that_says_no_is_not(wire: Wire) -> None:
    calls: list[Behaviour] = [*[Status(401)] * 5, *[Status(500)] * 2, Say(TOLD), *[Status(500)] * 2]
    async with upstream() as up, adapter(wire, up.url, breaker_failures=3, breaker_pause_s=60) as made:
        for behaviour in calls:
            up.play(behaviour)
            await outcome(made)
            assert made.backoff_s("any") == 0, behaviour
        up.play(Status(529))
        await failed(made)

        assert 50 < made.backoff_s("any") <= 60


@pytest.mark.parametrize(
    ("told", "reason", "retry"),
    [
        ({"message": "no", "type": "rate_limit_error"}, "rateLimit", True),
        ({"message": "no", "type": "overloaded_error"}, "overload", True),
        ({"message": "no", "code": "context_length_exceeded"}, "contextTooLong", False),
        ({"message": "no", "code": "model_not_found"}, "unknownModel", False),
        ({"message": "no", "code": 429}, "rateLimit", True),
        ({"message": "no", "code": 401}, "refusedKey", False),
    ],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_under_status_200_is_an_error(
    wire: Wire, told: dict[str, Any], reason: FailureReason, retry: bool
) -> None:
    async with upstream(Body({"error": told})) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry) == (reason, retry), ended.detail


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "0"}, 0, 0),
        ({"retry-after": "1.5"}, 1.5, 1.5),
        ({"retry-after-ms": "250"}, 0.25, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25, 0.25),
        ({"retry-after": "86400"}, 600, 600),
        ({"retry-after": "date in 5 minutes"}, 200, 300),
        ({"retry-after": "date in 5000 minutes"}, 600, 600),
    ],
    ids=str,
)
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [429, 529])
async def test_the_vendor_says_when_to_come_back(
    wire: Wire, status: int, headers: dict[str, str], least: float, most: float
) -> None:
    headers = {name: _dated(value) for name, value in headers.items()}
    async with upstream(Status(status, headers=headers)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert ended.retry_after_s is not None
    assert least <= ended.retry_after_s <= most


@pytest.mark.parametrize(
    "said", ["soon", "", "-3", "nan", "inf", "1e999", "NaN", "7 7", "Wed, 99 Foo 2026 00:00:00 GMT", "9" * 5_000, "١٢"]
)
@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_time_that_cannot_be_read_is_no_time(wire: Wire, name: str, said: str) -> None:
    headers = {name: said.encode().decode("latin-1")}
    async with upstream(Status(429, headers=headers)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert ended.reason == "rateLimit"
    assert ended.retry_after_s is None or 0 <= ended.retry_after_s <= 600


def _dated(value: str) -> str:
    """The value, or the date that it describes, as HTTP writes dates."""
    if not value.startswith("date in "):
        return value
    return format_datetime(datetime.now(UTC) + timedelta(minutes=int(value.split()[2])), usegmt=True)


@pytest.mark.parametrize("headers", [{}, {"retry-after": "date in -1440 minutes"}], ids=["none", "past"])
async def test_no_time_is_made_up(headers: dict[str, str]) -> None:
    headers = {name: _dated(value) for name, value in headers.items()}
    async with upstream(Status(429, headers=headers)) as up, adapter("openai", up.url) as made:
        ended = await failed(made)

    assert not ended.retry_after_s


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("end", "reason"), [("cut", "lengthLimit"), ("filtered", "modelRefused")])
async def test_a_reply_that_ends_early_is_charged_by_its_usage(
    wire: Wire, end: Literal["cut", "filtered"], reason: FailureReason
) -> None:
    vendor = VENDORS[wire]
    finish = {"cut": vendor.cut, "filtered": vendor.filtered}[end]
    async with upstream(Say(TOLD[:40], finish=finish)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == (reason, reason == "lengthLimit", True)
    _charged_as_billed(wire, ended.answer, up.billed.input, up.billed.output)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_refusal_is_kept_and_charged(wire: Wire) -> None:
    async with upstream(Say(None, refusal="I will not argue this.")) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("modelRefused", False, True)
    assert ended.answer is not None
    assert ended.answer.text == "I will not argue this."
    _charged_as_billed(wire, ended.answer, up.billed.input, up.billed.output)


EMPTY = [
    pytest.param(wire, changes, id=f"{wire} {name}")
    for wire in WIRES
    for name, changes in VENDORS[wire].no_reply.items()
]


@pytest.mark.parametrize(("wire", "changes"), EMPTY)
async def test_an_answer_without_one_reply_is_malformed_and_charged(wire: Wire, changes: dict[str, Any]) -> None:
    async with upstream(Say(TOLD, changes=changes)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("malformedReply", True, True), ended.detail
    _charged_as_billed(wire, ended.answer, up.billed.input, up.billed.output)


async def test_of_two_choices_none_is_taken() -> None:
    choices = [{"index": n, "message": {"content": TOLD}, "finish_reason": "stop"} for n in (0, 1)]
    async with upstream(Say(TOLD, changes={"choices": choices})) as up, adapter("openai", up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("providerFault", True, True)


@pytest.mark.parametrize("finish", ["eos", "end_turn", "stop_sequence", "unheard_of"])
@pytest.mark.parametrize("wire", WIRES)
async def test_an_end_for_an_unknown_reason_does_not_lose_the_reply(wire: Wire, finish: str) -> None:
    async with upstream(Say(TOLD, finish=finish)) as up, adapter(wire, up.url) as made:
        assert (await answered(made)).text == TOLD


@pytest.mark.parametrize("wire", WIRES)
async def test_nothing_that_a_vendor_wrote_freely_is_told(wire: Wire) -> None:
    words = "Dear customer, your account is delinquent"
    for behaviour in (Status(400, message=words), Status(401, kind=words), Status(500, message=words), Body(words)):
        async with upstream(behaviour) as up, adapter(wire, up.url) as made:
            assert words not in (await failed(made)).detail


def _charged_as_billed(wire: Wire, answer: Answer | None, sent: int, said: int) -> None:
    assert answer is not None
    usage = usage_of(wire, answer)
    assert usage is not None
    assert (usage.input, usage.output) == (sent, said)
    assert answer.raw_usage


# -- work was done all the same


@pytest.mark.parametrize("part", ["reply", "usage"])
@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_beside_a_part_of_a_reply_or_beside_counts_is_charged(wire: Wire, part: str) -> None:
    error = vendors.error(wire, 429)
    whole = vendors.answer(wire, Answered(TOLD, vendors.usage(wire, Tokens(input=9, output=3))))
    without = vendors.answer(wire, Answered(TOLD, tell_usage=False))
    beside = without if part == "reply" else {name: one for name, one in whole.items() if name not in without}
    status = Status(429, json.dumps({**error, **beside}).encode())

    async with upstream(status) as up, adapter(wire, up.url) as made:
        failure = await failed(made)

    assert (failure.reason, failure.billable) == ("rateLimit", True)
