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

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from service.errors import SettingsError
from service.money import usage
from service.prompts.request import Message, Request
from service.providers import bounded_text, wire
from service.providers.vendor import Counted, Vendor, WireReply, Written
from service.providers.wire import Mode

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


class Anthropic(Vendor):
    """Anthropic's server, or one that speaks like it."""

    path: ClassVar[str] = "/v1/messages"
    auth: ClassVar[str] = "x-api-key"
    reply_in: ClassVar[str] = "content"
    modes: ClassVar[tuple[Mode, ...]] = ("json_schema", "tool", "text")
    steps: ClassVar[tuple[Mode, ...]] = ("json_schema", "tool", "text")
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": VERSION}
    marks: ClassVar[bool] = True

    # -- out

    def _write(self, request: Request, mode: Mode) -> bytes:
        _refuse_parameters(request.parameters)
        house, *data, seat = wire.speaking(request.messages)
        blocks = [_Block("text", message.content) for message in data]
        if blocks and request.keeps_case:
            blocks[0] = _Block("text", data[0].content, _Cache())
        if mode == "text":
            blocks.append(_Block("text", wire.schema_message(request.reply_schema).content))
        body = {
            "model": request.model_name,
            "max_tokens": request.max_output_tokens,
            "system": house.content,
            "messages": [{"role": "user", "content": [*blocks, _Block("text", seat.content)]}],
            **request.parameters,
        }
        return _encoder.encode(_with_structure(body, request.reply_schema, mode))

    def _take_apart(self, decoded: dict[str, Any]) -> Written:
        (turn,) = decoded.pop("messages")
        *between, last = msgspec.convert(turn["content"], list[_Block])
        data = [Message("data", block.text) for block in between]
        house, model = (msgspec.convert(decoded.pop(name), str) for name in ("system", "model"))
        most = decoded.pop("max_tokens")
        keeps_case = bool(between) and between[0].cache_control is not None
        mode, schema = _structured(decoded)
        if schema is None:
            schema = wire.read_schema(data.pop())
        messages = (Message("house", house), *data, Message("seat", last.text))
        return Written(Request("", "", model, messages, "", schema, most, decoded, keeps_case), mode)

    # -- in

    def _counted(self, decoded: dict[str, Any]) -> Counted:
        kept = bounded_text.bounded(decoded.get("usage"))
        return Counted(kept, usage.anthropic(kept))

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


def _with_structure(body: dict[str, Any], schema: dict[str, Any], mode: Mode) -> dict[str, Any]:
    """The body with the reply schema in it. The model's parameters may have an ``output_config`` beside the format."""
    match mode:
        case "json_schema":
            config = body.pop("output_config", {})
            return {**body, "output_config": {**config, "format": {"type": "json_schema", "schema": schema}}}
        case "tool":
            return {**body, "tools": [{"name": wire.REPLY_TOOL, "input_schema": schema}], "tool_choice": _CHOICE}
        case _:
            return body


def _structured(decoded: dict[str, Any]) -> tuple[Mode, dict[str, Any] | None]:
    """Remove the reply schema from a body: the mode, and the schema itself if the body has it."""
    if decoded.pop("tool_choice", None) is not None:
        (tool,) = decoded.pop("tools")
        return "tool", tool["input_schema"]
    match decoded.get("output_config"):
        case {"format": {"type": "json_schema", "schema": dict(schema)}, **others}:
            del decoded["output_config"]
            decoded |= {"output_config": others} if others else {}
            return "json_schema", schema
        case _:
            return "text", None


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
