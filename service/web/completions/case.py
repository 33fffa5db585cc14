"""A chat request as a case."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from service.debate.formats import NAMES, name_of
from service.intake.decoding import decode
from service.intake.request import CaseRequest
from service.policy import FORMAT_RULES, Policy
from service.store.idempotency import DerivedKey
from service.web.completions.errors import UnsupportedParameter
from service.web.completions.messages import read_messages
from service.web.completions.names import format_of
from service.web.completions.parameters import ignored, refuse_unsupported
from service.web.completions.request import ChatRequest
from service.web.completions.stake import as_json, read_stake

STREAMED = ("stream", "stream_options")
"""Members that say how the answer is sent: a stream that was cut is joined without one as well."""


class ChatCase(NamedTuple):
    """A chat request, its case, and the key that stands for its caller and body."""

    asked: ChatRequest
    case: CaseRequest
    derived: DerivedKey
    ignored: tuple[str, ...]
    sources: int
    """How many documents are files or texts beside the question."""

    @property
    def include_usage(self) -> bool:
        """Whether a stream has the usage in a last chunk."""
        return bool(self.asked.stream_options and self.asked.stream_options.include_usage)


def read_chat(raw: bytes, policy: Policy, subject: str) -> ChatCase:
    """The case of a request's body. Large ones take time, so callers run this in a thread.

    Raises `BadRequest`, `WrongShape`, `ModelNotFound`, `UnsupportedParameter` and `StakeMissing`.
    """
    asked = decode(raw, ChatRequest)
    format_ = format_of(asked.model, policy)
    refuse_unsupported(asked)
    metadata = asked.metadata or {}
    _refuse_unassigned(format_, "options" in metadata)
    stake = read_stake(metadata, format_, policy)
    texts = read_messages(asked.messages, review_last_answer=stake.review_last_answer)
    case = replace(decode(as_json(stake), CaseRequest), question=texts.question, documents=texts.documents)
    if texts.answer is not None:
        if case.single_agent_answer is not None:
            raise UnsupportedParameter(
                "metadata has both singleAgentAnswer and reviewLastAnswer; send one of them",
                pointers=("/metadata/singleAgentAnswer",),
            )
        case = replace(case, single_agent_answer=texts.answer)
    return ChatCase(asked, case, DerivedKey.of(subject, canonical(raw)), ignored(asked), texts.sources)


def canonical(raw: bytes) -> bytes:
    """A body as one sequence of bytes, whatever the order of its members, and whether it asks for a stream."""
    body = msgspec.json.decode(raw)
    return msgspec.json.encode({name: body[name] for name in body if name not in STREAMED}, order="sorted")


def _refuse_unassigned(format_: str, has_options: bool) -> None:
    """Refuse a format whose sides only a caller can assign, where no options say them."""
    if format_ in NAMES and FORMAT_RULES[name_of(format_)].assigned and not has_options:
        raise UnsupportedParameter(
            f"the format {format_} needs sides that only the caller can assign, and metadata.options is left out; send "
            'there a text of JSON such as {"debaters": [{"name": ..., "stance": ...}, ...]}, or send the case to '
            "POST /v1/debates",
            pointers=("/metadata/options",),
        )
