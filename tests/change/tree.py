"""A copy of the repository to which a toy change is applied, and commands that run in the changed copy.

A change is a list of steps as a newcomer makes them: ``Edit`` (a text that stands once in a file, and the text that
takes its place), ``Write`` (a new file) and ``Run`` (a command that writes files). Each step has the name of the step
of its how-to, so that a test can leave it out. A copy has the tracked files, and the new ones that git does not ignore.
It shares no file with the repository, so that a command in it changes the copy alone.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {".git", ".venv", "build", "data", "dist", "__pycache__", "node_modules"}
"""Folders that a walk does not enter where git is not there."""


class NoLongerFitsError(AssertionError):
    """The code has moved on, and a step of a toy change has to follow it."""


@dataclass(frozen=True)
class Edit:
    """Replace ``old``, which stands in the file exactly once, by ``new``."""

    step: str
    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Write:
    """Write a file that is not there."""

    step: str
    path: str
    text: str


@dataclass(frozen=True)
class Run:
    """Run ``python`` with these words, as the how-to says."""

    step: str
    words: tuple[str, ...]


Step = Edit | Write | Run
Change = Sequence[Step]


@dataclass(frozen=True)
class Result:
    """What a command in a tree has ended with and said."""

    code: int
    output: str


@dataclass(frozen=True)
class Tree:
    """A copy of the repository in a folder of its own."""

    folder: Path

    def apply(self, change: Change, *, all_run: bool = True) -> str:
        """Make each step in order; raise ``NoLongerFitsError``, which says where a step does not fit.

        Returns the output of its commands. Without ``all_run`` one of them may fail, as after a step that was left out.
        """
        said = ""
        for number, step in enumerate(change, 1):
            where = f"change {number} of {len(change)} (step {step.step!r})"
            match step:
                case Edit():
                    self._edit(step, where)
                case Write():
                    target = self.folder / step.path
                    if target.exists():
                        raise NoLongerFitsError(f"{where}: expected no {step.path} before it is written, found one")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(step.text, "utf-8")
                case Run():
                    result = self.python(*step.words)
                    said += result.output
                    if result.code and all_run:
                        raise NoLongerFitsError(
                            f"{where}: expected exit code 0 of python {' '.join(step.words)}, found {result.code}:\n"
                            f"{result.output}"
                        )

        return said

    def _edit(self, step: Edit, where: str) -> None:
        target = self.folder / step.path
        if not target.is_file():
            raise NoLongerFitsError(f"{where}: expected the file {step.path}, found none")
        text = target.read_text("utf-8")
        if (found := text.count(step.old)) != 1:
            raise NoLongerFitsError(
                f"{where}: expected this text once in {step.path}, found it {found} times:\n{step.old}"
            )
        target.write_text(text.replace(step.old, step.new), "utf-8")

    def python(self, *words: str, env: Mapping[str, str] = {}, timeout: float = 300) -> Result:
        """Run this Python in the tree, whose own modules it imports."""
        given = {name: value for name, value in os.environ.items() if not name.startswith(("GAINSAY_", "PYTEST_"))}
        given |= {"PYTHONPATH": str(self.folder), "PYTHONHASHSEED": "0", **env}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout)

    def pytest(self, *words: str, env: Mapping[str, str] = {}, timeout: float = 300) -> Result:
        """Run pytest on these files of the tree, in one process and without a cache."""
        quiet = ("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short")
        return self.python("-m", "pytest", *quiet, *words, env=env, timeout=timeout)

    def mypy(self, *words: str, timeout: float = 300) -> Result:
        """Run mypy in the tree, with what the repository's last run has kept where there is such a run."""
        kept = ROOT / ".mypy_cache"
        cache = self.folder / ".mypy_cache"
        if kept.is_dir() and not cache.is_dir():
            shutil.copytree(kept, cache)
        words = ("-m", "mypy", "--no-color-output", "--no-error-summary", *words)
        result = self.python(*words, timeout=timeout)
        if "malformed" in result.output or "INTERNAL ERROR" in result.output:
            shutil.rmtree(cache)  # it was copied while another run wrote it
            result = self.python(*words, timeout=timeout)
        return result


def copy(folder: Path) -> Tree:
    """Copy the repository to this folder, which has to be new, with the bytecode that fits its files."""
    made: set[Path] = set()
    for name in _tracked():
        source, target = ROOT / name, folder / name
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        shutil.copy2(source, target)
        kept = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
        if source.suffix == ".py" and kept.is_file():
            (target.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(kept, target.parent / "__pycache__" / kept.name)
    return Tree(folder)


@contextmanager
def lend() -> Iterator[Tree]:
    """Lend a copy for the length of the block."""
    folder = Path(tempfile.mkdtemp(prefix="gainsay-change-"))
    try:
        yield copy(folder / "tree")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without(change: Change, step: str) -> list[Step]:
    """The change less one step, which has to be one of its steps."""
    kept = [one for one in change if one.step != step]
    if len(kept) == len(change):
        raise NoLongerFitsError(f"expected a step {step!r}, found {', '.join(sorted({one.step for one in change}))}")
    return kept


@functools.cache
def _tracked() -> tuple[str, ...]:
    """The names of the repository's files, of which some may be deleted: from git where it is there."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        words = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
        return tuple(name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file())
    names = []
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in LEFT_OUT and not name.endswith("_cache")]
        names += [str((Path(folder) / name).relative_to(ROOT)) for name in files]
    return tuple(sorted(names))
