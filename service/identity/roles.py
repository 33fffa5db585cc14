"""The roles of callers, and what each may do: the one table, which docs/roles.md shows.

Each operation of the API names the scope that it needs. What no row grants is refused. A role is of one tenant, but for
those in `SERVICE_WIDE`, which belong to none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Role = Literal["requester", "reviewer", "auditor", "validator", "operator", "scrape", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)
SERVICE_WIDE: frozenset[Role] = frozenset({"scrape", "administrator"})
"""Roles without a tenant."""
TENANT_ROLES: tuple[Role, ...] = tuple(role for role in ROLES if role not in SERVICE_WIDE)

Scope = Literal[
    "case.submit",
    "case.read",
    "case.abort",
    "case.assign",
    "evidence.read",
    "log.read",
    "catalogue.read",
    "labels.read",
    "evaluation.read",
    "evaluation.manage",
    "check",
    "identity.read",
    "identity.manage",
    "tenant.manage",
    "metrics.read",
    "webhook.read",
    "webhook.manage",
    "self.read",
]
SCOPES: tuple[Scope, ...] = get_args(Scope)

Reach = Literal["tenant", "own", "assigned"]
"""Whose cases a scope reaches: all of the tenant, those that the subject submitted, those that are assigned to it."""

EVERY_CALLER: Mapping[Scope, Reach] = {"self.read": "own"}
"""What every caller may do that the service knows, also one without a role."""
GRANTS: Mapping[Role, Mapping[Scope, Reach]] = {
    "requester": {
        "case.submit": "own",
        "case.read": "own",
        "case.abort": "own",
        "evidence.read": "own",
        "log.read": "tenant",
        "catalogue.read": "tenant",
        "check": "tenant",
        "webhook.read": "own",
        "webhook.manage": "own",
    },
    "reviewer": {
        "case.read": "assigned",
        "evidence.read": "assigned",
        "log.read": "tenant",
        "catalogue.read": "tenant",
    },
    "auditor": {
        "case.read": "tenant",
        "evidence.read": "tenant",
        "log.read": "tenant",
        "catalogue.read": "tenant",
        "evaluation.read": "tenant",
        "identity.read": "tenant",
        "webhook.read": "tenant",
    },
    "validator": {
        "labels.read": "tenant",
        "evaluation.read": "tenant",
        "evaluation.manage": "tenant",
        "log.read": "tenant",
        "catalogue.read": "tenant",
    },
    "operator": {
        "case.submit": "own",
        "case.read": "own",
        "case.abort": "tenant",
        "case.assign": "tenant",
        "log.read": "tenant",
        "catalogue.read": "tenant",
        "evaluation.read": "tenant",
        "evaluation.manage": "tenant",
        "check": "tenant",
        "identity.read": "tenant",
        "identity.manage": "tenant",
        "webhook.read": "tenant",
        "webhook.manage": "tenant",
    },
    "scrape": {"metrics.read": "tenant"},
    "administrator": {
        "identity.read": "tenant",
        "identity.manage": "tenant",
        "tenant.manage": "tenant",
        "metrics.read": "tenant",
    },
}
"""What each role may do, and how far. There is no other grant."""


def reach(roles: Iterable[Role], scope: Scope) -> frozenset[Reach]:
    """Whose cases these roles reach with a scope; empty where none of them has it."""
    found = {GRANTS[role][scope] for role in roles if scope in GRANTS[role]}
    found |= {EVERY_CALLER[scope]} if scope in EVERY_CALLER else set()
    return frozenset(found)


def holders(scope: Scope) -> tuple[Role, ...]:
    """The roles that have a scope, in the order of `ROLES`."""
    return tuple(role for role in ROLES if scope in GRANTS[role])


def acting(roles: Iterable[Role], scope: Scope) -> Role | None:
    """The role in which a caller of several acts: the first, in the order of `ROLES`, with the widest reach."""
    held = [role for role in ROLES if role in set(roles) and scope in GRANTS[role]]
    return min(held, key=lambda role: GRANTS[role][scope] != "tenant", default=None)
