"""Which golden sets a process has at hand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from service.evaluation.sets import files
from service.reviews import evaluation_sets
from service.reviews.evaluation_sets import GoldenShelf, Stamp, _stamps
from tests.fixtures.evaluating import GOLDEN


def test_a_clock_that_is_behind_takes_no_shipped_set_away() -> None:
    assert {folder.name for folder in files.shipped()} == set(GoldenShelf().at_hand(date.min))


def test_of_the_sets_that_are_asked_every_file_is_looked_at_and_of_others_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, looked = tmp_path / "tiny-critic", list[Path]()
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    monkeypatch.setattr(files, "shipped", lambda: ())
    shelf = GoldenShelf([folder, GOLDEN / "tiny-pairs"])

    def stamps(of: Path) -> Iterator[tuple[str, int, int]]:
        looked.append(of)
        return _stamps(of)

    first = shelf.at_hand(date.max, {"tiny-critic"})
    monkeypatch.setattr(evaluation_sets, "_stamps", stamps)
    assert shelf.at_hand(date.max, {"tiny-critic"}) == first
    assert looked == [folder, folder / "documents"]
    document = next((folder / "documents").iterdir())
    document.write_bytes(document.read_bytes() + b"\n")
    assert "tiny-critic" not in shelf.at_hand(date.max, {"tiny-critic"})
    shutil.copytree(GOLDEN / "tiny-critic", folder, dirs_exist_ok=True)
    assert set(shelf.at_hand(date.max, {"tiny-critic"})) == {"tiny-critic"}
    shutil.rmtree(folder)
    assert shelf.at_hand(date.max, {"tiny-critic"}) == {}
    assert "tiny-pairs" in shelf.at_hand(date.max)


def test_a_stamp_has_every_file_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "one").write_text("one")
    (tmp_path / "documents" / "up").symlink_to(tmp_path)
    found: Stamp = tuple(_stamps(tmp_path))

    assert [Path(path).name for path, _, _ in found] == ["documents", "one", "up"]
    assert tuple(_stamps(tmp_path / "gone")) == ()
