"""The common rules of all wires for requests: the mode of a reply schema, and the limits of parameters.

    mode          the schema travels                                    the server promises
    json_schema   in the vendor's own field for it                      a reply of the schema
    tool          as the input of the one tool that has to be called    a reply near the schema
    json_object   as a message of data before the seat's                some JSON
    text          as a message of data before the seat's                nothing

The message of data is the JSON object ``{"replySchema": ...}`` alone: a sentence of ours would be a prompt that no pin
covers. If a server answers that it lacks a mode, its model is asked in the next lower one from then on (`Ladder`).

Parameters come from the catalogue and stand beside our own fields. A parameter may not replace one of our fields, add
a text, tool or model, or hold a value that reads as a sentence: only the messages instruct a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Raw

from service.errors import PromptMismatch, SettingsError
from service.prompts.request import Message, as_json

Mode = Literal["json_schema", "tool", "json_object", "text"]
REPLY_TOOL = "reply"
"""The name of the tool whose input is the reply. It has no description, which would be a prompt."""

RESERVED = frozenset(
    """
    audio best_of chat_template container documents extra_body format function_call functions grammar guided_choice
    guided_grammar guided_json guided_regex input instructions json_schema max_completion_tokens max_output_tokens
    max_tokens mcp_servers messages modalities model models n output_format plugins prediction prompt response_format
    stream stream_options structured_outputs suffix system tool_choice tools web_search_options
    """.split()
)
"""Fields that no parameter may set: our own, and those that add text, tools, models, costs or formats."""

Schema = dict[str, Any] | Raw
"""A reply schema, or its bytes as they stand in a body."""

_WORD = re.compile(r"[!-~]{0,128}")
_DEPTH = 6
_encoder = msgspec.json.Encoder()
decode = msgspec.json.Decoder().decode
"""The value in a member of a body."""
_said = msgspec.json.Decoder(dict[Literal["replySchema"], Raw])


class Ladder:
    """The modes that a server supports, the best first, and the current mode of each of its models."""

    def __init__(self, modes: tuple[Mode, ...]) -> None:
        self._modes = modes
        self._at: dict[str, int] = {}

    def mode(self, model: str) -> Mode:
        """The current mode of a model."""
        return self._modes[self._at.get(model, 0)]

    def step_down(self, model: str, refused: Mode) -> bool:
        """Step down from a mode that the server lacks for this model; returns whether a lower one remains.

        Parallel calls that are refused in the same mode step down once.
        """
        below = self._modes.index(refused) + 1 if refused in self._modes else len(self._modes)
        if below < len(self._modes):
            self._at[model] = max(below, self._at.get(model, 0))
        return below < len(self._modes)


def schema_message(schema: Schema) -> Message:
    """The reply schema as a message of data."""
    return Message("data", _encoder.encode({"replySchema": schema}).decode())


def read_schema(message: Message) -> Raw:
    """The schema's bytes from its message; raises `ValueError` or `KeyError` for a message that has none."""
    return _said.decode(message.content)["replySchema"]


def speaking(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages that are not empty: vendors refuse empty ones, and a framing sees no replies yet."""
    return tuple(message for message in messages if message.role != "data" or message.content.strip())


def spelled(message: Message) -> str | Raw:
    """A message's text, to be written into a body."""
    return as_json(message.content) if message.pins else message.content


def refuse_parameters(parameters: Mapping[str, Any], reserved: frozenset[str] = RESERVED) -> None:
    """Raise `SettingsError` for a reserved parameter, and for a value that holds more than numbers and single words."""
    for name, value in parameters.items():
        if name in reserved:
            raise SettingsError(f"the parameter {name!r} is set by the service itself; remove it from the catalogue")
        if not _WORD.fullmatch(name) or not _terse(value, _DEPTH):
            raise SettingsError(
                f"expected numbers, truth values and words without blanks in parameter {name[:80]!r}, found something "
                "else; what is said to a model is said in the pinned prompts"
            )


def mismatch() -> PromptMismatch:
    """The error for a body that no adapter here has written."""
    return PromptMismatch(
        "expected a body on the wire that says the same when it is read and written again, found one that does not; "
        "the provider's adapter or something behind it changed the request: make no call before that is understood"
    )


def _terse(value: object, depth: int) -> bool:
    match value:
        case None | bool() | int() | float():
            return True
        case str():
            return _WORD.fullmatch(value) is not None
        case list() | tuple():
            return depth > 0 and all(_terse(item, depth - 1) for item in value)
        case dict():
            return depth > 0 and all(_terse(k, 0) and _terse(v, depth - 1) for k, v in value.items())
        case _:
            return False
