"""The errors of chat requests, in words for their pages."""

from __future__ import annotations

from service.web.completions.errors import ModelNotFound, NoAnswer, StakeMissing, UnsupportedParameter
from service.web.problem_text import ProblemText

_CHAT = "/v1/chat/completions"
CHATS = (
    ProblemText(
        ModelNotFound(
            "there is no model 'gpt-4o'; a model is a format, one of gainsay/auto, gainsay/adversarial",
            pointers=("/model",),
        ),
        "The model of a chat request is a format of this service, and the one that was named is none of them.",
        ("Take a model that GET /v1/models lists under data.",),
        "corrected",
        _CHAT,
    ),
    ProblemText(
        UnsupportedParameter(
            "n is not supported: a debate has one decision; leave it out, or send 1", pointers=("/n",)
        ),
        "A chat request asks for something that a debate does not give, or says it in a place where it is not read.",
        ("Leave the parameter out, or send the case to POST /v1/debates.",),
        "corrected",
        _CHAT,
    ),
    ProblemText(
        StakeMissing(
            "the case needs taskType and estimatedDownside, found neither in metadata nor in policy; send "
            '"metadata": {"taskType": ..., "estimatedDownside": ...}, or have the operator set task_type and '
            "estimated_downside_usd in [dropin] of the policy",
            pointers=("/metadata/taskType", "/metadata/estimatedDownside"),
        ),
        "The gate decides by the task type and the downside, and neither the request nor policy says them.",
        ("Send them in metadata, as texts, or have the operator set them in [dropin] of the policy.",),
        "corrected",
        _CHAT,
    ),
    ProblemText(
        NoAnswer(
            "No decision: the debate failed (no model could answer the turn 1.proposer.1). Read "
            "/v1/debates/01920000-0000-7000-8000-000000000000. Sent again within ten minutes of its end, or "
            "under the Idempotency-Key that it came with at any time, the same request joins this debate and costs "
            "nothing; for a new one change the body, or send a new Idempotency-Key"
        ),
        "The debate of a chat request failed or was aborted. An answer of status 200 would be taken for a decision.",
        ("Read the debate, which says why.", "For a new debate change the body, or send a new Idempotency-Key."),
        "unchanged",
        _CHAT,
    ),
)
