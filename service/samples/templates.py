"""Templates of questions, a few for each task type: cases with placeholders that a person fills.

``templates.json`` holds them: each has a name, ``<task type>/<subject>``, what it asks in a line, and a case in the
shape of ``POST /v1/debates`` without documents. A placeholder is ``<FILL: name>``; the same name may stand in several
places. The downside is always a placeholder, because only its caller knows it, and with it no template is a valid case
before it is filled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from service.errors import InvalidCase, NotFound, did_you_mean

_PLACEHOLDER = re.compile(r"<FILL: ([a-z][a-z-]{0,60})>")


class UnknownTemplate(NotFound):
    """There is no template by that name."""

    code = "unknown_template"
    title = "There is no such template"


class Template(Struct, frozen=True):
    """A question to be filled: ``about`` is one line, ``case`` a body with placeholders."""

    about: str
    case: dict[str, Any]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of its placeholders, in the order in which they stand."""
        return unfilled(self.case)


def templates() -> Mapping[str, Template]:
    """Every template by its name, by task types."""
    raw = files("service.samples").joinpath("templates.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, Template])


def load(name: str) -> Template:
    """The template of a name; raises `UnknownTemplate`."""
    known = templates()
    if name not in known:
        raise UnknownTemplate(
            f"expected the name of a template, found {name!r};{did_you_mean(name, known)} "
            f"choose one of: {', '.join(known)}"
        )
    return known[name]


def fill(template: Template, words: Mapping[str, str]) -> dict[str, Any]:
    """The case with these words in the placeholders' places; placeholders without words stay.

    Raises `InvalidCase` for a name that is no placeholder of the template.
    """
    for name in words:
        if name not in template.placeholders:
            near = did_you_mean(name, template.placeholders)
            raise InvalidCase(
                f"expected a placeholder of the template, found {name!r};{near} it has: "
                f"{', '.join(template.placeholders)}"
            )
    filled: dict[str, Any] = _filled(template.case, words)
    return filled


def unfilled(case: Any) -> tuple[str, ...]:
    """The names of the placeholders in a case. Documents are passed over: they may hold such words of their own."""
    members = {name: value for name, value in case.items() if name != "documents"} if isinstance(case, dict) else {}
    return tuple(dict.fromkeys(name for text in _texts(members) for name in _PLACEHOLDER.findall(text)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {name: _filled(inner, words) for name, inner in value.items()}
    return [_filled(inner, words) for inner in value] if isinstance(value, list) else value
