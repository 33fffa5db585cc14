"""The closed list of wires: a layer that lacks one does not start."""

from __future__ import annotations

from typing import Any

import pytest

from service import app
from service.debate.wires import WIRES, Rows, Wire, complete_wires
from service.errors import IncompleteWire
from service.money import usage
from service.policy import RULES, SIMULATED
from service.verify import policy

EVERY: Any = dict.fromkeys(WIRES, 1)


def test_the_rows_that_mypy_asks_for_are_those_of_the_list() -> None:
    assert tuple(Rows.__annotations__) == tuple(EVERY) == WIRES


def test_every_layer_has_a_row_for_each_wire_and_no_other() -> None:
    assert tuple(RULES) == tuple(usage._READ) == tuple(app._CONNECT) == WIRES


@pytest.mark.parametrize("lacking", WIRES)
def test_a_table_that_lacks_a_wire_is_refused_with_its_layer_its_file_and_the_wire(lacking: Wire) -> None:
    rows: Any = {wire: row for wire, row in EVERY.items() if wire != lacking}

    with pytest.raises(IncompleteWire, match=rf"layer app \(service/app\.py\), found none for: {lacking}; add it"):
        complete_wires(rows, "app", app.__file__)


def test_a_table_with_a_wire_that_is_not_listed_is_refused() -> None:
    rows: Any = {**EVERY, "bedrock": 1}

    with pytest.raises(IncompleteWire, match="found beside them: bedrock; add the name as docs/how-to/add-a-vendor"):
        complete_wires(rows, "app", app.__file__)


def test_a_verifier_knows_the_same_wires_for_simulated() -> None:
    """It holds a list of its own, since it shares nothing with what it verifies."""
    assert policy.SIMULATED == SIMULATED
