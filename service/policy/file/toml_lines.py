"""Which line of a TOML file says what: for messages, so read only when there is one to write.

tomllib gives no positions. But a TOML document is a sequence of statements, each of them a document of its own. The
module joins lines until tomllib can read them, which makes one statement. So it needs no scanner for strings, lists and
tables of several lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.policy.faults import Path


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, of what stands at a path, or of the nearest table around it; ``None`` where none stands."""
    return nearest_line(lines_of(text), path)


def lines_of(text: str) -> Mapping[Path, int]:
    """The first line, from 1, of every key, table and element of a list; empty where the text is not TOML."""
    return _lines(text.split("\n"))


def nearest_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of what stands at a path, or of the nearest table around it."""
    for length in range(len(path), 0, -1):
        if found := lines.get(path[:length]):
            return found
    return None


def _lines(lines: Sequence[str]) -> dict[Path, int]:
    """The first line of every key, table and element of a list; empty where the text is not TOML."""
    found: dict[Path, int] = {}
    lengths: dict[Path, int] = {}
    table: Path = ()
    for start, end, value in _statements(lines):
        if lines[start].lstrip().startswith("["):
            table = _header(value, lengths)
            found.setdefault(table, start + 1)
            if isinstance(table[-1], int):  # the list itself, where a table was meant
                found.setdefault(table[:-1], start + 1)
            continue
        for path, inner in _walk(value):
            around = found.get(table + path[:-1]) if len(path) > 1 else None
            found.setdefault(table + path, around or start + 1)
            if isinstance(inner, list) and end - start > 1:
                found |= {(*table, *path, i): n for i, n in _elements(lines, start, end, path)}
    return found


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Where each statement begins, the line after its last, and what it says."""
    start = 0
    for end in range(1, len(lines) + 1):
        try:
            value = _read(lines[start:end])
        except tomllib.TOMLDecodeError:
            continue
        if value:
            yield start, end, value
        start = end


def _read(lines: Sequence[str]) -> dict[str, Any]:
    return tomllib.loads("\n".join(lines) + "\n")  # a line may end in CR, which is no line end by itself


def _header(value: Any, lengths: dict[Path, int]) -> Path:
    """The path of a table's header, read alone; ``lengths`` counts the tables of every list of tables so far."""
    path: Path = ()
    while value:
        (key, value), *_ = value.items()
        path = (*path, key)
        if isinstance(value, list):
            lengths[path] = lengths.get(path, 0) + 1
            value = value[0]
        if path in lengths:
            path = (*path, lengths[path] - 1)
    return path


def _walk(value: dict[str, Any] | list[Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything inside a value, with its path."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in inside:
        yield (*path, key), inner
        if isinstance(inner, dict | list):
            yield from _walk(inner, (*path, key))


def _elements(lines: Sequence[str], start: int, end: int, path: Path) -> Iterator[tuple[int, int]]:
    """The elements of a list that goes over several lines, each with its line: what is there when it is cut short."""
    seen = 0
    for cut in range(start + 1, end):
        try:
            value: Any = _read((*lines[start:cut], "]"))
            for key in path:
                value = value[key]
        except (tomllib.TOMLDecodeError, KeyError, IndexError):
            continue
        yield from ((i, cut) for i in range(seen, len(value)))
        seen = len(value)
