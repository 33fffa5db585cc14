"""A page of debates: a row each where the screen is wide enough, and a few lines each on a narrow one.

It reads the JSON of ``GET /v1/debates``, of a newer service too: what is missing is left empty, and a value that is not
known here is shown as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from service.cli.display.console import text
from service.cli.members import items, member
from service.report.decision_labels import OUTCOMES
from service.report.labels import label_of

Debate = Mapping[str, Any]
HEADINGS = tuple(map(Text, ("UTC", "id", "outcome", "conf", "rev", "USD", "question")))
GAP = 2
LEAST, ENOUGH = 16, 24
"""Characters of a question: with fewer a debate has lines of its own, and with fewer than enough no year."""
SHORT = 13
"""Characters of an id that is shortened: its whole time stamp, to the millisecond."""
_COLOURS = {"HIGH": "green", "MODERATE": "yellow", "LOW": "red"}
_BRIEF = {"MODERATE": "MOD"}


def show(console: Console, debates: Sequence[Debate], *, whole_ids: bool) -> None:
    """Print the debates; ids are shortened as far as they differ, unless they are to be whole."""
    ids = [member(debate, "debateId") for debate in debates]
    names = ids if whole_ids else shortened(ids)
    days = [created(debate) for debate in debates]
    forms = [(days, LEAST)]
    if len({day[:4] for day in days}) == 1:  # the year goes first where room is scarce
        forms = [(days, ENOUGH), ([day[5:] for day in days], LEAST)]
    for form, least in forms:
        if table := _table(console.width, [_cells(*row) for row in zip(form, names, debates, strict=True)], least):
            console.print(table)
            return
    for name, debate in zip(names, debates, strict=True):
        for line in _lines(name, debate, console.width):
            console.print(line)


def _table(width: int, rows: Sequence[Sequence[Text]], least: int) -> Table | None:
    """A row each, if a line of this width leaves so many characters for the question."""
    widths = [max(cell_len(cell.plain) for cell in column) for column in zip(HEADINGS, *rows, strict=True)]
    left = width - sum(widths[:-1]) - GAP * (len(widths) - 1)
    if left < least:
        return None
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
    for heading, wide in zip(HEADINGS, (*widths[:-1], min(widths[-1], left)), strict=True):
        justify: JustifyMethod = "right" if heading.plain == "USD" else "left"
        table.add_column(heading, width=wide, justify=justify, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    return table


def show_facets(console: Console, facets: Sequence[Mapping[str, Any]]) -> None:
    """Print how many debates have which value: a facet a row, whose values wrap under one another."""
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for facet in facets:
        values = [text(f"{member(one, 'value')} {count(one)}") for one in items(facet, "values")]
        table.add_row(text(member(facet, "facet"), "bold"), Text(", ").join(values or [text("none")]))
    console.print(table)


def shortened(ids: Sequence[str]) -> list[str]:
    """The beginning of each id by which it differs from the others, never shorter than its time stamp."""
    ordered = sorted(set(ids))
    needed = dict.fromkeys(ordered, SHORT)
    for one, other in pairwise(ordered):
        differs = next((n for n, (a, b) in enumerate(zip(one, other, strict=False), start=1) if a != b), len(one))
        for each in (one, other):
            needed[each] = max(needed[each], differs)
    return [one[: needed[one] + one.startswith("-", needed[one] - 1)] for one in ids]


def count(found: Mapping[str, Any]) -> str:
    """A number of debates; one that is a bound says so."""
    number = member(found, "count")
    return (
        f"{'at least ' if member(found, 'atLeast') == 'True' else ''}{int(number):,}" if number.isdecimal() else number
    )


def created(debate: Debate) -> str:
    """The minute of a debate's creation, in UTC."""
    return member(debate, "createdAt")[:16].replace("T", " ")


def requires_review(debate: Debate) -> bool:
    """Whether a rule requires human review."""
    return member(debate, "decision", "humanReview", "required") == "True"


def _cells(day: str, name: str, debate: Debate) -> Sequence[Text]:
    level = member(debate, "decision", "confidence")
    return (
        text(day),
        text(name),
        _outcome(debate),
        text(_BRIEF.get(level, level), _COLOURS.get(level, "")),
        text("yes" if requires_review(debate) else "", "bold yellow"),
        text(_cost(debate)),
        text(member(debate, "question")),
    )


def _lines(name: str, debate: Debate, width: int) -> Iterator[Text]:
    """A debate in lines, for a narrow screen; the question is cut to one."""
    level, cost = member(debate, "decision", "confidence"), _cost(debate)
    review = text("review required" if requires_review(debate) else "", "bold yellow")
    facts = (_outcome(debate), text(level, _COLOURS.get(level, "")), review, text(f"{cost} USD" if cost else ""))
    yield Text("  ").join([text(created(debate), "bold"), text(name)])
    yield Text(", ").join([one for one in facts if one.plain])
    question = text(member(debate, "question"), "dim")
    question.truncate(width, overflow="ellipsis")
    yield question


def _outcome(debate: Debate) -> Text:
    """What came of it, or its status where there is no decision; a debate that was cut short says so, and one that is
    an evaluation's."""
    status, outcome = member(debate, "status"), member(debate, "decision", "outcome")
    mark = " (evaluation)" if member(debate, "evaluation", "id") else ""
    if outcome in ("", "none"):
        return text(f"{status}{mark}", "dim")
    words = "Escalated" if outcome == "escalated" else label_of(OUTCOMES, outcome)
    return text(f"{words} (cut){mark}" if status == "truncated" else f"{words}{mark}")


def _cost(debate: Debate) -> str:
    amount = member(debate, "decision", "cost", "spentUSD")
    try:
        return f"{Decimal(amount):,.4f}" if amount else ""
    except InvalidOperation:
        return amount
