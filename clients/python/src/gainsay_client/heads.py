"""Heads of audit logs, and where the largest proven one of each log is remembered: in memory, or in a file."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gainsay_client.consistency import HASH_BYTES
from gainsay_client.errors import BadHeadStore, UnexpectedAnswer

_LOG = re.compile(r"(?:(?!\.{1,2}/)[!-.0-~]+/){2}[1-9][0-9]{0,5}")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a log: its name (``<host>/<tenant>/<epoch>``), the number of its records and their root."""

    log: str
    size: int
    root: bytes

    def __str__(self) -> str:
        """As the header Gainsay-Checkpoint has it."""
        return f"{self.log} {self.size} {encode_base64(self.root)}"

    @property
    def series(self) -> str:
        """What the logs of one tenant have in common: a rotation changes the epoch alone."""
        return self.log.rpartition("/")[0]

    @property
    def epoch(self) -> int:
        """The number of the tenant's log."""
        return int(self.log.rpartition("/")[2])


def parse_head(text: str) -> Head:
    """The head in the words of the header; raises `UnexpectedAnswer`. Further words, of a newer service, pass."""
    words = text.split()
    root = decode_hash(words[2]) if len(words) >= 3 else None
    if root is None or not _LOG.fullmatch(words[0]) or not _SIZE.fullmatch(words[1]):
        raise UnexpectedAnswer(
            f"expected a head as log, size and base64 root in Gainsay-Checkpoint, found {text[:200]!r}"
        )
    return Head(words[0], int(words[1]), root)


def parse_checkpoint(note: str) -> Head:
    """The head of a signed checkpoint, whose signatures are not checked here; raises `UnexpectedAnswer`."""
    return parse_head(" ".join(note.split("\n")[:3]))


def encode_base64(value: bytes) -> str:
    """Base64 with padding."""
    return base64.b64encode(value).decode()


def decode_hash(text: str) -> bytes | None:
    """The hash that a text has in base64; ``None`` for any other text."""
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return found if len(found) == HASH_BYTES else None


class HeadStore(Protocol):
    """Remembers one head of each log."""

    def heads(self) -> Mapping[str, Head]:
        """The remembered heads by log."""
        ...

    def keep(self, head: Head, instead_of: Head | None) -> Head:
        """Remember a head if ``instead_of`` is still what is remembered; return what is remembered now."""
        ...


class MemoryHeads:
    """Heads for as long as the object lives."""

    def __init__(self) -> None:
        self._heads: dict[str, Head] = {}
        self._lock = threading.Lock()

    def heads(self) -> Mapping[str, Head]:
        """The remembered heads by log."""
        with self._lock:
            return dict(self._heads)

    def keep(self, head: Head, instead_of: Head | None) -> Head:
        """Remember a head if ``instead_of`` is still what is remembered."""
        with self._lock:
            if self._heads.get(head.log) == instead_of:
                self._heads[head.log] = head
            return self._heads[head.log]


class FileHeads:
    """Heads in a file, for many processes at a time: a lock beside it, and a whole new file at each change.

    Raises `BadHeadStore` for a file that cannot be read: to begin anew is a person's decision.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = Path(file)

    def heads(self) -> Mapping[str, Head]:
        """The remembered heads by log."""
        try:
            text = self._file.read_text("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise self._bad(str(error)) from None
        return self._parse(text)

    def keep(self, head: Head, instead_of: Head | None) -> Head:
        """Remember a head if ``instead_of`` is still what is remembered."""
        with self._locked():
            found = dict(self.heads())
            if found.get(head.log) == instead_of:
                found[head.log] = head
                self._write(found)
            return found[head.log]

    def _parse(self, text: str) -> dict[str, Head]:
        try:
            kept = json.loads(text)["heads"]
            found = [parse_head(f"{log} {each['size']} {each['root']}") for log, each in kept.items()]
        except (ValueError, KeyError, TypeError, AttributeError, UnexpectedAnswer) as error:
            raise self._bad(f"it is not what this client writes ({type(error).__name__})") from None
        return {head.log: head for head in found}

    def _write(self, heads: Mapping[str, Head]) -> None:
        kept = {log: {"size": head.size, "root": encode_base64(head.root)} for log, head in sorted(heads.items())}
        number, name = tempfile.mkstemp(prefix=f".{self._file.name}.", dir=self._file.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as part:
                part.write(json.dumps({"heads": kept}, indent=2) + "\n")
                part.flush()
                os.fsync(part.fileno())
            Path(name).replace(self._file)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.with_name(f"{self._file.name}.lock").open("a+b") as lock:
                take_lock(lock.fileno())  # given back when the file is closed, by a process that dies too
                yield
        except OSError as error:
            raise self._bad(str(error)) from None

    def _bad(self, why: str) -> BadHeadStore:
        return BadHeadStore(
            f"the remembered heads in {self._file} cannot be used: {why}. Restore the file from a backup; if you "
            "delete it, the client trusts the next head that it sees"
        )


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def take_lock(number: int) -> None:
        """Wait for the lock of an open file."""
        msvcrt.locking(number, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:
    import fcntl

    def take_lock(number: int) -> None:
        """Wait for the lock of an open file."""
        fcntl.flock(number, fcntl.LOCK_EX)
