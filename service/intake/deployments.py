"""The deployments of a process: the service's and each named tenant's, compared with their pins and approvals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from service.audit import approval
from service.audit.note import PublicKey
from service.errors import NotApproved, SettingsError
from service.intake import Deployment
from service.intake.deployment import assemble, assemble_policy
from service.policy.file.reading import Reader
from service.policy.settings import Settings
from service.prompts import Prompts
from service.prompts.layout_check import refuse_others


def deploy(settings: Settings, build: str = "", prompts: Prompts | None = None) -> Deployment:
    """The deployment of these settings today: prompts that match their pins, priced models, loaded tokenizers.

    ``prompts`` are those that a running process has loaded and goes on with.

    Raises `PromptMismatch` or `SettingsError`.
    """
    found = assemble(settings, today(), build, prompts)
    refuse_others(found.prompts)
    return found


def deploy_tenant(settings: Settings, tenant: str, build: str = "", prompts: Prompts | None = None) -> Deployment:
    """The deployment of a tenant that the policy file names, today; raises what `deploy` raises."""
    found = settings.tenants[tenant]
    deployment = assemble_policy(settings, found.policy, found.path, today(), build, prompts)
    refuse_others(deployment.prompts)
    return replace(deployment, probe=found.probe)


def deploy_tenants(
    settings: Settings, usual: Deployment, *, reader: Reader = Path.read_bytes
) -> Mapping[str, Deployment]:
    """The deployment of each tenant that the policy file names, with its approval.

    An approval is of one configuration, so a tenant whose policy differs from the service's needs one of its own.
    Raises `SettingsError` with every fault.
    """
    faults, found, sound = list[str](), dict[str, Deployment](), True
    for name, tenant in settings.tenants.items():
        try:
            own = deploy_tenant(settings, name, usual.build_hash, usual.prompts)
            found[name] = approved(own, settings, name, tenant.approval, reader=reader)
        except SettingsError as error:
            faults.append(f"tenant {name}: {error.detail}")
            sound &= isinstance(error, NotApproved)
    if faults:
        raise (NotApproved if sound else SettingsError)("\n".join(faults))
    return found


def approved(
    deployment: Deployment,
    settings: Settings,
    tenant: str | None = None,
    path: Path | None = None,
    *,
    reader: Reader = Path.read_bytes,
) -> Deployment:
    """The deployment with its approval, if it has one: of a ``tenant`` the file at ``path``, else the settings' own.

    Raises `NotApproved` for an approval that is wrong, that is of another configuration, or that is missing although
    policy requires it.
    """
    approver, required = settings.policy.approval.key, settings.policy.approval.required
    configuration = sha256(deployment.configuration).hexdigest()
    where, place, command = "GAINSAY_APPROVAL", settings.approval, "gainsay approve"
    if tenant is not None:
        where, place, command = f"tenants.{tenant}.approval", path, f"gainsay approve --tenant {tenant}"
    if place is None:
        if required:
            raise NotApproved(
                f"expected an approval in {where}, because the policy requires one, found none; have the "
                f"configuration {configuration} signed by the key {approver} with `{command}`, or remove "
                "approval.required from the policy"
            )
        return deployment
    if approver is None:
        raise NotApproved(
            f"expected approval.key in the policy, because {where} names an approval, found none; add the "
            "approver's key to the policy, and have that configuration approved"
        )
    try:
        note, key = reader(place), PublicKey.parse(approver)
        approval.check(note, key, configuration)
    except OSError as error:
        raise NotApproved(f"expected an approval at {place}, found: {error.strerror}") from error
    except approval.BadApproval as error:
        raise NotApproved(
            f"the approval at {place} is not valid: {error.detail}; have this configuration approved with "
            f"`{command}`, or restore the approved configuration"
        ) from error
    return replace(deployment, approved_by=key.name, approval=note.decode())


def today() -> str:
    """The day of the prices, in UTC."""
    return datetime.now(UTC).date().isoformat()
