"""Agreement with the vendors' own Python clients: they send our bodies as theirs, and read the same in what comes back.

The clients stand for the vendors' documentation in code: where adapter and client part, one of the two is wrong.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest

from service.running.provider_port import Answer, CallFailed, FailureReason, Provider
from tests.end_to_end.vendors.adapters import ENVIRONMENT, adapter, answered, failed, usage_of
from tests.end_to_end.vendors.requests import TOLD, a_request
from tests.fixtures.behaviours import Behaviour, Cut, Echo, Model, Rule, Say, Slow, Status, cached, plain, reasoned
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import SEATS, VENDORS, Mode

# The clients are some thousand modules. Every process of a run collects this file, and one of them runs it.
# mypy does not read them either (pyproject.toml).
if TYPE_CHECKING:
    from pydantic import TypeAdapter

Client = Any
"""`openai.AsyncOpenAI` or `anthropic.AsyncAnthropic`."""

Wire = Literal["openai", "anthropic"]
"""The wires whose vendors have a Python client."""
WIRES: tuple[Wire, ...] = get_args(Wire)
MODES = [(wire, mode) for wire in WIRES for mode in VENDORS[wire].modes]


def client(wire: Wire, url: str, timeout: float = 15.0) -> Client:
    """The vendor's own client, which does not try again."""
    usual: dict[str, Any] = {"api_key": ENVIRONMENT["FAKE_KEY"], "max_retries": 0, "timeout": timeout}
    import anthropic
    import openai

    if wire == "openai":
        http = openai.DefaultAsyncHttpxClient(verify=False)  # reading the issuers of certificates takes a while
        return openai.AsyncOpenAI(base_url=f"{url}/v1", http_client=http, **usual)
    other = anthropic.DefaultAsyncHttpxClient(verify=False)
    return anthropic.AsyncAnthropic(base_url=url, http_client=other, **usual)


@asynccontextmanager
async def both(
    wire: Wire, behaviour: Behaviour, timeout_s: int = 15, **changes: Any
) -> AsyncIterator[tuple[Provider, Client]]:
    """Our adapter and the vendor's client, joined to one upstream."""
    async with (
        upstream(behaviour) as up,
        client(wire, up.url, timeout_s) as theirs,
        adapter(wire, up.url, call_timeout_s=timeout_s, **changes) as ours,
    ):
        yield ours, theirs


async def ask(made: Client, body: bytes) -> Any:
    """What the client makes of the answer to one of our bodies."""
    import openai

    told = json.loads(body)
    assert not told.pop("stream", False)
    if isinstance(made, openai.AsyncOpenAI):
        return await made.chat.completions.create(**told)
    return await made.messages.create(**told)


@pytest.mark.parametrize(("wire", "mode"), MODES)
@pytest.mark.parametrize("seat", SEATS)
async def test_our_bodies_are_what_the_clients_types_allow(wire: Wire, mode: Mode, seat: str) -> None:
    async with adapter(wire, "http://127.0.0.1:9", structured=mode) as made:
        told = json.loads(made.encode(a_request(seat)))

    known = parameters(wire)
    assert known.__required_keys__ <= told.keys() <= known.__required_keys__ | known.__optional_keys__
    assert _drained(_types(wire).validate_python(told)) == told


def parameters(wire: Wire) -> Any:
    """The members of a body, as the vendor's client types them."""
    if wire == "openai":
        from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

        return CompletionCreateParamsNonStreaming
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return MessageCreateParamsNonStreaming


@cache
def _types(wire: Wire) -> TypeAdapter[Any]:
    """What checks a body. It is kept, because it has to live as long as the lists that are checked as they are read."""
    from pydantic import TypeAdapter

    return TypeAdapter(parameters(wire))


def _drained(value: Any) -> Any:
    """The validated value with the iterables that pydantic checks as they are read, read."""
    if isinstance(value, dict):
        return {key: _drained(inner) for key, inner in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [_drained(inner) for inner in value]


@pytest.mark.parametrize(("wire", "mode"), MODES)
async def test_the_clients_send_our_bodies_as_we_do(wire: Wire, mode: Mode) -> None:
    # The client has gone on to another version of the API, which wants the key elsewhere. Ours asks for the one that
    # it was written for, and for a newer one where it is told to.
    from anthropic._constants import ANTHROPIC_API_VERSION

    newer: dict[str, Any] = {"auth": "bearer", "headers": {"anthropic-version": ANTHROPIC_API_VERSION}}
    async with (
        upstream(Say(TOLD)) as up,
        client(wire, up.url) as theirs,
        adapter(wire, up.url, structured=mode, **(newer if wire == "anthropic" else {})) as ours,
    ):
        await answered(ours)
        await ask(theirs, ours.encode(a_request()))
        mine, other = up.calls

    assert (mine.method, mine.target) == (other.method, other.target)
    assert {**mine.json, "stream": False} == {**other.json, "stream": False}
    names = ("authorization",) if wire == "openai" else ("authorization", "anthropic-version")
    assert [mine.headers[name] for name in names] == [other.headers[name] for name in names]


@pytest.mark.parametrize("rule", [plain, cached, reasoned])
@pytest.mark.parametrize("wire", WIRES)
async def test_text_usage_model_and_id_are_the_same(wire: Wire, rule: Rule) -> None:
    async with both(wire, Model(usage=rule)) as (ours, theirs):
        answer = await answered(ours)
        told = await ask(theirs, ours.encode(a_request()))

    usage = usage_of(wire, answer)
    assert usage is not None
    if wire == "openai":
        (choice,) = told.choices
        assert (answer.text, answer.served_model) == (choice.message.content, told.model)
        assert answer.fingerprint == told.system_fingerprint
        details = told.usage.prompt_tokens_details, told.usage.completion_tokens_details
        assert (usage.inputs, usage.outputs) == (told.usage.prompt_tokens, told.usage.completion_tokens)
        assert (usage.cached_input, usage.reasoning) == (details[0].cached_tokens, details[1].reasoning_tokens)
        return
    (block,) = told.content
    assert (answer.text, answer.served_model) == (block.text, told.model)
    assert (usage.input, usage.outputs) == (told.usage.input_tokens, told.usage.output_tokens)
    assert usage.cached_input == told.usage.cache_read_input_tokens
    assert usage.cache_write + usage.cache_write_1h == told.usage.cache_creation_input_tokens


@pytest.mark.parametrize("mode", ["json_schema", "tool"])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_in_a_tool_call_is_the_same(wire: Wire, mode: Mode) -> None:
    async with both(wire, Say(TOLD, shape="tool"), structured=mode) as (ours, theirs):
        answer = await answered(ours)
        told = await ask(theirs, ours.encode(a_request()))

    if wire == "openai":
        assert answer.text == told.choices[0].message.tool_calls[0].function.arguments
    else:
        assert json.loads(answer.text) == told.content[0].input


@pytest.mark.parametrize("reason", ["lengthLimit", "modelRefused"])
@pytest.mark.parametrize("wire", WIRES)
async def test_the_reason_for_the_end_is_the_same(wire: Wire, reason: str) -> None:
    finish = {"lengthLimit": VENDORS[wire].cut, "modelRefused": VENDORS[wire].filtered}[reason]
    async with both(wire, Say(TOLD[:50], finish=finish)) as (ours, theirs):
        ended = await failed(ours)
        told = await ask(theirs, ours.encode(a_request()))

    assert ended.reason == reason
    assert (told.choices[0].finish_reason if wire == "openai" else told.stop_reason) == finish


ERRORS: list[tuple[Behaviour, str, FailureReason]] = [
    (Status(400), "BadRequestError", "providerFault"),
    (Status(401), "AuthenticationError", "refusedKey"),
    (Status(403), "PermissionDeniedError", "refusedKey"),
    (Status(404), "NotFoundError", "unknownModel"),
    (Status(422), "UnprocessableEntityError", "providerFault"),
    (Status(429), "RateLimitError", "rateLimit"),
    (Status(500), "InternalServerError", "providerFault"),
    (Status(529, kind="overloaded_error"), "InternalServerError", "overload"),
    (Slow(30), "APITimeoutError", "timeout"),
    (Cut(0), "APIConnectionError", "connectionCut"),
    (Cut("headers"), "APIConnectionError", "connectionCut"),
]


@pytest.mark.parametrize(
    ("behaviour", "name", "reason"), [pytest.param(*row, id=f"{n} {row[1]}") for n, row in enumerate(ERRORS)]
)
@pytest.mark.parametrize("wire", WIRES)
async def test_errors_are_of_the_same_class(wire: Wire, behaviour: Behaviour, name: str, reason: FailureReason) -> None:
    module = import_module(wire)
    async with both(wire, behaviour, timeout_s=1 if isinstance(behaviour, Slow) else 15) as (ours, theirs):
        asked: Any = (failed(ours), ask(theirs, ours.encode(a_request())))
        ended, raised = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(ended, CallFailed)
    assert ended.reason == reason
    assert isinstance(raised, getattr(module, name))


@pytest.mark.parametrize("wire", WIRES)
async def test_unlike_the_clients_our_errors_do_not_repeat_what_the_vendor_wrote(wire: Wire) -> None:
    """A vendor that repeats the key makes the clients' errors repeat it; that is why ours have their own words."""
    import anthropic
    import openai

    key = ENVIRONMENT["FAKE_KEY"]
    async with both(wire, Echo(Status(401))) as (ours, theirs):
        ended: Answer | CallFailed = await failed(ours)
        with pytest.raises((openai.AuthenticationError, anthropic.AuthenticationError)) as raised:
            await ask(theirs, ours.encode(a_request()))

    assert key in str(raised.value)
    assert key not in str(ended)
