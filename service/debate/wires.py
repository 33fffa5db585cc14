"""The closed list of wires, and the check that a layer knows each of them.

A wire is a vendor's format of requests, answers and usage. Every layer that treats wires differently has one table with
a row for each (`complete_wires`). mypy refuses a table that lacks a row, and the service does not start with one. Code
never treats a wire as the default. The layers, in the order in which a new wire is written, are in
``docs/how-to/add-a-vendor.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict, TypeVar, cast, get_args

from service.debate.closed_lists import ClosedList, in_order, table_of
from service.errors import IncompleteWire

Wire = Literal["offline", "scripted", "openai-compatible", "anthropic"]
"""The name of a wire: ``kind`` of a provider in the policy file, ``wire`` of a seat in the record."""
WIRES: tuple[Wire, ...] = get_args(Wire)
_LIST = ClosedList("wire", "service/debate/wires.py", "docs/how-to/add-a-vendor.md", IncompleteWire)

Row = TypeVar("Row")

Rows = TypedDict("Rows", {"offline": Row, "scripted": Row, "openai-compatible": Row, "anthropic": Row})
"""A row for each name: the type that makes mypy refuse a table in which one is missing."""


def complete_wires(rows: Rows[Row], layer: str, file: str) -> Mapping[Wire, Row]:
    """The table of a layer, in the order of `WIRES`; ``file`` is the ``__file__`` of the module that holds it.

    Raises `IncompleteWire`, with the layer, the file and the names, unless there is a row for each wire and no other.
    """
    return in_order(WIRES, cast(Mapping[Wire, Row], rows), _LIST, table_of(layer, file))
