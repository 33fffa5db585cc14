"""Run a case through the commands in this process, and print each step as a line of JSON: what a test reads.

old FOLDER        review a sample and write FOLDER/old.zip
later FOLDER      the same as FOLDER/later.zip, by a build that has one more version of the critique check
new FOLDER        the same as FOLDER/new.zip with a business unit, and FOLDER/new.jsonl; verify the bundles of all three
counted           count a recorded debate in which an argument was struck, and print the metrics
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VERSIONS = "service.checks.judgement"


def call(*words: str) -> str:
    """Call a command and print what came of it; returns its output."""
    from service.cli import main

    written = io.BytesIO()
    out = io.TextIOWrapper(written, "utf-8", write_through=True)
    with contextlib.redirect_stdout(out):
        code = main([*words])
    said = written.getvalue().decode()
    print(json.dumps({"words": words, "code": code, "out": said}))  # noqa: T201 - read by the test
    return said


def review(bundle: Path, *words: str) -> str:
    """Review the sample, write its bundle and return its debate."""
    debate = json.loads(call("review", "--sample", "contract", "--json", *words))["debateId"]
    call("audit", "bundle", debate, "--out", str(bundle))
    return str(debate)


def main(words: Sequence[str]) -> int:
    """Do one of the parts."""
    match words:
        case ["old", folder]:
            review(Path(folder) / "old.zip")
        case ["later", folder]:
            # Before anything has asked for the newest version.
            rules: Any = importlib.import_module(VERSIONS)
            rules.CRITIQUES = {**rules.CRITIQUES, "judgement/3": rules.CRITIQUES["judgement/2"]}
            review(Path(folder) / "later.zip")
        case ["new", folder]:
            debate = review(Path(folder) / "new.zip", "--business-unit", "Treasury")
            call("report", debate, "--markdown")
            call("audit", "export", "--format", "csv")
            call("audit", "export", "--out", f"{folder}/new.jsonl")
            for name in ("old", "later", "new"):
                pins = ("--allow-unsigned", "--allow-unwitnessed")
                call("audit", "verify", f"{folder}/{name}.zip", *pins)
            counted()
    return 0


def counted() -> None:
    """Print the metrics of this process."""
    from prometheus_client import generate_latest

    from service.telemetry import REGISTRY

    print(json.dumps({"words": ["metrics"], "code": 0, "out": generate_latest(REGISTRY).decode()}))  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
