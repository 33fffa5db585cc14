"""A picture of each dashboard, drawn from its own queries over the scripted load: docs/dashboards/*.svg."""

from __future__ import annotations

import time
from collections.abc import Mapping
from html import escape

from tests.dashboards.boards import JSON, ROOT, boards, filled, panels
from tests.dashboards.drawing import FAINT, GREY, Box, Drawn, draw, named, text
from tests.dashboards.scraping import Line, Prometheus

FOLDER = ROOT / "docs" / "dashboards"
COLUMN, UNIT, TOP = 52.0, 25.0, 34.0
NOTE = "drawn from the dashboard's own queries over a scripted load with failures; not a picture of Grafana"


async def draw_all(prometheus: Prometheus, values: Mapping[str, str]) -> None:
    """Draw every dashboard as it stands now, with the whole load as the time shown."""
    end = time.time()
    span = f"{end - prometheus.began:.0f}s"
    FOLDER.mkdir(exist_ok=True)
    for uid, board in boards().items():
        found = {
            panel["id"]: await _found(prometheus, panel, {**values, "__range": span}, end) for panel in panels(board)
        }
        (FOLDER / f"{uid}.svg").write_text(_picture(board, found), "utf-8")


async def _found(prometheus: Prometheus, panel: JSON, values: Mapping[str, str], end: float) -> list[Drawn]:
    """What the queries of a panel give: over time, or at the end where the panel shows one moment."""
    found = []
    for target in panel["targets"]:
        expr = filled(target["expr"], values)
        if target.get("instant"):
            told = (await prometheus.get("query", query=expr, time=end))["result"]
            lines = [Line(each["metric"], ((end, float(each["value"][1])),)) for each in told]
        else:
            lines = await prometheus.over_time(expr, end)
        found += [Drawn(named(target["legendFormat"], line.labels), line) for line in lines]
    return found


def _picture(board: JSON, found: Mapping[int, list[Drawn]]) -> str:
    height = TOP + UNIT * max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"]) + 8
    width = 24 * COLUMN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">',
        f"<title>{escape(board['title'])}</title>",
        f'<rect width="{width:g}" height="{height:g}" fill="#f6f6f6"/>',
        text(10, 22, board["title"], size=16),
        text(width - 10, 22, NOTE, size=10, fill=GREY, anchor="end"),
    ]
    for panel in board["panels"]:
        place = panel["gridPos"]
        box = Box(place["x"] * COLUMN, TOP + place["y"] * UNIT, place["w"] * COLUMN, place["h"] * UNIT)
        if panel["type"] == "row":
            parts.append(text(box.x + 10, box.y + 17, panel["title"], size=12.5))
            parts.append(f'<line x1="8" x2="{width - 8:g}" y1="{box.y + 23}" y2="{box.y + 23}" stroke="{FAINT}"/>')
        else:
            parts.append(draw(panel, box.inner(3, 3, 3, 3), found[panel["id"]]))
    return "\n".join([*parts, "</svg>", ""])
