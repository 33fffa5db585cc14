"""The claims of a verified token: who that is, of which tenant, in which roles, and until when.

In this order a token is refused where (401 `Unauthenticated`, unless it says otherwise)

     1. ``iss`` is not the configured issuer, to the letter
     2. ``aud`` does not contain this service
     3. it is an ID token, a refresh token or a logout token: see below
     4. ``exp`` or ``iat`` is missing, or a time is no number
     5. it has expired, is not yet good (``nbf``), or was issued in the future, each by more than the skew
     6. it lives longer than a token may, from ``iat`` to ``exp``
     7. ``sub`` is missing, or is no name that can be kept
     8. none of its values is a role (403); an unknown value beside a role is passed over
     9. it has roles of the whole service that the section does not let its provider give, and no other (403)
    10. it has roles of the whole service and of a tenant (403): an administrator reads no content
    11. its roles are of a tenant, and it names none (403); one of the whole service belongs to `SERVICE_TENANT`

An ID token is a statement to a client, that a person has logged in there. Clients keep and show it in ways that are
not made for credentials, and its audience is that client. Some providers give it the same ``typ`` as access tokens, so
it is known by claims that access tokens do not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from service.errors import BadRequest, Forbidden
from service.identity.provider_settings import OidcSetting
from service.identity.roles import ROLES, SERVICE_WIDE, Role
from service.identity.tenants import SERVICE_TENANT, check_tenant
from service.identity.tokens import refused

NAME_MAX = 256
"""Characters of a subject's name at its source. OpenID Connect allows 255."""
LATEST = 1 << 53
"""Seconds since 1970 that a time may say; a double is exact up to here."""
_ID_TOKEN = ("at_hash", "c_hash", "s_hash")
_ACCESS = ("Bearer", "DPoP")
"""What Keycloak writes in the claim ``typ`` of an access token."""


class Claimed(Struct, frozen=True):
    """Who a statement says that its subject is.

    ``external`` is the subject's name at its source. ``until`` is when the statement ends, in seconds since 1970.
    """

    tenant: str
    external: str
    roles: tuple[Role, ...]
    until: float | None = None


def read_claims(claims: Mapping[str, Any], header_type: str, setting: OidcSetting, now: float) -> Claimed:
    """What the claims of a verified token say; raises `Unauthenticated` or `Forbidden`, by the table above.

    ``header_type`` is the header's, in lower case; ``now`` is in seconds since 1970.
    """
    if claims.get("iss") != setting.issuer:
        raise refused(f"expected iss {setting.issuer}, found another")
    audience = claims.get("aud")
    if setting.audience not in (audience if isinstance(audience, list) else [audience]):
        raise refused(f"expected aud to contain {setting.audience}, found others; ask the provider for that audience")
    _expect_access_token(claims, header_type)
    until = _expect_now(claims, setting, now)
    external = claims.get("sub")
    if not isinstance(external, str) or not is_name(external):
        raise refused(f"expected a subject (sub) of 1 to {NAME_MAX} characters that can be shown, found none")
    roles = admitted(_roles(_claim(claims, setting.role_claim), setting), service_roles=setting.service_roles)
    named = setting.tenant or _claim(claims, setting.tenant_claim or ())
    return Claimed(tenant_of(roles, named, f"the claim {'.'.join(setting.tenant_claim or ())}"), external, roles, until)


def is_name(text: str) -> bool:
    """Whether a subject's name at its source can be kept and shown."""
    return 0 < len(text) <= NAME_MAX and text.isprintable() and text == text.strip()


def admitted(roles: Iterable[Role], *, service_roles: bool) -> tuple[Role, ...]:
    """The roles that a source may give, in the order of `ROLES`; raises `Forbidden` where none remains, or two kinds.

    ``service_roles`` is whether it may give those of the whole service.
    """
    given = set(roles)
    kept = tuple(role for role in ROLES if role in given and (service_roles or role not in SERVICE_WIDE))
    if not kept:
        wide = sorted(given & SERVICE_WIDE)
        why = f"it gives {wide[0]}, which needs service_roles = true" if wide else "it gives no role that is known"
        raise Forbidden(f"the caller is known, and has no role here: {why}; the roles are {', '.join(ROLES)}")
    if len({role in SERVICE_WIDE for role in kept}) > 1:
        raise Forbidden(
            f"expected roles of a tenant or of the whole service, found both ({', '.join(kept)}); who administers the "
            "service reads no content, so take a subject of its own for that"
        )
    return kept


def tenant_of(roles: Iterable[Role], named: Any, place: str) -> str:
    """The tenant of a subject with these roles; raises `Forbidden` where its source does not name one.

    ``place`` is where the source names it, in words.
    """
    if SERVICE_WIDE & set(roles):
        return SERVICE_TENANT
    try:
        tenant = check_tenant(named) if isinstance(named, str) else SERVICE_TENANT
    except BadRequest:
        tenant = SERVICE_TENANT
    if tenant == SERVICE_TENANT:  # no source of subjects may name it: its log is the service's own
        raise Forbidden(f"the caller is known, and belongs to no tenant: expected the name of one in {place}")
    return tenant


def _expect_access_token(claims: Mapping[str, Any], header_type: str) -> None:
    named = claims.get("typ")
    declared = header_type == "at+jwt" or named in _ACCESS
    other = named is not None and named not in _ACCESS  # Keycloak: ID, Refresh, Offline, Logout
    other = other or claims.get("token_use", "access") != "access" or "events" in claims
    if other or any(name in claims for name in _ID_TOKEN) or ("nonce" in claims and not declared):
        raise refused("expected an access token, found an ID token or another kind; send the access token")


def _expect_now(claims: Mapping[str, Any], setting: OidcSetting, now: float) -> float:
    """When the token ends, with the skew; raises `Unauthenticated` for one that is not good now."""
    ends, issued = _time(claims, "exp"), _time(claims, "iat")
    starts = _time(claims, "nbf") if "nbf" in claims else issued
    skew = setting.skew_s
    if now >= ends + skew:
        raise refused("it has expired; get a new one")
    if now < starts - skew or now < issued - skew:
        raise refused(f"it is not good yet (nbf, iat); the clocks may differ by {skew} s")
    if ends - issued > setting.longest_s:
        raise refused(f"it lives longer than {setting.longest_s} s, from iat to exp; ask the provider for shorter ones")
    return ends + skew


def _time(claims: Mapping[str, Any], name: str) -> float:
    """A NumericDate (RFC 7519, 2)."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refused(f"expected a time in {name}, in seconds since 1970, found none")
    if not 0 <= value <= LATEST:
        raise refused(f"expected a time in {name}, in seconds since 1970, found another number")
    return float(value)


def _claim(claims: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The claim to which names lead, or ``None``."""
    found: Any = claims
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _roles(value: Any, setting: OidcSetting) -> Iterable[Role]:
    """The roles that the values of the claim stand for; what is none of them is passed over."""
    values = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    known: Mapping[str, tuple[Role, ...]] = (
        {role: (role,) for role in ROLES} if setting.roles is None else setting.roles
    )
    return [role for name in values if isinstance(name, str) for role in known.get(name, ())]
