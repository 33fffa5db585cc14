"""A person says which stored head of a log is the right one, because its signer has forgotten it (`audit remember`).

1  the head is the latest that is stored, and the person named its size and its root
2  it is signed by the log's key, which the signer has, and the stored tree leads to it
3  the signer does not remember it
4  who says so, why, and of which head: a record of the tenant's log
5  the signer signs that same head again, and remembers it from then on

The record is durable before the signer is asked: no head is adopted that no record tells of.
"""

from __future__ import annotations

from msgspec import Struct

from service.audit.checkpoint import Checkpoint
from service.audit.log_events import AuditRemembered
from service.audit.note import BadKey, PublicKey
from service.audit.record import Writer
from service.audit.witness import KnownCheckpoint
from service.errors import GainsayError, NotFound
from service.proving.sequencer.consistency import is_signed_head, remembered
from service.proving.signing import Signer
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import SignedCheckpoint, consistency, latest_checkpoint, root_at_size
from service.store.sealing import write_event


class CannotRemember(GainsayError):
    """A head of a log cannot be given to its signer by a person's word."""

    code = "cannot_remember"
    status = 409
    title = "The signer cannot adopt this head"


class ForgottenHead(Struct, frozen=True):
    """The latest stored head of a log that its signer does not remember, and the signer's own last, if it has one."""

    tenant: str
    key: PublicKey
    head: SignedCheckpoint
    last: KnownCheckpoint | None


class Said(Struct, frozen=True):
    """What a person says of a head: its size and root, and who says so, and why."""

    size: int
    root: bytes
    by: str
    reason: str


async def forgotten_heads(database: Database, signer: Signer) -> list[ForgottenHead]:
    """The logs whose latest head the signer does not remember, though it has their key.

    Raises the errors of the store and of the signer.
    """
    found = [await _forgotten(database, signer, row["log"]) for row in await database.query("every_log")]
    return [each for each in found if each is not None]


async def remember(
    database: Database, signer: Signer, logs: CurrentLogs, log: str, said: Said, writer: Writer
) -> AuditRemembered:
    """Record what a person says of a forgotten head, and have the signer adopt it.

    Raises `NotFound`, `CannotRemember`, `LogDamaged`, `AuditUnavailable`, and the errors of the store and the signer.
    """
    found = await _forgotten(database, signer, log)
    if found is None:
        raise CannotRemember(
            f"expected a log whose signer has forgotten its latest head, and found that the signer remembers that of "
            f"{log}, or has not its key, or that there is no head; nothing was changed"
        )
    await _expect_said(database, found, said)
    path = await consistency(database, found.tenant, log, found.last.size, found.head.size) if found.last else []
    last = found.last.size if found.last else 0
    event = AuditRemembered(log, found.head.size, found.head.root.hex(), last, said.by, said.reason)
    await write_event(database, event, await logs.current(found.tenant), found.tenant, writer)
    await signer.sign(Checkpoint(log, found.head.size, found.head.root), found.key, path)
    return event


async def _forgotten(database: Database, signer: Signer, log: str) -> ForgottenHead | None:
    """The latest head of a log, if its signer has the key and not the memory; raises `NotFound`."""
    rows = await database.query("log_key", {"log": log})
    if not rows:
        raise NotFound(f"expected a log of this database, found none called {log[:200]!r}")
    head = await latest_checkpoint(database, rows[0]["tenant"], log)
    try:
        key = PublicKey.parse(rows[0]["key"])
    except BadKey:
        raise CannotRemember(
            f"the key of the log {log} is not a verifier key any more: the database is damaged"
        ) from None
    last = await signer.last(log)
    if head is None or remembered(last, head.size) or key not in await signer.keys():
        return None
    return ForgottenHead(rows[0]["tenant"], key, head, last)


async def _expect_said(database: Database, found: ForgottenHead, said: Said) -> None:
    """Raise `CannotRemember` unless the person named the stored head, and the log's key signed it; or `LogDamaged`."""
    head = found.head
    if (said.size, said.root) != (head.size, head.root):
        raise CannotRemember(
            f"expected the latest head of the log {head.log} in the database, which has {head.size} records and the "
            f"root {head.root.hex()}, found one of {said.size} with the root {said.root.hex()}. If yours is right, "
            "this database is another or an older one, and must not be signed"
        )
    if any(row["log"] == head.log for row in await database.query("open_incidents")):
        raise CannotRemember(f"an incident of the log {head.log} is open; deal with it first (docs/sequencer.md)")
    if not is_signed_head(head.note, found.key, Checkpoint(head.log, head.size, head.root)):
        raise CannotRemember(f"the stored head of the log {head.log} is not signed by its key, {found.key.encode()}")
    if await root_at_size(database, found.tenant, head.log, head.size, head) != head.root:
        raise CannotRemember(f"the stored records of the log {head.log} do not come to its latest head")
