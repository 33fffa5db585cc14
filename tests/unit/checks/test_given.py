"""What an engine is given follows its version, and whatever is not given does not reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from service.checks import citations, consensus, given, injection, judgement, overlap, texts
from service.checks.given import given_to
from service.debate.facts import Facts
from service.debate.turns import TurnId
from service.errors import IllegalEntry
from tests.fixtures.debates import a_case, a_start, drive


def test_a_later_engine_is_given_what_the_engine_before_it_was_given() -> None:
    rows = {"judgement/2": "first", "judgement/5": "second"}

    assert [given_to(f"judgement/{n}", rows) for n in (2, 3, 4, 5, 6, 10)] == ["first"] * 3 + ["second"] * 3


@pytest.mark.parametrize(
    ("engines", "rows"),
    [
        (citations.ENGINES, given.CITATIONS),
        (judgement.CRITIQUES, given.CRITIQUES),
        (injection.INJECTIONS, given.INJECTIONS),
        (overlap.OVERLAPS, given.OVERLAPS),
        (consensus.AGREEMENTS, given.AGREEMENTS),
        (texts.COMPARISONS, given.TEXTS),
    ],
)
def test_every_engine_is_given_something(engines: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    assert {engine for engine in engines if given_to(engine, rows) is None} == set()
    assert rows.keys() - engines.keys() == set()


def test_a_reply_of_another_kind_is_refused_by_its_turn() -> None:
    facts, over = Facts.of(drive(a_start())), (TurnId("1.proposer.1"),)

    with pytest.raises(IllegalEntry, match=r"turn 1\.proposer\.1 is not a critique"):
        given_to("judgement/1", given.CRITIQUES)(a_case(), facts, over)
    with pytest.raises(IllegalEntry, match="belongs to the format convergence"):
        given_to("wording/1", given.OVERLAPS)(a_case(), facts, over)
