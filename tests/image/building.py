"""Builds the Dockerfile with buildah and no engine; its base is made by debootstrap and has Debian's Python 3.13."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.image.container import Tree
from tests.image.dockerfile import ROOT

SUITE = "trixie"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "gainsay-tests" / "image"
ISSUERS = "/etc/ssl/certs/ca-certificates.crt"
BASE = f"localhost/gainsay-base:{SUITE}"


def missing() -> str | None:
    """What this machine lacks to build, or ``None``."""
    if os.geteuid() != 0:
        return "only root builds in a chroot"
    absent = [name for name in ("buildah", "debootstrap") if shutil.which(name) is None]
    return f"there is no {absent[0]}: apt-get install buildah debootstrap" if absent else None


class Builder:
    """A store of images in a folder; its base is unpacked once and kept in the cache of the user."""

    def __init__(self, folder: Path) -> None:
        self._store = ["--root", str(folder / "store"), "--runroot", str(folder / "run"), "--storage-driver", "vfs"]
        self._make_base(folder)

    def build(self, name: str, epoch: int, **arguments: str) -> None:
        """Build this repository's image, everything anew, with all times of its layers at ``epoch``."""
        given = {"PYTHON_IMAGE": BASE, "SOURCE_DATE_EPOCH": str(epoch), **arguments}
        words = [word for key, value in given.items() for word in ("--build-arg", f"{key}={value}")]
        issuers = ["--volume", f"{ISSUERS}:{ISSUERS}:ro"] if Path(ISSUERS).exists() else []
        how = ["--isolation", "chroot", "--no-cache", "--format", "docker", "--timestamp", str(epoch)]
        self._run("bud", *how, *issuers, *words, "--tag", name, str(ROOT))

    def inspect(self, name: str) -> dict[str, Any]:
        """The image as Docker's format describes it."""
        found: dict[str, Any] = json.loads(self._run("inspect", "--type", "image", name))["Docker"]
        return found

    def tree(self, name: str) -> Tree:
        """The files of an image."""
        return Tree(Path(self._run("mount", self._run("from", "--pull-never", name))))

    def _make_base(self, folder: Path) -> None:
        archive = CACHE / f"{SUITE}.tar"
        if not archive.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            system = folder / "system"
            packages = "--include=python3,python3-venv,ca-certificates"
            _run("debootstrap", "--variant=minbase", packages, SUITE, str(system))
            (system / "usr/local/bin/python").symlink_to("/usr/bin/python3")
            left_out = [
                f"--exclude=./{each}" for each in ("proc/*", "sys/*", "dev/*", "var/cache/apt", "var/lib/apt/lists")
            ]
            _run("tar", "--directory", str(system), *left_out, "--create", "--file", f"{archive}.new", ".")
            Path(f"{archive}.new").replace(archive)
            shutil.rmtree(system)
        context = folder / "base"
        context.mkdir()
        os.link(archive, context / "base.tar") if archive.stat().st_dev == context.stat().st_dev else shutil.copy(
            archive, context / "base.tar"
        )
        (context / "Dockerfile").write_text("FROM scratch\nADD base.tar /\n")
        self._run("bud", "--isolation", "chroot", "--tag", BASE, str(context))

    def _run(self, *words: str) -> str:
        return _run("buildah", *self._store, *words)


def _run(*words: str) -> str:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout.strip()
