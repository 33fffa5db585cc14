"""Whom this process trusts to say who a server is: the usual issuers of certificates, and the deployment's own.

    SSL_CERT_FILE    issuers in the place of the usual ones, for HTTP
    SSL_CERT_DIR     a folder with them, where there is no such file
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


def usual_issuers() -> ssl.SSLContext:
    """Trust in the usual issuers (certifi's), or in those that a variable names; reading them is slow.

    Raises `SettingsError` if there are none.
    """
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if file:
            return ssl.create_default_context(cafile=file)
        if folder:
            return ssl.create_default_context(capath=folder)
        import certifi

        return ssl.create_default_context(cafile=certifi.where())
    except OSError as error:
        raise SettingsError(
            "expected issuers' certificates in PEM in the file that SSL_CERT_FILE names, found none that can be read "
            f"({error.strerror or error}); correct the variable, or leave it out to trust the usual issuers"
        ) from None


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
