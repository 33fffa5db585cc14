"""A table over a closed list is complete or its module cannot be imported, also under ``python -O``.

The tables of formats and of wires have tests of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import service
from service.debate.model import CHECK_KINDS, complete_checks
from service.errors import IncompleteTable
from service.gate import GATES
from tests.fixtures.tables import import_changed, leave_out

ROOT = Path(service.__file__).parent.parent
TABLES = (
    ("service.running.checker", "ENGINES", "running", "kind of check", "citations"),
    ("service.verify.checks", "ENGINES", "verify", "kind of check", "accuracy"),
    ("service.verify.gate", "EXPECTED", "verify", "version of the gate", next(iter(GATES))),
    ("service.intake.expected_cost", "EXPECTED", "intake", "version of the gate", next(iter(GATES))),
    ("service.running.versions", "KNOWN", "running", "sealed part", "layout"),
    ("service.verify.versions", "KNOWN", "verify", "sealed part", "layout"),
)
"""Each table's module and name, its layer, its closed list, and a row to leave out."""


def without(tree: ast.Module, table: str, row: str) -> ast.Module:
    """The module with a table that lacks one row."""
    (value,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == table
    ]
    leave_out(value.args[0] if isinstance(value, ast.Call) else value, row)
    return tree


@pytest.mark.parametrize(("module", "table", "layer", "kind", "row"), TABLES)
def test_a_module_with_a_table_that_lacks_a_row_cannot_be_imported(
    module: str, table: str, layer: str, kind: str, row: str
) -> None:
    path = Path(str(import_module(module).__file__))
    tree = without(ast.parse(path.read_text(encoding="utf-8")), table, row)

    with pytest.raises(IncompleteTable) as refused:
        import_changed(module, tree)

    assert refused.value.code == "incomplete_table"
    where = f"the table of the layer {layer} ({path.relative_to(ROOT)})"
    assert refused.value.detail == (
        f"expected a row for each {kind} in {where}, found none for: {row}; add it as docs/how-to/change-a-rule.md says"
    )


def test_a_row_for_a_name_that_is_not_in_the_list_is_refused() -> None:
    rows: dict[Any, int] = {**dict.fromkeys(CHECK_KINDS, 1), "spelling": 1}

    with pytest.raises(IncompleteTable, match="found beside them: spelling; add the name as docs/how-to"):
        complete_checks(rows, "verify", "/service/verify/checks.py")


def test_no_module_checks_a_table_in_a_way_of_its_own() -> None:
    """`in_order` and `require_rows` name what is missing. A comparison of keys does not, and -O removes an assert."""
    own = []
    for path in sorted((ROOT / "service").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body if "assert" in source or ".keys()" in source else ():
            compared = isinstance(node, ast.If | ast.Assert) and ".keys()" in ast.unparse(node.test)
            if isinstance(node, ast.Assert) or compared:
                own.append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert own == []


def test_rows_have_the_order_of_the_list() -> None:
    backwards: Mapping[Any, int] = dict.fromkeys(reversed(CHECK_KINDS), 1)

    assert tuple(complete_checks(backwards, "verify", "/service/verify/checks.py")) == CHECK_KINDS
