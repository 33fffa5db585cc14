"""An archive has one reading: whatever is changed in it is refused by name, and every program extracts the same."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit import archive
from service.audit.archive import BadArchive, LargeWriter, Stored, contents, digest, is_path, opened, scan, write

FILES = [
    ("manifest.json", b"{}\n"),
    ("README.txt", b"read me"),
    ("records/0000.salt", b""),
    ("report.md", b"# Genuine\n"),
]
PLAIN = write(FILES)
LISTED, END = PLAIN.index(b"PK\x01\x02"), PLAIN.index(b"PK\x05\x06")
REPORT = PLAIN.index(b"report.md") - 30
"""Where the local header of the last file begins."""


def read(data: bytes) -> dict[str, bytes]:
    """The files of an archive by our own reader."""
    stream = BytesIO(data)
    return dict(Stored(stream, [(member, digest(stream, member)) for member in scan(stream)]))


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A ZIP as somebody else writes it."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as written:
        for name, body in entries:
            written.writestr(name, body)
    return out.getvalue()


def edited(at: int, value: bytes, data: bytes = PLAIN) -> bytes:
    """The archive with other bytes from there on."""
    assert data[at : at + len(value)] != value
    return data[:at] + value + data[at + len(value) :]


def with_extra(content: bytes, *, local: bool, central: bool) -> bytes:
    """The last file with an extra field in front of its bytes, in the list, or in both, all offsets made right."""
    extra = struct.pack("<HH", 0x7075, len(content)) + content
    header, name = PLAIN[REPORT : REPORT + 30], b"report.md"
    body, listed = PLAIN[REPORT + 39 : LISTED], PLAIN[LISTED:END]
    if local:
        header = edited(28, struct.pack("<H", len(extra)), header)
    if central:
        at = listed.index(name) - 46
        listed = edited(at + 30, struct.pack("<H", len(extra)), listed) + extra
    front = PLAIN[:REPORT] + header + name + (extra if local else b"") + body
    end = edited(12, struct.pack("<LL", len(listed), len(front)), PLAIN[END:])
    return front + listed + end


def with_descriptor() -> bytes:
    """The last file with a data descriptor behind its bytes, as a writer that streams has it."""
    body = PLAIN[:LISTED] + struct.pack("<4sLLL", b"PK\x07\x08", *struct.unpack_from("<LLL", PLAIN, REPORT + 14))
    marked = edited(REPORT + 6, b"\x08", body)
    return marked + PLAIN[LISTED:END] + edited(16, struct.pack("<L", len(body)), PLAIN[END:])


HIDDEN = write([("report.md", b"# Forged\n")]).partition(b"PK\x01\x02")[0]
EDITS: Mapping[str, tuple[bytes, str]] = {
    "a name that unzip alone reads": (with_extra(b"\x01....README.txt", local=True, central=True), "the extra 0"),
    "an extra field in front of the bytes": (with_extra(b"", local=True, central=False), "the extra 0"),
    "an extra field in the list": (with_extra(b"x", local=False, central=True), "in the list of files"),
    "a data descriptor": (with_descriptor(), "the flags 0, found 8"),
    "another method in front of the bytes": (edited(REPORT + 8, b"\x08"), "the compression method 0, found 8"),
    "another method in the list": (edited(LISTED + 10, b"\x08"), "'manifest.json' in the list of files"),
    "another CRC in front of the bytes": (edited(REPORT + 14, b"abcd"), "in the list of files"),
    "another size in front of the bytes": (edited(REPORT + 18, b"\x01"), "the second size 1"),
    "a larger size in front of the bytes": (edited(REPORT + 18, b"\xff" * 8), "found the end of the file"),
    "another size in the list": (edited(LISTED + 24, b"\x09"), "'manifest.json' in the list of files"),
    "a flag": (edited(REPORT + 6, b"\x00\x08"), "the flags 0, found 2048"),
    "encrypted": (edited(REPORT + 6, b"\x01"), "the flags 0, found 1"),
    "a date": (edited(REPORT + 12, b"\x22"), "the date 33, found 34"),
    "a time": (edited(REPORT + 10, b"\x01"), "the time 0, found 1"),
    "another version": (edited(REPORT + 4, b"\x0a"), "the version 20, found 10"),
    "made by another system": (edited(LISTED + 5, b"\x00"), "'manifest.json' in the list of files"),
    "a symbolic link": (edited(LISTED + 38, b"\x00\x00\xff\xa1"), "'manifest.json' in the list of files"),
    "a hidden file of Windows": (edited(LISTED + 38, b"\x02"), "'manifest.json' in the list of files"),
    "another place in the list": (edited(LISTED + 42, b"\x01"), "'manifest.json' in the list of files"),
    "another name in the list": (edited(END - 9, b"REPORT.md"), "'report.md' in the list of files"),
    "another name in front of the bytes": (edited(REPORT + 30, b"Report"), "ascending"),
    "a comment on the archive": (edited(len(PLAIN) - 2, b"\x02") + b"hi", "the end of the ZIP"),
    "a comment on a file": (edited(LISTED + 32, b"\x01"), "'manifest.json' in the list of files"),
    "a byte behind the end": (PLAIN + b"\n", "nothing behind the end"),
    "much behind the end": (PLAIN + b"x" * 70_000, "nothing behind the end"),
    "two archives": (PLAIN + PLAIN, "nothing behind the end"),
    "an empty archive behind it": (PLAIN + b"PK\x05\x06" + bytes(18), "nothing behind the end"),
    "a byte in front": (b"#" + PLAIN, "at byte 0"),
    "a script in front": (b"#!/bin/sh\n" + PLAIN, "at byte 0"),
    "a file that the list does not name": (PLAIN[:LISTED] + HIDDEN + PLAIN[LISTED:], "'report.md' twice"),
    "bytes between files and list": (PLAIN[:LISTED] + b"gap" + PLAIN[LISTED:], "in the list of files"),
    "bytes between list and end": (PLAIN[:END] + b"gap" + PLAIN[END:], "the end of the ZIP"),
    "a line of the list dropped": (PLAIN[: END - 55] + PLAIN[END:], "'report.md' in the list of files"),
    "another number of files": (edited(END + 8, b"\x03"), "the end of the ZIP"),
    "several disks": (edited(END + 4, b"\x01"), "the end of the ZIP"),
    "deflated": (zipped(*FILES, method=zipfile.ZIP_DEFLATED), "manifest.json"),
    "stored by another writer": (zipped(*FILES), "manifest.json"),
    "cut in the list": (PLAIN[:-30], "in the list of files"),
    "cut in a file": (PLAIN[: REPORT + 41], "the end of the file"),
    "cut in a header": (PLAIN[: REPORT + 20], "the end of the file"),
    "nothing": (b"", "at byte 0"),
    "words": (b"no zip at all", "at byte 0"),
    "a list alone": (PLAIN[LISTED:], "at byte 0"),
}


@pytest.mark.parametrize("what", EDITS)
def test_whatever_is_changed_around_the_files_is_refused_and_named(what: str) -> None:
    data, said = EDITS[what]
    assert data != PLAIN

    with pytest.raises(BadArchive) as refused:
        read(data)
    assert said in refused.value.detail


def test_swapped_names_are_refused() -> None:
    one, other = write([("manifest.json", b""), ("a.md", b"Genuine"), ("b.md", b"Forged")]), b"b.md"
    swapped = one.replace(b"a.md", b"@").replace(other, b"a.md").replace(b"@", other)

    with pytest.raises(BadArchive, match="ascending"):
        read(swapped)


def test_another_content_is_refused_by_its_crc() -> None:
    with pytest.raises(BadArchive, match=r"CRC .* of 'report\.md'"):
        read(PLAIN.replace(b"# Genuine", b"# Forged!"))


NAMES = [
    *("/etc/passwd", "../../etc/passwd", "records/../a", "./a.txt", "records//a.txt", "C:/a.txt", "records\\a.txt"),
    *(
        ".bashrc",
        "records/",
        "доклад.txt",
        "a\x1b[2J.txt",
        "a\x00b",
        "a" * 201,
        "con",
        "records/NUL.txt",
        "com1.md",
    ),
    *("a.", "records./a", "a b"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_none_everywhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="plain relative path"):
        write([(name, b"")])
    with suppress(UnicodeEncodeError):  # a writer that does not look, with every other byte as ours
        plain = write([("a" * min(len(name), 200), b"")])
        forged = plain.replace(b"a" * min(len(name), 200), name.encode("ascii")[:200])
        if forged != plain:
            with pytest.raises(BadArchive):
                scan(BytesIO(forged))


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("m", "a", "a"), "twice"),
        (("m", "b", "a"), "behind 'b'"),
        (("m", "A.txt", "a.txt"), "more than case"),
        (("m", "M"), "more than case"),
        (("m", "a", "a/b"), "also a folder"),
        (("m", "A", "a/b/c"), "also a folder"),
    ],
)
def test_names_that_some_system_takes_for_one_are_refused(names: tuple[str, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        write([(name, b"") for name in names])


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MEMBERS_MAX", 3)

    with pytest.raises(BadArchive, match="at most 3 files"):
        scan(BytesIO(PLAIN))


def test_a_larger_file_than_any_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "BYTES_MAX", len(PLAIN) - 1)

    with pytest.raises(BadArchive, match="at most"):
        scan(BytesIO(PLAIN))
    with pytest.raises(ValueError, match="at most"):
        write([("a", b" " * len(PLAIN))])


@given(st.data())
def test_any_byte_that_is_changed_is_refused(data: st.DataObject) -> None:
    at, mask = data.draw(st.integers(0, len(PLAIN) - 1)), data.draw(st.integers(1, 255))

    with pytest.raises(BadArchive):
        read(edited(at, bytes([PLAIN[at] ^ mask])))


@given(st.data())
def test_any_byte_that_is_cut_or_put_in_is_refused(data: st.DataObject) -> None:
    at, more = data.draw(st.integers(0, len(PLAIN) - 1)), data.draw(st.binary(min_size=1, max_size=40))

    for changed in (PLAIN[:at], PLAIN[:at] + PLAIN[at + 1 :], PLAIN[:at] + more + PLAIN[at:]):
        if changed != PLAIN:
            with pytest.raises(BadArchive):
                read(changed)


# What other programs make of it.


def _python(data: Path, into: Path) -> None:
    with zipfile.ZipFile(data) as opened:
        assert opened.testzip() is None
        opened.extractall(into)


def _run(*words: str) -> Callable[[Path, Path], None]:
    def extract(data: Path, into: Path) -> None:
        given_ = [word.replace("FILE", str(data)).replace("INTO", str(into)) for word in words]
        subprocess.run(given_, cwd=into, check=True, capture_output=True)

    return extract


PROGRAMS: Mapping[str, Callable[[Path, Path], None]] = {
    "python": _python,
    "unzip": _run("unzip", "-q", "FILE"),
    "bsdtar": _run("bsdtar", "-xf", "FILE"),
    "7z": _run("7z", "x", "-oINTO", "FILE"),
}
RECORDED = Path(__file__).parents[2] / "vectors" / "bundles"


def skip_without(program: str) -> None:
    if program != "python" and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def extracted(program: str, data: bytes, folder: Path) -> dict[str, bytes]:
    """The files that a program makes of an archive; none of them is a link."""
    (folder / "file.zip").write_bytes(data)
    into = folder / "into"
    into.mkdir()
    PROGRAMS[program](folder / "file.zip", into)
    assert not [path for path in into.rglob("*") if path.is_symlink()]
    return {str(path.relative_to(into)): path.read_bytes() for path in into.rglob("*") if path.is_file()}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("what", ["plain", "adversarial", "declined"])
def test_every_program_extracts_the_same_bytes(tmp_path: Path, program: str, what: str) -> None:
    skip_without(program)
    data = PLAIN if what == "plain" else (RECORDED / f"{what}.zip").read_bytes()

    assert extracted(program, data, tmp_path) == read(data)


# More files than two bytes count. They are not written to a disk, which would take ten seconds for each program.
MANY = [(f"records/{n:06d}.salt", b"%d\n" % n) for n in range(66_000)]


def _in_memory(data: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(data) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _through_a_pipe(names: tuple[str, ...], bodies: tuple[str, ...]) -> Callable[[Path], dict[str, bytes]]:
    """What a program says that the names and the contents are; each content of `MANY` is a line."""

    def found(data: Path) -> dict[str, bytes]:
        listed = subprocess.check_output([*names, data]).decode().splitlines()
        told = [line.removeprefix("Path = ") for line in listed if line.removeprefix("Path = ").startswith("records/")]
        lines = subprocess.check_output([*bodies, data]).splitlines(keepends=True)
        return dict(zip(told, lines, strict=True))

    return found


UNWRITTEN: Mapping[str, Callable[[Path], dict[str, bytes]]] = {
    "python": _in_memory,
    "unzip": _through_a_pipe(("unzip", "-Z1"), ("unzip", "-p")),
    "bsdtar": _through_a_pipe(("bsdtar", "-tf"), ("bsdtar", "-xOf")),
    "7z": _through_a_pipe(("7z", "l", "-ba", "-slt"), ("7z", "x", "-so")),
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of them, which we read ourselves."""
    data = write(MANY)
    assert read(data) == dict(MANY)
    path = tmp_path_factory.mktemp("many") / "many.zip"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_reads_66_000_files(many: Path, program: str) -> None:
    skip_without(program)

    assert UNWRITTEN[program](many) == dict(MANY)


def test_names_are_those_of_plain_files() -> None:
    assert all(is_path(path) for path, _ in FILES)
    assert not any(map(is_path, NAMES))


# Large archives.


def large(files: list[tuple[str, bytes]]) -> bytes:
    out = BytesIO()
    written = LargeWriter(out)
    for name, content in files:
        with written.member(name) as put:
            for at in range(0, len(content), 3):
                put(content[at : at + 3])
    written.close()
    return out.getvalue()


def read_large(data: bytes) -> list[tuple[str, bytes]]:
    stream = BytesIO(data)
    return [(member.path, b"".join(contents(stream, member))) for member in scan(stream, large=True)]


def test_a_large_archive_has_its_files_in_the_order_in_which_they_were_written() -> None:
    files = list(reversed(FILES))
    stream = BytesIO(large(files))

    members = scan(stream, large=True)

    assert read_large(stream.getvalue()) == files
    assert [opened(stream, member).read() for member in members] == [content for _, content in files]
    with zipfile.ZipFile(stream) as found:
        assert [(name, found.read(name)) for name in found.namelist()] == files


def test_no_byte_around_the_files_of_a_large_archive_is_free() -> None:
    data = large(FILES)

    for at in range(len(data)):
        with pytest.raises(BadArchive):
            read_large(data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1 :])


def test_what_is_put_around_the_files_of_a_large_archive_is_refused() -> None:
    data, plain = large(FILES), scan(BytesIO(large(FILES)), large=True)
    listed = data.index(b"PK\x01\x02")
    first = plain[0].listed
    field = struct.pack("<HH", 0x7075, 9) + b"\x01....a.md"
    longer = struct.pack("<H", 28 + len(field))
    named = data[:listed] + first[:30] + longer + first[32:] + field + data[listed + len(first) :]
    forgeries = {
        "a name that unzip alone reads": named,
        "a comment": data[:-2] + b"\x02\x00hi",
        "a byte in front": b"#" + data,
        "bytes between files and list": data[:listed] + b"gap" + data[listed:],
        "bytes behind the end": data + b"x",
        "two archives": data + data,
        "a file twice": data[: plain[0].at + plain[0].size] + data,
        "the form of a small one": PLAIN,
        "another writer's": zipped(*FILES),
        "cut": data[:-1],
    }
    for what, forged in forgeries.items():
        with pytest.raises(BadArchive):
            scan(BytesIO(forged), large=True)
        assert forged != data, what
    with pytest.raises(BadArchive):
        scan(BytesIO(data))
    for names in (["a", "A"], ["a", "a"], ["a", "a/b"]):
        with pytest.raises(ValueError, match="found"):
            large([(name, b"") for name in names])
    with pytest.raises(ValueError, match="plain relative path"):
        large([("../a", b"")])


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_extracts_the_same_from_a_large_archive(tmp_path: Path, program: str) -> None:
    skip_without(program)

    assert extracted(program, large(FILES), tmp_path) == dict(FILES)


def test_a_member_behind_four_gigabytes_is_found_by_its_extra_field() -> None:
    far = archive.Member("far.txt", (5 << 30) + 60, 3, 0, large=True)

    assert struct.unpack_from("<Q", far.listed, len(far.listed) - 8)[0] == far.at - len(far.header)
    assert struct.unpack_from("<L", far.listed, 42)[0] == 0xFFFF_FFFF
