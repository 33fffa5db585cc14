"""Writes the list of what the service consists of (SBOM), CycloneDX 1.6 as JSON: what requirements.txt locks.

    python -m supply.sbom --out FILE [--site FOLDER] [--version VERSION]

``--site`` is the folder of installed packages whose licences are read (default: those of this Python). A package that
is installed elsewhere alone, such as on Windows, has the scope ``excluded``. The SHA-256 of a component are those of
all its files that the lock allows. The same input gives the same bytes: no time and no random number is in it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from supply.ending import ended
from supply.licences import ROOT, Licences
from supply.locks import Locked, read_lock


def make_bom(packages: Sequence[Locked], licences: Licences, version: str) -> Bom:
    """The list of these packages; raises `ValueError` for one that may not be used."""
    service = Component(
        name="gainsay",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref="gainsay",
        purl=PackageURL("pypi", name="gainsay", version=version),
        licenses=[LicenseExpression("Apache-2.0")],
    )
    parts = [_component(package, licences) for package in packages]
    seed = "\n".join(f"{part.name}=={part.version}" for part in (service, *parts))
    bom = Bom(components=parts, serial_number=uuid5(NAMESPACE_URL, f"https://gainsay.invalid/sbom\n{seed}"))
    bom.metadata.component = service
    bom.register_dependency(service, parts)
    return bom


def _component(package: Locked, licences: Licences) -> Component:
    fault = licences.fault(package)
    if fault:
        raise ValueError(fault)
    purl = PackageURL("pypi", name=package.name, version=package.version)
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        scope=ComponentScope.EXCLUDED if "win32" in package.marker and "!=" not in package.marker else None,
        licenses=[LicenseExpression(str(licences.of(package.name)))],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=content) for content in package.hashes],
    )


def write_bom(out: Path, site: Path | None, version: str, lock: Path = ROOT / "requirements.txt") -> None:
    """Write the list to a file; raises `ValueError` for a package that may not be used."""
    bom = make_bom(read_lock(lock), Licences(site), version)
    bom.metadata.timestamp = None  # type: ignore[assignment]  # the same input gives the same bytes
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Write the list that the arguments ask for; returns 1 where a package may not be used."""
    parser = argparse.ArgumentParser(prog="python -m supply.sbom")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--site", type=Path)
    parser.add_argument("--version", default="unknown")
    given = parser.parse_args(arguments)
    return ended(lambda: write_bom(given.out, given.site, given.version))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
