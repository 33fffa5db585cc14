"""The shapes of a chat completion and of its chunks. Names are OpenAI's; ours stand in ``gainsay``."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import UNSET, Struct, UnsetType

from service.debate.model import Status
from service.report.result.decision_types import Decision
from service.report.result.summary_types import ResultLinks
from service.report.result.types import Gate
from service.report.sent import EVERY

FinishReason = Literal["stop", "length"]


class ChatDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """What Gainsay has to say of an answer beside its text."""

    always_sent: ClassVar = ("explicit_uncertainties", "flags", "ignored")

    debate_id: str
    status: Status
    """The state of the debate: `completed`, `truncated` if it ended before its rules were satisfied, or `declined` if
    no debate took place."""
    decision: Decision
    """The decision, whole, as everywhere."""
    explicit_uncertainties: tuple[str, ...]
    """What the decider names as uncertain."""
    flags: tuple[str, ...]
    """Codes of what a reader has to know."""
    gate: Gate | None
    """The gate's decision, with every rule."""
    simulated: bool
    """Whether the models were simulated: then the answer proves nothing."""
    sources: int
    """The number of source documents. The earlier messages are no source."""
    ignored: tuple[str, ...]
    """The parameters of the request that had no effect."""
    links: ResultLinks
    """The addresses of what belongs to the debate."""


class ChatMessage(Struct, frozen=True, kw_only=True):
    """The answer as a message."""

    always_sent: ClassVar = EVERY

    role: Literal["assistant"] = "assistant"
    """Always `assistant`."""
    content: str
    """The sentence of the decision, and a line of warning where a reader needs one."""
    refusal: str | None = None
    """Always null."""


class ChatChoice(Struct, frozen=True, kw_only=True):
    """The one choice."""

    always_sent: ClassVar = EVERY

    index: int = 0
    """The number of the choice, always 0."""
    message: ChatMessage
    """The answer."""
    logprobs: dict[str, Any] | None = None
    """Always null."""
    finish_reason: FinishReason
    """`stop`, or `length` where the debate ended before its rules were satisfied."""


class PromptDetails(Struct, frozen=True, kw_only=True):
    """Of the tokens of input, those from a cache."""

    cached_tokens: int
    """Tokens of input that vendors read from their caches."""


class CompletionDetails(Struct, frozen=True, kw_only=True):
    """Of the tokens of output, those of reasoning."""

    reasoning_tokens: int
    """Tokens of output that models used to think."""


class ChatUsage(Struct, frozen=True, kw_only=True):
    """The tokens of all calls of the debate, as far as vendors reported them."""

    prompt_tokens: int
    """Tokens of input."""
    completion_tokens: int
    """Tokens of output, reasoning included."""
    total_tokens: int
    """Tokens of input and of output together."""
    prompt_tokens_details: PromptDetails
    """Of the tokens of input, those from a cache."""
    completion_tokens_details: CompletionDetails
    """Of the tokens of output, those of reasoning."""


class ChatCompletion(Struct, frozen=True, kw_only=True):
    """The decision of a debate as a chat completion."""

    always_sent: ClassVar = EVERY

    id: str
    """`chatcmpl-` and the debate's id."""
    object: Literal["chat.completion"] = "chat.completion"
    """Always `chat.completion`."""
    created: int
    """When the case was recorded, in seconds since 1970."""
    model: str
    """The model that was asked for."""
    choices: tuple[ChatChoice, ...]
    """One choice."""
    usage: ChatUsage
    """The tokens of the whole debate."""
    gainsay: ChatDetail
    """The decision, the debate and what is uncertain."""


class ChatDelta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a chunk adds to the message."""

    role: Literal["assistant"] | UnsetType = UNSET
    """`assistant`, in the first chunk."""
    content: str | UnsetType = UNSET
    """A part of the text."""


class ChunkChoice(Struct, frozen=True, kw_only=True):
    """The one choice of a chunk."""

    always_sent: ClassVar = EVERY

    index: int = 0
    """The number of the choice, always 0."""
    delta: ChatDelta
    """What the chunk adds."""
    logprobs: dict[str, Any] | None = None
    """Always null."""
    finish_reason: FinishReason | None
    """Null but in the last chunk of the answer."""


class ChatChunk(Struct, frozen=True, kw_only=True):
    """A part of a chat completion that is streamed."""

    always_sent: ClassVar = ("choices",)

    id: str
    """`chatcmpl-` and the debate's id."""
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    """Always `chat.completion.chunk`."""
    created: int
    """When the stream began, in seconds since 1970."""
    model: str
    """The model that was asked for."""
    choices: tuple[ChunkChoice, ...]
    """One choice, and none in the chunk with the usage."""
    usage: ChatUsage | UnsetType = UNSET
    """The tokens of the whole debate, in the last chunk where the request asks for it."""
    gainsay: ChatDetail | UnsetType = UNSET
    """The decision, the debate and what is uncertain, in the last chunk of the answer."""
