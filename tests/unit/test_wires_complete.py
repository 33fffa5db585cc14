"""Every place that has to know a wire knows each of them. One run names all that lack one.

The service does not start with an incomplete table, and then it names the first. So these tests read files and import
no table.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from service.debate.wires import WIRES

ROOT = Path(__file__).resolve().parents[2]
REACHED = tuple(wire for wire in WIRES if wire not in ("offline", "scripted"))
"""The wires of vendors behind HTTP."""
TABLES = {"policy": "service/policy/wires.py", "money": "service/money/usage.py", "app": "service/app.py"}
NAMED = (
    ("docs/models.md", "`{}`"),
    ("docs/models.md", 'kind = "{}"'),
    ("tests/unit/money/test_settled.py", '"{}"'),
    ("tests/unit/policy/test_catalogue.py", '"{}"'),
    ("tests/end_to_end/vendors/adapters.py", '"{}"'),
)
"""The other places that docs/how-to/add-a-vendor.md lists, and how a wire is written there."""


def tables() -> dict[str, tuple[str, set[str]]]:
    """The file and the rows of every table of wires, by its layer."""
    found = {}
    for path in (ROOT / "service").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if " complete_wires(" in source else ():
            match node:
                case ast.Call(func=ast.Name("complete_wires"), args=[ast.Dict(keys), ast.Constant(str(layer)), _]):
                    rows = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
                    found[layer] = (str(path.relative_to(ROOT)), rows)
                case _:
                    pass
    return found


def test_the_tables_are_those_of_the_how_to() -> None:
    assert {layer: path for layer, (path, _) in tables().items()} == TABLES


def test_a_layer_has_the_name_of_its_room_or_module() -> None:
    found = tables()

    assert {layer: path for layer, (path, _) in found.items() if layer not in Path(path).with_suffix("").parts} == {}
    assert found


@pytest.mark.parametrize("layer", TABLES)
def test_a_table_has_a_row_for_each_wire(layer: str) -> None:
    path, rows = tables()[layer]

    assert [wire for wire in WIRES if wire not in rows] == [], f"add them to {path}"


@pytest.mark.parametrize(("path", "written"), NAMED)
def test_a_page_or_a_suite_knows_each_wire_of_a_vendor(path: str, written: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")

    assert [wire for wire in REACHED if written.format(wire) not in text] == [], f"add them to {path}"


def test_the_contract_of_adapters_names_each_module_that_holds_one() -> None:
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    holding = [
        path.stem
        for path in (ROOT / "service/providers").glob("*.py")
        if re.search(r"^class \w+\(Vendor\):", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    (independent,) = re.findall(r'name = "no vendor knows another"\n.*\nmodules = \[(.*)\]', contracts)

    assert sorted(re.findall(r'"service\.providers\.(\w+)"', independent)) == sorted(holding)
