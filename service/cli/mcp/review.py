"""The tool ``review``: a case from its submission to its end, with progress, and what ends it early.

    what happens                                            what it does to the debate
    notifications/cancelled (stdio, HTTP until 2025-11-25)  aborts it: no further model calls
    the stream of the call is closed (HTTP of 2026-07-28)   aborts it, unless the caller said that it comes back: by an
                                                            idempotencyKey, or by onDisconnect "continue"
    the session or the process of the client ends           nothing, unless the case has onDisconnect "abort"
    this server stops                                       nothing; the call is answered with an error that says so

In 2026-07-28 a closed stream is the one word for *cancel* over HTTP, and a broken connection looks the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import anyio
from anyio import lowlevel

from service import log_lines
from service.cli.access.port import KEY_MAX, is_key
from service.cli.access.problems import ServiceProblem
from service.cli.mcp.answers import Answer
from service.cli.mcp.calls import Call, flag_of
from service.errors import GainsayError, WrongShape
from service.report import Result, sent

ABORT_S = 15.0
"""How long an abort may take after its caller has left."""
OTHERS = ("/decision/answer", "/decision/dissent", "/uncertainties/*", "/gate/rules/*/observed")
READING = (
    "The debate challenged the answer; it does not make it right. decision.answer says what came of it, and "
    "decision.confidence is a level, not a probability. If decision.humanReview.required is true, a person has to "
    "decide: say so to your user, with the reasons. Tell the uncertainties and the dissent with the decision. links "
    "lead to the whole report; audit_lookup shows what the log has of the debate."
)
DECLINED = (
    "The gate held no debate: the question did not deserve its cost by the rules of gate, so nothing was challenged. "
    "That is no judgement of the answer, neither for nor against it. gate.wouldChange says what would lead to a debate."
)
UNDER_WAY = (
    "The debate goes on; there is no decision yet. Ask audit_lookup with this debateId, or call review again with the "
    "same case and idempotencyKey, which joins this debate and starts no other."
)


_DONE: Mapping[str, str] = {
    "gate": "the gate has decided",
    "asked": "is asked",
    "round": "has spoken",
    "debate.response": "has spoken",
    "debate.round_started": "the round begins",
    "debate.converged": "the answers agree",
    "swapped": "has decided in the reverse order",
    "masked": "has decided with flagged passages masked",
    "synthesis": "has concluded",
    "verdict": "has decided",
    "answers": "has answered the objections",
    "screening": "has screened the case",
    "citations": "quotations are checked",
    "passages": "passages are compared",
}
"""What an event says of its seat, or by itself."""


class Stopping(GainsayError):
    """The server of a call stops before its debate is over."""

    code = "stopping"
    status = 503
    title = "This server stops"


class Unfinished(GainsayError):
    """The worker of this process cannot continue a debate."""

    code = "debate_unfinished"
    title = "The debate could not be finished"


async def review(call: Call) -> Answer:
    """Submit a case, wait for its end, and answer with what came of it."""
    case = dict(call.arguments)
    key = _key(case)
    wait = flag_of(case, "wait", usual=True)
    case.pop("wait", None)
    with anyio.CancelScope(shield=True):  # a case that may be recorded has to be known, to be aborted
        recorded = await call.service.submit(case, key or str(uuid4()))
    try:
        await lowlevel.checkpoint()
        await call.report(f"debate {recorded.debate} is recorded: {recorded.status}")
        if wait and recorded.status != "declined":
            await _over(call, recorded.debate)
        return answer_of(await call.service.result(recorded.debate), call.address)
    except anyio.get_cancelled_exc_class():
        if _aborts(call, case, key):
            with anyio.CancelScope(shield=True), anyio.move_on_after(ABORT_S):
                await _abort(call, recorded.debate)
        raise


def answer_of(result: Result, address: str | None) -> Answer:
    """A result as the tool answers it."""
    whole = sent.as_json(result)
    declined = result.status == "declined"
    found = {
        "debateId": result.debate_id,
        "status": result.status,
        "simulated": result.simulated,
        "decision": whole.get("decision"),
        "uncertainties": list(result.explicit_uncertainties),
        "flags": dict(result.labels.flags),
        "gate": whole.get("gate") if declined else None,
        "citationCounts": whole.get("citationCounts"),
        "lastRecord": result.hashes.last_record,
        "reading": DECLINED if declined else READING if result.decision else UNDER_WAY,
        "links": links_of(result.debate_id, address),
    }
    return Answer({name: value for name, value in found.items() if value is not None}, OTHERS)


def links_of(debate: str, address: str | None) -> Mapping[str, str]:
    """Where the whole of a debate is: commands, and addresses of a service that has one."""
    at = f" --server {address}" if address else ""
    found = {"show": f"gainsay show {debate}{at}", "report": f"gainsay report {debate}{at} --html"}
    if address:
        whole = f"{address}/v1/debates/{debate}"
        found |= {"resultURL": f"{whole}?view=full", "reportURL": f"{whole}/report", "auditURL": f"{whole}/audit"}
    return found


def _key(case: dict[str, Any]) -> str | None:
    """The key of the arguments, taken from them; raises `WrongShape` for one that no service takes."""
    key = case.pop("idempotencyKey", None)
    if key is None:
        return None
    if not (isinstance(key, str) and is_key(key)):
        raise WrongShape(
            f"expected idempotencyKey as 1 to {KEY_MAX} printable ASCII characters, such as a UUID",
            pointers=("/idempotencyKey",),
        )
    return key


async def _over(call: Call, debate: str) -> None:
    """Wait for the end of a debate; raises `Stopping`, and the error that ends the running of debates."""
    following = asyncio.create_task(_follow(call, debate))
    closing = asyncio.create_task(call.closing.wait())
    try:
        await asyncio.wait((following, closing, call.trouble), return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            await following
        elif closing.done():
            raise Stopping(
                f"this MCP server stops while debate {debate} goes on or waits for a worker; call review again with "
                "the same idempotencyKey, or ask audit_lookup with this debateId",
                retry_after=5,
            )
        else:
            raise Unfinished(f"debate {debate} is recorded and not finished: {call.trouble.result().detail}")
    finally:
        for task in (following, closing):
            task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(following, closing, return_exceptions=True)


async def _follow(call: Call, debate: str) -> None:
    """Report each event of a debate until the last one."""
    try:
        async with aclosing(call.service.follow(debate)) as events:
            async for name, data in events:
                await call.report(words_of(name, {**data, **data.get("gainsay", {})}))
    except ServiceProblem as error:
        raise ServiceProblem(
            f"debate {debate} is recorded, and goes on unless its service says otherwise; ask audit_lookup with this "
            f"debateId. It can no longer be followed: {error.detail}",
            code=error.code,
            status=error.status,
            request=error.request,
        ) from error


def words_of(event: str, data: Mapping[str, Any]) -> str:
    """An event in a few words, all of them the service's own: no name, question or reply stands there."""
    where = f"round {data['round']}: " if isinstance(data.get("round"), int) else ""
    seat = data["seat"] if isinstance(data.get("seat"), str) else ""
    spent = f"; {data['spentUSD']} USD spent" if isinstance(data.get("spentUSD"), str) else ""
    match event:
        case "started":
            return f"the debate began; at most {data.get('ceilingUSD', '?')} USD"
        case "final":
            return f"the debate is over: {data.get('status', 'ended')}"
        case _:
            words = " ".join(filter(None, (seat, _DONE.get(event, event))))
            return f"{where}{words}{spent}"


def _aborts(call: Call, case: Mapping[str, Any], key: str | None) -> bool:
    """Whether a caller that left wants no more of the debate."""
    left, kept = call.left(), case.get("onDisconnect")
    if left == "closed":
        return key is None and kept != "continue"
    return left == "cancelled" or kept == "abort"


async def _abort(call: Call, debate: str) -> None:
    try:
        await call.service.abort(debate, "cancelled by the caller of the tool review (MCP)")
    except GainsayError as error:
        log_lines.TOOL_NOT_ABORTED(debate=debate, code=error.code)
