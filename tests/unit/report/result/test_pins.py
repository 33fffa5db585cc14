"""A result and a stream name the pins of the texts that the debate can ask with, and of no other format's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.model import Turn
from service.debate.replies import Reply
from service.prompts import Prompts
from service.report.result.pins import pins_of
from tests.fixtures import formats
from tests.fixtures.debates import canned, drive, start_of
from tests.unit.report.played import FORMATS

PINS = Prompts.load().pins()
ALWAYS = {"house", "repair", "template.layout"}
"""What any debate can ask with."""


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=6)
@given(data=st.data())
def test_the_pins_of_a_debate_are_those_of_every_text_that_it_asks_with(form: str, data: st.DataObject) -> None:
    start = start_of(data.draw(formats.options(form)))
    asked: set[str] = set(ALWAYS)

    def noting(turn: Turn, facts: Any) -> Reply:
        asked.update({turn.asks, f"schema.{turn.asks}", *turn.fragments})
        return canned(turn, facts)

    drive(start, noting)
    named = pins_of(replace(start, pins=PINS))

    assert asked <= set(named)
    assert named.items() <= PINS.items()


def test_every_text_is_of_one_format_or_of_all() -> None:
    named = [set(pins_of(replace(start_of(formats.plain(form)), pins=PINS))) for form in FORMATS]

    shared = set.intersection(*named)

    assert set.union(*named) == set(PINS)
    assert shared >= ALWAYS
    assert all(one & other == shared for one in named for other in named if one is not other)
