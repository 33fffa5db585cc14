"""The toy field: ``businessUnit`` of a case, as docs/how-to/add-a-field.md says."""

from __future__ import annotations

from tests.change.tree import Edit, Run

REQUEST, LENGTH, CASE, CONTEXT, WRITTEN, VERIFIED, EXPORT, COLUMNS_KEPT, TABLE, REPORT, OPTION = (
    "1 request",
    "2 length",
    "3 case",
    "4 context",
    "4 the maker in service/reviews",
    "4 the maker in service/verify",
    "5 export",
    "5 the columns of its test",
    "5 the table in docs/audit.md",
    "6 report",
    "7 command line",
)
VERSION, SCHEMAS, GOLDENS, BYTES, SAID = (
    "8 version of the schemas",
    "8 schemas",
    "8 goldens",
    "9 bytes to keep",
    "10 changelog",
)
KEPT = "tests/vectors/payloads"

CHANGE = (
    Edit(
        REQUEST,
        "service/intake/request.py",
        '    on_disconnect: OnDisconnect = "continue"\n',
        '    on_disconnect: OnDisconnect = "continue"\n    business_unit: str | None = None\n',
    ),
    Edit(
        LENGTH,
        "service/intake/validation.py",
        '    yield "/useCase", request.use_case or "", limits.note_characters\n',
        '    yield "/useCase", request.use_case or "", limits.note_characters\n'
        '    yield "/businessUnit", request.business_unit or "", limits.note_characters\n',
    ),
    Edit(
        CASE,
        "service/debate/model.py",
        '    on_disconnect: OnDisconnect = "continue"\n',
        '    on_disconnect: OnDisconnect = "continue"\n    business_unit: str | None = None\n',
    ),
    Edit(
        CONTEXT,
        "service/audit/record.py",
        "    intended_use: str | None\n    materiality: str | None\n",
        "    intended_use: str | None\n    materiality: str | None\n    business_unit: str | None = None\n",
    ),
    Edit(
        WRITTEN,
        "service/reviews/opening.py",
        "        materiality=case.materiality,\n",
        "        materiality=case.materiality,\n        business_unit=case.business_unit,\n",
    ),
    Edit(
        VERIFIED,
        "service/verify/records.py",
        "        materiality=case.materiality,\n",
        "        materiality=case.materiality,\n        business_unit=case.business_unit,\n",
    ),
    Edit(
        EXPORT,
        "service/audit/export.py",
        '    *("schema", "build", "policy", "leafHash", "payload"),\n)',
        '    *("schema", "build", "policy", "leafHash", "payload"),\n    "businessUnit",\n)',
    ),
    Edit(
        COLUMNS_KEPT,
        "tests/unit/audit/test_export.py",
        '        *("schema", "build", "policy", "leafHash", "payload"),\n    )',
        '        *("schema", "build", "policy", "leafHash", "payload", "businessUnit"),\n    )',
    ),
    Edit(
        TABLE,
        "docs/audit.md",
        "| `payload` | the payload's text, as JSON |\n",
        "| `payload` | the payload's text, as JSON |\n| `businessUnit` | as the context columns before it |\n",
    ),
    Edit(
        REPORT,
        "service/report/document/opening.py",
        '        ("Use case", case.use_case),\n',
        '        ("Business unit", case.business_unit),\n        ("Use case", case.use_case),\n',
    ),
    Edit(
        OPTION,
        "service/cli/case_options.py",
        '    option(_CASE, "--use-case", ',
        '    option(_CASE, "--business-unit", metavar="TEXT", help="Who asks."),\n    option(_CASE, "--use-case", ',
    ),
    Edit(
        OPTION,
        "service/cli/case_options.py",
        '        "useCase": given["use_case"],\n',
        '        "useCase": given["use_case"],\n        "businessUnit": given["business_unit"],\n',
    ),
    Edit(
        VERSION,
        "service/audit/bundle_texts.py",
        '    "schemas/1": dict.fromkeys(_FIRST, 1),\n',
        '    "schemas/1": dict.fromkeys(_FIRST, 1),\n'
        '    "schemas/2": {**dict.fromkeys(_FIRST, 1), "context.v1": 2, "payload.case.received.v1": 2},\n',
    ),
    Run(SCHEMAS, ("-m", "tests.vectors.schemas")),
    Run(GOLDENS, ("-m", "tests.vectors.goldens")),
    Edit(
        BYTES,
        f"{KEPT}/context.v1.jsonl",
        '{"downside":"5","downsideBasis":null,',
        '{"businessUnit":"Treasury","downside":"5","downsideBasis":null,"intendedUse":null,"materiality":null,'
        '"taskType":"contract","useCase":null}\n'
        '{"downside":"5","downsideBasis":null,',
    ),
    Edit(
        BYTES,
        f"{KEPT}/payload.case.received.v1.jsonl",
        '{"case":{"confidenceScore":"0.62",',
        '{"case":{"businessUnit":"Treasury","documents":[],"estimatedDownside":"5","question":"Sign as it is?",'
        '"taskType":"contract"},"kind":"case.received","subject":"u-1"}\n'
        '{"case":{"confidenceScore":"0.62",',
    ),
    Edit(
        SAID,
        "CHANGELOG.md",
        "### Added\n\n",
        "### Added\n\n- A case may say its business unit (`businessUnit`).\n",
    ),
)

NAMED = {
    REQUEST: ("Case has business_unit, which no field of CaseRequest gives",),
    LENGTH: ("add ['businessUnit'] to _case_texts", "service/intake/validation.py"),
    CASE: ("CaseRequest has business_unit, which reaches no member of Case",),
    CONTEXT: ("Unexpected keyword argument 'business_unit'",),
    WRITTEN: ("the maker of a context in service/reviews/opening.py leaves out business_unit",),
    VERIFIED: ("the maker of a context in service/verify/records.py leaves out business_unit",),
    EXPORT: ("add ['businessUnit'] at the end of COLUMNS in service/audit/export.py",),
    COLUMNS_KEPT: ("add businessUnit to the columns of this test, at the end",),
    TABLE: ("docs/audit.md, CSV: expected the columns in the order", "businessUnit"),
    REPORT: ("add a fact for ['business_unit'] to _circumstances in service/report/document/opening.py",),
    OPTION: ("add an option for ['businessUnit'] to service/cli/case_options.py",),
    VERSION: (
        'name context.v1 under 2 in "schemas/2" of SCHEMAS',
        'name payload.case.received.v1 under 2 in "schemas/2" of SCHEMAS',
    ),
    SCHEMAS: ("context.v1", "payload.case.received.v1", "python -m tests.vectors.schemas"),
    GOLDENS: ("schemas-2/schema.sha256 is missing", "python -m tests.vectors.goldens"),
    BYTES: ("businessUnit", f"{KEPT}/"),
}
"""What a run says where one step was left out. Nothing misses the line of the changelog, and the how-to says so."""

BEGUN = frozenset({REQUEST, CASE, CONTEXT})
"""What the half-made field has: as much as starts. One run lists the rest."""
