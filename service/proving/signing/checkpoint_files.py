"""The memory of a signer or witness: the last head of each log that it signed or countersigned, on disk.

There is one file a log, named by the SHA-256 of its origin, so that no origin can name a path:

    gainsay-head/1 <SHA-256 of the rest, hex>
    <the note that was given for the head: its text says origin, size and root>

A step compares and stores under a lock on the folder: it writes a second file, syncs it, renames it into place, and
syncs the folder. So two processes on one folder act as one, and a crash leaves the old head or the new one. A file that
is not whole is refused: reading it as "none" would let a rewritten log begin anew.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

from msgspec import Struct

from service.audit.checkpoint import BadCheckpoint, parse_checkpoint
from service.audit.note import BadNote, parse_note
from service.audit.witness import KnownCheckpoint
from service.errors import SettingsError
from service.proving.signing import SignerUnavailable

LOCK_WAIT_S = 5.0
"""How long a step waits for another process's step, which takes two syncs of the disk."""
FILE_BYTES_MAX = 1 << 20
TRIED_BYTES = 1 << 14
"""More than a head takes: what is tried on a disk that was full."""
_MAGIC = b"gainsay-head/1 "
_SERVED = "served.lock"
_HASHED = re.compile(r"[0-9a-f]{64}")

Kind = Literal["signed", "witnessed"]


class CheckpointFilesUnusable(SignerUnavailable):
    """The stored heads cannot be read, or a new one cannot be stored: nothing is signed until they can."""

    code = "heads_unusable"
    title = "The last heads of logs cannot be read or kept"


class StoredCheckpoint(Struct, frozen=True):
    """A head, and the note that was given for it."""

    origin: str
    head: KnownCheckpoint
    note: bytes


class CheckpointFiles:
    """The heads of one folder, which is made if it is missing. ``kind`` separates a signer's from a witness's.

    Raises `SettingsError` when the folder cannot be used.
    """

    def __init__(self, folder: Path, kind: Kind = "signed") -> None:
        self._path, self._kind = folder, kind
        self._lasting: list[int] = []
        self._failing = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise SettingsError(
                f"expected a folder for the last heads of logs at {folder}, found: {error.strerror}; "
                "name another one, on a persistent disk"
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            os.close(self._folder)
            raise SettingsError(f"expected a writable folder at {folder}, found one that is not; name another")

    def alone(self) -> None:
        """Claim this folder for this process until `close`; raises `SettingsError` when another process has it.

        Steps are safe without this. It prevents two witnesses that should be independent from sharing one memory by
        mistake.
        """
        name = f"{self._kind}-{_SERVED}"
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=self._folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise SettingsError(
                f"another process serves the heads in {self._path}; give each signer and witness a folder of its own"
            ) from error
        self._lasting.append(descriptor)

    def troubles(self) -> tuple[str, ...]:
        """Why no head can be stored at present; empty where it can.

        A full disk is found by the first head that is not stored. From then on each look tries to store something: a
        process that is not ready may be sent no further head.
        """
        if self._path.is_dir() and os.access(self._path, os.W_OK | os.X_OK) and not self._still_failing():
            return ()
        return (f"the folder of heads {self._path} is gone, or cannot be written",)

    def last(self, origin: str) -> StoredCheckpoint | None:
        """The last head of a log, ``None`` if there never was one; raises `CheckpointFilesUnusable`."""
        return self._read(hashed(origin))

    def last_of(self, hashed_origin: str) -> StoredCheckpoint | None:
        """The same for a log whose origin's SHA-256 is given, in lower-case hex."""
        return self._read(hashed_origin) if _HASHED.fullmatch(hashed_origin) else None

    def advance(
        self, origin: str, decide: Callable[[StoredCheckpoint | None], bytes | None]
    ) -> StoredCheckpoint | None:
        """Give the last head to ``decide`` and store the note that it returns, if any, in one atomic step.

        The note is on disk when this returns. Raises `CheckpointFilesUnusable`, `ValueError` for a note that cannot
        follow the last one, and what ``decide`` raises; nothing is changed then.
        """
        with self._step():
            last = self._read(hashed(origin))
            note = decide(last)
            if note is None:
                return None
            kept = _opened(note)
            _expect_after(origin, last, kept)
            self._write(f"{hashed(origin)}.{self._kind}", _MAGIC + sha256(note).hexdigest().encode() + b"\n" + note)
            return kept

    def count(self) -> int:
        """How many logs have a head here."""
        with os.scandir(self._folder) as found:
            return sum(entry.name.endswith(f".{self._kind}") for entry in found)

    def close(self) -> None:
        """Release the folder."""
        for descriptor in (*self._lasting, self._folder):
            os.close(descriptor)
        self._lasting, self._folder = [], -1

    def __repr__(self) -> str:
        return f"Heads({str(self._path)!r}, {self._kind!r})"

    @contextmanager
    def _step(self) -> Iterator[None]:
        """Hold the folder's lock. Each step opens the folder itself, so the lock also separates threads."""
        try:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._folder)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            until = time.monotonic() + LOCK_WAIT_S
            while not _locked(descriptor):
                if time.monotonic() > until:
                    raise CheckpointFilesUnusable(
                        f"another process has locked the heads in {self._path} for {LOCK_WAIT_S:g} seconds; find out "
                        "what it waits for",
                        retry_after=5,
                    )
                time.sleep(0.002)
            yield
        finally:
            os.close(descriptor)

    def _read(self, hashed_origin: str) -> StoredCheckpoint | None:
        name = f"{hashed_origin}.{self._kind}"
        try:
            content = self._bytes(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        head, _, note = content.partition(b"\n")
        if head != _MAGIC + sha256(note).hexdigest().encode():
            raise self._corrupt(name)
        try:
            kept = _opened(note)
        except (BadNote, BadCheckpoint) as error:
            raise self._corrupt(name) from error
        if hashed(kept.origin) != hashed_origin:
            raise self._corrupt(name)
        return kept

    def _bytes(self, name: str) -> bytes:
        """A file's content. A pipe or a link in its place is corrupt, and reading it must not block."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=self._folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._corrupt(name)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(FILE_BYTES_MAX + 1)

    def _still_failing(self) -> bool:
        if self._failing:
            name = f"{self._kind}-tried"
            with suppress(CheckpointFilesUnusable):
                self._write(name, bytes(TRIED_BYTES))
            for left in (name, f"{name}.new"):
                with suppress(OSError):
                    os.unlink(left, dir_fd=self._folder)
        return self._failing

    def _write(self, name: str, content: bytes) -> None:
        """Replace a file so that a crash at any point leaves the old one or the new one, whole."""
        beside = f"{name}.new"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            with os.fdopen(os.open(beside, flags, 0o600, dir_fd=self._folder), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.rename(beside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            os.fsync(self._folder)
        except OSError as error:
            self._failing = True
            raise self._unusable(error) from error
        self._failing = False

    def _unusable(self, error: OSError) -> CheckpointFilesUnusable:
        return CheckpointFilesUnusable(
            f"the heads in {self._path} cannot be read or stored: {error.strerror}; nothing is signed until they can"
        )

    def _corrupt(self, name: str) -> CheckpointFilesUnusable:
        return CheckpointFilesUnusable(
            f"the file {name} in {self._path} is not as it was written: expected a stored head, found other bytes. It "
            "is never read as none, because a rewritten log could then begin anew: restore the file from a backup, "
            "or compare the log with its witnesses before you remove it"
        )


def hashed(origin: str) -> str:
    """SHA-256 of an origin, hex: the name of its file."""
    return sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()


def _opened(note: bytes) -> StoredCheckpoint:
    checkpoint = parse_checkpoint(parse_note(note).text)
    return StoredCheckpoint(checkpoint.origin, KnownCheckpoint(checkpoint.size, checkpoint.root), note)


def _expect_after(origin: str, last: StoredCheckpoint | None, new: StoredCheckpoint) -> None:
    """Check what no decision of a caller may break."""
    if new.origin != origin:
        raise ValueError("expected a note of the log that is decided on, found one of another")
    if last and (new.head.size < last.head.size or (new.head.size == last.head.size and new.head != last.head)):
        raise ValueError(f"expected a head after size {last.head.size}, found one of {new.head.size}, or another root")


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
