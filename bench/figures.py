"""What a row of the bench is, and what several turns of it come to.

A part measures its rows in turns. A row is held against its limit; against a peer that was measured in the same turn,
then its limit is a multiple of the peer's figure; or against nothing, then it is only shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, NamedTuple

Bound = Literal["most", "least"]
END = "<!-- The end of what is written -->"
"""Closes the figures of a document; a mark of the document's own opens them."""


class Measured(NamedTuple):
    """What one turn found of a row: its figure, a peer's figure where it has one, and what stands beside it."""

    value: float
    against: float | None = None
    note: str = ""


class NotRun(NamedTuple):
    """A row that a turn could not measure, and why."""

    why: str


Turn = Mapping[str, Measured | NotRun]
"""What one turn of a part found, by its rows."""


@dataclass(frozen=True)
class Row:
    """One number: what it is, in which unit, and what it is held against.

    ``limit`` is what the figure may be at most or, by ``bound``, at least; where there is a ``peer``, how many times
    its figure. Without a limit the row is shown, and has no verdict.
    """

    what: str
    unit: str
    limit: float | None = None
    bound: Bound = "most"
    peer: str = ""


@dataclass(frozen=True)
class Part:
    """Rows that are measured together, by a name that `make bench ONLY=` takes.

    ``turns`` is how often: fewer than five where a turn takes minutes, one where each turn finds the same.
    """

    about: str
    measure: Callable[[], Turn]
    rows: Mapping[str, Row]
    turns: int = 5


class Figure(NamedTuple):
    """A row over all turns: medians, the least and the greatest figure, and the ratio.

    ``ratio`` is the figure over the limit, or over the peer's, the median of the turns' own; ``holds`` says whether the
    limit holds, ``None`` where there is none.
    """

    value: float
    least: float
    greatest: float
    turns: int
    ratio: float | None
    holds: bool | None
    note: str


def summed(row: Row, turns: Sequence[Measured | NotRun]) -> Figure | NotRun:
    """What the turns of a row come to; `NotRun` where none of them was measured.

    The note is that of the turn in the middle, the lower one of two. A row with a peer has no ratio if a turn has no
    figure of the peer.
    """
    found = sorted((turn for turn in turns if isinstance(turn, Measured)), key=lambda turn: turn.value)
    if not found:
        return next(turn for turn in turns if isinstance(turn, NotRun))
    middle = found[(len(found) - 1) // 2]
    ratio = _ratio(row, found)
    return Figure(
        value=median(turn.value for turn in found),
        least=found[0].value,
        greatest=found[-1].value,
        turns=len(found),
        ratio=ratio,
        holds=_holds(row, median(turn.value for turn in found), ratio),
        note=middle.note,
    )


def _ratio(row: Row, turns: Sequence[Measured]) -> float | None:
    if row.peer:
        ratios = [turn.value / turn.against for turn in turns if turn.against]
        return median(ratios) if len(ratios) == len(turns) else None
    return median(turn.value for turn in turns) / row.limit if row.limit else None


def _holds(row: Row, value: float, ratio: float | None) -> bool | None:
    if row.limit is None:
        return None
    if ratio is None:
        return value <= row.limit if row.limit == 0 else None
    most = row.limit if row.peer else 1.0
    return ratio <= most if row.bound == "most" else ratio >= most


def shown(value: float) -> str:
    """A figure in three digits, or all of those before the point."""
    if value == 0:
        return "0"
    for least, digits in ((100, 0), (10, 1), (1, 2), (0.1, 3), (0.01, 4)):
        if abs(value) >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.2g}"


def as_json(figure: Figure | NotRun) -> dict[str, Any]:
    """A figure as the file of figures has it."""
    return {"notRun": figure.why} if isinstance(figure, NotRun) else figure._asdict()


def from_json(found: Mapping[str, Any]) -> Figure | NotRun:
    """The reverse of `as_json`."""
    return NotRun(found["notRun"]) if "notRun" in found else Figure(**found)


def rewritten(document: str, begin: str, tables: str) -> str:
    """The document with these tables between its marks; raises ValueError for one without the marks."""
    before, begun, rest = document.partition(begin)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"expected {begin!r} and {END!r} in the document, found no pair of them")
    return f"{before}{begin}\n\n{tables}\n{END}{after}"
