"""An error after work was done is charged for, and a key that comes back in another spelling, or late, is not kept."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.running.provider_port import Answer, CallFailed
from tests.end_to_end.vendors.answering import (
    ANTHROPIC,
    JSON,
    KEY,
    OPENAI,
    OTHER_KEY,
    Said,
    a_request,
    completion,
    connected,
    ended,
    failure,
    http,
    serving,
)
from tests.fixtures.secret_files import write_secret

SUMS = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 999}
ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "details": {"cached_tokens": 0}, "free": False}


def an_error(code: Any, **beside: Any) -> JSON:
    return {"error": {"code": code, "message": "no"}, **beside}


def broken_off(code: Any) -> JSON:
    """As OpenRouter tells of a vendor that failed in the middle of its reply."""
    choice = {"index": 0, "finish_reason": "error", "message": {"content": '{"thesis":"The'}, "error": {"code": code}}
    return {"id": "gen-1", "model": "m", "choices": [choice]}


@pytest.mark.parametrize(
    ("status", "body", "billable"),
    [
        pytest.param(200, broken_off(429), True, id="a reply was broken off"),
        pytest.param(200, broken_off(401), True, id="a reply was broken off, for the key"),
        pytest.param(200, an_error(429), False, id="nothing was begun"),
        pytest.param(200, an_error(429, choices=[]), False, id="no choice"),
        pytest.param(429, an_error(None, usage=SUMS), True, id="a usage that cannot be true"),
        pytest.param(429, an_error(None, usage={**SUMS, "note": KEY}), True, id="a usage beside a key"),
        pytest.param(429, an_error(None, usage=ZEROS), False, id="a gateway's placeholder"),
        pytest.param(429, an_error(None, usage=None), False, id="no usage"),
        pytest.param(400, an_error(None, usage={"prompt_tokens": 7, "completion_tokens": 0}), True, id="input alone"),
    ],
)
async def test_an_error_is_charged_where_tokens_or_a_piece_of_a_reply_came_with_it(
    status: int, body: JSON, billable: bool
) -> None:
    failed = await ended(OPENAI, http(status, body))

    assert isinstance(failed, CallFailed)
    assert failed.billable is billable


async def test_half_a_message_beside_an_error_is_charged() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error"}, "content": [{"type": "text", "text": "The"}]}

    failed = await ended(ANTHROPIC, http(200, body))

    assert isinstance(failed, CallFailed)
    assert failed.billable


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@pytest.mark.parametrize("planted", [KEY, OTHER_KEY])
@pytest.mark.parametrize("place", ["content", "model", "usage", "code"])
async def test_a_key_in_the_escapes_of_json_is_known_for_a_key(planted: str, place: str) -> None:
    bodies: dict[str, JSON] = {
        "content": completion("KEY"),
        "model": {**completion(), "model": "KEY"},
        "usage": {**completion(), "usage": {"prompt_tokens": 1, "completion_tokens": 1, "note": "KEY"}},
        "code": {"error": {"code": "KEY"}},
    }
    raw = json.dumps(bodies[place]).replace("KEY", escaped(planted)).encode()

    failed = await ended(OPENAI, http(200, raw))

    assert isinstance(failed, CallFailed)
    assert planted not in failed.detail
    assert failed.answer is None


async def test_a_key_that_was_replaced_while_a_call_was_under_way_is_still_known(tmp_path: Path) -> None:
    file = write_secret(tmp_path / "key", KEY)
    refused = asyncio.Event()

    async def late() -> bytes:
        await refused.wait()
        return http(200, completion(f"You sent {KEY}"))

    answers: Iterator[Said] = iter([late(), http(401, {})])
    async with (
        serving(lambda _: next(answers), last=True) as server,
        connected(OPENAI, server.port, key=f"file:{file}") as made,
    ):
        slow = asyncio.create_task(made.send(made.encode(a_request())))
        await server.came.wait()
        file.write_text("sk-planted-the-next-one")
        assert (await failure(made)).reason == "refusedKey"
        refused.set()
        (outcome,) = await asyncio.gather(slow, return_exceptions=True)

    assert not isinstance(outcome, Answer), "what repeats the key that it was sent is not kept"
