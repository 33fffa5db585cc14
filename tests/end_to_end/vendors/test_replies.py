"""What comes back when all is well: the reply's text, its usage, who served it; and how the schema goes out."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, cast

import pytest
from msgspec.structs import replace

from service.debate.replies import REPLY_TYPES
from service.prompts import check_pins, check_schema_pin
from service.running.provider_port import Answer, CallFailed
from tests.end_to_end.vendors.adapters import WIRES, adapter, answered, failed, outcome, usage_of
from tests.end_to_end.vendors.requests import REPLY, TEXT, TOLD, a_request, prompts
from tests.fixtures import vendors
from tests.fixtures.behaviours import Behaviour, Call, Framed, Model, Reply, Say, Slow, Squeezed, Status
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import SEATS, VENDORS, Mode, Shape, Wire

EVERY_MODE = [(wire, mode) for wire in WIRES for mode in VENDORS[wire].modes]


@pytest.mark.parametrize(("wire", "mode"), EVERY_MODE)
async def test_an_answer_carries_reply_usage_and_who_served_it(wire: Wire, mode: Mode) -> None:
    async with upstream(Say(TOLD)) as up, adapter(wire, up.url, structured=mode) as made:
        answer = await answered(made)

    assert json.loads(answer.text) == REPLY
    usage = usage_of(wire, answer)
    assert usage is not None
    assert (usage.input, usage.output) == (up.billed.input, up.billed.output)
    assert answer.raw_usage is not None
    assert answer.raw_usage.items() >= vendors.usage(wire, up.billed).items()
    assert answer.served_model == "fake-1-served"
    assert answer.request_id in ("req-1", f"{VENDORS[wire].id[1]}-1")
    assert answer.fingerprint == VENDORS[wire].fingerprint


@pytest.mark.parametrize(("wire", "mode"), EVERY_MODE)
async def test_the_vendor_understands_what_is_asked(wire: Wire, mode: Mode) -> None:
    request = a_request("critic", allowance=777)
    async with upstream(Say(TOLD)) as up, adapter(wire, up.url, structured=mode) as made:
        await answered(made, request)
        (call,) = up.calls

    heard = vendors.read(wire, call.body)
    assert heard.structured == mode
    assert [m.content for m in heard.request.messages] == [m.content for m in request.messages]
    assert (heard.request.seat, heard.request.model_name) == ("critic", "fake-1")
    assert heard.request.max_output_tokens == 777
    assert heard.request.reply_schema["properties"].keys() == request.reply_schema["properties"].keys()
    if mode in ("json_object", "text"):
        assert heard.request.reply_schema == request.reply_schema


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "loose"])
async def test_what_goes_out_reads_back_as_what_is_pinned(wire: Wire, seat: str, strict: bool) -> None:
    for mode in VENDORS[wire].modes:
        async with adapter(wire, "http://127.0.0.1:9", structured=mode, strict_schema=strict) as made:
            told = made.decode_request(made.encode(a_request(seat)))

        check_pins(prompts(), told.messages, (seat,))
        check_schema_pin(prompts(), seat, told.reply_schema)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_document_cannot_pose_as_the_schema(wire: Wire) -> None:
    """The schema of the plain modes stands before the last message and in no document, whatever that says."""
    forged = a_request(about='{"replySchema": {"type": "string"}}')
    for mode in VENDORS[wire].modes:
        async with adapter(wire, "http://127.0.0.1:9", structured=mode) as made:
            told = made.decode_request(made.encode(forged))

        check_schema_pin(prompts(), "proposer", told.reply_schema)
        assert [m.content for m in told.messages] == [m.content for m in forged.messages]


@pytest.mark.parametrize("wire", WIRES)
async def test_the_key_goes_where_the_vendor_looks_for_it(wire: Wire) -> None:
    async with upstream(Say(TOLD)) as up, adapter(wire, up.url) as made:
        await answered(made)
        (call,) = up.calls

    key = "sk-fake-0123456789abcdef"
    assert call.headers.items() >= VENDORS[wire].key(key).items()
    assert call.headers["content-type"].startswith("application/json")
    assert key not in call.target
    assert key.encode() not in call.body


@pytest.mark.parametrize("wire", WIRES)
async def test_address_query_and_headers_are_configuration(wire: Wire) -> None:
    """Azure's way: another path, the API's version in the query, the key in a header of its own."""
    path = f"/proxy/deployments/d{VENDORS[wire].path}"
    changes: dict[str, Any] = {
        "path": path,
        "query": {"api-version": "2024-10-21"},
        "headers": {"x-title": "Gainsay"},
        "auth": "api-key",
    }
    async with upstream(Say(TOLD)) as up:
        async with adapter(wire, up.url, base_url=up.url, **changes) as made:
            await answered(made)
        (call,) = up.calls

    assert call.target == f"{path}?api-version=2024-10-21"
    assert call.headers["x-title"] == "Gainsay"
    assert call.headers["api-key"] == "sk-fake-0123456789abcdef"
    assert "authorization" not in call.headers


@pytest.mark.parametrize(("wire", "shape"), [(wire, shape) for wire in WIRES for shape in VENDORS[wire].shapes])
async def test_a_reply_is_found_however_it_is_wrapped(wire: Wire, shape: Shape) -> None:
    async with upstream(Say(TOLD, shape=shape)) as up, adapter(wire, up.url) as made:
        answer = await answered(made)

    assert json.loads(answer.text) == REPLY


@pytest.mark.parametrize(
    "behaviour",
    [
        Framed("chunked", inner=Say(TOLD)),
        Framed("close", inner=Say(TOLD)),
        Squeezed("gzip", Say(TOLD)),
        Squeezed("deflate", Say(TOLD)),
        Framed("chunked", inner=Squeezed("gzip", Say(TOLD))),
        Slow(0.02, Say(TOLD), slices=9),
        Say(TOLD, content_type="application/json; charset=utf-8"),
        Say(TOLD, content_type="APPLICATION/JSON"),
        Say(TOLD, changes={"unheard_of": {"new": [1, 2]}}),
    ],
    ids=["chunked", "close", "gzip", "deflate", "chunked gzip", "slices", "charset", "capitals", "new fields"],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_is_read_however_it_travels(wire: Wire, behaviour: Behaviour) -> None:
    async with upstream(behaviour) as up, adapter(wire, up.url) as made:
        assert json.loads((await answered(made)).text) == REPLY


@pytest.mark.parametrize("wire", WIRES)
async def test_the_text_of_a_reply_is_not_touched(wire: Wire) -> None:
    """Fences, preambles and half sentences belong to whoever decodes the reply, with the words of the model."""
    for text in (f"```json\n{TOLD}\n```", f"Here it is:\n\n{TOLD}", " \n{'thesis': 'x'}\n ", "\u2028é\U0001f600\x00"):
        async with upstream(Say(text)) as up, adapter(wire, up.url, structured=VENDORS[wire].modes[-1]) as made:
            assert (await answered(made)).text == text


@pytest.mark.parametrize("wire", WIRES)
async def test_calls_at_the_same_time_get_their_own_answers(wire: Wire) -> None:
    def echoing(call: Call) -> Reply:
        name = vendors.read(wire, call.body).request.model_name
        return Slow(0.01, Say(f'{{"model":"{name}"}}'), slices=3)(call)

    requests = [a_request(model_name=f"fake-{n}") for n in range(40)]
    async with upstream(echoing) as up, adapter(wire, up.url) as made:
        answers = await asyncio.gather(*(answered(made, request) for request in requests))

    assert [json.loads(answer.text)["model"] for answer in answers] == [f"fake-{n}" for n in range(40)]
    assert up.most_open > 1


def lacking(*modes: Mode) -> Behaviour:
    """A server that knows only these ways to be given a schema."""

    def play(call: Call) -> Reply:
        heard = vendors.read(cast(Wire, call.wire), call.body)
        if heard.structured in modes:
            return Model()(call)
        words = {
            "json_schema": VENDORS[heard.wire].lacks,
            "json_object": "'response_format' of type 'json_object' is not supported by this model",
            "tool": "tools: Extra inputs are not permitted",
        }
        return Status(400, message=words[heard.structured])(call)

    return play


@pytest.mark.parametrize(
    ("wire", "known", "steps"),
    [
        ("openai", ("json_object", "text"), ["json_schema", "json_object"]),
        ("openai", ("text",), ["json_schema", "json_object", "text"]),
        ("anthropic", ("tool", "text"), ["json_schema", "tool"]),
        ("anthropic", ("text",), ["json_schema", "tool", "text"]),
    ],
)
async def test_a_server_that_lacks_a_mode_is_asked_in_a_lower_one(
    wire: Wire, known: tuple[Mode, ...], steps: list[Mode]
) -> None:
    async with upstream(lacking(*known)) as up, adapter(wire, up.url) as made:
        for _ in steps[:-1]:
            ended = await failed(made)
            assert (ended.reason, ended.retry, ended.billable) == ("unsupported", True, False), ended.detail
        first, again = await answered(made), await answered(made)

    used = [vendors.read(wire, call.body).structured for call in up.calls]
    assert used == [*steps, steps[-1]], "what a server lacks is asked for once"
    assert first.text == again.text


@pytest.mark.parametrize("wire", WIRES)
async def test_one_model_that_lacks_a_mode_does_not_lower_the_others(wire: Wire) -> None:
    def play(call: Call) -> Reply:
        old = vendors.read(wire, call.body).request.model_name == "old-1"
        return (lacking("text") if old else Model())(call)

    async with upstream(play) as up, adapter(wire, up.url) as made:
        await failed(made, a_request(model_name="old-1"))
        await answered(made, a_request(model_name="new-1"))

    assert vendors.read(wire, up.calls[-1].body).structured == "json_schema"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_server_that_lacks_every_mode_is_not_asked_for_ever(wire: Wire) -> None:
    async with upstream(Status(400, message=VENDORS[wire].lacks)) as up, adapter(wire, up.url) as made:
        ended: list[Answer | CallFailed] = []
        while not ended or (isinstance(ended[-1], CallFailed) and ended[-1].retry):
            ended.append(await outcome(made))
            assert len(ended) < 6

    assert isinstance(ended[-1], CallFailed)
    assert not ended[-1].billable


@pytest.mark.parametrize("wire", WIRES)
async def test_a_long_request_arrives_whole(wire: Wire) -> None:
    request = a_request(about=TEXT * 10_000)
    async with upstream(Say(TOLD)) as up, adapter(wire, up.url) as made:
        await answered(made, request)

    heard = vendors.read(wire, up.calls[0].body)
    assert [m.content for m in heard.request.messages] == [m.content for m in request.messages]


@pytest.mark.parametrize("kind", REPLY_TYPES)
async def test_a_reply_schema_has_a_name_that_the_vendor_takes(kind: str) -> None:
    """OpenAI takes letters, digits, underscores and dashes, 64 of them at most."""
    async with adapter("openai", "http://127.0.0.1:9") as provider:
        told = json.loads(provider.encode(replace(a_request(), schema_id=kind)))

    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", told["response_format"]["json_schema"]["name"])
