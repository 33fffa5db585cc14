"""The committed dashboards as a test or a picture reads them: panels, queries, and the variables replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "dashboards" / "grafana"
JSON = dict[str, Any]

VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
METRIC = re.compile(r"(?<![\w:$])(gainsay[\w:]*|process_\w+|python_\w+|up)(?=\{)")
"""A metric, which in our expressions always has its matchers in braces."""
GRAFANA = {"__rate_interval", "__range", "__interval"}
"""Variables that Grafana itself sets."""


@dataclass(frozen=True)
class Query:
    """One expression of a panel."""

    board: str
    panel: str
    letter: str
    expr: str
    legend: str

    def __str__(self) -> str:
        return f"{self.board} / {self.panel} / {self.letter}"


def boards() -> dict[str, JSON]:
    """Every committed dashboard by its uid."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def panels(board: JSON) -> list[JSON]:
    """The panels of a dashboard, without the headings of rows."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(board: JSON) -> Iterator[Query]:
    """The expressions of a dashboard."""
    for panel in panels(board):
        for target in panel["targets"]:
            yield Query(board["uid"], panel["title"], target["refId"], target["expr"], target["legendFormat"])


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its variables replaced; raises `KeyError` for one that has no value."""
    return VARIABLE.sub(lambda found: values[found[1] or found[2]], text)


def metrics(expr: str) -> set[str]:
    """The metrics that an expression names."""
    return set(METRIC.findall(expr))
