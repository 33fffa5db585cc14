"""Chat completions as OpenAI, Azure, vLLM, Ollama, OpenRouter, LiteLLM and many others serve them.

    house   system       data   user       seat   system, or the role of the setting

Some servers' chat templates require alternating roles. For them, all messages but the first are the parts of one user
message.

    json_schema   response_format {type: json_schema, json_schema: {name, schema, strict}}
    tool          tools [{type: function, function: {name: reply, parameters, strict}}], tool_choice that function
    json_object   response_format {type: json_object}, and the schema as a message of data
    text          the schema as a message of data

The adapter does not stream and asks for one choice. It ignores reasoning beside the reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Raw, Struct

from service.money import usage
from service.prompts.request import Message, Request, Role
from service.providers import bounded_text, wire
from service.providers.vendor import Vendor, WireReply, Written
from service.providers.wire import Mode, Schema

_USUAL_TIERS = (None, "", "default", "standard", "auto")
_TOO_LONG = ("length", "max_tokens", "model_length")
_RESERVED = wire.RESERVED | {"output_config"}
_encoder = msgspec.json.Encoder()


class _Part(Struct, frozen=True):
    type: Literal["text"]
    text: str


class _Message(Struct, frozen=True):
    role: Literal["system", "user", "developer"]
    content: str | list[_Part]


class _Named(Struct):
    name: str
    schema: Raw


class _Format(Struct):
    type: Literal["json_schema", "json_object"]
    json_schema: _Named | None = None


class _Function(Struct):
    parameters: Raw


class _Tool(Struct):
    function: _Function


class _Body(Struct):
    model: str
    messages: list[_Message]
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: _Format | None = None
    tools: list[_Tool] | None = None
    tool_choice: Any = None


class OpenAICompatible(Vendor):
    """A server of chat completions."""

    path: ClassVar[str] = "/chat/completions"
    auth: ClassVar[str] = "bearer"
    reply_in: ClassVar[str] = "choices"
    modes: ClassVar[tuple[Mode, ...]] = ("json_schema", "tool", "json_object", "text")
    steps: ClassVar[tuple[Mode, ...]] = ("json_schema", "json_object", "text")
    body: ClassVar[type[Struct]] = _Body
    own: ClassVar[frozenset[str]] = frozenset(_Body.__struct_fields__)

    # -- out

    def _write(self, request: Request, mode: Mode, schema: Schema) -> bytes:
        wire.refuse_parameters(request.parameters, _RESERVED)
        messages = wire.speaking(request.messages)
        if mode in ("json_object", "text"):
            messages = (*messages[:-1], wire.schema_message(schema), *messages[-1:])
        body = {
            "model": request.model_name,
            "messages": self._messages(messages),
            self._setting.max_tokens_field: request.max_output_tokens,
            **self._structure(request.schema_id, mode, schema),
            **request.parameters,
        }
        return _encoder.encode(body)

    def _messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        if self._is_together:
            house, *others = messages
            parts = [{"type": "text", "text": wire.spelled(message)} for message in others]
            return [{"role": "system", "content": wire.spelled(house)}, {"role": "user", "content": parts}]
        roles = self._roles
        return [{"role": roles[message.role], "content": wire.spelled(message)} for message in messages]

    @property
    def _roles(self) -> dict[Role, Literal["system", "user", "developer"]]:
        return {"house": "system", "data": "user", "seat": self._setting.seat_role or "system"}

    @property
    def _is_together(self) -> bool:
        return self._setting.messages == "together"

    @property
    def _part(self) -> type[_Part | _Message]:
        return _Part if self._is_together else _Message

    def _parts(self, data: Sequence[Message], keeps_case: bool) -> list[Any]:
        if self._is_together:
            return [_Part("text", message.content) for message in data]
        return [_Message("user", message.content) for message in data]

    def _data_in(self, parts: Sequence[Any]) -> tuple[list[Message], bool]:
        texts = [part.text for part in parts] if self._is_together else _texts(parts)
        return [Message("data", text) for text in texts], False

    def _structure(self, schema_id: str, mode: Mode, schema: Schema) -> dict[str, Any]:
        strict = self._setting.strict_schema
        match mode:
            case "json_schema":
                name = schema_id.replace(".", "_")  # the vendor takes letters, digits, _ and - alone
                named = {"name": name, "strict": strict, "schema": schema}
                return {"response_format": {"type": "json_schema", "json_schema": named}}
            case "tool":
                tool = {"name": wire.REPLY_TOOL, "strict": strict, "parameters": schema}
                choice = {"type": "function", "function": {"name": wire.REPLY_TOOL}}
                return {"tools": [{"type": "function", "function": tool}], "tool_choice": choice}
            case "json_object":
                return {"response_format": {"type": "json_object"}}
            case _:
                return {}

    def _take_apart(self, body: _Body, parameters: dict[str, Any]) -> Written:
        first, *between, last = _texts(body.messages)
        data = [Message("data", text) for text in between]
        mode, schema_id, schema = _structured(body)
        if schema is None:
            schema = wire.read_schema(data.pop())
        most = body.max_tokens if self._setting.max_tokens_field == "max_tokens" else body.max_completion_tokens
        if most is None:
            raise ValueError("no limit of tokens")
        messages = (Message("house", first), *data, Message("seat", last))
        request = Request("", "", body.model, messages, schema_id, {}, most, parameters)
        return Written(request, mode, schema)

    # -- in

    def _inner_error(self, decoded: dict[str, Any]) -> Any:
        """OpenRouter sends an error in the place of a reply, or inside the choice that it interrupted."""
        return super()._inner_error(decoded) or (_choice(decoded) or {}).get("error")

    def _reported(self, decoded: dict[str, Any]) -> dict[str, Any] | None:
        raw, tier = decoded.get("usage"), decoded.get("service_tier")
        if isinstance(raw, dict) and tier not in _USUAL_TIERS:
            raw = usage.with_tier(raw, tier)
        return bounded_text.bounded(raw)

    def _said(self, decoded: dict[str, Any]) -> WireReply:
        choice = _choice(decoded)
        message = choice.get("message") if choice else None
        if choice is None or not isinstance(message, dict):
            return WireReply(
                "", "providerFault", "the answer cannot be used: expected exactly one choice with a message"
            )
        text, fault = _text(message)
        refusal, finish = _refusal(message), choice.get("finish_reason")
        if finish in _TOO_LONG:
            return WireReply(text, "lengthLimit", "the reply was cut at the seat's allowance; raise it")
        if refusal or finish == "content_filter":
            return WireReply(refusal or text, "modelRefused", "the model, or a filter behind it, refused", retry=False)
        return fault or WireReply(text)


def _texts(messages: Sequence[_Message]) -> list[str]:
    """The texts of the messages, each text or part by itself."""
    texts: list[str] = []
    for message in messages:
        content = message.content
        texts += [content] if isinstance(content, str) else [part.text for part in content]
    return texts


def _choice(decoded: dict[str, Any]) -> dict[str, Any] | None:
    """The one choice of a response."""
    match decoded.get("choices"):
        case [dict() as choice]:
            return choice
        case _:
            return None


def _refusal(message: dict[str, Any]) -> str:
    """The model's refusal, from either of the two fields for it."""
    content = message.get("content")
    parts = [message, *(content if isinstance(content, list) else ())]
    found = [part["refusal"] for part in parts if isinstance(part, dict) and isinstance(part.get("refusal"), str)]
    return "".join(found)


def _text(message: dict[str, Any]) -> tuple[str, WireReply | None]:
    """The reply in a message, and its fault if it has one."""
    match message:
        case {"tool_calls": [{"function": {"arguments": str(text)}}]} if text.strip():
            return text, None
        case {"tool_calls": [{"function": {"arguments": dict(arguments)}}]}:
            return _encoder.encode(arguments).decode(), None
        case {"tool_calls": list(calls)} if calls:
            return "", WireReply("", "malformedReply", "the model did not call its tool exactly once")
        case {"content": str(text)}:
            pass
        case {"content": list(parts)} if all(_is_part(part) for part in parts):
            text = "".join(part["text"] for part in parts if part["type"] == "text")
        case {"content": None} | {"role": "assistant"} if message.get("content") is None:
            text = ""
        case _:
            return "", WireReply(
                "", "providerFault", "the answer cannot be used: expected text as the content of its message"
            )
    return text, None if text.strip() else WireReply(text, "malformedReply", "the model said nothing")


def _is_part(part: object) -> bool:
    """Whether this is a piece of content: text, thinking, or a refusal."""
    match part:
        case {"type": "text", "text": str()} | {"type": "thinking" | "reasoning" | "refusal"}:
            return True
        case _:
            return False


def _structured(body: _Body) -> tuple[Mode, str, Raw | None]:
    """How a body has the reply schema: the mode, the schema's name, and the schema itself if it is no message."""
    if body.tool_choice is not None:
        (tool,) = body.tools or []
        return "tool", "", tool.function.parameters
    match body.response_format:
        case _Format("json_schema", _Named(name, schema)):
            return "json_schema", name, schema
        case _Format("json_object"):
            return "json_object", "", None
        case None:
            return "text", "", None
        case _:
            raise ValueError("a response format of another kind")
