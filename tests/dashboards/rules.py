"""The rules of Prometheus in ``dashboards/rules``, as tests read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[2] / "dashboards" / "rules"
ALERTS, RECORDING = FOLDER / "gainsay-alerts.yml", FOLDER / "gainsay-recording.yml"
CASES = sorted((FOLDER / "tests").glob("*.yml"))

_SELECTOR = re.compile(r"\b((?:gainsay|process|python)[\w:]*|up)\b\s*(?:\{([^}]*)\})?")
_MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*\"([^\"]*)\"")


@dataclass(frozen=True)
class Rule:
    """One rule: an alert's, or that of a recorded series; ``labels`` are those that it adds."""

    group: str
    name: str
    expr: str
    labels: dict[str, str]
    annotations: dict[str, str]
    for_: str

    @property
    def selectors(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """The series that the expression names, each with its matchers: label, operator, value."""
        return [(name, _MATCHER.findall(matchers)) for name, matchers in _SELECTOR.findall(self.expr)]


def read(path: Path) -> Any:
    """A file of YAML."""
    return yaml.safe_load(path.read_text("utf-8"))


@cache
def rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file, in their order."""
    return tuple(
        Rule(
            group["name"],
            rule.get("alert") or rule["record"],
            rule["expr"],
            rule.get("labels", {}),
            rule.get("annotations", {}),
            rule.get("for", ""),
        )
        for group in read(path)["groups"]
        for rule in group["rules"]
    )


def alerts() -> tuple[Rule, ...]:
    """Every alert."""
    return rules(ALERTS)


def recorded() -> tuple[Rule, ...]:
    """Every recorded series, one for each rule that writes to it."""
    return rules(RECORDING)
