"""The bundle of one debate, compared with what commits to it before it leaves.

`read_debate` compares what is stored of the debate. A thread then checks signature, proofs, hashes and chain of the
finished file by the verifier's own steps, with the keys that the database has for the tenant's logs. That compares what
the debate shares with others too: prompts, policy, the tree.
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from service.audit.bundle import pack
from service.audit.log_events import AuditRead
from service.audit.note import BadKey, PublicKey
from service.audit.record import Writer
from service.audit.stored_record import Mismatch, place_of
from service.errors import EvidenceDamaged, GainsayError, NotProvable
from service.reviews.evidence.access_record import EvidenceReader, record_access
from service.reviews.evidence.bundle_files import compose_files
from service.reviews.evidence.covering_head import covering_head
from service.reviews.evidence.stored_parts import BundleParts, read_parts
from service.store.current_log import CurrentLogs
from service.store.damage import damaged_debate, note_damage
from service.store.pool import Database, Row
from service.store.proofs import LogDamaged, logs_of, proven
from service.store.stored_debate import read_debate
from service.verify.bundle import find_damage
from service.verify.steps import Trust, VerificationStep

OF_LOG = frozenset({"signature", "tree", "logs"})
"""The steps that fail for what a log has, and every bundle of it: that is no damage of one debate."""


class NotOver(GainsayError):
    """A debate's evidence is not complete before the debate has ended."""

    code = "not_over"
    status = 409
    title = "The debate is not over"


async def bundle(
    database: Database,
    logs: CurrentLogs,
    debate: str,
    caller: EvidenceReader,
    writer: Writer | None,
    *,
    left: bool = False,
) -> bytes:
    """Everything that one decision rests on, in one ZIP; the reader, ``writer``, is recorded first.

    ``left`` says that the debate's log was left after a loss: nothing more of it is signed, so nothing is waited for.

    Raises `NotFound`, `NotOver` while the debate goes on, `NotProvable` while no checkpoint covers its last record
    or a report that was issued, `AuditUnavailable` when the reading cannot be recorded, `OtherBuild` when only another
    build has the words that the debate names, `LogDamaged` when the log does not prove its records, and
    `EvidenceDamaged`.
    """
    head = (await read_debate(database, debate, caller.tenant, documents=True)).head
    debate = str(UUID(debate))  # the canonical spelling
    if head["state"] in ("queued", "running"):
        raise NotOver(
            f"debate {debate} is {head['state']}, and its evidence is complete when it has ended; ask again then",
            retry_after=5,
        )
    place = await proven(database, caller.tenant, debate, head["next_n"] - 1)
    if place is None:
        raise NotProvable(
            f"debate {debate} has ended and is recorded, but no checkpoint of the log covers it yet, so its bundle is "
            "held; ask again, and if this persists, check that the sequencer runs",
            retry_after=1,
        )
    try:
        covering = await covering_head(database, caller.tenant, debate, place, left=left)
        await record_access(database, logs, AuditRead("bundle", debate), caller.tenant, writer)
        gathered = await read_parts(database, debate, head, place, covering)
    except LogDamaged as error:
        damage = Mismatch(f"the tree of the log {place.log}", f"does not agree with its checkpoints: {error.detail}")
        await note_damage(database, "log", damage, tenant=head["tenant"], log=place.log)
        raise
    trust = Trust(keys=await _keys(database, debate, head), allow_unwitnessed=True)
    # In a thread: the report reads long texts, and hashing takes time too.
    content, failed = await asyncio.to_thread(_packed, gathered, trust)
    if failed is None:
        return content
    place_in = place_of(failed.record) if failed.record is not None else f"its bundle, at the step {failed.name}"
    differs = Mismatch(place_in, f"does not agree with the log: {failed.detail}")
    log = _log_at_fault(failed, gathered)
    if log is None:
        raise await damaged_debate(database, debate, head, differs)
    of_log = Mismatch(f"the log {log}", f"fails at the step {failed.name} of a bundle: {failed.detail}")
    await note_damage(database, "log", of_log, tenant=head["tenant"], log=log)
    raise EvidenceDamaged(debate, differs.place, differs.what)


def _log_at_fault(failed: VerificationStep, gathered: BundleParts) -> str | None:
    """The log whose head or tree is damaged; ``None`` where the damage is the debate's own."""
    if failed.name in OF_LOG or (failed.file or "").startswith("times/"):
        return gathered.place.log
    proofs = {f"issued/{nth:04d}.tlog-proof": each.head.log for nth, each in enumerate(gathered.issued, 1)}
    return proofs.get(failed.file or "")


def _packed(gathered: BundleParts, trust: Trust) -> tuple[bytes, VerificationStep | None]:
    """The file, or the step at which it is not what was recorded."""
    made = compose_files(gathered)
    failed = find_damage(made, trust)
    return (b"", failed) if failed else (pack(made), None)


async def _keys(database: Database, debate: str, head: Row) -> tuple[PublicKey, ...]:
    """The keys of the tenant's logs; raises `EvidenceDamaged` for one that is none."""
    found = []
    for log in await logs_of(database, head["tenant"]):
        try:
            found.append(PublicKey.parse(log.key))
        except BadKey as error:
            damage = Mismatch(f"the key of the log {log.log}", "is not a verifier key any more")
            await note_damage(database, "log", damage, tenant=log.tenant, log=log.log)
            raise EvidenceDamaged(debate, damage.place, damage.what) from error
    return tuple(found)
