"""A file that a command writes takes the place of files alone, never of a device, a pipe or a name for an open file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from service.cli.new_file import CannotWrite, refuse_present, written
from service.cli.report import write


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_name_for_output(path: Path) -> None:
    path.symlink_to("/proc/self/fd/1")


def a_name_for_a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("special", [a_pipe, a_name_for_output, a_name_for_a_device, Path.mkdir])
def test_what_is_no_file_is_refused_and_stays_as_it_was(tmp_path: Path, special: Callable[[Path], object]) -> None:
    path = tmp_path / "report.pdf"
    special(path)
    before = stat.S_IFMT(path.lstat().st_mode)

    with pytest.raises(CannotWrite, match=r"expected the name of a file, found .*report\.pdf"):
        write(path, b"content")
    with pytest.raises(CannotWrite, match="expected the name of a file"):
        refuse_present(path, force=True)
    with pytest.raises(CannotWrite), written(path, force=True):
        pytest.fail("it was opened")

    assert stat.S_IFMT(path.lstat().st_mode) == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_and_a_name_for_one_are_replaced(tmp_path: Path) -> None:
    old, name = tmp_path / "old.pdf", tmp_path / "name.pdf"
    old.write_bytes(b"old")
    name.symlink_to(old)

    write(old, b"new")
    write(name, b"other")

    assert (old.read_bytes(), name.read_bytes(), name.is_symlink()) == (b"new", b"other", False)


def test_a_place_that_cannot_be_looked_at_is_refused_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / f"{'a' * 300}.html"

    refuse_present(path, force=False)
    with pytest.raises(CannotWrite, match="name too long"), written(path, force=True):
        pytest.fail("it was opened")
