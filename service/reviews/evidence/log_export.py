"""The records of a log, streamed under one checkpoint that is chosen at the beginning.

Records are read by their leaves' indexes, a bounded window at a time. A record's time is that of its batch: when it
joined the tree, by the database's clock, usually some 50 ms after it was recorded. So a range of time is a range of
indexes. An export month by month misses no late record, and neighbouring ranges have each record once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, Literal, Self, get_args
from uuid import UUID

from msgspec import Struct

from service.audit.export import (
    FILTERS,
    Footer,
    Header,
    Row,
    encode_cells,
    encode_columns,
    encode_footer,
    encode_header,
    encode_row,
)
from service.audit.log_events import AuditRead
from service.audit.record import Writer
from service.debate.model import Status
from service.errors import BadRequest, NotProvable, did_you_mean
from service.reviews.evidence.access_record import EvidenceReader, record_access
from service.reviews.evidence.inclusion_paths import inclusion_paths
from service.reviews.instants import EMPTY_RANGE, instant, is_empty
from service.store import derived, evaluations, pool
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import LogDamaged, SignedCheckpoint, TenantLog, countersigned_checkpoint, log_of
from service.store.read_ahead import ReadAhead

Form = Literal["jsonl", "csv"]
FORMS: tuple[Form, ...] = get_args(Form)
WINDOW = 1_024
"""The most records that are read, and in memory, at one time."""
SPAN = 8_192
"""The most leaves that one query searches for those that pass a filter."""

LOOKS, LOOK_S = 30, 0.1
"""How often, and at what interval, a countersigned head is looked for."""


class Filters(Struct, frozen=True):
    """The filters of an export; ``None`` lets everything pass. The time ``since`` belongs to the range, ``until`` does
    not.

    All other filters are about debates, so records of no debate do not pass them: the task type and the present status
    of the debate, a model that it rests on, the SHA-256 of a prompt that it was given or of a document.
    """

    since: datetime | None = None
    until: datetime | None = None
    task_type: str | None = None
    status: Status | None = None
    model: str | None = None
    prompt: str | None = None
    document: str | None = None
    first: int | None = None
    """The index to begin at, for a range that begins before the first record that joined at ``since``."""
    evaluation: str | None = None
    """An evaluation, whose own records pass and those of its debates, and no others. It stands alone."""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Self:
        """The filters by the names in `FILTERS`; raises `BadRequest` for another name or an impossible value."""
        if unknown := sorted(set(asked) - set(FILTERS)):
            meant = did_you_mean(unknown[0], FILTERS)
            raise BadRequest(f"expected filters among {', '.join(FILTERS)}, found {unknown[0][:80]!r}{meant}")
        status = asked.get("status")
        if status is not None and status not in get_args(Status):
            meant = did_you_mean(status, get_args(Status))
            raise BadRequest(f"status must be one of {', '.join(get_args(Status))}, found {status[:80]!r}{meant}")
        task_type = asked.get("taskType")
        if task_type is not None and not (task_type and task_type.isprintable()):
            raise BadRequest("taskType must be the name of one, found another text")
        for name in ("model", "prompt", "document"):
            if (value := asked.get(name)) is not None:
                derived.check(name, value)
        since, until = (instant(name, asked.get(name)) for name in ("since", "until"))
        if is_empty(since, until):
            raise BadRequest(EMPTY_RANGE)
        return cls(
            since,
            until,
            task_type,
            status,  # type: ignore[arg-type] # looked up above
            asked.get("model"),
            asked.get("prompt"),
            asked.get("document"),
        )

    @property
    def asked(self) -> dict[str, str]:
        """The filters that are set, by the names in `FILTERS`."""
        named = {"since": self.since, "until": self.until, "taskType": self.task_type}
        named |= {"status": self.status, "model": self.model, "prompt": self.prompt, "document": self.document}
        named |= {"evaluation": self.evaluation}
        return {name: _cell_text(value) for name, value in named.items() if value is not None}

    @property
    def statement(self) -> str:
        """The statement that finds what passes."""
        if self.evaluation is not None:
            return "export_evaluation"
        return "export_some" if self.debates else "export_all"

    @property
    def debates(self) -> dict[str, Any] | None:
        """The query parameters of the filters about debates; ``None`` if none is set."""
        if self.evaluation is not None:
            return {"evaluation": UUID(self.evaluation)}
        found = {
            "task_type": self.task_type,
            "state": self.status,
            "model": self.model,
            "prompt": self.prompt,
            "document": self.document,
        }
        return found if any(value is not None for value in found.values()) else None


async def export(
    database: Database,
    logs: CurrentLogs,
    log: str,
    filters: Filters,
    caller: EvidenceReader,
    writer: Writer | None,
    *,
    form: Form = "jsonl",
) -> AsyncGenerator[bytes, None]:
    """The records of a log as chunks of lines; the reader, ``writer``, is recorded first.

    Awaiting this raises `NotFound`, also for another tenant's log, `NotProvable` while nothing of it is signed, and
    `AuditUnavailable`. The chunks raise `StoreUnavailable`, and `LogDamaged` if a record is missing or its bytes are
    not text. The output up to then lacks its last line, so no reader takes it for complete.
    """
    found = await log_of(database, caller.tenant, log)
    if found.head is None:
        raise NotProvable(
            f"the log {log} has no checkpoint yet, so nothing of it can be proven; check that the sequencer runs",
            retry_after=1,
        )
    asked = {"log": log, "form": form, **filters.asked}
    await record_access(database, logs, AuditRead("records", asked=asked), caller.tenant, writer)
    head = await _witnessed(database, found, found.head)
    return _jsonl(database, found, head, filters) if form == "jsonl" else _csv(database, found, head, filters)


async def evaluation_export(database: Database, evaluation: str, tenant: str) -> tuple[str, Filters]:
    """The log of an evaluation's registration, and the filter of what `export` is to have of it.

    Raises `NotProvable` while its registration is in no tree.
    """
    place = await evaluations.place_of(database, evaluation, tenant)
    if place is None:
        raise NotProvable("the registration is under no checkpoint yet; check that the sequencer runs", retry_after=1)
    return place.log, Filters(evaluation=evaluation, first=place.index)


async def _witnessed(database: Database, log: TenantLog, latest: SignedCheckpoint) -> SignedCheckpoint:
    """A countersigned head that covers all present records, if witnesses have ever countersigned this log.

    The sequencer asks them about once a second, so this waits a short time; without one the latest checkpoint is used.
    """
    if await countersigned_checkpoint(database, log.tenant, log.log, -1) is None:
        return latest
    for _ in range(LOOKS):
        if head := await countersigned_checkpoint(database, log.tenant, log.log, latest.size - 1):
            return head
        await asyncio.sleep(LOOK_S)
    return latest


async def _jsonl(
    database: Database, log: TenantLog, head: SignedCheckpoint, filters: Filters
) -> AsyncGenerator[bytes, None]:
    asked = filters.asked
    note_text = head.note.decode()
    yield encode_header(
        Header(log=log.log, key=log.key, size=head.size, checkpoint=note_text, filters=asked, complete=not asked)
    )
    count = 0
    async with aclosing(_lines(database, log.tenant, head, filters, encode_row)) as parts:
        async for records, lines in parts:
            count += records
            yield lines
    yield encode_footer(Footer(count))


async def _csv(
    database: Database, log: TenantLog, head: SignedCheckpoint, filters: Filters
) -> AsyncGenerator[bytes, None]:
    yield encode_columns()
    async with aclosing(_lines(database, log.tenant, head, filters, _cells)) as parts:
        async for _, lines in parts:
            yield lines


def _cells(row: Row) -> bytes:
    try:
        return encode_cells(row)
    except ValueError as error:
        raise LogDamaged(f"record {row.index} is not as it was sealed, so it cannot be written in columns") from error


async def _lines(
    database: Database, tenant: str, head: SignedCheckpoint, filters: Filters, line_of: Callable[[Row], bytes]
) -> AsyncGenerator[tuple[int, bytes], None]:
    """The lines of the filtered records under a head, with their number, a window at a time.

    Without filters they are all records, without paths. A window is written in a thread, while the next one is read.
    """
    first = filters.first
    if first is None:
        first = await first_leaf_since(database, tenant, head, filters.since) if filters.since else 0
    upto = await first_leaf_since(database, tenant, head, filters.until) if filters.until else head.size
    about, complete = filters.debates, not filters.asked
    span = SPAN if about else WINDOW

    async def read(first: int) -> list[pool.Row]:
        params = {"tenant": tenant, "log": head.log, "first": first, "below": min(upto, first + span), "most": WINDOW}
        return await database.query(filters.statement, {**params, **(about or {})})

    async with ReadAhead(read) as windows:
        while first < upto:
            below = min(upto, first + span)
            found = await windows.take(first, below if below < upto and not about else None)
            if not about and [row["idx"] for row in found] != list(range(first, below)):
                raise LogDamaged(f"expected the leaves {first} to {below - 1} of the log {head.log}, found others")
            leading = {} if complete else await inclusion_paths(database, tenant, head, [row["idx"] for row in found])
            if found:
                yield len(found), await asyncio.to_thread(_written, head.log, found, leading, line_of)
            first = found[-1]["idx"] + 1 if len(found) == WINDOW else below


def _written(
    log: str, rows: Sequence[pool.Row], paths: Mapping[int, Sequence[bytes]], line_of: Callable[[Row], bytes]
) -> bytes:
    return b"".join([line_of(_row(log, row, paths.get(row["idx"]))) for row in rows])


async def first_leaf_since(database: Database, tenant: str, head: SignedCheckpoint, at: datetime) -> int:
    """The first leaf that joined the tree at this time or later."""
    rows = await database.query("first_since", {"tenant": tenant, "log": head.log, "at": at})
    return min(int(rows[0]["first"]), head.size) if rows else head.size


def _row(log: str, row: pool.Row, path: Sequence[bytes] | None) -> Row:
    if row["leaf"] is None:
        raise LogDamaged(f"expected the record of leaf {row['idx']} of the log {log}, found none")
    payload = (bytes(row["salt"]), bytes(row["body"])) if row["body"] is not None else None
    context = (bytes(row["context_salt"]), bytes(row["context"])) if row["context"] is not None else None
    try:
        return Row.of(row["idx"], row["leaf"], payload=payload, context=context, path=path)
    except UnicodeDecodeError as error:
        raise LogDamaged(f"record {row['idx']} of the log {log} holds bytes that are no text") from error


def _cell_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
