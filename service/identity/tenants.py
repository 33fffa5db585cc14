"""Names of tenants."""

from __future__ import annotations

import re

from service.errors import BadRequest

SERVICE_TENANT = "gainsay"
"""The tenant of the service itself: callers of no other belong to it, and its log has what is done for no other."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)


def check_tenant(name: str) -> str:
    """The name of a tenant, as it was given; raises `BadRequest` for a text that is none.

    A name is a part of its log's name and of metrics' labels, so no case and no sign makes two names alike.
    """
    if not _NAME.fullmatch(name):
        raise BadRequest(
            "expected a tenant's name of 1 to 63 lower-case letters, digits and '-', which begins with a letter or "
            f"digit, found {name[:100]!r}"
        )
    return name
