"""The caller that brought a batch, as it is stored, and as its cases are recorded for it."""

from __future__ import annotations

from typing import cast

from service.identity.caller import Caller, Kind, Via
from service.identity.roles import Role, Scope
from service.store.batches import Bringer


def bringer_of(caller: Caller, trace: str | None = None) -> Bringer:
    """A caller and its trace as a batch keeps them: all that a record of a case needs, and no secret."""
    return Bringer(
        tenant=caller.tenant,
        subject=caller.subject,
        role=caller.role,
        kind=caller.kind,
        via=caller.via,
        roles=caller.roles,
        scopes=None if caller.scopes is None else tuple(sorted(caller.scopes)),
        credential=caller.credential,
        trace=trace,
    )


def caller_of(by: Bringer) -> Caller:
    """The caller again."""
    return Caller(
        tenant=by.tenant,
        subject=by.subject,
        role=cast(Role, by.role),
        kind=cast(Kind, by.kind),
        via=cast(Via, by.via),
        roles=cast("tuple[Role, ...]", by.roles),
        scopes=None if by.scopes is None else frozenset(cast("tuple[Scope, ...]", by.scopes)),
        credential=by.credential,
    )
