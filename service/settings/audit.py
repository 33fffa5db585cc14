"""Who vouches for the log and for the configuration: [audit] and [approval]."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from service.audit.note import BadKey, PublicKey
from service.policy import Approval, Audit, Witness
from service.settings.lines import Path
from service.settings.reading import WrittenApproval, WrittenAudit, WrittenWitness, Wrong, ranges, read

COSIGNATURE = 0x04
ED25519 = 0x01


def read_audit(written: Any) -> Audit:
    """Witnesses and intervals; raises `Wrong`."""
    path: Path = ("audit",)
    table = read(written, WrittenAudit, path)
    ranges(path, table, {"late_s": (1, 86_400), "check_minutes": (0, 100_000)})
    witnesses = tuple(_witness(inner, (*path, "witnesses", i)) for i, inner in enumerate(table.witnesses))
    names = [PublicKey.parse(witness.key).name for witness in witnesses]
    if len(set(names)) < len(names):
        raise Wrong((*path, "witnesses"), "two witnesses have keys of one name; each needs a name of its own")
    return Audit(witnesses, table.late_s, table.check_minutes)


def read_approval(written: Any) -> Approval:
    """Who approves; raises `Wrong`."""
    path: Path = ("approval",)
    table = read(written, WrittenApproval, path)
    if table.required and table.key is None:
        raise Wrong((*path, "required"), "an approval is required, and no key says whose; add approval.key")
    if table.key is not None:
        _key((*path, "key"), table.key, ED25519, "the approver's")
    return Approval(table.key, table.required)


def _witness(written: Any, path: Path) -> Witness:
    table = read(written, WrittenWitness, path)
    parts = urlsplit(table.url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment or parts.username:
        raise Wrong(
            (*path, "url"), "expected the address that add-checkpoint is below, such as https://witness.example"
        )
    _key((*path, "key"), table.key, COSIGNATURE, "the witness's cosignature")
    return Witness(table.url.rstrip("/"), table.key)


def _key(path: Path, text: str, algorithm: int, whose: str) -> None:
    try:
        key = PublicKey.parse(text)
    except BadKey as error:
        raise Wrong(path, f"expected {whose} verifier key, name+hash+base64: {error.detail}") from error
    if key.algorithm != algorithm:
        raise Wrong(path, f"expected {whose} verifier key, of algorithm {algorithm}, found one of {key.algorithm}")
