"""A toy wire: a vendor whose requests, answers and usage have a form of their own.

Half of it is its name in the closed list and its adapter; whole, it has all that docs/how-to/add-a-vendor.md lists.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.change.plain_files import change_in
from tests.change.tree import ROOT, Tree, copy

HERE = Path(__file__).parent / "wire"
HALF = change_in(HERE / "half")
WHOLE = [*HALF, *change_in(HERE / "whole")]
KEY = "toy-0123456789abcdef"
PLACES = (
    "service/policy/wires.py",
    "service/money/usage.py",
    "service/app.py",
    "docs/models.md",
    "tests/unit/money/test_settled.py",
    "tests/unit/policy/test_catalogue.py",
    "tests/end_to_end/vendors/adapters.py",
)
"""Where a wire has to be known, beside the list and its adapter."""


def test_half_of_it_does_not_start_and_one_run_of_the_tests_lists_every_place(tmp_path: Path) -> None:
    tree = copy(tmp_path / "tree")
    tree.apply(HALF)

    refused = tree.python("-m", "service", "gate", "--sample", "contract")
    listed = tree.pytest("--noconftest", "tests/unit/test_wires_complete.py")

    assert refused.code == 3
    assert re.fullmatch(
        r"gainsay: incomplete_wire: expected a row for each wire in the table of the layer \w+ \(service/\S+\.py\), "
        r"found none for: toy-wire; add it as docs/how-to/add-a-vendor\.md says\n",
        refused.output,
    )
    assert set(re.findall(r"^E +AssertionError: add them to (\S+)$", listed.output, re.MULTILINE)) == set(PLACES)
    assert "test_the_contract_of_adapters_names_each_module_that_holds_one" in listed.output


@contextmanager
def vendor(tree: Tree, log: Path) -> Iterator[str]:
    """The address of a vendor that speaks the wire, in a process of its own; the log has what it bills."""
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, str(HERE / "server.py.txt")], stdout=out, env=tree_env(tree))
    try:
        while not (told := log.read_text()).endswith("\n"):
            assert server.poll() is None
        yield f"http://127.0.0.1:{told.split()[0]}"
    finally:
        server.kill()
        server.wait()


def tree_env(tree: Tree) -> dict[str, str]:
    return {"PYTHONPATH": str(tree.folder), "PATH": "/usr/bin:/bin"}


def policy(url: str) -> str:
    """The shipped policy with the toy's models at every seat of an adversarial debate."""
    shipped = (ROOT / "service/gainsay.toml").read_text(encoding="utf-8")
    before = shipped.partition("[providers.offline]")[0]
    before, _, after = before.partition("[formats.auto]")  # whose formats need seats that are not filled here
    return before + after[after.index("\n[") :] + (HERE / "policy.toml.txt").read_text("utf-8").replace("URL", url)


@pytest.mark.timeout(180)
def test_whole_it_is_charged_by_its_own_usage_and_verifies(tmp_path: Path) -> None:
    tree = copy(tmp_path / "tree")
    tree.apply(WHOLE)
    bundle, log, rules = tmp_path / "toy.zip", tmp_path / "server.log", tmp_path / "policy.toml"
    own = {"GAINSAY_DATA_DIR": str(tmp_path / "data"), "GAINSAY_POLICY": str(rules), "TOY_KEY": KEY, "COLUMNS": "200"}

    with vendor(tree, log) as url:
        rules.write_text(policy(url), encoding="utf-8")
        page = tree.python("-m", "service", "review", "--sample", "contract", env=own)
    assert page.code == 0, page.output
    billed: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    debate = re.findall(r"gainsay report (\S+)", page.output)[0]

    key = tree.python("-m", "service", "audit", "key", "show", str(tmp_path / "data" / "keys" / "log.key"), env=own)
    written = tree.python("-m", "service", "audit", "bundle", debate, "-o", str(bundle), env=own)
    assert written.code == 0, written.output
    words = ("audit", "verify", str(bundle), "--key", key.output.split()[-1], "--allow-unwitnessed")
    verified = tree.python("-m", "service", *words)
    known = tree.pytest("tests/unit/test_wires_complete.py", "tests/unit/money/test_settled.py")

    assert known.code == 0, known.output
    cost = sum(bill["read"] + 4 * bill["wrote"] for bill in billed)  # micro-dollars: 1 and 4 dollars for a million
    assert len(billed) >= 5
    assert {bill["key"] for bill in billed} == {f"Bearer {KEY}"}
    assert (verified.code, verified.output.splitlines()[-1]) == (0, "VERIFIED, UNWITNESSED"), verified.output
    assert f"{len(billed)} charges by usage and price row, {cost / 1_000_000:.6f}".rstrip("0") in verified.output
