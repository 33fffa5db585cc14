"""The body of ``POST /v1/chat/completions``, as OpenAI's clients send it. Names are theirs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct

from service.intake.request import CaseRequest, DocumentRequest


class FileContent(Struct, frozen=True, forbid_unknown_fields=True):
    """A file within a message."""

    filename: str | None = None
    """The name of the file, which becomes the title of the document. Its ending says what it holds, where no data URL
    does."""
    file_data: str | None = None
    """The file as a data URL, or its bytes in base64: plain text, Markdown, JSON or CSV in UTF-8."""
    file_id: str | None = None
    """Refused: no file is kept here. Send `file_data`."""


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a message."""

    type: Literal["text", "file", "refusal", "image_url", "input_audio"]
    """What the part is. An image and a sound are refused."""
    text: str | None = None
    """The words of a part of the type text."""
    file: FileContent | None = None
    """What a part of the type file holds."""
    refusal: str | None = None
    """The words in which an assistant refused."""
    image_url: Any = None
    """Refused: seats read texts."""
    input_audio: Any = None
    """Refused: seats read texts."""


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """A message. The last one has the role user and holds the question; those before it are texts of the caller."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    """Whose message it is. No message is a system prompt of a model here: each is fenced as a text of the caller."""
    content: str | tuple[Part, ...] | None = None
    """The text, or parts. Of the last message the last text part is the question, and each other part a document."""
    name: str | None = None
    """The name of who sent it."""
    tool_calls: tuple[dict[str, Any], ...] | None = None
    """The tools that an assistant called, in an earlier message."""
    tool_call_id: str | None = None
    """The call that a message of the role tool answers."""
    function_call: Any = None
    """The same as `tool_calls`, in an older form."""
    refusal: str | None = None
    """The words in which an assistant refused, in an earlier message."""
    annotations: Any = None
    """The annotations of an earlier answer, which are not read."""
    audio: Any = None
    """Refused, unless it is null."""
    gainsay: Any = None
    """What an earlier answer of this service had beside its text, which is not read."""


class StreamOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """What a stream holds beside the answer."""

    include_usage: bool | None = None
    """Whether a last chunk has the usage."""
    include_obfuscation: bool | None = None
    """Changes nothing: no chunk is padded."""


class ChatRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of ``POST /v1/chat/completions``. Its names are those of OpenAI.

    Members with no effect on a debate are accepted and named in ``gainsay.ignored`` of the answer. Those that ask for
    another answer than a debate gives are refused.
    """

    belongs: ClassVar = {
        name: f"{name} belongs into metadata: send it there, as a text"
        for name in (*CaseRequest.__struct_encode_fields__, *DocumentRequest.__struct_encode_fields__)
        if name not in ("metadata", "options")
    } | {"options": "options belongs into metadata: send it there, as a text of JSON"}

    messages: tuple[Message, ...]
    """The messages. The last one is the question."""
    model: str
    """`gainsay/` and a format, such as `gainsay/adversarial`, or `gainsay/auto`."""
    metadata: dict[str, str] | None = None
    """The members of a case by their names, such as `taskType`, `estimatedDownside` and `costCeilingUSD`, as texts. All
    other keys are the case's own metadata."""
    stream: bool | None = None
    """Whether the answer is sent as a stream of chunks, which is kept open until the debate has ended."""
    stream_options: StreamOptions | None = None
    """What the stream holds beside the answer."""
    temperature: float | None = None
    """A parameter of sampling. Changes nothing: policy sets the parameters of models."""
    top_p: float | None = None
    """A parameter of sampling. Changes nothing: policy sets the parameters of models."""
    frequency_penalty: float | None = None
    """A parameter of sampling. Changes nothing: policy sets the parameters of models."""
    presence_penalty: float | None = None
    """A parameter of sampling. Changes nothing: policy sets the parameters of models."""
    seed: int | None = None
    """The seed of sampling. Changes nothing but the body: the same question with another seed is another debate."""
    max_tokens: int | None = None
    """The most tokens of an answer. Changes nothing: policy sets the allowance of each seat."""
    max_completion_tokens: int | None = None
    """The most tokens of an answer. Changes nothing: policy sets the allowance of each seat."""
    reasoning_effort: str | None = None
    """Changes nothing: policy sets the parameters of models."""
    verbosity: str | None = None
    """Changes nothing: the answer is the sentence of the decision."""
    service_tier: str | None = None
    """Changes nothing: policy sets the parameters of models."""
    user: str | None = None
    """Changes nothing: who calls is known by the credential."""
    safety_identifier: str | None = None
    """Changes nothing: who calls is known by the credential."""
    store: bool | None = None
    """Changes nothing: each case is recorded, also with false."""
    prompt_cache_key: str | None = None
    """Changes nothing: requests to vendors are laid out for their caches."""
    prompt_cache_retention: str | None = None
    """Changes nothing: requests to vendors are laid out for their caches."""
    prompt_cache_options: Any = None
    """Changes nothing: requests to vendors are laid out for their caches."""
    parallel_tool_calls: bool | None = None
    """Changes nothing: no tool is called."""
    n: int | None = None
    """The number of choices. Refused, unless it is 1: a debate has one decision."""
    stop: Any = None
    """Refused, unless it is null or empty: an answer is never cut."""
    logprobs: bool | None = None
    """Refused, unless it is false: a decision has no probabilities of tokens."""
    top_logprobs: int | None = None
    """The number of tokens with probabilities. Refused, unless it is 0."""
    logit_bias: dict[str, float] | None = None
    """A parameter of sampling. Refused, unless it is empty."""
    response_format: Any = None
    """Refused, unless its type is text. A schema for the judge of stances is an option: `outputSchema`."""
    tools: tuple[dict[str, Any], ...] | None = None
    """Refused, unless it is empty: the answer is a decision, and calls no tool."""
    tool_choice: Any = None
    """Refused, unless it is none or auto."""
    functions: tuple[dict[str, Any], ...] | None = None
    """Refused, unless it is empty."""
    function_call: Any = None
    """Refused, unless it is none or auto."""
    modalities: tuple[str, ...] | None = None
    """Refused, unless it is text alone."""
    audio: Any = None
    """Refused, unless it is null."""
    prediction: Any = None
    """Refused, unless it is null."""
    web_search_options: Any = None
    """Refused, unless it is null: seats cite the documents of the case alone."""
    moderation: Any = None
    """Refused, unless it is null."""
