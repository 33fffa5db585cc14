"""The pack of a period: the records of each log, and the bundle of each decision, written one after the other.

Nothing but names and counts is kept in memory; rows of the table wait in a file.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime, timedelta
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from service.audit.archive import PIECE
from service.audit.bundle import unpack
from service.audit.checkpoint import parse_checkpoint
from service.audit.earlier_head import EarlierHead
from service.audit.export import decode_header, decode_row
from service.audit.log_events import AuditRead
from service.audit.note import parse_note
from service.audit.pack import (
    DAMAGE_MAX,
    README,
    SUMMARY,
    TABLE,
    PackCounts,
    PackedLog,
    Period,
    Summary,
    before_file,
    bundle_file,
    encode_columns,
    encode_row,
    encode_summary,
    log_file,
    readme,
    written_time,
)
from service.audit.record import Envelope, Writer, open_leaf
from service.errors import BadRequest, EvidenceDamaged, GainsayError, IllegalEntry, NotFound, NotProvable
from service.report.pack_row import pack_row
from service.reviews.evidence.access_record import EvidenceDesk, EvidenceReader, record_access
from service.reviews.evidence.bundle_files import OtherBuild
from service.reviews.evidence.debate_bundle import NotOver, bundle
from service.reviews.evidence.hashed_archive import HashedArchive
from service.reviews.evidence.log_export import LOOK_S, LOOKS, Filters, export, first_leaf_since
from service.reviews.evidence.stored_parts import UNDER_WAY_S
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import (
    LogDamaged,
    SignedCheckpoint,
    TenantLog,
    consistency,
    countersigned_before,
    countersigned_checkpoint,
    logs_of,
)
from service.verify.opened_bundle import OpenedBundle
from service.verify.pack import begins, described, ends

SETTLED_S: float = UNDER_WAY_S
"""How long after its end a period is over: until then a record that is dated in it may be under way. It is also how far
the countersigned heads before and after a period are from it, more than clocks are apart."""


class Packed(Struct, frozen=True):
    """What a pack holds, for the one who made it. ``damaged`` are the decisions that have no bundle, and why."""

    decisions: int
    logs: int
    damaged: dict[str, str]


async def pack(
    database: Database,
    logs: CurrentLogs,
    period: tuple[datetime, datetime],
    caller: EvidenceReader,
    writer: Writer,
    out: IO[bytes],
) -> Packed:
    """Write the pack of a period, from its beginning to before its end, to ``out``.

    Each reading is recorded, as that of any export and bundle. A decision that is damaged has no bundle and no row, and
    is named in the summary. Raises `BadRequest` for an empty period, and what `export` and `bundle` raise else.
    """
    since, until = period
    if since >= until:
        raise BadRequest("expected a period that ends after it begins; --until is not part of it")
    opened = await logs_of(database, caller.tenant)
    for log in opened:
        await _expect_covered(database, log, until)
    found = [log for log in opened if log.head is not None]
    if not found:
        raise NotProvable(
            f"no log of the tenant {caller.tenant!r} has a checkpoint yet; check its name (`gainsay tenants list`), "
            "and that the sequencer runs",
            retry_after=1,
        )
    desk = EvidenceDesk(database, logs, caller, writer)
    if found[-1] is opened[-1]:  # else a new record joins a log that is not in the pack
        await _let_witnesses_see(desk, found[-1], period)
    made = HashedArchive(out)
    made.write(README, readme(caller.tenant, written_time(since), written_time(until)))
    decisions, listed = _Decisions(Period.of(since, until)), list[PackedLog]()
    for number, log in enumerate(found, start=1):
        listed.append(await _write_log(desk, log, number, since, decisions, made))
    statuses, damaged = await _write_bundles(desk, decisions, made)
    done = len(decisions.ended) - len(damaged)
    summary = Summary(
        tenant=caller.tenant,
        since=written_time(since),
        until=written_time(until),
        logs=tuple(listed),
        counts=PackCounts(done, statuses, len(decisions.begun.difference(decisions.ended))),
        damaged=damaged,
        files=dict(sorted(made.files.items())),
    )
    made.write(SUMMARY, encode_summary(summary))
    made.close()
    return Packed(done, len(listed), damaged)


async def _expect_covered(database: Database, log: TenantLog, until: datetime) -> None:
    """Raise `BadRequest` for a period that is not over, `NotProvable` for records of it that no checkpoint covers."""
    over = until + timedelta(seconds=SETTLED_S)
    (joined,) = await database.query(
        "joined_before", {"tenant": log.tenant, "log": log.log, "until": until, "at": over}
    )
    if not joined["past"]:
        raise BadRequest("expected a period that is over; choose an --until that has passed")
    if not joined["settled"]:
        raise NotProvable(
            f"records from before {until.isoformat()} may still be under way; ask again in {SETTLED_S:.0f} s",
            retry_after=round(SETTLED_S),
        )
    if joined["waiting"] or joined["leaves"] > (log.head.size if log.head else 0):
        raise NotProvable(
            f"records of {log.log} from before {until.isoformat()} are under no checkpoint yet; check that the "
            "sequencer runs, and ask again",
            retry_after=1,
        )


async def _let_witnesses_see(desk: EvidenceDesk, log: TenantLog, period: tuple[datetime, datetime]) -> None:
    """Have the newest log countersigned after the period: a new record makes a new head.

    A witness that is away is not awaited. Then the pack is LOOSELY DATED to a reader who pins its key, and says so.
    """
    since, until = period
    if await countersigned_checkpoint(desk.database, log.tenant, log.log, -1) is None:
        return
    params = {"tenant": log.tenant, "log": log.log, "at": until + timedelta(seconds=SETTLED_S)}
    if not await desk.database.query("countersigned_since", params):
        asked = {"log": log.log, "form": "jsonl", **Filters(since=since, until=until).asked}
        await record_access(
            desk.database, desk.logs, AuditRead("records", asked=asked), desk.caller.tenant, desk.writer
        )
    for _ in range(LOOKS):
        if await desk.database.query("countersigned_since", params):
            return
        await asyncio.sleep(LOOK_S)


async def _write_log(
    desk: EvidenceDesk, log: TenantLog, number: int, since: datetime, decisions: _Decisions, made: HashedArchive
) -> PackedLog:
    """Write the records of a log from before the period on, and the countersigned head that they follow."""
    database = desk.database
    before, first = await _beginning(database, log, since)
    lines = _Lines(decisions)
    filters = Filters(since=since, first=first)
    reading = await export(database, desk.logs, log.log, filters, desk.caller, desk.writer)
    async with aclosing(reading) as chunks:
        await made.stream(log_file(number), lines.read(chunks))
    if before is not None and first:
        path = await consistency(database, log.tenant, log.log, before.size, lines.size)
        made.write(before_file(number), EarlierHead(tuple(path), before.note).encode())
    return PackedLog(log.log, first, lines.size, lines.root)


async def _beginning(database: Database, log: TenantLog, since: datetime) -> tuple[SignedCheckpoint | None, int]:
    """The newest head that was countersigned before a period, and the index of the first record of its pack.

    A log that was first countersigned later is packed from its beginning. One that has no witness at all is packed from
    the first record that joined it shortly before the period, by the word of this database.
    """
    if log.head is None:
        return None, 0
    settled = since - timedelta(seconds=SETTLED_S)
    joined = await first_leaf_since(database, log.tenant, log.head, settled)
    if before := await countersigned_before(database, log.tenant, log.log, joined, settled.timestamp()):
        return before, before.size
    return None, 0 if await countersigned_checkpoint(database, log.tenant, log.log, -1) else joined


async def _write_bundles(
    desk: EvidenceDesk, decisions: _Decisions, made: HashedArchive
) -> tuple[dict[str, int], dict[str, str]]:
    """Write each bundle and the table; returns the statuses, and each decision that is damaged."""
    statuses, damaged = Counter[str](), dict[str, str]()
    with TemporaryFile() as table:
        table.write(encode_columns())
        for debate in decisions.ended:
            try:
                content, row = await _decision(desk, debate)
            except (EvidenceDamaged, IllegalEntry, NotFound, NotOver) as found:
                damaged[debate] = _damage(debate, found)
                continue
            made.write(bundle_file(debate), content)
            statuses[row["status"]] += 1
            table.write(encode_row(row))
        table.seek(0)
        await made.stream(TABLE, _pieces(table))
    return dict(sorted(statuses.items())), damaged


async def _decision(desk: EvidenceDesk, debate: str) -> tuple[bytes, dict[str, str]]:
    """The bundle of a decision, and its row.

    Raises what `bundle` raises, `IllegalEntry` for entries of no whole debate, and `OtherBuild`, which names the
    debate: the build that recorded it can write the pack, so the decision is not damaged.
    """
    content = await bundle(desk.database, desk.logs, debate, desk.caller, desk.writer)
    opened = OpenedBundle(unpack(content))
    if gap := opened.debate.gap:
        raise OtherBuild(
            f"the row of debate {debate} cannot be made by this build: {gap}; make the pack with the build that "
            "recorded it, or with a later one",
            retry_after=5,
        )
    packed = described(opened, bundle_file(debate), sha256(content).hexdigest())
    return content, pack_row(opened.debate.entries, packed)


def _damage(debate: str, found: GainsayError) -> str:
    """What the summary says of a decision that has no bundle."""
    if isinstance(found, EvidenceDamaged):
        return found.detail[:DAMAGE_MAX]
    what = f"debate {debate} is damaged: its records in the log do not agree with what else is stored of it"
    return f"{what}: {found.detail}"[:DAMAGE_MAX]


class _Decisions:
    """Which debates begin and end in a period, in the order of their ends."""

    def __init__(self, period: Period) -> None:
        self._period = period
        self.ended: dict[str, None] = {}
        self.begun: set[str] = set()

    def take(self, index: int, leaf: str, payload: str | None) -> None:
        """The next record; raises `LogDamaged` for a leaf that is none."""
        try:
            envelope = open_leaf(leaf.encode())
            of_period = self._period.has(envelope.recorded)
        except ValueError as error:
            raise LogDamaged(f"record {index} is not as it was sealed, so no pack has it") from error
        if of_period and begins(envelope):
            self.begun.add(envelope.debate)
        if of_period and _may_end(envelope, payload):
            self.ended[envelope.debate] = None


def _may_end(envelope: Envelope, payload: str | None) -> bool:
    """Whether a record is the last of its debate; also where it is damaged, so that its bundle names the damage."""
    try:
        return ends(envelope, payload)
    except ValueError:
        return True


class _Lines:
    """The lines of a log's export as they pass."""

    def __init__(self, decisions: _Decisions) -> None:
        self._decisions = decisions
        self.size, self.root = 0, ""

    async def read(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks, unchanged."""
        async for chunk in chunks:
            for line in chunk.splitlines(keepends=True):
                self._line(line)
            yield chunk

    def _line(self, line: bytes) -> None:
        if line.startswith(b'{"index":'):
            row = decode_row(line)
            self._decisions.take(row.index, row.leaf, row.payload)
        elif line.startswith(b'{"format":'):
            head = parse_checkpoint(parse_note(decode_header(line).checkpoint.encode()).text)
            self.size, self.root = head.size, head.root.hex()


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
