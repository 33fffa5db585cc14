"""Policies for tests: the shipped one with keys changed, and one with vendors, written as TOML."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from service.errors import SettingsError
from service.settings import SHIPPED_POLICY, read_policy

WRITTEN: dict[str, Any] = tomllib.loads(SHIPPED_POLICY.read_text("utf-8"))


class Bare(str):
    """TOML that stands as it is."""

    __slots__ = ()


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case Bare():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            return "{ " + ", ".join(f"{toml(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
    return str(value)


def policy_file(folder: Path, **tables: Any) -> Path:
    """A policy file of these top-level tables."""
    path = folder / "gainsay.toml"
    path.write_text("\n".join(f"{name} = {toml(table)}" for name, table in tables.items()), "utf-8")
    return path


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The shipped policy with one key set."""
    whole = deepcopy(WRITTEN)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return whole


def without(*path: str | int) -> dict[str, Any]:
    """The shipped policy with one key left out."""
    whole = deepcopy(WRITTEN)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return whole


def refused(folder: Path, whole: dict[str, Any]) -> str:
    """The message with which a policy is refused."""
    path = policy_file(folder, **whole)
    with pytest.raises(SettingsError) as error:
        read_policy(path)
    assert error.value.detail.startswith(str(path))
    return error.value.detail.removeprefix(str(path))


ROW: dict[str, Any] = {
    "effective": "2026-01-01",
    "source": "made up",
    "input_usd": "2.00",
    "cached_input_usd": "0.50",
    "cache_write_usd": "2.00",
    "output_usd": "8.00",
    "reasoning_usd": "8.00",
}
MODEL: dict[str, Any] = {
    "alias": "gpt",
    "provider": "openai",
    "name": "gpt-4.1-2025-04-14",
    "family": "openai",
    "tokenizer": "o200k_base",
    "context_window": 1_000_000,
    "prices": [ROW],
}
OPENAI: dict[str, Any] = {
    "kind": "openai-compatible",
    "base_url": "https://api.openai.com/v1",
    "key": "env:OPENAI_API_KEY",
}
ANTHROPIC: dict[str, Any] = {
    "kind": "anthropic",
    "base_url": "https://api.anthropic.com",
    "key": "env:ANTHROPIC_API_KEY",
}
CLAUDE: dict[str, Any] = {
    **MODEL,
    "alias": "claude",
    "provider": "anthropic",
    "name": "claude-haiku-4-5-20251001",
    "family": "claude",
    "safety": "1.5",
}


def vendors() -> dict[str, Any]:
    """The shipped policy with two vendors beside the simulated models: ``models.6`` and ``models.7``."""
    whole = deepcopy(WRITTEN)
    whole["providers"] |= deepcopy({"openai": OPENAI, "anthropic": ANTHROPIC})
    whole["models"] += deepcopy([MODEL, CLAUDE])
    return whole
