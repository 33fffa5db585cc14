"""What the OpenAPI document says of access: credentials, roles with their scopes, and the scope of an operation."""

from __future__ import annotations

from collections.abc import Mapping

from service.identity.roles import GRANTS, ROLES, SERVICE_WIDE, Reach, holders
from service.web.operation import Operation, Schema

SECURITY_SCHEMES: Schema = {
    "apiKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "gainsay_...",
        "description": (
            "An API key of this service, which the operator of the tenant issues. It names a subject, its roles, and "
            "perhaps scopes that narrow them. A revoked or expired key is refused by every process within 5 seconds."
        ),
    },
    "oidc": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": (
            "An access token of an identity provider that the operator of the service has configured. The service "
            "checks signature, issuer, audience and times, and takes tenant and roles from its claims."
        ),
    },
}
"""The ways in which a caller says who it is. A proxy's header is no scheme of OpenAPI; `ACCESS` has it in words."""
_FAR: Mapping[Reach, str] = {"tenant": "", "own": " (own cases)", "assigned": " (assigned cases)"}


def credentials() -> list[Schema]:
    """The security requirement of a request: one of the credentials. Linters allow no scopes of such schemes here."""
    return [{name: []} for name in SECURITY_SCHEMES]


def needed(operation: Operation) -> str:
    """The sentence about what a caller needs; empty for a public operation."""
    if operation.scope == "public":
        return ""
    entitled = [role for role in holders(operation.scope) if not operation.whole or _far(role, operation) == "tenant"]
    named = f"roles {', '.join(entitled)}" if len(entitled) > 1 else "".join(f"role {role}" for role in entitled)
    over = " over all cases of the tenant" if operation.whole else ""
    return f"Needs the scope `{operation.scope}`{over} ({named or 'every known caller'})."


def _far(role: str, operation: Operation) -> str:
    return next((far for scope, far in GRANTS[role].items() if scope == operation.scope), "")  # type: ignore[index]


def _granted(role: str) -> str:
    granted: Mapping[str, Reach] = GRANTS[role]  # type: ignore[index,assignment]
    return ", ".join(f"`{scope}`{_FAR[far]}" for scope, far in granted.items())


ACCESS = (
    "**Access.** Send an API key of this service, or a token of the identity provider that its operator has "
    "configured, as `Authorization: Bearer`. A proxy whose address the operator has listed may name the caller in a "
    "header in its place. Without a good credential the answer is 401 `unauthenticated`; without the scope that "
    "an operation names, 403 `forbidden`. A case that is not within the caller's reach is answered with 404, as if it "
    "did not exist. An operation without a security requirement is open, and takes no notice of a credential. A "
    "service without identities answers its own machine alone: it demands a loopback Host and Origin, refuses other "
    "hosts with 421 `misdirected`, and its records say that the caller was not authenticated.\n\n"
    "Roles and their scopes, of one tenant unless it says otherwise:\n\n"
    + "\n".join(
        f"- `{role}`{', of the whole service' if role in SERVICE_WIDE else ''}: {_granted(role)}" for role in ROLES
    )
)
"""The paragraphs of the document about access."""
