"""The operations of the audit log: parameters and answers."""

from __future__ import annotations

from typing import get_args

from service.audit.export import FILTERS
from service.debate.model import Status
from service.store.derived import ASKED, HASHES, VALUE_MAX, Asked
from service.web.audit import OCTETS, RECORDS, TEXT, ZIP, KeyList, LogList, RecallList
from service.web.operation import AFTER, DEBATE, INSTANT, JSON, LIMIT, TEXT_VALUE, Answer, Operation, Parameter, Schema


def _log_path(rest: str) -> str:
    return "/v1/audit/logs/{host}/{tenant}/{epoch}/" + rest


_LOG = tuple(
    Parameter(name, "path", words, {"type": "string"}, required=True)
    for name, words in (
        ("host", "The first part of the log's name: its host."),
        ("tenant", "The second part of the log's name: the tenant."),
        ("epoch", "The last part of the log's name: the number of the tenant's log."),
    )
)
_RECORD = Parameter(
    "record",
    "path",
    "The index of the record's leaf, or a debate's id and the number of its entry, as debate.n.",
    TEXT_VALUE,
    required=True,
)
_TILE = Parameter(
    "path",
    "path",
    "The tile's path by C2SP tlog-tiles, such as 0/x001/067 or entries/000.p/12.",
    TEXT_VALUE,
    required=True,
)
_SIZE = {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}
_FILTERS: dict[str, str] = {
    "since": "Records that joined the log at this time or later: a day, or RFC 3339.",
    "until": "Records that joined the log before this time.",
    "taskType": "Records of debates of this task type.",
    "status": "Records of debates whose status is this one now.",
    "model": "Records of debates that rest on this model, named by its alias or by a vendor's name.",
    "prompt": "Records of debates whose requests used the prompt with this SHA-256.",
    "document": "Records of debates that have the document with this SHA-256.",
}
_HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_FILTER_VALUES: dict[str, Schema] = {
    "since": INSTANT,
    "until": INSTANT,
    "taskType": {"type": "string", "minLength": 1},
    "status": {"type": "string", "enum": [*get_args(Status)]},
    "model": {"type": "string", "minLength": 1},
    "prompt": _HASH,
    "document": _HASH,
}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": VALUE_MAX, "pattern": r"\S"}
_RECALLED_VALUES: dict[Asked, Schema] = {
    **dict.fromkeys(HASHES, _HASH),
    "model": _NAME,
    "engine": _NAME,
    "price": {"type": "string", "pattern": r"^[^@\s]+@[0-9]{4}-[0-9]{2}-[0-9]{2}$", "maxLength": VALUE_MAX},
}
_RECALLED: dict[Asked, str] = {
    "prompt": "The SHA-256 of a prompt, template or reply schema.",
    "manifest": "The SHA-256 of a manifest of prompts.",
    "configuration": "The hash of a whole configuration.",
    "model": "A model's alias, or a vendor's name for it.",
    "document": "The SHA-256 of a document's text.",
    "price": "A row of the price table, as alias@2026-01-31.",
    "engine": "The version of an engine that made a finding.",
}


AUDIT: tuple[Operation, ...] = (
    Operation(
        method="get",
        path="/v1/debates/{debate}/audit",
        id="readBundle",
        scope="evidence.read",
        tag="audit",
        summary="Read the bundle of one decision: all its evidence in one file that can be verified offline.",
        description=(
            "A ZIP of plain files: records and payloads, documents, prompts, policy, proofs, the checkpoint, JSON "
            "Schemas, and a README. The bytes are the same as application/octet-stream, for clients that know no ZIP. "
            "`gainsay audit verify` verifies it offline. The service records each reading, and "
            "compares hashes, chain and proofs before the file leaves: a difference is 500 `evidence_damaged`."
        ),
        parameters=(DEBATE,),
        answers={200: Answer("The bundle.", {ZIP: (), OCTETS: ()})},
        problems=(400, 404, 409, 410, 503),
    ),
    Operation(
        method="get",
        path="/v1/audit/keys",
        id="listKeys",
        scope="log.read",
        tag="audit",
        summary="List the verifier keys of logs, witnesses and approvers, with their times and who stands for them.",
        description=(
            "The operator's register in the policy, beside what the database knows of each key. It is for information: "
            "pin a key only after its holder gave it to you by another way."
        ),
        answers={200: Answer("The keys: of logs, of witnesses, of approvers.", {JSON: (KeyList,)})},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path="/v1/audit/logs",
        id="listLogs",
        scope="log.read",
        tag="audit",
        summary="List the caller's logs, each with its verifier key and latest checkpoint.",
        description=("A tenant has one log, and a further one after each rotation. New debates go into the last."),
        answers={200: Answer("The logs, oldest first.", {JSON: (LogList,)})},
        problems=(400, 503),
    ),
    Operation(
        method="get",
        path=_log_path("checkpoint"),
        id="readCheckpoint",
        scope="log.read",
        tag="audit",
        summary="Read the latest checkpoint of a log, with its witnesses' cosignatures (C2SP tlog-checkpoint).",
        description=(
            "A signed note: origin, size and root of the log, the log's signature, and those of witnesses. Keep it: "
            "proofs against a later one show that nothing before it was changed."
        ),
        parameters=_LOG,
        answers={200: Answer("The signed note.", {TEXT: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("proof/{record}"),
        id="proveRecord",
        scope="log.read",
        tag="audit",
        summary="Prove that a record is in the log (C2SP tlog-proof).",
        description=(
            "A text with the leaf's index, the hashes of an inclusion proof and the checkpoint that it leads to. "
            "`gainsay audit verify` and any tool for C2SP tlog-proof check it."
        ),
        parameters=(
            *_LOG,
            _RECORD,
            Parameter("size", "query", "The size of the checkpoint; by default that of the latest.", _SIZE),
        ),
        answers={200: Answer("The proof, with its checkpoint.", {TEXT: ()})},
        problems=(400, 404, 410, 503),
    ),
    Operation(
        method="get",
        path=_log_path("consistency"),
        id="proveConsistency",
        scope="log.read",
        tag="audit",
        summary="Prove that an older size of the log is a prefix of the log under a checkpoint (RFC 9162, 2.1.4).",
        description=(
            "Compare with it a checkpoint that you kept and a later one. Where the two are of one size, their roots "
            "must be equal and no proof is needed."
        ),
        parameters=(
            *_LOG,
            Parameter("from", "query", "The older size: the number of records that the log had.", _SIZE, required=True),
            Parameter("to", "query", "The size of the checkpoint; by default that of the latest.", _SIZE),
        ),
        answers={
            200: Answer("The consistency proof, one base64 hash a line; empty where no hash is needed.", {TEXT: ()})
        },
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("tile/{path}"),
        id="readTile",
        scope="log.read",
        tag="audit",
        summary="Read a tile of the log's tree, or a bundle of its leaves (C2SP tlog-tiles).",
        description=(
            "Full tiles never change. Partial tiles exist at every width that the latest checkpoint allows. Leaves "
            "tell of each case its id, its times and who acted: they need evidence.read over all cases of a tenant."
        ),
        parameters=(*_LOG, _TILE),
        answers={200: Answer("Hashes of 32 bytes each, or leaves, each after its length.", {OCTETS: ()})},
        problems=(400, 404, 503),
    ),
    Operation(
        method="get",
        path=_log_path("records"),
        id="exportRecords",
        scope="evidence.read",
        whole=True,
        tag="audit",
        summary="Export the records under the latest checkpoint, all or filtered: JSONL with proofs, or CSV.",
        description=(
            "Without filters the leaves hash to the signed root. With filters each record comes with its inclusion "
            "proof. `gainsay audit verify` verifies both. Times are those at which a record joined the log. "
            "Filters by debate read a projection of the records. The service records each export."
        ),
        parameters=(
            *_LOG,
            *(Parameter(name, "query", _FILTERS[name], _FILTER_VALUES.get(name, TEXT_VALUE)) for name in FILTERS),
            Parameter(
                "format",
                "query",
                "The form of the records; it overrides Accept.",
                {"type": "string", "enum": ["jsonl", "csv"]},
            ),
        ),
        answers={200: Answer("The records.", dict.fromkeys(RECORDS, ()))},
        problems=(400, 404, 406, 503),
    ),
    Operation(
        method="get",
        path="/v1/audit/recall",
        id="recall",
        scope="evidence.read",
        whole=True,
        tag="audit",
        summary="List the debates that rest on one prompt, manifest, configuration, model, document, price or engine.",
        description=(
            "Give exactly one of these parameters. The service records each search. It searches a projection of the "
            "records, which is compared with them in the background, within audit.row_hours of the policy."
        ),
        parameters=(
            *(Parameter(name, "query", _RECALLED[name], _RECALLED_VALUES[name]) for name in ASKED),
            LIMIT,
            AFTER,
        ),
        answers={200: Answer("One page, newest first.", {JSON: (RecallList,)}, ("Link",))},
        problems=(400, 503),
    ),
)
