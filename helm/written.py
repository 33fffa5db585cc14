"""What `make chart` writes into the chart: copies of dashboards and rules, and README.md with a row for each value.

Helm reads no file outside of a chart, so dashboards and rules are copied. A row of README.md is a value of
`values.yaml` with the `# --` lines above it; a value without them that has members is described by its members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "helm" / "gainsay"
_COPIED = {"files/rules": "dashboards/rules/*.yml", "files/dashboards": "dashboards/grafana/*.json"}
_KEY = re.compile(r"( *)([A-Za-z][A-Za-z0-9]*):(?: |$)")
_WORDS = re.compile(r" *# (-- )?(.*)")
HEAD = """# The chart of Gainsay

<!-- Written by `make chart` from values.yaml. Change that. -->

API, workers, sequencers and, where they are wanted here, signer and witness.
[docs/kubernetes.md](../../docs/kubernetes.md) says how to install it, in which modes, and what was not run. `examples/`
has values for CloudNativePG, a database elsewhere, cert-manager and external-secrets.

Unknown values are refused, but for `global` and `enabled`, which an umbrella chart passes down. Each credential is
`{secret, key}`: a Secret that exists, and a key in it.

| value | default | what it says |
|---|---|---|
"""


class Row(NamedTuple):
    """A value: its path, its default, and the words above it."""

    path: str
    default: Any
    words: str


def texts() -> dict[str, str]:
    """Every file that is written, by its name in the chart."""
    found = {
        f"{folder}/{file.name}": file.read_text("utf-8")
        for folder, pattern in _COPIED.items()
        for file in sorted(ROOT.glob(pattern))
    }
    return {**found, "README.md": readme((CHART / "values.yaml").read_text("utf-8"))}


def readme(values: str) -> str:
    """The text of README.md for the text of a values.yaml."""
    lines = [f"| `{path}` | `{_shown(default)}` | {words} |" for path, default, words in rows(values)]
    return HEAD + "\n".join(lines) + "\n"


def rows(values: str) -> Iterator[Row]:
    """The described values, and the members without a description of those that have none themselves."""
    described = dict(_described(values))
    whole: dict[str, Any] = yaml.safe_load(values)
    yield from _below(whole, "", described)


def _below(found: dict[str, Any], prefix: str, described: dict[str, str]) -> Iterator[Row]:
    for key, value in found.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and value and path not in described:
            yield from _below(value, f"{path}.", described)
        else:
            yield Row(path, value, described.get(path, ""))


def _described(values: str) -> Iterator[tuple[str, str]]:
    """Each key with `# --` lines above it, as its path and these lines in one."""
    above: list[str] = []
    stack: list[tuple[int, str]] = []
    for line in values.splitlines():
        if words := _WORDS.fullmatch(line):
            above = [words[2]] if words[1] else [*above, words[2]] if above else []
        elif key := _KEY.match(line):
            indent = len(key[1])
            stack = [*(part for part in stack if part[0] < indent), (indent, key[2])]
            if above:
                yield ".".join(name for _, name in stack), " ".join(above)
            above = []
        else:
            above = []


def _shown(default: Any) -> str:
    return json.dumps(default).replace("|", "\\|")
