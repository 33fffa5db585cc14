"""Opens a tenant's next log: the row of its epoch, and the record that carries the last head of the log before."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from service.audit.checkpoint import BadCheckpoint, open_checkpoint
from service.audit.log_events import LogOpened
from service.audit.note import BadKey, BadNote, PublicKey
from service.audit.record import Writer
from service.errors import GainsayError, NotFound
from service.store.pool import Database
from service.store.proofs import SignedCheckpoint, latest_checkpoint
from service.store.sealing import seal_event, write, written_at


class CannotRotate(GainsayError):
    """A tenant's next log cannot be opened now."""

    code = "cannot_rotate"
    status = 409
    title = "The next log cannot be opened"


class Rotation(Struct, frozen=True):
    """A tenant's log, with its last checkpoint, and the one that follows it."""

    tenant: str
    previous: SignedCheckpoint
    log: str
    epoch: int


async def tenants(database: Database) -> list[str]:
    """Every tenant with a log, by name; raises `StoreUnavailable`."""
    return [row["tenant"] for row in await database.query("log_tenants")]


async def next_log(database: Database, tenant: str, host: str, kept: bytes | None = None) -> Rotation:
    """What opening a tenant's next log would do; nothing is written.

    ``kept`` is a checkpoint of the tenant's log that was stored elsewhere, signed: of a log whose records are all lost
    the database has none, and a signer that remembers it signs no other.

    Raises `NotFound` for a tenant without a log, and `CannotRotate` while its log has no checkpoint: nothing would
    then tie the next log to this one.
    """
    rows = await database.query("latest_log", {"tenant": tenant})
    if not rows:
        raise NotFound(f"expected a tenant with a log, found none of {tenant!r}; a tenant's first log needs no opening")
    log, epoch = rows[0]["log"], rows[0]["epoch"] + 1
    head = await latest_checkpoint(database, tenant, log)
    if kept is not None:
        if head is not None:
            raise CannotRotate(
                f"expected no checkpoint of the log {log} in the database beside the one that was kept, found one of "
                f"{head.size} records; leave --head out"
            )
        head = _signed(kept, log, rows[0]["key"])
    if head is None:
        raise CannotRotate(
            f"expected a checkpoint of the log {log}, found none; let a sequencer sign it first (`gainsay sequence`). "
            "If all of its records are lost, name with --head the last checkpoint that the signer or a witness has"
        )
    return Rotation(tenant, head, f"{host}/{tenant}/{epoch}", epoch)


def _signed(note: bytes, log: str, key: str) -> SignedCheckpoint:
    """A kept checkpoint of a log; raises `CannotRotate` for one of another log, or that its key did not sign."""
    try:
        found = open_checkpoint(note, [PublicKey.parse(key)])[0]
    except (BadKey, BadNote, BadCheckpoint) as error:
        raise CannotRotate(
            f"expected a checkpoint of the log {log}, signed by {key}, found one that is not: {error.detail}; take it "
            "from the signer's folder or from a witness"
        ) from error
    if found.origin != log:
        raise CannotRotate(f"expected a checkpoint of the log {log}, found one of {found.origin}; name its file")
    return SignedCheckpoint(log, found.size, found.root, note)


async def open_next(database: Database, rotation: Rotation, key: PublicKey, writer: Writer) -> None:
    """Open the log; new debates of the tenant go there, and begun ones stay where they are.

    Raises `CannotRotate` when another process has opened it already, and `AuditUnavailable`.
    """
    if not rotation.log.startswith(f"{key.name}/"):
        raise CannotRotate(
            f"expected a key named after the host of the log {rotation.log}, found {key.name!r}; witnesses and "
            "auditors know logs by it. Make one with `gainsay audit key new`, or correct GAINSAY_LOG_HOST"
        )
    event = LogOpened(rotation.log, rotation.epoch, key.encode(), rotation.previous.note.decode())
    now = await written_at(database)
    chain, record = seal_event(event, log=rotation.log, tenant=rotation.tenant, writer=writer, now=now)
    params = {
        "log": rotation.log,
        "tenant": rotation.tenant,
        "epoch": rotation.epoch,
        "key": key.encode(),
        "debate": UUID(chain),
        "leaf": record.leaf,
        "salt": record.salt,
        "body": record.payload,
    }
    if not await write(database, "rotate_log", params):
        raise CannotRotate(f"another process has opened the log {rotation.log} already; nothing was changed")
