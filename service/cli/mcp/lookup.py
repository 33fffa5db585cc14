"""The tool ``audit_lookup``: what the audit log has of one debate, or all debates that rest on something.

The verification is made here, from the bundle alone, by the code of `gainsay audit verify`. Signatures are compared
with the keys that the operator of this server pinned (``--keys``); without any the steps that need one are not
checkable, and the steps after the first that fails are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from tempfile import TemporaryFile
from typing import Any

import msgspec

from service.cli.access.port import JSON, Service
from service.cli.mcp.answers import Answer
from service.cli.mcp.calls import Call, expect_known, flag_of, text_of
from service.cli.mcp.review import links_of
from service.errors import GainsayError, WrongShape
from service.report import sent
from service.store.derived import ASKED
from service.verify.bundle import verify_bundle
from service.verify.steps import FAILED, GAPS, Trust, VerificationReport

RECALLED = 100
"""So many recalled debates are shown: a model reads them."""
AT_ONCE = asyncio.Semaphore(2)
"""So many bundles are verified at a time: each takes a core for as long. None of them is still on its way: a bundle
that comes slowly keeps the others from nothing, and is in a file until it is whole."""
OTHERS = (
    *("/debate/question", "/debate/taskType", "/debate/decision/answer", "/debate/decision/dissent"),
    *("/debate/verification/steps/*/expected", "/debate/verification/steps/*/found", "/recall/value"),
)
RESULTS = {FAILED: "a step failed", GAPS: "no step failed, and at least one was not checkable"}
ALL_OK = "every step is OK"
UNPINNED = "no key is pinned at this MCP server, so no signature was compared with a key that its operator knows"
PINNED = "signatures were compared with the keys that the operator of this MCP server pinned"


async def audit_lookup(call: Call) -> Answer:
    """One debate in the log, or the debates that rest on something."""
    asked = [name for name in ("debateId", *ASKED) if name in call.arguments]
    if len(asked) != 1:
        raise WrongShape(f"expected exactly one of debateId, {', '.join(ASKED)}, found {', '.join(asked) or 'none'}")
    expect_known(call.arguments, ("debateId", "verify", *ASKED))
    value = text_of(call.arguments, asked[0])
    if asked[0] != "debateId":
        return Answer(_recalled(await call.service.recall(asked[0], value)), OTHERS)
    verify = flag_of(call.arguments, "verify", usual=True)
    return Answer({"debate": await _debate(call, value, verify=verify)}, OTHERS)


def _recalled(found: JSON) -> Mapping[str, Any]:
    """The debates that were recalled: the newest of many, and how many there are."""
    debates = found["debates"]
    return {"recall": {**found, "debates": debates[:RECALLED]}, "recalledInAll": len(debates)}


async def _debate(call: Call, debate: str, *, verify: bool) -> Mapping[str, Any]:
    found = await call.service.result(debate)
    whole = sent.as_json(found)
    parts = {
        "debateId": found.debate_id,
        "status": found.status,
        "question": found.question,
        "taskType": found.task_type,
        "createdAt": found.created_at,
        "concludedAt": found.concluded_at,
        "askedBy": whole["askedBy"],
        "decision": whole.get("decision"),
        "flags": dict(found.labels.flags),
        "lastRecord": found.hashes.last_record,
        "place": whole["hashes"].get("log"),
        "head": await _head(call.service, found.hashes.log.log if found.hashes.log else None),
        "verification": await _verified(call, found.debate_id) if verify else None,
        "links": links_of(found.debate_id, call.address),
    }
    return {name: part for name, part in parts.items() if part is not None}


async def _head(service: Service, log: str | None) -> Mapping[str, Any]:
    """The latest checkpoint of a log, or why there is none to show."""
    try:
        signed = await service.head(log)
    except GainsayError as error:
        return {"absent": f"{error.code}: {error.public_detail}"}
    head = signed.head
    return {"log": head.origin, "size": head.size, "root": head.root.hex(), "namedKey": signed.key}


async def _verified(call: Call, debate: str) -> Mapping[str, Any]:
    """What the verification of a debate's bundle says, or why there is no bundle to verify."""
    with TemporaryFile() as file:
        try:
            await call.service.bundle(debate, file)
        except GainsayError as error:
            return {"absent": f"{error.code}: {error.public_detail}"}
        file.seek(0)
        async with AT_ONCE:
            return _as_json(await asyncio.to_thread(_verify, file, call.trust), call.trust)


def _verify(file: Any, trust: Trust) -> VerificationReport:
    from service.cli.audit.verify import tools

    return verify_bundle(file, trust, tools())


def _as_json(report: VerificationReport, trust: Trust) -> Mapping[str, Any]:
    return {
        "result": RESULTS.get(report.code, ALL_OK),
        "trust": PINNED if trust.keys or trust.witnesses else UNPINNED,
        "steps": [msgspec.to_builtins(step) for step in report.steps],
        "left": list(report.left),
    }
