"""The door of HTTP: who is let in to which operation. Every request passes it before its body is read.

1. The operation is found by the route. A route without one is refused, and an application that has one does not start.
2. A public operation is open: it shows nothing of a tenant. A credential that comes with it is not looked at.
   /metrics is open too for who shows its token (`service.web.metrics_door`).
3. The authenticator says who calls, or refuses the request with 401.
4. The table of roles says whether the caller has the operation's scope, or the request is refused with 403.
5. The limits of the process and of the caller's rate are kept (`service.web.limits`).
6. Where the path names a debate, the caller must reach it. Otherwise the answer is 404, as for one that does not exist.

A service without identities lets every request in as `LOCAL`: `service.web.loopback` is its door.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.types import Scope as Connection
from msgspec.structs import replace

from service.debate.whose import WHOSE
from service.errors import Forbidden, IncompleteTable
from service.identity.authentication import Authenticator, Presented
from service.identity.caller import LOCAL, Caller
from service.identity.roles import ROLES, SERVICE_WIDE, Role, Scope, acting, holders, reach
from service.web.loopback import peer_of
from service.web.metrics_door import PATH, MetricsDoor
from service.web.middleware import CALLER, route_of
from service.web.operation import Operation

Reached = Callable[[str, Caller, Scope], Awaitable[None]]
"""Raises `NotFound` for a debate, as its path names it, that a caller does not reach with a scope."""
Way = tuple[str, str]
"""A method, and the template of a path."""


async def _reaches_all(_debate: str, _caller: Caller, _scope: Scope) -> None:
    """For an application that serves no debates."""


class Door:
    """The guards of an application's routes."""

    def __init__(
        self,
        authenticator: Authenticator,
        ways: Mapping[Way, Operation],
        reached: Reached = _reaches_all,
        *,
        metrics: MetricsDoor = MetricsDoor(),  # noqa: B008 - it has no state
    ) -> None:
        self._authenticator = authenticator
        self._ways = ways
        self._reached = reached
        self._metrics = metrics

    async def admit(self, connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        """Let a request in, with its caller in its state; raises `Unauthenticated` and `Forbidden`."""
        request = connection.scope
        method: str = request["method"]  # type: ignore[typeddict-item] # only HTTP comes here
        if method == "OPTIONS":  # says the methods of a path, which /openapi.json says too
            return
        operation = self._ways.get((method, request["path_template"]))
        if operation is None:
            raise Forbidden("no operation stands for this route, so no caller is let in")
        if operation.scope == "public" or (operation.path == PATH and self._metrics.opens(request["headers"])):
            return
        if not self._authenticator.configured:
            found = LOCAL
        else:
            found = permitted(await self._authenticator.identify(presented(request)), operation)
        request["state"][CALLER] = found
        WHOSE.set(found.tenant)  # of this request, and of its threads

    async def expect_reach(self, connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        """Raise `NotFound` where the path names a debate that the caller does not reach.

        This asks the database, so the caller's rate is counted first: a search for others' cases has one too.
        """
        request = connection.scope
        debate = request["path_params"].get("debate")
        if debate is None or CALLER not in request["state"] or not self._authenticator.configured:
            return
        operation = self._ways[request["method"], request["path_template"]]  # type: ignore[typeddict-item]
        if operation.scope != "public":
            await self._reached(str(debate), request["state"][CALLER], operation.scope)


def ways(handlers: Iterable[HTTPRouteHandler], operations: Iterable[Operation]) -> dict[Way, Operation]:
    """The operation of each route; raises `IncompleteTable` for a route that has none."""
    known = {(operation.method.upper(), operation.path): operation for operation in operations}
    found: dict[Way, Operation] = {}
    for handler in handlers:
        for path in handler.paths:
            for method in map(str, handler.http_methods):
                if (operation := known.get((method, route_of(path)))) is None:
                    raise IncompleteTable(
                        f"expected an operation in service/web/operations.py for {method} {route_of(path)}, found "
                        "none; a route without one has no scope, so no caller could be let in"
                    )
                found[method, route_of(path)] = operation
    return found


def presented(request: Connection) -> Presented:
    """What a request presents about who sent it."""
    given = tuple(request["headers"])
    return Presented(
        authorization=tuple(value for name, value in given if name == b"authorization"),
        headers=given,
        peer=peer_of(request),
    )


def permitted(caller: Caller, operation: Operation) -> Caller:
    """The caller in the role in which it acts; raises `Forbidden`, which names the scope and never content."""
    if (scope := operation.scope) == "public":
        return caller
    if not (far := caller.reach(scope)) or (operation.whole and "tenant" not in far):
        raise _forbidden(caller, operation, scope)
    role = _acting(caller.roles, scope)
    return caller if role is None or role == caller.role else replace(caller, role=role)


def expect_whole(caller: Caller, scope: Scope, what: str) -> None:
    """Raise `Forbidden` unless a caller has a scope over all cases of its tenant, as a part of an operation needs."""
    if "tenant" not in caller.reach(scope):
        raise Forbidden(
            f"{what} need the scope {scope} over all cases of the tenant, which this caller does not have; ask the "
            "operator of the tenant for a credential of an auditor",
            scope=scope,
        )


@cache
def _acting(roles: tuple[Role, ...], scope: Scope) -> Role | None:
    return acting(roles, scope)


def _forbidden(caller: Caller, operation: Operation, scope: Scope) -> Forbidden:
    entitled = [role for role in holders(scope) if not operation.whole or "tenant" in reach([role], scope)]
    over = " over all cases of the tenant" if operation.whole else ""
    held = [role for role in ROLES if role in caller.roles]
    narrowed = caller.scopes is not None and scope not in caller.scopes and reach(caller.roles, scope)
    left_out = ", and its credential leaves that scope out" if narrowed else ""
    return Forbidden(
        f"{operation.id} needs the scope {scope}{over}, which {_named(entitled)}; this caller has "
        f"{', '.join(held) or 'no role'}{left_out}; ask {_issuer(entitled)} for a credential with such a role",
        scope=scope,
    )


def _named(roles: list[Role]) -> str:
    return f"the roles {', '.join(roles)} have" if len(roles) > 1 else f"the role {roles[0]} has"


def _issuer(roles: list[Role]) -> str:
    return "an administrator" if set(roles) <= SERVICE_WIDE else "the operator of the tenant"
