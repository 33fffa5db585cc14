"""Settings, policy, prompts, keys of vendors, approval: what can be checked without any other process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from service.cli import policy_advice as advice
from service.cli.doctor.findings import Finding, failed, ok, skipped, warning
from service.cli.terminal_text import line
from service.errors import NotApproved, SettingsError
from service.identity.file import read_identities
from service.identity.settings import Identities
from service.intake.deployments import approved, deploy, deploy_tenants
from service.policy import SIMULATED, Policy
from service.policy.file.reading import PolicyFile, read_file
from service.policy.keys import keys_of
from service.policy.own_build import own_build
from service.policy.settings import EVALUATION_SETS, KNOWN, Environment, Settings
from service.prompts import DIRECTORY, Prompts, verify_files
from service.prompts.layout_check import all_differences
from service.reviews.evaluation_sets import unfit_sets


def today() -> str:
    """The day by this machine's clock, in UTC."""
    return datetime.now(UTC).date().isoformat()


def check_settings(found: Environment, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Every variable of the service can be read."""
    for fault in found.faults:
        yield failed("settings", fault)
    if not found.faults:
        names = sorted(name for name in environment if name in KNOWN)
        yield ok("settings", f"{', '.join(names)}" if names else "no variable is set, so everything has its default")


def read_whole(found: Environment) -> tuple[PolicyFile | None, list[Finding]]:
    """The policy file, and what is to say of it; ``None`` for one with faults."""
    try:
        file = read_file(found.policy_path, day=today())
    except SettingsError as error:
        return None, [failed("policy", error.detail, "correct the file; `gainsay policy check` reads it again")]
    policy = file.policy
    findings = [ok("policy", f"{found.policy_path}: version {line(policy.version)}, SHA-256 {policy.gate.hash}")]
    findings += [warning("prices", sentence) for sentence in advice.old_prices(policy, today())]
    findings += [warning("seats", sentence) for sentence in advice.alike_seats(policy, today())]
    return file, findings


def check_prompts(pin: str | None) -> Iterator[Finding]:
    """Every prompt, schema and template is as the manifest has it, and the manifest is the pinned one."""
    problems = verify_files(DIRECTORY, pin) or all_differences(Prompts.load(DIRECTORY, pin))
    for problem in problems:
        yield failed("prompts", problem)
    if not problems:
        prompts = Prompts.load(DIRECTORY, pin)
        pinned = "as pinned" if pin else "and GAINSAY_PROMPTS_PIN pins none"
        yield ok("prompts", f"{len(prompts.entries)} files of the manifest {prompts.pin}, {pinned}")


def check_keys(policy: Policy, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Every key of a vendor can be read, and not by every user. No key is shown or sent."""
    faults = list(advice.missing_keys(policy, environment))
    for fault in faults:
        yield failed("keys", fault, "set the variable, or put the file there, for work, and for serve with a worker")
    for sentence in advice.open_key_files(policy):
        yield warning("keys", sentence)
    named = [name for name, setting in policy.providers.items() if advice.secrets_of(setting)]
    if not named:
        real = any(setting.kind not in SIMULATED for setting in policy.providers.values())
        yield skipped("keys", "no provider takes a key" if real else "the simulated models take no key")
    elif not faults:
        yield ok("keys", f"{', '.join(named)}: there; --call shows whether the vendor takes them")


def check_approval(settings: Settings) -> Iterator[Finding]:
    """The configuration is approved, where the policy asks for that, and each named tenant's."""
    usual = deploy(settings, own_build())
    found = f"configuration {sha256(usual.configuration).hexdigest()}"
    try:
        usual = approved(usual, settings)
        by = f"is approved by {line(usual.approved_by)}" if usual.approval else "needs no approval, and has none"
        yield ok("approval", f"{found} {by}")
    except NotApproved as error:
        yield failed("approval", error.detail)
    deploy_tenants(settings, usual)


def check_identity(settings: Settings) -> Iterator[Finding]:
    """By which credentials callers are known, where the deployment names any."""
    if settings.identity is None:
        yield ok("identity", "none is configured: no caller is authenticated, and this machine alone is answered")
        return
    found = read_identities(settings.identity)
    sections = [key.name for key in keys_of(Identities) if getattr(found, key.member)]
    yield ok("identity", f"{settings.identity}: {', '.join(f'[{name}]' for name in sections)}")


def check_sets(settings: Settings) -> Iterator[Finding]:
    """The golden sets beside the shipped ones have no fault, and names of their own."""
    folders = settings.evaluation_sets
    faults = unfit_sets(folders, datetime.now(UTC).date())
    for fault in faults:
        yield failed("sets", fault)
    if not folders:
        yield ok("sets", f"{EVALUATION_SETS} names none: evaluations ask the shipped golden sets")
    elif not faults:
        yield ok("sets", ", ".join(map(str, folders)))
