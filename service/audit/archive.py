"""A ZIP with one reading: every member is stored, in one order, and all other bytes follow from names and contents.

local header     version 2.0, no flags, stored, 1980-01-01 00:00, CRC-32, the same size twice, no extra field
list of files    the same in the same order, made by Unix, a plain file with mode 644, no extra field, no comment
end              without a comment; with 65,535 members or more the ZIP64 record that says how many

The first member has no rule; behind it names ascend by their bytes. `scan` reads the local headers, writes the whole
ZIP again from what it found, and compares. So nothing can be hidden in a field, between members or behind the end, and
a program that goes by the list extracts the same files as one that goes by the headers.

Names are plain relative paths of ASCII characters that mean one file on every system: no two differ in case alone, none
is the folder of another, none is a device of Windows or ends in a dot.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from typing import IO

from msgspec import Struct

from service.errors import GainsayError

PATH_MAX = 200
BYTES_MAX = (1 << 32) - 2
"""The most bytes of an archive. One above that needs larger fields, which some programs do not read."""
MEMBERS_MAX = 200_000
"""No debate has so many: a verifier replays at most 20,000 entries, and a record has four members."""
PIECE = 1 << 20

_PATH = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*/)*[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.ASCII | re.IGNORECASE)
_LOCAL = struct.Struct("<4s5H3L2H")
_LISTED = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_LOCAL_MARK, _LISTED_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END64_MARK, _LOCATOR_MARK = b"PK\x06\x06", b"PK\x06\x07"
_VERSION, _UNIX, _STORED, _MIDNIGHT, _FIRST_DAY = 20, 3 << 8, 0, 0, 0x21
_MODE = 0o100644 << 16
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

    @property
    def header(self) -> bytes:
        """The local header in front of its bytes."""
        name = self.path.encode("ascii")
        fixed = (_VERSION, 0, _STORED, _MIDNIGHT, _FIRST_DAY, self.crc, self.size, self.size, len(name), 0)
        return _LOCAL.pack(_LOCAL_MARK, *fixed) + name

    @property
    def listed(self) -> bytes:
        """Its line of the list of files."""
        name = self.path.encode("ascii")
        fixed = (_VERSION, 0, _STORED, _MIDNIGHT, _FIRST_DAY, self.crc, self.size, self.size, len(name), 0, 0, 0, 0)
        place = self.at - len(name) - _LOCAL.size
        return _LISTED.pack(_LISTED_MARK, _UNIX | _VERSION, *fixed, _MODE, place) + name


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
    except BadArchive as error:
        raise ValueError(error.detail) from error
    out.write(_ending(members, out.tell()))
    return out.getvalue()


def scan(stream: IO[bytes]) -> tuple[Member, ...]:
    """The members of an archive, their contents not yet read; raises `BadArchive`, also for any other byte."""
    size = stream.seek(0, 2)
    if size > BYTES_MAX:
        raise BadArchive(f"expected at most {BYTES_MAX} bytes, found {size}")
    members = tuple(_members(stream, size))
    _refuse_unordered(members)
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


def _members(stream: IO[bytes], size: int) -> Iterator[Member]:
    at, count = 0, 0
    stream.seek(0)
    while (head := stream.read(_LOCAL.size)).startswith(_LOCAL_MARK):
        if (count := count + 1) > MEMBERS_MAX:
            raise BadArchive(f"expected at most {MEMBERS_MAX} files, found more")
        if len(head) < _LOCAL.size:
            raise BadArchive(f"expected a whole local header at byte {at}, found the end of the file")
        fields = _LOCAL.unpack(head)
        name = stream.read(min(fields[9], PATH_MAX + 1))
        member = Member(_named(name, at), at + _LOCAL.size + len(name), fields[7], fields[6])
        if head + name != member.header:
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
    """Raise `BadArchive` unless the names ascend behind the first, and every system tells them apart."""
    for before, member in pairwise(members[1:]):
        if before.path >= member.path:
            what = "twice" if before.path == member.path else f"behind {before.path!r}"
            raise BadArchive(f"expected names in ascending order, each once, found {member.path!r} {what}")
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
    count, large = min(len(members), _MANY), b""
    if len(members) >= _MANY:
        counts = (len(members), len(members), len(listed), at)
        large = _END64.pack(_END64_MARK, _END64.size - 12, _UNIX | _VERSION, 45, 0, 0, *counts)
        large += _LOCATOR.pack(_LOCATOR_MARK, 0, at + len(listed), 1)
    return listed + large + _END.pack(_END_MARK, 0, 0, count, count, len(listed), at, 0)


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
