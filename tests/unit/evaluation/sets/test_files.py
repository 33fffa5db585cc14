"""The folder of a set: files alone are read, and nothing outside of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.evaluation.sets import files, form
from service.evaluation.sets.faults import BadSet
from tests.fixtures.golden_sets import CRITIC, FOLDER, TODAY, files_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a tiny set."""
    return Path(shutil.copytree(FOLDER / CRITIC, tmp_path / CRITIC))


def faults(folder: Path) -> list[str]:
    with pytest.raises(BadSet) as refused:
        files.load(folder, TODAY)
    return [str(fault) for fault in refused.value.faults]


def test_the_files_of_a_folder_are_those_of_the_set(folder: Path) -> None:
    assert files.read_folder(folder) == (files_of(CRITIC), [])
    assert files.load(folder, TODAY).files.keys() == files_of(CRITIC).keys()


def test_a_folder_that_is_a_link_is_read_and_links_in_it_are_not(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert files.load(tmp_path / "link", TODAY).manifest.id == CRITIC

    outside = tmp_path / "outside.toml"
    (folder / form.SET).rename(outside)
    (folder / form.SET).symlink_to(outside)
    (folder / "documents" / "more.txt").symlink_to("/etc/hostname")

    assert faults(folder) == [
        "set.toml: this is a link; a set has files alone, put the file itself here",
        "set.toml: this file is missing; a set has it",
        "documents/more.txt: this is a link; a set has files alone, put the file itself here",
    ]


def test_a_link_in_the_place_of_the_documents_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "documents").rename(tmp_path / "documents")
    (folder / "documents").symlink_to(tmp_path / "documents")

    assert "documents: this is a link; a set has files alone, put the file itself here" in faults(folder)


def test_what_is_no_file_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "documents" / "pipe.txt")
    (folder / "documents" / "more").mkdir()
    (folder / "other").mkdir()

    assert faults(folder) == [
        "documents/more: this is a folder, and has no place in a set; remove it",
        "documents/pipe.txt: this is no file, and has no place in a set; remove it",
        "other: this is a folder, and has no place in a set; remove it",
    ]


def test_of_a_large_file_no_more_is_read_than_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "documents" / "large.txt").open("wb") as large:
        large.truncate(1 << 40)  # a hole: it takes no room

    assert any("large.txt: the file may have 8,388,608 bytes, found 8,388,609" in fault for fault in faults(folder))

    (folder / "documents" / "large.txt").unlink()
    monkeypatch.setattr(files, "TOTAL_BYTES", 2_000)
    assert any("a set may have 2,000 bytes, found more" in fault for fault in faults(folder))


def test_a_folder_of_very_many_files_is_refused_before_they_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ENTRIES_MAX", 2)

    assert faults(folder)[-1].startswith("documents: a set may have 20,000 documents, found more")


def test_a_file_that_may_not_be_read_is_a_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refusing(path: Path, flags: int) -> int:
        if path.name == form.LABELS:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    monkeypatch.setattr(os, "open", refusing)

    assert "labels.jsonl: it cannot be read: Permission denied; check its permissions" in faults(folder)


def test_a_folder_that_may_not_be_read_is_a_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(_: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refusing)

    assert faults(folder) == [".: the folder cannot be read: Permission denied; check its permissions"]


def test_where_no_folder_is_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(files.NoSet, match="expected the folder of a golden set, found none at"):
        files.load(tmp_path / "none", TODAY)
