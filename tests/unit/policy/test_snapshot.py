"""Files as they stood at one moment: read once, and compared with what they are later."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.policy.file.snapshot import FileSnapshot


def test_a_file_has_the_same_bytes_at_each_call_and_stands_until_it_changes(tmp_path: Path) -> None:
    files, path = FileSnapshot(), tmp_path / "policy.toml"
    path.write_bytes(b"one")
    assert files(path) == b"one"
    assert files.stands()

    path.write_bytes(b"two")
    assert files(path) == b"one", "all is worked out from the same bytes"
    assert not files.stands()


def test_a_file_that_was_missing_stays_missing_and_stands_until_it_comes(tmp_path: Path) -> None:
    files, path = FileSnapshot(), tmp_path / "approval.txt"
    with pytest.raises(FileNotFoundError):
        files(path)
    assert files.stands()

    path.write_bytes(b"one")
    with pytest.raises(FileNotFoundError):
        files(path)
    assert not files.stands()
