"""The prober's tenant has simulated models alone, and no other tenant of its file has any beside real ones."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.errors import InvalidCase, SettingsError
from service.intake import Deployment, prepare
from service.intake.deployments import deploy, deploy_tenant
from service.intake.request import CaseRequest, document_ids
from service.policy import encode_policy
from service.policy.file.reading import read_file
from service.policy.file.tenants import prober
from service.policy.settings import SHIPPED_POLICY, read_settings
from tests.fixtures.policies import WRITTEN, policy_file, toml, vendors
from tests.unit.intake.test_intake import DAY, NOW, a_case

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "openai-anthropic.toml"
REAL: dict[str, Any] = tomllib.loads(EXAMPLE.read_text("utf-8"))
PROBE = {"probe": {"purpose": "probe"}}


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as error:
        read_file(path)
    return error.value.detail


def test_the_prober_has_the_shipped_policy_under_the_service_s_limits(tmp_path: Path) -> None:
    row = {"purpose": "probe", "day_usd": "5.00"}
    found = read_file(policy_file(tmp_path, **REAL, tenants={"watch": row, "acme": {"waiting": 7}}), day=DAY)

    own, shipped = found.tenants["watch"], read_file(SHIPPED_POLICY).policy
    assert prober(found.tenants) == "watch"
    assert own.probe
    assert not found.tenants["acme"].probe
    assert (own.policy.models, own.policy.seats, own.policy.gate.version) == (
        shipped.models,
        shipped.seats,
        shipped.version,
    )
    assert own.policy.budgets.others.day == 5_000_000
    assert own.policy.calls == found.policy.calls
    assert not set(own.policy.models) & set(found.policy.models)


def test_a_prober_changes_no_other_policy(tmp_path: Path) -> None:
    without = read_file(policy_file(tmp_path, **REAL), day=DAY)
    assert prober(without.tenants) is None

    found = read_file(policy_file(tmp_path, **REAL, tenants={**PROBE, "acme": {"waiting": 7}}), day=DAY)

    assert encode_policy(found.policy) == encode_policy(without.policy)
    assert b"alder-large" not in encode_policy(found.tenants["acme"].policy)


def test_a_file_of_the_prober_s_own_with_a_real_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[policy]\nversion = "own-1"\n', "utf-8")  # the service's catalogue

    said = refused(policy_file(tmp_path, **REAL, tenants={"probe": {"purpose": "probe", "policy": "own.toml"}}))

    assert "tenants.probe.purpose: the prober's tenant has simulated models alone, and its policy has" in said
    assert all(model["alias"] in said for model in REAL["models"])


def test_beside_a_prober_a_service_with_real_models_has_no_simulated_one(tmp_path: Path) -> None:
    said = refused(policy_file(tmp_path, **vendors(), tenants=PROBE))

    assert "models: simulated models where real ones are configured: alder-large" in said
    assert "gpt" not in said


def test_beside_a_prober_no_other_tenant_has_a_simulated_model(tmp_path: Path) -> None:
    own = tomllib.loads(SHIPPED_POLICY.read_text("utf-8"))
    tables = [f"{name} = {toml(own[name])}" for name in ("policy", "providers", "models", "seats")]
    (tmp_path / "acme.toml").write_text("\n".join(tables), "utf-8")

    said = refused(policy_file(tmp_path, **REAL, tenants={**PROBE, "acme": {"policy": "acme.toml"}}))

    assert "tenants.acme.policy: simulated models where real ones are configured" in said


def test_where_all_models_are_simulated_a_prober_takes_them_from_none(tmp_path: Path) -> None:
    found = read_file(policy_file(tmp_path, **WRITTEN, tenants=PROBE))

    assert found.tenants["probe"].policy.models == found.policy.models


def test_there_is_one_prober(tmp_path: Path) -> None:
    said = refused(policy_file(tmp_path, **REAL, tenants={**PROBE, "second": {"purpose": "probe"}}))

    assert "tenants.second.purpose: the prober has one tenant, and 'probe' is it" in said


def test_a_purpose_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "tenants.probe.purpose" in refused(policy_file(tmp_path, **REAL, tenants={"probe": {"purpose": "prod"}}))


def a_request(**metadata: str) -> CaseRequest:
    return msgspec.structs.replace(a_case(), metadata=metadata)


@pytest.mark.parametrize(
    ("tenant", "request_", "said"),
    [
        ("probe", a_request(), "simulated models decide here"),
        ("probe", a_request(purpose="Probe"), "simulated models decide here"),
        ("acme", a_request(purpose="probe"), "this is another"),
    ],
)
def test_a_case_says_whose_it_is(tmp_path: Path, tenant: str, request_: CaseRequest, said: str) -> None:
    deployment = _deployment(tmp_path, tenant)

    with pytest.raises(InvalidCase, match=said) as error:
        _prepared(request_, deployment)

    assert error.value.pointers == ("/metadata",)


@pytest.mark.parametrize(("tenant", "metadata"), [("probe", {"purpose": "probe"}), ("acme", {"purpose": "renewal"})])
def test_other_cases_are_taken(tmp_path: Path, tenant: str, metadata: dict[str, str]) -> None:
    deployment = _deployment(tmp_path, tenant)

    prepared = _prepared(a_request(**metadata), deployment)

    assert prepared.case.metadata == metadata
    kinds = {deployment.policy.providers[plan.provider].kind for plan in prepared.seats}
    assert kinds == {"offline"}


def test_a_prober_s_case_cannot_name_a_model_of_the_service(tmp_path: Path) -> None:
    settings = read_settings({"GAINSAY_POLICY": str(policy_file(tmp_path, **REAL, tenants=PROBE))})
    deployment = deploy_tenant(settings, "probe")
    alias = REAL["models"][0]["alias"]
    request = msgspec.structs.replace(
        a_request(purpose="probe"), options=msgspec.structs.replace(a_case().options, models={"proposer": alias})
    )

    with pytest.raises(InvalidCase) as error:
        _prepared(request, deployment)

    assert error.value.pointers == ("/options/models/proposer",)


def _deployment(folder: Path, tenant: str) -> Deployment:
    path = policy_file(folder, **WRITTEN, tenants=PROBE)
    settings = read_settings({"GAINSAY_POLICY": str(path)})
    return deploy_tenant(settings, tenant) if tenant in settings.tenants else deploy(settings)


def _prepared(request: CaseRequest, deployment: Deployment) -> Any:
    salts = {name: bytes(32) for name in document_ids(request)}
    return prepare(request, deployment, "operator", salts, NOW)
