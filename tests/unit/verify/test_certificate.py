"""The certificate says what the command found, in both forms, and is written beside nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from service.cli.audit import verify as command
from service.cli.audit.compare import compare
from service.cli.audit.verify import verify
from service.report import sent

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
    same = {name: found[name] for name in ("verdict", "kind", "exit", "about", "steps", "left", "words")}
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
