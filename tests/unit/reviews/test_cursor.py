"""A cursor says the place at which it was made, in the list that it was made for, or is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from service.errors import BadRequest
from service.reviews.cursor import LONGEST, read_cursor, write_cursor
from service.store.debate_query import DebateQuery, Position, Sort

AT = Position("01920000-0000-7000-8000-00000000000a", "12.5")
QUERY = DebateQuery(
    task_type=("contract", "t" * 100),
    metadata=(("k", None), ("k", "v")),
    since=datetime(2026, 1, 1, tzinfo=UTC),
    sort="estimatedDownsideUSD",
)
CHANGES: dict[str, Any] = {
    "since": datetime(2026, 1, 2, tzinfo=UTC),
    "until": datetime(2026, 1, 2, tzinfo=UTC),
    "task_type": ("contract",),
    "use_case": ("x",),
    "model": ("x",),
    "status": ("failed",),
    "format": ("panel",),
    "outcome": ("none",),
    "confidence": ("LOW",),
    "flag": ("tied",),
    "materiality": ("low",),
    "human_review": False,
    "purpose": ("evaluation",),
    "metadata": (("k", None),),
    "words": "x",
    "sort": "createdAt",
}
FREE = {"limit": 7, "facets": ("status",)}
"""What may change from page to page."""


PLACES: tuple[tuple[Sort, str | None], ...] = (
    ("estimatedDownsideUSD", "12.5"),
    ("-estimatedDownsideUSD", "9" * 55),
    ("createdAt", None),
    ("-createdAt", None),
    ("spentUSD", None),
    ("-spentUSD", "0"),
    ("-spentUSD", "9" * 18),
)


@pytest.mark.parametrize(("sort", "key"), PLACES)
def test_a_cursor_gives_back_its_place(sort: Sort, key: str | None) -> None:
    query, at = replace(QUERY, sort=sort), Position(AT.debate, key)
    token = write_cursor("default", query, at)

    assert read_cursor("default", replace(query, after=token, **FREE)) == at
    assert token.replace("-", "").replace("_", "").isalnum()
    assert len(token) < LONGEST


FORGED: tuple[tuple[Sort, str | None], ...] = (
    ("createdAt", "1"),
    ("createdAt", "none"),
    ("estimatedDownsideUSD", None),
    ("estimatedDownsideUSD", "NaN"),
    ("estimatedDownsideUSD", "1e400"),
    ("estimatedDownsideUSD", "\N{ARABIC-INDIC DIGIT THREE}"),
    ("spentUSD", "1.5"),
    ("spentUSD", "9" * 19),
    ("-spentUSD", "x"),
    ("-spentUSD", "1\n"),
)


@pytest.mark.parametrize(("sort", "key"), FORGED)
def test_a_cursor_that_was_forged_is_refused_before_the_database_is_asked(sort: Sort, key: str | None) -> None:
    """The way in which a cursor is made is public: its checksum shows damage alone."""
    query = replace(QUERY, sort=sort)
    token = write_cursor("default", query, Position(AT.debate, key))

    with pytest.raises(BadRequest, match="must be the value of next"):
        read_cursor("default", replace(query, after=token))


def test_no_cursor_is_the_first_page() -> None:
    assert read_cursor("default", QUERY) is None


def test_a_cursor_is_refused_in_every_other_list() -> None:
    assert {*CHANGES, *FREE, "after"} == set(DebateQuery.__struct_fields__)
    token = write_cursor("default", QUERY, AT)
    for name, value in CHANGES.items():
        with pytest.raises(BadRequest, match="other filters or another sort"):
            read_cursor("default", replace(QUERY, after=token, **{name: value}))
    with pytest.raises(BadRequest, match="other filters or another sort"):
        read_cursor("other", replace(QUERY, after=token))


def test_a_damaged_cursor_is_refused_wherever_it_is_damaged() -> None:
    token = write_cursor("default", QUERY, AT)
    spoiled = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    spoiled += [token[:at] for at in range(len(token))]
    for each in (*spoiled, f"{token}=", f"{token} ", f"{token}A", "ü" * 40, "\ud800", "A" * 10_000):
        with pytest.raises(BadRequest, match="must be the value of next"):
            read_cursor("default", replace(QUERY, after=each))
