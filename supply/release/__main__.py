"""``python -m supply.release``: ``cut VERSION``, ``check`` and ``build``, of the tree that this file is in.

    python -m supply.release cut VERSION [--day YEAR-MONTH-DAY]
    python -m supply.release check --base REFERENCE [--key FILE]
    python -m supply.release build --base REFERENCE [--key FILE] [--out FOLDER]

Exit codes: 0 done, 1 refused, with everything that keeps it from being done, 2 usage.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from supply.ending import ended
from supply.release import versions
from supply.release.build import build
from supply.release.cut import cut
from supply.release.source import Asked, faults

ROOT = Path(__file__).resolve().parents[2]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """What the arguments ask for; ends the process with 2 for others."""
    parser = argparse.ArgumentParser(prog="python -m supply.release")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "build"):
        command = commands.add_parser(name)
        command.add_argument("--base", required=True, help="base image: NAME:TAG@sha256:...")
        command.add_argument(
            "--key", type=Path, help="the key that signs, Ed25519 in PEM; without it nothing is signed"
        )
        if name == "build":
            command.add_argument("--out", type=Path, help="default, with a key: dist/VERSION")
    command = commands.add_parser("cut")
    command.add_argument("version")
    command.add_argument("--day", default=time.strftime("%Y-%m-%d", time.gmtime()))
    given = parser.parse_args(arguments)
    if given.command == "build" and not (given.key or given.out):
        parser.error("expected --out for a build that is not signed: it is made to be compared, and is no release")
    return given


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments ask for; returns 1 where it is refused."""
    given = parsed(arguments)
    return ended(lambda: _do(given))


def _do(given: argparse.Namespace) -> None:
    if given.command == "cut":
        done = cut(ROOT, given.version, given.day)
        sys.stdout.write("".join(f"wrote {path}\n" for path in done))
        sys.stdout.write(f"read the difference, and commit it: git commit -am 'Release {given.version}'\n")
        return
    asked = Asked(ROOT, given.base, given.key)
    if wrong := faults(asked):
        raise ValueError("\n".join(wrong))
    if given.command == "build":
        out = given.out or ROOT / "dist" / versions.current(ROOT)
        sys.stdout.write("".join(f"{out}/{name}\n" for name in build(asked, out)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
