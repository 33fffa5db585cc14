"""Whether the goldens see a change: each number and word list of the recomputed rules, changed one at a time.

``python -m tests.vectors.perturbed [--sample N] [--seed N] [MODULE...]`` lists the changes that no golden sees.
A change is a whole number one higher or lower, a word left out of a list, or an entry left out of a tuple of texts.
Each is tried in a process of its own that imports the changed module.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FAMILIES = {
    "critiques": ("service/checks/judgement/critique.py",),
    "injections": ("service/checks/judgement/injection.py",),
    "overlaps": ("service/checks/overlap.py",),
    "agreements": (
        *(f"service/checks/consensus/{name}.py" for name in ("judging", "dimensions", "triggers", "conduct", "chance")),
        "service/checks/consensus/transcript.py",
        "service/checks/consensus/explanation.py",
    ),
    "gates": ("service/gate.py",),
    "seats": ("service/policy/seating.py",),
    "usages": ("service/money/usage.py", "service/money/prices.py"),
    "question_types": ("service/checks/question_type.py",),
    "quotations": ("service/checks/citations/*.py",),
}
"""Which module of goldens holds which modules of rules."""
NOT_SEEN: dict[str, str] = {}
"""Changes that no finding can show, by ``path: what``, with the reason."""
DATA = ("lexicon_data.py",)
"""Generated word lists whose hash is in the version's name."""


class Change(NamedTuple):
    """One constant of a module, changed."""

    path: str
    line: int
    what: str
    tree: ast.Module


class _Served(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module from a changed tree."""

    def __init__(self, name: str, path: str, code: CodeType, package: bool) -> None:
        self.name, self.path, self.code, self.package = name, path, code, package

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def get_code(self, fullname: str) -> CodeType:
        return self.code

    def get_source(self, fullname: str) -> str | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def changes(path: Path) -> Iterator[Change]:
    """Every change of a module's constants."""
    tree = ast.parse(path.read_text())
    skipped = _skipped(tree)
    nodes = list(ast.walk(tree))
    for i, node in enumerate(nodes):
        if id(node) in skipped:
            continue
        for what, edited in _edits(node):
            made = copy.deepcopy(tree)
            _replace(list(ast.walk(made))[i], edited)
            name = path.relative_to(ROOT).as_posix()
            yield Change(name, getattr(node, "lineno", 0), f"{ast.unparse(node)[:50]} {what}", made)


def _edits(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            for other in (value - 1, value + 1):
                yield f"-> {other}", ast.Constant(other)
        case ast.Constant(value=str() as text) if len(words := text.split()) > 5 and _is_list(words):
            for n in {0, len(words) // 2, len(words) - 1}:
                yield f"without {words[n]}", ast.Constant(" ".join(words[:n] + words[n + 1 :]))
        case ast.Tuple(elts=elts) if len(elts) > 1 and all(_is_text(one) for one in elts):
            for n in {0, len(elts) - 1}:
                yield f"without {ast.unparse(elts[n])}", ast.Tuple(elts[:n] + elts[n + 1 :], ast.Load())


def _is_list(words: Sequence[str]) -> bool:
    return all(word.replace("'", "").replace("-", "").isalpha() and word.islower() for word in words)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _skipped(tree: ast.Module) -> set[int]:
    """Docstrings, annotations, indices and f-strings' texts: no thresholds."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts = [node.value]
        elif isinstance(node, ast.Subscript):
            parts = [node.slice]
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef) and node.returns:
            parts = [node.returns]
        elif isinstance(node, ast.Raise | ast.JoinedStr) or ast.unparse(node).startswith("__all__ ="):
            parts = [node]
        found |= {id(inner) for part in parts for inner in ast.walk(part)}
    return found


def _replace(node: ast.AST, by: ast.AST) -> None:
    for field in by._fields:
        setattr(node, field, getattr(by, field))


def seen(change: Change, family: str) -> bool:
    """Whether a golden of the family differs, or cannot be made, with the change."""
    child = os.fork()
    if child == 0:
        sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - until the process ends
        code = 1
        try:
            code = 0 if _same(change, family) else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def _same(change: Change, family: str) -> bool:
    package = change.path.endswith("__init__.py")
    name = change.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    code = compile(ast.fix_missing_locations(change.tree), change.path, "exec")
    for loaded in [*sys.modules]:  # also in a process that has imported the rules before
        if loaded.partition(".")[0] in ("service", "tests") and loaded != "service.telemetry":
            del sys.modules[loaded]
    sys.meta_path.insert(0, _Served(name, str(ROOT / change.path), code, package))
    from tests.vectors import goldens

    module = importlib.import_module(f"tests.vectors.goldens.{family}")
    stored = goldens.stored()
    return all(golden.make() == stored.get(name) for name, golden in module.goldens().items())


def all_changes(only: Sequence[str] = ()) -> list[tuple[str, Change]]:
    """Every change of every family, or of those modules whose path holds one of these words."""
    return [
        (family, change)
        for family, patterns in FAMILIES.items()
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
        if path.name not in DATA and (not only or any(word in path.as_posix() for word in only))
        for change in changes(path)
    ]


def unseen(found: Sequence[tuple[str, Change]]) -> Iterator[str]:
    """The changes that no golden sees."""
    for family, change in found:
        if f"{change.path}: {change.what}" not in NOT_SEEN and not seen(change, family):
            yield f"{change.path}:{change.line}: {change.what}"


def main(words: Sequence[str]) -> int:
    """List what is not seen."""
    sample = int(words[words.index("--sample") + 1]) if "--sample" in words else None
    seed = int(words[words.index("--seed") + 1]) if "--seed" in words else random.randrange(10**6)
    found = all_changes([word for word in words if not word.startswith("--") and not word.isdigit()])
    if sample is not None:
        sys.stdout.write(f"a sample of {sample} of {len(found)} changes, --seed {seed}\n")
        found = random.Random(seed).sample(found, min(sample, len(found)))
    missed = 0
    for line in unseen(found):
        missed += 1
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(found) - missed} of {len(found)} changes are seen\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
