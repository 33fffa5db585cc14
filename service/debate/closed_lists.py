"""A table with a row for each name of a closed list, checked when the module that holds it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from service.errors import GainsayError

Name = TypeVar("Name", bound=str)
Row = TypeVar("Row")


class ClosedList(NamedTuple):
    """A closed list: the noun for its members, its module, how to add one, and the error of an incomplete table."""

    kind: str
    module: str
    how_to: str
    incomplete: type[GainsayError]


def in_order(names: tuple[Name, ...], rows: Mapping[Name, Row], closed: ClosedList, where: str) -> Mapping[Name, Row]:
    """The rows in the order of the names; ``where`` names the table. Raises like `require_rows`."""
    require_rows(names, rows, closed, where)
    return {name: rows[name] for name in names}


def require_rows(names: tuple[Name, ...], rows: Mapping[Name, object], closed: ClosedList, where: str) -> None:
    """Raise the list's error, with the table and the names, unless there is a row for each name and no other."""
    if missing := [name for name in names if name not in rows]:
        raise closed.incomplete(
            f"expected a row for each {closed.kind} in {where}, found none for: {', '.join(missing)}; add it as "
            f"{closed.how_to} says"
        )
    if strange := [name for name in rows if name not in names]:
        raise closed.incomplete(
            f"expected the {closed.kind}s of {closed.module} in {where}, found beside them: {', '.join(strange)}; add "
            f"the name as {closed.how_to} says"
        )


def table_of(layer: str, file: str) -> str:
    """The name of a layer's table in an error; ``file`` is the ``__file__`` of the module that holds it."""
    return f"the table of the layer {layer} (service/{file.rpartition('/service/')[2]})"
