"""Anthropic messages.

    house   system, at the top of the body
    data    a block of text each, in the one message of the user; the case is marked for the vendor's cache if the
            seat is usually asked again: reading it then costs a tenth, and writing it a quarter more
    seat    the last block of that message: at the end, the wire has no stronger role

    json_schema   output_config {format: {type: json_schema, schema}}
    tool          tools [{name: reply, input_schema}], tool_choice that tool, once
    text          the schema as a block of data

One message with a block for each text, because the vendor joins messages of the same role: blocks stay apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Raw, Struct

from service.errors import SettingsError
from service.prompts.request import Message, Request
from service.providers import bounded_text, wire
from service.providers.vendor import Vendor, WireReply, Written
from service.providers.wire import Mode, Schema

VERSION = "2023-06-01"
_TOO_LONG = ("max_tokens", "model_context_window_exceeded")
_CHOICE = {"type": "tool", "name": wire.REPLY_TOOL, "disable_parallel_tool_use": True}
_encoder = msgspec.json.Encoder()


class _Cache(Struct, frozen=True):
    type: Literal["ephemeral"] = "ephemeral"


class _Block(Struct, frozen=True, omit_defaults=True):
    type: Literal["text"]
    text: str
    cache_control: _Cache | None = None


class _Turn(Struct):
    content: list[_Block]


class _Tool(Struct):
    input_schema: Raw


class _Format(Struct):
    type: Literal["json_schema"]
    schema: Raw


_format = msgspec.json.Decoder(_Format)


class _Body(Struct):
    model: str
    max_tokens: int
    system: str
    messages: list[_Turn]
    output_config: dict[str, Raw] = {}
    tools: list[_Tool] | None = None
    tool_choice: Any = None


class Anthropic(Vendor):
    """Anthropic's server, or one that speaks like it."""

    path: ClassVar[str] = "/v1/messages"
    auth: ClassVar[str] = "x-api-key"
    reply_in: ClassVar[str] = "content"
    modes: ClassVar[tuple[Mode, ...]] = ("json_schema", "tool", "text")
    steps: ClassVar[tuple[Mode, ...]] = ("json_schema", "tool", "text")
    body: ClassVar[type[Struct]] = _Body
    own: ClassVar[frozenset[str]] = frozenset(_Body.__struct_fields__) - {"output_config"}
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": VERSION}
    marks: ClassVar[bool] = True

    # -- out

    def _write(self, request: Request, mode: Mode, schema: Schema) -> bytes:
        _refuse_parameters(request.parameters)
        house, *data, seat = wire.speaking(request.messages)
        blocks = self._parts(data, request.keeps_case)
        if mode == "text":
            blocks.append(_Block("text", wire.schema_message(schema).content))
        body = {
            "model": request.model_name,
            "max_tokens": request.max_output_tokens,
            "system": wire.spelled(house),
            "messages": [{"role": "user", "content": [*blocks, {"type": "text", "text": wire.spelled(seat)}]}],
            **request.parameters,
        }
        return _encoder.encode(_with_structure(body, schema, mode))

    def _take_apart(self, body: _Body, parameters: dict[str, Any]) -> Written:
        (turn,) = body.messages
        *between, last = turn.content
        data, keeps_case = self._data_in(between)
        mode, schema = _structured(body)
        if schema is None:
            schema = wire.read_schema(data.pop())
        if mode == "json_schema":
            parameters = _with_config(parameters, body.output_config)
        messages = (Message("house", body.system), *data, Message("seat", last.text))
        request = Request("", "", body.model, messages, "", {}, body.max_tokens, parameters, keeps_case)
        return Written(request, mode, schema)

    @property
    def _part(self) -> type[Struct]:
        return _Block

    def _parts(self, data: Sequence[Message], keeps_case: bool) -> list[_Block]:
        blocks = [_Block("text", message.content) for message in data]
        if blocks and keeps_case:
            blocks[0] = _Block("text", data[0].content, _Cache())
        return blocks

    def _data_in(self, parts: Sequence[_Block]) -> tuple[list[Message], bool]:
        keeps_case = bool(parts) and parts[0].cache_control is not None
        return [Message("data", block.text) for block in parts], keeps_case

    # -- in

    def _reported(self, decoded: dict[str, Any]) -> dict[str, Any] | None:
        return bounded_text.bounded(decoded.get("usage"))

    def _said(self, decoded: dict[str, Any]) -> WireReply:
        text, fault = _text(decoded.get("content"))
        match decoded.get("stop_reason"):
            case "refusal":
                return WireReply(text, "modelRefused", "the model, or a filter before it, refused", retry=False)
            case str(stop) if stop in _TOO_LONG:
                return WireReply(text, "lengthLimit", "the reply was cut at the seat's allowance; raise it")
        return fault or WireReply(text)


def _refuse_parameters(parameters: Mapping[str, Any]) -> None:
    wire.refuse_parameters(parameters)
    config = parameters.get("output_config", {})
    if not isinstance(config, dict) or "format" in config:
        raise SettingsError("the format in the parameter 'output_config' is set by the service itself; remove it")


def _with_structure(body: dict[str, Any], schema: Schema, mode: Mode) -> dict[str, Any]:
    """The body with the reply schema in it. The model's parameters may have an ``output_config`` beside the format."""
    match mode:
        case "json_schema":
            config = body.pop("output_config", {})
            return {**body, "output_config": {**config, "format": {"type": "json_schema", "schema": schema}}}
        case "tool":
            return {**body, "tools": [{"name": wire.REPLY_TOOL, "input_schema": schema}], "tool_choice": _CHOICE}
        case _:
            return body


def _structured(body: _Body) -> tuple[Mode, Raw | None]:
    """How a body has the reply schema: the mode, and the schema itself if it is no block."""
    if body.tool_choice is not None:
        (tool,) = body.tools or []
        return "tool", tool.input_schema
    form = body.output_config.get("format")
    return ("text", None) if form is None else ("json_schema", _format.decode(form).schema)


def _with_config(parameters: dict[str, Any], config: Mapping[str, Raw]) -> dict[str, Any]:
    """The model's parameters, where an ``output_config`` that has the format in it holds some of them too."""
    others = {name: wire.decode(raw) for name, raw in config.items() if name != "format"}
    rest = {name: value for name, value in parameters.items() if name != "output_config"}
    return {**rest, "output_config": others} if others else rest


def _text(content: object) -> tuple[str, WireReply | None]:
    """The reply in a response's blocks, and its fault if it has one. Thinking is not part of the reply."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not all(_is_block(block) for block in blocks):
        return "", WireReply("", "providerFault", "the answer cannot be used: expected blocks of text as its content")
    calls = [block["input"] for block in blocks if block["type"] == "tool_use"]
    if len(calls) > 1:
        return "", WireReply("", "malformedReply", "the model did not call its tool exactly once")
    if calls:
        return _encoder.encode(calls[0]).decode(), None
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    return text, None if text.strip() else WireReply(text, "malformedReply", "the model said nothing")


def _is_block(block: object) -> bool:
    """Whether this is a block of content: text, thinking, or the reply itself."""
    match block:
        case {"type": "text", "text": str()} | {"type": "tool_use", "input": dict()}:
            return True
        case {"type": "thinking" | "redacted_thinking"}:
            return True
        case _:
            return False
