"""[tenants.NAME]: each tenant's debates go by its own policy and limits, and nothing of it shows to the others."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.app import open_app
from service.audit import approval
from service.debate.entries import DebateConcluded, DebateStarted, Entry, GateDecided
from service.errors import BudgetExhausted, QueueFull, SettingsError
from service.identity.caller import Caller
from service.intake.deployments import deploy, deploy_tenant
from service.policy import encode_policy
from service.policy.file.reading import FILE, read_file
from service.policy.file.tenants import OWN, SHARED, all_budgets, all_shares
from service.policy.settings import SHIPPED_POLICY
from tests.end_to_end.test_approval import APPROVER
from tests.fixtures.policies import WRITTEN, changed, policy_file, toml
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_request
from tests.fixtures.serving import a_case, served, settings_for

ACME, OTHER = Caller(tenant="acme", subject="sub_acme"), Caller(tenant="other", subject="sub_other")
ALL_DEBATED = {"policy": {"version": "acme-7"}, "gate": {"always": ["contract"]}}


def file(folder: Path, tenants: dict[str, Any], own: dict[str, Any] | None = None, **tables: Any) -> Path:
    """A policy file with tenants, of which one may have a file of its own, ``acme.toml``."""
    if own is not None:
        text = "\n".join(f"{name} = {toml(table)}" for name, table in own.items())
        (folder / "acme.toml").write_text(text, "utf-8")
    return policy_file(folder, **{**WRITTEN, **tables, "tenants": tenants})


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as error:
        read_file(path)
    return error.value.detail


def test_every_table_is_a_tenant_s_own_or_shared() -> None:
    assert {key.name for key in FILE} == {*OWN, *SHARED}


def test_a_tenant_s_policy_is_whole_and_names_no_other(tmp_path: Path) -> None:
    tenants = {"acme": {"policy": "acme.toml", "waiting": 7}, "secret-client": {"day_usd": "3.21"}}
    found = read_file(file(tmp_path, tenants, ALL_DEBATED))

    acme, client = found.tenants["acme"].policy, found.tenants["secret-client"].policy
    assert (acme.version, acme.gate.version, acme.gate.always) == ("acme-7", "acme-7", ("contract",))
    assert (acme.queue.waiting_per_tenant, client.queue.waiting_per_tenant) == (7, 5_000)
    assert acme.models == client.models == found.policy.models
    assert client.budgets.others.day == 3_210_000
    assert all_budgets(found.policy, found.tenants).of("secret-client").day == 3_210_000
    for policy in (acme, client, found.policy):
        assert sha256(encode_policy(policy)).hexdigest() == policy.gate.hash
        assert b"secret-client" not in encode_policy(policy)
    assert len({acme.gate.hash, client.gate.hash, found.policy.gate.hash}) == 3


def test_without_tenants_a_policy_has_the_hash_that_it_had(tmp_path: Path) -> None:
    plain, with_tenants = read_file(SHIPPED_POLICY), read_file(file(tmp_path, {"acme": {"waiting": 7}}))

    assert plain.policy.gate.hash == with_tenants.policy.gate.hash


def test_the_faults_of_all_files_come_together(tmp_path: Path) -> None:
    own = {**ALL_DEBATED, "gate": {"allways": ["contract"]}, "queue": {"waiting": 1}, "debate": {"rounds": 99}}
    whole = changed("debate", "rounds", to=77)
    whole["tenants"] = {"acme": {"policy": "acme.toml", "wating": 1}, "Bad Name": {}, "away": {"policy": "none.toml"}}
    path = file(tmp_path, whole.pop("tenants"), own, **whole)

    told = refused(path)

    for said in (
        "tenants.acme.wating: this key is unknown; did you mean 'waiting'?",
        "tenants.Bad Name: expected a tenant's name",
        "debate.rounds: expected from 1 to 3, found 77",
        "expected a policy file at",
        "gate.allways: this key is unknown; did you mean 'always'?",
        "queue: this table holds for the whole service: write it in gainsay.toml",
        "debate.rounds: expected from 1 to 3, found 99",
    ):
        assert said in told, told


@pytest.mark.parametrize(
    ("row", "tables", "said"),
    [
        ({"day_usd": "9.00", "month_usd": "1.00"}, {}, "a day's limit above the month's"),
        (
            {"day_usd": "9.00"},
            {"budgets": {**WRITTEN["budgets"], "tenants": {"acme": {"day_usd": "1.00"}}}},
            "budgets.tenants: the limits of one tenant stand in [tenants.NAME]",
        ),
        ({"waiting": 0}, {}, "tenants.acme.waiting"),
        ({"rates": {"submit_per_minute": 0}}, {}, "tenants.acme.rates.submit_per_minute"),
        ({"rates": {"submit": 1}}, {}, "did you mean 'submit_per_minute'?"),
    ],
)
def test_a_wrong_limit_of_a_tenant_is_refused(tmp_path: Path, row: Any, tables: Any, said: str) -> None:
    assert said in refused(file(tmp_path, {"acme": row}, **tables))


def test_a_provider_means_the_same_in_all_files(tmp_path: Path) -> None:
    own = {**ALL_DEBATED, "providers": {name: {"kind": "offline", "latency_ms": 9} for name in WRITTEN["providers"]}}

    told = refused(file(tmp_path, {"acme": {"policy": "acme.toml"}}, own))

    assert "tenants.acme.policy: its file has other settings for the provider" in told


async def test_a_tenant_s_cases_go_by_its_policy_and_its_records_name_it(database: Database, tmp_path: Path) -> None:
    own = deepcopy({name: WRITTEN[name] for name in OWN if name in WRITTEN}) | {"policy": {"version": "acme-7"}}
    own["providers"] = {f"acme-{name}": setting for name, setting in own["providers"].items()}
    for model in own["models"]:
        model["provider"] = f"acme-{model['provider']}"
    path = file(tmp_path, {"acme": {"policy": "acme.toml"}}, own)
    async with served(database.service_url, GAINSAY_POLICY=str(path)) as site:
        app, entries = site.app, dict[str, list[Entry]]()
        for caller in (ACME, OTHER):
            debate = (await app.reviews.submit(a_request(), caller)).debate
            async for line in app.reviews.follow(debate, caller):
                entries.setdefault(caller.tenant, []).append(line.entry)
        policies = {name: app.reviews.deployment_of(name).policy for name in ("acme", "other")}

    hashes = {tenant: policy.gate.hash for tenant, policy in policies.items()}
    assert hashes["acme"] != hashes["other"]
    for tenant, found in entries.items():
        started = next(entry for entry in found if isinstance(entry, DebateStarted))
        decided = next(entry for entry in found if isinstance(entry, GateDecided))
        assert started.policy_hash == decided.decision.policy_hash == hashes[tenant]
        assert isinstance(found[-1], DebateConcluded)
        assert found[-1].outcome.status == "completed", "a worker of the service runs it by its own providers"


async def test_limits_of_one_tenant_leave_the_others_theirs(database: Database, tmp_path: Path) -> None:
    path = file(tmp_path, {"acme": {"waiting": 1}, "poor": {"day_usd": "0.01", "month_usd": "0.01"}})
    settings = settings_for(database.service_url, GAINSAY_POLICY=str(path))
    async with open_app(settings, database.service_url, pool=4) as app:
        for caller in (ACME, OTHER, OTHER):
            await app.reviews.record(a_request(), caller)
        with pytest.raises(QueueFull, match="fewer than 1 queued debates of this tenant"):
            await app.reviews.record(a_request(), ACME)
        with pytest.raises(BudgetExhausted):
            await app.reviews.record(a_request(), Caller(tenant="poor"))


async def test_a_caller_sees_the_policy_and_the_rates_of_its_tenant_alone(database: Database, tmp_path: Path) -> None:
    rates = {"submit_per_minute": 5, "check_per_minute": "unlimited"}
    tenants = {"default": {"day_usd": "12.34", "rates": rates}, "acme": {"day_usd": "56.78"}}
    path = str(file(tmp_path, tenants))
    async with served(database.service_url, work=False, sequence=False, GAINSAY_POLICY=path) as site:
        told = await site.http.get("/v1/policy")
        gate = await site.http.post("/v1/gate", json={"taskType": "contract", "estimatedDownside": 1})
        mine = site.app.reviews.deployment_of("default").policy.gate.hash

    assert told.json()["budgets"]["dayUSD"] == "12.34"
    assert (told.json()["rates"]["submitPerMinute"], told.json()["hash"]) == (5, mine)
    assert "56.78" not in told.text
    assert "acme" not in told.text
    assert "ratelimit" not in gate.headers


def test_a_tenant_runs_its_own_share_of_debates_and_others_that_of_the_service(tmp_path: Path) -> None:
    found = read_file(file(tmp_path, {"acme": {"running": 1}, "other": {"running": "unlimited"}, "third": {}}))

    assert all_shares(found.policy, found.tenants) == {"acme": 1}
    assert found.tenants["acme"].policy.queue.per_tenant == 1


async def test_workers_keep_to_a_tenant_s_share(database: Database, tmp_path: Path) -> None:
    providers = {name: {"kind": "offline", "latency_ms": 30} for name in WRITTEN["providers"]}
    path = str(file(tmp_path, {"default": {"running": 1}}, providers=providers))
    async with served(database.service_url, GAINSAY_POLICY=path) as site:
        cases = [site.submit(a_case(question=f"Is clause {n} sound?"), prefer="wait=30") for n in range(3)]
        waited = asyncio.gather(*cases)
        most = 0
        while not waited.done():
            most = max(most, site.app.worker.running)
            await asyncio.sleep(0.005)

    assert len(await waited) == 3
    assert most == 1


async def test_an_approval_of_the_service_s_policy_approves_no_tenant_s(database: Database, tmp_path: Path) -> None:
    key = {"key": APPROVER.public.encode(), "required": True}
    path = file(tmp_path, {"acme": {"policy": "acme.toml", "approval": "acme.note"}}, ALL_DEBATED, approval=key)
    settings = settings_for("postgresql://", GAINSAY_POLICY=str(path))

    def note(configuration: bytes) -> bytes:
        digest = sha256(configuration).hexdigest()
        return approval.encode(approval.Approval(digest, "1", "2026-11-22T09:30:00Z"), APPROVER)

    usual = note(deploy(settings).configuration)
    (tmp_path / "usual.note").write_bytes(usual)
    variables = {"GAINSAY_POLICY": str(path), "GAINSAY_APPROVAL": str(tmp_path / "usual.note")}
    for wrong, told in (
        (None, "expected an approval at"),
        (usual, "the approval at .* with `gainsay approve --tenant acme`"),
    ):
        if wrong is not None:
            (tmp_path / "acme.note").write_bytes(wrong)
        with pytest.raises(SettingsError, match=f"tenant acme: {told}"):
            async with open_app(settings_for(database.service_url, **variables), database.service_url):
                pass

    (tmp_path / "acme.note").write_bytes(note(deploy_tenant(settings, "acme").configuration))
    async with open_app(settings_for(database.service_url, **variables), database.service_url, pool=2) as app:
        assert app.reviews.deployment_of("acme").approved_by == APPROVER.public.name

    file(tmp_path, {"acme": {"policy": "acme.toml"}}, ALL_DEBATED, approval=key)
    missing = r"tenant acme: expected an approval in tenants\.acme\.approval.* with `gainsay approve --tenant acme`"
    with pytest.raises(SettingsError, match=missing):
        async with open_app(settings_for(database.service_url, **variables), database.service_url):
            pass
