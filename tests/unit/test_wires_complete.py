"""Every place that has to know a wire knows each of them. One run names all that lack one.

The service does not start with an incomplete table, and then it names the first. So these tests read files and import
no table.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from service.debate.wires import WIRES

ROOT = Path(__file__).resolve().parents[2]
REACHED = tuple(wire for wire in WIRES if wire not in ("offline", "scripted"))
"""The wires of vendors behind HTTP."""
TABLES = {"policy": "service/policy/wires.py", "money": "service/money/usage.py", "app": "service/app.py"}
ADAPTERS = "tests/end_to_end/vendors/adapters.py"
SETTLED = "tests/unit/money/test_settled.py"
CATALOGUE = "tests/unit/policy/test_catalogue.py"
MODELS = "docs/models.md"


def nodes(path: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))


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


def missing(where: str, known: Collection[str], wires: Collection[str] = REACHED) -> str:
    """What is to be done there, or nothing."""
    lacking = [wire for wire in wires if wire not in known]
    return f"add {', '.join(lacking)} to {where}" if lacking else ""


def test_the_tables_are_those_of_the_how_to() -> None:
    assert {layer: path for layer, (path, _) in tables().items()} == TABLES


def test_a_layer_has_the_name_of_its_room_or_module() -> None:
    found = tables()

    assert {layer: path for layer, (path, _) in found.items() if layer not in Path(path).with_suffix("").parts} == {}
    assert found


@pytest.mark.parametrize("layer", TABLES)
def test_a_table_has_a_row_for_each_wire(layer: str) -> None:
    path, rows = tables()[layer]

    assert missing(path, rows, WIRES) == ""


def test_an_adapter_of_each_wire_meets_the_contract_suite() -> None:
    """`ADAPTERS` is typed as complete for the wires of tests, so that each row also has its vendor's side."""
    joined = [
        str(node.args[0].value)
        for node in nodes(ADAPTERS)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Joined"
        if isinstance(node.args[0], ast.Constant)
    ]

    assert missing(f"{ADAPTERS}, with its row in tests/fixtures/vendors.py", joined) == ""
    assert sorted(joined) == sorted(set(joined))


def test_the_usage_of_each_wire_is_settled() -> None:
    """Each row of `SETTLED` names its wire by itself or by a constant of the module."""
    values = {
        target.id: value.value
        for node in nodes(SETTLED)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
        for target, value in zip(node.targets[0].elts, node.value.elts, strict=True)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant)
    }
    (rows,) = (
        node.value.elts
        for node in nodes(SETTLED)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "SETTLED"
        if isinstance(node.value, ast.List)
    )
    wires = [row.elts[1] for row in rows if isinstance(row, ast.Tuple)]
    settled = [values.get(wire.id) if isinstance(wire, ast.Name) else wire.value for wire in wires]  # type: ignore[attr-defined]

    assert missing(SETTLED, [str(wire) for wire in settled]) == ""


def test_the_path_of_each_adapter_is_compared_with_policys() -> None:
    compared = {
        str(key.value)
        for node in nodes(CATALOGUE)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Attribute) and value.attr == "path"
    }

    assert missing(CATALOGUE, compared) == ""


def test_the_page_of_models_has_the_kind_and_an_example_of_each_wire() -> None:
    page = (ROOT / MODELS).read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `kind` \|.*$", page, re.MULTILINE)
    examples = [tomllib.loads(text) for text in re.findall(r"```toml\n(\[providers\.\w+\]\n.*?)```", page, re.DOTALL)]
    kinds = {provider["kind"] for example in examples for provider in example["providers"].values()}

    places = [
        missing(f"the row of `kind` in {MODELS}", re.findall(r"`([^`]+)`", row), WIRES),
        missing(f"the examples of {MODELS}", kinds),
    ]
    assert "\n".join(filter(None, places)) == ""


def test_the_contract_of_adapters_names_each_module_that_holds_one() -> None:
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    holding = [
        path.stem
        for path in (ROOT / "service/providers").glob("*.py")
        if re.search(r"^class \w+\(Vendor\):", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    (independent,) = re.findall(r'name = "no vendor knows another"\n.*\nmodules = \[(.*)\]', contracts)

    assert sorted(re.findall(r'"service\.providers\.(\w+)"', independent)) == sorted(holding)
