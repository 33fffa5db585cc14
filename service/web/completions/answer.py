"""An ended debate as a chat completion.

The text is the sentence of the decision. Many programs show nothing else of an answer, so a last line stands below it
where a reader would take the sentence for more than it is: a person has to decide, the confidence is low, no source
came with the question, or the models were simulated. ``gainsay.decision.answer`` is the sentence alone.

    status                  answered with
    completed               the answer
    truncated               the answer, ``finish_reason`` is ``length``
    declined                the answer: that no debate took place, and why
    failed, aborted         an error (`NoAnswer`): there is no answer that a program could take for one
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from service.report import Result
from service.web.completions.answer_types import (
    ChatChoice,
    ChatCompletion,
    ChatDetail,
    ChatMessage,
    ChatUsage,
    CompletionDetails,
    FinishReason,
    PromptDetails,
)
from service.web.completions.case import ChatCase
from service.web.completions.errors import NoAnswer
from service.web.types import address


def completion(chat: ChatCase, result: Result) -> ChatCompletion:
    """The completion; raises `NoAnswer` where the debate failed or was aborted."""
    detail = chat_detail(chat, result)
    message = ChatMessage(content=content(detail))
    return ChatCompletion(
        id=completion_id(result.debate_id),
        created=int(datetime.fromisoformat(result.created_at).timestamp()),
        model=chat.asked.model,
        choices=(ChatChoice(message=message, finish_reason=finish_reason(result)),),
        usage=usage(result),
        gainsay=detail,
    )


def completion_id(debate: str) -> str:
    """The id of a completion."""
    return f"chatcmpl-{debate}"


def chat_detail(chat: ChatCase, result: Result) -> ChatDetail:
    """What stands beside the text; raises `NoAnswer` where the debate failed or was aborted."""
    if result.decision is None or result.status in ("failed", "aborted"):
        said = result.decision.answer if result.decision else f"the debate is {result.status}"
        raise NoAnswer(
            f"{said} Read {address(result.debate_id)}. Sent again within ten minutes of its end, or under the "
            "Idempotency-Key that it came with at any time, the same request joins this debate and costs nothing; for "
            "a new one change the body, or send a new Idempotency-Key"
        )
    return ChatDetail(
        debate_id=result.debate_id,
        status=result.status,
        decision=result.decision,
        explicit_uncertainties=result.explicit_uncertainties,
        flags=result.flags,
        gate=result.gate,
        simulated=result.simulated,
        sources=chat.sources,
        ignored=chat.ignored,
        links=result.links,
    )


def content(detail: ChatDetail) -> str:
    """The sentence of the decision, and below it what a reader must not overlook."""
    warnings = list(_warnings(detail))
    answer = detail.decision.answer
    return f"{answer}\n\n[Gainsay: {'; '.join(warnings)}. {detail.links.report}]" if warnings else answer


def _warnings(detail: ChatDetail) -> Iterator[str]:
    if detail.status == "declined":
        return
    if detail.simulated:
        yield "simulated models answered, so this proves nothing"
    if detail.status == "truncated":
        yield "the debate ended before its rules were satisfied"
    if detail.decision.confidence == "LOW":
        yield "the confidence is LOW"
    if not detail.sources:
        yield "no source document came with the question"
    if detail.decision.human_review.required:
        yield "a person has to decide"


def finish_reason(result: Result) -> FinishReason:
    """Why the text ends."""
    return "length" if result.status == "truncated" else "stop"


def usage(result: Result) -> ChatUsage:
    """The tokens of the whole debate."""
    tokens = [account.tokens for account in result.overall_cost.by_model.values()]
    cached = sum(t.cached_input for t in tokens)
    prompt = sum(t.input + t.cache_write + t.cache_write_1h for t in tokens) + cached
    reasoning = sum(t.reasoning for t in tokens)
    output = sum(t.output for t in tokens) + reasoning
    return ChatUsage(
        prompt_tokens=prompt,
        completion_tokens=output,
        total_tokens=prompt + output,
        prompt_tokens_details=PromptDetails(cached_tokens=cached),
        completion_tokens_details=CompletionDetails(reasoning_tokens=reasoning),
    )
