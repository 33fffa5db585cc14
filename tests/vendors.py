"""The two wires from the vendor's side: what a body asks for, and how an answer, its usage and an error are told.

    openai     POST .../chat/completions    (OpenAI, Azure, vLLM, Ollama and the like)
    anthropic  POST .../messages

`read` takes a body apart into the request that it stands for, whichever way the reply schema travels. It is written
from the vendors' documentation and shares no code with the adapters, so that one misreading does not hide itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Literal

from service.prompts import Prompts
from service.prompts.request import Message, Request

JSON = dict[str, Any]
Wire = Literal["openai", "anthropic"]
Mode = Literal["json_schema", "tool", "json_object", "text"]
Shape = Literal["usual", "parts", "tool", "thinking"]

SEATS = ("framing", "proposer", "critic", "rebuttal", "moderator")
PLACES = (
    *SEATS,
    *("stances.debater", "stances.judge", "stances.synthesizer", "ballot.debater", "panel.classifier", "panel.blind"),
    *("panel.deliberation", "panel.adjudicator", "panel.accuracy", "panel.synthesizer"),
    *("convergence.debater", "convergence.judge"),
)
"""What a seat is asked for, in every format, as reply schemas name it."""
_USER, _LAST = ("user",), ("developer", "system", "user")


class NotUnderstood(Exception):
    """A body that the vendor would refuse with 400; says what is wrong with it."""


@dataclass(frozen=True)
class Tokens:
    """What a vendor bills for one call. The kinds do not overlap: ``reasoning`` is not in ``output``."""

    input: int = 0
    output: int = 0
    cached_input: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(**{kind: n + getattr(other, kind) for kind, n in asdict(self).items()})


@dataclass(frozen=True)
class Heard:
    """A body, understood. ``structured`` is how the reply schema came, ``tool`` the name of the tool to be called."""

    wire: Wire
    request: Request
    structured: Mode
    tool: str | None = None
    told: JSON = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """What a vendor says: the reply's text and how it is wrapped. ``usage`` is told word for word, unless ``None``."""

    text: str | None
    usage: Any = None
    tell_usage: bool = True
    shape: Shape = "usual"
    finish: str | None = None
    refusal: str | None = None
    model: str = "fake-1-2026-01-01"
    id: str = "fake-1"
    fingerprint: str | None = "fp_fake"


def wire_of(path: str) -> Wire | None:
    """Which wire a path belongs to."""
    if path.endswith("/chat/completions"):
        return "openai"
    return "anthropic" if path.endswith("/messages") else None


def read(wire: Wire, body: bytes) -> Heard:
    """What a body asks for; raises `NotUnderstood` with the reason for which the vendor would refuse it."""
    try:
        told = json.loads(body)
    except ValueError as error:
        raise NotUnderstood(f"the body is not JSON: {error}") from error
    if not isinstance(told, dict) or not isinstance(told.get("model"), str):
        raise NotUnderstood("the body names no model")
    if told.get("stream"):
        raise NotUnderstood("this upstream does not stream")
    return _openai(told) if wire == "openai" else _anthropic(told)


def usage(wire: Wire, tokens: Tokens) -> JSON:
    """How a vendor tells these tokens: OpenAI's input has the cached in it, Anthropic's has not."""
    spoken = tokens.output + tokens.reasoning
    if wire == "openai":
        prompt = tokens.input + tokens.cached_input + tokens.cache_write + tokens.cache_write_1h
        return {
            "prompt_tokens": prompt,
            "completion_tokens": spoken,
            "total_tokens": prompt + spoken,
            "prompt_tokens_details": {"cached_tokens": tokens.cached_input, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0},
        }
    return {
        "input_tokens": tokens.input,
        "cache_read_input_tokens": tokens.cached_input,
        "cache_creation_input_tokens": tokens.cache_write + tokens.cache_write_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.cache_write,
            "ephemeral_1h_input_tokens": tokens.cache_write_1h,
        },
        "output_tokens": spoken,
        "output_tokens_details": {"thinking_tokens": tokens.reasoning},
        "service_tier": "standard",
    }


def answer(wire: Wire, said: Answered, tool: str | None = None) -> JSON:
    """The JSON of a good answer; ``tool`` is the name that a tool-shaped one calls."""
    told = {"usage": said.usage} if said.tell_usage else {}
    return {**(_completion(said, tool) if wire == "openai" else _message(said, tool)), **told}


def error(wire: Wire, status: int, kind: str | None = None, message: str = "no", code: str | None = None) -> JSON:
    """The vendor's own error envelope; the kind is the usual one of the status unless it is given."""
    if wire == "openai":
        usual = {401: "authentication_error", 429: "rate_limit_error", 404: "invalid_request_error"}
        told = {"message": message, "type": kind or usual.get(status, _class(status)), "param": None, "code": code}
        return {"error": told}
    usual = {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        504: "timeout_error",
        529: "overloaded_error",
    }
    told = {"type": kind or usual.get(status, _class(status)), "message": message}
    return {"type": "error", "error": told, "request_id": "req_fake"}


def _class(status: int) -> str:
    return "invalid_request_error" if status < 500 else "server_error"


# -- a body, taken apart


def _openai(told: JSON) -> Heard:
    texts = list(_texts(told.get("messages")))
    given = told.get("response_format") or {}
    tools = [tool.get("function", {}) for tool in told.get("tools") or ()]
    allowed = told.get("max_completion_tokens") or told.get("max_tokens")
    name: str | None = None
    if given.get("type") == "json_schema":
        mode: Mode = "json_schema"
        name, schema = given["json_schema"]["name"], given["json_schema"]["schema"]
    elif tools:
        mode, name, schema = "tool", tools[0].get("name"), tools[0].get("parameters")
    else:
        schema = _told_schema(texts)
        mode = "json_object" if given.get("type") == "json_object" else "text"
    return _heard("openai", told, texts, allowed, mode, name, schema)


def _anthropic(told: JSON) -> Heard:
    if "system" not in told:
        raise NotUnderstood("expected a system prompt")
    texts = [("system", text) for text in _parts(told["system"])] + list(_texts(told.get("messages")))
    given = (told.get("output_config") or {}).get("format") or {}
    tools = told.get("tools") or ()
    if given.get("type") == "json_schema":
        mode: Mode = "json_schema"
        name, schema = None, given["schema"]
    elif tools:
        mode, name, schema = "tool", tools[0].get("name"), tools[0].get("input_schema")
    else:
        mode, name, schema = "text", None, _told_schema(texts)
    return _heard("anthropic", told, texts, told.get("max_tokens"), mode, name, schema)


def _heard(
    wire: Wire, told: JSON, texts: list[tuple[str, str]], allowed: Any, mode: Mode, name: str | None, schema: Any
) -> Heard:
    if not isinstance(allowed, int) or allowed < 1:
        raise NotUnderstood(f"expected how many tokens the answer may have, found {allowed!r}")
    if not isinstance(schema, dict):
        raise NotUnderstood("expected a reply schema, found none")
    (first, house), *data, (last, seat_text) = texts
    wrong = [role for role, _ in data if role not in _USER]
    if first not in ("system", "developer") or last not in _LAST or wrong:
        raise NotUnderstood(f"expected system, user..., {'/'.join(_LAST)}, found {[role for role, _ in texts]}")
    seat = _seat(name, seat_text)
    messages = (Message("house", house), *(Message("data", text) for _, text in data), Message("seat", seat_text))
    request = Request(seat, told["model"], told["model"], messages, seat, schema, allowed)
    return Heard(wire, request, mode, name if mode == "tool" else None, told)


def _texts(messages: Any) -> Iterator[tuple[str, str]]:
    """Every text with its role, in order; several parts of one message come apart."""
    if not isinstance(messages, list) or not messages:
        raise NotUnderstood("expected messages, found none")
    for message in messages:
        for text in _parts(message.get("content")):
            yield message.get("role"), text


def _parts(content: Any) -> Sequence[str]:
    if isinstance(content, str):
        return (content,)
    if isinstance(content, list) and all(part.get("type") == "text" for part in content):
        return [part["text"] for part in content]
    raise NotUnderstood("expected text as the content of a message")


def _told_schema(texts: list[tuple[str, str]]) -> Any:
    """The schema from the message directly before the last, which is taken out: there it is the adapter's, no data."""
    if len(texts) < 3 or not texts[-2][1].startswith('{"replySchema":'):
        return None
    return json.loads(texts.pop(-2)[1])["replySchema"]


def _seat(name: str | None, text: str) -> str:
    """The seat by the schema's name, or by the pinned prompt that the last message begins with."""
    for seat in PLACES:
        if name == seat.replace(".", "_") or any(text.startswith(prompt) for prompt in _prompts(seat)):
            return seat
    raise NotUnderstood("expected the pinned prompt of a seat as the last message")


@cache
def _prompts(seat: str) -> tuple[str, ...]:
    prompts = Prompts.load()
    found = [e for e in prompts.entries if e.id.removesuffix(".open") == seat and e.kind == "prompt"]
    return tuple(prompts.text_at(e.id, e.version) for e in found)


# -- an answer, put together


def _completion(said: Answered, tool: str | None) -> JSON:
    message: JSON = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    finish = said.finish or "stop"
    if said.shape == "parts":
        message["content"] = [{"type": "text", "text": said.text}]
    if said.shape == "thinking":
        message["reasoning_content"] = "First the cap, then its exceptions."
    if said.shape == "tool":
        call = {"id": "call_1", "type": "function", "function": {"name": tool or "reply", "arguments": said.text}}
        message |= {"content": None, "tool_calls": [call]}
        finish = said.finish or "tool_calls"
    return {
        "id": said.id,
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": said.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "system_fingerprint": said.fingerprint,
        "service_tier": "default",
    }


def _message(said: Answered, tool: str | None) -> JSON:
    content: list[JSON] = [] if said.text is None else [{"type": "text", "text": said.text}]
    stop = said.finish or "end_turn"
    if said.refusal is not None:
        content, stop = [{"type": "text", "text": said.refusal}], "refusal"
    if said.shape == "parts" and said.text:
        half = len(said.text) // 2
        content = [{"type": "text", "text": part} for part in (said.text[:half], said.text[half:])]
    if said.shape == "thinking":
        content.insert(0, {"type": "thinking", "thinking": "First the cap, then its exceptions.", "signature": "c2ln"})
    if said.shape == "tool":
        content = [
            {"type": "tool_use", "id": "toolu_1", "name": tool or "reply", "input": json.loads(said.text or "{}")}
        ]
        stop = said.finish or "tool_use"
    return {
        "id": said.id,
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
    }
