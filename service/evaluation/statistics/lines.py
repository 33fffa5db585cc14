"""A line of JSON asked, a line answered.

asked     {"id", "statistic", "input"}
answered  {"id", "output"} or {"id", "error"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from service.evaluation.statistics.reading import StatisticRefused, shown, text
from service.evaluation.statistics.registry import compute

LONGEST_LINE = 16 * 2**20
"""Bytes of a line. 10,000 cases take a tenth of it."""
_ASKED = ("id", "statistic", "input")
_EXPECTED = ("output", "error")
"""What a line of a file of vectors has besides; not read, so that such a file can be asked as it is."""


def answer(line: bytes) -> bytes:
    """The line that answers a line, in ASCII, without a line end; every fault is an answer.

    ``id`` is null where the line has none that can be read.
    """
    id: str | int | None = None
    try:
        if len(line) > LONGEST_LINE:
            raise StatisticRefused(f"a line must have at most {LONGEST_LINE:,} bytes")
        asked = _read(line)
        id = _id(asked)
        return _written({"id": id, "output": compute(_name(asked), asked["input"])})
    except StatisticRefused as refused:
        return _written({"id": id, "error": refused.detail})


def _written(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _name(asked: Mapping[str, Any]) -> str:
    missing = [name for name in _ASKED if name not in asked]
    unknown = [name for name in asked if name not in (*_ASKED, *_EXPECTED)]
    if missing or unknown:
        faults = [f"the line lacks {', '.join(missing)}"] if missing else []
        faults += [f"the line has unknown members: {', '.join(map(shown, unknown))}"] if unknown else []
        raise StatisticRefused("; ".join(faults))
    return text(asked["statistic"], "statistic")


def _id(asked: Mapping[str, Any]) -> str | int | None:
    found = asked.get("id")
    if found is not None and type(found) is not int and not isinstance(found, str):
        raise StatisticRefused(f"id must be a text or a whole number, found {shown(found)}")
    return found


def _read(line: bytes) -> Mapping[str, Any]:
    """The members of a line, none of them twice at any depth."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise StatisticRefused("the line is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise StatisticRefused(f"the line is not UTF-8: byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise StatisticRefused(f"the line is not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:  # of int: a whole number of more than 4,300 digits
        raise StatisticRefused("the line has a number that is too long to read") from None
    if not isinstance(found, dict):
        raise StatisticRefused(f"the line must be an object, found {shown(found)}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(names) <= 1000 else []
        raise StatisticRefused(f"a member stands twice: {', '.join(map(shown, twice))}")
    return found


def _no_number(word: str) -> Any:
    raise StatisticRefused(f"{word} is no number of JSON")
