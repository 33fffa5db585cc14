"""A bundle reads back as it was packed, its bytes are fixed by its files, and no other ZIP is taken for one."""

import stat
import struct
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit import bundle
from service.audit.bundle import (
    BLOCKS,
    MANIFEST,
    PRESENT,
    BadBundle,
    Block,
    Bundle,
    DocumentFile,
    Manifest,
    absent,
    decode_index,
    decode_manifest,
    digests,
    encode_index,
    encode_manifest,
    is_path,
    pack,
    unpack,
)

SEGMENTS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,8}", fullmatch=True)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join).filter(lambda path: path.lower() != MANIFEST)
FILES = st.dictionaries(PATHS, st.binary(max_size=200), max_size=6).filter(
    lambda files: len({path.lower() for path in files}) == len(files)
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
BLOCK = st.just(PRESENT) | WORDS.filter(bool).map(absent)


def a_manifest(contents: Mapping[str, bytes], **changes: Any) -> Manifest:
    parts: dict[str, Any] = {
        "debate": "0199c0de-0000-7000-8000-000000000001",
        "tenant": "default",
        "status": "completed",
        "made": "2026-01-02T03:04:05.678Z",
        "build": "bb" * 32,
        "records": 2,
        "logs": ("host/default/1",),
        "files": digests(contents),
        "blocks": dict.fromkeys(BLOCKS, PRESENT),
    }
    return Manifest(**{**parts, **changes})


def a_bundle(files: Mapping[str, bytes] | None = None, **changes: Any) -> Bundle:
    files = {"README.txt": b"read me", "records/0000.leaf.json": b"{}"} if files is None else files
    return Bundle(files, a_manifest(files, **changes))


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], manifest: bytes | None = None, comment: bytes = b"") -> bytes:
    """A ZIP as somebody else would write it, with a manifest that lists its files unless another is given."""
    out = BytesIO()
    names = [entry if isinstance(entry, str) else entry.filename for entry, _ in entries]
    listed = {name: sha256(body).hexdigest() for name, (_, body) in zip(names, entries, strict=True) if is_path(name)}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, manifest or encode_manifest(a_manifest({}, files=listed)))
        for name, body in entries:
            archive.writestr(name, body)
        archive.comment = comment
    return out.getvalue()


@given(FILES, st.lists(WORDS, max_size=3), st.fixed_dictionaries(dict.fromkeys(BLOCKS, BLOCK)), WORDS)
def test_what_is_packed_is_unpacked(
    files: dict[str, bytes], logs: list[str], blocks: dict[Any, Block], tenant: str
) -> None:
    packed = a_bundle(files, logs=tuple(logs), blocks=blocks, tenant=tenant)

    assert unpack(pack(packed)) == packed


@given(FILES, st.randoms(use_true_random=False))
def test_the_same_files_give_the_same_bytes_in_whatever_order_they_come(files: dict[str, bytes], random: Any) -> None:
    shuffled = list(files.items())
    random.shuffle(shuffled)

    assert pack(a_bundle(dict(shuffled))) == pack(a_bundle(files))


def test_a_bundle_opens_as_plain_files_with_any_zip_program() -> None:
    with zipfile.ZipFile(BytesIO(pack(a_bundle()))) as archive:
        names = archive.namelist()
        kinds = {stat.S_IFMT(info.external_attr >> 16) for info in archive.infolist()}

        assert names == [MANIFEST, "README.txt", "records/0000.leaf.json"]
        assert archive.read("README.txt") == b"read me"
        assert kinds == {stat.S_IFREG}
        assert archive.testzip() is None


def test_a_bundle_that_was_zipped_anew_by_somebody_else_is_read() -> None:
    assert unpack(zipped(("README.txt", b"read me"))).files == {"README.txt": b"read me"}


def test_a_file_with_another_hash_and_a_file_that_is_gone_are_left_to_the_verifier() -> None:
    manifest = a_manifest({"a.txt": b"one", "b.txt": b"two"})

    found = unpack(pack(Bundle({"a.txt": b"another"}, manifest)))

    assert (found.files, found.manifest) == ({"a.txt": b"another"}, manifest)


def test_no_bundle_is_packed_with_a_file_that_its_manifest_does_not_name() -> None:
    with pytest.raises(ValueError, match=r"'b\.txt' without"):
        pack(Bundle({"b.txt": b""}, a_manifest({})))


def of_type(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def marked(data: bytes, name: bytes, at: int, change: Callable[[int], int]) -> bytes:
    """The ZIP with two bytes changed in its list of files, ``at`` into the entry of this name."""
    central = data.rindex(name) - 46 + at
    (value,) = struct.unpack_from("<H", data, central)
    return data[:central] + struct.pack("<H", change(value)) + data[central + 2 :]


PLAIN = zipped(("a.txt", b"aaaa" * 100), ("b.txt", b"bbbb" * 100))
HIDDEN = zipped(("a.txt", b"another reading")).partition(b"PK\x01\x02")[0]


def with_bytes(where: str) -> bytes:
    """The ZIP with a file that its list does not name: before the one of this name, or before the list."""
    end = PLAIN.rindex(b"PK\x05\x06")
    (first,) = struct.unpack_from("<I", PLAIN, end + 16)
    at = first if where == "list" else PLAIN.index(where.encode()) - 30
    entries, position = bytearray(PLAIN[first:end]), 0
    while position < len(entries):
        (offset,) = struct.unpack_from("<I", entries, position + 42)
        struct.pack_into("<I", entries, position + 42, offset + (len(HIDDEN) if offset >= at else 0))
        position += 46 + sum(struct.unpack_from("<HHH", entries, position + 28))
    tail = bytearray(PLAIN[end:])
    struct.pack_into("<I", tail, 16, first + len(HIDDEN))
    return PLAIN[:at] + HIDDEN + PLAIN[at:first] + bytes(entries) + bytes(tail)


HOSTILE = {
    "a file before the first that the list does not name": with_bytes("a.txt"),
    "a file between two that the list does not name": with_bytes("b.txt"),
    "a file before the list that it does not name": with_bytes("list"),
    "not a zip": b"no zip at all",
    "nothing": b"",
    "another file in front": b"#!/bin/sh\n" + PLAIN,
    "cut in the list": PLAIN[:-30],
    "cut in half": PLAIN[: len(PLAIN) // 2],
    "only the head": PLAIN[:40],
    "a comment": zipped(comment=b"and another reading"),
    "an absolute path": zipped(("/etc/passwd", b"")),
    "a path upwards": zipped(("../../etc/passwd", b"")),
    "a path upwards inside": zipped(("records/../../a", b"")),
    "a path with a dot": zipped(("./a.txt", b"")),
    "an empty part": zipped(("records//a.txt", b"")),
    "a drive": zipped(("C:/a.txt", b"")),
    "backslashes": zipped(("records\\a.txt", b"")),
    "a hidden file": zipped((".bashrc", b"")),
    "a folder": zipped(("records/", b"")),
    "a name in another script": zipped(("доклад.txt", b"")),
    "a name with a control character": zipped(("a\x1b[2J.txt", b"")),
    "a name with a NUL": marked(PLAIN, b"b.txt", 46 + 3, lambda _: 0),
    "a name that goes on behind a NUL": zipped(
        ("a.txt\x01x", b""), manifest=encode_manifest(a_manifest({"a.txt": b""}))
    ).replace(b"a.txt\x01x", b"a.txt\x00x"),
    "a long name": zipped(("a" * 201, b"")),
    "a symbolic link": zipped((of_type("a.txt", stat.S_IFLNK | 0o777), b"/etc/passwd")),
    "a device": zipped((of_type("a.txt", stat.S_IFBLK | 0o600), b"")),
    "encrypted": marked(PLAIN, b"b.txt", 8, lambda flags: flags | 1),
    "another compression": marked(PLAIN, b"b.txt", 10, lambda _: 12),
    "a compression that nobody knows": marked(PLAIN, b"b.txt", 10, lambda _: 77),
    "the case of a name alone": zipped(("A.txt", b"1"), ("a.txt", b"2")),
    "a file that the manifest lacks": zipped(("a.txt", b""), manifest=encode_manifest(a_manifest({}))),
    "no manifest": pack(a_bundle()).replace(b"manifest.json", b"manifesto.jso"),
    "a manifest that is none": zipped(manifest=b"[]"),
    "a manifest of another format": zipped(
        manifest=encode_manifest(a_manifest({})).replace(b"gainsay-bundle/1", b"gainsay-bundle/2")
    ),
    "a manifest that is cut": zipped(manifest=encode_manifest(a_manifest({}))[:-9]),
    "a manifest that is no UTF-8": zipped(manifest=b"\xff\xfe"),
    "a manifest nested without end": zipped(manifest=b"[" * 100_000),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_anything_but_a_plain_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(BadBundle):
        unpack(data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused() -> None:
    with pytest.raises(BadBundle, match=r"'a\.txt' twice"):
        unpack(zipped(("a.txt", b"1"), ("a.txt", b"2")))


def test_a_bundle_that_says_it_unfolds_to_more_than_a_gigabyte_is_refused_before_it_is_unfolded() -> None:
    at = PLAIN.rindex(b"b.txt") - 46 + 24
    claimed = PLAIN[:at] + struct.pack("<I", (1 << 30) + 1) + PLAIN[at + 4 :]

    with pytest.raises(BadBundle, match="bytes unfolded"):
        unpack(claimed)


def test_a_bundle_that_unfolds_to_more_than_it_says_is_refused() -> None:
    at = PLAIN.rindex(b"b.txt") - 46 + 24
    claimed = PLAIN[:at] + struct.pack("<I", 5) + PLAIN[at + 4 :]

    with pytest.raises(BadBundle):
        unpack(claimed)


def test_files_that_share_their_bytes_are_refused() -> None:
    at = PLAIN.rindex(b"b.txt") - 46 + 42
    first = PLAIN.index(b"a.txt") - 30
    shared = PLAIN[:at] + struct.pack("<I", first) + PLAIN[at + 4 :]

    with pytest.raises(BadBundle, match="overlap"):
        unpack(shared)


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "FILES_MAX", 2)

    with pytest.raises(BadBundle, match="at most 2 files, found 3"):
        unpack(PLAIN)


@given(st.data())
def test_a_bundle_with_bytes_changed_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    mangled = bytearray(pack(a_bundle()))
    for _ in range(data.draw(st.integers(1, 4))):
        mangled[data.draw(st.integers(0, len(mangled) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(mangled)) | st.just(len(mangled)))

    with suppress(BadBundle):
        unpack(bytes(mangled[:cut]))


@given(st.binary(max_size=100))
def test_bytes_that_only_begin_like_a_zip_are_refused(data: bytes) -> None:
    with pytest.raises(BadBundle):
        unpack(b"PK\x03\x04" + data)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b'"debate"', b'"tenant": "other", "debate"'),
        lambda text: text.replace(b'"default"', b'"\\u0064efault"'),
        lambda text: text.replace(b'"made"', b'"more": 1, "made"'),
        lambda text: text.replace(b'"records": 2', b'"records": -2'),
        lambda text: text.replace(b'"context"', b'"contexts"'),
        lambda text: text.replace(b'"present": true', b'"present": false', 1),
        lambda text: text.replace(b'"present": true', b'"absent": true', 1),
        lambda text: text.replace(b'"present": true', b'"present": true, "reason": "why"', 1),
        lambda text: text.replace(b"README.txt", b"../README.txt"),
        lambda text: text.replace(b"README.txt", b"manifest.json"),
        lambda text: text.replace(sha256(b"read me").hexdigest().encode(), b"00"),
    ],
)
def test_a_manifest_that_says_a_thing_twice_or_something_else_is_refused(change: Callable[[bytes], bytes]) -> None:
    text = encode_manifest(a_bundle().manifest)
    assert change(text) != text

    with pytest.raises(BadBundle):
        decode_manifest(change(text))


def test_a_manifest_may_be_spaced_otherwise() -> None:
    manifest = a_bundle().manifest

    assert decode_manifest(encode_manifest(manifest).replace(b"\n", b"\r\n\t")) == manifest


def test_a_block_is_there_or_absent_with_a_reason() -> None:
    for parts in ({}, {"present": True, "absent": True}, {"absent": True}, {"present": True, "reason": "why"}):
        with pytest.raises(ValueError, match="found neither or both"):
            Block(**parts)
    with pytest.raises(ValueError, match="found none on heads"):
        replace(a_bundle().manifest, blocks={name: PRESENT for name in BLOCKS if name != "heads"})


@given(st.lists(st.builds(DocumentFile, WORDS, WORDS, st.none() | PATHS, st.none() | WORDS), max_size=4).map(tuple))
def test_an_index_of_documents_reads_back(documents: tuple[DocumentFile, ...]) -> None:
    assert decode_index(encode_index(documents)) == documents


@pytest.mark.parametrize("text", [b"{}", b"[1]", b'[{"id":"a"}]', b"\xff", b'[{"id":"a","id":"b"}]'])
def test_an_index_of_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(BadBundle):
        decode_index(text)
