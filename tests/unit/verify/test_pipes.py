"""A bundle that comes through a pipe is kept no further than a bundle can be long."""

from __future__ import annotations

import io
from io import BufferedReader

import pytest

from service.cli.audit import verify
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

    report = verify._bundle(BufferedReader(pipe), Trust(), every=False)

    assert report.code == 1
    assert pipe.given <= 5 << 20
