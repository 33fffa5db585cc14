"""One priced test call of each model, under a ceiling of its own, after a person has agreed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import click
from msgspec.structs import replace

from service.app import connected
from service.cli.doctor.configuration import today
from service.cli.doctor.findings import Finding, failed, ok, skipped, warning
from service.cli.terminal_text import say
from service.debate.alike import same_name
from service.debate.amounts import MicroUSD, usd
from service.errors import GainsayError, SettingsError
from service.money import tokenizers
from service.policy import Policy
from service.prompts import DIRECTORY, Prompts
from service.running.provider_port import Provider
from service.running.trial_call import Trial, make_trial, prepare_trial

WITHIN_S = 60.0
REMEDY = "docs/money.md says how usage is read; see the model's safety and prices, and the provider's reasoning"
NOT_ASKED = (
    "where that is the model behind a deployment's name, see that family and prices are its own; else correct name"
)


def prepare(policy: Policy, pin: str | None) -> tuple[list[Trial], list[Finding]]:
    """The test calls, and a finding for each model that cannot be called."""
    tokenizers.load(model.tokenizer for model in policy.models.values())
    prompts, trials, findings = Prompts.load(DIRECTORY, pin), list[Trial](), list[Finding]()
    for alias, model in policy.models.items():
        try:
            trials.append(prepare_trial(policy, prompts, model, today()))
        except GainsayError as error:
            findings.append(failed(f"call {alias}", error.detail))
    return trials, findings


def agreed(trials: Sequence[Trial], ceiling: MicroUSD, *, yes: bool) -> str:
    """Show what the calls can cost at most, and ask; the reason for which none is made, or an empty text."""
    most = sum(trial.worst_case for trial in trials)
    for trial in trials:
        say(f"  {trial.plan.model:<24} at most {usd(trial.worst_case)} USD", err=True)
    say(f"  {len(trials)} calls, together at most {usd(most)} USD of a ceiling of {usd(ceiling)} USD", err=True)
    if most > ceiling:
        return f"the calls may cost {usd(most)} USD, above the ceiling of {usd(ceiling)} USD; raise --ceiling"
    if yes:
        return ""
    if not sys.stdin.isatty():
        return "not agreed to: there is no terminal to ask at; --yes agrees"
    try:
        return "" if click.confirm("Make these calls?", err=True) else "not agreed to"
    except click.Abort:
        return "not agreed to"


async def make(policy: Policy, pin: str | None, trials: Sequence[Trial], ceiling: MicroUSD) -> list[Finding]:
    """Make the calls one by one. A call whose worst case is no more covered by the ceiling is not made.

    A provider whose key is missing leaves its own models without a call, and no others.
    """
    prompts, spent, findings = Prompts.load(DIRECTORY, pin), 0, list[Finding]()
    for name, setting in policy.providers.items():
        own = [trial for trial in trials if trial.plan.provider == name]
        try:
            async with connected(replace(policy, providers={name: setting})) as providers:
                for trial in own:
                    finding, cost = await _called(trial, prompts, providers[name], ceiling - spent)
                    findings.append(finding)
                    spent += cost
        except SettingsError as error:
            findings += [failed(f"call {trial.plan.model}", error.detail) for trial in own]
    said = f"they are charged at {usd(spent)} USD: by the usage of the vendors, or the most where that is not believed"
    findings.append(ok("calls", said))
    return findings


async def _called(trial: Trial, prompts: Prompts, provider: Provider, left: MicroUSD) -> tuple[Finding, MicroUSD]:
    """The finding of one call, and what it cost."""
    name = f"call {trial.plan.model}"
    if trial.worst_case > left:
        return skipped(name, f"{usd(left)} USD are left of the ceiling"), 0
    begun = time.perf_counter()
    outcome = await make_trial(trial, prompts, provider, WITHIN_S)
    cost = f"{time.perf_counter() - begun:.1f} s, {usd(outcome.spent)} USD"
    if outcome.fault:
        return failed(name, f"{outcome.fault} ({cost})", "docs/models.md has the keys of a vendor"), outcome.spent
    served, asked = outcome.served_model or "a model without a name", trial.plan.model_name
    if outcome.doubt:
        return warning(name, f"{served} replied, but {outcome.doubt} ({cost})", REMEDY), outcome.spent
    said = f"replied with {outcome.tokens} tokens ({cost})"
    if outcome.served_model is not None and not same_name(asked, served):
        return warning(name, f"{served}, where {asked} was asked for, {said}", NOT_ASKED), outcome.spent
    return ok(name, f"{served} {said}"), outcome.spent


def refused(trials: Sequence[Trial], why: str) -> Iterator[Finding]:
    """No call was made."""
    for trial in trials:
        yield skipped(f"call {trial.plan.model}", why)
