"""The forms of time stamps in DER (RFC 3161, 2.4; RFC 5652; RFC 5035), and the one in which a token is kept.

Nothing here is verified: `service.audit.timestamp` does that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Annotated, Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding

from service.errors import GainsayError

RSA_BITS: Final = (2_048, 8_192)
Oid = x509.ObjectIdentifier
SIGNED_DATA: Final = Oid("1.2.840.113549.1.7.2")
TST_INFO: Final = Oid("1.2.840.113549.1.9.16.1.4")
CONTENT_TYPE, MESSAGE_DIGEST = Oid("1.2.840.113549.1.9.3"), Oid("1.2.840.113549.1.9.4")
SIGNING_CERTIFICATE: Final = Oid("1.2.840.113549.1.9.16.2.47")
RSA: Final = Oid("1.2.840.113549.1.1.1")
SHA256: Final = Oid("2.16.840.1.101.3.4.2.1")
DIGESTS: Final[dict[Oid, hashes.HashAlgorithm]] = {
    SHA256: hashes.SHA256(),
    Oid("2.16.840.1.101.3.4.2.2"): hashes.SHA384(),
    Oid("2.16.840.1.101.3.4.2.3"): hashes.SHA512(),
}
ECDSA: Final = {
    "sha256": Oid("1.2.840.10045.4.3.2"),
    "sha384": Oid("1.2.840.10045.4.3.3"),
    "sha512": Oid("1.2.840.10045.4.3.4"),
}
ORDERS: Final = {curve.name: curve.group_order for curve in (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())}
UNREADABLE: Final = (
    *(ValueError, TypeError, OverflowError),
    *(x509.DuplicateExtension, x509.InvalidVersion, UnsupportedAlgorithm),
)
"""What the readers of DER and of certificates raise."""
Key = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


class BadTimeStamp(GainsayError):
    """A time stamp cannot be read, is not of this text, or is not in the one form that is kept."""

    code = "bad_time_stamp"
    status = 422
    title = "A time stamp is not valid"


# The forms. Sets that authorities send unsorted are read as lists.


@asn1.sequence
class Algorithm:
    name: Oid
    parameters: asn1.Null | None


@asn1.sequence
class Imprint:
    algorithm: Algorithm
    digest: bytes


@asn1.sequence
class Request:
    version: int
    imprint: Imprint
    nonce: int
    certificate: Annotated[bool, asn1.Default(False)]


@asn1.sequence
class Status:
    status: int
    words: list[str] | None
    reason: asn1.BitString | None


@asn1.sequence
class Accuracy:
    seconds: int | None
    millis: Annotated[int | None, asn1.Implicit(0)]
    micros: Annotated[int | None, asn1.Implicit(1)]


@asn1.sequence
class Extension:
    name: Oid
    critical: Annotated[bool, asn1.Default(False)]
    value: bytes


@asn1.sequence
class Info:
    version: int
    policy: Oid
    imprint: Imprint
    serial: int
    time: asn1.GeneralizedTime
    accuracy: Accuracy | None
    ordering: Annotated[bool, asn1.Default(False)]
    nonce: int | None
    authority: Annotated[list[asn1.TLV] | None, asn1.Implicit(0)]
    extensions: Annotated[list[Extension] | None, asn1.Implicit(1)]


@asn1.sequence
class Attribute:
    name: Oid
    values: asn1.SetOf[asn1.TLV]


@asn1.sequence
class Attributes:
    each: asn1.SetOf[Attribute]


@asn1.sequence
class CertificateHash:
    algorithm: Algorithm | None
    digest: bytes
    issuer: list[asn1.TLV] | None


@asn1.sequence
class SigningCertificate:
    certificates: list[CertificateHash]
    policies: list[asn1.TLV] | None


@asn1.sequence
class IssuerAndSerial:
    issuer: asn1.TLV
    serial: int


@asn1.sequence
class Signer:
    version: int
    identity: asn1.TLV
    digest: Algorithm
    attributes: Annotated[list[Attribute], asn1.Implicit(0)]
    algorithm: Algorithm
    signature: bytes
    unsigned: Annotated[list[asn1.TLV] | None, asn1.Implicit(1)]


@asn1.sequence
class Encapsulated:
    kind: Oid
    content: Annotated[bytes, asn1.Explicit(0)]


@asn1.sequence
class SignedData:
    version: int
    digests: asn1.SetOf[Algorithm]
    encapsulated: Encapsulated
    certificates: Annotated[list[asn1.TLV] | None, asn1.Implicit(0)]
    revocations: Annotated[list[asn1.TLV] | None, asn1.Implicit(1)]
    signers: asn1.SetOf[Signer]


@asn1.sequence
class ContentInfo:
    kind: Oid
    content: Annotated[SignedData, asn1.Explicit(0)]


@asn1.sequence
class Response:
    status: Status
    token: ContentInfo | None


# Writing the one form.


def normal(signed: SignedData, certificate: x509.Certificate) -> bytes:
    """The token in its normal form, as this certificate signs it; nothing of it is verified."""
    signer = one_signer(signed)
    digest, key = digest_of(signer), key_of(certificate)
    own = Algorithm(name=signer.digest.name, parameters=None)
    normal = SignedData(
        version=3,
        digests=asn1.SetOf([own]),
        encapsulated=Encapsulated(kind=TST_INFO, content=signed.encapsulated.content),
        certificates=[tlv(certificate.public_bytes(Encoding.DER))],
        revocations=None,
        signers=asn1.SetOf(
            [
                Signer(
                    version=1,
                    identity=tlv(_identity(certificate)),
                    digest=own,
                    attributes=_sorted(signer.attributes),
                    algorithm=_algorithm(key, digest),
                    signature=_one_signature(signer.signature, key),
                    unsigned=None,
                )
            ]
        ),
    )
    return asn1.encode_der(ContentInfo(kind=SIGNED_DATA, content=normal))


def _identity(certificate: x509.Certificate) -> bytes:
    issuer = tlv(certificate.issuer.public_bytes())
    return asn1.encode_der(IssuerAndSerial(issuer=issuer, serial=certificate.serial_number))


def _algorithm(key: Key, digest: hashes.HashAlgorithm) -> Algorithm:
    if isinstance(key, rsa.RSAPublicKey):
        return Algorithm(name=RSA, parameters=asn1.Null())
    return Algorithm(name=ECDSA[digest.name], parameters=None)


def _one_signature(signature: bytes, key: Key) -> bytes:
    """The signature; of the two that ECDSA has for each, the one with the smaller s."""
    if isinstance(key, rsa.RSAPublicKey):
        return signature
    r, s = decode_dss_signature(signature)
    return encode_dss_signature(r, min(s, ORDERS[key.curve.name] - s))


def _sorted(attributes: list[Attribute]) -> list[Attribute]:
    """The attributes in the order of their bytes, as DER has a set."""
    return sorted(attributes, key=asn1.encode_der)


def signed_attributes(signer: Signer) -> bytes:
    """What the signature is of: the signed attributes as a SET OF (RFC 5652, 5.4)."""
    return bytes(tlv(asn1.encode_der(Attributes(each=asn1.SetOf(signer.attributes)))).data)


def imprint_of(text: str) -> Imprint:
    """What is stamped of a text: its SHA-256."""
    return Imprint(algorithm=Algorithm(name=SHA256, parameters=asn1.Null()), digest=sha256(text.encode()).digest())


# Reading.


def read_token(token: bytes) -> SignedData:
    """The signed data of a token."""
    return signed_data(asn1.decode_der(ContentInfo, token))


def signed_data(found: ContentInfo) -> SignedData:
    """The signed data around a TSTInfo; raises `BadTimeStamp` for other content."""
    if found.kind != SIGNED_DATA or found.content.encapsulated.kind != TST_INFO:
        raise BadTimeStamp("expected signed data around a TSTInfo (RFC 3161, 2.4.2), found other content")
    return found.content


def one_signer(signed: SignedData) -> Signer:
    """The one signer; raises `BadTimeStamp` for more or fewer."""
    signers = signed.signers.as_list()
    if len(signers) != 1:
        raise BadTimeStamp(f"expected one signer of a time stamp (RFC 3161, 2.4.2), found {len(signers)}")
    return signers[0]


def tlv(data: bytes) -> asn1.TLV:
    """One value of any type in DER."""
    return asn1.decode_der(asn1.TLV, data)


def digest_of(signer: Signer) -> hashes.HashAlgorithm:
    """The digest that a signer names; raises `BadTimeStamp` for one that is not accepted."""
    if (found := DIGESTS.get(signer.digest.name)) is None:
        raise BadTimeStamp("expected SHA-256, SHA-384 or SHA-512 as the digest of a time stamp, found another")
    return found


def key_of(certificate: x509.Certificate) -> Key:
    """The key of a certificate, if it is one of those that are accepted; raises `BadTimeStamp`."""
    with reading("a certificate with a key that can be read"):
        key = certificate.public_key()
    if isinstance(key, rsa.RSAPublicKey) and RSA_BITS[0] <= key.key_size <= RSA_BITS[1]:
        return key
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in ORDERS:
        return key
    raise BadTimeStamp(
        f"expected a key of RSA with {RSA_BITS[0]} to {RSA_BITS[1]} bits or of P-256, P-384 or P-521 in the "
        "certificate, found another"
    )


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise `BadTimeStamp` for whatever the readers of DER and of certificates raise."""
    try:
        yield
    except UNREADABLE as error:
        raise BadTimeStamp(f"expected {what}, found something else ({type(error).__name__})") from None
