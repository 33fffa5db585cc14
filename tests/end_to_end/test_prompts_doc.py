"""What docs/prompts.md shows is done here, in its order: a prompt is changed, pinned and approved."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from service.audit.note import SigningKey
from service.cli import main
from service.prompts import DIRECTORY
from tests.fixtures.policies import changed, policy_file
from tests.fixtures.running import repository
from tests.fixtures.secret_files import write_secret

PAGE = (repository() / "docs" / "prompts.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines()]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the prompts, as a checkout has them, and a policy that asks for an approval."""
    prompts = tmp_path / "service" / "prompts"
    shutil.copytree(DIRECTORY, prompts, ignore=shutil.ignore_patterns("__pycache__"))
    key = SigningKey.from_seed("model-risk.example", b"a" * 32)
    write_secret(tmp_path / "approver.key", f"{key.encode()}\n")
    approval = {"key": key.public.encode(), "required": True}
    for module in ("service.cli.prompts.DIRECTORY", "service.prompts.manifest.DIRECTORY", "service.prompts.DIRECTORY"):
        monkeypatch.setattr(module, prompts)
    monkeypatch.setenv("GAINSAY_POLICY", str(policy_file(tmp_path, **changed("approval", to=approval))))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_prompt_is_changed_pinned_and_approved(desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = {}
    for line in LINES:
        if line.startswith("gainsay "):
            command, _, file = line.partition(" > ")
            assert main(shlex.split(command)[1:]) == 0, capfd.readouterr().err
            said[command] = capfd.readouterr().out
            if file:
                Path(file).write_text(said[command])
        else:
            subprocess.run(["sh", "-euc", line], check=True)

    pins = [Path(name).read_text().splitlines()[-1] for name in ("before.txt", "after.txt")]
    assert pins[0] != pins[1]
    assert all(pin.startswith("GAINSAY_PROMPTS_PIN=") for pin in pins)
    assert "critic v2" in said["gainsay prompts pin"]
    assert pins[1].partition("=")[2] in said["gainsay prompts pin"]
    assert (desk / "approval.txt").read_text()
