"""A bundle that comes through a pipe is kept no further than a bundle can be long, and a pack is read whole."""

from __future__ import annotations

import io
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.audit.archive import PIECE, LargeWriter
from service.cli.audit import verify
from service.cli.audit.compare import compare
from service.cli.audit.in_hand import Asked
from service.verify.steps import Trust


class Endless(io.RawIOBase):
    """A pipe that never ends."""

    given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        view[:] = b"P" * len(view)
        self.given += len(view)
        return len(view)


def test_a_pipe_without_an_end_is_read_up_to_the_longest_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "BYTES_MAX", 3 << 20)
    pipe = Endless()

    report = verify._bundle(BufferedReader(pipe), Trust(), Asked(every=False))

    assert report.code == 1
    assert pipe.given <= 5 << 20


class Pipe(io.RawIOBase):
    """A pipe that ends; it cannot be read in another place."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        return self._data.readinto(buffer)  # type: ignore[arg-type]


def test_a_pack_that_is_longer_than_any_bundle_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "BYTES_MAX", PIECE)

    report = verify._bundle(BufferedReader(Pipe(words(PIECE))), Trust(), Asked(every=False))

    assert report.steps[0].detail.startswith("expected summary.json")  # what is behind all of it was looked for


def test_whoever_compares_a_pack_is_told_to_compare_its_parts(tmp_path: Path) -> None:
    pack = tmp_path / "pack.zip"
    pack.write_bytes(words(1))

    asked = CliRunner().invoke(compare, [str(pack), str(pack)])

    assert (asked.exit_code, "compare a file of its logs/ or bundles/" in asked.output) == (2, True)


def words(times: int) -> bytes:
    """A pack of words alone."""
    out = BytesIO()
    written = LargeWriter(out)
    with written.member("README.txt") as put:
        put(b"words" * times)
    written.close()
    return out.getvalue()
