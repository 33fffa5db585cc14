"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from importlib import import_module
from pkgutil import walk_packages

import pytest

from service import checks
from service.checks.patterns import LazyPattern, compile_all, lazily


def test_a_pattern_gives_what_a_compiled_one_gives() -> None:
    plain, lazy = re.compile("(?P<word>b+)", re.IGNORECASE), lazily("(?P<word>b+)", re.IGNORECASE)

    assert lazy.pattern == plain.pattern
    assert lazy.flags == plain.flags
    assert lazy.groupindex == plain.groupindex
    assert lazy.sub("x", "aBb") == plain.sub("x", "aBb") == "ax"
    assert [match.span("word") for match in lazy.finditer("aBb b", 1)] == [(1, 3), (4, 5)]
    assert lazy.fullmatch("aBb") is None


def test_a_pattern_that_is_no_expression_says_so_at_its_first_use() -> None:
    wrong = lazily("(")

    with pytest.raises(re.error, match="missing"):
        wrong.search("")


def test_all_patterns_are_compiled_at_once_but_those_that_are_no_expression() -> None:
    made: list[object] = [lazily("("), lazily("b+")]

    compile_all()

    assert [vars(one)["_compiled"] is None for one in made] == [True, False]


def test_every_pattern_of_the_engines_is_an_expression() -> None:
    names = [
        found.name
        for found in walk_packages(checks.__path__, "service.checks.")
        if found.name != "service.checks.patterns"
    ]
    found = {
        id(one): one
        for name in names
        if name != "service.checks.patterns"
        for value in vars(import_module(name)).values()
        for one in patterns(value)
    }

    for one in found.values():
        re.compile(one.pattern, one.flags)

    assert len(found) > 320


def patterns(value: object) -> Iterator[LazyPattern]:
    """The patterns in a value of a module, also in its tables."""
    match value:
        case LazyPattern():
            yield value
        case Mapping():
            yield from patterns([*value.values()])
        case tuple() | list() | Set():
            for one in value:
                yield from patterns(one)
