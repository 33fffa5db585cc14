"""Which golden sets a process has at hand, and which folders it is not given."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from service.evaluation.sets import files
from service.policy.set_folders import SetFolder
from service.reviews import evaluation_sets
from service.reviews.evaluation_sets import GoldenShelf, Stamp, _stamps, unfit_sets
from tests.fixtures.evaluating import GOLDEN

TODAY = datetime.now(UTC).date()


def given(*folders: Path) -> list[SetFolder]:
    """Folders that every tenant may ask."""
    return [SetFolder(folder) for folder in folders]


def a_copy(of: str, to: Path, **edits: tuple[str, str]) -> Path:
    """A copy of a tiny set, or of a shipped one, with edits of its files by their stems."""
    shutil.copytree((GOLDEN if of.startswith("tiny") else files.GOLDEN) / of, to)
    for stem, (old, new) in edits.items():
        (file,) = to.glob(f"{stem}.*")
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new), "utf-8")
    return to


def test_a_clock_that_is_behind_takes_no_shipped_set_away() -> None:
    assert {folder.name for folder in files.shipped()} == set(GoldenShelf().at_hand(date.min, "acme"))


def test_folders_without_a_fault_stand_beside_the_shipped_ones() -> None:
    folders = sorted(GOLDEN.glob("tiny-*"))

    assert unfit_sets(given(*folders), TODAY) == []
    at_hand = GoldenShelf(given(*folders)).at_hand(TODAY, "acme")
    assert set(at_hand) == files.shipped_ids() | {folder.name for folder in folders}


def test_every_fault_of_every_folder_is_named_by_file_and_line(tmp_path: Path) -> None:
    labels = a_copy("tiny-questions", tmp_path / "labels", labels=('"basis": "construction"', '"basis": "guess"'))
    licence = a_copy("tiny-critic", tmp_path / "licence", set=("licence =", "license ="))

    faults = unfit_sets(given(labels, GOLDEN / "tiny-pairs", licence, tmp_path / "none"), TODAY)

    lines = len((labels / "labels.jsonl").read_text("utf-8").splitlines())
    assert [f for f in faults if f.startswith(f"{labels}/labels.jsonl:")][lines - 1 :] != []
    assert [f for f in faults if f.startswith(f"{licence}/set.toml: ") and "licen" in f] != []
    assert faults[-1].startswith(f"expected the folder of a golden set, found none at {tmp_path / 'none'}")
    assert not [f for f in faults if "tiny-pairs" in f]


def test_a_set_with_the_id_of_a_shipped_one_is_refused_and_never_takes_its_place(tmp_path: Path) -> None:
    same = a_copy("contract-critic", tmp_path / "mine", set=("[splits]", "# mine\n[splits]"))

    (fault,) = unfit_sets(given(same), TODAY)
    at_hand = GoldenShelf(given(same)).at_hand(TODAY, "acme")

    assert fault == f"{same}/set.toml: id: 'contract-critic' is the id of a shipped set; give this one an id of its own"
    assert at_hand["contract-critic"].hash == files.load_shipped(files.GOLDEN / "contract-critic").hash


@pytest.mark.parametrize("version", ["version = 1", "version = 2"])
def test_two_folders_with_sets_of_one_id_are_refused(tmp_path: Path, version: str) -> None:
    other = a_copy("tiny-critic", tmp_path / "other", set=("version = 1", version))

    (fault,) = unfit_sets(given(GOLDEN / "tiny-critic", other), TODAY)

    assert fault.startswith(f"{other}/set.toml: id: {GOLDEN / 'tiny-critic'} has a set 'tiny-critic' too; one version")


def test_a_set_that_gets_a_fault_is_at_hand_no_more_and_comes_back(tmp_path: Path) -> None:
    folder = a_copy("tiny-critic", tmp_path / "set")
    shelf = GoldenShelf(given(folder))
    before = shelf.at_hand(TODAY, "acme")["tiny-critic"].hash
    labels = (folder / "labels.jsonl").read_bytes()
    (folder / "labels.jsonl").write_bytes(labels[:-2])

    assert "tiny-critic" not in shelf.at_hand(TODAY, "acme")
    assert "tiny-critic" in shelf.seen
    (folder / "labels.jsonl").write_bytes(labels)
    assert shelf.at_hand(TODAY, "acme")["tiny-critic"].hash == before


def test_a_set_of_one_tenant_is_at_hand_there_alone() -> None:
    shelf = GoldenShelf([SetFolder(GOLDEN / "tiny-critic", "acme"), SetFolder(GOLDEN / "tiny-pairs")])

    assert {name for name in shelf.at_hand(TODAY, "acme") if name.startswith("tiny")} == {"tiny-critic", "tiny-pairs"}
    assert {name for name in shelf.at_hand(TODAY, "globex") if name.startswith("tiny")} == {"tiny-pairs"}


def test_of_the_sets_that_are_asked_every_file_is_looked_at_and_of_others_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, looked = tmp_path / "tiny-critic", list[Path]()
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    monkeypatch.setattr(files, "shipped", lambda: ())
    shelf = GoldenShelf(given(folder, GOLDEN / "tiny-pairs"))

    def stamps(of: Path) -> Iterator[tuple[str, int, int]]:
        looked.append(of)
        return _stamps(of)

    first = shelf.at_hand(date.max, "acme", {"tiny-critic"})
    monkeypatch.setattr(evaluation_sets, "_stamps", stamps)
    assert shelf.at_hand(date.max, "acme", {"tiny-critic"}) == first
    assert looked == [folder, folder / "documents"]
    document = next((folder / "documents").iterdir())
    document.write_bytes(document.read_bytes() + b"\n")
    assert "tiny-critic" not in shelf.at_hand(date.max, "acme", {"tiny-critic"})
    shutil.copytree(GOLDEN / "tiny-critic", folder, dirs_exist_ok=True)
    assert set(shelf.at_hand(date.max, "acme", {"tiny-critic"})) == {"tiny-critic"}
    shutil.rmtree(folder)
    assert shelf.at_hand(date.max, "acme", {"tiny-critic"}) == {}
    assert "tiny-pairs" in shelf.at_hand(date.max, "acme")


def test_a_stamp_has_every_file_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "one").write_text("one")
    (tmp_path / "documents" / "up").symlink_to(tmp_path)
    found: Stamp = tuple(_stamps(tmp_path))

    assert [Path(path).name for path, _, _ in found] == ["documents", "one", "up"]
    assert tuple(_stamps(tmp_path / "gone")) == ()
