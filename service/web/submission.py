"""POST /v1/debates: a case is read, recorded once, and answered as its caller prefers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import Literal

from litestar import Response, post
from msgspec import Struct

from service import report, telemetry
from service.debate.entries import GateDecision
from service.errors import IdempotencyInProgress, NotProvable, StoreUnavailable
from service.intake.request import CaseRequest
from service.reviews import Submitted
from service.web import body, headers, problems
from service.web.admission import in_time
from service.web.app_state import LOCAL, HttpRequest, Site, site_of
from service.web.debates import RETRY_AFTER_S, answered, known_query
from service.web.types import Links, Submission, address

REPLAYED = {"Idempotency-Replayed": "true"}


class _Post(Struct, frozen=True):
    """One request, its case, and the seconds that its caller would wait."""

    request: HttpRequest
    site: Site
    case: CaseRequest
    wait: int | None

    @property
    def applied(self) -> dict[str, str]:
        """What is said of the wait."""
        return {} if self.wait is None else {"Preference-Applied": f"wait={self.wait}", "Vary": "Prefer"}


@post("/v1/debates")
async def submit(request: HttpRequest) -> Response[bytes]:
    """Record a case and let the gate decide."""
    site = site_of(request)
    known_query(request, ())
    key = headers.idempotency_key(request.headers.getall("idempotency-key", []))
    wait = headers.preferred_wait(request.headers.getall("prefer", []))
    async with site.places.taken():
        if key is None:  # under a key it may be one that was taken long ago
            await site.reviews.refuse_full(LOCAL)
        async with in_time():
            case = await body.read(request, CaseRequest, site.body_max)
        submitted = await site.reviews.record(case, LOCAL, key)
    await site.reviews.prove(submitted)
    post_ = _Post(request, site, case, wait)
    if submitted.replayed or submitted.decision is None:
        return await _again(post_, submitted)
    return await _first(post_, submitted, submitted.decision)


async def _first(post_: _Post, submitted: Submitted, decision: GateDecision) -> Response[bytes]:
    """The answer to a case that was recorded just now."""
    if post_.wait is None:
        return _submitted(submitted, decision)
    stands: Literal["queued", "running"] = "queued"
    with suppress(StoreUnavailable, NotProvable):  # the case is recorded: after an error now it would be sent again
        if await _over(post_, submitted, post_.wait):
            return await _result(post_, submitted)
        stands = await post_.site.reviews.stands(submitted.debate, LOCAL)
    return _submitted(submitted, decision, post_.applied, stands)


async def _again(post_: _Post, submitted: Submitted) -> Response[bytes]:
    """The answer to a case that was recorded before, under the same key: what the first request would get by now."""
    if submitted.decision is not None and post_.wait is None:
        telemetry.REPLAYS.labels(result="replayed").inc()
        return _submitted(submitted, submitted.decision, REPLAYED)
    if await _over_by_now(post_, submitted):
        with suppress(NotProvable):
            result = await _result(post_, submitted, REPLAYED)
            telemetry.REPLAYS.labels(result="replayed").inc()
            return result
    telemetry.REPLAYS.labels(result="inProgress").inc()
    answer = problems.answer(
        post_.request,
        IdempotencyInProgress(
            f"the case was taken under this key before, as debate {submitted.debate}, and is not over, or its end is "
            f"not provable yet; ask for {address(submitted.debate)}, or send it again later",
            debate=submitted.debate,
            retry_after=RETRY_AFTER_S,
        ),
    )
    answer.headers.update(post_.applied)
    return answer


async def _over_by_now(post_: _Post, submitted: Submitted) -> bool:
    """Whether a debate of an earlier request is over; whoever would wait does, also for what proves its end."""
    if post_.wait is None:
        return submitted.status not in ("queued", "running")
    return await _over(post_, submitted, post_.wait)


async def _result(post_: _Post, submitted: Submitted, told: dict[str, str] | None = None) -> Response[bytes]:
    result = await post_.site.reviews.result(submitted.debate, LOCAL)
    where = address(submitted.debate)
    return answered(result, headers={**post_.applied, "Location": where, "Content-Location": where, **(told or {})})


def _submitted(
    found: Submitted,
    decision: GateDecision,
    headers: dict[str, str] | None = None,
    stands: Literal["queued", "running"] = "queued",
) -> Response[bytes]:
    declined = found.status == "declined"
    status: Literal["queued", "running", "declined"] = "declined" if declined else stands
    links = Links.of(found.debate, declined=declined)
    submission = Submission(debate_id=found.debate, status=status, gate=report.gate(decision), links=links)
    told = {"Location": links.self_, **(headers or {})}
    if declined:
        return answered(submission, headers=told)
    return answered(submission, HTTPStatus.ACCEPTED, {**told, "Retry-After": str(RETRY_AFTER_S)})


async def _over(post_: _Post, submitted: Submitted, wait: int) -> bool:
    """Whether the debate was over in time. A service that stops keeps nobody waiting, nor is anybody waited for.

    Who goes away meanwhile has left the debate, which matters where its case says so.
    """
    if submitted.status == "declined":
        return True
    site, debate = post_.site, submitted.debate
    ends_with_listeners = post_.case.on_disconnect == "abort"
    over = asyncio.ensure_future(site.reviews.wait(debate, LOCAL, wait))
    closing = asyncio.ensure_future(site.closing.wait())
    gone = asyncio.ensure_future(_gone(post_.request))
    if ends_with_listeners:
        site.leaving.joined(debate)
    try:
        await asyncio.wait({over, closing, gone}, return_when=asyncio.FIRST_COMPLETED)
        return over.done() and over.result()
    finally:
        if ends_with_listeners:
            site.leaving.left(debate, of_itself=gone.done() and not over.done() and not closing.done())
        for task in (over, closing, gone):
            task.cancel()


async def _gone(request: HttpRequest) -> None:
    """Returns when the caller closes the connection; its body has come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
