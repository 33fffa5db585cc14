"""Citations: every threshold, word list and pattern that a module of the engine has by name.

Most of them decide only in rare documents, so that no set of cases shows each of them. A constant may move to another
module of the engine without a trace here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import msgspec

from service.checks.citations import ENGINE
from service.checks.patterns import LazyPattern
from tests.vectors.goldens import Golden, file_of, lines

PACKAGES: Mapping[str, str] = {ENGINE: "service.checks.citations"}
"""Where the modules of each version are."""
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
LONGEST = 2_000
"""Characters of a value that is held at most. A longer one is generated from the word list, whose hash is in the name
of the version, or from the Unicode tables of the interpreter."""


def modules(package: str) -> Iterator[ModuleType]:
    """A package's modules, in its folders too."""
    top = import_module(package)
    yield top
    for found in walk_packages(top.__path__, f"{package}."):
        yield import_module(found.name)


def constants(package: str) -> list[tuple[str, Any]]:
    """The constants by their names, each once: another module may import it."""
    found: dict[bytes, tuple[str, Any]] = {}
    for module in modules(package):
        for name, value in vars(module).items():
            if CONSTANT.fullmatch(name) and (data := _data(value)) is not None:
                encoded = msgspec.json.encode((name, data))
                if len(encoded) <= LONGEST:
                    found[encoded] = name, data
    return [found[encoded] for encoded in sorted(found)]


def _data(value: object) -> Any:
    """A value as JSON has it, words of a list in one text; ``None`` for what is no data."""
    match value:
        case bool() | int() | str():
            return value
        case re.Pattern() | LazyPattern():
            return [value.pattern, value.flags]
        case Set():
            return _joined(sorted(map(_data, value), key=str))
        case tuple() | list() | range():
            return _joined([_data(one) for one in value])
        case Mapping():
            return _joined([_data(item) for item in value.items()])
    return None


def _joined(values: list[Any]) -> Any:
    if None in values:
        return None
    return " ".join(values) if values and all(isinstance(one, str) and one.isalpha() for one in values) else values


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {
        file_of(name, "constants"): Golden(name, partial(_made, name, package)) for name, package in PACKAGES.items()
    }


def _made(name: str, package: str) -> bytes:
    return lines(name, {1: constants(package)})
