"""``gainsay doctor``: every part of a deployment, checked by itself, with the remedy for each fault."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

import click

from service.cli.doctor import calls
from service.cli.doctor.examination import Examination
from service.cli.doctor.findings import Finding, skipped
from service.cli.option_types import Amount
from service.debate.amounts import MicroUSD
from service.policy import Policy
from service.policy.bounds import money
from service.policy.faults import WrongSetting


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
@click.option("--no-worker", is_flag=True, help="For a process that runs no worker: it needs no vendor's key.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of check, status, found, remedy.")
def doctor(call: bool, yes: bool, ceiling: Decimal, start: bool, no_worker: bool, as_json: bool) -> int:
    """Check this deployment: settings, policy, prompts, keys, approval, identities, database, signer, witnesses,
    disk, clock.

    One line a check, with the remedy for each fault. Each check stands by itself, so it works when everything is
    broken. It starts, writes and signs nothing, and shows no secret. An embedded PostgreSQL is only looked at while it
    runs, or with --start.

    `gainsay config check` makes the checks of the configuration alone.

    With --call each model gets one short question through the service's own path, with its pinned prompt, under a
    ceiling of its own. What the calls can cost is shown first. They belong to no debate, so no log has them and no
    tenant's limit counts them.

    \b
    gainsay doctor
    gainsay doctor --call --ceiling 0.20

    Exit codes: 0 nothing failed, 1 something did, 2 usage.
    """
    if call and no_worker:
        raise click.UsageError("--call asks vendors, and --no-worker is for a process that asks none; give one of them")
    made = Examination(dict(os.environ))
    checks = [*made.of_configuration(asks=not no_worker), *made.of_surroundings(), made.of_database(start=start)]
    if call:
        checks.append(("calls", partial(_calls, made.policy, made.settings.prompts_pin, _ceiling(ceiling), yes)))
    return made.report(checks, as_json=as_json)


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
