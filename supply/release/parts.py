"""The parts of a release, built from the files of its commit: the same bytes whenever and wherever they are built."""

from __future__ import annotations

import gzip
import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from supply.sbom import write_bom

IGNORE = ".dockerignore"
PROMPTS = "service/prompts/manifest.json"
_ARG = re.compile(r"^ARG (?P<name>[A-Z_]+)=\S+$", re.MULTILINE)


def packages(source: Path, out: Path, epoch: int) -> None:
    """The wheel and the sdist of the service and of its Python client. Raises `ValueError` where one is not built."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(out)]
    env = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
    for project in (source / "clients" / "python", source):
        done = subprocess.run(words, cwd=project, env=env, capture_output=True, check=False, text=True)
        if done.returncode:
            raise ValueError(f"hatchling in {project.name}: {done.stdout}{done.stderr}")


def copied(dockerfile: str) -> list[str]:
    """The paths that a Dockerfile copies from its context, in their order."""
    joined = dockerfile.replace("\\\n", " ")
    found = []
    for line in joined.splitlines():
        words = shlex.split(line) if line.startswith(("COPY ", "ADD ")) else []
        options = [word for word in words if word.startswith("--")]
        if words and not any(option.startswith("--from=") for option in options):
            found += [word for word in words[1:-1] if word not in options]
    return found


def with_arguments(dockerfile: str, values: Mapping[str, str]) -> str:
    """A Dockerfile whose build arguments have these defaults; raises `ValueError` for one that it does not have."""
    if missing := values.keys() - {hit["name"] for hit in _ARG.finditer(dockerfile)}:
        raise ValueError(
            f"expected build arguments with defaults in the Dockerfile, found none: {', '.join(sorted(missing))}"
        )
    return _ARG.sub(
        lambda hit: f"ARG {hit['name']}={values[hit['name']]}" if hit["name"] in values else hit[0], dockerfile
    )


def context(source: Path, out: Path, epoch: int, values: Mapping[str, str]) -> None:
    """What `docker build` needs and no more, as a tar: the Dockerfile with these arguments, and what it copies.

    Of a folder that it copies, what .dockerignore lets in. What that takes away again no commit has.
    """
    dockerfile = (source / "Dockerfile").read_text("utf-8")
    files = {"Dockerfile": with_arguments(dockerfile, values).encode()}
    ignore = (source / IGNORE).read_text("utf-8")
    kept = [line[1:].rstrip("/") for line in ignore.splitlines() if line.startswith("!")]
    for path in copied(dockerfile):
        found = below(source, path)
        files |= {name: data for name, data in found.items() if any(f"{name}/".startswith(f"{one}/") for one in kept)}
    files[IGNORE] = ignore.encode()
    out.write_bytes(tar(files.items(), epoch))


def chart(source: Path, out: Path, epoch: int, folder: str) -> None:
    """The Helm chart, as `helm package` lays it out; what its .helmignore names by a folder or an ending stays out.

    `helm package` itself writes the present time into each archive.
    """
    ignored = [line for line in (source / folder / ".helmignore").read_text("utf-8").split() if line[0] != "#"]
    strange = [line for line in ignored if not re.fullmatch(r"\*?\.?[\w.-]+/?", line)]
    if strange:
        raise ValueError(f"expected folders, names and endings in {folder}/.helmignore, found {', '.join(strange)}")
    name = folder.rpartition("/")[2]
    inner = {path.removeprefix(f"{folder}/"): data for path, data in below(source, folder).items()}
    kept = {path: data for path, data in inner.items() if not any(_ignored(path, line) for line in ignored)}
    first = {path: kept.pop(path) for path in ("Chart.yaml",)}  # where Helm looks first
    data = tar(
        ((f"{name}/{path}", data) for path, data in {**first, **dict(sorted(kept.items()))}.items()), epoch, order=False
    )
    out.write_bytes(gzip.compress(data, mtime=epoch))


def _ignored(path: str, line: str) -> bool:
    if line.endswith("/"):
        return line[:-1] in path.split("/")[:-1]
    name = path.rpartition("/")[2]
    return name.endswith(line[1:]) if line[0] == "*" else name == line


def below(source: Path, path: str) -> dict[str, bytes]:
    """The file, or every file of the folder, by its path in the source. Raises `ValueError` where nothing is there."""
    place = source / path
    found = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    if not found or any(file.is_symlink() for file in found):
        raise ValueError(f"expected files at {path}, found none, or links to others")
    return {file.relative_to(source).as_posix(): file.read_bytes() for file in found}


def tar(files: Iterable[tuple[str, bytes]], epoch: int, *, order: bool = True) -> bytes:
    """A tar of files, in the order of their names: one time, one mode and no owner."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files) if order else files:
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), epoch, 0o644
            archive.addfile(info, io.BytesIO(data))
    return written.getvalue()


def bom(source: Path, out: Path, version: str) -> None:
    """The list of what the lock has (CycloneDX 1.6); raises `ValueError` for a package that may not be used."""
    write_bom(out, None, version, source / "requirements.txt")


def prompts_pin(source: Path) -> str:
    """The SHA-256 of the prompts' manifest, which a deployment pins."""
    return sha256((source / PROMPTS).read_bytes()).hexdigest()
