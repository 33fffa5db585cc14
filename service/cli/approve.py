"""``gainsay approve``: model risk signs the configuration that may run."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import click

from service.audit import approval
from service.audit.note import PublicKey, SigningKey
from service.cli import exit_codes, startup
from service.cli.terminal_text import line, say, write_exactly
from service.errors import SettingsError
from service.intake import Deployment
from service.intake.deployments import deploy, deploy_tenant
from service.policy import price_hash
from service.policy.settings import Settings
from service.proving.signing.open import read_place


@click.command()
@click.option("--key", "place", metavar="PLACE", help="The approver's signing key: file:PATH or env:NAME.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the note to this file; default: stdout."
)
@click.option(
    "--check", "given", type=click.Path(path_type=Path, dir_okay=False), help="Check this approval and sign nothing."
)
@click.option("--tenant", metavar="NAME", help="The configuration of a tenant that the policy file names.")
def approve(place: str | None, out: Path | None, given: Path | None, tenant: str | None) -> int:
    """Approve the present configuration: sign policy, prices, prompts, templates and schemas.

    The key is that of approval.key in the policy; the person who deploys should not have it. A process with the note as
    GAINSAY_APPROVAL starts with this configuration only, and its records name the approver. The approval does not cover
    code: every record has a hash of the build.

    Exit codes: 0 signed, or the checked approval is valid; 1 it is not valid; 2 usage.
    """
    if (place is None) == (given is None):
        raise click.UsageError("expected --key to sign, or --check to check an approval")
    settings = startup.start(quiet=True)
    if tenant is not None and tenant not in settings.tenants:
        known = ", ".join(settings.tenants) or "none"
        raise click.UsageError(f"expected a tenant of [tenants] in the policy file ({known}), found {tenant!r}")
    deployment = deploy(settings) if tenant is None else deploy_tenant(settings, tenant)
    if given is not None:
        return _check(given, settings, deployment)
    key = _key(read_place(place or "", os.environ), settings)
    hash_ = sha256(deployment.configuration).hexdigest()
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    note = approval.encode(approval.Approval(hash_, deployment.policy.version, at), key)
    say(f"approved by {key.public.name}: {approval_lines(deployment)}", err=out is None)
    if out is None:
        write_exactly(note)
        return exit_codes.DONE
    _write(out, note)
    there = out.resolve()
    named = f"[tenants.{tenant}]\napproval = {json.dumps(str(there))}"
    say(f"\nGAINSAY_APPROVAL={there}" if tenant is None else f"\n{named}")
    return exit_codes.DONE


def approval_lines(deployment: Deployment) -> str:
    """The configuration hash, and what it covers."""
    policy = deployment.policy
    return "\n".join(
        [
            f"configuration {sha256(deployment.configuration).hexdigest()}",
            f"  policy   {policy.gate.hash}  version {line(policy.version)}, with every default filled in",
            f"  prices   {price_hash(policy)}  {len(policy.models)} models",
            f"  prompts  {deployment.prompts.pin}  {len(deployment.prompts.entries)} prompts, templates and schemas",
        ]
    )


def _check(path: Path, settings: Settings, deployment: Deployment) -> int:
    key = PublicKey.parse(_approver(settings))
    try:
        found = approval.check(path.read_bytes(), key, sha256(deployment.configuration).hexdigest())
    except OSError as error:
        raise SettingsError(f"expected an approval at {path}, found: {error.strerror}") from error
    except approval.BadApproval as error:
        exit_codes.print_error(error.code, f"{path}: {error.detail}")
        return exit_codes.NEGATIVE
    say(f"approved by {key.name} at {found.at}: {approval_lines(deployment)}")
    return exit_codes.DONE


def _approver(settings: Settings) -> str:
    if settings.policy.approval.key is None:
        raise SettingsError(
            f"{settings.policy_path} names no approver, so no approval is valid; put the verifier key "
            "(`gainsay audit key show`) under [approval] as key first: it is part of what is approved"
        )
    return settings.policy.approval.key


def _key(keys: tuple[SigningKey, ...], settings: Settings) -> SigningKey:
    """The approver's key in the policy, found among the given keys."""
    wanted = PublicKey.parse(_approver(settings))
    for key in keys:
        if key.public == wanted:
            return key
    found = ", ".join(f"{key.public.name}+{key.public.id.hex()}" for key in keys)
    raise SettingsError(
        f"expected the approver's key of the policy, {wanted.name}+{wanted.id.hex()}, found {found}; "
        "sign with that key, or name the other in the policy and approve that configuration"
    )


def _write(path: Path, note: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(note)
        beside.replace(path)
    except OSError as error:
        raise SettingsError(f"expected to write the approval to {path}, found: {error.strerror}") from error
