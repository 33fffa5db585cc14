"""A time stamp is taken in one form alone, and says nothing that its authority did not sign."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat import asn1
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from service.audit import timestamp_forms as forms
from service.audit.timestamp import TOKEN_MAX, TimeStamp, accept, open_time_stamp, read_certificate, request
from service.audit.timestamp_forms import BadTimeStamp, read_token
from tests.fixtures.stamping import (
    ANOTHER_KEY,
    AUTHORITY_KEY,
    CERTIFICATE,
    RSA_KEY,
    STAMPING,
    Key,
    a_certificate,
    a_token,
    answered,
    with_large_s,
)

TEXT = "log.example/acme/1\n7\nqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=\n"
AT = 1_795_000_000
OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="there is no openssl to compare with")
NONCE = 0xF000_0000_0000_0001
DIGEST = CERTIFICATE.fingerprint(hashes.SHA256())


def refused(token: bytes, text: str = TEXT) -> str:
    with pytest.raises(BadTimeStamp) as refusal:
        open_time_stamp(token, text)
    return refusal.value.detail


@pytest.mark.parametrize(
    ("key", "digest"),
    [
        (AUTHORITY_KEY, hashes.SHA256()),
        (AUTHORITY_KEY, hashes.SHA512()),
        (ec.generate_private_key(ec.SECP384R1()), hashes.SHA384()),
        (RSA_KEY, hashes.SHA256()),
        (RSA_KEY, hashes.SHA512()),
    ],
)
def test_a_stamp_says_when_and_by_whom(key: Key, digest: hashes.HashAlgorithm) -> None:
    pem = a_certificate(key=key)
    own = read_certificate(pem)

    found = open_time_stamp(a_token(TEXT, AT, key=key, certificate=pem, digest=digest), TEXT)

    assert (found.seconds, found.accuracy_s) == (AT, 0)
    assert (found.authority, found.name) == (own.fingerprint(hashes.SHA256()), "CN=stamps.example")


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@pytest.mark.parametrize("key", [AUTHORITY_KEY, RSA_KEY])
def test_no_change_of_a_bit_is_accepted(key: Key) -> None:
    token = a_token(TEXT, AT, key=key, certificate=a_certificate(key=key))
    others = list[tuple[int, TimeStamp]]()
    assert open_time_stamp(token, TEXT).seconds == AT

    for bit in range(len(token) * 8):
        edited = bytearray(token)
        edited[bit // 8] ^= 1 << bit % 8
        try:
            others.append((bit, open_time_stamp(bytes(edited), TEXT)))
        except BadTimeStamp:
            continue

    assert not others


@pytest.mark.parametrize("edit", ["cut", "longer", "empty", "words", "too long"])
def test_other_bytes_are_refused(edit: str) -> None:
    token = a_token(TEXT, AT)
    edited = {
        "cut": token[:-1],
        "longer": token + b"\0",
        "empty": b"",
        "words": b"Stamped in May, says the board.",
        "too long": token + bytes(TOKEN_MAX),
    }

    refused(edited[edit])


def test_another_text_is_refused() -> None:
    assert "of this text" in refused(a_token(TEXT, AT), TEXT.replace("7", "8"))


def named(digest: bytes, algorithm: x509.ObjectIdentifier | None = None) -> bytes:
    own = None if algorithm is None else forms.Algorithm(name=algorithm, parameters=None)
    each = forms.CertificateHash(algorithm=own, digest=digest, issuer=None)
    return asn1.encode_der(forms.SigningCertificate(certificates=[each], policies=None))


EXTENSION = forms.Extension(name=x509.ObjectIdentifier("1.2.3"), critical=True, value=b"")
LIES: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"info": {"version": 2}}, "of this text"),
    "another digest of the text": (
        {
            "info": {
                "imprint": forms.Imprint(
                    algorithm=forms.Algorithm(name=x509.ObjectIdentifier("1.3.14.3.2.26"), parameters=None),
                    digest=b"\x01" * 20,
                )
            }
        },
        "of this text",
    ),
    "a critical extension": ({"info": {"extensions": [EXTENSION]}}, "critical extension"),
    "a great accuracy": (
        {"info": {"accuracy": forms.Accuracy(seconds=3_601, millis=None, micros=None)}},
        "accuracy",
    ),
    "a negative accuracy": (
        {"info": {"accuracy": forms.Accuracy(seconds=-5, millis=None, micros=None)}},
        "accuracy",
    ),
    "no digest of the content": ({"attributes": {forms.MESSAGE_DIGEST: []}}, "once"),
    "two digests": ({"attributes": {forms.MESSAGE_DIGEST: [b"\x04\x01a", b"\x04\x01b"]}}, "once"),
    "the digest of another": ({"attributes": {forms.MESSAGE_DIGEST: [b"\x04\x20" + bytes(32)]}}, "another TSTInfo"),
    "another content": (
        {"attributes": {forms.CONTENT_TYPE: [asn1.encode_der(forms.SIGNED_DATA)]}},
        "type of content",
    ),
    "no hash of the certificate": ({"attributes": {forms.SIGNING_CERTIFICATE: []}}, "RFC 5816"),
    "a hash of another certificate": (
        {"attributes": {forms.SIGNING_CERTIFICATE: [named(bytes(32))]}},
        "another one",
    ),
    "a hash by an unknown digest": (
        {"attributes": {forms.SIGNING_CERTIFICATE: [named(DIGEST, x509.ObjectIdentifier("1.2.3"))]}},
        "another one",
    ),
    "another key": ({"key": ANOTHER_KEY}, "signature"),
    "a certificate for more": (
        {"certificate": a_certificate((*STAMPING, ExtendedKeyUsageOID.CODE_SIGNING))},
        "timeStamping",
    ),
    "a purpose that is not critical": ({"certificate": a_certificate(critical=False)}, "timeStamping"),
    "a certificate of another time": (
        {"certificate": a_certificate(until=datetime(2026, 1, 2, tzinfo=UTC))},
        "not valid at 2026-11",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_its_own_authority_signed_wrongly_is_refused(lie: str) -> None:
    changes, words = LIES[lie]

    assert words in refused(a_token(TEXT, AT, **changes))


@pytest.mark.parametrize("key", [rsa.generate_private_key(65_537, 1_024), ec.generate_private_key(ec.SECP256K1())])
def test_a_weak_or_strange_key_is_refused(key: Key) -> None:
    with pytest.raises(BadTimeStamp, match="expected a key of RSA"):
        read_certificate(a_certificate(key=key))


def test_the_other_signature_for_the_same_is_refused() -> None:
    assert "normal form" in refused(with_large_s(a_token(TEXT, AT)))


@pytest.mark.parametrize(
    ("seconds", "accuracy", "expected"),
    [
        (AT + 0.5, None, (AT, 1)),
        (AT, forms.Accuracy(seconds=2, millis=None, micros=None), (AT, 2)),
        (AT, forms.Accuracy(seconds=None, millis=500, micros=None), (AT, 1)),
        (AT + 0.25, forms.Accuracy(seconds=1, millis=1, micros=1), (AT, 3)),
    ],
)
def test_how_far_off_the_time_may_be_is_rounded_up(
    seconds: float, accuracy: forms.Accuracy | None, expected: tuple[int, int]
) -> None:
    found = open_time_stamp(a_token(TEXT, seconds, info={"accuracy": accuracy}), TEXT)

    assert (found.seconds, found.accuracy_s) == expected


@needs_openssl
@pytest.mark.parametrize("key", [AUTHORITY_KEY, RSA_KEY])
def test_openssl_takes_the_same_file(key: Key, tmp_path: Path) -> None:
    pem, token = a_certificate(key=key), tmp_path / "token.tst"
    (tmp_path / "stamps.pem").write_text(pem)
    token.write_bytes(a_token(TEXT, AT, key=key, certificate=pem))
    command = [
        OPENSSL,
        "ts",
        "-verify",
        "-token_in",
        "-in",
        token,
        "-partial_chain",
        "-CAfile",
        tmp_path / "stamps.pem",
    ]

    for text, code in ((TEXT, 0), (TEXT + "more\n", 1)):
        done = subprocess.run(
            [*map(str, command), "-digest", hashes_of(text).hex()], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr


# The answer of an authority.


def test_an_answer_is_taken_with_the_nonce_of_its_request() -> None:
    token = a_token(TEXT, AT, info={"nonce": NONCE})

    assert accept(answered(token), TEXT, NONCE, CERTIFICATE) == token
    for other in (a_token(TEXT, AT, info={"nonce": NONCE - 1}), a_token(TEXT, AT)):
        with pytest.raises(BadTimeStamp, match="nonce"):
            accept(answered(other), TEXT, NONCE, CERTIFICATE)


def test_a_refusal_is_said_in_printable_words() -> None:
    said = forms.Status(status=2, words=["no\x1b[2J", "quota\u202e"], reason=None)
    answer = asn1.encode_der(forms.Response(status=said, token=None))

    with pytest.raises(BadTimeStamp) as refusal:
        accept(answer, TEXT, NONCE, CERTIFICATE)

    assert refusal.value.detail.startswith("the authority gives none: status 2, no")
    assert refusal.value.detail.isascii()
    assert refusal.value.detail.isprintable()


ADDED: dict[str, Callable[[forms.SignedData, forms.Signer], None]] = {
    "a chain, unsorted": lambda signed, _: setattr(
        signed, "certificates", [*(signed.certificates or []), forms.tlv(b"\x30\x03\x02\x01\x05")]
    ),
    "no certificate": lambda signed, _: setattr(signed, "certificates", None),
    "revocation lists": lambda signed, _: setattr(signed, "revocations", [forms.tlv(b"\x30\x00")]),
    "an unsigned attribute": lambda _, signer: setattr(signer, "unsigned", [forms.tlv(b"\x30\x00")]),
    "a digest with parameters": lambda _, signer: setattr(signer.digest, "parameters", asn1.Null()),
    "another name of its signer": lambda _, signer: setattr(signer, "identity", forms.tlv(b"\x80\x01a")),
}


@pytest.mark.parametrize("what", ADDED)
def test_what_no_signature_covers_is_written_in_one_way(what: str) -> None:
    token = a_token(TEXT, AT, info={"nonce": NONCE})
    found = asn1.decode_der(forms.ContentInfo, token)
    (signer,) = found.content.signers.as_list()
    ADDED[what](found.content, signer)
    found.content.signers = asn1.SetOf([signer])
    other = asn1.encode_der(found)

    assert other != token
    refused(other)
    assert accept(answered(other), TEXT, NONCE, CERTIFICATE) == token


def test_two_signers_are_refused() -> None:
    found = asn1.decode_der(forms.ContentInfo, a_token(TEXT, AT))
    (one,), (two,) = (read_token(a_token(TEXT, AT, info={"serial": serial})).signers.as_list() for serial in (1, 2))
    found.content.signers = asn1.SetOf([one, two])

    assert "one signer" in refused(asn1.encode_der(found))


@pytest.mark.parametrize("nonce", [0, 1, 2**63, 2**64 - 1])
def test_a_request_asks_with_its_nonce_and_for_the_certificate(nonce: int) -> None:
    found = asn1.decode_der(forms.Request, request(TEXT, nonce))

    assert (found.version, found.nonce, found.certificate) == (1, nonce, True)
    assert found.imprint.digest == hashes_of(TEXT)


def hashes_of(text: str) -> bytes:
    made = hashes.Hash(hashes.SHA256())
    made.update(text.encode())
    return made.finalize()
