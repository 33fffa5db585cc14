"""Who may change who belongs to the service: one rule for each change, without any database.

1  A caller issues no role that it does not hold, in no other tenant than its own, and with no scope that its own
   credential leaves out. So a key cannot be made into a stronger one.
2  An operator issues, replaces and revokes the keys of its tenant, and revokes its subjects. An auditor sees them.
3  An administrator creates tenants, and issues the service's own roles. In a tenant it issues a first operator, while
   the tenant has no valid key of one. It revokes none there, or it could make itself a tenant's operator.
4  The keyboard of the machine, and a caller of a service without identities, act as an administrator. They also revoke
   in any tenant: a stolen key can be stopped while its operators are away, by those who hold the database's login.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from service.errors import Forbidden, GainsayError
from service.identity.caller import Caller
from service.identity.roles import GRANTS, ROLES, SCOPES, SERVICE_WIDE, TENANT_ROLES, Role, Scope

NAME_MAX = 200
KINDS = ("person", "service")
OVERLAP_DAYS = 7
"""How long a replaced key stays valid beside the new one, unless another time is given."""


class InvalidIdentity(GainsayError):
    """What is asked for of the registers is no key, tenant or subject that they could have."""

    code = "invalid_identity"
    status = 422
    title = "The registers cannot have what is asked for"


class IdentityConflict(GainsayError):
    """The registers are in a state that does not admit the change; nothing was changed."""

    code = "identity_conflict"
    status = 409
    title = "The registers do not admit the change"


class WantedKey(Struct, frozen=True):
    """A key that is asked for, and the subject that it is made for.

    ``tenant`` is ``None`` for one of the whole service. ``scopes`` narrows what the roles grant; ``None``: not at all.
    It expires after ``days``.
    """

    tenant: str | None
    roles: tuple[str, ...]
    name: str
    days: int
    kind: str = "service"
    scopes: tuple[str, ...] | None = None


def check_wanted(wanted: WantedKey, most_days: int) -> tuple[tuple[Role, ...], tuple[Scope, ...] | None]:
    """The roles and scopes of a key that is asked for, each once; raises `InvalidIdentity` for what no key can be."""
    roles = _known(wanted.roles, ROLES, "role")
    if not roles:
        raise InvalidIdentity("expected a role at least, found none", pointers=("/roles",))
    wide = set(roles) & SERVICE_WIDE
    if wanted.tenant is None and wide != set(roles):
        raise InvalidIdentity(
            f"expected the roles {', '.join(sorted(SERVICE_WIDE))} alone for a key without a tenant, found "
            f"{', '.join(role for role in roles if role not in wide)}; name the tenant of the key",
            pointers=("/roles",),
        )
    if wanted.tenant is not None and wide:
        raise InvalidIdentity(
            f"expected roles of a tenant, found {', '.join(sorted(wide))}, which belong to none; leave the tenant out",
            pointers=("/roles",),
        )
    if wanted.kind not in KINDS:
        raise InvalidIdentity(f"expected {' or '.join(KINDS)}, found {wanted.kind[:40]!r}", pointers=("/kind",))
    if not 1 <= len(wanted.name) <= NAME_MAX or not wanted.name.isprintable() or wanted.name != wanted.name.strip():
        raise InvalidIdentity(
            f"expected a name of 1 to {NAME_MAX} printable characters, without a space at its ends, found another text",
            pointers=("/name",),
        )
    check_days(wanted.days, 1, most_days, "/days")
    return roles, _scopes(wanted.scopes, roles)


def check_days(days: int, least: int, most: int, pointer: str) -> None:
    """Raise `InvalidIdentity` for a number of days that is out of bounds."""
    if not least <= days <= most:
        raise InvalidIdentity(f"expected {least} to {most} days, found {days}", pointers=(pointer,))


def _scopes(wanted: Sequence[str] | None, roles: Sequence[Role]) -> tuple[Scope, ...] | None:
    if wanted is None:
        return None
    scopes = _known(wanted, SCOPES, "scope")
    granted = {scope for role in roles for scope in GRANTS[role]}
    if not scopes or (empty := [scope for scope in scopes if scope not in granted]):
        found = ", ".join(empty) if scopes else "none"
        raise InvalidIdentity(
            f"expected some of the scopes that {', '.join(roles)} grants ({', '.join(sorted(granted))}), found {found}",
            pointers=("/scopes",),
        )
    return scopes


def _known(given: Sequence[str], known: Sequence[Role] | Sequence[Scope], what: str) -> tuple:  # type: ignore[type-arg]
    """The given names in the order of the closed list, each once."""
    if odd := [name for name in given if name not in known]:
        raise InvalidIdentity(
            f"expected a {what} of {', '.join(known)}, found {', '.join(name[:40] for name in odd[:5])!r}",
            pointers=(f"/{what}s",),
        )
    return tuple(name for name in known if name in given)


def at_the_keyboard(caller: Caller) -> bool:
    """Whether a caller is the keyboard of this machine, or one of a service without identities."""
    return caller.via in ("keyboard", "none")


def administers(caller: Caller) -> bool:
    """Whether a caller acts as an administrator."""
    return at_the_keyboard(caller) or ("administrator" in caller.roles and caller.may("tenant.manage"))


def operates(caller: Caller, tenant: str | None) -> bool:
    """Whether a caller acts as an operator of a tenant."""
    own = not at_the_keyboard(caller) and tenant is not None and caller.tenant == tenant
    return own and "operator" in caller.roles and caller.may("identity.manage")


def expect_administrator(caller: Caller, what: str) -> None:
    """Raise `Forbidden` for a caller that is no administrator."""
    if not administers(caller):
        raise Forbidden(f"an administrator {what}, and this caller is none; ask one", scope="tenant.manage")


def expect_issuer(caller: Caller, tenant: str | None, roles: Sequence[Role], scopes: Sequence[Scope] | None) -> bool:
    """Whether the key has to be that of the tenant's first operator; raises `Forbidden` for who may not issue it."""
    if tenant is None:
        expect_administrator(caller, "issues the roles of the whole service")
        _expect_within(caller, scopes)
        return False
    if operates(caller, tenant):
        if more := [role for role in roles if role not in caller.roles]:
            raise Forbidden(
                f"a caller issues no role that it does not hold, and this one lacks {', '.join(more)}; ask an operator "
                "who holds it",
                scope="identity.manage",
            )
        _expect_within(caller, scopes)
        return False
    if administers(caller) and "operator" in roles:
        return True
    raise Forbidden(
        "an operator issues the keys of its own tenant, and an administrator those of a first operator alone; ask an "
        "operator of that tenant",
        scope="identity.manage",
    )


def _expect_within(caller: Caller, scopes: Sequence[Scope] | None) -> None:
    """Raise `Forbidden` for a key that would not leave out what the caller's own credential does."""
    if caller.scopes is not None and (scopes is None or not set(scopes) <= caller.scopes):
        raise Forbidden(
            "a caller issues no scope that its own key leaves out; name scopes, and of its own alone: "
            + ", ".join(sorted(caller.scopes)),
            scope="identity.manage",
        )


def belongs_to_the_service(caller: Caller) -> bool:
    """Whether a caller has a role of the whole service, so that its registers are those without a tenant."""
    return not at_the_keyboard(caller) and bool(SERVICE_WIDE & set(caller.roles))


def expect_reader(caller: Caller, tenant: str | None) -> None:
    """Raise `Forbidden` for a caller that may not see the registers of a tenant, or of what has none (``None``)."""
    wide = ("administrator",) if tenant is None else ()
    roles = TENANT_ROLES if tenant is not None and caller.tenant == tenant else wide
    granted = any("identity.read" in GRANTS[role] for role in roles if role in caller.roles)
    if at_the_keyboard(caller) or (granted and caller.may("identity.read")):
        return
    raise Forbidden(
        "an operator and an auditor see the keys and subjects of their own tenant, and an administrator those without "
        "a tenant; ask one of them",
        scope="identity.read",
    )


def expect_manager(caller: Caller, tenant: str | None) -> None:
    """Raise `Forbidden` for a caller that may not revoke in the registers of a tenant."""
    if at_the_keyboard(caller) or operates(caller, tenant) or (tenant is None and administers(caller)):
        return
    raise Forbidden(
        "an operator revokes the keys and subjects of its own tenant, and an administrator those without a tenant; ask "
        "one of them",
        scope="identity.manage" if tenant else "tenant.manage",
    )
