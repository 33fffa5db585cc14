"""The drop-in operations as data."""

from __future__ import annotations

from msgspec.structs import replace

from service.web.completions.answer_types import ChatChunk, ChatCompletion
from service.web.completions.names import ChatModel
from service.web.completions.request import ChatRequest
from service.web.headers import KEY_MAX
from service.web.operation import IDEMPOTENCY_KEY, JSON, Answer, Operation, Parameter
from service.web.stream import EVENT_STREAM

_KEY = replace(
    IDEMPOTENCY_KEY,
    description=f"A string of 1 to {KEY_MAX} ASCII characters in quotes, as at POST /v1/debates. Without it the caller "
    "and the body make the key, which holds until ten minutes after the debate has ended.",
)
_MODEL = Parameter(
    "model", "path", "The name of a model, such as gainsay/adversarial.", {"type": "string"}, required=True
)

COMPLETIONS: tuple[Operation, ...] = (
    Operation(
        method="post",
        path="/v1/chat/completions",
        id="createChatCompletion",
        scope="case.submit",
        tag="drop-in",
        summary="Submit a case as a chat request, and get the decision of its debate as a chat completion.",
        description=(
            "For clients of OpenAI's API: set their base URL to this service and the model to gainsay/adversarial or "
            "gainsay/auto. The case is one like any other, with the same gate, ceiling, roles and records. The last "
            "message is the question; files, texts beside it and earlier messages are documents. metadata gives the "
            "members of a case, and policy's [dropin] the task type and the downside that it leaves out. The answer "
            "comes when the debate has ended and its end is provable, and stream keeps the connection open until then. "
            "A declined case is an answer that says so. A debate that failed or was aborted is the error no_answer. "
            "Sent again, the same request joins the running debate, and for ten minutes its result: one debate and one "
            "bill. Errors have OpenAI's form; their code is the one of problem documents."
        ),
        parameters=(_KEY,),
        body=ChatRequest,
        answers={
            200: Answer(
                "The decision as a chat completion; with stream, its chunks and data: [DONE].",
                {JSON: (ChatCompletion,), EVENT_STREAM: (ChatChunk,)},
                ("Location", "Idempotency-Replayed"),
            )
        },
        errors="openai",
        problems=(400, 402, 404, 408, 409, 410, 413, 415, 422, 502, 503),
        problem_headers={409: ("Location",)},
    ),
    Operation(
        method="get",
        path="/v1/models/{model}",
        id="readChatModel",
        scope="catalogue.read",
        tag="drop-in",
        summary="Read one model as OpenAI's clients list it: a format.",
        description="The slash of the name may be written as it is or as %2F.",
        parameters=(_MODEL,),
        answers={200: Answer("The model.", {JSON: (ChatModel,)})},
        errors="openai",
        problems=(400, 404, 503),
    ),
)
