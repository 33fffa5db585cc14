"""Approvals: a signed note (C2SP signed-note) by which model risk allows one configuration to run.

    gainsay-approval/1
    <configuration hash, SHA-256 in hex>
    <version of the policy, as its file says>
    <when, RFC 3339 in UTC to the second>

The hash decides: it covers policy, prices and prompts (`service.policy.encode_configuration`). Version and time are the
approver's statement, for readers. The first line distinguishes an approval from a checkpoint of a log.
"""

from __future__ import annotations

import re

from msgspec import Struct

from service.audit.note import BadNote, PublicKey, SigningKey, is_note_text, parse_note, sign_note, verify_note
from service.errors import GainsayError

MAGIC = "gainsay-approval/1"
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII)


class BadApproval(GainsayError):
    """An approval cannot be read, is not the approver's, or is of another configuration."""

    code = "bad_approval"
    status = 422
    title = "An approval does not hold"


class Approval(Struct, frozen=True):
    """The subject of an approval. Raises `BadApproval` for values that the format cannot hold."""

    configuration_hash: str
    policy_version: str
    at: str

    def __post_init__(self) -> None:
        if not _HASH.fullmatch(self.configuration_hash):
            raise BadApproval("expected a configuration hash, SHA-256 in 64 hexadecimal digits, found another text")
        if not self.policy_version or "\n" in self.policy_version or not is_note_text(self.policy_version):
            raise BadApproval("expected the policy's version in one line without control characters, found another")
        if not _TIME.fullmatch(self.at):
            raise BadApproval("expected a time such as 2026-11-22T09:30:00Z, found another text")

    def text(self) -> str:
        """The text that is signed."""
        return "".join(f"{line}\n" for line in (MAGIC, self.configuration_hash, self.policy_version, self.at))


def encode(approval: Approval, key: SigningKey) -> bytes:
    """The signed note of an approval; raises `ValueError` for a key that is not an Ed25519 signing key."""
    return sign_note(approval.text(), key).encode()


def parse(note: bytes) -> Approval:
    """The content of an approval, signatures not verified; raises `BadApproval`."""
    try:
        lines = parse_note(note).text.split("\n")
    except BadNote as error:
        raise BadApproval(f"expected an approval as a signed note: {error.detail}") from None
    if len(lines) != 5 or lines[0] != MAGIC:
        raise BadApproval(f"expected a note that begins with {MAGIC} and has four lines, found another text")
    return Approval(*lines[1:4])


def check(note: bytes, key: PublicKey, configuration_hash: str) -> Approval:
    """The contents that the approver signed.

    1. The note reads as an approval.
    2. The approver's key signed it.
    3. It is of this configuration.

    Raises `BadApproval` where a step does not hold.
    """
    # 1
    approval = parse(note)
    # 2
    try:
        verify_note(parse_note(note), (key,))
    except BadNote as error:
        raise BadApproval(f"it is not signed by the approver {key.name}+{key.id.hex()}: {error.detail}") from None
    # 3
    if approval.configuration_hash != configuration_hash:
        raise BadApproval(
            f"it is of the configuration {approval.configuration_hash} (policy {approval.policy_version}, "
            f"{approval.at}), and not of {configuration_hash}"
        )
    return approval
