"""``gainsay gate``: the decision alone, with every rule. Needs no database and no model."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
import msgspec

from service import intake
from service.cli import case_options, exit_codes, help_sections
from service.cli.access import place
from service.cli.terminal_text import line, print_json, say
from service.debate.entries import Rule
from service.intake import validation
from service.intake.request import GateRequest
from service.policy import AUTO
from service.policy.settings import read_settings
from service.prompts import DIRECTORY, Prompts

if TYPE_CHECKING:
    from service.cli.access.over_http import OverHTTP
    from service.report.result.types import Gate

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
@place.server_option
@case_options.gate_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print the decision as JSON, and nothing else, on standard output."
)
def gate(server: str | None, as_json: bool, **given: Any) -> int:
    """Decide whether a question deserves a debate, with reasons.

    Makes no model call and needs no database. A service, by --server, decides by its own policy. Exit codes: 0 debate,
    1 decline, 2 usage, 3 failed.
    """
    address = place.server_of(server)
    decision, format_ = _here(given) if address is None else place.by_service(address, partial(_by_service, given))
    if as_json:
        from service.report import sent

        print_json(sent.as_json(decision))
    else:
        say(gate_lines(decision, format_))
    return exit_codes.DONE if decision.debate else exit_codes.NEGATIVE


def _here(given: Mapping[str, Any]) -> tuple[Gate, str]:
    """The decision by this machine's policy, and the format of the debate."""
    from service.report.result.build import build_gate

    settings = read_settings(os.environ)
    request = case_options.gate_request(given, case_options.CaseRules.of(settings.policy))
    prompts = Prompts.load(DIRECTORY, settings.prompts_pin)
    decision = intake.decide(request, settings.policy, datetime.now(UTC).date().isoformat(), ROLE, prompts)
    typed, _ = validation.typed(request, settings.policy)
    return build_gate(decision), settings.policy.choose_format(typed.format, typed.task_type).name


async def _by_service(given: Mapping[str, Any], service: OverHTTP) -> tuple[Gate, str]:
    """The decision of a service, and the format as far as it is known here: policy chooses one for ``auto``."""
    rules = await service.rules()
    whole = case_options.gate_body(given, rules)
    asked = {field.encode_name for field in msgspec.structs.fields(GateRequest)}
    body = {name: value for name, value in whole.items() if name in asked}  # the gate alone takes no more of a case
    return await service.gate(body), body.get("options", {}).get("format", rules.format)


def gate_lines(decision: Gate, format_: str) -> str:
    """The decision as text: the answer, the rule that decided, the amounts, then every rule in order."""
    answer = "debate" if decision.debate else "no debate"
    decided = _NAMES.get(decision.decided_by, decision.decided_by)
    by = "every rule holds" if decision.decided_by == "merits" else f"decided by: {decided}"
    policy = f"Policy {line(decision.policy_version)} ({line(decision.policy_hash[:12])})"
    of = "" if format_ == AUTO else f" of the format {format_}"
    cost = f"A debate{of} is expected to cost {line(decision.debate_cost_threshold_usd)} USD."
    lines = (part for rule in decision.rules for part in _rule(rule))
    return "\n".join([f"Decision: {answer} ({by})", cost, policy, "", *lines, *_would_change(decision)])


def _would_change(decision: Gate) -> list[str]:
    """The ways to the other decision, one a line or more."""
    if not decision.would_change:
        return []
    ways = (_wrapped(line(change.sentence), "  - ") for change in decision.would_change)
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
