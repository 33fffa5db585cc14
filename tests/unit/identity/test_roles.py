"""The table of roles: closed, and without a grant that a role's description does not have."""

from __future__ import annotations

from service.identity.caller import Caller
from service.identity.issuing_rules import operates
from service.identity.roles import GRANTS, ROLES, SCOPES, SERVICE_WIDE, acting, reach


def test_every_role_has_a_row_and_every_scope_is_granted_to_a_role() -> None:
    granted = {scope for row in GRANTS.values() for scope in row}

    assert set(GRANTS) == set(ROLES)
    assert set(SCOPES) - granted == {"self.read"}  # which everyone who is known has


def test_a_role_of_the_whole_service_reads_no_content() -> None:
    content = {"case.submit", "case.read", "case.abort", "case.assign", "evidence.read", "labels.read"}

    assert not any(content & set(GRANTS[role]) for role in SERVICE_WIDE)


def test_an_auditor_changes_nothing() -> None:
    assert not {"case.submit", "case.abort", "case.assign", "identity.manage"} & set(GRANTS["auditor"])


def test_a_role_without_a_tenant_operates_none() -> None:
    administrator = Caller(tenant="gainsay", role="administrator", via="apiKey", roles=("administrator",))

    assert administrator.may("identity.manage")
    assert not any(operates(administrator, tenant) for tenant in ("gainsay", "default", None))


def test_a_caller_of_several_roles_acts_in_the_one_that_reaches_furthest() -> None:
    assert reach(["requester", "auditor"], "case.read") == {"own", "tenant"}
    assert acting(["requester", "auditor"], "case.read") == "auditor"
    assert acting(["scrape"], "case.read") is None


def test_a_credential_narrows_what_its_roles_grant() -> None:
    key = Caller(roles=("requester",), scopes=frozenset({"check"}))

    assert key.may("check")
    assert not key.may("case.submit")
    assert not Caller(roles=("scrape",)).may("case.read")
