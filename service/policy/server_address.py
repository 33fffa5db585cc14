"""The address of a service, as a setting or an option names it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from service.errors import SettingsError
from service.policy.file.providers import is_private


def server_address(name: str, text: str) -> str:
    """The address of a service; raises `SettingsError` for another text, and for one that would send cases in clear."""
    if "@" in text:  # never said: it may hold a password
        raise SettingsError(f"{name} must be an address without a user and a password, found one with them")
    parts = _address_parts(text)
    if parts is None or parts.hostname is None:
        raise SettingsError(f"{name} must be an address such as https://gainsay.example, found {text[:200]!r}")
    if parts.scheme == "http" and not is_private(parts.hostname):
        raise SettingsError(
            f"{name} must begin with https://, found http:// to {parts.hostname!r}: whole cases would cross a network "
            "in clear; http is for loopback and private addresses, names without a dot, and names under localhost, "
            "local, internal, svc"
        )
    return text.rstrip("/")


def _address_parts(text: str) -> SplitResult | None:
    """The parts of an address with a scheme of HTTP, or ``None`` for any other text."""
    try:
        parts = urlsplit(text)
        rest = parts.query or parts.fragment or parts.port == 0
    except ValueError:
        return None
    return None if rest or parts.scheme not in ("https", "http") or not re.fullmatch(r"[!-~]+", text) else parts
