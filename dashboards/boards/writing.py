"""Every dashboard as the text of its file."""

from __future__ import annotations

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.evaluations import evaluations
from dashboards.boards.integrity import integrity
from dashboards.boards.money import money
from dashboards.boards.overview import overview
from dashboards.boards.platform import platform
from dashboards.boards.quality import quality
from dashboards.boards.vendors import vendors

FOLDER = Path(__file__).resolve().parents[1] / "grafana"


def every() -> tuple[Dashboard, ...]:
    """All dashboards, in the order of their links."""
    return overview(), quality(), evaluations(), money(), integrity(), vendors(), platform()


def texts() -> dict[str, str]:
    """The text of each file, by its name."""
    return {f"{board.uid}.json": f"{json.dumps(board, cls=JSONEncoder, indent=2)}\n" for board in every()}
