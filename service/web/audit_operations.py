"""What the endpoints of the audit log take and answer."""

from __future__ import annotations

from service.audit.export import FILTERS
from service.store.derived import ASKED, Asked
from service.web.audit import OCTETS, RECORDS, TEXT, ZIP, LogList, RecallList
from service.web.operation import AFTER, DEBATE, JSON, LIMIT, TEXT_VALUE, Answer, Operation, Parameter


def _log_path(rest: str) -> str:
    return "/v1/audit/logs/{host}/{tenant}/{epoch}/" + rest


_LOG = tuple(
    Parameter(name, "path", words, {"type": "string"}, required=True)
    for name, words in (
        ("host", "The first part of the log's name."),
        ("tenant", "The tenant, its second part."),
        ("epoch", "The number of the tenant's log, its last part."),
    )
)
_RECORD = Parameter(
    "record",
    "path",
    "The index of its leaf, or a debate's id and the number of its entry as debate.n.",
    TEXT_VALUE,
    required=True,
)
_TILE = Parameter("path", "path", "As in C2SP tlog-tiles: 0/x001/067, entries/000.p/12.", TEXT_VALUE, required=True)
_SIZE = {"type": "integer", "minimum": 0}
_FILTERS: dict[str, str] = {
    "since": "Records that joined the log at this time or later: a day, or RFC 3339.",
    "until": "Records that joined the log before this time.",
    "taskType": "Records of debates of this task type.",
    "status": "Records of debates that have this status now.",
    "model": "Records of debates that rest on this model, by its alias or a vendor's name of it.",
    "prompt": "Records of debates whose seats were given the prompt with this SHA-256.",
    "document": "Records of debates with the document of this SHA-256.",
}
_RECALLED: dict[Asked, str] = {
    "prompt": "The SHA-256 of a prompt, template or reply schema.",
    "manifest": "The SHA-256 of a manifest of prompts.",
    "configuration": "The hash of a whole configuration.",
    "model": "A model's alias, or a vendor's name of it.",
    "document": "The SHA-256 of a document's text.",
    "price": "A row of the price table, as alias@2026-01-31.",
    "engine": "The version of an engine that checked something.",
}


AUDIT: tuple[Operation, ...] = (
    Operation(
        method="get",
        path="/v1/debates/{debate}/audit",
        id="readBundle",
        tag="audit",
        summary="Everything that one decision rests on, as one file that proves itself.",
        description=(
            "A ZIP of plain files: records and payloads, documents, prompts, policy, proofs, the signed head, JSON "
            "Schemas, and a README. `gainsay audit verify` checks it offline. That it was handed out is recorded."
        ),
        parameters=(DEBATE,),
        answers={200: Answer("The bundle.", {ZIP: ()})},
        problems=(400, 404, 409, 503),
    ),
    Operation(
        method="get",
        path="/v1/audit/logs",
        id="listLogs",
        tag="audit",
        summary="The caller's logs, each with the key that signs it and its latest signed head.",
        answers={200: Answer("The logs, the oldest first.", {JSON: (LogList,)})},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path=_log_path("checkpoint"),
        id="readCheckpoint",
        tag="audit",
        summary="The latest signed head of a log, with what countersigns it (C2SP tlog-checkpoint).",
        parameters=_LOG,
        answers={200: Answer("The signed note.", {TEXT: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("proof/{record}"),
        id="proveRecord",
        tag="audit",
        summary="That a record is in the log (C2SP tlog-proof).",
        parameters=(
            *_LOG,
            _RECORD,
            Parameter("size", "query", "The size of the signed head; the latest without it.", _SIZE),
        ),
        answers={200: Answer("The proof, with its signed head.", {TEXT: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("consistency"),
        id="proveConsistency",
        tag="audit",
        summary="That the log of a size is the beginning of the log under a signed head (RFC 9162, 2.1.4).",
        parameters=(
            *_LOG,
            Parameter("from", "query", "How many records the log had then.", _SIZE, required=True),
            Parameter("to", "query", "The size of the signed head; the latest without it.", _SIZE),
        ),
        answers={200: Answer("The path, one hash in base64 a line; empty where none is needed.", {TEXT: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("tile/{path}"),
        id="readTile",
        tag="audit",
        summary="A tile of the log's tree, or a bundle of its leaves (C2SP tlog-tiles).",
        description="Full tiles never change. Partial ones are there at every width that the latest head allows.",
        parameters=(*_LOG, _TILE),
        answers={200: Answer("Hashes of 32 bytes, or leaves after their lengths.", {OCTETS: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("records"),
        id="exportRecords",
        tag="audit",
        summary="The records of the log under its latest head, whole or filtered: JSONL that proves itself, or CSV.",
        description=(
            "Without filters the leaves come to the signed root; with filters each record has its path to it. "
            "`gainsay audit verify` checks both. Time is when a record joined the log. That records were handed out is "
            "recorded."
        ),
        parameters=(
            *_LOG,
            *(Parameter(name, "query", _FILTERS[name], TEXT_VALUE) for name in FILTERS),
            Parameter("format", "query", "Counts before Accept.", {"type": "string", "enum": ["jsonl", "csv"]}),
        ),
        answers={200: Answer("The records.", dict.fromkeys(RECORDS, ()))},
        problems=(400, 404, 406, 503),
    ),
    Operation(
        method="get",
        path="/v1/audit/recall",
        id="recall",
        tag="audit",
        summary="Which debates rest on one prompt, manifest, configuration, model, document, price or engine.",
        description="Exactly one of them is given. That it was asked is recorded.",
        parameters=(*(Parameter(name, "query", _RECALLED[name], TEXT_VALUE) for name in ASKED), LIMIT, AFTER),
        answers={200: Answer("A page, the newest first.", {JSON: (RecallList,)}, ("Link",))},
        problems=(400, 503),
    ),
)
