"""The certificate says what the command found, in both forms, and is written beside nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from service.audit.bundle import pack, unpack
from service.cli.audit import verify as command
from service.cli.audit.compare import compare
from service.cli.audit.verify import verify
from service.report import sent
from service.report.document import pdf
from service.report.document.blocks import Banner, Block, FactList, ReportBlocks
from tests.fixtures.bundles import rehashed

BUNDLES = Path(__file__).resolve().parents[2] / "vectors" / "bundles"
FILE = BUNDLES / "declined.zip"
HEAVY = ("psycopg", "httpx", "litestar", "service.app", "service.store")
KEY = ["--key", (BUNDLES / "log.vkey").read_text("ascii").strip()]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(verify, [*map(str, arguments), *KEY], standalone_mode=False)


def test_a_certificate_has_the_file_the_keys_and_every_step(tmp_path: Path) -> None:
    out = tmp_path / "certificate.json"
    said: dict[str, Any] = json.loads(run(FILE, "--json", "--allow-unwitnessed").output)

    done = run(FILE, "--allow-unwitnessed", "--out", out)
    found = json.loads(out.read_text("ascii"))

    assert done.return_value == found["exit"] == said["exit"]
    same = {name: found[name] for name in ("verdict", "result", "kind", "exit", "about", "steps", "left", "words")}
    assert msgspec.json.decode(sent.encode(same)) == said  # which leaves out what has nothing to say
    assert found["file"] == {
        "name": "declined.zip",
        "bytes": FILE.stat().st_size,
        "sha256": sha256(FILE.read_bytes()).hexdigest(),
    }
    assert (found["keys"], found["witnesses"], found["quorum"], found["allowed"]) == (KEY[1:], [], 0, ["unwitnessed"])
    assert len(found["verifierBuild"]) == 64


def empty(found: Any) -> bool:
    """Whether a value, or one within it at any depth, has nothing to say."""
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return found in (None, "", [], {}) or any(map(empty, inner))


def test_neither_command_prints_a_member_that_has_nothing_to_say() -> None:
    unkeyed = CliRunner().invoke(verify, [str(FILE), "--json", "--all"], standalone_mode=False)
    pair = CliRunner().invoke(compare, [str(FILE), str(BUNDLES / "panel.zip"), "--json"], standalone_mode=False)

    for shown in (run(FILE, "--json"), unkeyed, pair):
        told: dict[str, Any] = json.loads(shown.output)
        assert not empty(told), told
        assert (told["exit"], bool(told["steps"])) == (shown.return_value, True)


def test_a_file_that_fails_has_a_certificate_that_says_so(tmp_path: Path) -> None:
    forged, out = tmp_path / "forged.zip", tmp_path / "certificate.pdf"
    forged.write_bytes(FILE.read_bytes()[:-1])

    done = run(forged, "--out", out)

    assert (done.return_value, out.read_bytes()[:5]) == (1, b"%PDF-")


WITNESS = ("--witness", (BUNDLES / "witness.vkey").read_text("ascii").strip())
RESULTS: list[tuple[tuple[str | Path, ...], str]] = [
    ((FILE, "--allow-unwitnessed"), "VERIFIED, UNWITNESSED"),
    ((FILE,), "NOT ALL CHECKABLE: 3 witnesses, 14 times"),
    ((BUNDLES / "panel.zip", "--report", BUNDLES / "declined.pdf"), "FAILED: the report given with --report is not"),
    ((BUNDLES / "witnessed.zip", *WITNESS), "VERIFIED"),
]


@pytest.mark.parametrize(("arguments", "says"), RESULTS)
def test_the_result_is_the_last_line_of_the_terminal(
    arguments: tuple[str | Path, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = blocks(monkeypatch)
    last = run(*arguments, "--out", tmp_path / "c.pdf").output.splitlines()[-1]
    run(*arguments, "--out", tmp_path / "c.json")

    assert last.startswith(says)
    assert json.loads((tmp_path / "c.json").read_text("ascii"))["result"] == last
    assert [block.title for block in drawn if isinstance(block, Banner)] == [last]


def blocks(monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    """The blocks of the PDF that the command writes."""
    found: list[Block] = []
    original = pdf.write

    def write(report: ReportBlocks) -> bytes:
        found.extend(report.blocks)
        return original(report)

    monkeypatch.setattr(pdf, "write", write)
    return found


def rows(drawn: list[Block]) -> dict[str, str]:
    """The rows on the file and the keys."""
    return {fact.term: fact.value for block in drawn if isinstance(block, FactList) for fact in block.rows}


def test_a_wrong_report_beside_a_sound_bundle_does_not_say_that_the_file_is_forged() -> None:
    wrong, sound = ("--report", BUNDLES / "declined.pdf"), BUNDLES / "witnessed.zip"
    begins = "FAILED: the report given with --report is not the one of this file; "

    assert run(sound, *WITNESS, *wrong).output.splitlines()[-1] == f"{begins}every other step is OK"
    gaps = "of the other steps none failed, and these could not be checked: 3 witnesses, 11 lines, 14 times"
    assert run(sound, *wrong).output.splitlines()[-1] == f"{begins}{gaps}"


def test_a_forged_bundle_with_a_wrong_report_says_that_the_file_fails(tmp_path: Path) -> None:
    forged, content = tmp_path / "forged.zip", unpack((BUNDLES / "panel.zip").read_bytes())
    forged.write_bytes(pack(rehashed(content, {**content.files, "policy.json": b"{}"})))

    last = run(forged, "--all", "--report", BUNDLES / "declined.pdf").output.splitlines()[-1]

    assert last.startswith("FAILED: step ")
    assert "every other step" not in last


def test_the_certificate_names_the_report_that_was_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, report = blocks(monkeypatch), BUNDLES / "declined.pdf"
    digest, size = sha256(report.read_bytes()).hexdigest(), report.stat().st_size

    run(FILE, "--report", report, "--out", tmp_path / "with.json")
    run(FILE, "--report", report, "--out", tmp_path / "with.pdf")
    run(FILE, "--out", tmp_path / "without.json")

    found = json.loads((tmp_path / "with.json").read_text("ascii"))
    assert found["report"] == {"name": "declined.pdf", "bytes": size, "sha256": digest}
    assert rows(drawn)["Report compared"] == f"declined.pdf, {size} bytes, SHA-256 {digest}"
    assert json.loads((tmp_path / "without.json").read_text("ascii"))["report"] is None


def test_the_signed_times_and_the_keys_are_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(witness\.example\)"
    tolerance = r"\(witnesses sign whole seconds; \d+ s of tolerance\)"
    drawn = blocks(monkeypatch)

    said = run(BUNDLES / "witnessed.zip", *WITNESS, "--out", tmp_path / "witnessed.pdf").output.splitlines()
    seen = rows(drawn)
    drawn.clear()
    run(FILE, "--out", tmp_path / "none.pdf")

    assert re.fullmatch(f"between {time} and {time}, as witnesses signed {tolerance}", seen["Recorded"])
    assert said[1] == f"recorded {seen['Recorded']}"
    assert re.search(f"its records say .*Z to .*Z {tolerance}$", next(line for line in said if line[:2] == "14"))
    assert rows(drawn)["Recorded"] == "at no time that a pinned witness or authority signed"
    assert rows(drawn)["Pinned key (of a log or an approver)"] == KEY[1]
    assert not any("recorded {" in value or "None" in value for value in rows(drawn).values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((FILE, "--out", "certificate.txt"), "ends in .json or .pdf"),
        (("-", "--out", "certificate.json"), "not standard input"),
        ((FILE, "--out", "there.json"), "there.json exists"),
    ],
)
def test_what_cannot_be_certified_is_usage(
    arguments: tuple[str | Path, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.json").write_text("precious")

    done = run(*arguments)

    assert says in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]


def test_a_file_that_changes_meanwhile_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = tmp_path / "bundle.zip", tmp_path / "certificate.json"
    file.write_bytes(FILE.read_bytes())
    original = command._report

    def report(*arguments: Any) -> Any:
        file.write_bytes(b"another")
        return original(*arguments)

    monkeypatch.setattr(command, "_report", report)

    done = run(file, "--out", out)

    assert "was changed while it was verified" in str(done.exception)
    assert not out.exists()


def test_a_certificate_is_written_without_a_database_and_without_http(tmp_path: Path) -> None:
    call = f"main(['audit', 'verify', {str(FILE)!r}, '--allow-unwitnessed', *{KEY!r}, '--out', 'c.json'])"
    code = f"import sys; from service.cli import main; {call}; print([m for m in {HEAVY!r} if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "c.json").exists()
