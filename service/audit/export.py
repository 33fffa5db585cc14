"""An export: the records of a log as lines of JSON, under one signed head; and the same as CSV, for reading alone.

    {"format":"gainsay-export/1","log":...,"key":...,"size":N,"checkpoint":"<note>","filters":{...},"complete":bool}
    {"index":i,"leaf":"<text>","payload":"<text>"|null,"salt":hex|null,"context":"<text>"|null,"contextSalt":hex|null,
     "path":[base64,...]|null}
    {"records":count}

The first line names the log, its key and the head. The last line has the count, which reveals a truncated file. A
complete export has every record from 0 to N-1 and needs no proofs: its leaves hash to the root. Any other export has
the inclusion proof of each of its records. ``leaf``, ``payload`` and ``context`` are the stored bytes as text, exactly.
In a line a character that acts unseen (`service.unseen`) is escaped, which changes no text that is read from it.
"""

from __future__ import annotations

from base64 import b64encode
from binascii import Error as NotBase64
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from service.audit.csv_line import csv_line
from service.audit.record import Context, Envelope, leaf_hash, open_context, open_leaf
from service.errors import GainsayError
from service.unseen import escape_json

FORMAT: Final = "gainsay-export/1"
FILTERS = ("since", "until", "taskType", "status", "model", "prompt", "document")
"""The filters of an export."""

COLUMNS = (
    *("log", "index", "debate", "n", "kind", "occurred", "recorded", "actor", "actorKind", "actorRole", "actorVia"),
    "tenant",
    *("taskType", "useCase", "intendedUse", "materiality", "downside", "downsideBasis"),
    *("schema", "build", "policy", "leafHash", "payload"),
)
"""The columns of the CSV. Programs read them by place, so a new one goes to the end."""

_JSON = (COLUMNS.index("payload"),)
_OF_CONTEXT = tuple((field.encode_name, field.name) for field in fields(Context))
"""The members of a context by their names in JSON, which are columns, and in `Context`."""

Count = Annotated[int, Meta(ge=0)]


class BadExport(GainsayError):
    """A file is not an export, or ends before its end."""

    code = "bad_export"
    status = 422
    title = "An export cannot be read"


class Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line. ``key`` is the verifier key of the log's heads, ``checkpoint`` the signed note of that size."""

    format: Literal["gainsay-export/1"] = FORMAT
    log: str
    key: str
    size: Count
    checkpoint: str
    filters: dict[str, str]
    complete: bool


class Row(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One record: its leaf's index, the stored texts, the salts in hex, and the path to the root in base64.

    ``payload`` and ``salt`` are ``None`` where they are not stored, the context also where the record has none.
    """

    index: Count
    leaf: str
    payload: str | None
    salt: str | None
    context: str | None
    context_salt: str | None
    path: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        index: int,
        leaf: bytes,
        *,
        payload: tuple[bytes, bytes] | None,
        context: tuple[bytes, bytes] | None,
        path: Sequence[bytes] | None,
    ) -> Row:
        """The row of stored bytes; ``payload`` and ``context`` are (salt, body).

        Raises `UnicodeDecodeError` where bytes were stored that no writer of ours stores.
        """
        return cls(
            index,
            leaf.decode(),
            payload[1].decode() if payload else None,
            payload[0].hex() if payload else None,
            context[1].decode() if context else None,
            context[0].hex() if context else None,
            None if path is None else tuple(b64encode(node).decode() for node in path),
        )

    @property
    def hashes(self) -> list[bytes] | None:
        """The path as bytes; raises `BadExport`."""
        if self.path is None:
            return None
        try:
            return [a2b_base64(node, strict_mode=True) for node in self.path]
        except (NotBase64, ValueError) as error:
            raise BadExport(f"expected hashes in base64 as the path of record {self.index}, found others") from error


class Footer(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: how many records came before it."""

    records: Count


_encoder = msgspec.json.Encoder()
_headers = msgspec.json.Decoder(Header)
_rows = msgspec.json.Decoder(Row)
_footers = msgspec.json.Decoder(Footer)
T = TypeVar("T", Header, Row, Footer)


def _line(value: Header | Row | Footer) -> bytes:
    """A line in its one spelling, in which characters that act unseen are escaped."""
    return escape_json(_encoder.encode(value)) + b"\n"


def encode_header(header: Header) -> bytes:
    """The first line, with its newline."""
    return _line(header)


def encode_row(row: Row) -> bytes:
    """A record's line, with its newline."""
    return _line(row)


def encode_footer(footer: Footer) -> bytes:
    """The last line, with its newline."""
    return _line(footer)


def decode_header(line: bytes) -> Header:
    """The header of a line with its newline; raises `BadExport`."""
    return _decode(line, _headers, f"a first line of format {FORMAT}, in JSON")


def decode_row(line: bytes) -> Row:
    """The record of a line with its newline; raises `BadExport`."""
    return _decode(line, _rows, "a line with a record")


def decode_footer(line: bytes) -> Footer:
    """The footer of a line with its newline; raises `BadExport`."""
    return _decode(line, _footers, "a last line with the number of records")


def read(lines: Iterable[bytes]) -> tuple[Header, Iterator[Row]]:
    """The header of an export and its records, in order, as they are asked for.

    Raises `BadExport`; also when the records end: without a last line, with another number of records in it, or with
    more behind it.
    """
    rest = iter(lines)
    header = decode_header(next(rest, b""))
    return header, _read(rest)


def _read(lines: Iterator[bytes]) -> Iterator[Row]:
    count, before = 0, -1
    for line in lines:
        if line.startswith(b'{"records":'):
            footer = decode_footer(line)
            if footer.records != count:
                raise BadExport(f"expected {footer.records} records by the last line, found {count}")
            if next(lines, None) is not None:
                raise BadExport("expected nothing behind the last line, found more")
            return
        row = decode_row(line)
        if row.index <= before:
            raise BadExport(f"expected records in the order of their indexes, found {row.index} after {before}")
        count, before = count + 1, row.index
        yield row
    raise BadExport(f"expected a last line with the number of records, found none after {count}; was the file cut?")


def _decode(line: bytes, decoder: msgspec.json.Decoder[T], expected: str) -> T:
    try:
        found = decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadExport(f"expected {expected}, found another: {error}") from error
    if _line(found) != line:
        raise BadExport(f"expected {expected} exactly as it is written, found another spelling")
    return found


def encode_columns() -> bytes:
    """The first line of a CSV."""
    return csv_line(COLUMNS)


def encode_cells(row: Row) -> bytes:
    """A record as a line of `service.audit.csv_line`; raises `ValueError` when leaf or context are none."""
    leaf = row.leaf.encode()
    envelope = open_leaf(leaf)
    cells = {
        **_told(envelope),
        **_context(row.context),
        "index": str(row.index),
        "leafHash": leaf_hash(leaf).hex(),
        "payload": row.payload or "",
    }
    return csv_line([cells.get(name, "") for name in COLUMNS], json=_JSON)


def _told(envelope: Envelope) -> dict[str, str]:
    actor = envelope.actor
    return {
        "log": envelope.log,
        "debate": envelope.debate,
        "n": str(envelope.n),
        "kind": envelope.kind,
        "occurred": envelope.occurred,
        "recorded": envelope.recorded,
        "actor": actor.id,
        "actorKind": actor.kind,
        "actorRole": actor.role,
        "actorVia": actor.via,
        "tenant": envelope.tenant,
        "schema": str(envelope.schema),
        "build": envelope.build,
        "policy": envelope.policy,
    }


def _context(text: str | None) -> dict[str, str]:
    """A cell for each member of the context, by its name in JSON; none where the record has no context."""
    if text is None:
        return {}
    context = open_context(text.encode())
    return {column: getattr(context, name) or "" for column, name in _OF_CONTEXT}
