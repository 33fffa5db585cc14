"""POST /v1/chat/completions and GET /v1/models/{model}, for clients of OpenAI's API.

The official clients send a request again, without an Idempotency-Key, when the connection is cut or the status is 408,
409, 429 or 500 and above. So where no key comes, one is made of the caller and the body: the request joins the debate
that the first one began, while it runs and for ten minutes after its end. It is one debate, and one bill.
"""

from __future__ import annotations

import asyncio
import time

from litestar import Response, get, post

from service import telemetry
from service.errors import IdempotencyInProgress
from service.reviews import Submitted
from service.web import body, headers
from service.web.app_state import AppState, HttpRequest, app_state
from service.web.callers import arrival, caller
from service.web.completions.answer import completion
from service.web.completions.case import ChatCase, read_chat
from service.web.completions.events import ChatStream
from service.web.completions.names import ChatModel, chat_models, format_of
from service.web.debate_stream import FollowingDebate
from service.web.debates import RETRY_AFTER_S, answered, known_query, note, places
from service.web.middleware import DEBATE
from service.web.problems import request_id
from service.web.rate_limits import key_of
from service.web.stream import EventStream
from service.web.submission import REPLAYED
from service.web.types import address
from service.web.waiting import ended_in_time

WAIT_S = 570.0
"""The longest wait for the end of a debate: the official clients time out after 600 seconds."""


@post("/v1/chat/completions", status_code=200)
async def complete(request: HttpRequest) -> Response[bytes]:
    """Record a case, and answer with the decision of its debate."""
    site, who = app_state(request), caller(request)
    known_query(request, ())
    key = headers.idempotency_key(request.headers.getall("idempotency-key", []))
    most = site.rates.rates_of(who).listeners
    site.listeners.admit(key_of(who), most)
    with site.listeners.waiting(key_of(who), None):
        async with places(request):
            raw = await body.read_json(request, site.body_max_of(who.tenant))
            chat = await _read(raw, request)
            kept = key if key is not None else chat.derived
            submitted = await site.reviews.record(chat.case, who, kept, arrival(request, "completions"))
        request.scope["state"][DEBATE] = submitted.debate
        if submitted.replayed:
            telemetry.REPLAYS.labels(result="replayed").inc()
        await site.reviews.wait_provable(submitted, who)
        if not chat.asked.stream:
            return await _whole(request, site, chat, submitted)
    following = FollowingDebate(site, who, submitted.debate)
    stream = ChatStream(chat, following, int(time.time()))
    return EventStream(following, {**_headers(submitted), "Cache-Control": "no-store"}, stream.events)


@get("/v1/models/{model:path}")
async def model(request: HttpRequest) -> Response[bytes]:
    """One format, as the clients read a model. Its name has a slash, which they write as ``%2F``."""
    known_query(request, ())
    policy = app_state(request).reviews.deployment_of(caller(request).tenant).policy
    name = str(request.path_params["model"]).lstrip("/")
    format_of(name, policy)
    found: ChatModel = next(one for one in chat_models(policy) if one.id == name)
    return answered(found, headers={"X-Request-Id": request_id.get()})


async def _read(raw: bytes, request: HttpRequest) -> ChatCase:
    """The case of a body, in a thread: files are decoded, and every text is looked through."""
    who = caller(request)
    policy = app_state(request).reviews.deployment_of(who.tenant).policy
    return await asyncio.to_thread(read_chat, raw, policy, who.subject)


async def _whole(request: HttpRequest, site: AppState, chat: ChatCase, submitted: Submitted) -> Response[bytes]:
    """The answer in one piece; raises `IdempotencyInProgress` where the debate goes on, and `NoAnswer`."""
    debate = submitted.debate
    if submitted.status != "declined" and not await ended_in_time(request, site, debate, WAIT_S, leaving=False):
        raise IdempotencyInProgress(
            f"debate {debate} has not ended, or its end is not provable yet; send the same request again, which joins "
            f"the debate and costs nothing more, or read {address(debate)}",
            debate=debate,
            retry_after=RETRY_AFTER_S,
        )
    answer = completion(chat, await site.reviews.result(debate, caller(request)))
    note(request, "result", debate)
    return answered(answer, headers=_headers(submitted))


def _headers(submitted: Submitted) -> dict[str, str]:
    """The headers of an answer. A proxy must not hold it back, and it says nothing of the service's speed."""
    own = {"Location": address(submitted.debate), "X-Accel-Buffering": "no", "X-Request-Id": request_id.get()}
    return {**own, **REPLAYED} if submitted.replayed else own


HANDLERS = (complete, model)
