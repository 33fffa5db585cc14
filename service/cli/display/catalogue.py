"""The models on one page: what they are, what they cost today, and what the tenant's own panels have shown of them."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from service.cli.display.console import counted, text
from service.web.model_types import ModelDetail, ModelList


def show(console: Console, found: ModelList, day: str) -> None:
    """Print the page of the models on a day (``YYYY-MM-DD``)."""
    console.print(Rule("Models", style="dim"))
    console.print(_catalogue(found, day))
    console.print(Rule("Track records", style="dim"))
    if not any(model.track_records for model in found.models):
        console.print(
            text("No model here has a record yet: a panel of mode auto prefers models as policy does.", "dim")
        )
        return
    console.print(_records(found))
    console.print(
        text(
            "The mean is of scores from 0 to 1 of conduct in debates, not of truth; what was not checked has none.",
            "dim",
        )
    )
    console.print(text("A panel of mode auto ranks by the score: the mean, drawn to 0.5 by few debates.", "dim"))


def _catalogue(found: ModelList, day: str) -> Padding:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("model", "family", "wire"):
        table.add_column(name)
    table.add_column("input", justify="right")
    table.add_column("output", justify="right")
    table.add_column("seats")
    for model in found.models:
        seats = ", ".join((*model.seats, *(f"{seat} (fallback)" for seat in model.fallback_of))) or "none by default"
        mark = "" if model.choosable else "; cases may not name it"
        cells = (model.alias, model.family, model.wire, *_price(model, day), seats + mark)
        table.add_row(*map(text, cells))
    return Padding(table, (0, 0, 1, 2))


def _price(model: ModelDetail, day: str) -> tuple[str, str]:
    """US dollars per million tokens of input and output on this day."""
    row = next((row for row in reversed(model.prices) if row.effective <= day), None)
    return (row.input_usd, row.output_usd) if row else ("none yet", "none yet")


def _records(found: ModelList) -> Padding:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("model", "questions", "debates"):
        table.add_column(name)
    table.add_column("mean", justify="right")
    table.add_column("score", justify="right")
    for model in found.models:
        for one in model.track_records:
            cells = (counted(one.debates, "debate"), f"{one.mean:.3f}", f"{one.score:.3f}")
            table.add_row(*map(text, (model.alias, one.question_type, *cells)))
    return Padding(table, (0, 0, 1, 2))
