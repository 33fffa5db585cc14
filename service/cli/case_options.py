"""The options that describe a case, shared by the commands that take one, and the request that they make.

The options build a request as JSON, with members by their JSON names, which is decoded once. So a file, a sample and
the command line follow the same rules as the body of ``POST /v1/debates``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from service import samples
from service.cli import documents, format_options
from service.cli.help_sections import Decorated, option
from service.cli.option_types import Amount, Pair
from service.intake.request import CaseRequest, DocumentRequest, GateRequest
from service.policy import Policy

T = TypeVar("T")
Body = dict[str, Any]
_CASE, _GATE = "The case", "The gate"

_QUESTION = option(_CASE, "--question", metavar="Q", help="The question to review.")
_DECISION = (
    option(_CASE, "--task-type", metavar="T", help="contract, security, architecture, investment, compliance, ..."),
    option(_CASE, "--downside", type=Amount(), metavar="USD", help="The cost of a wrong answer, in US dollars."),
    option(_CASE, "--confidence", type=Amount(), metavar="C", help="The confidence of the single answer, 0 to 1."),
    option(
        _CASE,
        *("--answer", "--single-agent-answer", "answer"),
        metavar="FILE|TEXT",
        help="The answer to challenge: a file, or the text itself.",
    ),
    option(
        _CASE, "--materiality", type=click.Choice(["high", "moderate", "low"]), help="The materiality of the decision."
    ),
)
_ABOUT = (
    option(_CASE, "--ceiling", type=Amount(), metavar="USD", help="The most that the debate may cost.  [policy: 0.50]"),
    option(_CASE, "--later", multiple=True, metavar="FILE:ROUND", help="A document for a later round."),
    option(_CASE, "--downside-basis", metavar="TEXT", help="The basis of the estimated downside."),
    option(_CASE, "--use-case", metavar="TEXT", help="The use case of the answer."),
    option(_CASE, "--intended-use", metavar="TEXT", help="The intended use of the result."),
    option(_CASE, "--deadline", metavar="TIME", help="The deadline by RFC 3339, such as 2027-01-31T17:00:00Z."),
    option(_CASE, "--metadata", type=Pair(), multiple=True, metavar="KEY=VALUE", help="A note stored with the case."),
    option(_CASE, "--sample", metavar="NAME[/VARIANT]", help="A shipped case; other options change it."),
)
_FORCE = (
    option(_GATE, "--contested/--not-contested", default=None, help="Whether reasonable people could disagree."),
    option(_GATE, "--force", metavar="REASON", help="Debate against the gate's rules."),
    option(_GATE, "--force-decline", metavar="REASON", help="Decline against the gate's rules."),
)


def gate_options(command: Decorated) -> Decorated:
    """Give a command the options that a decision depends on."""
    return _give(command, (*_DECISION, *_FORCE, *format_options.EVERY, *format_options.OF_FORMATS))


def case_options(command: Decorated) -> Decorated:
    """Give a command all the options of a case."""
    return _give(command, (_QUESTION, *_DECISION, *_ABOUT, *_FORCE, *format_options.EVERY, *format_options.OF_FORMATS))


def gate_request(given: Mapping[str, Any], policy: Policy) -> GateRequest:
    """The request for the gate's decision alone."""
    return decoded(_deciding(_required(given, "task_type", "downside"), policy, {}), GateRequest)


def case_request(given: Mapping[str, Any], files: Sequence[Path], policy: Policy) -> CaseRequest:
    """The case that the options and files describe, on top of a sample if one is named."""
    return decoded(case_body(given, files, policy), CaseRequest)


def case_body(given: Mapping[str, Any], files: Sequence[Path], policy: Policy) -> Body:
    """The case as the body of ``POST /v1/debates``."""
    read = _documents(files, given["later"], policy)
    if given["sample"]:
        base = _sample(given["sample"])
        if read:
            raise click.UsageError("a sample has its own documents; leave out FILE and --later, or --sample")
    else:
        base = {"documents": read}
        _required(given, "task_type", "question", "downside")
    members = {
        "question": given["question"],
        "downsideBasis": given["downside_basis"],
        "useCase": given["use_case"],
        "intendedUse": given["intended_use"],
        "deadline": given["deadline"],
        "costCeilingUSD": given["ceiling"],
        "metadata": format_options.once("--metadata", given["metadata"]) or None,
    }
    return {**base, **_only(members), **_deciding(given, policy, base)}


def decoded(body: Body, type_: type[T]) -> T:
    """A body as a request; raises `WrongShape` with the pointers of the invalid fields."""
    raw = msgspec.json.encode(body)
    try:
        return msgspec.json.decode(raw, type=type_)
    except msgspec.ValidationError:
        from service.intake.decoding import decode  # it writes the error message, which most cases do not need

        return decode(raw, type_)


def _deciding(given: Mapping[str, Any], policy: Policy, base: Body) -> Body:
    """The members of a request on which the decision depends, without those that are not given."""
    members = {
        "taskType": given["task_type"],
        "estimatedDownside": given["downside"],
        "confidenceScore": given["confidence"],
        "contested": given["contested"],
        "materiality": given["materiality"],
        "force": _force(given["force"], given["force_decline"]),
    }
    if given["answer"] is not None:
        members["singleAgentAnswer"] = documents.read_answer(given["answer"], policy.limits.answer_characters)
    options = format_options.chosen(given, policy.debate.format, base.get("options", {}))
    return {**_only(members), **({"options": options} if options else {})}


def _only(members: Body) -> Body:
    return {name: value for name, value in members.items() if value is not None}


def _give(command: Decorated, options: Sequence[Callable[[Decorated], Decorated]]) -> Decorated:
    for option_ in reversed(options):
        command = option_(command)
    return command


def _required(given: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    missing = [f"--{name.replace('_', '-')}" for name in names if given[name] is None]
    if missing:
        raise click.UsageError(f"missing {', '.join(missing)}")
    return given


def _documents(files: Sequence[Path], later: Sequence[str], policy: Policy) -> list[Body]:
    most = policy.limits.document_characters
    first = [documents.read_document(path, most) for path in files]
    return [_document(one) for one in (*first, *(documents.read_later(value, most) for value in later))]


def _document(given: DocumentRequest) -> Body:
    """A document on the wire; its round where it is not the first."""
    return {"title": given.title, "text": given.text, **({"round": given.round} if given.round != 1 else {})}


def _sample(name: str) -> Body:
    base, _, variant = name.partition("/")
    return samples.load(base, variant or None).case


def _force(reason: str | None, declining: str | None) -> Body | None:
    if reason is not None and declining is not None:
        raise click.UsageError("--force and --force-decline contradict each other; give one")
    if reason is not None:
        return {"debate": True, "reason": reason}
    return {"debate": False, "reason": declining} if declining is not None else None
