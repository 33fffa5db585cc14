"""A request to a model: messages, reply schema and parameters, the same for every vendor.

The layout serves vendors' caches and keeps documents from posing as orders: the system prompt as system message, then
the fenced documents, then the fenced replies, last the seat's pinned prompt outside every fence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

Role = Literal["house", "data", "seat"]
SPELLED_MAX = 256
"""How many pinned texts are kept as JSON."""


class Message(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One message. A provider maps the role to its wire: ``house`` to system, ``data`` to user, ``seat`` to the
    strongest role allowed at the end. ``pins`` are the ids of the pinned texts whose join is exactly ``content``."""

    role: Role
    content: str
    pins: tuple[str, ...] = ()


class Request(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A whole request for one turn, as pure data. ``reply_schema`` is the JSON Schema of the reply's type.

    ``keeps_case`` says that the seat will probably be asked again, so that a vendor which keeps what a request marks
    keeps what stands up to the case. It says nothing to the model: the request's own bytes are
    without it.
    """

    seat: str
    model: str
    model_name: str
    messages: tuple[Message, ...]
    schema_id: str
    reply_schema: dict[str, Any]
    max_output_tokens: int
    parameters: dict[str, Any] = {}
    keeps_case: bool = False


class WireTexts(Struct, frozen=True, rename="camel"):
    """The texts of a body on the wire, read back from its bytes. They are compared with the pins.

    ``reply_schema`` is the schema in its own bytes: two that differ can be equal once they are decoded, such as
    ``true`` and ``1``. ``keeps_case`` is the mark for the vendor's cache, ``None`` where its wire has none.
    """

    messages: tuple[Message, ...]
    reply_schema: Raw
    keeps_case: bool | None = None


_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(WireTexts)


def encode(request: Request) -> bytes:
    """The request's own bytes. ``requestHash`` covers these, and not a vendor's wire."""
    messages: Any = tuple([replace(m, content=as_json(m.content)) if m.pins else m for m in request.messages])
    return _encoder.encode(replace(request, messages=messages, keeps_case=False))


@lru_cache(maxsize=SPELLED_MAX)
def as_json(text: str) -> Raw:
    """A pinned text as JSON, which is made once.

    The same few are most of every request, and to write one means to look at each of its characters.
    """
    return Raw(msgspec.json.encode(text))


def wire_texts(body: bytes) -> WireTexts:
    """The texts of a body that is the request's own bytes; raises `msgspec.DecodeError` for one without them."""
    return _decoder.decode(body)


def texts_of(request: Request) -> tuple[str, ...]:
    """All texts that a model reads and a tokenizer counts: each message, and last the reply schema.

    They are separate, because messages that many requests share are counted once.
    """
    return (*(m.content for m in request.messages), msgspec.json.encode(request.reply_schema).decode())


def text_of(request: Request) -> str:
    """All texts of a request, joined."""
    return "\n".join(texts_of(request))
