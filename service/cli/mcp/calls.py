"""What a tool does with its arguments: one question to the service, and its answer as the HTTP API gives it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from service.cli.access.port import JSON, Query, Service
from service.cli.mcp.answers import Answer
from service.errors import GainsayError, WrongShape
from service.report import sent
from service.verify.steps import Trust

Leaving = Literal["cancelled", "closed", "lost"]
"""How a caller left a call: it said so; its stream was closed, which says so in 2026-07-28 and may be an accident; or
its session ended."""


@dataclass(frozen=True)
class Call:
    """A call of a tool: its arguments, the service as its caller reaches it, and how it goes on and ends."""

    arguments: JSON
    service: Service
    address: str | None
    """The address of the service; ``None`` for the database of this machine."""
    trust: Trust
    """The keys that the operator of this server pinned."""
    trouble: asyncio.Future[GainsayError]
    closing: asyncio.Event
    report: Callable[[str], Awaitable[None]]
    """Reports progress in words of the service."""
    left: Callable[[], Leaving]


async def gate(call: Call) -> Answer:
    """Whether a question deserves a debate."""
    return Answer(sent.as_json(await call.service.gate(call.arguments)), ("/rules/*/observed",))


async def quote(call: Call) -> Answer:
    """What a case would cost."""
    found = await call.service.quote(call.arguments)
    return Answer(
        sent.as_json(found), ("/gate/rules/*/observed", "/documents/*/id", "/documents/*/title", "/options/debaters")
    )


async def check_citations(call: Call) -> Answer:
    """Verdicts on citations."""
    found = await call.service.check_citations(call.arguments)
    others = ("id", "sourceId", "foundIn", "text", "edits")
    return Answer(sent.as_json(found), tuple(f"/verdicts/*/{name}" for name in others))


async def find(call: Call) -> Answer:
    """One page of debates."""
    others = ("question", "taskType", "useCase", "metadata", "decision/answer", "decision/dissent")
    found = await call.service.find(query_of(call.arguments))
    return Answer(found, (*(f"/debates/*/{name}" for name in others), "/facets/*/values/*/value"))


async def abort(call: Call) -> Answer:
    """Abort a debate."""
    debate = text_of(call.arguments, "debateId")
    why = text_of(call.arguments, "reason", "aborted by an agent")
    expect_known(call.arguments, ("debateId", "reason"))
    found = await call.service.abort(debate, why)
    return Answer(
        {"debateId": found.debate, "status": found.status, "spentUSD": found.spent, "stillHeldUSD": found.held}
    )


def query_of(arguments: JSON) -> Query:
    """Arguments as the parameters of a query; raises `WrongShape` for a value that is none."""
    return tuple((name, value) for name, given in arguments.items() for value in _values(name, given))


def _values(name: str, given: object) -> Sequence[str]:
    match given:
        case bool():
            return [str(given).lower()]
        case str() | int():
            return [str(given)]
        case list() if all(isinstance(each, str) for each in given):
            return given
    raise WrongShape(
        f"expected a text, a number, true or false, or a list of texts, found {type(given).__name__}",
        pointers=(f"/{name}",),
    )


def text_of(arguments: JSON, name: str, usual: str | None = None) -> str:
    """An argument that is a text; raises `WrongShape` for another one, or where it is missing without a usual one."""
    given = arguments.get(name, usual)
    if not isinstance(given, str) or not given:
        raise WrongShape(f"expected {name} as a text, found {_named(given)}", pointers=(f"/{name}",))
    return given


def flag_of(arguments: JSON, name: str, *, usual: bool) -> bool:
    """An argument that is true or false; raises `WrongShape`."""
    given = arguments.get(name, usual)
    if not isinstance(given, bool):
        raise WrongShape(f"expected {name} as true or false, found {_named(given)}", pointers=(f"/{name}",))
    return given


def expect_known(arguments: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise `WrongShape` for arguments that a tool does not take."""
    if unknown := sorted(set(arguments) - set(known)):
        raise WrongShape(
            f"unknown arguments {[name[:80] for name in unknown[:10]]}; this tool takes: {', '.join(known)}",
            pointers=tuple(f"/{name[:80]}" for name in unknown[:10]),
        )


def _named(given: object) -> str:
    return "none" if given is None else f"{str(given)[:80]!r}"
