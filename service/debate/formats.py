"""The closed list of formats, and the check that a layer knows each of them.

Every layer that treats formats differently has one table with a row for each name (`complete_formats`). mypy refuses a
table that lacks a name, and the service does not start with one. Where code distinguishes options or results by their
type, the ``match`` has a case for each, which mypy checks too (``exhaustive-match``). Code never treats a format as the
default. The layers, in the order in which a new format is written, are in ``docs/how-to/add-a-format.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Literal, TypedDict, TypeVar, cast, get_args

from service.debate.closed_lists import ClosedList, in_order, table_of
from service.errors import IllegalEntry, IncompleteFormat

FormatName = Literal["adversarial", "stances", "ballot", "panel", "convergence"]
"""The name of a format, as a case says it. The name with a version (``ballot/1``) is in ``debate.started``."""
NAMES: tuple[FormatName, ...] = get_args(FormatName)
_LIST = ClosedList("format", "service/debate/formats.py", "docs/how-to/add-a-format.md", IncompleteFormat)

Row = TypeVar("Row")


class Rows(TypedDict, Generic[Row]):
    """A row for each name: the type that makes mypy refuse a table in which one is missing."""

    adversarial: Row
    stances: Row
    ballot: Row
    panel: Row
    convergence: Row


def complete_formats(rows: Rows[Row], layer: str, file: str) -> Mapping[FormatName, Row]:
    """The table of a layer, in the order of `NAMES`; ``file`` is the ``__file__`` of the module that holds it.

    Raises `IncompleteFormat`, with the layer, the file and the names, unless there is a row for each name and no other.
    """
    found = cast(Mapping[FormatName, Row], rows)
    return in_order(NAMES, found, _LIST, table_of(layer, file))


def name_of(version: str) -> FormatName:
    """The format of a name, with or without a version: ``ballot/1`` is ``ballot``. Raises `IllegalEntry`."""
    name = version.partition("/")[0]
    if name not in NAMES:
        raise IllegalEntry(f"expected one of the formats {', '.join(NAMES)}, found {name[:60]!r}")
    return name
