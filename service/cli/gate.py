"""``gainsay gate``: the decision alone, with every rule. Needs no database and no model."""

from __future__ import annotations

import os
import textwrap
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import click

from service import intake
from service.cli import case_options, exit_codes, help_sections
from service.cli.access import place
from service.cli.terminal_text import line
from service.debate.amounts import usd
from service.debate.entries import GateDecision, Rule
from service.intake import validation
from service.policy.settings import read_settings
from service.prompts import DIRECTORY, Prompts

ROLE = "operator"
WIDTH = 80
_NAMES = {
    "valid": "valid amounts",
    "forced": "forced",
    "policy": "set by policy",
    "risk": "risk category",
    "contested": "contested",
    "worthIt": "worth it",
    "uncertain": "uncertain",
}


@click.command(cls=help_sections.Command)
@case_options.gate_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print the decision as JSON, and nothing else, on standard output."
)
def gate(as_json: bool, **given: Any) -> int:
    """Decide whether a question deserves a debate, with reasons.

    Makes no model call and needs no database. Exit codes: 0 debate, 1 decline, 2 usage.
    """
    place.refuse_server("gate", database=False)
    settings = read_settings(os.environ)
    request = case_options.gate_request(given, case_options.CaseRules.of(settings.policy))
    prompts = Prompts.load(DIRECTORY, settings.prompts_pin)
    decision = intake.decide(request, settings.policy, datetime.now(UTC).date().isoformat(), ROLE, prompts)
    typed, _ = validation.typed(request, settings.policy)
    format_ = settings.policy.choose_format(typed.format, typed.task_type).name
    click.echo(encoded(decision) if as_json else gate_lines(decision, format_))
    return exit_codes.DONE if decision.debate else exit_codes.NEGATIVE


def encoded(decision: GateDecision) -> str:
    """The decision as the JSON of ``POST /v1/gate``."""
    from service.report import build_gate as public
    from service.report.sent import pretty

    return pretty(public(decision)).decode()


def gate_lines(decision: GateDecision, format_: str) -> str:
    """The decision as text: the answer, the rule that decided, the amounts, then every rule in order."""
    answer = "debate" if decision.debate else "no debate"
    by = "every rule holds" if decision.decided_by == "merits" else f"decided by: {_NAMES[decision.decided_by]}"
    policy = f"Policy {decision.policy_version} ({decision.policy_hash[:12]})"
    cost = f"A debate of the format {format_} is expected to cost {usd(decision.debate_cost_threshold)} USD."
    lines = (part for rule in decision.rules for part in _rule(rule))
    return "\n".join([f"Decision: {answer} ({by})", cost, policy, "", *lines, *_would_change(decision)])


def _would_change(decision: GateDecision) -> list[str]:
    """The ways to the other decision, one a line or more."""
    from service.report.result.would_change import sentence

    if not decision.would_change:
        return []
    ways = (_wrapped(line(sentence(fields)), "  - ") for fields in decision.would_change)
    return ["", f"It would be {'no debate' if decision.debate else 'a debate'} with:", *chain.from_iterable(ways)]


def _rule(rule: Rule) -> list[str]:
    from service.report.amounts import grouped

    unset = rule.rule == "policy" and not rule.holds
    mark = "yes" if rule.holds else "-" if rule.rule in ("forced", "policy") else "NO"
    lead = f"  {mark:<4} {_NAMES.get(rule.rule, rule.rule):<14} "
    found = _wrapped(f"{grouped(line(rule.observed))}{' is neither always nor never debated' if unset else ''}", lead)
    if rule.rule not in ("valid", "forced", "policy"):
        found += _wrapped(f"holds when: {grouped(line(rule.threshold))}", " " * len(lead))
    return found


def _wrapped(text: str, lead: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
