"""Whom this process trusts to say who a server is: the usual issuers of certificates, and the deployment's own.

    SSL_CERT_FILE    issuers in the place of the usual ones, for HTTP (httpx reads it)
    GAINSAY_CA_FILE  the deployment's own issuers in PEM: beside those for HTTP; for PostgreSQL, whose certificates are
                     seldom of a usual issuer, in their place

They are variables of the process and not of the policy: what an operator's network looks like is no part of what a
debate is.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from service.errors import SettingsError

CA_FILE = "GAINSAY_CA_FILE"


def own_issuers() -> str | None:
    """The file with the deployment's own issuers, if it has one."""
    return os.environ.get(CA_FILE)


def trust_own(context: ssl.SSLContext) -> ssl.SSLContext:
    """Let a context trust the deployment's own issuers too; raises `SettingsError` if their file has none."""
    path = own_issuers()
    if path is not None:
        check_issuers(CA_FILE, path)
        context.load_verify_locations(cafile=path)
    return context


def check_issuers(name: str, path: str) -> Path:
    """The file, if it has a certificate; raises `SettingsError`, which names the variable."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(
            f"expected issuers' certificates in PEM in the file that {name} names, found none that can be read ({why})"
        ) from None
    return Path(path)
