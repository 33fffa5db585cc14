"""`gainsay config check` finds every fault of a configuration at once, and `config show` shows what it can."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from service.audit.note import SigningKey
from service.cli import main
from service.policy.settings import KNOWN
from tests.fixtures.policies import WRITTEN, policy_file, vendors
from tests.fixtures.postgres import Database
from tests.fixtures.serving import sequenced

SECRET = "s3cret-planted-5f2c"
ROLES = ("database", "sequencer", "serving", "migrating")
OFFLINE = {"settings", "policy", "prompts", "keys", "approval", "identity", "sets", *ROLES}
APPROVER = SigningKey.from_seed("model-risk.example", bytes(range(32)))


class Said:
    """How the command ended, and what it has printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def findings(self) -> dict[str, list[tuple[str, str]]]:
        """What was found, by check."""
        found: dict[str, list[tuple[str, str]]] = {}
        for row in json.loads(self.out):
            found.setdefault(row["check"], []).append((row["status"], row["found"]))
        return found


Say = Callable[..., Said]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Say:
    """The command under these variables alone."""
    monkeypatch.setenv("HOME", str(tmp_path))

    def said(*words: str, **variables: str) -> Said:
        for name in KNOWN:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Said(main(["config", *words]), *capfd.readouterr())

    return said


def test_a_sound_configuration_is_so_without_a_database_and_nothing_is_made(say: Say, tmp_path: Path) -> None:
    links = {"GAINSAY_SERVICE_HOST": "10.96.14.7", "GAINSAY_PORT": "tcp://10.96.14.7:8321"}
    checked = say("check", "--offline", "--json", GAINSAY_DATABASE_URL="postgresql://nowhere.internal/gainsay", **links)

    assert checked.code == 0
    assert checked.findings["settings"] == [("OK", "GAINSAY_DATABASE_URL")], "a Service's variables are no settings"
    assert set(checked.findings) == OFFLINE
    assert checked.findings["database"] == [("SKIPPED", "--offline")]
    assert list(tmp_path.iterdir()) == []


def test_every_fault_comes_at_once_and_no_secret_with_it(say: Say, tmp_path: Path) -> None:
    identity = tmp_path / "identity.toml"
    identity.write_text("[keyz]\n")
    policy = policy_file(tmp_path, **{**WRITTEN, "debate": {**WRITTEN["debate"], "ronds": 1}})
    url = f"postgresql://gainsay_service:{SECRET}@127.0.0.1:1/gainsay"

    checked = say(
        "check",
        "--json",
        GAINSAY_POLICY=str(policy),
        GAINSAY_IDENTITY=str(identity),
        GAINSAY_PROMPTS_PIN="0" * 64,
        GAINSAY_LEASE_S="soon",
        GAINSAY_EVALUATION_SETS=f"{tmp_path}/none,{tmp_path}",
        GAINSAY_DATABSE_URL=url,
        GAINSAY_DATABASE_URL=url,
        GAINSAY_API_URL=url,
        GAINSAY_SEQUENCER_URL=url,
        GAINSAY_MIGRATE_URL=url,
    )

    assert checked.code == 1
    failing = {check for check, rows in checked.findings.items() if any(status == "FAILED" for status, _ in rows)}
    assert failing == OFFLINE - {"keys", "approval"}, "these two need a policy"
    assert len(checked.findings["settings"]) == 2
    nowhere, *no_set = [found for _, found in checked.findings["sets"]]
    assert f"found none at {tmp_path}/none" in nowhere
    assert f"{tmp_path}/identity.toml: " in "\n".join(no_set)
    assert SECRET not in checked.out + checked.err


def test_approvals_that_are_missing_are_found_for_the_service_and_for_each_tenant(say: Say, tmp_path: Path) -> None:
    approval = {"key": APPROVER.public.encode(), "required": True}
    tenants = {"acme": {"day_usd": "5.00", "month_usd": "50.00"}}
    policy = policy_file(tmp_path, **{**WRITTEN, "approval": approval, "tenants": tenants})

    checked = say("check", "--offline", "--json", GAINSAY_POLICY=str(policy))

    assert checked.code == 1
    (service, tenant) = [found for status, found in checked.findings["approval"] if status == "FAILED"]
    assert "expected an approval in GAINSAY_APPROVAL" in service
    assert "tenant acme: expected an approval in tenants.acme.approval" in tenant


def test_the_keys_of_a_tenant_s_own_vendors_are_looked_for_too(say: Say, tmp_path: Path) -> None:
    """A process connects the providers of all policies at its start."""
    own = {name: table for name, table in vendors().items() if name in ("policy", "providers", "models", "seats")}
    for name in ("openai", "anthropic"):
        own["providers"][name]["key"] = f"file:{tmp_path}/none"
    acme = policy_file(tmp_path, **own).rename(tmp_path / "acme.toml")
    policy = policy_file(tmp_path, **{**WRITTEN, "tenants": {"acme": {"policy": acme.name}}})

    checked = say("check", "--offline", "--json", GAINSAY_POLICY=str(policy))
    shown = say("show", "--json", GAINSAY_POLICY=str(policy))

    assert checked.code == 1
    assert [status for status, _ in checked.findings["keys"]][:1] == ["FAILED"], checked.findings
    assert shown.code == 0, shown.err
    rows = {row["setting"]: row["value"] for row in json.loads(shown.out)}
    assert rows["providers.openai.key"] == "no secret that can be read"


def test_a_process_without_a_worker_is_not_asked_for_the_keys_of_vendors(say: Say, tmp_path: Path) -> None:
    tables = vendors()
    for name in ("openai", "anthropic"):
        tables["providers"][name]["key"] = f"file:{tmp_path}/none"
    policy = str(policy_file(tmp_path, **tables))

    worker = say("check", "--offline", "--json", GAINSAY_POLICY=policy)
    api = say("check", "--offline", "--no-worker", "--json", GAINSAY_POLICY=policy)

    assert (worker.code, worker.findings["keys"][0][0]) == (1, "FAILED")
    assert api.code == 0, api.out
    assert api.findings["keys"] == [("SKIPPED", "a process without a worker asks no vendor")]


def test_each_login_of_the_database_is_tried_in_its_role(say: Say, database: Database, tmp_path: Path) -> None:
    logins = {
        "GAINSAY_DATABASE_URL": database.service_url,
        "GAINSAY_MIGRATE_URL": database.migrate_url,
        **sequenced(database.service_url, tmp_path),
    }
    checked = say("check", "--json", **logins)
    swapped = say("check", "--json", **logins | {"GAINSAY_SEQUENCER_URL": logins["GAINSAY_API_URL"]})

    assert checked.code == 0, checked.out
    assert {check: checked.findings[check][0][0] for check in ROLES} == dict.fromkeys(ROLES, "OK")
    assert "clock" not in checked.findings, "that is the deployment's, and `gainsay doctor` looks at it"
    assert (swapped.code, swapped.findings["sequencer"][0][0]) == (1, "FAILED")
    assert swapped.findings["serving"][0][0] == "OK"


def test_show_shows_every_setting_where_a_secret_cannot_be_read_and_others_are_wrong(say: Say, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("short")
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "policy.toml").write_text("[policy\n")

    shown = say(
        "show",
        "--json",
        GAINSAY_DATABASE_URL=f"file:{tmp_path}/none",
        GAINSAY_METRICS_TOKEN=f"file:{tmp_path}/token",
        GAINSAY_TOKEN=SECRET,
        GAINSAY_LEASE_S="soon",
        GAINSAY_DRAIN_S="7",
        GAINSAY_METRICS_TENANTS="acme,globex",
        GAINSAY_EVALUATION_SETS="/sets/a, /sets/b",
        GAINSAY_POLICY=str(tmp_path / "policy.toml"),
    )

    assert shown.code == 2
    rows = {row["setting"]: (row["value"], row["source"]) for row in json.loads(shown.out)}
    assert set(rows) == set(KNOWN)
    assert rows["GAINSAY_DATABASE_URL"] == ("no secret that can be read", f"from file {tmp_path}/none")
    assert rows["GAINSAY_TOKEN"] == ("set", "the variable")
    assert rows["GAINSAY_LEASE_S"] == ("not a value that can be taken", "the variable")
    assert rows["GAINSAY_DRAIN_S"] == ("7.0", "the variable")
    assert rows["GAINSAY_METRICS_TENANTS"] == ("acme, globex", "the variable")
    assert rows["GAINSAY_EVALUATION_SETS"] == ("/sets/a, /sets/b", "the variable")
    assert rows["GAINSAY_GRACE_S"] == ("20.0", "default")
    assert rows["GAINSAY_POLICY"] == (f"{tmp_path}/policy.toml (it cannot be read)", "the variable")
    for said in ("4 settings are wrong", f"{tmp_path}/none, which cannot be", "GAINSAY_METRICS_TOKEN", "is not TOML"):
        assert said in shown.err, shown.err
    assert SECRET not in shown.out + shown.err
