"""What docs/verification.md tells an examiner to type: the lines for Linux run, and those for others say the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUNDLES = ROOT / "tests" / "vectors" / "bundles"
_, _, _REST = (ROOT / "docs" / "verification.md").read_text("utf-8").partition("## On an examiner's machine\n")
SECTION = re.split(r"^## ", _REST, maxsplit=1, flags=re.MULTILINE)[0]
WINDOWS_HAS_NONE = ("fcntl", "grp", "pwd", "resource", "termios", "uvloop")
WITHOUT = """
import sys
for name in {names}:
    sys.modules[name] = None
from service.cli import main
sys.exit(main(sys.argv[1:]))
"""


def block(shell: str) -> list[str]:
    (found,) = re.findall(rf"^```{shell}(?: not-run: system)?\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    return str(found).splitlines()


def key(name: str) -> str:
    return (BUNDLES / name).read_text("ascii").strip()


def test_the_lines_for_linux_lead_to_a_certificate(tmp_path: Path) -> None:
    """All but what pip installs, which is what this test runs in."""
    if not shutil.which("bash"):
        pytest.skip("no bash here")
    shutil.copy(BUNDLES / "witnessed.zip", tmp_path / "bundle.zip")
    shutil.copy(ROOT / "requirements.txt", tmp_path)
    (tmp_path / "gainsay-0-py3-none-any.whl").write_bytes(b"")
    lines = [line for line in block("sh") if "/pip " not in line and " venv " not in line]
    script = "\n".join(lines).replace("verifier/bin/", f"{Path(sys.executable).parent}/")
    for name in ("log.vkey", "witness.vkey"):  # the examiner's own hand
        script = script.replace("name+id+base64", key(name), 1)

    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)

    out = done.stdout.decode()
    assert len(lines) == 4
    assert f"{sha256((tmp_path / 'bundle.zip').read_bytes()).hexdigest()}  bundle.zip\n" in out
    assert out.endswith("\nVERIFIED\n0\n"), out + done.stderr.decode()
    assert (tmp_path / "certificate.pdf").read_bytes().startswith(b"%PDF-")


def test_macos_and_windows_are_told_the_same() -> None:
    def commands(shell: str) -> list[str]:
        lines = (line for line in block(shell) if "gainsay audit" in line or "/pip" in line or "\\pip" in line)
        return [
            line.replace("verifier\\Scripts\\", "verifier/bin/").replace("(Get-Item gainsay-*.whl)", "gainsay-*.whl")
            for line in lines
        ]

    assert len(commands("sh")) == 3
    assert commands("sh") == commands("zsh") == commands("powershell")
    (keys,) = [line for line in block("sh") if line.startswith("KEY=")]
    assert keys in block("zsh")
    assert f"${keys}".replace("=", " = ").replace("WITNESS", "$WITNESS") in block("powershell")
    hashed = [line.split()[2] for line in block("powershell") if line.startswith("certutil ")]
    assert len(hashed) == len(block("sh")[0].split()[1:])


def test_every_locked_library_has_a_hash_and_none_is_for_posix_alone() -> None:
    parts = re.split(r"^(?=[A-Za-z0-9])", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)[1:]

    assert [part.splitlines()[0] for part in parts if "--hash=sha256:" not in part] == []
    (uvloop,) = [part for part in parts if part.startswith("uvloop==")]
    assert "sys_platform != 'win32'" in uvloop.splitlines()[0]


@pytest.mark.parametrize("form", ["json", "pdf"])
def test_a_certificate_needs_no_module_that_windows_lacks(tmp_path: Path, form: str) -> None:
    out = tmp_path / f"certificate.{form}"
    arguments = ["audit", "verify", str(BUNDLES / "declined.zip"), "--key", key("log.vkey"), "--allow-unwitnessed"]
    program = WITHOUT.format(names=WINDOWS_HAS_NONE)

    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--out", str(out)], cwd=ROOT, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert out.stat().st_size > 1_000
