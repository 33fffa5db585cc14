"""What a process is told from outside: every setting, unknown and wrong, and what is never shown of it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.pretty import pretty_repr

from service.errors import SettingsError
from service.policy.set_folders import SetFolder
from service.policy.settings import SHIPPED_POLICY, Settings, read_settings
from tests.fixtures.policies import changed, policy_file, vendors

SECRET = "postgresql://gainsay:s3cret@db.internal/gainsay"


# -- the environment


def test_without_any_setting_the_shipped_policy_runs_on_an_embedded_database() -> None:
    settings = read_settings({"HOME": "/srv/ada", "PATH": "/bin"})

    assert settings.database_url is None
    assert settings.data_dir == Path("/srv/ada/.local/share/gainsay")
    assert settings.policy_path == SHIPPED_POLICY
    assert (settings.lease_s, settings.log_level, settings.prompts_pin) == (15.0, "INFO", None)


def test_every_setting_is_taken(tmp_path: Path) -> None:
    given = {
        "GAINSAY_DATABASE_URL": SECRET,
        "GAINSAY_MIGRATE_URL": SECRET + "_owner",
        "GAINSAY_DATA_DIR": str(tmp_path),
        "GAINSAY_POLICY": str(policy_file(tmp_path, **changed("policy", "version", to="mine"))),
        "GAINSAY_PROMPTS_PIN": "0a" * 32,
        "GAINSAY_LEASE_S": "2.5",
        "GAINSAY_GRACE_S": "90",
        "GAINSAY_WARM_S": "0",
        "GAINSAY_LOG_LEVEL": "warning",
    }

    settings = read_settings(given)

    assert (settings.database_url, settings.migrate_url) == (SECRET, SECRET + "_owner")
    assert (settings.data_dir, settings.policy.version) == (tmp_path, "mine")
    assert (settings.prompts_pin, settings.lease_s, settings.log_level) == ("0a" * 32, 2.5, "WARNING")
    assert settings.warm_s == 0.0


def test_xdg_data_home_is_heeded() -> None:
    assert read_settings({"HOME": "/srv/ada", "XDG_DATA_HOME": "/data"}).data_dir == Path("/data/gainsay")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GAINSAY_DATABSE_URL", SECRET),
        ("GAINSAY_DATABASE_URL", ""),
        ("GAINSAY_MIGRATE_URL", "  "),
        ("GAINSAY_DATA_DIR", ""),
        ("GAINSAY_POLICY", ""),
        ("GAINSAY_POLICY", "/nowhere/gainsay.toml"),
        ("GAINSAY_POLICY", "/"),
        ("GAINSAY_PROMPTS_PIN", "0a"),
        ("GAINSAY_PROMPTS_PIN", "0A" * 32),
        ("GAINSAY_LEASE_S", "soon"),
        ("GAINSAY_LEASE_S", "nan"),
        ("GAINSAY_LEASE_S", "inf"),
        ("GAINSAY_LEASE_S", "-1"),
        ("GAINSAY_LEASE_S", "0"),
        ("GAINSAY_LEASE_S", "3601"),
        ("GAINSAY_GRACE_S", "never"),
        ("GAINSAY_GRACE_S", "nan"),
        ("GAINSAY_GRACE_S", "-1"),
        ("GAINSAY_GRACE_S", "3601"),
        ("GAINSAY_WARM_S", "-1"),
        ("GAINSAY_WARM_S", "3601"),
        ("GAINSAY_WARM_S", "a minute"),
        ("GAINSAY_LOG_LEVEL", "LOUD"),
        ("GAINSAY_METRICS_TOKEN", ""),
        ("GAINSAY_METRICS_TOKEN", "s3cret"),
        ("GAINSAY_METRICS_TOKEN", "s3cret with spaces in it"),
        ("GAINSAY_METRICS_TOKEN", "file:/nowhere/token"),
        ("GAINSAY_METRICS_TENANTS", ""),
        ("GAINSAY_METRICS_TENANTS", "acme,"),
        ("GAINSAY_METRICS_TENANTS", "acme,globex,acme"),
        ("GAINSAY_METRICS_TENANTS", "acme,other"),
        ("GAINSAY_METRICS_TENANTS", "Acme"),
        ("GAINSAY_EVALUATION_SETS", ""),
        ("GAINSAY_EVALUATION_SETS", "/sets/a,"),
        ("GAINSAY_EVALUATION_SETS", "/sets/a, /sets/a"),
        ("GAINSAY_EVALUATION_SETS", "acme=/sets/a, globex=/sets/a"),
        ("GAINSAY_EVALUATION_SETS", "~nobody-of-this-name/sets"),
    ],
)
def test_an_unknown_or_wrong_setting_stops_the_start_and_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({name: value})

    assert name in error.value.detail or value in error.value.detail
    assert "s3cret" not in error.value.detail


def test_fifty_folders_of_golden_sets_are_named_at_most() -> None:
    folders = [f"/sets/{n}" for n in range(51)]

    settings = read_settings({"GAINSAY_EVALUATION_SETS": ", ".join(folders[:50])})
    with pytest.raises(SettingsError, match="GAINSAY_EVALUATION_SETS must name 50 folders at most, found 51"):
        read_settings({"GAINSAY_EVALUATION_SETS": ",".join(folders)})

    assert settings.evaluation_sets == tuple(SetFolder(Path(folder)) for folder in folders[:50])
    assert read_settings({}).evaluation_sets == ()


def test_a_folder_of_golden_sets_may_be_one_tenant_s() -> None:
    settings = read_settings({"GAINSAY_EVALUATION_SETS": "acme=/sets/a, /sets/b=c"})

    assert settings.evaluation_sets == (SetFolder(Path("/sets/a"), "acme"), SetFolder(Path("/sets/b=c")))


def test_metrics_name_fifty_tenants_at_most() -> None:
    names = [f"tenant-{n}" for n in range(51)]

    settings = read_settings({"GAINSAY_METRICS_TENANTS": ", ".join(names[:50])})
    with pytest.raises(SettingsError, match="GAINSAY_METRICS_TENANTS must name 50 tenants at most, found 51: each is"):
        read_settings({"GAINSAY_METRICS_TENANTS": ",".join(names)})

    assert settings.metrics_tenants == tuple(names[:50])
    assert read_settings({}).metrics_tenants == ()


def test_secrets_are_in_no_way_of_showing_the_settings() -> None:
    settings = read_settings({"GAINSAY_DATABASE_URL": SECRET, "GAINSAY_MIGRATE_URL": SECRET})
    screen = Console(file=StringIO(), width=200)
    screen.print(settings, [settings])

    shown = [repr(settings), str(settings), f"{settings!s}", pretty_repr(settings), screen.file.getvalue()]  # type: ignore[attr-defined]

    assert not [text for text in shown if "s3cret" in text]
    assert isinstance(settings, Settings)


def test_secrets_are_in_no_way_of_showing_a_policy_with_vendors(tmp_path: Path) -> None:
    """What the policy holds are names of secrets; a key that stands there by mistake stops the start unseen."""
    path = policy_file(tmp_path, **vendors())
    settings = read_settings({"GAINSAY_POLICY": str(path), "OPENAI_API_KEY": "sk-s3cret"})

    assert "s3cret" not in pretty_repr(settings.policy) + repr(settings.policy) + pretty_repr(settings)
    assert settings.policy.providers["openai"].key == "env:OPENAI_API_KEY"


def test_every_wrong_setting_is_told_at_once_with_the_policys_faults_and_without_a_secret(tmp_path: Path) -> None:
    wrong = {
        "GAINSAY_DATABSE_URL": SECRET,
        "GAINSAY_QQQQ": SECRET,
        "GAINSAY_LEASE_S": "soon",
        "GAINSAY_SIGNING_KEY": "s3cret",
        "GAINSAY_PROMPTS_PIN": "0a",
        "GAINSAY_POLICY": str(policy_file(tmp_path, **changed("gate", "factor", to=0))),
    }

    with pytest.raises(SettingsError) as error:
        read_settings(wrong)

    said = error.value.detail
    assert said.startswith("6 settings are wrong:\n")
    assert [name for name in wrong if name not in said and name != "GAINSAY_POLICY"] == []
    assert "GAINSAY_DATABSE_URL; did you mean GAINSAY_DATABASE_URL?" in said
    assert "gate.factor: expected from 1" in said
    assert "s3cret" not in said
    assert max(map(len, said.replace(wrong["GAINSAY_POLICY"], "").splitlines())) < 200
