"""Examples of answers: real ones, recorded from a running service by ``python -m tests.vectors.answers``.

A file of the folder ``answers`` is named after its operation, status and example: ``submitCase.200.finished.json``. Its
ending says its media type. Long texts and lists are cut after their beginning. An answer that is bytes has no example.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from service.web.operation import JSON
from service.web.stream import EVENT_STREAM

FOLDER = Path(__file__).parent / "answers"
MEDIA: Mapping[str, str] = {
    ".json": JSON,
    ".events": EVENT_STREAM,
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".jsonl": "application/jsonl",
}
"""The media type of an example by the ending of its file."""


def examples_of(operation: str, status: int, media: str) -> dict[str, Any]:
    """The examples of an answer by name, as OpenAPI has them."""
    return {name: {"value": value} for name, value in _recorded().get((operation, str(status), media), {}).items()}


@cache
def _recorded() -> Mapping[tuple[str, str, str], dict[str, Any]]:
    """All examples by operation, status and media type."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for path in sorted(FOLDER.iterdir()):
        operation, status, name = path.stem.split(".")
        value = msgspec.json.decode(path.read_bytes()) if path.suffix == ".json" else path.read_text("utf-8")
        found.setdefault((operation, status, MEDIA[path.suffix]), {})[name] = value
    return found
