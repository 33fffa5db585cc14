"""A copy of the repository to which a toy change is applied, and commands that run in the changed copy.

A change is a list of steps as a newcomer makes them: ``Edit`` (a text that stands once in a file, and the text that
takes its place), ``Write`` (a new file), ``Append`` (lines at the end of a file) and ``Run`` (a command that writes
files). Each step has the name of the step of its how-to, so that a test can leave it out. A copy has the tracked files,
and the new ones that git does not ignore. It shares no file with the repository, so that a command in it changes the
copy alone.
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
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Append:
    """Add lines at the end of a file."""

    step: str
    path: str
    text: str


Step = Edit | Write | Append | Run
Change = Sequence[Step]


@dataclass(frozen=True)
class Result:
    """What a command in a tree has ended with and said."""

    code: int
    output: str


@dataclass(frozen=True)
class Tree:
    """A copy of the repository in a folder of its own. ``written`` has what commands changed, as it was before."""

    folder: Path
    written: dict[tuple[str, ...], dict[Path, bytes | None]] = field(default_factory=dict)

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
                case Append():
                    with (self.folder / step.path).open("a", encoding="utf-8") as file:
                        file.write(step.text)
                case Run():
                    before = self._files()
                    result = self.python(*step.words)
                    written = self.written.setdefault(step.words, {})
                    for path, text in self._files().items():
                        if text != before.get(path):
                            written.setdefault(path, before.get(path))
                    said += result.output
                    if result.code and all_run:
                        raise NoLongerFitsError(
                            f"{where}: expected exit code 0 of python {' '.join(step.words)}, found {result.code}:\n"
                            f"{result.output}"
                        )

        return said

    @contextmanager
    def without(self, change: Change, name: str) -> Iterator[None]:
        """Leave out one step of a change that was applied, for the length of the block.

        Raises ``NoLongerFitsError`` where what the step has written does not stand there once.
        """
        steps = [step for step in change if step.step == name]
        if not steps:
            raise NoLongerFitsError(f"expected a step {name!r}, found {', '.join(sorted({s.step for s in change}))}")
        paths = [path for step in steps for path in self._paths(step)]
        saved = {path: path.read_bytes() for path in paths if path.is_file()}
        try:
            for step in reversed(steps):
                self._undo(step)
            yield
        finally:
            for path, text in saved.items():
                path.write_bytes(text)

    def _undo(self, step: Step) -> None:
        match step:
            case Edit():
                self._edit(Edit(step.step, step.path, step.new, step.old), f"step {step.step!r}, left out")
            case Append():
                self._edit(Edit(step.step, step.path, step.text, ""), f"step {step.step!r}, left out")
            case Write():
                (self.folder / step.path).unlink()
            case Run():
                for path, text in self.written[step.words].items():
                    path.unlink() if text is None else path.write_bytes(text)

    def _paths(self, step: Step) -> list[Path]:
        return [*self.written[step.words]] if isinstance(step, Run) else [self.folder / step.path]

    def _files(self) -> dict[Path, bytes]:
        """Every file that a command of a how-to may write."""
        places = ("service/audit/schemas", "service/prompts", "tests/vectors")
        found = (path for place in places for path in (self.folder / place).rglob("*"))
        return {path: path.read_bytes() for path in found if path.is_file() and path.suffix != ".pyc"}

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

    def python(self, *words: str, env: Mapping[str, str] = {}, timeout: float = 900) -> Result:
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


def commit() -> str:
    """The commit of the repository, or nothing where git is not there."""
    git = shutil.which("git")
    if not (git and (ROOT / ".git").exists()):
        return ""
    return subprocess.run(
        [git, "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False, text=True
    ).stdout.strip()


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
