"""The limits that a request meets before its endpoint runs: the pressure on the process, then its caller's rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from service.policy import RateClass
from service.web.app_state import AppState
from service.web.callers import caller
from service.web.middleware import RATE, route_of
from service.web.operation import Operation
from service.web.operations import OPERATIONS
from service.web.overload import Shed
from service.web.rate_limits import RateRefusal


class OperationLimits(NamedTuple):
    """The class of an operation among the rates, and among what an overloaded process refuses; ``None``: neither."""

    rate: RateClass | None
    shed: Shed | None


_SUBMIT, _CHECK = OperationLimits("submit", "submit"), OperationLimits("check", "check")
_READ, _EVIDENCE = OperationLimits("read", "read"), OperationLimits("evidence", "read")
FREE = OperationLimits(None, None)
LIMITS: Mapping[str, OperationLimits] = {
    **dict.fromkeys(("submitCase", "createChatCompletion", "createBatch", "registerEvaluation"), _SUBMIT),
    **dict.fromkeys(("decide", "quoteCase", "checkCitations"), _CHECK),
    **dict.fromkeys(
        (
            "listDebates",
            "readDebate",
            "followDebate",
            "listPrompts",
            "listModels",
            "readChatModel",
            "readPolicy",
            "readBudget",
            "listKeys",
            "listLogs",
            *("listWebhooks", "readWebhook", "listWebhookDeliveries"),
            *("listBatches", "readBatch"),
            *("listEvaluations", "listEvaluationSets", "readEvaluation", "followEvaluation"),
            *("readCaller", "listApiKeys", "readApiKey", "listSubjects", "readSubject", "listTenants", "listReviewers"),
        ),
        _READ,
    ),
    **dict.fromkeys(
        (
            *("batchResults", "readReport", "listDocuments", "readDocument", "readBundle", "exportRecords", "recall"),
            *("readEvaluationReport", "exportEvaluation"),
            *("readCheckpoint", "proveRecord", "proveConsistency", "readTile"),
        ),
        _EVIDENCE,
    ),
    **dict.fromkeys(("issueApiKey", "rotateApiKey", "createTenant", "assignReviewer", "removeReviewer"), _CHECK),
    **dict.fromkeys(("createWebhook", "rotateWebhook", "enableWebhook", "testWebhook", "redeliverWebhook"), _CHECK),
    **dict.fromkeys(("abortDebate", "revokeApiKey", "revokeSubject", "disableWebhook"), FREE),
    **dict.fromkeys(("abortBatch", "stopEvaluation"), FREE),
    **dict.fromkeys(("alive", "ready", "metrics"), FREE),
    **dict.fromkeys(("landing", "openapi", "openapi30", "listProblems", "readProblem", "docs", "docsFile"), FREE),
}
"""Every operation by its id; one without a row does not start."""


def _by_route() -> Mapping[tuple[str, str], OperationLimits]:
    if lacking := sorted({operation.id for operation in OPERATIONS} ^ LIMITS.keys()):
        raise RuntimeError(f"expected each operation once in LIMITS of service/web/limits.py; see {', '.join(lacking)}")
    return {(operation.method.upper(), operation.path): LIMITS[operation.id] for operation in OPERATIONS}


_BY_ROUTE = _by_route()


def problems_of(operation: Operation) -> tuple[int, ...]:
    """The statuses of an operation's problems, those of the limits among them."""
    limits = LIMITS[operation.id]
    also = ((408, operation.body), (429, limits.rate), (503, limits.shed))
    return tuple(sorted({*operation.refusals, *(status for status, applies in also if applies)}))


async def keep_limits(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Refuse a request beyond a limit: a guard of every endpoint, after authentication.

    Raises `Overloaded` and `RateLimited`.
    """
    site: AppState = connection.app.state.site
    route = str(connection.scope["method"]), route_of(connection.scope.get("path_template") or "")  # type: ignore[typeddict-item]
    limits = _BY_ROUTE.get(route, FREE)
    if limits.shed is not None:
        site.load.refuse_pressed(limits.shed)
    if limits.rate is None:
        return
    state = connection.scope["state"]
    try:
        state[RATE] = await site.rates.admit(caller(connection), limits.rate)
    except RateRefusal as refusal:
        state[RATE] = refusal.state
        raise
