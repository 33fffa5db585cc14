"""The options that describe a case, shared by the commands that take one, and the request that they make.

The options build a request as JSON, with members by their JSON names, which is decoded once. So a file, a sample and
the command line follow the same rules as the body of ``POST /v1/debates``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
import msgspec
from click.core import ParameterSource

from service import samples
from service.cli import completion, documents, format_options
from service.cli.exit_codes import HelpRequested
from service.cli.help_sections import OUTPUT, WHERE, Decorated, Option, option
from service.cli.option_types import Amount, Choice, Pair
from service.intake.request import CaseRequest, DocumentRequest, GateRequest
from service.policy import Limits, Policy

T = TypeVar("T")
Body = dict[str, Any]
_CASE, _GATE = "The case", "The gate"

_QUESTION = option(_CASE, "--question", metavar="Q", help="The question to review.")
_DECISION = (
    option(
        _CASE,
        "--task-type",
        metavar="T",
        shell_complete=completion.task_types,
        help="contract, security, architecture, investment, compliance, other.",
    ),
    option(_CASE, "--downside", type=Amount(), metavar="USD", help="The cost of a wrong answer, in US dollars."),
    option(_CASE, "--confidence", type=Amount(), metavar="C", help="The confidence of the single answer, 0 to 1."),
    option(
        _CASE,
        *("--answer", "--single-agent-answer", "answer"),
        metavar="FILE|TEXT",
        help="The answer to challenge: a file, or the text itself.",
    ),
    option(_CASE, "--materiality", type=Choice(["high", "moderate", "low"]), help="The materiality of the decision."),
)
_ABOUT = (
    option(_CASE, "--ceiling", type=Amount(), metavar="USD", help="The most that the debate may cost.  [policy: 0.50]"),
    option(_CASE, "--later", multiple=True, metavar="FILE:ROUND", help="A document for a later round."),
    option(_CASE, "--downside-basis", metavar="TEXT", help="The basis of the estimated downside."),
    option(_CASE, "--use-case", metavar="TEXT", help="The use case of the answer."),
    option(_CASE, "--intended-use", metavar="TEXT", help="The intended use of the result."),
    option(_CASE, "--deadline", metavar="TIME", help="The deadline by RFC 3339, such as 2027-01-31T17:00:00Z."),
    option(_CASE, "--metadata", type=Pair(), multiple=True, metavar="KEY=VALUE", help="A note stored with the case."),
    option(
        _CASE,
        "--sample",
        metavar="NAME[/VARIANT]",
        shell_complete=completion.samples,
        help="A shipped case; other options change it.",
    ),
)
_JSON = option(
    _CASE, "--case", metavar="FILE", help="The case as JSON, as POST /v1/debates takes it; - reads standard input."
)
_BESIDE_CASE = ("case", "ceiling", "deadline", "force", "force_decline")
"""What may be given beside a case: how much and by when a debate of it may run, and whether the gate is overruled."""
_FORCE = (
    option(_GATE, "--contested/--not-contested", default=None, help="Whether reasonable people could disagree."),
    option(_GATE, "--force", metavar="REASON", help="Debate against the gate's rules."),
    option(_GATE, "--force-decline", metavar="REASON", help="Decline against the gate's rules."),
)


class CaseRules(NamedTuple):
    """What a command needs of a policy to make a case: its limits, and the format of a case that names none."""

    limits: Limits
    format: str

    @classmethod
    def of(cls, policy: Policy) -> CaseRules:
        """Those of a policy."""
        return cls(policy.limits, policy.debate.format)


def gate_options(command: Decorated) -> Decorated:
    """Give a command the options that a decision depends on."""
    return _give(command, (*_DECISION, _JSON, *_FORCE, *format_options.EVERY, *format_options.OF_FORMATS))


def case_options(command: Decorated) -> Decorated:
    """Give a command all the options of a case."""
    return _give(
        command, (_QUESTION, *_DECISION, *_ABOUT, _JSON, *_FORCE, *format_options.EVERY, *format_options.OF_FORMATS)
    )


def gate_request(given: Mapping[str, Any], rules: CaseRules) -> GateRequest | CaseRequest:
    """The request for the gate's decision alone; a whole case where one is given as JSON."""
    body = gate_body(given, rules)
    return decoded(body, GateRequest) if given["case"] is None else decoded(body, CaseRequest)


def gate_body(given: Mapping[str, Any], rules: CaseRules) -> Body:
    """The same as a body: that of ``POST /v1/gate``, or a whole case."""
    if given["case"] is not None:
        return _whole(given, (), rules)
    return _deciding(_required(given, "task_type", "downside"), rules, {})


def case_request(given: Mapping[str, Any], files: Sequence[Path], rules: CaseRules) -> CaseRequest:
    """The case that the options and files describe, on top of a sample if one is named."""
    return decoded(case_body(given, files, rules), CaseRequest)


def case_body(given: Mapping[str, Any], files: Sequence[Path], rules: CaseRules) -> Body:
    """The case as the body of ``POST /v1/debates``."""
    if given["case"] is not None:
        return _whole(given, files, rules)
    read = _documents(files, given["later"], rules)
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
    return {**base, **_only(members), **_deciding(given, rules, base)}


def _whole(given: Mapping[str, Any], files: Sequence[Path], rules: CaseRules) -> Body:
    """A case in JSON, with FILEs as its documents if it has none, and the few options that may stand beside it."""
    from service.cli.case_file import read_case

    context = click.get_current_context()
    if isinstance(context.obj, HelpRequested):
        context.obj.in_json = True
    _refuse_beside_case(context)
    body = read_case(given["case"], rules.limits)
    if files:
        if body.get("documents"):
            raise click.UsageError("the case has its own documents; leave out FILE, or take them out of the case")
        body = {**body, "documents": _documents(files, (), rules)}
    beside = {"costCeilingUSD": given.get("ceiling"), "deadline": given.get("deadline")}
    return {**body, **_only({**beside, "force": _force(given["force"], given["force_decline"])})}


def _refuse_beside_case(context: click.Context) -> None:
    """Raise `click.UsageError` for an option that a case in JSON has itself."""
    for parameter in context.command.params:
        of_case = isinstance(parameter, Option) and parameter.section not in (OUTPUT, WHERE)
        source = context.get_parameter_source(parameter.name or "")
        if of_case and source is ParameterSource.COMMANDLINE and parameter.name not in _BESIDE_CASE:
            allowed = [p.opts[0] for p in context.command.params if p.name in _BESIDE_CASE[1:]]
            raise click.UsageError(
                f"--case holds the whole case: leave out {parameter.opts[0]}, or edit the case. "
                f"Beside --case may stand {', '.join(allowed)}"
            )


def decoded(body: Body, type_: type[T]) -> T:
    """A body as a request; raises `WrongShape` with the pointers of the invalid fields."""
    raw = msgspec.json.encode(body)
    try:
        return msgspec.json.decode(raw, type=type_)
    except msgspec.ValidationError:
        from service.intake.decoding import decode  # it writes the error message, which most cases do not need

        return decode(raw, type_)


def _deciding(given: Mapping[str, Any], rules: CaseRules, base: Body) -> Body:
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
        members["singleAgentAnswer"] = documents.read_answer(given["answer"], rules.limits.answer_characters)
    options = format_options.chosen(given, rules.format, base.get("options", {}))
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


def _documents(files: Sequence[Path], later: Sequence[str], rules: CaseRules) -> list[Body]:
    most = rules.limits.document_characters
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
