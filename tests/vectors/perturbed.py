"""Whether the goldens see a change: each number and word list of the recomputed rules, changed one at a time.

``python -m tests.vectors.perturbed [--sample N] [--seed N] [MODULE...]`` lists the changes that no golden sees.
A change is a whole number one higher or lower, a word left out of a list, an entry left out of a tuple of texts, or a
text of a report said otherwise. Each is tried in a process of its own that imports the changed module, and every module
of the service anew, so that none of them keeps the unchanged one.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FAMILIES = {
    "critiques": ("service/checks/judgement/critique.py", "service/checks/judgement/wording/*.py"),
    "voices": ("service/checks/judgement/voices.py", "service/debate/emptiness.py"),
    "injections": ("service/checks/injection/*.py",),
    "overlaps": ("service/checks/overlap.py",),
    "passages": ("service/checks/texts/*.py",),
    "inputs": ("service/checks/given.py",),
    "counts": ("service/money/tokens.py", "service/money/ledger.py"),
    "agreements": (
        *(
            f"service/checks/consensus/{name}.py"
            for name in (
                "assessment",
                "dimensions",
                "triggers",
                "conduct",
                "chance",
                "transcript",
                "explanation",
                "synthesis",
            )
        ),
    ),
    "gates": ("service/gate.py", "service/policy/task_types.py"),
    "seats": ("service/policy/seating.py",),
    "usages": (
        "service/money/usage.py",
        "service/money/floor.py",
        "service/money/prices.py",
        "service/money/reckoning.py",
    ),
    "question_types": ("service/checks/question_type.py",),
    "constants stages word_lists quotations": ("service/checks/citations/**/*.py",),
    "texts": (
        "service/audit/bundle_texts.py",
        "service/checks/coverage/*.py",
        "service/report/*labels.py",
        *(f"service/report/{folder}/*.py" for folder in ("document", "formats", "result")),
    ),
}
"""Which modules of goldens hold which modules of rules."""
WORDED = ("service/audit/bundle_texts.py", "service/report/")
"""Where each text is changed too: the words of a report and of README.txt."""
CONSENSUS, CITATIONS = "service/checks/consensus", "service/checks/citations"
DEAD, UNUSED = (
    "{frozenset({'affirmative', 'negative'}): 0, frozenset({'affi",
    "rounds count from 1, and the last is the newest",
)
NOWHERE = "('', 'global', 'not_available')"
NOT_SEEN: dict[str, str] = {
    **dict.fromkeys(
        (f"{CONSENSUS}/dimensions.py: 0 -> {n} in {DEAD}" for n in (-1, 1)),
        "`_stance` answers this pair before it asks",
    ),
    **dict.fromkeys(
        (f"{CONSENSUS}/dimensions.py: 0 -> {n} in ('', 0, set[int]())" for n in (-1, 1)),
        "no source is called '', so the first span begins a new passage whatever the end is",
    ),
    f"{CONSENSUS}/dimensions.py: 0 -> -1 in (span, 0)": "any two marks tell whose a span is",
    f"{CONSENSUS}/dimensions.py: 1 -> 2 in (span, 1)": "any two marks tell whose a span is",
    f"{CONSENSUS}/dimensions.py: 1 -> 0 in range(1, r)": UNUSED,
    f"{CONSENSUS}/triggers.py: 1 -> 0 in range(1, r + 1)": UNUSED,
    f"{CONSENSUS}/triggers.py: 1 -> 2 in range(1, r + 1)": "a blind answer has no objection",
    f"{CONSENSUS}/triggers.py: 1 -> 2 in r + 1": UNUSED,
    **dict.fromkeys(
        (
            f"{CITATIONS}/text/{module}.py: {change} in 1 << {size}"
            for module, size in (("fold", 14), ("spelling", 12), ("tokens", 10), ("tokens", 12))
            for change in ("1 -> 0", "1 -> 2", f"{size} -> {size - 1}", f"{size} -> {size + 1}")
        ),
        "the size of a cache",
    ),
    **dict.fromkeys(
        (
            *(f"{CITATIONS}/text/outline.py: {change} in 1 << 60" for change in ("1 -> 2", "60 -> 59", "60 -> 61")),
            *(f"{CITATIONS}/verdict/judge.py: {change} in 1 << 30" for change in ("1 -> 2", "30 -> 29", "30 -> 31")),
        ),
        "stands for more than any text has",
    ),
    **dict.fromkeys(
        (f"{CITATIONS}/match/alignment.py: 0 -> -1 in {name} > 0" for name in ("step", "way")), "it is 1 or -1"
    ),
    f"{CONSENSUS}/conduct.py: 1 -> 0 in range(1, t.rounds + 1)": UNUSED,
    f"{CONSENSUS}/conduct.py: 1 -> 2 in t.rounds + 1": UNUSED,
    f"{CONSENSUS}/conduct.py: 2 -> 1 in range(2, t.rounds + 1)": "the blind round shows no claims",
    **dict.fromkeys(
        (f"{CONSENSUS}/transcript.py: 0 -> {n} in default=0" for n in (-1, 1)), "without answers no round has a voice"
    ),
    **dict.fromkeys(
        (f"{CONSENSUS}/transcript.py: 0 -> {n} in last.get(seat_of(turn), 0)" for n in (-1, 1)),
        "the other of the two is a round, from 1",
    ),
    **dict.fromkeys(
        (f"service/policy/seating.py: 1 -> {n} in AdversarialOptions(1, 1, 1, human_review=False)" for n in (0, 2)),
        "of this table only the seats are read, and how often the framing is asked",
    ),
    f"service/money/usage.py: {NOWHERE} without '' in _NOWHERE = {NOWHERE}": "`_tier` gives '' for it too",
    **{
        f"service/money/tokens.py: {n} -> {n + d} in {name} = {n}": "a count is kept or made again, and is the same"
        for name, n in (("FENCES_MAX", 512), ("KEPT", 16384), ("KNOWN_MAX", 1024), ("WHOLE_MAX", 16))
        for d in (-1, 1)
    },
    **{
        f"service/money/tokens.py: 1 -> {n} in {where}": "a text and its parts have the same count"
        for where in ("len(parts) == 1", "1 < len(parts) <= WHOLE_MAX")
        for n in (0, 2)
    },
    **dict.fromkeys(
        (
            *(f"service/checks/judgement/wording/softening.py: 64 -> {n} in KEPT = 64" for n in (63, 65)),
            *(f"service/checks/texts/clauses.py: 256 -> {n} in _KEPT = 256" for n in (255, 257)),
            *(
                f"service/checks/judgement/wording/relation.py: 16384 -> {n} in WORDS_KEPT = 16384"
                for n in (16_383, 16_385)
            ),
            *(f"service/checks/judgement/wording/relation.py: 60 -> {n} in LONGEST_KEPT = 60" for n in (59, 61)),
        ),
        "the size of a cache",
    ),
    **dict.fromkeys(
        (
            *(f"service/checks/kept.py: 0 -> {n} in characters = 0" for n in (-1, 1)),
            *(f"service/checks/kept.py: 0 -> {n} in _Came.characters = 0" for n in (-1, 1)),
            *(f"service/checks/kept.py: 32 -> {n} in MOST_CHARACTERS // 32" for n in (31, 33)),
        ),
        "a document that is let go is read again",
    ),
    "service/money/tokens.py: 0 -> -1 in max(0, len(sizes) - 1)": "no text has no tokens either way",
    **dict.fromkeys(
        (f"service/money/ledger.py: 0 -> {n} in cls(0)" for n in (-1, 1)), "the start of a debate sets the ceiling"
    ),
    "service/money/prices.py: 0 -> -1 in paid.cache_write_1h or 0": "no rate is below 0, and the dearest is taken",
}
"""Changes that no finding can show, by their names, with the reason."""
DRAWN = (
    *("bar_chart.py", "html.py", "html_text.py", "pdf.py", "plots.py", "sparkline.py", "strip_chart.py"),
    *("stylesheet.py", "time_chart.py", "typst_template.py"),
)
"""Modules that draw a report, and say nothing in its text."""
DATA = ("lexicon_data.py", *DRAWN)
"""No rules and no words of a version: generated word lists, whose hash is in its name, and what draws a report."""
MOST_S, MOST_BYTES = 60, 4 << 30
"""Processor time and memory of one change's process; beyond either the change is seen."""


Lines = Callable[[str, Mapping[int, Iterable[object]]], bytes]


class Change(NamedTuple):
    """One constant of a module, changed: a tree, and what replaces the node of a number in it.

    ``where`` is the expression around the constant.
    """

    path: str
    line: int
    what: str
    tree: ast.Module
    where: str = ""
    edit: tuple[int, ast.AST] | None = None

    @property
    def name(self) -> str:
        """By which `NOT_SEEN` knows it."""
        return f"{self.path}: {self.what} in {self.where}"

    def edited(self) -> ast.Module:
        """The tree with the change in it."""
        made = copy.deepcopy(self.tree)
        if self.edit is not None:
            _replace(list(ast.walk(made))[self.edit[0]], self.edit[1])
        return made


class _Served(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module from a changed tree."""

    def __init__(self, name: str, path: str, code: CodeType, package: bool) -> None:
        self.name, self.path, self.code, self.package = name, path, code, package

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        folders = [str(Path(self.path).parent)] if self.package else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=folders
        )

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
    name = path.relative_to(ROOT).as_posix()
    worded = name.startswith(WORDED)
    skipped = _skipped(tree, worded=worded)
    nodes = list(ast.walk(tree))
    around = {id(inner): outer for outer in nodes for inner in ast.iter_child_nodes(outer)}
    for i, node in enumerate(nodes):
        if id(node) in skipped:
            continue
        for what, edited in (*_edits(node), *(_said_otherwise(node) if worded else ())):
            yield Change(
                name,
                getattr(node, "lineno", 0),
                f"{ast.unparse(node)[:50]} {what}",
                tree,
                ast.unparse(around[id(node)])[:60],
                (i, edited),
            )


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


def is_worded(text: str) -> bool:
    """Whether a text of a report's module is words and no code: several of them, or one with a capital."""
    return " " in text or (text[:1].isupper() and text[1:2].islower())


def _said_otherwise(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_worded(node.value.strip()):
        yield "said otherwise", ast.Constant(f"{node.value}~")


def _is_list(words: Sequence[str]) -> bool:
    return all(word.replace("'", "").replace("-", "").isalpha() and word.islower() for word in words)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _skipped(tree: ast.Module, *, worded: bool = False) -> set[int]:
    """Docstrings, annotations and indices; f-strings' texts too where no words count: no thresholds."""
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
        elif (
            isinstance(node, ast.Raise)
            or (isinstance(node, ast.JoinedStr) and not worded)
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        ):
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
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))  # a change may end no loop
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
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
    code = compile(ast.fix_missing_locations(change.edited()), change.path, "exec")
    for loaded in [*sys.modules]:  # also in a process that has imported the rules before
        if loaded.partition(".")[0] in ("service", "tests") and loaded != "service.telemetry":
            del sys.modules[loaded]
    sys.meta_path.insert(0, _Served(name, str(ROOT / change.path), code, package))
    from tests.vectors import goldens

    stored = goldens.stored()
    goldens.__dict__["lines"] = _stopping(goldens.lines, stored)
    modules = [importlib.import_module(f"tests.vectors.goldens.{name}") for name in family.split()]
    for module in modules:
        if hasattr(module, "told"):
            module.__dict__["told"] = _stopping_at_a_report(module.told, stored)
    held = (one for module in modules for one in module.goldens().items())
    return all(golden.make() == stored.get(name) for name, golden in held)


def _stopping(lines: Lines, stored: Mapping[str, bytes]) -> Lines:
    """What makes a golden's lines, ending at the first one that no stored file has: most changes show early."""
    known = {line for found in stored.values() for line in found.splitlines()}

    def checked(version: str, values: Iterable[object]) -> Iterator[object]:
        for value in values:
            if not known.issuperset(lines(version, {1: (value,)}).splitlines()):
                raise LookupError("a line that is not stored")
            yield value

    return lambda version, values: lines(version, {n: checked(version, found) for n, found in values.items()})


def _stopping_at_a_report(told: Callable[..., bytes], stored: Mapping[str, bytes]) -> Callable[..., bytes]:
    """What writes a report, ending at the first one of which no stored file has the hash."""
    known = {sha256(found).hexdigest() for found in stored.values()}
    known |= {line.partition(b" ")[0].decode() for found in stored.values() for line in found.splitlines()}

    def checked(*given: object) -> bytes:
        report = told(*given)
        if sha256(report).hexdigest() not in known:
            raise LookupError("a report that is not stored")
        return report

    return checked


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
    """The changes that no golden sees, and the reasons in `NOT_SEEN` that do not hold."""
    for family, change in found:
        excuse = NOT_SEEN.get(change.name)
        if seen(change, family) != (excuse is None):
            said = f", which is seen, although {excuse}" if excuse else ""
            yield f"line {change.line} of {change.name}{said}"


def main(words: Sequence[str]) -> int:
    """List what is not seen."""
    sample = int(words[words.index("--sample") + 1]) if "--sample" in words else None
    seed = int(words[words.index("--seed") + 1]) if "--seed" in words else random.randrange(10**6)
    found = all_changes([word for word in words if not word.startswith("--") and not word.isdigit()])
    if sample is not None:
        sys.stdout.write(f"a sample of {sample} of {len(found)} changes, --seed {seed}\n")
        found = random.Random(seed).sample(found, min(sample, len(found)))
    importlib.import_module("tests.vectors.goldens").registry()  # what others wrote is then imported once and for all
    missed = 0
    for line in unseen(found):
        missed += 1
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    excused = sum(change.name in NOT_SEEN for _, change in found)
    sys.stdout.write(f"{len(found) - missed} of {len(found)} changes are as they should be ({excused} in NOT_SEEN)\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
