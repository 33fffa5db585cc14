"""The commit that a release is made of, and what keeps it from being one."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from supply import frozen
from supply.base import pinned
from supply.release import changelog, signing, versions

CHART = "helm/gainsay"


@dataclass(frozen=True)
class Asked:
    """What a release is made of: the tree, its base image, and the file of the key that signs."""

    root: Path
    base: str
    key: Path


def git(root: Path, *words: str) -> bytes:
    """What a command of git says of a tree; raises `ValueError` with its words where it fails."""
    program = shutil.which("git")
    if not program:
        raise ValueError("expected git, whose commit is released, found none on the PATH")
    done = subprocess.run([program, "-C", str(root), *words], capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def commit(root: Path) -> str:
    """The commit of a tree."""
    return git(root, "rev-parse", "HEAD").decode().strip()


def epoch(root: Path) -> int:
    """When it was committed, in seconds since 1970: the time of every file of the release."""
    return int(git(root, "log", "-1", "--format=%ct"))


def export(root: Path, folder: Path) -> None:
    """Write the files of the commit to a folder: nothing that git ignores or does not know gets into a release."""
    with tarfile.open(fileobj=io.BytesIO(git(root, "archive", "--format=tar", "HEAD"))) as tar:
        tar.extractall(folder, filter="data")


def faults(asked: Asked) -> list[str]:
    """Everything that keeps a tree from being released, each with what to do; empty where nothing does."""
    found: list[str] = []
    root = asked.root
    if left := git(root, "status", "--porcelain", "--untracked-files=all").decode().splitlines():
        found.append(f"expected a tree as it was committed, found {len(left)} files that differ: {', '.join(left[:5])}")
    if not (root / CHART / "Chart.yaml").is_file():
        found.append(f"expected the Helm chart in {CHART}, found none")
    for refused in (lambda: pinned(asked.base), lambda: signing.pair(asked.key, root / signing.PUBLIC)):
        try:
            refused()
        except ValueError as error:
            found.append(str(error))
    try:
        version = versions.current(root)
    except ValueError as error:
        return [*found, str(error)]
    said = changelog.fault((root / changelog.FILE).read_text("utf-8"), version)
    return [*found, *([said] if said else []), *_tagged(root, version), *_frozen(root, version)]


def _tagged(root: Path, version: str) -> list[str]:
    tag = f"v{version}"
    if tag not in git(root, "tag", "--list").decode().split():
        return []
    if git(root, "rev-parse", f"{tag}^{{commit}}").decode().strip() == commit(root):
        return []
    return [f"expected tag {tag} at this commit, found it at another: {version} is released; cut the version after it"]


def _frozen(root: Path, version: str) -> list[str]:
    """What is wrong with the list, by itself, beside the tree, and beside the lists of the releases before."""
    try:
        listed = frozen.things(root)
    except (OSError, ValueError) as error:
        return [str(error)]
    found = frozen.faults(root, listed)
    if versions.key(version) >= (1, 0, 0):
        found += [
            f"expected {kind} {name} in {frozen.LIST}, found none; make release-cut lists what a release has"
            for kind, name in frozen.unlisted(root, listed)
        ]
    elif listed:
        found.append(f"expected nothing in {frozen.LIST} before 1.0.0, found {len(listed)} entries")
    tags = git(root, "tag", "--list").decode().split()
    for release in sorted({one.release for one in listed} - {version}, key=versions.key):
        if f"v{release}" not in tags:
            found.append(f"expected tag v{release}, whose list is compared, found none; git fetch --tags")
            continue
        before = frozen.read(git(root, "show", f"v{release}:{frozen.LIST}").decode())
        found += [
            f"expected {one} in {frozen.LIST} as v{release} has it, found another"
            for one in before
            if one not in listed
        ]
    newest = max(
        (tag[1:] for tag in tags if versions.VERSION.fullmatch(tag[1:]) and tag[0] == "v"),
        key=versions.key,
        default=None,
    )
    if newest and versions.key(newest) > versions.key(version):
        found.append(f"expected a version after {newest}, which is tagged, found {version}")
    if newest and versions.key(newest) >= (1, 0, 0) and not listed:
        found.append(f"expected what {newest} has in {frozen.LIST}, found nothing")
    return found
