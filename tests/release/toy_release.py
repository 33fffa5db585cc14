"""A repository that is released: a copy of this one with git and a key, and the commands of contributors and users."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.change import tree
from tests.change.tree import ROOT, Result, Tree

BASE = f"python:3.13-slim-trixie@sha256:{'0123456789abcdef' * 4}"
Called = dict[str, Any]


@dataclass(frozen=True)
class Released:
    """The tree of a repository, and where its key is."""

    tree: Tree
    key: Path

    @property
    def root(self) -> Path:
        """Its folder."""
        return self.tree.folder

    def git(self, *words: str) -> str:
        """Call git in it."""
        who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self, message: str) -> None:
        """Commit everything that there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def news(self, line: str) -> None:
        """Add a line to what is unreleased."""
        file = self.root / "CHANGELOG.md"
        file.write_text(
            file.read_text("utf-8").replace("## [Unreleased]\n", f"## [Unreleased]\n\n- {line}\n", 1), "utf-8"
        )

    def cut(self, version: str) -> None:
        """Cut a release, commit it and tag it."""
        done = self.tree.python("-m", "supply.release", "cut", version)
        assert done.code == 0, done.output
        self.commit(f"Release {version}")
        self.git("tag", f"v{version}")

    def build(self, out: Path, **env: str) -> Result:
        """What ``make release`` builds."""
        words = ("-m", "supply.release", "build", "--base", BASE, "--key", str(self.key), "--out", str(out))
        return self.tree.python(*words, env=env)


def begin(folder: Path) -> Released:
    """A repository with one commit and the public half of a key, which openssl has made as docs/releasing.md says."""
    released = Released(tree.copy(folder / "tree"), folder / "release.key")
    public = released.root / "supply" / "release.pub"
    openssl("genpkey", "-algorithm", "ed25519", "-out", str(released.key))
    openssl("pkey", "-in", str(released.key), "-pubout", "-out", str(public))
    (folder / "release.pub").write_bytes(public.read_bytes())
    released.git("init", "--quiet", "--template=")
    released.commit("Begin")
    return released


def clone(of: Released, folder: Path) -> Released:
    """A clone in another folder."""
    subprocess.run(["git", "clone", "--quiet", str(of.root), str(folder)], check=True, capture_output=True)
    return Released(Tree(folder), of.key)


def openssl(*words: str) -> None:
    """Call openssl."""
    subprocess.run(["openssl", *words], check=True, capture_output=True)


@dataclass(frozen=True)
class Installed:
    """The wheels of a release, installed in a folder; what they run has no file of a repository but tests/change."""

    folder: Path

    def call(self, data: Path, *commands: tuple[str, ...], **env: str) -> tuple[Called, ...]:
        """The commands in one process, each with its code and its output."""
        given = {name: value for name, value in os.environ.items() if not name.startswith(("GAINSAY_", "PYTEST_"))}
        path = {"PYTHONPATH": f"{self.folder / 'site'}:{self.folder / 'tools'}", "GAINSAY_DATA_DIR": str(data)}
        given |= {**path, "GAINSAY_WARM_S": "0", "COLUMNS": "200", "PYTHONHASHSEED": "0", **env}
        words = [sys.executable, "-m", "tests.change.calling", json.dumps(commands)]
        done = subprocess.run(words, cwd=self.folder, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return tuple(json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"words"'))


def install(release: Path, folder: Path) -> Installed:
    """Unpack the wheels of a release, which is what pip does with wheels of this kind."""
    for wheel in release.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
    (folder / "tools").mkdir(parents=True)
    (folder / "tools" / "tests").symlink_to(ROOT / "tests")
    return Installed(folder)


def bytes_of(folder: Path) -> Mapping[str, bytes]:
    """Every file of a release."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
