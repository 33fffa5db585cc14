"""What is locked: under allowed licences, in a valid list (SBOM) with nothing more and nothing less."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from supply import sbom
from supply.ending import ended
from supply.licences import LOCKS, ROOT, Licences, faults
from supply.locks import Locked, read_lock
from supply.sbom import write_bom


def test_every_locked_package_has_an_allowed_licence() -> None:
    assert faults(ROOT / lock for lock in LOCKS) == []


def test_what_the_list_of_licences_names_is_locked() -> None:
    locked = {package.name for lock in LOCKS for package in read_lock(ROOT / lock)}

    assert Licences().named <= locked


def test_the_lock_that_is_asked_about_has_every_package_of_the_others() -> None:
    whole = {(package.name, package.version) for package in read_lock(ROOT / "requirements-dev.txt")}

    for lock in LOCKS:
        assert {(package.name, package.version) for package in read_lock(ROOT / lock)} <= whole


@pytest.mark.parametrize(
    ("name", "licence", "allowed"),
    [
        ("x", "MIT", True),
        ("x", "Apache-2.0 AND MIT", True),
        ("x", "GPL-3.0-only OR MIT", True),
        ("x", "GPL-3.0-only", False),
        ("x", "GPL-3.0-only AND MIT", False),
        ("x", "LGPL-3.0-only", False),
        ("psycopg", "LGPL-3.0-only", True),
        ("x", "MPL-2.0", False),
        ("x", "(MIT OR GPL-2.0-only) AND AGPL-3.0-only", False),
        ("x", "SSPL-1.0", False),
        ("x", None, False),
    ],
)
def test_a_licence_is_allowed_by_its_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, licence: str | None, allowed: bool
) -> None:
    folder = tmp_path / f"{name}-1.dist-info"
    folder.mkdir()
    said = "" if licence is None else f"License-Expression: {licence}\n"
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{said}")

    fault = Licences(tmp_path).fault(Locked(name, "1", "", ()))

    assert (fault is None) is allowed, fault


def test_a_package_with_a_licence_that_is_not_allowed_is_in_no_list(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text(f"unheard-of==1.0 \\\n    --hash=sha256:{'0' * 64}\n")

    with pytest.raises(ValueError, match=r"unheard-of 1\.0: no licence"):
        write_bom(tmp_path / "out.json", None, "1", lock)


@pytest.mark.parametrize("line", ["--index-url https://example.invalid", "x>=1", "x @ file:///x", "    --hash=md5:00"])
def test_a_line_that_is_none_of_a_lock_is_refused(tmp_path: Path, line: str) -> None:
    lock = tmp_path / "requirements.txt"
    lock.write_text(f"{line}\n")

    with pytest.raises(ValueError, match="line 1"):
        read_lock(lock)


def test_the_list_is_valid_and_has_all_and_only_what_is_locked_with_hashes_and_licences(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "build" / "second.json"

    write_bom(first, None, "1.2.3")
    write_bom(second, None, "1.2.3")

    text = first.read_text("utf-8")
    found = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert text == second.read_text("utf-8")
    listed = {
        (part["name"], part["version"], tuple(sorted(each["content"] for each in part["hashes"])))
        for part in found["components"]
    }
    lock = read_lock(ROOT / "requirements.txt")
    assert listed == {(package.name, package.version, tuple(sorted(package.hashes))) for package in lock}
    assert len(found["components"]) == len(lock) > 50
    assert all(part["licenses"][0]["expression"] for part in found["components"])
    assert {part["name"] for part in found["components"] if part.get("scope") == "excluded"} == {
        "colorama",
        "pywin32",
        "tzdata",
    }
    assert found["metadata"]["component"]["name"] == "gainsay"


def test_a_command_that_is_refused_says_why_in_one_line_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(error: Exception) -> int:
        def work() -> None:
            raise error

        return ended(work)

    assert ended(lambda: None) == 0
    assert [refused(ValueError("not this")), refused(FileNotFoundError("not there"))] == [1, 1]
    assert capsys.readouterr().err == "not this\nnot there\n"
    with pytest.raises(LookupError):
        refused(LookupError("a fault keeps its stack"))

    (tmp_path / "file").touch()
    assert sbom.main(["--out", str(tmp_path / "file" / "bom.json")]) == 1
    assert str(tmp_path) in capsys.readouterr().err
    assert sbom.main(["--out", str(tmp_path / "bom.json"), "--version", "1"]) == 0
    assert (tmp_path / "bom.json").stat().st_size > 1_000


def test_without_a_network_nothing_is_said_to_be_without_holes() -> None:
    """Every connection goes to a proxy that is not there."""
    nowhere = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "supply.holes"],
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_PROXY": "", "no_proxy": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert "no answer about known holes" in done.stderr
    assert "Run this where the Python Package Index can be reached" in done.stderr
    assert done.stdout == ""
