"""Which tests to run after a change: `python tests/loops/changed.py [SINCE]` prints test files, the nearest first.

A change is the difference from SINCE (HEAD), with files that git does not track; without a difference, it is the last
commit. The order is: tests that changed themselves, tests that are named like a changed module, tests that depend on
one through imports. A file that is not a module (a document, a migration, a prompt) counts for the
modules and tests that name it, and for the modules in its folder.

Files are chosen in this order until their last known times fill the budget. Standard error names the files that are
left out; `make test` runs them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMES = ROOT / ".pytest_cache/v/gainsay/time-by-file"
CLIENT = "clients/python/src"
ALWAYS = "tests/unit/test_shape.py"
FOR_ALL = (
    "tests/conftest.py",
    "tests/loops/collecting.py",
    "tests/loops/timing.py",
    "pyproject.toml",
    "requirements-dev.txt",
)
"""A change to one of these concerns every test, so a choice of tests is incomplete."""
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
UNKNOWN_S = {"unit": 2.0}
"""The assumed time of a file that has not run yet, by its folder."""
OTHERWISE_S = 8.0
LONGEST_S = 20.0
"""A file that lasts longer is left out, unless it changed itself: it would not end within the minute."""
SHOWN = 20
"""How many of the files that are left out are printed by name."""


def main() -> int:
    """Print the files; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("since", nargs="?", default="HEAD", help="what to compare with")
    parser.add_argument("--budget", type=float, default=70.0, help="seconds of tests, all workers together")
    options = parser.parse_args()
    changed = changes(options.since)
    ranks = ranked(changed, sources())
    chosen, left = within(ranks, options.budget, times())
    print(*chosen)
    tell(changed, chosen, left)
    return 0


def changes(since: str) -> list[str]:
    """The files that differ from a commit, and untracked ones; without any, the files of the last commit."""
    new = git("ls-files", "--others", "--exclude-standard")
    return sorted({*git("diff", "--name-only", since), *new}) or git("diff", "--name-only", "HEAD~1", "HEAD")


def git(*words: str) -> list[str]:
    """The lines that git answers."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(f"git {words[0]}: there is no git on this machine; run `make test`") from None
    if done.returncode:
        raise SystemExit(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def sources() -> dict[str, str]:
    """The text of every module of the service, of its client, of the tests and of the measurements, by path."""
    folders = ("service", "tests", "bench", CLIENT)
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in found}


def ranked(changed: Iterable[str], texts: Mapping[str, str]) -> dict[str, int]:
    """The distance of each affected test file from the change; 0 is the change itself."""
    ranks: dict[str, int] = {ALWAYS: 0}
    modules: set[str] = set()
    for path in changed:
        if path in texts:
            modules.add(path)
        else:
            readers = {other for other, text in texts.items() if names(text, path)} | beside(path, texts)
            modules |= readers or {other for other, text in texts.items() if names_folder(text, path)}
    folders = {Path(module).parent.name for module in modules}
    found = distances(modules, importers(texts))
    for path in filter(is_test, texts):
        if found.get(path) == 0:
            ranks[path] = 0
        elif any(mirrors(path, module) for module in modules):
            ranks.setdefault(path, 1)
        elif path in found:
            ranks.setdefault(path, 2 * found[path] + (Path(path).parent.name not in folders))
    return ranks


def distances(start: Set[str], users: Mapping[str, Set[str]]) -> dict[str, int]:
    """How many imports lie between each module and the nearest start that it depends on."""
    found, edge, distance = dict.fromkeys(start, 0), set(start), 0
    while edge:
        distance += 1
        edge = {user for path in edge for user in users.get(path, ())} - found.keys()
        found |= dict.fromkeys(edge, distance)
    return found


def importers(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules that import each module, by path."""
    paths = {module_of(path): path for path in texts}
    users: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for name in imported(text) | by_name(path, text):
            if name in paths:
                users[paths[name]].add(path)
    return users


def imported(text: str) -> set[str]:
    """The names that a module imports; a name imported from a module counts as a module too."""
    found = set()
    for whole, parts, plain in IMPORT.findall(text):
        if whole:
            found |= {whole, *(f"{whole}.{part}" for part in re.findall(r"\w+", parts))}
        else:
            found |= set(re.findall(r"[\w.]+", plain))
    return found


def by_name(path: str, text: str) -> set[str]:
    """The modules that a package may import by a name in quotes, as the command line does."""
    if "import_module(" not in text or not path.endswith("/__init__.py"):
        return set()
    return {f"{module_of(path)}.{word}" for word in re.findall(r'"(\w+)"', text)}


def module_of(path: str) -> str:
    """The dotted name of a module."""
    return path.removeprefix(f"{CLIENT}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def names(text: str, path: str) -> bool:
    """Whether a module's text names a file that is not a module."""
    return re.search(rf"\b{re.escape(Path(path).name)}\b", text) is not None


def names_folder(text: str, path: str) -> bool:
    """Whether a module's text names the folder of a file, as the store names that of the migrations."""
    folder = Path(path).parent.name
    return bool(folder) and f'"{folder}"' in text


def beside(path: str, texts: Mapping[str, str]) -> set[str]:
    """The modules in the folder of a file: one of them reads it."""
    folder = Path(path).parent.as_posix()
    return {other for other in texts if Path(other).parent.as_posix() == folder and not is_test(other)}


def is_test(path: str) -> bool:
    """Whether pytest collects it."""
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def mirrors(test: str, module: str) -> bool:
    """Whether a test is named like a module: its name begins with the module's, or is that of the module's package."""
    own = Path(test).stem.removeprefix("test_")
    path = Path(module)
    wanted = path.parent.name if path.stem == "__init__" else path.stem
    return own == wanted or own.startswith(f"{wanted}_") or path.parent.name == own != "service"


def times() -> dict[str, float]:
    """What each file took last, as `tests/loops/timing.py` keeps it."""
    try:
        return {file: wall_s for file, (_, wall_s) in json.loads(TIMES.read_text("utf-8")).items()}
    except (OSError, ValueError):
        return {}


def within(ranks: Mapping[str, int], budget_s: float, took: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The files that fit the budget, nearest and then shortest first, and the files that are left out."""

    def lasts(path: str) -> float:
        return took.get(path, UNKNOWN_S.get(path.split("/")[1], OTHERWISE_S))

    chosen, left = list[str](), list[str]()
    for path in sorted(ranks, key=lambda path: (ranks[path], lasts(path), path)):
        if ranks[path] == 0 or lasts(path) <= min(budget_s, LONGEST_S):  # always; --stop-after bounds the run
            chosen.append(path)
            budget_s -= lasts(path)
        else:
            left.append(path)
    return chosen, left


def tell(changed: list[str], chosen: list[str], left: list[str]) -> None:
    """Print the choice to standard error."""
    print(f"{len(changed)} files changed: {len(chosen)} test files, {len(left)} left out", file=sys.stderr)
    for path in left[:SHOWN]:
        print(f"  left out: {path}", file=sys.stderr)
    if left[SHOWN:]:
        print(f"  left out: {len(left) - SHOWN} more", file=sys.stderr)
    for path in changed:
        if path in FOR_ALL:
            print(f"  {path} concerns every test: run `make test`", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
