"""`gainsay audit verify --report`: what a person holds is compared with a recorded bundle, in the command too."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from service.audit.bundle import unpack
from service.cli import main
from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from service.verify.steps import Tools, Trust, VerificationStep
from tests.fixtures.bundles import TOOLS, rehashed, verify
from tests.unit.verify.test_recorded_bundles import FORGED, TRUST, VECTORS, data, draft

KEYS = ("--key", (VECTORS / "log.vkey").read_text().strip(), "--allow-unwitnessed")
PDF = (VECTORS / "declined.pdf").read_bytes()


def run(bundle: str, report: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["audit", "verify", str(VECTORS / f"{bundle}.zip"), "--report", str(report), *KEYS])
    return code, capsys.readouterr().out


def shown(used: Tools, report: bytes) -> VerificationStep:
    return verify_bundle(data("declined"), TRUST, used, shown=report).steps[-1]


@pytest.mark.parametrize("name", ["report.md", "report.html", "report.pdf"])
def test_the_command_knows_a_report_and_refuses_an_edited_one(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = PDF if name == "report.pdf" else unpack(data("declined")).files[name]
    genuine, edited = tmp_path / name, tmp_path / f"edited-{name}"
    genuine.write_bytes(content)
    edited.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])

    code, said = run("declined", genuine, capsys)
    assert (code, said.splitlines()[-2].split()[:3]) == (0, ["26", "shown", "OK"])
    code, said = run("declined", edited, capsys)
    assert (code, said.splitlines()[-1].partition(":")[0]) == (1, "FAILED")
    last = "the report given with --report is not the one of this file; every other step is OK"
    assert said.splitlines()[-1] == f"FAILED: {last}, or accepted by an option: UNWITNESSED"


@pytest.mark.parametrize("name", ["declined", "witnessed"])
def test_a_pdf_that_was_issued_before_its_bundle_is_known(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pinned = ["--witness", (VECTORS / "witness.vkey").read_text().strip()] if name == "witnessed" else KEYS[2:]
    report = ("--report", str(VECTORS / f"{name}.pdf"))

    code = main(["audit", "verify", str(VECTORS / f"{name}.zip"), *report, *KEYS[:2], *pinned])

    said = capsys.readouterr().out.splitlines()
    assert (code, said[-2].split()[:3]) == (0, ["26", "shown", "OK"])


def test_a_report_of_another_debate_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pdf, page = tmp_path / "r.pdf", tmp_path / "r.html"
    pdf.write_bytes(PDF)
    page.write_bytes(unpack(data("declined")).files["report.html"])

    code, said = run("adversarial", pdf, capsys)
    assert code == 1
    assert "The PDF was never issued for this debate, was changed since, or was issued after this bundle" in said
    code, said = run("adversarial", page, capsys)
    assert (code, "report.html for a4 by report/1" in said) == (1, True)


def test_a_report_is_refused_beside_a_file_of_no_single_debate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "export.jsonl"
    lines.write_bytes(b"{}\n")
    (tmp_path / "r.md").write_bytes(b"# r")

    code = main(["audit", "verify", str(lines), "--report", str(tmp_path / "r.md"), *KEYS])

    assert code == 2
    assert "compares a report with the bundle of its debate" in capsys.readouterr().err


def test_what_cannot_be_written_again_is_not_checkable_and_a_pdf_still_is() -> None:
    later = Tools(TOOLS.ready, {}, TOOLS.schemas)

    assert shown(later, b"# Record").state == "NOT CHECKABLE"
    assert shown(later, PDF).state == "OK", "its hash is in the log, whatever this build can write"


def test_a_report_by_a_later_build_under_later_schemas_is_not_checkable_and_never_failed() -> None:
    """Its records may have members that this build does not know, and so may its report."""
    named = draft("declined").change(1, lambda entry: entry["versions"].update(schemas="schemas/9"))
    bundle = named.change(1, lambda entry: entry.update(mood="calm")).bundle()

    for report in (b"# Another record", b"<html>another</html>"):
        found = verify(bundle, FORGED, tools(), shown=report).steps[-1]

        assert (found.name, found.state) == ("shown", "NOT CHECKABLE")
        assert "schemas/9" in found.detail
        known = verify(draft("declined").bundle(), FORGED, tools(), shown=report).steps[-1]
        assert (known.name, known.state) == ("shown", "FAILED")


def test_a_report_of_a_debate_whose_payload_is_gone_cannot_be_written_again() -> None:
    erased = draft("declined").bundle()
    files = {**erased.files, "records/0001.payload.json": b"{}"}

    found = verify(rehashed(erased, files), FORGED, TOOLS, shown=b"# Record of a declined case")

    assert found.steps[-1].state == "NOT CHECKABLE"


def test_a_bundle_without_issued_records_verifies() -> None:
    found = verify_bundle(data("adversarial"), TRUST, TOOLS, every=True).steps

    assert [step.detail for step in found if step.name == "issued"] == [
        "no PDF of this debate is recorded as issued here"
    ]


def test_without_a_pinned_key_a_pdf_is_only_recorded_by_the_file() -> None:
    """Who forges a file writes the record of a PDF, too."""
    step = verify_bundle(data("declined"), Trust(allow_unsigned=True), tools(), shown=PDF).steps[-1]

    assert step.detail.startswith("this file records this PDF as issued (record ")
    assert step.detail.endswith("; no pinned key vouches for that record")
    assert shown(tools(), PDF).detail.startswith("this PDF was issued: record ")


def test_a_pdf_that_no_record_has_is_explained() -> None:
    step = shown(tools(), PDF + b"%")

    assert step.state == "FAILED"
    assert step.detail.startswith("no record in this bundle has the SHA-256 of this PDF. The PDF was never issued")
    assert "(then get a new bundle): expected one of those recorded as issued (" in step.detail
    assert (step.found, sha256(PDF).hexdigest() in (step.expected or "")) == (sha256(PDF + b"%").hexdigest(), True)
