"""The message with which a policy file is refused: every fault with its line and its key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from service.policy.faults import Path, WrongSetting
from service.policy.file.defaults import value_at
from service.policy.file.toml_lines import lines_of, nearest_line
from service.unseen import visible

FAULTS_MAX = 200
"""Faults that one message lists."""


def refusal(
    path: FilePath, text: str, written: Mapping[str, Any], filled: Mapping[str, Any], faults: Sequence[WrongSetting]
) -> str:
    """Every fault in the order of the file, each once, with its line and its key.

    ``filled`` has the values that the file leaves out: a fault of such a value says so.
    """
    lines = lines_of(text)
    distinct = {(nearest_line(lines, fault.path) or 0, _words(fault, written, filled)): None for fault in faults}
    rows = sorted(distinct, key=lambda row: row[0])
    if len(rows) == 1:
        line, words = rows[0]
        return f"{path}{f', line {line}' if line else ''}: {words}"
    shown = [f"  line {line}: {words}" if line else f"  {words}" for line, words in rows[:FAULTS_MAX]]
    more = [f"  and {len(rows) - FAULTS_MAX} more"] if len(rows) > FAULTS_MAX else []
    return "\n".join([f"{path} has {len(rows)} faults:", *shown, *more])


def _words(fault: WrongSetting, written: Mapping[str, Any], filled: Mapping[str, Any]) -> str:
    words = f"{_label(fault.path, written)}: {fault.message}"
    default = value_at(filled, fault.path)
    if default is None or value_at(written, fault.path) is not None:
        return words
    return f"{words} (the file leaves this key out, and the shipped policy has {json.dumps(default)})"


def _label(at: Path, written: Mapping[str, Any]) -> str:
    """A place in words: a model by its alias, and elements of lists without their number, for the line tells."""
    names = list(at)
    if at[:1] == ("models",) and len(at) > 1:
        model = value_at(written, at[:2])
        alias = model.get("alias") if isinstance(model, dict) else None
        names[1] = alias if isinstance(alias, str) and alias.strip() else at[1]
    said = ".".join(str(name)[:100] for i, name in enumerate(names) if isinstance(name, str) or i == 1)
    return visible(said)
