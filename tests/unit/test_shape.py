"""The shape of the code itself: sizes, the list of pure modules, and words that no file may say."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "clients/python/src/gainsay_client/types.py"
SOURCES = sorted(
    path for folder in ("service", "clients/python/src") for path in (ROOT / folder).rglob("*.py") if path != GENERATED
)

LONGEST_FUNCTION = 60
LONGEST_MODULE = 450

PURE = {
    "service.audit",
    "service.checks",
    "service.debate",
    "service.delivering.addresses",
    "service.delivering.payload",
    "service.delivering.schedule",
    "service.delivering.signing",
    "service.errors",
    "service.evaluation.plan",
    "service.evaluation.run",
    "service.evaluation.scoring",
    "service.evaluation.sets",
    "service.evaluation.statistics",
    "service.gate",
    "service.identity.api_keys",
    "service.identity.authentication",
    "service.identity.bearer",
    "service.identity.caller",
    "service.identity.claims",
    "service.identity.ids",
    "service.identity.issuing_rules",
    "service.identity.key_sets",
    "service.identity.provider_settings",
    "service.identity.proxy",
    "service.identity.proxy_settings",
    "service.identity.roles",
    "service.identity.settings",
    "service.identity.strict_json",
    "service.identity.tenants",
    "service.identity.tokens",
    "service.money.ledger",
    "service.money.prices",
    "service.money.reckoning",
    "service.money.tokens",
    "service.money.usage",
    "service.observing.attributes",
    "service.observing.span",
    "service.policy.bounds",
    "service.policy.checks",
    "service.policy.faults",
    "service.policy.formats",
    "service.policy.keys",
    "service.policy.limits",
    "service.policy.models",
    "service.policy.parameters",
    "service.policy.policy",
    "service.policy.prices",
    "service.policy.rules",
    "service.policy.seating",
    "service.policy.service_links",
    "service.policy.task_types",
    "service.policy.wires",
    "service.report",
    "service.running.checker",
    "service.running.eligibility",
    "service.running.selection",
    "service.running.versions",
    "service.store.derived",
    "service.verify",
}

# What no file may say: (pattern, why).
BANNED = {
    "compliant": (r"\bcompliant\b", "nobody can promise that; say what is done and how to check it"),
    "right answers": (r"\bguarantees? (?:correct|the right|accurate)\b", "a debate does not make an answer right"),
    "machine paths": (r"/work/(?:main|shared)\b|/root/|/home/\w+/", "a path of one machine means nothing on another"),
    "package hosts": (r"\bpypi\.org\b|\bpythonhosted\.org\b", "where packages come from is the installer's choice"),
}
# A file, or a folder, that has to say one of them all the same, and why.
ALLOWED = {
    "tests/unit/test_shape.py": "lists them",
    "LICENSE": "not our words",
    "bench/corpora/injection/": "attacks and near misses in the words of their authors",
    "service/checks/injection/weights.txt": "the words of these",
}

UNTRACKED = {"build", "data", "dist", "node_modules", "reports", "results", "__pycache__"}


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(module.read_bytes(), filename=str(module))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def text_files() -> Iterator[tuple[str, str]]:
    """Every file of the repository that is text, as (path from the root, content)."""
    for path in sorted(_files(ROOT)):
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            hidden = path.name.startswith(".") and path.name != ".ci"
            if not (hidden or path.name in UNTRACKED or (path / "pyvenv.cfg").exists()):
                yield from _files(path)
        elif path.is_file() and path.name != ".git":  # of a worktree: a file that names where the repository is
            yield path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_function_is_too_long_to_read() -> None:
    lengths = {
        f"{name(module)}:{f.lineno} {f.name}": (f.end_lineno or f.lineno) - f.lineno + 1
        for module in SOURCES
        for f in functions(module)
    }

    too_long = {f: length for f, length in lengths.items() if length > LONGEST_FUNCTION}

    assert len(lengths) > len(SOURCES)
    assert not too_long, f"split what is longer than {LONGEST_FUNCTION} lines"


def test_no_module_is_too_long_to_read() -> None:
    lengths = {name(module): len(module.read_text(encoding="utf-8").splitlines()) for module in SOURCES}

    too_long = {module: length for module, length in lengths.items() if length > LONGEST_MODULE}

    assert not too_long, f"split what is longer than {LONGEST_MODULE} lines"


def test_nothing_waits_in_a_way_that_can_forget_that_it_was_cancelled() -> None:
    """`asyncio.wait_for` of Python 3.11 does, where what it waits for comes in that moment; `asyncio.timeout` never."""
    modules = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "bench").rglob("*.py"))]
    forgets = re.compile(r"asyncio[.]wait_for[(]")
    found = [name(module) for module in modules if forgets.search(module.read_text(encoding="utf-8"))]

    assert not found, "tests have tests.fixtures.waiting.within"


def test_the_import_contract_names_every_pure_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]

    held = next(contract for contract in contracts if contract["name"] == "decisions do no I/O")["source_modules"]

    assert set(held) == PURE


@pytest.mark.parametrize(("banned", "why"), BANNED.values(), ids=BANNED)
def test_no_file_says(banned: str, why: str) -> None:
    pattern = re.compile(banned, re.IGNORECASE)

    found = [
        f"{path}:{content.count(chr(10), 0, match.start()) + 1}"
        for path, content in text_files()
        if not path.startswith(tuple(ALLOWED))
        for match in pattern.finditer(content)
    ]

    assert not found, why


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt", "requirements-build.txt"])
def test_a_lock_names_no_host_and_has_a_hash_for_each_package(lock: str) -> None:
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()

    packages = [line for line in lines if re.match(r"[a-z0-9]", line)]
    unhashed = [a for a, b in zip(lines, [*lines[1:], ""], strict=True) if a in packages and "--hash=sha256:" not in b]
    options = [line for line in lines if line.startswith("-") or "://" in line]

    assert packages
    assert not unhashed
    assert not options, "a lock says what, not from where"
