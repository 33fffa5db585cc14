"""The authority that stamps heads with the time: [audit.timestamps]."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

from service.policy import TimeStamps
from service.policy.keys import Path, WrongSetting

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


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
    """Raise `WrongSetting` for what is not one certificate whose only purpose, a critical one, is time stamping.

    What stands there is never quoted: it may be a key that was put in the wrong place.
    """
    from cryptography import x509  # most deployments have no authority
    from cryptography.x509.oid import ExtendedKeyUsageOID

    if not (pem.startswith(BEGIN) and pem.endswith(END) and pem.count("-----BEGIN") == 1):
        raise WrongSetting(
            path, f"expected the authority's own certificate alone, from {BEGIN} to {END}: no chain, no root, no key"
        )
    try:
        extensions = x509.load_pem_x509_certificate(pem.encode()).extensions
    except (ValueError, x509.DuplicateExtension) as error:
        raise WrongSetting(
            path, f"expected a certificate in PEM, which this is not ({type(error).__name__}); copy it again"
        ) from None
    try:
        purposes = extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    except x509.ExtensionNotFound:
        purposes = None
    only = [ExtendedKeyUsageOID.TIME_STAMPING]
    if purposes is None or not purposes.critical or list(purposes.value) != only:
        raise WrongSetting(
            path,
            "expected a certificate for time stamps, whose only purpose is timeStamping, marked critical (RFC 3161, "
            "2.3), found another; take the certificate that signs the tokens, not that of its issuer",
        )
