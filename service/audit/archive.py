"""A ZIP with one reading: every member is stored, in one order, and all other bytes follow from names and contents.

local header     version 2.0, no flags, stored, 1980-01-01 00:00, CRC-32, the same size twice, no extra field
list of files    the same in the same order, made by Unix, a plain file with mode 644, no extra field, no comment
end              without a comment; with 65,535 members or more the ZIP64 record that says how many

The first member has no rule; behind it names ascend by their bytes. `scan` reads the local headers, writes the whole
ZIP again from what it found, and compares. So nothing can be hidden in a field, between members or behind the end, and
a program that goes by the list extracts the same files as one that goes by the headers.

A large archive may have any size and its members any order. Each of them has its sizes and its place in the extra field
of ZIP64, version 4.5, also where they are small: so there is no second way to write one.

Names are plain relative paths of ASCII characters that mean one file on every system: no two differ in case alone, none
is the folder of another, none is a device of Windows or ends in a dot.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import SEEK_CUR, SEEK_END, SEEK_SET, BufferedReader, BytesIO, RawIOBase
from itertools import pairwise
from typing import IO, Any

from msgspec import Struct

from service.errors import GainsayError

PATH_MAX = 200
BYTES_MAX = (1 << 32) - 2
"""The most bytes of an archive. One above that needs larger fields, which some programs do not read."""
MEMBERS_MAX = 200_000
"""No debate has so many: a verifier replays at most 20,000 entries, and a record has four members."""
LARGE_MEMBERS_MAX = 1_000_000
"""The most members of a large archive, whose names are in memory."""
PIECE = 1 << 20

_PATH = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.ASCII | re.IGNORECASE)
_LOCAL = struct.Struct("<4s5H3L2H")
LOCAL_BYTES = _LOCAL.size
"""The bytes of a local header in front of the name."""
_LISTED = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_LOCAL_SIZES = struct.Struct("<2H2Q")
_LISTED_SIZES = struct.Struct("<2H3Q")
_LOCAL_MARK, _LISTED_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END64_MARK, _LOCATOR_MARK = b"PK\x06\x06", b"PK\x06\x07"
_VERSION, _UNIX, _STORED, _MIDNIGHT, _FIRST_DAY = 20, 3 << 8, 0, 0, 0x21
_MODE = 0o100644 << 16
_LARGE_VERSION, _ELSEWHERE, _ZIP64 = 45, 0xFFFF_FFFF, 1
_MANY = 0xFFFF
_FIELDS = (
    *("mark", "version", "flags", "compression method", "time", "date", "CRC", "size", "second size", "name", "extra"),
)


class BadArchive(GainsayError):
    """A file is not an archive of this form."""

    code = "bad_archive"
    status = 422
    title = "An archive cannot be read in one way alone"


class Member(Struct, frozen=True):
    """A file in the archive: its path, its first byte, how many bytes it has, and their CRC-32."""

    path: str
    at: int
    size: int
    crc: int
    large: bool = False
    """Whether its sizes are in the extra field of ZIP64."""

    @property
    def header(self) -> bytes:
        """The local header in front of its bytes."""
        extra = _LOCAL_SIZES.pack(_ZIP64, _LOCAL_SIZES.size - 4, self.size, self.size) if self.large else b""
        return _LOCAL.pack(_LOCAL_MARK, *self._fixed(len(extra))) + self.path.encode("ascii") + extra

    @property
    def listed(self) -> bytes:
        """Its line of the list of files."""
        extra, place = b"", self.at - len(self.header)
        if self.large:
            extra = _LISTED_SIZES.pack(_ZIP64, _LISTED_SIZES.size - 4, self.size, self.size, place)
            place = _ELSEWHERE
        fixed = self._fixed(len(extra))
        name = self.path.encode("ascii") + extra
        return _LISTED.pack(_LISTED_MARK, _UNIX | fixed[0], *fixed, 0, 0, 0, _MODE, place) + name

    def _fixed(self, extra: int) -> tuple[int, ...]:
        """The fields that stand in front of the bytes and in the list."""
        version, size = (_LARGE_VERSION, _ELSEWHERE) if self.large else (_VERSION, self.size)
        return version, 0, _STORED, _MIDNIGHT, _FIRST_DAY, self.crc, size, size, len(self.path), extra


def is_path(path: str) -> bool:
    """Whether every system takes this as the path of a plain file below a folder."""
    if len(path) > PATH_MAX or _PATH.fullmatch(path) is None:
        return False
    return not any(part.endswith(".") or _DEVICE.fullmatch(part) for part in path.split("/"))


def write(files: Sequence[tuple[str, bytes]]) -> bytes:
    """The archive of these files in this order; raises `ValueError` for files that `scan` would refuse."""
    out, members = BytesIO(), []
    for path, content in files:
        if not is_path(path):
            raise ValueError(f"expected a plain relative path, found {path[:PATH_MAX]!r}")
        at = out.tell() + _LOCAL.size + len(path)
        members.append(Member(path, at, len(content), zlib.crc32(content)))
        if at + len(content) > BYTES_MAX:
            raise ValueError(f"expected at most {BYTES_MAX} bytes, found more from {path!r} on")
        out.write(members[-1].header)
        out.write(content)
    try:
        _refuse_unordered(members)
        _refuse_alike(members)
    except BadArchive as error:
        raise ValueError(error.detail) from error
    out.write(_ending(members, out.tell()))
    return out.getvalue()


class LargeWriter:
    """Writes a large archive, one file after the other, to ``out``, which can be written at any place."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._members: list[Member] = []

    @contextmanager
    def member(self, path: str) -> Iterator[Callable[[bytes], None]]:
        """A file that is written in pieces; raises `ValueError` for a path that is none."""
        if not is_path(path):
            raise ValueError(f"expected a plain relative path, found {path[:PATH_MAX]!r}")
        start, size, crc = self._out.tell(), 0, 0
        at = start + self._out.write(Member(path, 0, 0, 0, large=True).header)

        def put(piece: bytes) -> None:
            nonlocal size, crc
            self._out.write(piece)
            size, crc = size + len(piece), zlib.crc32(piece, crc)

        yield put
        self._members.append(member := Member(path, at, size, crc, large=True))
        self._out.seek(start)
        self._out.write(member.header)
        self._out.seek(at + size)

    def close(self) -> None:
        """Write the end; raises `ValueError` for files that `scan` would refuse."""
        try:
            _refuse_alike(self._members)
        except BadArchive as error:
            raise ValueError(error.detail) from error
        self._out.write(_ending(self._members, self._out.tell()))


def scan(stream: IO[bytes], *, large: bool = False) -> tuple[Member, ...]:
    """The members of an archive, their contents not yet read; raises `BadArchive`, also for any other byte."""
    size = stream.seek(0, SEEK_END)
    if size > BYTES_MAX and not large:
        raise BadArchive(f"expected at most {BYTES_MAX} bytes, found {size}")
    members = tuple(_members(stream, size, large))
    if not large:
        _refuse_unordered(members)
    _refuse_alike(members)
    end = members[-1].at + members[-1].size if members else 0
    expected = _ending(members, end)
    stream.seek(end)
    found = stream.read(len(expected) + 1)
    if found != expected:
        raise BadArchive(_difference(members, expected, found))
    return members


def contents(stream: IO[bytes], member: Member) -> Iterator[bytes]:
    """The bytes of a member in pieces; raises `BadArchive` at their end when their CRC is another."""
    stream.seek(member.at)
    left, crc = member.size, 0
    while left:
        piece = stream.read(min(left, PIECE))
        if not piece:
            raise BadArchive(f"expected {member.size} bytes of {member.path!r}, found the end of the file")
        left, crc = left - len(piece), zlib.crc32(piece, crc)
        yield piece
    if crc != member.crc:
        raise BadArchive(f"expected the CRC {member.crc:08x} of {member.path!r}, found {crc:08x}")


def digest(stream: IO[bytes], member: Member) -> str:
    """The SHA-256 of a member, hex, read in pieces; raises `BadArchive`."""
    hashed = sha256()
    for piece in contents(stream, member):
        hashed.update(piece)
    return hashed.hexdigest()


class _Window(RawIOBase):
    """A member as a file that can be read at any place."""

    def __init__(self, stream: IO[bytes], member: Member) -> None:
        super().__init__()
        self._stream, self._member, self._at = stream, member, 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        """The new place, which is never in front of the first byte."""
        self._at = max(0, offset + {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._member.size}[whence])
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """How many bytes were read."""
        self._stream.seek(self._member.at + self._at)
        piece = self._stream.read(min(len(buffer), max(0, self._member.size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def opened(stream: IO[bytes], member: Member) -> BufferedReader:
    """A member as a file of its own, read from the archive as it is asked for; its CRC is not compared."""
    return BufferedReader(_Window(stream, member), PIECE)


class Stored(Mapping[str, bytes]):
    """The files of an archive by path, read from it each time: a file that no step asks for takes no memory.

    A file that has other bytes than at first raises `BadArchive`: the archive was changed meanwhile.
    """

    def __init__(self, stream: IO[bytes], members: Iterable[tuple[Member, str]]) -> None:
        self._stream = stream
        self._members = {member.path: (member, digest) for member, digest in members}

    def __getitem__(self, path: str) -> bytes:
        member, digest = self._members[path]
        content = b"".join(contents(self._stream, member))
        if sha256(content).hexdigest() != digest:
            raise BadArchive(f"expected {path!r} as it was at first, found other bytes: the file was changed meanwhile")
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, path: object) -> bool:
        return path in self._members

    def pieces(self, path: str) -> Iterator[bytes]:
        """The bytes of a file in pieces; raises `KeyError`, and `BadArchive` when they changed meanwhile."""
        return contents(self._stream, self._members[path][0])

    def size(self, path: str) -> int:
        """How many bytes a file has, without reading it; raises `KeyError`."""
        return self._members[path][0].size

    def digests(self) -> dict[str, str]:
        """The SHA-256 of every file, hex, by path."""
        return {path: digest for path, (_, digest) in self._members.items()}


def _members(stream: IO[bytes], size: int, large: bool) -> Iterator[Member]:
    at, count, most = 0, 0, LARGE_MEMBERS_MAX if large else MEMBERS_MAX
    stream.seek(0)
    while (head := stream.read(_LOCAL.size)).startswith(_LOCAL_MARK):
        if (count := count + 1) > most:
            raise BadArchive(f"expected at most {most} files, found more")
        if len(head) < _LOCAL.size:
            raise BadArchive(f"expected a whole local header at byte {at}, found the end of the file")
        fields = _LOCAL.unpack(head)
        name = stream.read(min(fields[9], PATH_MAX + 1))
        extra = stream.read(_LOCAL_SIZES.size) if large and fields[10] == _LOCAL_SIZES.size else b""
        length = _LOCAL_SIZES.unpack(extra)[2] if len(extra) == _LOCAL_SIZES.size else fields[7]
        member = Member(_named(name, at), at + _LOCAL.size + len(name) + len(extra), length, fields[6], large)
        if head + name + extra != member.header:
            raise BadArchive(_unlike(f"the local header of {member.path!r}", _LOCAL.unpack(member.header[:30]), fields))
        if member.at + member.size > size:
            raise BadArchive(f"expected {member.size} bytes of {member.path!r}, found the end of the file")
        yield member
        at = stream.seek(member.at + member.size)
    if not count:
        raise BadArchive("expected a file of the ZIP at byte 0, found other bytes or none")


def _named(name: bytes, at: int) -> str:
    path = name.decode("latin-1")
    if not is_path(path):
        raise BadArchive(f"expected plain relative paths as names of files, found {path[:PATH_MAX]!r} at byte {at}")
    return path


def _refuse_unordered(members: Sequence[Member]) -> None:
    """Raise `BadArchive` unless the names ascend behind the first."""
    for before, member in pairwise(members[1:]):
        if before.path >= member.path:
            what = "twice" if before.path == member.path else f"behind {before.path!r}"
            raise BadArchive(f"expected names in ascending order, each once, found {member.path!r} {what}")


def _refuse_alike(members: Sequence[Member]) -> None:
    """Raise `BadArchive` unless every system tells the names apart."""
    seen: set[str] = set()
    for member in members:
        if (folded := member.path.lower()) in seen:
            raise BadArchive(f"expected names that differ in more than case, found {member.path!r} twice")
        seen.add(folded)
    for path in seen:
        parts = path.split("/")
        if any("/".join(parts[:n]) in seen for n in range(1, len(parts))):
            raise BadArchive(f"expected no file that is also a folder, found the one above {path!r}")


def _ending(members: Sequence[Member], at: int) -> bytes:
    """Everything behind the last member, which ends at ``at``."""
    listed = b"".join(member.listed for member in members)
    many, large = len(members) >= _MANY, any(member.large for member in members)
    count, length, place, behind = min(len(members), _MANY), len(listed), at, b""
    if many or large:
        counts = (len(members), len(members), len(listed), at)
        behind = _END64.pack(
            _END64_MARK, _END64.size - 12, _UNIX | (_LARGE_VERSION if large else _VERSION), 45, 0, 0, *counts
        )
        behind += _LOCATOR.pack(_LOCATOR_MARK, 0, at + len(listed), 1)
    if large:
        count, length, place = _MANY, _ELSEWHERE, _ELSEWHERE
    return listed + behind + _END.pack(_END_MARK, 0, 0, count, count, length, place, 0)


def _difference(members: Sequence[Member], expected: bytes, found: bytes) -> str:
    """Where the end of an archive differs from the one that follows from its members, in words."""
    if found.startswith(expected):
        return "expected nothing behind the end of the ZIP, found more bytes"
    at = 0
    for member in members:
        line = member.listed
        if (part := found[at : at + len(line)]) != line:
            return f"expected {member.path!r} in the list of files as in front of its bytes, {_place(line, part)}"
        at += len(line)
    return f"expected the end of the ZIP as it follows from its files, {_place(expected[at:], found[at:])}"


def _place(expected: bytes, found: bytes) -> str:
    pairs = zip(expected, found, strict=False)
    at = next((n for n, (one, other) in enumerate(pairs) if one != other), len(found))
    return f"found another from byte {at} on" if found else "found the end of the file"


def _unlike(what: str, expected: Sequence[object], found: Sequence[object]) -> str:
    """The first field that differs."""
    for name, one, other in zip(_FIELDS, expected, found, strict=True):
        if one != other:
            other_one = "one" if name == "extra" else repr(other)
            return f"expected {what} with the {name} {one!r}, found {other_one}"
    return f"expected {what} as it is written here, found another"
