"""The checksums of a release, and their signature: an Ed25519 key in PEM, a signature that OpenSSL checks.

`sha256sum --check SHA256SUMS` and `openssl pkeyutl -verify` are on the machine of whoever has to check a download, and
need no code of ours. The signature is over the bytes of SHA256SUMS, raw, of 64 bytes.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
PUBLIC = "supply/release.pub"
"""The public half of the key that signs releases, in PEM."""
MAKE = f"openssl genpkey -algorithm ed25519 -out release.key && openssl pkey -in release.key -pubout -out {PUBLIC}"
_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9][A-Za-z0-9._+-]*)")


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key that signs; raises `ValueError` for a file that others may read or that has no such key."""
    try:
        shared = path.stat().st_mode & 0o077
        pem = path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"expected the key that signs releases in {path}: {error.strerror}; make one: {MAKE}"
        ) from error
    if shared:
        raise ValueError(
            f"expected a key that its owner alone can read, found mode {shared:03o} for others; chmod 600 {path}"
        )
    try:
        key = load_pem_private_key(pem, password=None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected an Ed25519 key in PEM without a passphrase in {path}; make one: {MAKE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"expected an Ed25519 key in {path}, found another kind; make one: {MAKE}")  # noqa: TRY004
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """The key that releases are checked with; raises `ValueError` for a file that has none."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ValueError(f"expected the public key of releases in {path}, found none; commit it: {MAKE}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"expected an Ed25519 key in {path}, found another kind; make one: {MAKE}")  # noqa: TRY004
    return key


def pair(private: Path, public: Path) -> Ed25519PrivateKey:
    """The key that signs; raises `ValueError` where it is not the other half of the public key."""
    key = private_key(private)
    if key.public_key().public_bytes_raw() != public_key(public).public_bytes_raw():
        raise ValueError(
            f"expected the key that belongs to {public}, found another in {private}; users have the public one"
        )
    return key


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the checksums of every file of a folder, by name, and their signature."""
    lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    data = "".join(lines).encode()
    (folder / SUMS).write_bytes(data)
    (folder / SIGNATURE).write_bytes(key.sign(data))


def check(folder: Path, key: Ed25519PublicKey) -> None:
    """Raise `ValueError` unless a folder has exactly what its signed checksums say."""
    data = (folder / SUMS).read_bytes()
    try:
        key.verify((folder / SIGNATURE).read_bytes(), data)
    except InvalidSignature:
        raise ValueError(f"expected a signature by the key of releases over {SUMS}, found another") from None
    found = [_LINE.fullmatch(line) for line in data.decode().splitlines()]
    listed = {hit[2]: hit[1] for hit in found if hit}
    there = {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    other = sorted(name for name in {*listed, *there} - {SUMS, SIGNATURE} if listed.get(name) != there.get(name))
    if None in found or other:
        raise ValueError(f"expected what {SUMS} lists, found other bytes, more or less: {', '.join(other)}")
