"""Answers that go to a file: written beside it, and renamed once they are whole."""

from __future__ import annotations

import errno
import os
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gainsay_client import steps
from gainsay_client.errors import GainsayError
from gainsay_client.exchange import Exchange, Trying, is_passing
from gainsay_client.steps import Broken, Close, Steps
from gainsay_client.wire import Answer, Request, error_of, expect_accepted

ERROR_MAX = 1 << 20
TAIL = 4096


class PartFile:
    """A file in the making, in the folder where it will be."""

    def __init__(self, target: Path) -> None:
        """Raises `FileExistsError` for a device, a pipe or a folder, whose place a file must not take."""
        opened = target.is_symlink() and str(target.readlink()).startswith("/proc/")  # such as /dev/stdout
        if opened or (target.exists() and not target.is_file()):
            raise FileExistsError(
                errno.EEXIST, "expected the name of a file, found a device, a pipe or a folder", str(target)
            )
        self._target = target
        number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        self.path = Path(name)
        self._file = os.fdopen(number, "wb")

    def write(self, chunk: bytes) -> None:
        """Add bytes."""
        self._file.write(chunk)

    def end(self) -> None:
        """All bytes are there."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def keep(self) -> None:
        """Give the file its name, in the place of one that has it."""
        self.path.chmod(0o666 & ~_mask())
        self.path.replace(self._target)

    def discard(self) -> None:
        """Remove what is not kept."""
        self._file.close()
        with suppress(OSError):
            self.path.unlink()


def download(exchange: Exchange, request: Request, target: Path, is_whole: Callable[[Path], bool]) -> Steps[Path]:
    """The file with the answer to a request. Where a try breaks off, the next one begins anew."""
    trying = Trying(exchange.terms, exchange.terms.give_up_after)
    while True:
        try:
            return (yield from _try(exchange, request, target, is_whole))
        except Broken as broken:
            fault: GainsayError = exchange.unreachable(broken, trying)
        except GainsayError as error:
            if not is_passing(error):
                raise
            fault = error
        yield Close()
        yield from trying.pause_after(fault)


def _try(exchange: Exchange, request: Request, target: Path, is_whole: Callable[[Path], bool]) -> Steps[Path]:
    """One try; raises `Broken` for a file that lacks its end."""
    part = yield from steps.do(lambda: PartFile(target))
    try:
        size = yield from _fill(exchange, request, part)
        if not (yield from steps.do(lambda: is_whole(part.path))):
            raise Broken(f"the file ends after {size} bytes, before its end", sent=True)
        yield from steps.do(part.keep)
        return target
    finally:
        part.discard()


def _fill(exchange: Exchange, request: Request, part: PartFile) -> Steps[int]:
    """Write an answer, and return how many bytes it has."""
    answer = yield from steps.opened(request, exchange.terms.silence)
    yield from exchange.look(answer)
    if answer.status != 200:
        body = yield from steps.rest(ERROR_MAX)
        raise error_of(Answer(answer.status, answer.headers, body), exchange.terms.server)
    expect_accepted(request, answer, exchange.terms.server)
    size = 0
    while (chunk := (yield from steps.read())) is not None:
        size += len(chunk)
        yield from steps.do(lambda piece=chunk: part.write(piece))  # type: ignore[misc]
    yield from steps.do(part.end)
    return size


def is_zip(path: Path) -> bool:
    """Whether a ZIP has its end."""
    return zipfile.is_zipfile(path)


def is_export(path: Path) -> bool:
    """Whether an export has its last line, which counts the records."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL))
        tail = file.read()
    return tail.endswith(b"}\n") and tail.splitlines()[-1].startswith(b'{"records":')


def is_any(_: Path) -> bool:
    """Whether a file without a mark at its end is whole: the length that its answer announced has to do."""
    return True


def _mask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
