"""A bundle: all evidence of one decision, as a ZIP of plain files, `gainsay-bundle/2`.

manifest.json            what the bundle is of, and the SHA-256 of every other file
README.txt               what this is and how it is checked
report.md, report.html   the readable report
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
times/before.txt         a countersigned head of the debate's log without the debate (`service.audit.earlier_head`)
times/first.txt          the first countersigned head with all of the debate; neither is there without witnesses
times/stamped-before.txt, times/stamped-first.txt   such heads that an authority stamped with the time (RFC 3161)
times/stamped-before.tst, times/stamped-first.tst   the token of each (`service.audit.timestamp`)

issued/0001.leaf.json    records of PDFs that were handed out, oldest first; with payload, salt and a proof under a head
                         of the log that was the tenant's then: the debate's own or a later one

Nothing in it is free: the archive follows from names and contents (`service.audit.archive`), the manifest from the
other files and the records, and which files there are from what the records seal. Nothing signs the manifest. A bundle
is proved by its records, which a checkpoint covers, and by the commitments in them.

The same files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from typing import IO, Annotated, Final, Literal

from msgspec import Meta, Struct

from service.audit.archive import BadArchive, Stored, digest, is_path, scan, write
from service.audit.indented import Indented
from service.errors import GainsayError

FORMAT: Final = "gainsay-bundle/2"
MANIFEST, DOCUMENTS = "manifest.json", "documents/index.json"
README, REPORT, PAGE = "README.txt", "report.md", "report.html"
BEFORE, FIRST = "times/before.txt", "times/first.txt"
STAMPED_BEFORE, STAMPED_FIRST = "times/stamped-before.txt", "times/stamped-first.txt"
PATH_SHOWN = 200
LISTED_MAX = 512
"""The most bytes that the manifest spends on a file: its path of 200 characters, its hash, and the name of a log."""

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0)]


class BadBundle(GainsayError):
    """A file is not a bundle, or not one that can be read in one way alone."""

    code = "bad_bundle"
    status = 422
    title = "A bundle cannot be read"


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The subject of a bundle. ``logs`` begins with the debate's own; the earlier ones that ``heads/`` opens follow.

    ``files`` maps the path of every other file to its SHA-256.
    """

    format: Literal["gainsay-bundle/2"] = FORMAT
    debate: str
    tenant: str
    status: str
    records: Count
    logs: tuple[str, ...]
    files: dict[str, Digest]

    def __post_init__(self) -> None:
        for path in self.files:
            if not is_path(path):
                raise ValueError(f"expected plain relative paths as names of files, found {path[:PATH_SHOWN]!r}")
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


_manifests: Indented[Manifest] = Indented(Manifest, BadBundle, f"a manifest of format {FORMAT} in {MANIFEST}", MANIFEST)
_indexes: Indented[tuple[DocumentFile, ...]] = Indented(
    tuple[DocumentFile, ...], BadBundle, f"a list of documents in {DOCUMENTS}", DOCUMENTS
)


def token_file(head_file: str) -> str:
    """The file of a time stamp, beside that of its head."""
    return f"{head_file.removesuffix('.txt')}.tst"


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file, hex: `Manifest.files`."""
    if isinstance(files, Stored):
        return files.digests()
    return {path: sha256(files[path]).hexdigest() for path in sorted(files)}


def size(files: Mapping[str, bytes], path: str) -> int:
    """How many bytes a file has; one of an archive is not read for that."""
    return files.size(path) if isinstance(files, Stored) else len(files[path])


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest as it stands in the bundle."""
    return _manifests.encode(manifest)


def decode_manifest(data: bytes) -> Manifest:
    """The manifest of these bytes; raises `BadBundle` for any that `encode_manifest` does not write."""
    return _manifests.decode(data)


def encode_index(documents: tuple[DocumentFile, ...]) -> bytes:
    """``documents/index.json``."""
    return _indexes.encode(documents)


def decode_index(data: bytes) -> tuple[DocumentFile, ...]:
    """The documents of an index; raises `BadBundle` for bytes that `encode_index` does not write."""
    return _indexes.decode(data)


def pack(bundle: Bundle) -> bytes:
    """The bundle as an archive: the manifest, and behind it all other files by name.

    Hashes are not compared. Raises `ValueError` for files that the manifest does not name, or a path that is none.
    """
    if strange := sorted(path for path in bundle.files if path not in bundle.manifest.files):
        raise ValueError(f"expected every file in the manifest, found {strange[0]!r} without")
    others = [(path, bundle.files[path]) for path in sorted(bundle.files)]
    return write([(MANIFEST, encode_manifest(bundle.manifest)), *others])


def unpack(data: bytes | IO[bytes]) -> Bundle:
    """The files of a bundle, which stay in the archive until they are asked for.

    Raises `BadBundle` for anything but an archive that `pack` writes, its manifest first and naming every other file. A
    file that the manifest names and the archive lacks, or whose hash is another, is let through: a verifier names it.
    """
    stream = BytesIO(data) if isinstance(data, bytes | bytearray) else data
    try:
        members = scan(stream)
        first, *others = members
        if first.path != MANIFEST:
            raise BadBundle(f"expected {MANIFEST} as the first file, found {first.path!r}")
        if first.size > (most := LISTED_MAX * (len(members) + 16)):
            raise BadBundle(f"expected at most {most} bytes of {MANIFEST} for {len(others)} files, found {first.size}")
        manifest = decode_manifest(Stored(stream, [(first, digest(stream, first))])[MANIFEST])
        if strange := [member.path for member in others if member.path not in manifest.files]:
            raise BadBundle(f"expected every file in {MANIFEST}, found {strange[0]!r} without")
        return Bundle(Stored(stream, [(member, digest(stream, member)) for member in others]), manifest)
    except BadArchive as error:
        raise BadBundle(error.detail) from error
