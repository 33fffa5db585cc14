"""A result has no null, but where a reference's shape, a seat's own words or an abstention has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.entries import CaseReceived, Entry
from service.debate.model import Position
from service.report import VIEWS, View, build_result, viewed
from tests.fixtures import formats
from tests.fixtures.debates import DECLINED, World, a_case, start_of
from tests.unit.report.played import FORMATS, lines

PROFILE = settings()
NAMED = {
    "rounds": {"criticPosition", "rebuttalPosition", "moderatorEvaluation", "proposerPosition", "critic", "rebuttal"},
    "evaluation": {"critic", "rebuttal", "proposer"},
    "verdict": {"winner"},
    "swappedVerdict": {"winner"},
    "raw": {"verdict", "winner"},
    "votes": {"vote"},
}
"""By the member that holds them: the members that docs/calling.md says may be null."""
OWN_WORDS = "reply"


def nulls(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of every null, without the places in lists."""
    match value:
        case None:
            yield path
        case dict():
            for name, part in value.items():
                yield from nulls(part, (*path, name))
        case list():
            for part in value:
                yield from nulls(part, path)


def unnamed(result: Any) -> set[tuple[str, ...]]:
    """The nulls of a result that no page names."""
    return {
        path
        for path in nulls(result)
        if OWN_WORDS not in path and not any(path[-1] in NAMED.get(holder, ()) for holder in path[:-1])
    }


def shown(entries: list[Entry], view: View) -> Any:
    return msgspec.json.decode(msgspec.json.encode(viewed(build_result("d1", lines(entries)), view)))


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 4, 5))
@given(
    seed=st.integers(0, 5_000),
    documented=st.booleans(),
    ceiling=st.sampled_from([13_000, 60_000, 10_000_000]),
    data=st.data(),
)
def test_no_result_has_a_null_that_no_page_names(
    form: str, seed: int, documented: bool, ceiling: int, data: st.DataObject
) -> None:
    start = start_of(data.draw(formats.options(form)), ceiling=ceiling)
    case = a_case() if documented else replace(a_case(), documents=())
    entries = World(seed, failing=15, refusing=3).drive(start, case=case)
    until = data.draw(st.integers(1, len(entries)))

    assert [unnamed(shown(entries[:until], view)) for view in VIEWS] == [set(), set()]


@pytest.mark.parametrize("view", VIEWS)
def test_a_declined_case_has_none(view: View) -> None:
    assert [*nulls(shown([CaseReceived(a_case(), "local"), DECLINED], view))] == []


def test_a_position_without_a_rebuttal_or_a_rank_has_neither() -> None:
    positions = (Position("adopt", "Adopt it."), Position("defer", "Wait."))
    entries = World(3).drive(start_of(replace(formats.plain("adversarial/1"), positions=positions)))

    found = [shown(entries[:until], "full") for until in range(4, len(entries) + 1)]

    assert {path for result in found for path in unnamed(result)} == set()
    assert any("rank" not in position for r in found for d in r.get("roundDetails", ()) for position in d["positions"])
