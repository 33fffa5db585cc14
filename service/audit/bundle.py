"""A bundle: all evidence of one decision, as a ZIP of plain files.

manifest.json            what the bundle is of, the SHA-256 of every other file, and which blocks are there
README.txt               what this is and how it is checked
schema/*.json            JSON Schemas of manifest, documents index, leaves, contexts and payloads
records/0000.leaf.json   each record in order: the leaf, the payload and its salt in hex
records/0000.payload.json, records/0000.salt
context.json, context.salt
documents/index.json     id, title, file and salt of each document; documents/0001.txt ... their UTF-8 bytes
prompts/manifest.json    the manifest that the debate promised to use, and every file that it names
policy.json, configuration.json, approval.txt
proofs/0000.tlog-proof   each record's proof of inclusion, all under one checkpoint
heads/0001.leaf.json     records that opened the logs up to the debate's, oldest first; with payload, salt and proof
checkpoints/0001.txt     the signed head of each log of `Manifest.logs`, in that order: the debate's own log first
report.md

The manifest is not signed. A bundle is proved by its records, which a checkpoint covers, and by the commitments in
them. The hashes of the manifest find accidents.

The same files give the same ZIP bytes (with one zlib). The reader is strict: a ZIP has one reading or none.
"""

from __future__ import annotations

import re
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Annotated, Final, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec
from msgspec import Meta, Struct

from service.errors import GainsayError

FORMAT: Final = "gainsay-bundle/1"
MANIFEST = "manifest.json"
FILES_MAX = 100_000
BYTES_MAX = 1 << 30
"""The most that a bundle may unfold to."""
PATH_MAX = 200

BlockName = Literal[
    "context", "documents", "prompts", "policy", "configuration", "approval", "proofs", "checkpoints", "report", "heads"
]
BLOCKS: tuple[BlockName, ...] = (
    "context",
    "documents",
    "prompts",
    "policy",
    "configuration",
    "approval",
    "proofs",
    "checkpoints",
    "report",
    "heads",
)
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0)]

_PATH = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_FIRST = b"PK\x03\x04"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_LEVEL = 6
_UNIX = 3
_LOCAL_HEADER, _LOCAL_NAME = 30, 26
_MODE = (stat.S_IFREG | 0o644) << 16


class BadBundle(GainsayError):
    """A file is not a bundle, or not one that can be read in one way alone."""

    code = "bad_bundle"
    status = 422
    title = "A bundle cannot be read"


class Block(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether a part of a bundle is there. ``reason`` says in words why it is absent, and is empty where it is not."""

    present: bool = False
    absent: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        if self.present == self.absent or self.absent != bool(self.reason):
            raise ValueError("expected a block that is present, or absent with a reason, found neither or both")


PRESENT = Block(present=True)


def absent(reason: str) -> Block:
    """A block that is not there."""
    return Block(absent=True, reason=reason)


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The subject of a bundle. ``logs`` begins with the debate's own; ``made`` is RFC 3339 UTC, by the maker's clock.

    ``files`` maps the path of every other file to its SHA-256.
    """

    format: Literal["gainsay-bundle/1"] = FORMAT
    debate: str
    tenant: str
    status: str
    made: str
    build: str
    records: Count
    logs: tuple[str, ...]
    files: dict[str, Digest]
    blocks: dict[BlockName, Block]

    def __post_init__(self) -> None:
        if missing := [name for name in BLOCKS if name not in self.blocks]:
            raise ValueError(f"expected a word on every block, found none on {', '.join(missing)}")
        for path in self.files:
            if not is_path(path):
                raise ValueError(f"expected plain relative paths as names of files, found {path[:PATH_MAX]!r}")
        if MANIFEST in self.files:
            raise ValueError(f"expected every file but {MANIFEST} itself, found it listed")


class DocumentFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A document of ``documents/index.json``: its salt in hex. Without ``file`` its text is not stored."""

    id: str
    title: str
    file: str | None
    salt: str | None


class Bundle(Struct, frozen=True):
    """A manifest, and every other file by its path. Whether they agree is for a verifier to say."""

    files: Mapping[str, bytes]
    manifest: Manifest


_encoder = msgspec.json.Encoder(order="sorted")
_manifests = msgspec.json.Decoder(Manifest)
_indexes = msgspec.json.Decoder(tuple[DocumentFile, ...])


def is_path(path: str) -> bool:
    """Whether every system takes this as the path of a plain file below a folder."""
    return len(path) <= PATH_MAX and _PATH.fullmatch(path) is not None


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file, hex: `Manifest.files`."""
    return {path: sha256(files[path]).hexdigest() for path in sorted(files)}


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as it stands in the bundle."""
    return msgspec.json.format(_encoder.encode(manifest), indent=2) + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """The manifest of these bytes, however it is spaced; raises `BadBundle`, also for one that says a thing twice."""
    try:
        manifest = _manifests.decode(data)
        exact = msgspec.json.format(data, indent=-1) == _encoder.encode(manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadBundle(f"expected a manifest of format {FORMAT} in {MANIFEST}, found another: {error}") from error
    if not exact:
        raise BadBundle(f"expected every member once and in order in {MANIFEST}, found another spelling")
    return manifest


def encode_index(documents: tuple[DocumentFile, ...]) -> bytes:
    """``documents/index.json``."""
    return msgspec.json.format(_encoder.encode(documents), indent=2) + b"\n"


def decode_index(data: bytes) -> tuple[DocumentFile, ...]:
    """The documents of an index; raises `BadBundle`."""
    try:
        documents = _indexes.decode(data)
        exact = msgspec.json.format(data, indent=-1) == _encoder.encode(documents)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadBundle(f"expected a list of documents in documents/index.json, found another: {error}") from error
    if not exact:
        raise BadBundle("expected every member once and in order in documents/index.json, found another spelling")
    return documents


def pack(bundle: Bundle) -> bytes:
    """The bundle as a ZIP: names sorted behind the manifest, no times, so that the same files give the same bytes.

    Hashes are not compared. Raises `ValueError` for files that the manifest does not name, or a path that is none.
    """
    if strange := sorted(path for path in bundle.files if path not in bundle.manifest.files):
        raise ValueError(f"expected every file in the manifest, found {strange[0]!r} without")
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        _add(archive, MANIFEST, encode_manifest(bundle.manifest))
        for path in sorted(bundle.files):
            _add(archive, path, bundle.files[path])
    return out.getvalue()


def unpack(data: bytes) -> Bundle:
    """The files of a bundle.

    Raises `BadBundle` for anything but a plain ZIP of plain files with safe, different names, at most 100,000 files
    and 1 GB unfolded, each named by its manifest. A file that the manifest names and the ZIP lacks, or whose hash is
    another, is let through: a verifier names it.
    """
    if not data.startswith(_FIRST):
        raise BadBundle("expected a ZIP from its first byte, found another file")
    try:
        with ZipFile(BytesIO(data)) as archive:
            files = _read(archive, data)
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error, struct.error) as error:
        raise BadBundle(f"expected a whole ZIP, found one that cannot be read: {type(error).__name__}") from error
    if MANIFEST not in files:
        raise BadBundle(f"expected {MANIFEST} in the bundle, found none")
    manifest = decode_manifest(files.pop(MANIFEST))
    if strange := sorted(path for path in files if path not in manifest.files):
        raise BadBundle(f"expected every file in {MANIFEST}, found {strange[0]!r} without")
    return Bundle(files, manifest)


def _add(archive: ZipFile, path: str, content: bytes) -> None:
    info = ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.compress_type = ZIP_DEFLATED
    info.create_system = _UNIX
    info.external_attr = _MODE
    archive.writestr(info, content, compresslevel=_LEVEL)


def _read(archive: ZipFile, data: bytes) -> dict[str, bytes]:
    infos = archive.infolist()
    if archive.comment:
        raise BadBundle("expected nothing behind the ZIP's list of files, found a comment")
    if len(infos) > FILES_MAX:
        raise BadBundle(f"expected at most {FILES_MAX} files, found {len(infos)}")
    if (unfolded := sum(info.file_size for info in infos)) > BYTES_MAX:
        raise BadBundle(f"expected at most {BYTES_MAX} bytes unfolded, found {unfolded}")
    seen: set[str] = set()
    for info in infos:
        _refuse_strange(info)
        if (folded := info.filename.lower()) in seen:  # some systems' files know no case
            raise BadBundle(f"expected different names, found {info.filename!r} twice")
        seen.add(folded)
    _refuse_overlap(data, infos, archive.start_dir)
    return {info.filename: archive.read(info) for info in infos}


def _refuse_strange(info: ZipInfo) -> None:
    """Raise `BadBundle` for an entry that is no plain file."""
    name = info.filename
    if name != info.orig_filename or not is_path(name):
        raise BadBundle(f"expected plain relative paths as names of files, found {info.orig_filename[:PATH_MAX]!r}")
    if info.flag_bits & _ENCRYPTED:
        raise BadBundle(f"expected files that are not encrypted, found {name!r}")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BadBundle(f"expected files stored or deflated, found {name!r} otherwise")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.is_dir() or kind not in (0, stat.S_IFREG):
        raise BadBundle(f"expected plain files, found {name!r}, which is a folder, a link or something else")


def _refuse_overlap(data: bytes, infos: Sequence[ZipInfo], upto: int) -> None:
    """Raise `BadBundle` unless the files fill the ZIP from its first byte to its list, ``upto``, one behind the other.

    Files that share bytes may unfold to far more than the ZIP has. Bytes between two files may be files to a reader
    that ignores the list.
    """
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise BadBundle("expected every file of the ZIP in a place of its own, found two that overlap")
        if info.header_offset > end:
            raise BadBundle(f"expected the files of the ZIP one behind the other, found bytes before {info.filename!r}")
        name, extra = struct.unpack_from("<HH", data, end + _LOCAL_NAME)
        end += _LOCAL_HEADER + name + extra + info.compress_size
    if end != upto:
        raise BadBundle("expected the list of files right behind the last one of the ZIP, found other bytes")
