"""Vendors a version of Swagger UI into the package: `make vendor VERSION=5.35.0`.

npm fetches the package and compares it with the registry's SHA-512. Five files of it are taken as they are, and
``vendored.json`` beside them names the version, that SHA-512 and the SHA-256 of each file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGE = "swagger-ui-dist"
FILES = ("LICENSE", "NOTICE", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css")
FOLDER = Path(__file__).resolve().parents[2] / "service" / "web" / "vendored" / "swagger-ui"
MANIFEST = "vendored.json"


def vendor(version: str, folder: Path = FOLDER) -> None:
    """Write the files of a version and their manifest into a folder, and remove what was there."""
    with TemporaryDirectory() as place:
        command = ["npm", "pack", "--json", f"{PACKAGE}@{version}"]
        packed = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
        (found,) = json.loads(packed.stdout)
        with tarfile.open(Path(place) / found["filename"]) as archive:
            contents = {name: _content(archive, name) for name in FILES}
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    manifest = {
        "package": PACKAGE,
        "version": found["version"],
        "integrity": found["integrity"],
        "license": "Apache-2.0",
        "files": {name: sha256(content).hexdigest() for name, content in contents.items()},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(f"package/{name}")
    if member is None:
        raise SystemExit(f"expected the file {name} in {PACKAGE}, found none; look at what this version has")
    return member.read()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("expected one version, as in: make vendor VERSION=5.35.0")
    vendor(sys.argv[1])
