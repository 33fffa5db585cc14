"""The fields of a form, read from the schema alone: roles by name, kinds, bounds, lengths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil, floor
from typing import Any

Schema = Mapping[str, Any]
"""A JSON Schema."""
ROLES: tuple[tuple[str, str], ...] = (
    ("reason", r"rational|reason|because|\bwhy\b|justif|explan"),
    ("open", r"uncertain|caveat|risk|open|question|limit|unknown|condition|concern|objection|dissent|contested|assum"),
    ("confidence", r"confiden|certain|score|probab|likel|strength|percent|rating|weight"),
    ("count", r"\brounds?\b|\bcount|number of"),
    ("stance", r"winner|stance|\bside\b|position|\boptions?\b|prevail|prefer|choice"),
    ("quote", r"quot|evidence|passage|citation|excerpt"),
    ("place", r"source|clause|section|locat|\bplace\b|document|reference"),
    ("time", r"\bwhen\b|\bdate|deadline|\bby when|\buntil\b"),
    ("argument", r"argument|\bpoints?\b|claim|\bpros?\b|\bcase\b|support|key"),
    ("decision", r"decision|verdict|conclu|answer|outcome|result|summary|recommend|headline|title|finding|action"),
    ("note", r"note|comment|remark|disclaim|text|body|detail|descri"),
)
"""The role of a field, by words of its name or description; the first that fits."""
BY_KEYWORD = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}
"""The type of a schema that names none, by its keywords."""


def merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two schemas of one value as one; of two bounds the tighter one is kept."""
    made = {**other, **one}
    for key in ("properties", "$defs"):
        if key in one and key in other:
            made[key] = {**other[key], **one[key]}
    if "required" in one and "required" in other:
        made["required"] = [*one["required"], *other["required"]]
    for key in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
        if key in one and key in other:
            made[key] = max(one[key], other[key])
    for key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
        if key in one and key in other:
            made[key] = min(one[key], other[key])
    if isinstance(one.get("enum"), list) and isinstance(other.get("enum"), list):
        made["enum"] = [o for o in one["enum"] if o in other["enum"]]
    return made


def bounds(schema: Schema, *, whole: bool) -> tuple[float | None, float | None]:
    """The least and the greatest number that a schema allows; ``None`` without a bound."""
    gap = 1 if whole else 1e-6
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(above, int | float):
        low = above + gap if low is None else max(low, above + gap)
    if isinstance(below, int | float):
        high = below - gap if high is None else min(high, below - gap)
    if whole:
        low, high = (None if low is None else ceil(low)), (None if high is None else floor(high))
    return low, high


def role_of(name: str, description: str, title: str) -> str:
    """The role of a field, by its name first."""
    for text in (spaced(name), title, description):
        for role, words in ROLES:
            if text and re.search(words, text, re.IGNORECASE):
                return role
    return ""


def spaced(name: str) -> str:
    """A field's name in words: ``reviewWhen`` is "review when"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", name).lower()


def level(word: str) -> str:
    """The confidence level that a fixed value names; empty if it names none."""
    return {"HIGH": "HIGH", "MODERATE": "MODERATE", "MEDIUM": "MODERATE", "MID": "MODERATE", "LOW": "LOW"}.get(
        word.upper(), ""
    )


def cut(text: str, least: int, most: int) -> str:
    """The text within its bounds: whole sentences if some fit, else whole words, else characters."""
    if len(text) <= most:
        return text
    sentence = text[: most + 1].rfind(". ")
    if sentence > max(least, most // 3):
        return text[: sentence + 1]
    space = text.rfind(" ", 0, most + 1)
    return text[:space] if space >= max(1, least) else text[:most]
