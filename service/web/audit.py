"""The endpoints of the audit log: its heads, proofs, tiles and records, the bundle of a debate, and recall.

A log is served as C2SP tlog-tiles has it, below /v1/audit/logs/{host}/{tenant}/{epoch}: the checkpoint is the only
resource that changes. Each caller finds the logs of its own tenant, and no others. The service records each reader of
evidence (a bundle, records, a recall) before it answers. Heads, proofs and tiles of hashes disclose nothing about a
case. A bundle of leaves tells of each case its id, its times and who acted: it is for those who may read all of them.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from typing import ClassVar
from uuid import UUID

from litestar import Response, get
from litestar.response import Stream
from msgspec import Struct

from service.audit.export import FILTERS
from service.audit.note import encode_base64
from service.audit.proof import TlogProof
from service.audit.tiles import WIDTH, TilePath, encode_entries, parse_tile_path
from service.debate.model import Status
from service.errors import BadRequest, NotFound, NotProvable
from service.reviews import evidence
from service.reviews.evidence.impact import affected_decisions
from service.reviews.evidence.key_register import KeyInRegister, key_register
from service.reviews.evidence.log_export import FORMS, Form
from service.reviews.query_parameters import page_size
from service.store import proofs
from service.store.derived import ASKED, Asked
from service.store.impact import AffectedDebate, RecallQuery
from service.store.proofs import SignedCheckpoint, TenantLog
from service.store.stored_debate import read_head
from service.web import headers
from service.web.access import expect_whole
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller, database, reader, receiver
from service.web.codings import wanted_coding
from service.web.cut_short import content_of, cut_short
from service.web.debates import ASK_AGAIN, answered, cursor, known_query, linked, one_of
from service.web.file_names import kept_as
from service.web.problems import NotAcceptable
from service.web.types import address

TEXT = "text/plain"
OCTETS = "application/octet-stream"
ZIP = "application/zip"
RECORDS: dict[str, Form] = {"application/jsonl": "jsonl", "application/x-ndjson": "jsonl", "text/csv": "csv"}
FOR_EVER = "private, max-age=31536000, immutable"
"""Full tiles never change. They belong to one tenant, so no shared cache may store them."""
GZIP_LEVEL = 6

_NUMBER = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
_ENTRY = re.compile(r"(?P<debate>[0-9a-fA-F-]{36})\.(?P<n>0|[1-9]\d{0,8})", re.ASCII)


class LogDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A log: its name, which is the origin of its checkpoints, and the verifier key of their signatures.

    ``size`` and ``root`` (hex) are those of the latest checkpoint, absent before the first.
    """

    log: str
    """The name of the log: host, tenant and number."""
    epoch: int
    """The number of the tenant's log, from 1. Each rotation begins a further one."""
    key: str
    """The verifier key of the log's signer, in the form of signed notes."""
    size: int | None
    """The number of records under the latest checkpoint. Absent before the first."""
    root: str | None
    """The root of the latest checkpoint, SHA-256 in hexadecimal. Absent before the first."""
    href: str
    """The path below which the log is served."""

    @classmethod
    def of(cls, found: TenantLog) -> LogDetail:
        """The same with its address."""
        size, root = (found.head.size, found.head.root.hex()) if found.head else (None, None)
        return cls(
            log=found.log, epoch=found.epoch, key=found.key, size=size, root=root, href=f"/v1/audit/logs/{found.log}"
        )


class LogList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The tenant's logs, oldest first. New debates go to the last."""

    always_sent: ClassVar = ("logs",)

    logs: tuple[LogDetail, ...]
    """The tenant's logs, the oldest first."""


class RecalledDebate(Struct, frozen=True, kw_only=True, rename="camel"):
    """A debate that rests on the value searched for, and the place of its last record in the log."""

    debate_id: str
    task_type: str
    status: Status
    """The state: `running` until the end is provable, and `failed` where it never will be (`records_lost`)."""
    created_at: str
    """The time of the debate's first record."""
    log: str
    """The name of the log that holds its records."""
    index: int | None
    """The index of its last record's leaf, from 0. Absent while the tree holds none of its records."""
    href: str
    """The path of the debate."""

    @classmethod
    def of(cls, found: AffectedDebate) -> RecalledDebate:
        """The same with its address."""
        return cls(
            debate_id=found.debate,
            task_type=found.task_type,
            status=found.status,
            created_at=found.created,
            log=found.log,
            index=found.index,
            href=address(found.debate),
        )


class RecallList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The value searched for, and the debates that rest on it, newest first. ``next`` is as in the list of debates."""

    always_sent: ClassVar = ("debates",)

    asked: Asked
    """What was searched for."""
    value: str
    """The value that was searched for."""
    debates: tuple[RecalledDebate, ...]
    """The debates that rest on it, the newest first."""
    next: str | None
    """The value of `after` for the next page. Absent on the last page."""


class KeyList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Verifier keys by the word of the operator and of the database, for information: none of them is a pin."""

    always_sent: ClassVar = ("keys",)

    keys: tuple[KeyInRegister, ...]
    """The keys, those of logs first."""


@get("/v1/audit/keys")
async def verifier_keys(request: HttpRequest) -> Response[bytes]:
    """The register of verifier keys."""
    known_query(request, ())
    site = app_state(request)
    found = await key_register(database(request), site.service.reviews.deployment.policy, caller(request).tenant)
    return answered(KeyList(keys=found))


@get("/v1/audit/logs")
async def logs(request: HttpRequest) -> Response[bytes]:
    """The caller's logs, each with its latest checkpoint."""
    known_query(request, ())
    found = await proofs.logs_of(database(request), caller(request).tenant)
    return answered(LogList(logs=tuple(map(LogDetail.of, found))))


@get("/v1/audit/logs/{host:str}/{tenant:str}/{epoch:str}/checkpoint")
async def checkpoint(request: HttpRequest) -> Response[bytes]:
    """The latest checkpoint, with its cosignatures."""
    known_query(request, ())
    _, head = await _log_with_checkpoint(request)
    return _plain(head.note)


@get("/v1/audit/logs/{host:str}/{tenant:str}/{epoch:str}/proof/{record:str}")
async def proof(request: HttpRequest) -> Response[bytes]:
    """The proof that a record is in the log (C2SP tlog-proof)."""
    known_query(request, ("size",))
    log, head = await _log_with_checkpoint(request)
    if (size := _whole_number(request, "size")) is not None:
        head = await _head_at(request, log, size)
    index = await _index(request, log, str(request.path_params["record"]))
    if index >= head.size:
        raise NotFound(f"record {index} is not under the checkpoint of {head.size} records; ask for a later one")
    path = await proofs.inclusion(database(request), log.tenant, log.log, index, head.size)
    return _plain(TlogProof(index, tuple(path), head.note).encode())


@get("/v1/audit/logs/{host:str}/{tenant:str}/{epoch:str}/consistency")
async def consistency(request: HttpRequest) -> Response[bytes]:
    """The proof that an older size of the log is a prefix of a later one (RFC 9162, 2.1.4), one base64 hash a line."""
    known_query(request, ("from", "to"))
    log, head = await _log_with_checkpoint(request)
    old, new = _whole_number(request, "from"), _whole_number(request, "to")
    if old is None:
        raise BadRequest("expected ?from=, the older size of the log in records, found none")
    if new is not None:
        head = await _head_at(request, log, new)
    if old > head.size:
        raise BadRequest(f"expected from= to be at most {head.size}, the size of the newer head, found {old}")
    path = await proofs.consistency(database(request), log.tenant, log.log, old, head.size)
    return _plain("".join(f"{encode_base64(node)}\n" for node in path).encode())


@get("/v1/audit/logs/{host:str}/{tenant:str}/{epoch:str}/tile/{path:path}")
async def tile(request: HttpRequest) -> Response[bytes]:
    """A tile of hashes, or a bundle of leaves (C2SP tlog-tiles), as they are stored."""
    known_query(request, ())
    log, head = await _log_with_checkpoint(request)
    place = _tile(str(request.path_params["path"]))
    if place.level == "entries":
        expect_whole(caller(request), "evidence.read", "the leaves of all cases")
    level = 0 if place.level == "entries" else place.level
    if not proofs.has_tile(level, place.n, place.width, head.size):
        raise NotFound(f"the log of {head.size} records under its checkpoint has no such tile")
    if place.level == "entries":
        content = encode_entries(await proofs.entries(database(request), log.tenant, log.log, place.n, place.width))
    else:
        content = await proofs.tile(database(request), log.tenant, log.log, level, place.n, place.width)
    kept = FOR_EVER if place.width == WIDTH else ASK_AGAIN
    return Response(content=content, media_type=OCTETS, headers={"Cache-Control": kept})


@get("/v1/audit/logs/{host:str}/{tenant:str}/{epoch:str}/records")
async def records(request: HttpRequest) -> Stream:
    """The records of the log under its latest checkpoint, all or filtered, as JSONL with proofs or as CSV."""
    known_query(request, (*FILTERS, "format"))
    site, log = app_state(request), _name(request)
    form, media = _export_form(request)
    asked = {name: request.query_params.get(name) for name in FILTERS}
    filters = evidence.Filters.of({name: value for name, value in asked.items() if value is not None})
    chunks: AsyncIterator[bytes] = await evidence.export(
        database(request), site.logs, log, filters, caller(request), receiver(request), form=form
    )
    header_fields = {
        "Cache-Control": "no-store",
        "Vary": "Accept",
        **kept_as("attachment", log.replace("/", "-"), form, otherwise="log"),
    }
    whole = cut_short(chunks, request, f"the log {log}")
    return Stream(content_of(request, whole), media_type=media, headers=header_fields)


@get("/v1/debates/{debate:str}/audit")
async def bundle(request: HttpRequest) -> Response[bytes]:
    """The bundle of one decision: a ZIP that can be verified offline."""
    known_query(request, ())
    site, debate = app_state(request), str(request.path_params["debate"])
    content = await site.reviews.bundle(site.logs, debate, caller(request), receiver(request))
    header_fields = {
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Encoding",
        **kept_as("attachment", str(UUID(debate)), "zip", otherwise="bundle"),
    }
    if wanted_coding(
        request.headers.getall("accept-encoding", []), ("gzip",)
    ).coding:  # its files are stored, so a third of it remains
        content = await asyncio.to_thread(gzip.compress, content, GZIP_LEVEL, mtime=0)
        header_fields["Content-Encoding"] = "gzip"
    media = headers.best_media_type(request.headers.get("accept"), (ZIP, OCTETS)) or ZIP
    return Response(content=content, media_type=media, headers=header_fields)


@get("/v1/audit/recall")
async def recalled(request: HttpRequest) -> Response[bytes]:
    """The debates that rest on one prompt, manifest, configuration, model, document, price or engine."""
    known_query(request, (*ASKED, "limit", "after"))
    site, limit = app_state(request), page_size(request.query_params.get("limit"))
    given = [(name, value) for name in ASKED if (value := request.query_params.get(name)) is not None]
    if len(given) != 1:
        raise BadRequest(f"expected exactly one of {', '.join(ASKED)} as the value to search for, found {len(given)}")
    (asked, value), below = given[0], cursor(request.query_params.get("after"))
    query = RecallQuery(asked, value, limit + 1, below)
    # Recorded for HEAD too: the header fields of a page tell of debates.
    found = await affected_decisions(database(request), site.logs, query, caller(request), reader(request))
    page = tuple(map(RecalledDebate.of, found[:limit]))
    following = page[-1].debate_id if len(found) > limit else None
    link = linked("/v1/audit/recall", [(asked, value), ("limit", str(limit))], following)
    return answered(RecallList(asked=asked, value=value, debates=page, next=following), headers=link)


def _name(request: HttpRequest) -> str:
    given = request.path_params
    return f"{given['host']}/{given['tenant']}/{given['epoch']}"


async def _log_with_checkpoint(request: HttpRequest) -> tuple[TenantLog, SignedCheckpoint]:
    """The log of the path with its latest checkpoint; raises `NotFound` and `NotProvable`."""
    log = await proofs.log_of(database(request), caller(request).tenant, _name(request))
    if log.head is None:
        raise NotProvable(f"the log {log.log} has no checkpoint yet; check that a sequencer runs", retry_after=1)
    return log, log.head


async def _head_at(request: HttpRequest, log: TenantLog, size: int) -> SignedCheckpoint:
    head = await proofs.checkpoint_at(database(request), log.tenant, log.log, size)
    if head is None:
        raise NotFound(f"no head of {size} records was signed for the log {log.log}; its checkpoint names the latest")
    return head


async def _index(request: HttpRequest, log: TenantLog, record: str) -> int:
    """The leaf of a record: its index, or a debate and the number of its entry, joined by a dot."""
    if _NUMBER.fullmatch(record):
        return int(record)
    named = _ENTRY.fullmatch(record)
    if named is None:
        raise NotFound("expected a record as its index in the log or as debate.n, found neither")
    debate, n = named["debate"], int(named["n"])
    head = await read_head(database(request), debate, caller(request).tenant)
    if head["log"] != log.log or n >= head["next_n"]:
        raise NotFound(f"there is no record {n} of debate {debate} in the log {log.log}")
    place = await proofs.proven(database(request), log.tenant, debate, n)
    if place is None:
        await app_state(request).reviews.refuse_lost(debate, caller(request))
        raise NotProvable(f"record {n} of debate {debate} is not under a checkpoint of its log yet", retry_after=1)
    return place.index


def _tile(path: str) -> TilePath:
    try:
        return parse_tile_path(f"tile{path}")
    except ValueError as error:
        raise NotFound(f"there is no such tile: {error}") from None


def _whole_number(request: HttpRequest, name: str) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not _NUMBER.fullmatch(given):
        raise BadRequest(f"{name} must be a number of records, found {given[:80]!r}")
    return int(given)


def _export_form(request: HttpRequest) -> tuple[Form, str]:
    """The form of an export and its media type, by the query or by Accept."""
    asked = request.query_params.get("format")
    if asked is None:
        wanted = headers.best_media_type(request.headers.get("accept"), tuple(RECORDS))
        if wanted is None:
            raise NotAcceptable(f"records come as {', '.join(RECORDS)}; accept one of them, or give ?format=")
        return RECORDS[wanted], wanted
    wanted = one_of("format", asked, FORMS)
    return next((form, media) for media, form in RECORDS.items() if form == wanted)


def _plain(content: bytes) -> Response[bytes]:
    return Response(content=content, media_type=TEXT, headers={"Cache-Control": ASK_AGAIN})
