"""The pack of a period: the records of each log, and the bundle of each decision, written one after the other.

Nothing but names and counts is kept in memory; rows of the table wait in a file.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct

from service.audit.bundle import unpack
from service.audit.checkpoint import parse_checkpoint
from service.audit.export import decode_header, decode_row
from service.audit.note import parse_note
from service.audit.pack import (
    DAY,
    MODE,
    README,
    SUMMARY,
    TABLE,
    PackCounts,
    PackedLog,
    Summary,
    encode_columns,
    encode_row,
    encode_summary,
    readme,
)
from service.audit.record import Writer, open_leaf
from service.errors import BadRequest, NotProvable
from service.report.pack_row import pack_row
from service.reviews.evidence.access_record import EvidenceReader
from service.reviews.evidence.debate_bundle import bundle
from service.reviews.evidence.log_export import Filters, export, first_leaf_since
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import TenantLog, logs_of
from service.verify.opened_bundle import OpenedBundle
from service.verify.pack import begins, described, ends


class Packed(Struct, frozen=True):
    """What a pack holds, for the one who made it."""

    decisions: int
    logs: int


class _Pack:
    """The ZIP, and the hash of each file that was written."""

    def __init__(self, out: IO[bytes]) -> None:
        self.zip = zipfile.ZipFile(out, "w", zipfile.ZIP_STORED)
        self.files: dict[str, str] = {}

    async def stream(self, path: str, chunks: AsyncIterator[bytes]) -> None:
        """Write a file in pieces."""
        hashed = sha256()
        info = zipfile.ZipInfo(path, DAY)
        info.external_attr = MODE
        with self.zip.open(info, "w", force_zip64=True) as file:
            async for chunk in chunks:
                hashed.update(chunk)
                file.write(chunk)
        self.files[path] = hashed.hexdigest()

    def write(self, path: str, content: bytes) -> str:
        """Write a file; returns its hash."""
        info = zipfile.ZipInfo(path, DAY)
        info.external_attr = MODE
        self.zip.writestr(info, content)
        self.files[path] = sha256(content).hexdigest()
        return self.files[path]


async def pack(
    database: Database,
    logs: CurrentLogs,
    period: tuple[datetime, datetime],
    caller: EvidenceReader,
    writer: Writer,
    out: IO[bytes],
) -> Packed:
    """Write the pack of a period, from its beginning to before its end, to ``out``.

    Each reading is recorded, as that of any export and bundle.
    Raises `BadRequest` for an empty period, and what `export` and `bundle` raise.
    """
    since, until = period
    if since >= until:
        raise BadRequest("expected a period that ends after it begins; --until is not part of it")
    found = [log for log in await logs_of(database, caller.tenant) if log.head is not None]
    if not found:
        raise NotProvable("no log of this tenant has a checkpoint yet; check that the sequencer runs", retry_after=1)
    for log in found:
        await _expect_covered(database, log, until)
    filters, packed = Filters(since=since, until=until), _Pack(out)
    times = filters.asked
    packed.write(README, readme(caller.tenant, times["since"], times["until"]))
    listed, ended, begun = list[PackedLog](), list[str](), set[str]()
    for number, log in enumerate(found, start=1):
        reading = _Reading(log, f"logs/{number:04d}.jsonl", ended, begun, await _beginning(database, log, since))
        async with aclosing(await export(database, logs, log.log, filters, caller, writer)) as chunks:
            await packed.stream(reading.file, reading.read(chunks))
        listed.append(reading.listed())
    counts = Counter[str]()
    with TemporaryFile() as table:
        table.write(encode_columns())
        for debate in ended:
            content, path = await bundle(database, logs, debate, caller, writer), f"bundles/{debate}.zip"
            opened = OpenedBundle(unpack(content))
            row = pack_row(opened.debate.entries, described(opened, path, packed.write(path, content)))
            counts[row["status"]] += 1
            table.write(encode_row(row))
        table.seek(0)
        await packed.stream(TABLE, _pieces(table))
    summary = Summary(
        tenant=caller.tenant,
        since=times["since"],
        until=times["until"],
        logs=tuple(listed),
        counts=PackCounts(len(ended), dict(sorted(counts.items())), len(begun.difference(ended))),
        files=dict(sorted(packed.files.items())),
    )
    packed.write(SUMMARY, encode_summary(summary))
    packed.zip.close()
    return Packed(len(ended), len(listed))


async def _expect_covered(database: Database, log: TenantLog, until: datetime) -> None:
    """Raise `BadRequest` for a period that is not over, `NotProvable` for records of it that no checkpoint covers."""
    (joined,) = await database.query("joined_before", {"log": log.log, "at": until})
    if not joined["past"]:
        raise BadRequest("expected a period that is over; choose an --until that has passed")
    if log.head is None or joined["leaves"] > log.head.size:
        raise NotProvable(
            f"records of {log.log} from before {until.isoformat()} are under no checkpoint yet; check that the "
            "sequencer runs, and ask again",
            retry_after=1,
        )


async def _beginning(database: Database, log: TenantLog, since: datetime) -> int:
    """The index at which a period begins, also where nothing joined the log in it."""
    return 0 if log.head is None else await first_leaf_since(database, log.head, since)


class _Reading:
    """The lines of a log's export as they pass: which debates begin and end in it."""

    def __init__(self, log: TenantLog, file: str, ended: list[str], begun: set[str], first: int) -> None:
        self.file = file
        self._log, self._ended, self._begun = log, ended, begun
        self._size, self._root = 0, ""
        self._first = self._next = first

    async def read(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks, unchanged."""
        async for chunk in chunks:
            for line in chunk.splitlines(keepends=True):
                self._line(line)
            yield chunk

    def listed(self) -> PackedLog:
        """The log as the summary has it."""
        return PackedLog(self._log.log, self._first, self._next, self._size, self._root, self.file)

    def _line(self, line: bytes) -> None:
        if not line.startswith(b'{"index":'):
            self._head(line)
            return
        row = decode_row(line)
        self._next = row.index + 1
        envelope = open_leaf(row.leaf.encode())
        if begins(envelope):
            self._begun.add(envelope.debate)
        if ends(envelope, row.payload):
            self._ended.append(envelope.debate)

    def _head(self, line: bytes) -> None:
        if line.startswith(b'{"format":'):
            head = parse_checkpoint(parse_note(decode_header(line).checkpoint.encode()).text)
            self._size, self._root = head.size, head.root.hex()


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := file.read(1 << 20):
        yield piece
