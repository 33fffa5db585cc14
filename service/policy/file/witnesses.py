"""Witnesses of the log and the approver of the configuration: [audit] and [approval]."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

from service.audit.note import BadKey, PublicKey
from service.policy import Approval, Audit, Witness
from service.policy.keys import Path, WrongSetting

COSIGNATURE = 0x04
ED25519 = 0x01


def checked_audit(audit: Audit) -> Audit:
    """The table with usable addresses; raises `WrongSetting` for an address or a key that cannot serve."""
    path: Path = ("audit", "witnesses")
    witnesses = tuple(_witness(witness, (*path, i)) for i, witness in enumerate(audit.witnesses))
    names = [PublicKey.parse(witness.key).name for witness in witnesses]
    if len(set(names)) < len(names):
        raise WrongSetting(path, "two witnesses have keys of one name; each needs a name of its own")
    return replace(audit, witnesses=witnesses)


def check_approval(approval: Approval) -> None:
    """Raise `WrongSetting` for an approval of configurations that cannot be given."""
    path: Path = ("approval",)
    if approval.required and approval.key is None:
        raise WrongSetting((*path, "required"), "an approval is required, and no key says whose; add approval.key")
    if approval.key is not None:
        _key((*path, "key"), approval.key, ED25519, "the approver's")


def _witness(witness: Witness, path: Path) -> Witness:
    parts = urlsplit(witness.url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment or parts.username:
        raise WrongSetting(
            (*path, "url"), "expected the address that add-checkpoint is below, such as https://witness.example"
        )
    _key((*path, "key"), witness.key, COSIGNATURE, "the witness's cosignature")
    return Witness(witness.url.rstrip("/"), witness.key)


def _key(path: Path, text: str, algorithm: int, whose: str) -> None:
    try:
        key = PublicKey.parse(text)
    except BadKey as error:
        raise WrongSetting(path, f"expected {whose} verifier key, name+hash+base64: {error.detail}") from error
    if key.algorithm != algorithm:
        raise WrongSetting(
            path, f"expected {whose} verifier key, of algorithm {algorithm}, found one of {key.algorithm}"
        )
