"""Witnesses of the log, the register of keys, and the approver of the configuration: [audit] and [approval]."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec.structs import replace

from service.audit.note import BadKey, PublicKey
from service.policy import Approval, Audit, RegisteredKey, TimeStamps, Witness
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.file.time_stamps import checked_time_stamps

COSIGNATURE = 0x04
ED25519 = 0x01
WORDS_MAX = 500


def checked_audit(audit: Audit) -> Audit:
    """The table with usable addresses; raises `WrongSetting` for an address or a key that cannot serve."""
    path: Path = ("audit", "witnesses")
    faults, witnesses, stamps = Faults(), list[Witness](), audit.timestamps
    for i, witness in enumerate(audit.witnesses):
        with faults.noted():
            witnesses.append(_witness(witness, (*path, i)))
    names = [PublicKey.parse(witness.key).name for witness in witnesses]
    if len(set(names)) < len(names):
        faults.note(path, "two witnesses have keys of one name; each needs a name of its own")
    with faults.noted():
        check_register(audit.keys, ("audit", "keys"))
    if isinstance(stamps, TimeStamps):
        with faults.noted():
            stamps = checked_time_stamps(stamps, ("audit", "timestamps"))
    faults.refuse()
    return replace(audit, witnesses=tuple(witnesses), timestamps=stamps)


def check_register(rows: Sequence[RegisteredKey], path: Path) -> None:
    """Raise `WrongSetting` for a register with a row that can hold for nothing, or two rows of one key."""
    faults, seen = Faults(), set[bytes]()
    for i, row in enumerate(rows):
        with faults.noted():
            _check_row(row, (*path, i), seen, faults)
    faults.refuse()


def _check_row(row: RegisteredKey, at: Path, seen: set[bytes], faults: Faults) -> None:
    """Note what is wrong with a row; raises `WrongSetting` for one whose key cannot be read."""
    algorithm = COSIGNATURE if row.use == "witness" else ED25519
    key = _key((*at, "key"), row.key, algorithm, f"a {row.use}'s")
    if key.public in seen:
        faults.note((*at, "key"), "this key has a row already; a key has one row, one use and one time")
    seen.add(key.public)
    if row.since and row.until and row.until < row.since:
        faults.note((*at, "until"), f"expected {row.since} or a later day, found {row.until}")
    if row.logs and row.use == "approver":
        faults.note((*at, "logs"), "an approver signs configurations and no logs; leave it out")
    for log in row.logs:
        if not log or not log.isprintable():
            faults.note((*at, "logs"), "expected names of logs of printable characters, found another text")
        elif row.use == "log" and log != key.name and not log.startswith(f"{key.name}/"):
            faults.note((*at, "logs"), f"expected logs of the key's host {key.name}, found {log[:200]!r}")
    if len(row.vouched_by) > WORDS_MAX or not row.vouched_by.isprintable():
        faults.note((*at, "vouched_by"), f"expected at most {WORDS_MAX} printable characters")


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
    # Plain http is left to the operator: what goes out is public, and a cosignature counts by its key alone.
    _key((*path, "key"), witness.key, COSIGNATURE, "the witness's cosignature")
    return Witness(witness.url.rstrip("/"), witness.key)


def _key(path: Path, text: str, algorithm: int, whose: str) -> PublicKey:
    try:
        key = PublicKey.parse(text)
    except BadKey as error:
        raise WrongSetting(path, f"expected {whose} verifier key, name+hash+base64: {error.detail}") from error
    if key.algorithm != algorithm:
        raise WrongSetting(
            path, f"expected {whose} verifier key, of algorithm {algorithm}, found one of {key.algorithm}"
        )
    return key
