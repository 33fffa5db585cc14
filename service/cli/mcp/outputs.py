"""The schemas of what tools answer with: members of the HTTP API's answers, and those of the tools' own."""

from __future__ import annotations

from collections.abc import Mapping

from service.cli.mcp.answers import MARK
from service.cli.mcp.schemas import made_of, ref, text, texts
from service.web.operation import Schema

_ABORTED: Mapping[str, str] = {
    "debateId": "The id of the debate.",
    "status": "The state of the debate after it: aborted, or how it had ended before.",
    "spentUSD": "US dollars spent.",
    "stillHeldUSD": "US dollars that calls in flight may still be charged.",
}
_FLAGS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "description": "What a reader has to know of the decision, by code, in words.",
}
_LINKS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "description": "Commands and addresses that show the whole debate.",
}


def reviewed() -> Schema:
    """That of a review."""
    return _out(
        {
            "debateId": text("The id of the debate."),
            "status": text("declined, queued, running, completed, truncated, aborted or failed."),
            "simulated": {"type": "boolean", "description": "Whether simulated models argued: then it says nothing."},
            "decision": ref("Decision", "What came of the case. Absent while the debate goes on."),
            "uncertainties": texts("What remains uncertain, in the words of the seat that closed."),
            "flags": _FLAGS,
            "gate": ref("Gate", "Why the gate held no debate. Only of a declined case."),
            "citationCounts": ref("CitationCounts", "The verdicts on all citations, counted."),
            "lastRecord": text("The SHA-256 of the debate's last record."),
            "reading": text("How to read this result."),
            "links": _LINKS,
        },
        *("decision", "gate", "citationCounts", "lastRecord"),
    )


def looked_up() -> Schema:
    """That of a look into the audit log."""
    step: Schema = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "name": text("The step, as docs/verification.md has it."),
            "state": text("OK, FAILED or NOT CHECKABLE.", enum=["OK", "FAILED", "NOT CHECKABLE"]),
            "detail": text("What agrees, what differs, or what is missing."),
        },
        "required": ["number", "name", "state", "detail"],
    }
    verification = made_of(
        {
            "absent": text("Why there is no verification: the code and the message of the error."),
            "result": text("The steps in a sentence."),
            "trust": text("With which keys signatures were compared."),
            "steps": {"type": "array", "items": step, "description": "Every step that was carried out, in order."},
            "left": texts("The steps that were left out because one before them failed."),
        },
        (),
    )
    head = made_of(
        {
            "absent": text("Why there is no head: the code and the message of the error."),
            "log": text("The name of the log."),
            "size": {"type": "integer", "description": "The number of records under the head."},
            "root": text("The root of the tree, in hexadecimal."),
            "namedKey": text("The verifier key that the service names for the log. Pin it by another way."),
        },
        (),
    )
    debate = {
        "debateId": text("The id of the debate."),
        "status": text("The state of the debate."),
        "question": text("The question, in the caller's words."),
        "taskType": text("The task type."),
        "createdAt": text("The time of the first record."),
        "concludedAt": text("The time of the last record. Absent while the debate goes on."),
        "askedBy": ref("Actor", "Who submitted the case."),
        "decision": ref("Decision", "What came of the case. Absent while the debate goes on."),
        "flags": _FLAGS,
        "lastRecord": text("The SHA-256 of the debate's last record."),
        "place": ref("LogPosition", "The place of that record in the log. Absent before the end is provable."),
        "head": head,
        "verification": verification,
        "links": _LINKS,
    }
    shown: Schema = {
        "type": "object",
        "properties": debate,
        "required": ["debateId", "status", "question", "taskType", "createdAt", "askedBy", "flags", "head", "links"],
        "description": "The debate that was asked for.",
    }
    recalled = ref("RecallList", "The debates that rest on what was asked for.")
    in_all: Schema = {"type": "integer", "description": "How many there are; the newest 100 of them are shown."}
    parts = {"debate": shown, "recall": recalled, "recalledInAll": in_all}
    return _out(parts, *parts)


def aborted() -> Schema:
    """That of an abort."""
    return _out({name: text(words) for name, words in _ABORTED.items()})


def _out(properties: Mapping[str, Schema], *optional: str) -> Schema:
    return made_of({**properties, **MARK}, [name for name in (*properties, *MARK) if name not in optional])
