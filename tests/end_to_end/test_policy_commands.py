"""`gainsay policy init|check|show` as a newcomer calls them, up to a service that runs under their file."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from service.cli import exit_codes
from service.intake.deployments import deploy
from service.policy import encode_configuration
from service.policy.first import VENDORS
from service.policy.settings import read_settings
from tests.fixtures.postgres import Database
from tests.fixtures.serving import served

FIRST = ("policy", "init", "--vendor", "simulated")
OWN = ("policy", "init", "--vendor", "openai-compatible")


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in an empty environment and folder, as somebody has it who installed a wheel."""
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_first_policy_of_one_vendor_is_taken_at_the_first_try_and_told_what_it_lacks(tmp_path: Path) -> None:
    made = run(tmp_path, "policy", "init", "--vendor", "openai", "--out", "policy.toml")
    checked = run(tmp_path, "policy", "check", "policy.toml")
    with_key = run(tmp_path, "policy", "check", GAINSAY_POLICY="policy.toml", OPENAI_API_KEY="sk-s3cret")

    assert (made.returncode, checked.returncode, with_key.returncode) == (0, 0, 0), made.stderr + checked.stderr
    assert "export GAINSAY_POLICY=" in made.stdout
    assert (
        "warning: providers.openai.key: expected a secret in the variable OPENAI_API_KEY, found none" in checked.stdout
    )
    assert "at most MODERATE" in checked.stdout
    assert "OPENAI_API_KEY" not in with_key.stdout
    assert "s3cret" not in with_key.stdout + with_key.stderr


def test_the_commands_of_the_page_run_from_an_empty_folder(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "policy.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]

    ended = [run(tmp_path, *command.split()[1:]) for command in commands]

    assert [each.stderr for each in ended if each.returncode] == []
    assert {command.split()[2] for command in commands} == {"init", "check", "show", "schema"}
    schema = json.loads(next(each.stdout for each in ended if each.stdout.startswith("{")))
    assert schema == json.loads((root / "docs" / "schemas" / "policy-file.json").read_text("utf-8"))


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("mine", "utf-8")
    (tmp_path / "link.toml").symlink_to(tmp_path / "nowhere")

    for name in ("policy.toml", "link.toml"):
        ended = run(tmp_path, *FIRST, "--out", name)
        assert ended.returncode == exit_codes.USAGE
        assert "no file is overwritten" in ended.stderr
    assert (tmp_path / "policy.toml").read_text("utf-8") == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_key_that_is_given_by_mistake_is_neither_written_nor_shown(tmp_path: Path) -> None:
    ended = run(tmp_path, *OWN, "--key", "sk-s3cret", "--out", "policy.toml")

    assert ended.returncode == exit_codes.USAGE
    assert "s3cret" not in ended.stdout + ended.stderr
    assert not (tmp_path / "policy.toml").exists()


def test_options_of_a_server_of_ones_own_are_refused_where_they_would_be_ignored(tmp_path: Path) -> None:
    ended = run(tmp_path, *FIRST, "--family", "qwen", "--input-usd", "0")

    assert ended.returncode == exit_codes.USAGE
    assert "--family, --input-usd describe a server of your own" in ended.stderr
    assert "expected --vendor" in run(tmp_path, "policy", "init").stderr


def test_a_policy_that_is_not_there_is_refused_with_the_command_that_writes_one(tmp_path: Path) -> None:
    ended = run(tmp_path, "policy", "check", GAINSAY_POLICY="policy.toml")

    assert ended.returncode == exit_codes.USAGE
    assert "expected a policy file at policy.toml" in ended.stderr
    assert "`gainsay policy init` writes one" in ended.stderr


def test_every_fault_comes_at_once_with_exit_2(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(run(tmp_path, *OWN).stdout, "utf-8")

    ended = run(tmp_path, "policy", "check", "policy.toml")

    assert ended.returncode == exit_codes.USAGE
    assert ended.stderr.startswith("gainsay: bad_settings: policy.toml has 10 faults:\n")
    assert len(re.findall(r"^  line \d+: ", ended.stderr, re.MULTILINE)) == 10
    assert run(tmp_path, "policy", "show", "policy.toml").returncode == exit_codes.USAGE


def test_a_price_that_is_not_in_force_yet_is_a_fault_beside_the_others(tmp_path: Path) -> None:
    text = run(tmp_path, *FIRST).stdout.replace('"2026-01-01"', '"2999-01-01"', 1).replace('"1.50"', '"99.00"', 1)
    (tmp_path / "policy.toml").write_text(text, "utf-8")

    ended = run(tmp_path, "policy", "check", "policy.toml")

    assert "has 2 faults" in ended.stderr
    assert "expected a price in force on" in ended.stderr


def test_old_prices_are_told(tmp_path: Path) -> None:
    run(tmp_path, "policy", "init", "--vendor", "anthropic", "--out", "policy.toml")

    told = run(tmp_path, "policy", "check", "policy.toml", "--price-age", "0").stdout

    assert "warning: models.claude-sonnet: its price is of 2026-11-21" in told


async def test_what_is_shown_is_what_runs_is_served_and_is_approved(database: Database, tmp_path: Path) -> None:
    run(tmp_path, *FIRST, "--out", "policy.toml")
    path = tmp_path / "policy.toml"
    shown = await asyncio.to_thread(run, tmp_path, "policy", "show", "policy.toml")
    (tmp_path / "whole.toml").write_text(shown.stdout, "utf-8")
    hash_ = shown.stdout.split()[2]

    async with served(database.service_url, work=False, sequence=False, GAINSAY_POLICY=str(path)) as site:
        answer = (await site.http.get("/v1/policy")).json()

    assert answer["hash"] == hash_
    assert answer["gate"]["factor"] == 50
    short, whole = (deploy(read_settings({"GAINSAY_POLICY": str(p)})) for p in (path, tmp_path / "whole.toml"))
    assert short.policy.gate.hash == hash_
    assert short.configuration == whole.configuration
    assert encode_configuration(short.policy, short.prompts.pin) == short.configuration
    assert hash_.encode() in short.configuration


def test_the_fragments_of_first_policies_are_in_a_wheel(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    from hatchling.builders.wheel import WheelBuilder

    made = next(WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"]))

    names = zipfile.ZipFile(made).namelist()
    assert {f"service/policy/first/{name}.toml" for name in VENDORS} <= set(names)
    assert "service/gainsay.toml" in names
