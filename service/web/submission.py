"""POST /v1/debates: read a case, record it once, and answer as its caller prefers."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import Literal

from litestar import Response, post
from msgspec import Struct

from service import report, telemetry
from service.debate.entries import GateDecision
from service.errors import AuditUnavailable, IdempotencyInProgress, NotProvable, StoreUnavailable
from service.intake.request import CaseRequest
from service.report import View
from service.reviews import Submitted
from service.web import body, headers, problems
from service.web.app_state import AppState, HttpRequest, app_state
from service.web.callers import arrival, caller
from service.web.debates import READ_AS, RETRY_AFTER_S, answered, known_query, note, places, view
from service.web.middleware import DEBATE
from service.web.rate_limits import key_of
from service.web.types import Links, Submission, address
from service.web.waiting import ended_in_time

REPLAYED = {"Idempotency-Replayed": "true"}


class _Submission(Struct, frozen=True):
    """One request, its case, the seconds that its caller is ready to wait, and how much of a result it wants."""

    request: HttpRequest
    site: AppState
    case: CaseRequest
    wait: int | None
    view: View

    @property
    def applied(self) -> dict[str, str]:
        """The headers that report the wait."""
        return {} if self.wait is None else {"Preference-Applied": f"wait={self.wait}", "Vary": "Prefer"}


@post("/v1/debates")
async def submit(request: HttpRequest) -> Response[bytes]:
    """Record a case and let the gate decide."""
    site = app_state(request)
    known_query(request, ("view",))
    shown = view(request)
    key = headers.idempotency_key(request.headers.getall("idempotency-key", []))
    wait = headers.preferred_wait(request.headers.getall("prefer", []))
    async with places(request):
        if key is None:  # a case under a key may be recorded already
            await site.reviews.refuse_full(caller(request))
        case = await body.read(request, CaseRequest, site.body_max_of(caller(request).tenant))
        submitted = await site.reviews.record(case, caller(request), key, arrival(request))
    request.scope["state"][DEBATE] = submitted.debate
    await site.reviews.wait_provable(submitted, caller(request))
    most = site.rates.rates_of(caller(request)).listeners if wait is not None else None
    with site.listeners.waiting(key_of(caller(request)), most) as may_wait:
        post_ = _Submission(request, site, case, wait if may_wait else None, shown)
        if submitted.replayed or submitted.decision is None:
            return await _answer_repeated(post_, submitted)
        return await _answer_new(post_, submitted, submitted.decision)


async def _answer_new(post_: _Submission, submitted: Submitted, decision: GateDecision) -> Response[bytes]:
    """The answer to a new case."""
    if post_.wait is None:
        return _answer_accepted(submitted, decision)
    stands: Literal["queued", "running"] = "queued"
    # The case is recorded: an error would make the caller send it again.
    with suppress(StoreUnavailable, NotProvable, AuditUnavailable):
        if await _ended_in_time(post_, submitted, post_.wait):
            return await _answer_result(post_, submitted)
        stands = await post_.site.reviews.state_of(submitted.debate, caller(post_.request))
    return _answer_accepted(submitted, decision, post_.applied, stands)


async def _answer_repeated(post_: _Submission, submitted: Submitted) -> Response[bytes]:
    """The answer to a case already recorded under its key: the present answer to the first request."""
    if submitted.decision is not None and post_.wait is None:
        telemetry.REPLAYS.labels(result="replayed").inc()
        return _answer_accepted(submitted, submitted.decision, REPLAYED)
    if await _has_ended(post_, submitted):
        with suppress(NotProvable):
            result = await _answer_result(post_, submitted, REPLAYED)
            telemetry.REPLAYS.labels(result="replayed").inc()
            return result
    telemetry.REPLAYS.labels(result="inProgress").inc()
    answer = problems.answer(
        post_.request,
        IdempotencyInProgress(
            f"this case was already recorded under this key as debate {submitted.debate}, which has not ended or whose "
            f"end is not provable yet; read {address(submitted.debate)}, or send the case again later",
            debate=submitted.debate,
            retry_after=RETRY_AFTER_S,
        ),
    )
    answer.headers.update(post_.applied)
    return answer


async def _has_ended(post_: _Submission, submitted: Submitted) -> bool:
    """Whether the debate of an earlier request has ended; with a wait, also whether its end is provable in time."""
    if post_.wait is None:
        return submitted.status not in ("queued", "running")
    return await _ended_in_time(post_, submitted, post_.wait)


async def _answer_result(
    post_: _Submission, submitted: Submitted, header_fields: dict[str, str] | None = None
) -> Response[bytes]:
    reviews = post_.site.reviews
    read = reviews.summary if post_.view == "summary" else reviews.result
    result = await read(submitted.debate, caller(post_.request))
    note(post_.request, READ_AS[post_.view], submitted.debate)
    where = address(submitted.debate)
    content = where if post_.view == "summary" else f"{where}?view=full"
    return answered(
        result,
        headers={**post_.applied, "Location": where, "Content-Location": content, **(header_fields or {})},
    )


def _answer_accepted(
    found: Submitted,
    decision: GateDecision,
    headers: dict[str, str] | None = None,
    stands: Literal["queued", "running"] = "queued",
) -> Response[bytes]:
    declined = found.status == "declined"
    status: Literal["queued", "running", "declined"] = "declined" if declined else stands
    links = Links.of(found.debate, declined=declined)
    submission = Submission(debate_id=found.debate, status=status, gate=report.build_gate(decision), links=links)
    given = {"Location": links.self_, **(headers or {})}
    if declined:
        return answered(submission, headers=given)
    return answered(submission, HTTPStatus.ACCEPTED, {**given, "Retry-After": str(RETRY_AFTER_S)})


async def _ended_in_time(post_: _Submission, submitted: Submitted, wait: int) -> bool:
    """Whether the debate ended in time; ``onDisconnect`` of the case says whether a caller that leaves matters."""
    if submitted.status == "declined":
        return True
    leaving = post_.case.on_disconnect == "abort"
    return await ended_in_time(post_.request, post_.site, submitted.debate, wait, leaving=leaving)
