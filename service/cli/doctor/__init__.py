"""``gainsay doctor``: every part of a deployment, checked by itself, with the remedy for each fault."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from functools import partial

import click

from service.cli import exit_codes
from service.cli.doctor import calls, configuration, deployment
from service.cli.doctor.findings import Check, Finding, Secrets, examined, skipped
from service.cli.option_types import Amount
from service.cli.startup import LOCAL
from service.cli.terminal_text import print_json, say
from service.debate.amounts import MicroUSD
from service.policy import Policy
from service.policy.bounds import money
from service.policy.faults import WrongSetting
from service.policy.settings import SHIPPED_POLICY, Settings, read_environment, read_policy
from service.store.startup import DatabaseAddresses, unchecked_addresses

_COLOURS = {"OK": "green", "WARNING": "yellow", "FAILED": "red", "SKIPPED": None}


@click.command()
@click.option("--call", is_flag=True, help="Make one priced test call of each model, after asking.")
@click.option("--yes", is_flag=True, help="With --call: do not ask.")
@click.option(
    "--ceiling",
    type=Amount(),
    default="0.50",
    show_default=True,
    help="With --call: US dollars for all of them.",
)
@click.option("--start", is_flag=True, help="Start the embedded PostgreSQL for the checks, and stop it after them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of check, status, found, remedy.")
def doctor(call: bool, yes: bool, ceiling: Decimal, start: bool, as_json: bool) -> int:
    """Check this deployment: settings, policy, prompts, keys, approval, identities, database, signer, witnesses,
    disk, clock.

    One line a check, with the remedy for each fault. Each check stands by itself, so it works when everything is
    broken. It starts, writes and signs nothing, and shows no secret. An embedded PostgreSQL is only looked at while it
    runs, or with --start.

    With --call each model gets one short question through the service's own path, with its pinned prompt, under a
    ceiling of its own. What the calls can cost is shown first. They belong to no debate, so no log has them and no
    tenant's limit counts them.

    \b
    gainsay doctor
    gainsay doctor --call --ceiling 0.20

    Exit codes: 0 nothing failed, 1 something did, 2 usage.
    """
    environment = dict(os.environ)
    found = read_environment(environment)
    policy, of_policy = configuration.read_whole(found)
    secrets = Secrets(environment, policy)
    findings = list[Finding]()

    def report(finding: Finding) -> None:
        findings.append(secrets.hidden(finding))
        if not as_json:
            _print(findings[-1])

    settings = Settings(policy=policy or read_policy(SHIPPED_POLICY), policy_path=found.policy_path, **found.members)
    checks: list[tuple[str, Check]] = [
        ("settings", partial(configuration.check_settings, found, environment)),
        ("policy", lambda: of_policy),
        ("prompts", partial(configuration.check_prompts, settings.prompts_pin)),
        *_of_policy(policy, settings, environment),
        ("identity", partial(configuration.check_identity, settings)),
        ("signer", partial(deployment.check_signer, settings, environment)),
        ("heads", partial(deployment.check_heads, settings)),
        ("disk", partial(deployment.check_disk, settings.data_dir)),
        ("database", partial(_database, settings, start)),
    ]
    if call:
        checks.append(("calls", partial(_calls, policy, settings.prompts_pin, _ceiling(ceiling), yes)))
    for name, check in checks:
        for finding in examined(name, check):
            report(finding)
    if as_json:
        print_json(findings)
    return exit_codes.NEGATIVE if any(finding.status == "FAILED" for finding in findings) else exit_codes.DONE


def _of_policy(policy: Policy | None, settings: Settings, environment: dict[str, str]) -> Iterator[tuple[str, Check]]:
    """The checks that need a policy; without one they are named, and skipped."""
    if policy is None:
        for name in ("keys", "approval", "witness", "time stamps"):
            yield name, partial(_skip, name, "the policy cannot be read")
        return
    yield "keys", partial(configuration.check_keys, policy, environment)
    yield "approval", partial(configuration.check_approval, settings)
    for witness in policy.audit.witnesses:
        yield "witness", partial(deployment.check_witness, witness, f"{settings.log_host}/{LOCAL.tenant}/1")
    if not policy.audit.witnesses:
        yield "witness", partial(_skip, "witness", "the policy names none: bundles are UNWITNESSED")
    yield "time stamps", partial(deployment.check_time_stamps, policy)


def _skip(name: str, why: str) -> Iterator[Finding]:
    yield skipped(name, why)


def _database(settings: Settings, start: bool) -> Iterator[Finding]:
    """The database and all that is asked of it; the embedded one only where it runs, or is to be started."""
    if settings.database_url is None and not start and not deployment.embedded_runs(settings.data_dir):
        yield deployment.embedded_state(settings.data_dir)
        for name in ("sequencer", "serving", "clock", "incidents"):
            yield skipped(name, "the database was not looked at")
        return
    with ExitStack() as stack:
        found = stack.enter_context(unchecked_addresses(settings, start=start))
        yield from _asked(found, settings)


def _asked(found: DatabaseAddresses, settings: Settings) -> Iterator[Finding]:
    skew_s = float(settings.policy.audit.clock_skew_s)
    yield from examined("database", partial(deployment.check_service, found.service))
    if found.sequencer is None:
        yield skipped("sequencer", "no GAINSAY_SEQUENCER_URL is set: `gainsay sequence` runs elsewhere")
    else:
        yield from examined("sequencer", partial(deployment.check_sequencing, found.sequencer))
    if found.serving is None:
        yield skipped("serving", "no GAINSAY_API_URL is set: `gainsay serve` runs elsewhere")
    else:
        yield from examined("serving", partial(deployment.check_callers, found.serving))
    yield from examined("clock", partial(deployment.check_clock, found.service, skew_s))
    yield from examined("incidents", partial(deployment.check_incidents, found.service))


def _ceiling(given: Decimal) -> MicroUSD:
    try:
        return money(("--ceiling",), str(given))
    except WrongSetting as wrong:
        raise click.UsageError(f"--ceiling: {wrong.message}") from None


def _calls(policy: Policy | None, pin: str | None, ceiling: MicroUSD, yes: bool) -> Iterator[Finding]:
    if policy is None:
        yield skipped("calls", "the policy cannot be read")
        return
    trials, uncallable = calls.prepare(policy, pin)
    yield from uncallable
    why = calls.agreed(trials, ceiling, yes=yes) if trials else "no model can be called"
    yield from calls.refused(trials, why) if why else asyncio.run(calls.make(policy, pin, trials, ceiling))


def _print(finding: Finding) -> None:
    status = click.style(f"{finding.status:<7}", fg=_COLOURS[finding.status])
    first, *others = finding.found.splitlines() or [""]
    say(f"  {finding.check:<12} {first}", lead=status)
    for further in (*others, *finding.remedy.splitlines()):
        say(f"{'':<21} {further}")
