"""A bundle reads back as it was packed, its bytes are fixed by its files, and no other ZIP is taken for one."""

import stat
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit import archive
from service.audit.archive import is_path
from service.audit.bundle import (
    MANIFEST,
    BadBundle,
    Bundle,
    DocumentFile,
    Manifest,
    decode_index,
    decode_manifest,
    digests,
    encode_index,
    encode_manifest,
    pack,
    unpack,
)

SEGMENTS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,8}", fullmatch=True)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join).filter(is_path)
FILES = st.dictionaries(PATHS, st.binary(max_size=200), max_size=6).filter(lambda files: apart([MANIFEST, *files]))
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def apart(paths: list[str]) -> bool:
    """Whether every system tells these names apart, and none is the folder of another."""
    folded = {path.lower() for path in paths}
    folders = {path.rpartition("/")[0] for path in folded} | {path.partition("/")[0] for path in folded if "/" in path}
    return len(folded) == len(paths) and not folded & folders


def a_manifest(contents: Mapping[str, bytes], **changes: Any) -> Manifest:
    parts: dict[str, Any] = {
        "debate": "0199c0de-0000-7000-8000-000000000001",
        "tenant": "default",
        "status": "completed",
        "records": 2,
        "logs": ("host/default/1",),
        "files": digests(contents),
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


@given(FILES, st.lists(WORDS, max_size=3), WORDS)
def test_what_is_packed_is_unpacked(files: dict[str, bytes], logs: list[str], tenant: str) -> None:
    packed = a_bundle(files, logs=tuple(logs), tenant=tenant)

    found = unpack(pack(packed))

    assert (dict(found.files), found.manifest) == (packed.files, packed.manifest)
    assert digests(found.files) == packed.manifest.files


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


def test_a_file_with_another_hash_and_a_file_that_is_gone_are_left_to_the_verifier() -> None:
    manifest = a_manifest({"a.txt": b"one", "b.txt": b"two"})

    found = unpack(pack(Bundle({"a.txt": b"another"}, manifest)))

    assert (dict(found.files), found.manifest) == ({"a.txt": b"another"}, manifest)


def test_no_bundle_is_packed_with_a_file_that_its_manifest_does_not_name() -> None:
    with pytest.raises(ValueError, match=r"'b\.txt' without"):
        pack(Bundle({"b.txt": b""}, a_manifest({})))


HOSTILE = {
    "a zip of another writer": zipped(("README.txt", b"read me")),
    "a file that the manifest lacks": archive.write(
        [(MANIFEST, encode_manifest(a_manifest({}))), ("a.txt", b"nobody names it")]
    ),
    "no manifest": archive.write([("README.txt", b"read me")]),
    "the manifest behind another file": archive.write(
        [("README.txt", b"read me"), (MANIFEST, encode_manifest(a_manifest({"README.txt": b"read me"})))]
    ),
    "a manifest that is none": archive.write([(MANIFEST, b"[]")]),
    "a manifest of another format": archive.write(
        [(MANIFEST, encode_manifest(a_manifest({})).replace(b"gainsay-bundle/2", b"gainsay-bundle/1"))]
    ),
    "a manifest that is cut": archive.write([(MANIFEST, encode_manifest(a_manifest({}))[:-9])]),
    "a manifest that is no UTF-8": archive.write([(MANIFEST, b"\xff\xfe")]),
    "a manifest nested without end": archive.write([(MANIFEST, b"[" * 5_000)]),
    "a manifest longer than any": archive.write([(MANIFEST, b" " * 100_000)]),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_anything_but_a_plain_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(BadBundle):
        unpack(data)


def test_a_file_that_changes_while_it_is_read_is_refused() -> None:
    packed = bytearray(pack(a_bundle()))
    stream = BytesIO(packed)
    opened = unpack(stream)
    assert opened.files["README.txt"] == b"read me"

    stream.getbuffer()[packed.index(b"read me")] ^= 1

    with pytest.raises(archive.BadArchive, match="CRC"):
        opened.files["README.txt"]


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
        lambda text: text.replace(b'"records"', b'"more": 1, "records"'),
        lambda text: text.replace(b'"records"', b'"made": "2026-01-02", "records"'),
        lambda text: text.replace(b"\n", b"\r\n\t"),
        lambda text: text.removesuffix(b"\n"),
        lambda text: text.replace(b'"records": 2', b'"records": -2'),
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


@given(st.lists(st.builds(DocumentFile, WORDS, WORDS, st.none() | PATHS, st.none() | WORDS), max_size=4).map(tuple))
def test_an_index_of_documents_reads_back(documents: tuple[DocumentFile, ...]) -> None:
    assert decode_index(encode_index(documents)) == documents


@pytest.mark.parametrize("text", [b"{}", b"[1]", b'[{"id":"a"}]', b"\xff", b'[{"id":"a","id":"b"}]', b"[]"])
def test_an_index_of_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(BadBundle):
        decode_index(text)
