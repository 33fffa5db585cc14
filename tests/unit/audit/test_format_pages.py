"""The tables of docs/format name what the code has: steps, columns, blocks, engines, entries; and the schemas hold."""

from __future__ import annotations

import ast
import inspect
import json
import re
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, ValidationError

from service.audit import evaluation_bundle, export, pack
from service.checks.hedges import HEDGES
from service.cli.audit.verify import tools, verify
from service.debate import entries, kernel
from service.debate.replies import REPLY_TYPES
from service.verify.bundle import verify_bundle
from service.verify.checks import ENGINES
from service.verify.export import verify_export
from service.verify.pack import verify_pack
from service.verify.steps import Trust, VerificationReport
from tests.fixtures.bundles import LOG_KEY
from tests.fixtures.sealing import BUNDLES, Recorded, exported
from tests.vectors import published
from tests.vectors.format import FOLDER as VECTORS
from tests.vectors.goldens import FOLDER as GOLDENS
from tests.vectors.goldens import stored

DOCS = VECTORS.parent
ROOT = DOCS.parents[1]
TRUST = Trust(keys=(LOG_KEY.public,), allow_unwitnessed=True)
Row = tuple[str, ...]


def tables(page: str, heading: str) -> list[list[Row]]:
    """The tables under a heading of a page, without their heads, each cell as it stands."""
    _, found, text = (DOCS / page).read_text("utf-8").partition(f"## {heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    part = re.split(r"^#+ ", text, flags=re.MULTILINE)[0]
    blocks = re.findall(r"(?:^\|.*\n)+", part, re.MULTILINE)
    return [rows_of(block) for block in blocks]


def rows_of(block: str) -> list[Row]:
    """The rows of a table behind its head."""
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in block.splitlines()[2:]]


def words(cell: str) -> list[str]:
    """What stands in a cell between backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def named(rows: list[Row], column: int = 0) -> list[str]:
    """The words of one column."""
    return [word for row in rows for word in words(row[column])]


# -- steps


def steps(report: VerificationReport) -> list[tuple[str, str]]:
    return [(str(step.number), step.name) for step in report.steps]


def test_every_step_has_its_number_and_its_part() -> None:
    whole = (BUNDLES / "declined.zip").read_bytes()
    bundle = verify_bundle(whole, TRUST, tools(), every=True, shown=(BUNDLES / "declined.pdf").read_bytes())
    lines = exported(Recorded("declined.zip")).splitlines(keepends=True)
    records = verify_export(iter(lines), TRUST, every=True)

    parts = {row[0]: row[1] for row in tables("README.md", "Integrity, and what has to be computed again")[0]}
    both = {f"{number} {name}": part for number, name, part, _ in tables("steps.md", "A bundle")[0]}

    assert [row[:2] for row in tables("steps.md", "A bundle")[0]] == steps(bundle)
    assert [row[:2] for row in tables("steps.md", "An export")[0]] == steps(records)
    assert {step: part.partition(":")[0] for cell, part in parts.items() for step in cell.split(", ")} == both


def test_a_pack_has_the_steps_that_its_page_numbers() -> None:
    tree = ast.parse(inspect.getsource(verify_pack))
    pairs = [node.elts[0] for node in ast.walk(tree) if isinstance(node, ast.Tuple)]
    names = [first.value for first in pairs if isinstance(first, ast.Constant)]
    found = [row[:2] for row in tables("pack.md", "The steps")[0]]

    assert found == [(str(n), name) for n, name in enumerate(names, 1)]
    said = re.search(r"1 file.*5 table", (DOCS / "steps.md").read_text())
    assert said is not None
    assert said[0] == ", ".join(" ".join(row) for row in found)


# -- words


def test_the_words_of_an_evaluation_are_on_its_page() -> None:
    (block,) = re.findall(r"```text\n(.*?)```", (DOCS / "evaluation.md").read_text("utf-8"), re.DOTALL)
    given = {"evaluation": "01890a5d-ac96-774b-bcce-b302099a8057", "log": "localhost/default/1"}
    assert str(block).format(**given).encode() == evaluation_bundle.readme(*given.values())


def test_the_words_of_a_pack_are_on_its_page() -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```$", (DOCS / "pack.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)

    for inputs in (("default", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"), ("a-b", "x", "y")):
        given = dict(zip(("tenant", "since", "until"), inputs, strict=True))
        assert str(block).format(**given).encode() == pack.readme(*inputs)


# -- tables


def test_the_columns_are_those_of_pack_and_export() -> None:
    assert named(tables("pack.md", "The rows")[0]) == [*pack.COLUMNS]
    assert set(named(tables("export.md", "As a table")[0])) == {*export.COLUMNS}


def test_the_hedges_are_those_of_the_gate() -> None:
    rows = tables("gate.md", "Hedging")[0]

    assert named(rows) == [*HEDGES]
    assert [bool(row[1:] and row[1]) for row in rows] == [bool(unless) for unless in HEDGES.values()]


def test_every_entry_says_what_it_may_follow() -> None:
    kinds = [kind.__struct_config__.tag for kind in get_args(entries.Entry)]
    follow, stops = tables("moves.md", "Which entry may follow")

    assert sorted(named(follow)) == sorted(kinds)
    assert {row[0].strip("`"): tuple(words(" ".join(row[1:]))) for row in stops} == kernel._STOPS


def test_every_reply_has_a_seat_that_is_asked_for_it() -> None:
    rows = tables("moves.md", "Turns")[0]
    asked = {word for row in rows for word in (words(row[0]) if "named" in row[1] else words(row[1]))}

    assert asked == {*REPLY_TYPES}


def test_every_format_has_its_course() -> None:
    assert [words(row[0])[0] for row in tables("moves.md", "The order of a debate")[0]] == [*kernel.FORMATS]


def blocks_of_prompts() -> Iterator[str]:
    """The kinds of blocks that the code of layouts writes."""
    for path in (ROOT / "service" / "prompts").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Block":
                kind = node.args[0]
                yield from [str(kind.value)] if isinstance(kind, ast.Constant) else ["statement", "own-statement"]


def test_every_block_of_a_request_is_on_its_page() -> None:
    case, turn, seen = tables("requests.md", "Blocks")
    listed = {*named(case), *named(turn), *named(seen, 1)}

    assert listed == {*blocks_of_prompts()}


def test_every_engine_and_every_golden_file_is_named() -> None:
    rows, goldens = engines()
    found = {words(row[0])[0]: words(row[1])[0] for row in rows}
    patterns = named(goldens)

    assert found == {kind: next(iter(names)).partition("+")[0] for kind, names in ENGINES.items()}
    lines = [name for name in stored() if name.endswith(".jsonl") and not name.startswith("policy-")]
    assert [name for name in lines if not any(fnmatch(name, pattern) for pattern in patterns)] == []
    assert [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in lines)] == []
    assert [name for name in named(goldens, 2) if not (GOLDENS / name).is_file()] == []


def engines() -> tuple[list[Row], list[Row]]:
    """The table of engines, and that of golden files."""
    text = (DOCS / "engines.md").read_text("utf-8")
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    first, second = (rows_of(block) for block in blocks)
    return first, second


def test_every_page_and_every_file_of_vectors_is_listed() -> None:
    pages = set(re.findall(r"\]\((\w+\.md)\)", (DOCS / "README.md").read_text()))
    listed = set(re.findall(r"`(\w+\.json)`", (VECTORS / "README.md").read_text()))

    assert pages == {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert listed == {path.name for path in VECTORS.glob("*.json")}


# -- engines over the recorded bundles


def test_the_findings_are_those_of_the_bundles() -> None:
    for case in json.loads((VECTORS / "findings.json").read_text()):
        record = Recorded(case["bundle"]).payloads[case["record"]]
        assert (record["engine"], record["check"], record["finding"]) == (
            case["engine"],
            case["check"],
            case["finding"],
        )


# -- schemas


def validator(name: str, folder: Path = published.FOLDER) -> Draft202012Validator:
    found = json.loads((folder / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def test_the_schemas_are_what_the_types_say() -> None:
    assert {path.name: path.read_text("utf-8") for path in published.FOLDER.iterdir()} == published.files()


def schema_of(name: str) -> str | None:
    """The schema of a file of a bundle; ``None`` for one that is no JSON, or is one of its own."""
    last = name.rpartition("/")[2]
    fixed = {
        "manifest.json": "manifest.v2",
        "context.json": "context.v1",
        "documents/index.json": "documents.v1",
        "policy.json": "policy.v1",
        "configuration.json": "configuration.v1",
        "prompts/manifest.json": "prompts.v1",
    }
    if name in fixed or not name.endswith(".json") or name.startswith(("schema/", "prompts/")):
        return fixed.get(name)
    return "leaf.v2" if last.endswith(".leaf.json") else "payload"


@pytest.mark.parametrize("path", sorted(BUNDLES.glob("*.zip")), ids=lambda path: path.stem)
def test_every_json_file_of_a_bundle_has_a_schema_that_it_fits(path: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    own = tmp_path / "schema"
    own.mkdir()
    for name, content in files.items():
        if name.startswith("schema/"):
            (own / name.rpartition("/")[2]).write_bytes(content)
    known: dict[str, Draft202012Validator] = {}
    for name, content in files.items():
        if (form := schema_of(name)) is None:
            assert not name.endswith(".json") or name.startswith(("schema/", "prompts/")), name
            continue
        value = json.loads(content)
        form = f"payload.{value['kind']}.v1" if form == "payload" else form
        if form not in known:
            folder = published.FOLDER if (published.FOLDER / f"{form}.json").is_file() else own
            known[form] = validator(form, folder)
        known[form].validate(value)


def test_every_line_of_an_export_fits_its_schema() -> None:
    first, *rows, last = [json.loads(line) for line in exported(Recorded("declined.zip")).splitlines()]

    validator("export.first.v1").validate(first)
    for row in rows:
        validator("export.record.v1").validate(row)
    validator("export.last.v1").validate(last)


def test_a_summary_fits_its_schema() -> None:
    counts = pack.PackCounts(1, {"declined": 1}, 0)
    log = pack.PackedLog("localhost/default/1", 0, 3, "aa" * 32)
    summary = pack.Summary(
        tenant="default",
        since="2026-01-01T00:00:00Z",
        until="2026-02-01T00:00:00Z",
        logs=(log,),
        counts=counts,
        files={"README.txt": "bb" * 32},
    )

    validator("pack.summary.v1").validate(json.loads(pack.encode_summary(summary)))


def test_a_certificate_fits_its_schema(tmp_path: Path) -> None:
    out = tmp_path / "certificate.json"
    arguments = [str(BUNDLES / "declined.zip"), "--key", (BUNDLES / "log.vkey").read_text().strip(), "--out", str(out)]
    CliRunner().invoke(verify, arguments, standalone_mode=False)
    certificate: dict[str, Any] = json.loads(out.read_text())

    validator("certificate.v1").validate(certificate)
    table = tables("pack.md", "The certificate")[0]
    assert named(table) == [*certificate]
    for name in certificate:
        with pytest.raises(ValidationError):
            validator("certificate.v1").validate({**certificate, name: 7.5})
        with pytest.raises(ValidationError):
            validator("certificate.v1").validate({one: certificate[one] for one in certificate if one != name})


def test_a_certificate_with_pinned_periods_and_a_report_fits_its_schema(tmp_path: Path) -> None:
    """The members that are empty or null where nothing limits a key and no report is given."""
    out, pins = tmp_path / "certificate.json", tmp_path / "keys.toml"
    pins.write_text(f'[[audit.keys]]\nkey = "{(BUNDLES / "log.vkey").read_text().strip()}"\nuse = "log"\n')
    arguments = [str(BUNDLES / "declined.zip"), "--keys", str(pins), "--report", str(BUNDLES / "declined.pdf")]

    CliRunner().invoke(verify, [*arguments, "--out", str(out)], standalone_mode=False, catch_exceptions=False)

    certificate = json.loads(out.read_text())
    assert (certificate["report"]["name"], [*certificate["periods"].values()]) == ("declined.pdf", ["for logs"])
    validator("certificate.v1").validate(certificate)
