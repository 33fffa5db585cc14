"""Asks the advisories of PyPI for known holes of every locked package, by pip-audit; needs a network.

    python -m supply.holes        exit code 1 where a hole is known, 3 where nothing could be asked

Only the locks are read: nothing is resolved or installed. Without an answer nothing is known, which is no good news.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements-dev.txt"
"""Holds every package of the other locks, at the same version (tests/unit/test_supply.py)."""
FOUND, UNKNOWN = 1, 3


def main() -> int:
    """Ask, and print each hole with the version that closes it."""
    asked = [sys.executable, "-m", "pip_audit", "--progress-spinner=off", "--format=json", "--disable-pip"]
    done = subprocess.run(
        [*asked, "--require-hashes", "--requirement", str(ROOT / LOCK)], capture_output=True, text=True, check=False
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return _say_unknown((done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1][:200])
    unasked = [each["name"] for each in packages if "skip_reason" in each]
    if len(unasked) == len(packages):
        return _say_unknown("the index knows none of the packages: a mirror without advisories, or no network")
    holes = [(each, hole) for each in packages for hole in each.get("vulns", [])]
    for each, hole in holes:
        closed = ", ".join(hole["fix_versions"]) or "no version yet"
        sys.stderr.write(f"{each['name']} {each['version']}: {hole['id']}, closed by {closed}\n")
    if unasked:
        sys.stderr.write(f"not asked about: {', '.join(unasked)}\n")
    if not holes and not unasked:
        sys.stdout.write(f"no known hole in the {len(packages)} packages of {LOCK}\n")
    return FOUND if holes else UNKNOWN if unasked else 0


def _say_unknown(why: str) -> int:
    sys.stderr.write(
        f"no answer about known holes ({why}): nothing is known of them. "
        "Run this where the Python Package Index can be reached\n"
    )
    return UNKNOWN


if __name__ == "__main__":
    sys.exit(main())
