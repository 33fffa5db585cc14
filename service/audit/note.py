"""Signed notes after C2SP signed-note: a text, an empty line, and lines of signatures by named keys.

    — <key name> base64(key id || signature)

The text is everything up to the last empty line. As C2SP asks, a reader ignores signatures of unknown keys, refuses a
note with a wrong signature of a known key, and needs at least one good signature. Every reader here accepts exactly one
spelling, so that decoding and encoding give the same bytes: base64 (RFC 4648, section 4) with its padding and no stray
bits, decimals without leading zeros.

Keys are Ed25519. Type 0x01 signs the text itself, type 0x04 is a witness's dated cosignature (C2SP tlog-cosignature)
over a checkpoint's text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import a2b_base64
from collections.abc import Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from service.errors import GainsayError

ED25519 = 0x01
COSIGNATURE = 0x04
_ALGORITHMS = (ED25519, COSIGNATURE)
ID_BYTES = 4
KEY_BYTES = 32
SIGNATURE_BYTES = 64
TIME_BYTES = 8
NUMBER_MAX = 2**63 - 1
SIGNATURES_MAX = 100
"""More lines than this are refused, as by Go's reader; C2SP asks for at least 16."""

_DASH = "\u2014 "
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f]")
_PRIVATE = "PRIVATE+KEY+"


class BadKey(GainsayError):
    """A key cannot be read. The message never contains the key."""

    code = "bad_key"
    status = 400
    title = "A key cannot be read"


class BadNote(GainsayError):
    """A signed note cannot be read, or its signatures do not hold."""

    code = "bad_note"
    status = 422
    title = "A signed note does not hold"


class PublicKey(Struct, frozen=True):
    """A verifier key: its name, its type (`ED25519` or `COSIGNATURE`), and its 32 public bytes.

    Raises `BadKey` for values that no note can have.
    """

    name: str
    algorithm: int
    public: bytes

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise BadKey("expected a key name without spaces, '+' and control characters, found another")
        if self.algorithm not in _ALGORITHMS:
            raise BadKey(f"expected a key of type 1 (Ed25519) or 4 (cosignature/v1), found type {self.algorithm}")
        if len(self.public) != KEY_BYTES:
            raise BadKey(f"expected a public key of {KEY_BYTES} bytes, found {len(self.public)}")

    @property
    def id(self) -> bytes:
        """Four bytes that select the key among those of its name; they are no protection against forged keys."""
        return sha256(self.name.encode() + b"\n" + bytes([self.algorithm]) + self.public).digest()[:ID_BYTES]

    def encode(self) -> str:
        """``name+id+base64(type || public)``, the form in which keys are pinned."""
        return f"{self.name}+{self.id.hex()}+{encode_base64(bytes([self.algorithm]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """The key of its pinned form; raises `BadKey` for any other text."""
        name, identity, material = _parts(text)
        key = cls(name, material[0], material[1:])
        if key.id.hex() != identity:
            raise BadKey(f"expected the id {key.id.hex()} for this key, found another; was it copied whole?")
        return key


class SigningKey:
    """A key that signs. Neither its `repr` nor its errors show its seed."""

    __slots__ = ("_key", "_seed", "public")

    def __init__(self, name: str, seed: bytes, algorithm: int = ED25519) -> None:
        if len(seed) != KEY_BYTES:
            raise BadKey(f"expected a seed of {KEY_BYTES} bytes, found {len(seed)}")
        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(name, algorithm, self._key.public_key().public_bytes_raw())

    @classmethod
    def from_seed(cls, name: str, seed: bytes, algorithm: int = ED25519) -> SigningKey:
        """The key of a name and 32 secret bytes; raises `BadKey` for a name or a type that no note carries."""
        return cls(name, seed, algorithm)

    @classmethod
    def parse(cls, text: str) -> SigningKey:
        """The key of its secret form; raises `BadKey`, which never says any part of the text."""
        if not text.startswith(_PRIVATE):
            raise BadKey("expected a signing key, which begins with PRIVATE+KEY+, found another text")
        name, identity, material = _parts(text.removeprefix(_PRIVATE))
        key = cls(name, material[1:], material[0])
        if key.public.id.hex() != identity:
            raise BadKey("the signing key's id is not that of its name and bytes; was it copied whole?")
        return key

    def encode(self) -> str:
        """The secret form, as Go's sumdb/note writes it: ``PRIVATE+KEY+name+id+base64(type || seed)``."""
        public = self.public
        secret = encode_base64(bytes([public.algorithm]) + self._seed)
        return f"{_PRIVATE}{public.name}+{public.id.hex()}+{secret}"

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of the Ed25519 signature over the message."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"SigningKey({self.public.name!r}, id={self.public.id.hex()})"


class Signature(Struct, frozen=True):
    """One line below a note: who signed, with which key, and the signature's bytes.

    Raises `BadNote` when made of anything that no note could carry.
    """

    name: str
    key_id: bytes
    value: bytes

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise BadNote("expected a key name without spaces and '+' in a signature line, found another")
        if len(self.key_id) != ID_BYTES or not self.value:
            raise BadNote("expected a key id of 4 bytes and a signature in a signature line, found fewer bytes")

    def line(self) -> str:
        """The line as it stands below the text, with its newline."""
        return f"{_DASH}{self.name} {encode_base64(self.key_id + self.value)}\n"


class Note(Struct, frozen=True):
    """A text, which ends in a newline, and at least one signature. Raises `BadNote` when made of anything else."""

    text: str
    signatures: tuple[Signature, ...]

    def __post_init__(self) -> None:
        _expect_text(self.text)
        if not 1 <= len(self.signatures) <= SIGNATURES_MAX:
            raise BadNote(f"expected 1 to {SIGNATURES_MAX} signatures, found {len(self.signatures)}")

    def encode(self) -> bytes:
        """The note as it is stored and served."""
        return "".join([self.text, "\n", *(signature.line() for signature in self.signatures)]).encode()


def parse_signature_line(line: str) -> Signature:
    """The signature of a line with its newline; raises `BadNote`."""
    if not (line.startswith(_DASH) and line.endswith("\n")):
        raise BadNote("expected a signature line that begins with a long dash and a space, found another line")
    name, _, encoded = line[len(_DASH) : -1].partition(" ")
    content = decode_base64(encoded)
    if content is None:
        raise BadNote("expected a signature in base64 after the key name, found another text")
    return Signature(name, content[:ID_BYTES], content[ID_BYTES:])


def parse_note(data: bytes) -> Note:
    """Read a note, whose signatures are not yet verified; raises `BadNote`."""
    try:
        content = data.decode()
    except UnicodeDecodeError:
        raise BadNote("expected a note in UTF-8, found other bytes") from None
    text, blank, lines = content.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise BadNote("expected a text, an empty line and lines of signatures, found no such parts")
    return Note(text + "\n", tuple(parse_signature_line(line + "\n") for line in lines.split("\n")[:-1]))


def sign_note(text: str, *keys: SigningKey) -> Note:
    """The note of a text, signed by each key in turn; raises `BadNote` for a text that no note can have.

    Cosignature keys are refused with `ValueError`: they sign a time as well (see `service.audit.checkpoint`).
    """
    if not keys or any(key.public.algorithm != ED25519 for key in keys):
        raise ValueError("expected one Ed25519 signing key or more, found none or one of another type")
    _expect_text(text)
    signatures = (Signature(key.public.name, key.public.id, key.sign(text.encode())) for key in keys)
    return Note(text, tuple(signatures))


def verify_note(note: Note, keys: Sequence[PublicKey]) -> tuple[PublicKey, ...]:
    """The known keys that signed the note, in their given order.

    Raises `BadNote` when a known key's signature is wrong, or when no known key signed.
    """
    good: list[PublicKey] = []
    for signature in note.signatures:
        # Key ids have 32 bits, so two keys of one name may share one: a signature is good if it fits either.
        known = [key for key in keys if (key.name, key.id) == (signature.name, signature.key_id)]
        holding = [key for key in known if is_signed(note.text, signature, key)]
        if known and not holding:
            raise BadNote(f"the signature of the known key {signature.name!r} does not hold for this text")
        good += holding
    if not good:
        raise BadNote("expected the signature of a known key, found none; is the right key pinned?")
    return tuple(key for key in keys if key in good)


def is_signed(text: str, signature: Signature, key: PublicKey) -> bool:
    """Whether this signature is the key's over the text; a cosignature's time is inside its value."""
    message, value = text.encode(), signature.value
    if key.algorithm == COSIGNATURE:
        at = int.from_bytes(value[:TIME_BYTES])
        if at > NUMBER_MAX:
            return False
        message, value = cosigned(text, at), value[TIME_BYTES:]
    if len(value) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(value, message)
    except InvalidSignature:
        return False
    return True


def cosigned(text: str, at: int) -> bytes:
    """The message of a cosignature at ``at``, in seconds since 1970 (C2SP tlog-cosignature, cosignature/v1)."""
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def is_key_name(name: str) -> bool:
    """Whether notes can carry the name: not empty, neither spaces nor '+' nor control characters, and Unicode."""
    return bool(name) and "+" not in name and not any(c.isspace() for c in name) and is_note_text(name)


def is_note_text(text: str) -> bool:
    """Whether notes can carry the text: Unicode without control characters other than newlines."""
    return not _CONTROL.search(text.replace("\n", "")) and not any("\ud800" <= c <= "\udfff" for c in text)


def encode_base64(data: bytes) -> str:
    """RFC 4648, section 4, with padding."""
    return b64encode(data).decode()


def decode_base64(text: str) -> bytes | None:
    """The bytes of base64 that is spelt as `encode_base64` spells it; None for any other text."""
    try:
        data = a2b_base64(text)
    except ValueError:
        return None
    return data if encode_base64(data) == text else None


def parse_decimal(text: str) -> int | None:
    """The number of ASCII digits without leading zeros, at most 2**63 - 1; None for any other text."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = int(text)
    return number if number <= NUMBER_MAX else None


def _expect_text(text: str) -> None:
    if not text.endswith("\n") or not is_note_text(text):
        raise BadNote("expected a text in whole lines without control characters, found another")


def _parts(text: str) -> tuple[str, str, bytes]:
    """Name, id and decoded material of ``name+id+base64``; the errors say nothing of the text."""
    name, _, rest = text.partition("+")
    identity, _, encoded = rest.partition("+")
    material = decode_base64(encoded)
    if not material:
        raise BadKey("expected a key of the form name+id+base64, found another text")
    return name, identity, material
