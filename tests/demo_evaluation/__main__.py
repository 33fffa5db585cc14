"""Measure simulated models with known faults over the shipped sets: ``make demo-evaluation``.

Each plan of examples/evaluation is run by the commands that a user has, on an embedded PostgreSQL in a new folder, and
what was found is printed beside what is true. Reports go to build/demo-evaluation. Exit 0 where all that is known was
found and the exported log verifies, 1 where not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from service.evaluation.sets.files import shipped
from tests.demo_evaluation.known import KNOWN, POLICY, Known, truth

OUT = Path("build") / "demo-evaluation"
FORMS = ("html", "pdf", "md", "json")
ENDED = (0, 1, 5)
"""Exit codes of an evaluation that came to its end: shown; stopped or worse; inconclusive."""


class Gainsay:
    """The command, on a database of its own."""

    def __init__(self, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GAINSAY_")}
        self.key = folder / "key.jsonl"
        self._variables = {
            **kept,
            "GAINSAY_DATA_DIR": str(folder),
            "GAINSAY_POLICY": str(POLICY),
            "GAINSAY_SIMULATED_KEY": str(self.key),
        }

    def run(self, *words: str | Path, allowed: Sequence[int] = (0,)) -> str:
        """What a command prints; raises `SystemExit` with what it said where it ends with another exit code."""
        command = [str(Path(sys.executable).parent / "gainsay"), *map(str, words)]
        ended = subprocess.run(command, capture_output=True, text=True, env=self._variables, check=False)
        if ended.returncode not in allowed:
            raise SystemExit(f"{' '.join(command)}\nended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout


def main() -> int:
    """Run every plan, write its reports, and verify the exported log."""
    began = time.monotonic()
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gainsay-demo-") as folder:
        gainsay = Gainsay(Path(folder))
        gainsay.run("evaluate", "key", *(at.name for at in shipped()), "--held", "--to", gainsay.key)
        try:
            missed = [known.plan for known in KNOWN if not _measured(gainsay, known)]
            _verified(gainsay, Path(folder) / "log.jsonl")
        finally:
            gainsay.run("stop", allowed=(0, 1))
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[1]
    _say(f"{time.monotonic() - began:.0f} seconds on {cores} cores, at a load of {load:.1f} over five minutes.")
    _say(f"Reports: {OUT}/" + (f". NOT FOUND as known: {', '.join(missed)}" if missed else ". All was found as known."))
    return 1 if missed else 0


def _measured(gainsay: Gainsay, known: Known) -> bool:
    """Run a plan, print truth and findings, write the reports; whether what is known was found."""
    began = time.monotonic()
    held = ("--held",) if known.held else ()
    standing = json.loads(gainsay.run("evaluate", "run", known.file, *held, "--json", allowed=ENDED))
    result = standing["result"]
    found = known.holds(result["findings"]) and not _missing(result)
    _print(known, result, found=found, seconds=time.monotonic() - began)
    for form in FORMS:
        report = OUT / f"{known.plan}.{form}"
        report.unlink(missing_ok=True)
        gainsay.run("evaluate", "report", standing["evaluation"], "-o", report)
        if not report.stat().st_size:
            raise SystemExit(f"{report} is empty")
    return found


def _missing(result: Mapping[str, Any]) -> bool:
    """Whether an arm has items without an answer."""
    return any(arm["items"]["missing"] for arm in result["arms"])


def _print(known: Known, result: Mapping[str, Any], *, found: bool, seconds: float) -> None:
    _say(f"== {known.plan}: {result['question']}")
    for line in truth(known):
        _say(f"   known   {line}")
    for sentence in result["sentences"]:
        if sentence["part"] == "finding":
            _say(f"   found   {sentence['text']}")
    _say(f"   {'as it has to be' if found else 'NOT AS IT HAS TO BE'}: {known.words} ({seconds:.0f} s)\n")


def _verified(gainsay: Gainsay, export: Path) -> None:
    """Export the log and verify it, every score and result computed again; raises `SystemExit` where one is not."""
    gainsay.run("audit", "export", "--out", export)
    (key,) = json.loads(gainsay.run("audit", "keys", "--json"))["keys"]
    sets = [word for folder in shipped() for word in ("--sets", folder)]
    trust = ("--key", key["key"], "--allow-unwitnessed", "--scope", "records")
    printed = gainsay.run("audit", "verify", export, *trust, *sets)
    again = f"{len(KNOWN)} evaluations: "
    (line,) = (line for line in printed.splitlines() if " evaluations " in line and "computed again" in line)
    if again not in line or f" {len(KNOWN)} results " not in line:
        raise SystemExit(f"expected {again}with {len(KNOWN)} results in the export, found: {line}")
    _say(f"The exported log verifies: {line.split('OK')[1].strip()}.")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
