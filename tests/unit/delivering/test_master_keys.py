"""Where the master keys of webhooks come from."""

from __future__ import annotations

import stat
from base64 import b64encode
from pathlib import Path

import pytest

from service.delivering.master_keys import MasterKeys, MasterMissing, open_master_keys
from service.delivering.signing import derive_secret, master_id
from service.errors import SettingsError

OLD, NEW = bytes(32), bytes(range(32))


def line(key: bytes) -> str:
    return b64encode(key).decode() + "\n"


def test_new_secrets_come_from_the_first_key_and_older_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(line(OLD))
    path.chmod(0o600)
    keys = MasterKeys.at(f"file:{path}", {})
    assert keys.newest() == master_id(OLD)

    path.write_text(line(NEW) + line(OLD))

    assert keys.newest() == master_id(NEW)
    assert keys.secret(master_id(OLD), "t", "w", 1) == derive_secret(OLD, "t", "w", 1)
    with pytest.raises(MasterMissing, match="GAINSAY_WEBHOOK_KEY"):
        keys.secret("0" * 12, "t", "w", 1)


@pytest.mark.parametrize("text", ["", "short", "x" * 44, line(OLD) + "hunter2hunter2hunter2"])
def test_another_text_is_refused_and_never_said(text: str) -> None:
    with pytest.raises(SettingsError, match="GAINSAY_WEBHOOK_KEY: expected a secret") as refused:
        MasterKeys.at("env:K", {"K": text})

    assert "hunter2" not in refused.value.detail
    assert "openssl rand -base64 32" in refused.value.detail


def test_with_the_embedded_database_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    first = open_master_keys(None, tmp_path, {}, own=True)
    again = open_master_keys(None, tmp_path, {}, own=True)

    assert first is not None
    assert again is not None
    assert first.newest() == again.newest()
    (path,) = (tmp_path / "keys").iterdir()
    assert (path.name, stat.S_IMODE(path.stat().st_mode)) == ("webhook.key", 0o600)


def test_a_database_of_the_deployment_has_no_key_unless_it_is_set(tmp_path: Path) -> None:
    assert open_master_keys(None, tmp_path, {}, own=False) is None
    assert list(tmp_path.iterdir()) == []
