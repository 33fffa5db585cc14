"""Compares the licence of every locked package with the list of those that are allowed; needs no network.

    python -m supply.licences [LOCK ...]        exit code 1 where one is not allowed, or where nobody knows it

The licence is that of `[stated]` in licences.toml, or of the installed package's own data: its expression, its short
text, or its classifier.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

from supply.locks import Locked, read_lock

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-build.txt")
_WORDS = {
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
    "python software foundation license": "PSF-2.0",
}
_IDS = ("Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "MIT OR Apache-2.0")


class Licences:
    """The licences of packages, and which are allowed. ``site`` is a folder of installed packages, or ``None``."""

    def __init__(self, site: Path | None = None) -> None:
        written = tomllib.loads((ROOT / "supply" / "licences.toml").read_text("utf-8"))
        self._allowed = set(written["allowed"])
        self._allowed_for: dict[str, str] = written["allowed_for"]
        self._stated: dict[str, str] = written["stated"]
        found = distributions(path=[str(site)]) if site else distributions()
        self._installed = {_normal(each.metadata["Name"]): each for each in found if each.metadata["Name"]}

    @property
    def named(self) -> set[str]:
        """Every package that licences.toml names."""
        return {*self._allowed_for, *self._stated}

    def of(self, name: str) -> str | None:
        """The licence of a package as an expression of SPDX; ``None`` where nothing says it."""
        if name in self._stated:
            return self._stated[name]
        return _told(self._installed[name]) if name in self._installed else None

    def fault(self, package: Locked) -> str | None:
        """Why a package may not be used, or ``None``. What is for browsers (emscripten) is installed nowhere here."""
        if "emscripten" in package.marker:
            return None
        found = self.of(package.name)
        if found is None:
            return f"{package.name} {package.version}: no licence that can be read; read it, and state it"
        if not self._may(package.name, found):
            return f"{package.name} {package.version}: {found} is not allowed"
        return None

    def _may(self, name: str, expression: str) -> bool:
        """Whether one of the alternatives is allowed whole; an expression with brackets or exceptions is not."""
        allowed = {*self._allowed, self._allowed_for.get(name, "")}
        return any(set(way.split(" AND ")) <= allowed for way in expression.split(" OR "))


def _told(package: Distribution) -> str | None:
    data = package.metadata
    if "License-Expression" in data:
        return str(data["License-Expression"])
    words = data["License"].strip() if "License" in data else ""
    classifiers = [text for text in data.get_all("Classifier") or [] if text.startswith("License ::")]
    named = [text.rpartition(" :: ")[2] for text in classifiers if text != "License :: OSI Approved"]
    for text in map(str, (words, *(named if len(named) == 1 else ()))):
        if text in _IDS:
            return text
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
    return None


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def faults(locks: Iterable[Path]) -> list[str]:
    """A sentence for each package of the locks that may not be used."""
    licences = Licences()
    packages = {package.name: package for lock in locks for package in read_lock(lock)}
    return [fault for package in packages.values() if (fault := licences.fault(package))]


def main(arguments: Sequence[str]) -> int:
    """Print the faults of the locks; returns 1 where there are some."""
    locks = [Path(argument) for argument in arguments] or [ROOT / name for name in LOCKS]
    found = faults(locks)
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found:
        sys.stdout.write(f"every package of {', '.join(lock.name for lock in locks)} has an allowed licence\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
