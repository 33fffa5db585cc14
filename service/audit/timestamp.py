"""Time stamps of an authority (RFC 3161 with RFC 5816), each in one normal form.

A token is CMS signed data (RFC 5652) around a `TSTInfo`. Its signature covers the `TSTInfo` and the signed attributes
and nothing else, so what stands around them could be written in many ways. Here it is written in one: version 3, the
digest without parameters, the certificate of the signer alone, named by issuer and serial number, no revocation
lists, no unsigned attribute; of the two signatures that ECDSA has for each, that with the smaller s. `open_time_stamp`
writes a token again from what is signed and compares the bytes.

What is stamped is the text of a head's signed note, by its SHA-256. A token names its own authority, which is no pin: a
verifier compares `TimeStamp.authority` with a certificate that the examiner gave.
"""

from __future__ import annotations

import math
from datetime import UTC
from hashlib import sha256
from typing import Final, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID
from msgspec import Struct

from service.audit.timestamp_forms import (
    CONTENT_TYPE,
    DIGESTS,
    MESSAGE_DIGEST,
    SHA256,
    SIGNING_CERTIFICATE,
    TST_INFO,
    Accuracy,
    BadTimeStamp,
    Imprint,
    Info,
    Oid,
    Request,
    Response,
    SignedData,
    Signer,
    SigningCertificate,
    digest_of,
    imprint_of,
    key_of,
    normal,
    one_signer,
    read_token,
    reading,
    signed_attributes,
    signed_data,
)

E = TypeVar("E", bound=x509.ExtensionType)
TOKEN_MAX: Final = 65_536
"""The most bytes of a token; those of authorities have 1,000 to 8,000."""
ACCURACY_MAX_S: Final = 3_600
SHOWN_MAX: Final = 80
BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
PRINTABLE: Final = range(0x20, 0x7F)


class TimeStamp(Struct, frozen=True):
    """What a verified token says: the time in whole seconds since 1970, and how far off it may be, in seconds.

    ``authority`` is the SHA-256 of the signer's certificate (DER), ``name`` its subject in printable ASCII. An
    authority that states no accuracy has 0 here, and one more where the time has a fraction.
    """

    seconds: int
    accuracy_s: int
    authority: bytes
    name: str


def read_certificate(pem: str) -> x509.Certificate:
    """The certificate of an authority in PEM, for time stamps alone; raises `BadTimeStamp`.

    What stands there is never quoted: it may be a key that was put in the wrong place.
    """
    pem = pem.strip()
    if not (pem.startswith(BEGIN) and pem.endswith(END) and pem.count("-----BEGIN") == 1):
        raise BadTimeStamp(
            f"expected the authority's own certificate alone, from {BEGIN} to {END}: no chain, no root, no key"
        )
    try:
        found = x509.load_pem_x509_certificate(pem.encode())
    except (ValueError, x509.InvalidVersion) as error:
        raise BadTimeStamp(
            f"expected a certificate in PEM, which this is not ({type(error).__name__}); copy it again"
        ) from None
    _expect_purpose(found)
    key_of(found)
    return found


def request(text: str, nonce: int) -> bytes:
    """A request for a time stamp of a text, by its SHA-256, with the certificate in the answer (RFC 3161, 2.4.1)."""
    return asn1.encode_der(Request(version=1, imprint=imprint_of(text), nonce=nonce, certificate=True))


def accept(answer: bytes, text: str, nonce: int, certificate: x509.Certificate) -> bytes:
    """The token of an authority's answer, in its normal form and verified.

    Raises `BadTimeStamp` for a refusal, another nonce, another text, another signer than ``certificate``, and whatever
    `open_time_stamp` refuses.
    """
    with reading("an answer of an authority for time stamps"):
        found = asn1.decode_der(Response, answer)
        if found.status.status not in (0, 1) or found.token is None:
            words = _printable(" ".join(found.status.words or []))
            raise BadTimeStamp(f"the authority gives none: status {found.status.status}, {words or 'without a reason'}")
        signed = signed_data(found.token)
        token, said = normal(signed, certificate), _content(signed).nonce
    open_time_stamp(token, text)
    if said != nonce:
        raise BadTimeStamp(f"expected the nonce of the request, found {'another' if said is not None else 'none'}")
    return token


def open_time_stamp(token: bytes, text: str) -> TimeStamp:
    """What a token says of a text, with everything in it verified but that its authority is trusted.

    Raises `BadTimeStamp` for another text, for a signature, certificate, attribute or time that is not valid, and for
    any byte that is not in the normal form.
    """
    if len(token) > TOKEN_MAX:
        raise BadTimeStamp(f"expected a time stamp of at most {TOKEN_MAX} bytes, found {len(token)}")
    with reading("a time stamp in DER"):
        signed = read_token(token)
        certificate = _own_certificate(signed)
        if normal(signed, certificate) != token:
            raise BadTimeStamp("expected a time stamp in its normal form, found another writing of it")
        _expect_purpose(certificate)
        _expect_signed(signed, certificate)
        info = _content(signed)
        if info.version != 1 or not _is_of(info.imprint, text):
            raise BadTimeStamp("expected a time stamp of this text by its SHA-256, found one of something else")
        if any(each.critical for each in info.extensions or []):
            raise BadTimeStamp("expected no critical extension in a time stamp, found one that is not known")
        return _said(info, certificate)


# Reading it.


def _content(signed: SignedData) -> Info:
    return asn1.decode_der(Info, signed.encapsulated.content)


def _own_certificate(signed: SignedData) -> x509.Certificate:
    certificates = signed.certificates or []
    if len(certificates) != 1:
        raise BadTimeStamp(f"expected the certificate of the signer alone in a time stamp, found {len(certificates)}")
    return x509.load_der_x509_certificate(asn1.encode_der(certificates[0]))


def _is_of(found: Imprint, text: str) -> bool:
    return found.algorithm.name == SHA256 and found.digest == sha256(text.encode()).digest()


def _said(info: Info, certificate: x509.Certificate) -> TimeStamp:
    """What the TSTInfo says; raises `BadTimeStamp` for a time at which the certificate was not valid."""
    time = info.time.as_datetime().astimezone(UTC)
    if not certificate.not_valid_before_utc <= time <= certificate.not_valid_after_utc:
        raise BadTimeStamp(f"its certificate was not valid at {time:%Y-%m-%dT%H:%M:%SZ}, when it says it was made")
    return TimeStamp(
        seconds=math.floor(time.timestamp()),
        accuracy_s=_accuracy_s(info.accuracy) + (1 if time.microsecond else 0),
        authority=certificate.fingerprint(hashes.SHA256()),
        name=_printable(certificate.subject.rfc4514_string()),
    )


def _accuracy_s(accuracy: Accuracy | None) -> int:
    """The accuracy in whole seconds, rounded up; 0 where none is stated."""
    if accuracy is None:
        return 0
    seconds, millis, micros = accuracy.seconds or 0, accuracy.millis or 0, accuracy.micros or 0
    if not (0 <= seconds <= ACCURACY_MAX_S and 0 <= millis < 1_000 and 0 <= micros < 1_000):
        raise BadTimeStamp(f"expected an accuracy of at most {ACCURACY_MAX_S} seconds in its parts, found another")
    return seconds + (1 if millis or micros else 0)


def _printable(words: str) -> str:
    """Words of an authority that a terminal can show: printable ASCII, cut."""
    shown = "".join(each if ord(each) in PRINTABLE else f"\\u{ord(each):04x}" for each in words[:SHOWN_MAX])
    return shown[:SHOWN_MAX]


# What is verified.


def _expect_signed(signed: SignedData, certificate: x509.Certificate) -> None:
    """Check the signed attributes and the signature over them (RFC 5652, 5.4; RFC 5816, 2.2.1)."""
    signer = one_signer(signed)
    digest = digest_of(signer)
    if _attribute(signer, CONTENT_TYPE) != asn1.encode_der(TST_INFO):
        raise BadTimeStamp("expected signed attributes that name a TSTInfo, found another type of content")
    if _attribute(signer, MESSAGE_DIGEST) != asn1.encode_der(_hash(digest, signed.encapsulated.content)):
        raise BadTimeStamp("its signed attributes are of another TSTInfo")
    _expect_named(asn1.decode_der(SigningCertificate, _attribute(signer, SIGNING_CERTIFICATE)), certificate)
    key, content = key_of(certificate), signed_attributes(signer)
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signer.signature, content, padding.PKCS1v15(), digest)
        else:
            key.verify(signer.signature, content, ec.ECDSA(digest))
    except InvalidSignature:
        raise BadTimeStamp("its signature is not one by the key of its certificate") from None


def _attribute(signer: Signer, name: Oid) -> bytes:
    """The one value of a signed attribute that is there once; raises `BadTimeStamp`."""
    values = [value for each in signer.attributes if each.name == name for value in each.values.as_list()]
    if len(values) != 1 or sum(each.name == name for each in signer.attributes) != 1:
        hint = "; the authority must name its certificate by SHA-256 (RFC 5816)" if name == SIGNING_CERTIFICATE else ""
        raise BadTimeStamp(
            f"expected the signed attribute {name.dotted_string} once, with one value, found {len(values)}{hint}"
        )
    return asn1.encode_der(values[0])


def _expect_named(found: SigningCertificate, certificate: x509.Certificate) -> None:
    """Check that the first hash that the signer signed is that of its certificate (RFC 5035, 4)."""
    first = next(iter(found.certificates), None)
    digest = DIGESTS.get(first.algorithm.name if first.algorithm else SHA256) if first else None
    if first is None or digest is None or first.digest != certificate.fingerprint(digest):
        raise BadTimeStamp("the certificate that its signer signed a hash of is another one than it has with it")


def _expect_purpose(certificate: x509.Certificate) -> None:
    """Check that a certificate is for time stamps and nothing else (RFC 3161, 2.3), as OpenSSL does."""
    with reading("a certificate whose extensions can be read"):
        extensions = certificate.extensions
    uses = _extension(extensions, x509.ExtendedKeyUsage)
    if uses is None or not uses.critical or list(uses.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
        raise BadTimeStamp(
            "expected a certificate for time stamps, whose only purpose is timeStamping, marked critical (RFC 3161, "
            "2.3), found another; take the certificate that signs the tokens, not that of its issuer"
        )
    if any(each.critical and isinstance(each.value, x509.UnrecognizedExtension) for each in extensions):
        raise BadTimeStamp("expected a certificate without unknown critical extensions (RFC 5280, 4.2), found one")
    usage = _extension(extensions, x509.KeyUsage)
    if usage is not None and not _only_signs(usage.value):
        raise BadTimeStamp("expected a key for digital signatures or non-repudiation alone, found another key usage")


def _extension(extensions: x509.Extensions, kind: type[E]) -> x509.Extension[E] | None:
    try:
        return extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None


def _only_signs(usage: x509.KeyUsage) -> bool:
    others = (
        usage.key_encipherment,
        usage.data_encipherment,
        usage.key_agreement,
        usage.key_cert_sign,
        usage.crl_sign,
    )
    return (usage.digital_signature or usage.content_commitment) and not any(others)


def _hash(digest: hashes.HashAlgorithm, content: bytes) -> bytes:
    made = hashes.Hash(digest)
    made.update(content)
    return made.finalize()
