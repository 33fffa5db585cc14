"""The expressions of alerts without their comparisons: what an alert looks at, whether or not it fires.

An expression is taken apart at `and`, `or` and `unless`; each part loses its comparison with a bound, and
`absent(x)` becomes `x`. So a part that has no data could never fire, and is found.
"""

from __future__ import annotations

import re

_JOINS = re.compile(r"\b(?:and|or|unless)\b(?:\s+on\s*\([^)]*\))?")
_COMPARES = re.compile(r"[=!<>]=|[<>]")


def parts(expr: str) -> list[str]:
    """What an expression compares with bounds, each by itself."""
    expr = _bare(expr)
    joints = [found for found in _JOINS.finditer(expr) if _depth(expr, found.start()) == 0]
    if joints:
        ends = [*(found.start() for found in joints), len(expr)]
        starts = [0, *(found.end() for found in joints)]
        return [part for start, end in zip(starts, ends, strict=True) for part in parts(expr[start:end])]
    bound = next((found for found in _COMPARES.finditer(expr) if _depth(expr, found.start()) == 0), None)
    if bound is not None:
        return parts(expr[: bound.start()])
    inner = re.fullmatch(r"absent\((.*)\)", expr, re.DOTALL)
    return parts(inner[1]) if inner else [expr]


def _bare(expr: str) -> str:
    """An expression without brackets around the whole of it."""
    expr = expr.strip()
    while expr.startswith("(") and all(_depth(expr, at) > 0 for at in range(1, len(expr) - 1)) and expr.endswith(")"):
        expr = expr[1:-1].strip()
    return expr


def _depth(expr: str, at: int) -> int:
    """How many brackets are open before a place; one in a text counts as none."""
    before = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: "x" * len(found[0]), expr)[:at]
    return sum(before.count(opening) for opening in "([{") - sum(before.count(closing) for closing in ")]}")
