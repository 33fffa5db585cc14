"""The register of verifier keys: what the operator says of them in the policy, and what the database knows.

Both are the operator's word. A verifier pins keys that it got by another way, and takes none from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal

from msgspec import Struct

from service.audit.note import PublicKey, parse_signature_line
from service.policy import Policy, RegisteredKey
from service.store.pool import Database, Row
from service.store.sealing import headline_fields

Use = Literal["log", "witness", "approver"]
Source = Literal["register", "policy", "database"]


class DatedSize(Struct, frozen=True):
    """A signed or countersigned head: its size, and when the database stored that, by its own clock."""

    size: int
    """The number of records under the head."""
    at: str
    """When the database stored it, by the database's clock."""


class SignedHeads(Struct, frozen=True, rename="camel"):
    """The first and the latest head of a log that a key signed, as the database knows them."""

    log: str
    """The name of the log."""
    first: DatedSize | None
    """The first head that the key signed."""
    last: DatedSize | None
    """The latest head that the key signed."""


class KeyInRegister(Struct, frozen=True, kw_only=True, rename="camel"):
    """A verifier key, what it is for, and who stands for it in the operator's words."""

    always_sent: ClassVar = ("known_by",)

    use: Use
    """What the key signs: heads of logs, heads as a witness, or approvals."""
    name: str
    """The name in the key."""
    hash: str
    """The key's own id, four bytes in hexadecimal."""
    key: str
    """The verifier key, in the form of signed notes."""
    logs: tuple[str, ...] = ()
    """The logs that it signs, or the beginnings of their names. Absent: all of its host."""
    since: str | None = None
    """The first day on which it signs, in UTC."""
    until: str | None = None
    """The last day on which it signs, in UTC."""
    vouched_by: str | None = None
    """Who stands for it, in the operator's words."""
    known_by: tuple[Source, ...] = ()
    """Where the key is named: the operator's register, another part of policy, or the database."""
    heads: tuple[SignedHeads, ...] = ()
    """The first and the latest head that it signed in each log. Absent if the database knows none."""


async def key_register(database: Database, policy: Policy, tenant: str) -> tuple[KeyInRegister, ...]:
    """Every verifier key that policy or a log of the tenant names, the logs' first; raises `StoreUnavailable`."""
    rows = await database.query("key_heads", {"tenant": tenant})
    signed = [(PublicKey.parse(row["key"]), _heads(row)) for row in rows]
    named = {row.key: row for row in policy.audit.keys}
    witnesses = [PublicKey.parse(key) for key in _witnesses(policy)]
    names = sorted({key.name for key in witnesses})
    lines = await database.query("witness_heads", {"tenant": tenant, "names": names})
    found = [_listed("log", key, named, policy, [h for k, h in signed if k == key]) for key in _unique(signed, named)]
    found += [_listed("witness", key, named, policy, list(_countersigned(key, lines))) for key in witnesses]
    return (*found, *(_listed("approver", PublicKey.parse(key), named, policy, []) for key in _approvers(policy)))


def _witnesses(policy: Policy) -> Sequence[str]:
    return _all([witness.key for witness in policy.audit.witnesses], policy.audit.keys, "witness")


def _approvers(policy: Policy) -> Sequence[str]:
    return _all([policy.approval.key] if policy.approval.key else [], policy.audit.keys, "approver")


def _all(keys: Iterable[str], rows: Iterable[RegisteredKey], use: Use) -> Sequence[str]:
    return tuple(dict.fromkeys([*keys, *(row.key for row in rows if row.use == use)]))


def _unique(signed: Iterable[tuple[PublicKey, SignedHeads]], named: dict[str, RegisteredKey]) -> Sequence[PublicKey]:
    """The keys of logs: those of the database, and those that only the register names."""
    others = (PublicKey.parse(row.key) for row in named.values() if row.use == "log")
    return tuple(dict.fromkeys([*(key for key, _ in signed), *others]))


def _listed(
    use: Use, key: PublicKey, named: dict[str, RegisteredKey], policy: Policy, heads: Sequence[SignedHeads]
) -> KeyInRegister:
    row, text = named.get(key.encode()), key.encode()
    own = row if row is not None and row.use == use else RegisteredKey(text, use)
    in_policy = text in (policy.approval.key, *(witness.key for witness in policy.audit.witnesses))
    sources: list[Source] = ["register"] if own is row else []
    sources += ["policy"] if in_policy else []
    sources += ["database"] if heads else []
    return KeyInRegister(
        use=use,
        name=key.name,
        hash=key.id.hex(),
        key=text,
        logs=own.logs,
        since=own.since,
        until=own.until,
        vouched_by=own.vouched_by or None,
        known_by=tuple(sources),
        heads=tuple(heads),
    )


def _heads(row: Row) -> SignedHeads:
    return SignedHeads(row["log"], _dated(row, "first"), _dated(row, "last"))


def _countersigned(key: PublicKey, rows: Iterable[Row]) -> Iterator[SignedHeads]:
    """What a witness's key countersigned first and last; the ends that another key of its name gave are left out."""
    for row in rows:
        first = _dated(row, "first") if _is_of(row["first_line"], key) else None
        last = _dated(row, "last") if _is_of(row["last_line"], key) else None
        if first or last:
            yield SignedHeads(row["log"], first, last)


def _is_of(line: str, key: PublicKey) -> bool:
    signature = parse_signature_line(line)
    return (signature.name, signature.key_id) == (key.name, key.id)


def _dated(row: Row, end: str) -> DatedSize | None:
    return None if row[end] is None else DatedSize(row[end], headline_fields(row[f"{end}_at"]))
