"""The files of others in the package are those that were published, in every checkout and wheel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from service.web import docs
from tests.vendoring import swagger_ui

BYTES_MAX = 2_000_000
"""What the files may add to the package, unpacked."""


def manifest() -> dict[str, str]:
    found: dict[str, str] = json.loads((swagger_ui.FOLDER / swagger_ui.MANIFEST).read_text("utf-8"))["files"]
    return found


def test_the_vendored_files_are_those_that_were_published() -> None:
    there = {path.name: sha256(path.read_bytes()).hexdigest() for path in swagger_ui.FOLDER.iterdir()}
    del there[swagger_ui.MANIFEST]

    assert there == manifest(), "make vendor VERSION=... writes them and their hashes anew"
    assert "Apache License" in (swagger_ui.FOLDER / "LICENSE").read_text("utf-8")
    assert sum(path.stat().st_size for path in swagger_ui.FOLDER.iterdir()) < BYTES_MAX


def test_every_checkout_has_the_bytes_that_were_published(root: Path) -> None:
    files = [f"service/web/vendored/swagger-ui/{name}" for name in swagger_ui.FILES]
    command = ["git", "check-attr", "text", "linguist-vendored", "--", *files]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if told.returncode:
        pytest.skip("no git, or no repository around the package")

    assert re.findall(r": text: (\w+)$", told.stdout, re.MULTILINE) == ["unset"] * len(files)
    assert told.stdout.count("linguist-vendored: set") == len(files)


def test_a_wheel_carries_every_file_of_the_page(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        carried = {name: archive.read(name) for name in archive.namelist() if name.startswith("service/web/")}

    for name, content in docs.docs_files().items():
        folder = "vendored/swagger-ui" if name in manifest() else "docs_files"
        assert carried[f"service/web/{folder}/{name}"] == content
    assert f"service/web/vendored/swagger-ui/{swagger_ui.MANIFEST}" in carried
    assert "service/web/docs_files/page.html" in carried
