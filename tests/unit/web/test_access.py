"""The door of HTTP without a server: routes without an operation, what a refusal says, the role in which one acts."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Litestar, get
from litestar.connection import ASGIConnection

from service.debate.whose import WHOSE
from service.errors import Forbidden, IncompleteTable
from service.identity.authentication import LocalAuthenticator
from service.identity.caller import LOCAL, Caller
from service.identity.roles import Role
from service.web.access import Door, permitted, ways
from service.web.api import HANDLERS
from service.web.operations import OPERATIONS

BY_ID = {operation.id: operation for operation in OPERATIONS}


@get("/v1/back-door")
async def back_door() -> str:
    """A route that no one gave a scope."""
    return "everything"


def test_a_route_without_an_operation_does_not_start() -> None:
    with pytest.raises(IncompleteTable, match="GET /v1/back-door, found none"):
        ways((*HANDLERS, back_door), OPERATIONS)


def test_every_route_that_is_served_stands_for_its_operation() -> None:
    found = ways(HANDLERS, OPERATIONS)
    paths = {route.path_format for route in Litestar(list(HANDLERS), openapi_config=None).routes}

    assert {path for _, path in found} == paths, "as the framework names the template of a path"
    assert sorted(each.id for each in found.values()) == sorted(BY_ID)


async def test_a_request_works_for_the_tenant_of_its_caller() -> None:
    scope: Any = {"type": "http", "method": "POST", "path_template": "/v1/debates", "headers": [], "state": {}}

    await Door(LocalAuthenticator(), ways(HANDLERS, OPERATIONS)).admit(ASGIConnection(scope), back_door)

    assert WHOSE.get() == LOCAL.tenant


@pytest.mark.parametrize(
    ("operation", "roles", "scopes", "words"),
    [
        (
            "submitCase",
            ("auditor",),
            None,
            "the roles requester, operator have; this caller has auditor; ask the operator",
        ),
        ("metrics", ("operator",), None, "metrics.read, which the roles scrape, administrator have"),
        ("metrics", ("operator",), None, "ask an administrator for"),
        ("submitCase", (), None, "this caller has no role"),
        ("recall", ("requester",), None, "over all cases of the tenant, which the role auditor has"),
        ("submitCase", ("requester",), {"check"}, "and its credential leaves that scope out"),
    ],
)
def test_a_refusal_names_the_scope_and_who_has_it(
    operation: str, roles: tuple[Role, ...], scopes: set[str] | None, words: str
) -> None:
    given = Caller(roles=roles, scopes=None if scopes is None else frozenset(scopes))  # type: ignore[arg-type]

    with pytest.raises(Forbidden) as refused:
        permitted(given, BY_ID[operation])

    assert words in refused.value.detail
    assert refused.value.scope == BY_ID[operation].scope


def test_a_caller_of_several_roles_acts_in_the_one_that_the_operation_takes() -> None:
    caller = Caller(roles=("requester", "auditor"), role="requester")

    assert permitted(caller, BY_ID["submitCase"]).role == "requester"
    assert permitted(caller, BY_ID["readDebate"]).role == "auditor"
    assert permitted(caller, BY_ID["readDebate"]).actor.role == "auditor"
