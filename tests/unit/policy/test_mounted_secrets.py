"""A secret in a mounted file is read again at each use; where the file is unfit by then, the last good one stays."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from service.errors import SettingsError
from service.observing.labelled import REGISTRY
from service.policy.mounted_secrets import HEADER, TEXT, TOKEN, MountedSecret, check_text, reveal_text, take
from service.policy.settings import read_settings
from tests.fixtures.secret_files import mounted, write_secret

FIRST, SECOND = "sk-canary-first-0123", "sk-canary-second-456"


def unreadable() -> float:
    return REGISTRY.get_sample_value("gainsay_secrets_unreadable_total") or 0.0


def opened(path: Path) -> MountedSecret:
    named = f"file:{path}"
    return MountedSecret("GAINSAY_TEST", named, take(named, {}))


def test_a_mount_that_is_swapped_by_its_link_is_read_anew(tmp_path: Path) -> None:
    swap = mounted(tmp_path, "key", FIRST)
    secret = opened(tmp_path / "key")

    before = secret.current().reveal()
    swap(SECOND)
    after = secret.current().reveal()

    assert (before, after) == (FIRST, SECOND)


@pytest.mark.parametrize("fault", ["gone", "empty", "open to all", "binary", "a folder", "a pipe"])
def test_a_file_that_is_unfit_later_leaves_the_last_good_secret_and_is_told_once(
    tmp_path: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = write_secret(tmp_path / "key", FIRST)
    secret, counted = opened(file), unreadable()
    caplog.set_level(logging.DEBUG)

    spoil(file, fault)
    found = [secret.current().reveal() for _ in range(3)]

    assert found == [FIRST] * 3
    assert unreadable() == counted + 3
    told = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(told) == 1
    assert FIRST not in caplog.text + str(vars(told[0]))


def spoil(file: Path, fault: str) -> None:
    """Make the file of a secret unfit."""
    if fault == "open to all":
        file.write_text(SECOND)
        file.chmod(0o644)
        return
    file.unlink()
    match fault:
        case "empty":
            write_secret(file, "")
        case "binary":
            write_secret(file, "").write_bytes(b"\xff\xfe\n")
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)


def test_a_secret_that_is_there_again_is_taken_up(tmp_path: Path) -> None:
    file = write_secret(tmp_path / "key", FIRST)
    secret = opened(file)

    file.unlink()
    kept = secret.current().reveal()
    write_secret(file, SECOND)

    assert (kept, secret.current().reveal()) == (FIRST, SECOND)


@pytest.mark.parametrize("fault", ["gone", "empty", "open to all", "binary", "a folder", "a pipe"])
@pytest.mark.parametrize("name", ["GAINSAY_DATABASE_URL", "GAINSAY_MIGRATE_URL", "GAINSAY_SEQUENCER_URL"])
def test_at_the_start_such_a_file_is_an_error_that_names_the_setting_and_the_file(
    tmp_path: Path, fault: str, name: str
) -> None:
    file = write_secret(tmp_path / "url", "postgresql://gainsay:s3cret@127.0.0.1/gainsay")
    read_settings({name: f"file:{file}"})  # what was read before does not help a new start

    spoil(file, fault)
    with pytest.raises(SettingsError) as refused:
        read_settings({name: f"file:{file}"})

    assert f"{name}: " in refused.value.detail
    assert str(file) in refused.value.detail
    assert "s3cret" not in refused.value.detail


@pytest.mark.parametrize(
    ("mode", "taken"), [(0o600, True), (0o400, True), (0o640, True), (0o644, False), (0o602, False)]
)
def test_a_file_of_this_user_is_refused_where_all_users_may_open_it(tmp_path: Path, mode: int, taken: bool) -> None:
    file = write_secret(tmp_path / "key", FIRST)
    file.chmod(mode)

    found = take(f"file:{file}", {})

    assert (found.secret is not None) is taken
    assert taken or "chmod o-rwx" in found.fault


def test_a_mount_of_another_user_is_taken_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = write_secret(tmp_path / "key", FIRST)
    file.chmod(0o644)  # Kubernetes' default
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)

    secret = opened(file)

    assert secret.current().reveal() == FIRST
    assert "mount it with mode 0440" in caplog.text


@pytest.mark.parametrize("form", [HEADER, TEXT, TOKEN])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_one_line_break_at_the_end_is_no_part_of_a_secret(tmp_path: Path, form: object, end: str) -> None:
    file = write_secret(tmp_path / "key", FIRST + end)

    assert reveal_text(f"file:{file}", form=form) == FIRST  # type: ignore[arg-type]


def test_a_setting_that_is_the_secret_itself_is_read_as_it_is() -> None:
    assert check_text("GAINSAY_DATABASE_URL", "postgresql://a:b@h/d") == reveal_text("postgresql://a:b@h/d")


@pytest.mark.parametrize("text", ["two lines\nof it", "short", "with a space in the midst"])
def test_a_token_in_a_file_has_the_form_of_one(tmp_path: Path, text: str) -> None:
    file = write_secret(tmp_path / "token", text)

    with pytest.raises(SettingsError, match="GAINSAY_SIGNER_TOKEN: expected a secret"):
        check_text("GAINSAY_SIGNER_TOKEN", f"file:{file}", TOKEN)


@pytest.mark.parametrize(("named", "kind"), [("file:", "file"), ("env:", "variable")])
def test_a_place_without_a_name_is_told_by_what_it_lacks(named: str, kind: str) -> None:
    """A setting that may be the secret itself would be told otherwise that it may not."""
    taken = take(named, {})

    assert taken.fault == f"expected the name of a {kind} after {named}, found none"
