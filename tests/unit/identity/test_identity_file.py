"""The file of GAINSAY_IDENTITY: what it may say, and that a wrong one is refused whole, with every fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import SettingsError
from service.identity.file import MOST_BYTES, read_identities
from service.identity.settings import KeySettings


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "identity.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as refusal:
        read_identities(path)
    return refusal.value.detail


def test_keys_are_accepted_by_an_empty_section_and_live_a_year_at_most(tmp_path: Path) -> None:
    assert read_identities(written(tmp_path, "[keys]\n")).keys == KeySettings(most_days=366)
    assert read_identities(written(tmp_path, "[keys]\nmost_days = 30\n")).keys == KeySettings(most_days=30)


def test_every_fault_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, '[keys]\nmost_days = 0\nmost_day = 3\n\n[kays]\nx = "s3cret"\n')

    said = refused(path)

    assert said.startswith(f"{path} has 3 faults:")
    assert "line 2: keys.most_days: expected from 1 to 3660, found 0" in said
    assert "line 3: keys.most_day: this key is unknown; did you mean 'most_days'?" in said
    assert "line 5: kays: this key is unknown; did you mean 'keys'?" in said
    assert "s3cret" not in said


def test_a_file_that_would_let_in_no_caller_at_all_is_refused(tmp_path: Path) -> None:
    assert "found none, so every request would be refused" in refused(written(tmp_path, "# nothing\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[keys", "is not TOML"),
        (b"[keys]\n# \xff", "in UTF-8, found other bytes at 9"),
        ("keys = 3", "keys: expected a table, found an integer"),
        ("[[keys]]", "keys: expected a table, found a list"),
        ("[keys]\nmost_days = 3.5", "expected an integer, found a number with a point"),
        ("#" * (MOST_BYTES + 1), "found more"),
        ("a = " + "[" * 100_000, "is not TOML"),
    ],
)
def test_what_is_no_such_file_is_refused_by_name(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = written(tmp_path, text)

    assert said in refused(path)
    assert str(path) in refused(path)


def test_a_missing_file_is_no_missing_setting(tmp_path: Path) -> None:
    assert "found no file that can be read: No such file" in refused(tmp_path / "none.toml")
    assert "Is a directory" in refused(tmp_path)
