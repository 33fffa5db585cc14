"""The options that describe a case, shared by the commands that take one, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from service import samples
from service.cli import documents
from service.debate.model import Force, Position
from service.errors import InvalidCase
from service.intake.request import CaseRequest, DocumentRequest, GateRequest
from service.policy import Policy

Command = Callable[..., int]


class Amount(click.ParamType[Decimal]):
    """A decimal number. Whether it is finite and in range is for the gate to say."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        """The number that is written, exactly."""
        if isinstance(value, Decimal):
            return value
        try:
            return Decimal(str(value))
        except InvalidOperation:
            self.fail(f"expected a number such as 250000 or 0.55, found {value!r}", param, ctx)


class Pair(click.ParamType[tuple[str, str]]):
    """``name=text``."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The two sides of the first equals sign."""
        if isinstance(value, tuple):
            return value
        left, equals, right = str(value).partition("=")
        if not (equals and left.strip() and right.strip()):
            self.fail(f"expected name=text, found {value!r}", param, ctx)
        return left.strip(), right.strip()


_GATE = (
    click.option("--task-type", metavar="T", help="contract, security, architecture, investment, compliance, ..."),
    click.option("--downside", type=Amount(), metavar="USD", help="What a wrong answer may cost, in US dollars."),
    click.option("--confidence", type=Amount(), metavar="C", help="How sure the single answer is, 0 to 1."),
    click.option(
        "--answer",
        "--single-agent-answer",
        "answer",
        metavar="FILE|TEXT",
        help="The answer that is to be challenged: a file, or the words themselves.",
    ),
    click.option("--contested/--not-contested", default=None, help="Whether reasonable people could disagree."),
    click.option("--materiality", type=click.Choice(["high", "moderate", "low"]), help="Of the decision it informs."),
    click.option("--format", "format_", metavar="F", help="The rules of the debate.  [adversarial]"),
    click.option("--rounds", type=int, metavar="N", help="At most this many rounds, 1 to 3."),
    click.option("--position", "positions", type=Pair(), multiple=True, metavar="ID=TEXT", help="One of several."),
    click.option("--model", "models", type=Pair(), multiple=True, metavar="SEAT=ALIAS", help="Who sits in a seat."),
    click.option("--force", metavar="REASON", help="Debate, whatever the gate says."),
    click.option("--force-decline", metavar="REASON", help="Do not debate, whatever the gate says."),
)
_CASE = (
    click.option("--question", metavar="Q", help="What is to be reviewed."),
    click.option("--ceiling", type=Amount(), metavar="USD", help="The most that the debate may cost.  [policy: 0.50]"),
    click.option("--persona", "personas", type=Pair(), multiple=True, metavar="SEAT=TEXT", help="Who a seat is to be."),
    click.option("--later", multiple=True, metavar="FILE:ROUND", help="A document for a later round."),
    click.option("--downside-basis", metavar="TEXT", help="How the downside was estimated."),
    click.option("--use-case", metavar="TEXT", help="What the answer is part of."),
    click.option("--intended-use", metavar="TEXT", help="What the result will be used for."),
    click.option("--deadline", metavar="TIME", help="RFC 3339, such as 2027-01-31T17:00:00Z."),
    click.option("--metadata", type=Pair(), multiple=True, metavar="KEY=VALUE", help="Kept with the case."),
    click.option("--sample", metavar="NAME[/VARIANT]", help="A case that is shipped; other options change it."),
)


def gate_options(command: Command) -> Command:
    """Give a command the options that a decision depends on."""
    return _give(command, _GATE)


def case_options(command: Command) -> Command:
    """Give a command all the options of a case."""
    return _give(command, (*_CASE[:1], *_GATE, *_CASE[1:]))


def gate_request(given: dict[str, Any], policy: Policy) -> GateRequest:
    """The request for a decision alone."""
    return GateRequest(**_members(_required(given, "task_type", "downside"), policy))


def case_request(given: dict[str, Any], files: tuple[Path, ...], policy: Policy) -> CaseRequest:
    """The case that the options and files describe, on top of a sample if one is named."""
    read = _documents(files, given["later"], policy)
    if given["sample"]:
        case = _sample(given["sample"])
        if read:
            raise click.UsageError("a sample brings its own documents; leave out FILE and --later, or --sample")
    else:
        required = _required(given, "task_type", "question", "downside")
        case = CaseRequest(question=required["question"], task_type=required["task_type"], documents=read)
    plain = ("question", "downside_basis", "use_case", "intended_use", "deadline")
    changes: dict[str, Any] = {name: given[name] for name in plain if given[name] is not None}
    if given["ceiling"] is not None:
        changes["cost_ceiling_usd"] = given["ceiling"]
    if given["metadata"]:
        changes["metadata"] = {**case.metadata, **_once("--metadata", given["metadata"])}
    members = _members(given, policy, case)
    if given["personas"]:
        members["options"] = replace(members["options"], personas=_once("--persona", given["personas"]))
    return replace(case, **changes, **members)


def request_body(case: CaseRequest) -> bytes:
    """The case as the body of ``POST /v1/debates``, without the members that say nothing."""
    told = {name: value for name, value in msgspec.to_builtins(case).items() if value not in (None, {}, [], ())}
    chosen = {name: value for name, value in told.pop("options").items() if value not in (None, {}, [], ())}
    return msgspec.json.format(msgspec.json.encode({**told, **({"options": chosen} if chosen else {})}), indent=2)


def _members(given: dict[str, Any], policy: Policy, case: CaseRequest | None = None) -> dict[str, Any]:
    """What a decision depends on, as members of a request; only what was given."""
    renamed = {
        "task_type": given["task_type"],
        "estimated_downside": given["downside"],
        "confidence_score": given["confidence"],
        "contested": given["contested"],
        "materiality": given["materiality"],
        "format": given["format_"],
        "force": _force(given["force"], given["force_decline"]),
    }
    if given["answer"] is not None:
        renamed["single_agent_answer"] = documents.read_answer(given["answer"], policy.limits.answer_characters)
    options = case.options if case else CaseRequest("", "").options
    changes: dict[str, Any] = {}
    if given["rounds"] is not None:
        changes["max_rounds"] = given["rounds"]
    if given["positions"]:
        changes["positions"] = tuple(Position(id=name, text=text) for name, text in given["positions"])
    if given["models"]:
        changes["models"] = _once("--model", given["models"])
    members = {name: value for name, value in renamed.items() if value is not None}
    return {**members, "options": replace(options, **changes)}


def _give(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def _required(given: dict[str, Any], *names: str) -> dict[str, Any]:
    missing = [f"--{name.replace('_', '-')}" for name in names if given[name] is None]
    if missing:
        raise click.UsageError(f"missing {', '.join(missing)}")
    return given


def _documents(files: tuple[Path, ...], later: tuple[str, ...], policy: Policy) -> tuple[DocumentRequest, ...]:
    most = policy.limits.document_characters
    first = [documents.read_document(path, most) for path in files]
    return (*first, *(documents.read_later(value, most) for value in later))


def _sample(name: str) -> CaseRequest:
    base, _, variant = name.partition("/")
    case = samples.load(base, variant or None).case
    return msgspec.json.decode(msgspec.json.encode(case), type=CaseRequest)


def _force(reason: str | None, declining: str | None) -> Force | None:
    if reason is not None and declining is not None:
        raise click.UsageError("--force and --force-decline contradict each other; give one")
    if reason is not None:
        return Force(debate=True, reason=reason)
    return Force(debate=False, reason=declining) if declining is not None else None


def _once(option: str, pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise InvalidCase(f"{option} was given twice for the same name: {[name for name, _ in pairs]}")
    return dict(pairs)
