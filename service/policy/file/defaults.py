"""What a policy file leaves out, and the shipped policy settles.

A file needs what only its deployment knows: version, providers, models with prices, seats. A key that it leaves out of
the tables below has the value of the shipped policy. Tables whose keys a deployment chooses are taken as they are
written, without the shipped policy's rows:

    formats.auto       names formats, for which the file may have no seats; without it ``auto`` is the usual format
    gate.thresholds    has task types
    budgets.tenants    has tenants

The policy that runs, is recorded, hashed and approved is the whole one. So another release of the shipped policy is
another hash, and never another meaning of an approved one.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import reduce
from pathlib import Path as FilePath
from typing import Any

from service.policy.faults import Faults, Path

SHIPPED_POLICY = FilePath(__file__).parents[2] / "gainsay.toml"
SETTLED = ("gate", "debate", "formats", "limits", "budgets", "calls", "queue")
"""The tables that the shipped policy settles. No other has a model, a price or a key in it."""
CHOSEN: tuple[Path, ...] = (("formats", "auto"), ("gate", "thresholds"), ("budgets", "tenants"))


def with_defaults(written: Mapping[str, Any], shipped: Mapping[str, Any]) -> dict[str, Any]:
    """The file with what the shipped policy settles; what is no table is left as it is."""
    filled = dict(written)
    for name in SETTLED:
        filled[name] = _filled(filled.get(name, {}), shipped.get(name, {}), (name,))
    return filled


def _filled(written: Any, shipped: Any, path: Path) -> Any:
    if path in CHOSEN or not isinstance(written, dict) or not isinstance(shipped, dict):
        return written
    filled = dict(written)
    for name, value in shipped.items():
        inside = (*path, name)
        if name in written:
            filled[name] = _filled(written[name], value, inside)
        else:
            filled[name] = {} if inside in CHOSEN else deepcopy(value)
    return filled


def mended(filled: Mapping[str, Any], shipped: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """The file with the shipped policy's value, or none, in the place of each fault of a settled table.

    By it the rules between keys that have no fault can be checked; it is never a policy.
    """
    whole = deepcopy(dict(filled))
    for fault in faults.found:
        if fault.path[:1] and fault.path[0] in (*SETTLED, "audit", "approval"):
            _put_back(whole, shipped, fault.path)
    return whole


def _put_back(whole: dict[str, Any], shipped: Mapping[str, Any], path: Path) -> None:
    inner: Any = whole
    for depth, step in enumerate(path):
        if depth == len(path) - 1 or not isinstance(inner.get(step), dict):
            default = value_at(shipped, path[: depth + 1])
            if default is None:
                inner.pop(step, None)
            else:
                inner[step] = deepcopy(default)
            return
        inner = inner[step]


def value_at(tables: Mapping[str, Any], path: Path) -> Any:
    """What stands at a place of a file, or ``None``."""

    def inside(value: Any, step: str | int) -> Any:
        if isinstance(value, dict):
            return value.get(step)
        return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None

    return reduce(inside, path, tables)
