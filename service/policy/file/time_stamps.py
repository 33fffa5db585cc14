"""The authority that stamps heads with the time: [audit.timestamps]."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

from service.policy import TimeStamps
from service.policy.faults import Path, WrongSetting


def checked_time_stamps(stamps: TimeStamps, path: Path) -> TimeStamps:
    """The table as it can be used; raises `WrongSetting` for an address or a certificate that cannot serve.

    A certificate that has expired is not refused: no log waits for a time stamp.
    """
    parts = urlsplit(stamps.url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.fragment or parts.username:
        raise WrongSetting(
            (*path, "url"), "expected the address that takes requests, such as https://stamps.example/tsr"
        )
    pem = stamps.certificate.strip()
    _check_certificate(pem, (*path, "certificate"))
    return replace(stamps, certificate=f"{pem}\n")


def _check_certificate(pem: str, path: Path) -> None:
    """Raise `WrongSetting` for what is not one certificate whose only purpose, a critical one, is time stamping."""
    from service.audit.timestamp import read_certificate  # most deployments have no authority
    from service.audit.timestamp_forms import BadTimeStamp

    try:
        read_certificate(pem)
    except BadTimeStamp as error:
        raise WrongSetting(path, error.detail) from None
