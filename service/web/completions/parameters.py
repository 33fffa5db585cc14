"""Which standard parameters of a chat request change nothing here, and which are refused.

    changes nothing     it is accepted, and the answer names it in ``gainsay.ignored``
    usual value         a parameter that clients send by default says nothing with it, and is not named
    refused             it asks for another answer than a debate gives

docs/completions.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from service.web.completions.errors import UnsupportedParameter
from service.web.completions.request import ChatRequest

IGNORED: tuple[str, ...] = (
    *("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "max_tokens", "max_completion_tokens"),
    *("reasoning_effort", "verbosity", "service_tier", "user", "safety_identifier", "store", "prompt_cache_key"),
    *("prompt_cache_retention", "prompt_cache_options", "parallel_tool_calls"),
)
"""Parameters with no effect on a debate."""


class Refused(NamedTuple):
    """When a parameter says nothing, and why it is refused with any other value."""

    says_nothing: Callable[[Any], bool]
    why: str


def _empty(value: Any) -> bool:
    return not value


def _no_choice(value: Any) -> bool:
    return value in (None, "none", "auto")


def _text_alone(value: Any) -> bool:
    return value is None or value == {"type": "text"}


_TOOLS = "the answer is a decision, and calls no tool; leave it out, and put what a tool found into a document"
_TOKENS = "a decision has no probabilities of tokens; its confidence is gainsay.decision.confidence"
REFUSED: Mapping[str, Refused] = {
    "n": Refused(lambda value: value in (None, 1), "a debate has one decision; leave it out, or send 1"),
    "stop": Refused(_empty, "an answer is never cut; leave it out"),
    "logprobs": Refused(_empty, _TOKENS),
    "top_logprobs": Refused(_empty, _TOKENS),
    "logit_bias": Refused(_empty, "policy sets the parameters of models; leave it out"),
    "response_format": Refused(
        _text_alone,
        "the answer is the sentence of the decision, which no schema forms; leave it out and read gainsay.decision, or "
        "give the judge of stances a schema as outputSchema in metadata.options",
    ),
    "tools": Refused(_empty, _TOOLS),
    "tool_choice": Refused(_no_choice, _TOOLS),
    "functions": Refused(_empty, _TOOLS),
    "function_call": Refused(_no_choice, _TOOLS),
    "modalities": Refused(lambda value: value is None or set(value) <= {"text"}, "the answer is a text; leave it out"),
    "audio": Refused(lambda value: value is None, "the answer is a text; leave it out"),
    "prediction": Refused(lambda value: value is None, "a decision is not predicted; leave it out"),
    "web_search_options": Refused(
        lambda value: value is None, "seats cite the documents of the case alone; send what was found as a document"
    ),
    "moderation": Refused(lambda value: value is None, "no moderation is run; leave it out"),
}
"""Parameters that ask for another answer than a debate gives."""


def refuse_unsupported(asked: ChatRequest) -> None:
    """Raise `UnsupportedParameter` for the first parameter that asks for another answer."""
    for name, refused in REFUSED.items():
        if not refused.says_nothing(getattr(asked, name)):
            raise UnsupportedParameter(f"{name} is not supported: {refused.why}", pointers=(f"/{name}",))


def ignored(asked: ChatRequest) -> tuple[str, ...]:
    """The given parameters that have no effect on the debate."""
    return tuple(name for name in IGNORED if getattr(asked, name) is not None)
