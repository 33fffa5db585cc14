"""The page on the architecture names what is there, and its picture has the rows of the import contract."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ROOT / "service"
UNIT = ROOT / "tests" / "unit"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# A folder that a former version left behind has nothing but compiled files.
ROOMS = {
    path.relative_to(SERVICE).parts[0]
    for path in SERVICE.glob("*/**/*")
    if path.is_file() and "__pycache__" not in path.parts
}
MODULES = {"app", "errors", "gate", "log_lines", "telemetry", "unseen"}
BESIDE = {"__init__.py", "__main__.py", "gainsay.toml", "py.typed"}

PATHS = sorted(set(re.findall(r"`((?:service|tests|migrations|docs)/[\w./-]*)`", PAGE)))
NAMES = sorted(set(re.findall(r"`((?:service|migrations)/[\w./-]+):([\w.]+)`", PAGE)))


def drawn() -> list[set[str]]:
    """The rows of the picture, from outside to inside."""
    picture = PAGE.split("```text\n")[1].split("```")[0]
    rows = re.findall(r"^ +[│▼] {5}([a-z_]+(?: \| [a-z_]+)*)(?: {2,}|$)", picture, re.MULTILINE)
    return [set(row.split(" | ")) for row in rows]


def defined(path: str, name: str) -> bool:
    """Whether a module has this class, function or method."""
    body: list[ast.stmt] = ast.parse((ROOT / path).read_bytes()).body
    for part in name.split("."):
        kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        found = [node for node in body if isinstance(node, kinds) and node.name == part]
        if not found:
            return False
        body = found[0].body
    return True


def is_there(name: str) -> bool:
    """Whether a path or a dotted name is a folder or a file of the service, or a name that a module holds."""
    path = ROOT / name
    dotted = ROOT / name.replace(".", "/")
    if path.exists() or dotted.is_dir() or dotted.with_suffix(".py").is_file():
        return True
    inside = (dotted.parent.with_suffix(".py"), dotted.parent / "__init__.py")
    return any(re.search(rf"\b{dotted.name}\b", module.read_text("utf-8")) for module in inside if module.is_file())


def test_there_are_at_most_twenty_two_folders_and_no_module_lies_beside_them_but_six() -> None:
    loose = {path.name for path in SERVICE.iterdir() if path.is_file()}

    assert len(ROOMS) <= 22
    assert loose == {f"{module}.py" for module in MODULES} | BESIDE


def test_unit_tests_lie_in_the_folder_of_their_room_but_for_those_that_a_decision_names() -> None:
    folders = {path.parent.relative_to(UNIT).parts[0] for path in UNIT.glob("*/**/test_*.py")}

    assert folders - ROOMS == {"bench", "loops", "release"}
    assert folders >= ROOMS


def test_the_picture_has_the_rows_of_the_import_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["name"] == "imports point inwards")

    assert drawn() == [set(row.split(" | ")) for row in layers if row != "__main__"]


def test_every_room_is_in_the_picture_and_has_a_row_that_says_what_it_is() -> None:
    told = re.findall(r"^\| `service/([a-z]+)/` \| [^|]+ \| `service/([a-z]+)/[^`]+` \|$", PAGE, re.MULTILINE)

    assert set().union(*drawn()) == ROOMS | MODULES
    assert sorted(room for room, _ in told) == sorted(ROOMS)
    assert [(room, of) for room, of in told if room != of] == []


def test_every_path_of_the_page_is_there() -> None:
    assert len(PATHS) > 2 * len(ROOMS)
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


def test_every_name_of_the_page_is_in_its_file() -> None:
    assert [f"{path}:{name}" for path, name in NAMES if not defined(path, name)] == []


def test_every_module_that_code_names_in_words_is_there() -> None:
    code = sorted(path for folder in ("service", "tests") for path in (ROOT / folder).rglob("*.py"))

    named = {(path, name) for path in code for name in re.findall(r"`(service[./][\w./]*\w)`", path.read_text("utf-8"))}

    assert len(named) > 20
    named = {(path, name) for path, name in named if not re.search(r"\b[A-Z]{2,}\b", name)}  # SCHEMAS/VERSION/NAME.json
    missing = [f"{path.relative_to(ROOT)}: {name}" for path, name in sorted(named) if not is_there(name)]
    assert missing == [], "these texts name modules that are not there"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("service/checks/consensus", True),
        ("service/consensus", False),
        ("service.debate.kinds", True),
        ("service.debate.kinds.Kinds", True),
        ("service.debate.kinds.Sorts", False),
    ],
)
def test_a_module_that_is_not_there_is_noticed(name: str, *, expected: bool) -> None:
    assert is_there(name) is expected


def test_a_name_that_no_file_has_is_noticed() -> None:
    assert len(NAMES) > 40
    assert not defined("service/gate.py", "should_not_debate")
    assert not defined("service/running/runner.py", "Runner.walk")
