"""The table of debates on screens of any width, its ids, and the times and filters of its options."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from service.audit.csv_line import csv_line
from service.cli.display import listing
from service.cli.list_options import FACETS, SORTS, filters_in_words, instant, list_options, query_of
from service.cli.list_rows import COLUMNS, row
from service.reviews.query_parameters import PARAMETERS
from service.store import debate_query

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def debate(n: int = 0, **changes: Any) -> dict[str, Any]:
    """A debate as the list has it; the ids of two have one millisecond."""
    return {
        "debateId": f"019a8c3f-5b2e-7{n:03x}-8000-0123456789ab",
        "createdAt": "2026-11-24T20:41:07.637Z",
        "status": "completed",
        "question": "Does this agreement expose us to uncapped liability for what third parties claim?",
        "decision": {
            "outcome": "modified",
            "confidence": "MODERATE",
            "humanReview": {"required": True},
            "cost": {"spentUSD": "11.021300"},
        },
        **changes,
    }


def printed(debates: list[dict[str, Any]], width: int, *, whole_ids: bool = False) -> list[str]:
    """The lines of the list."""
    screen = Console(file=io.StringIO(), width=width, color_system=None)
    listing.show(screen, debates, whole_ids=whole_ids)
    assert isinstance(screen.file, io.StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_every_line_fits_the_screen_and_every_fact_is_there(width: int) -> None:
    lines = printed([debate(), debate(1, status="truncated"), debate(2, status="running", decision={})], width)

    assert max(map(cell_len, lines)) <= width
    told = " ".join(lines)
    for fact in ("11-24 20:41", "Modified", "11.0213", "MOD", "running", "cut"):
        assert fact in told, fact


def test_a_row_is_one_line_of_eighty_characters() -> None:
    assert printed([debate()], 80) == [
        "UTC          id             outcome   conf  rev      USD  question",
        "11-24 20:41  019a8c3f-5b2e  Modified  MOD   yes  11.0213  Does this agreement e…",
    ]


def test_the_year_is_there_where_years_differ_or_room_is_left() -> None:
    older = debate(1, createdAt="2025-11-24T20:41:07.637Z")

    assert any(line.startswith("2025-11-24 20:41") for line in printed([debate(), older], 80))
    assert printed([debate()], 100)[1].startswith("2026-11-24 20:41")


def test_ids_are_as_short_as_they_differ() -> None:
    assert listing.shortened(["019a8c3f-5b2e-7abc", "019a8c40-5b2e-7abc"]) == ["019a8c3f-5b2e", "019a8c40-5b2e"]
    assert listing.shortened(["019a8c3f-5b2e-7abc", "019a8c3f-5b2e-7abd", "1"]) == [
        "019a8c3f-5b2e-7abc",
        "019a8c3f-5b2e-7abd",
        "1",
    ]
    assert listing.shortened(["a"] * 3) == ["a"] * 3


@given(st.sets(st.uuids(version=4).map(str), max_size=30))
def test_a_short_id_begins_one_id_alone(ids: set[str]) -> None:
    ordered = sorted(ids)
    for short, whole in zip(listing.shortened(ordered), ordered, strict=True):
        assert [one for one in ordered if one.startswith(short)] == [whole]
        assert len(short) >= listing.SHORT
        assert not short.endswith("-")


def test_whole_ids_are_whole_on_every_screen() -> None:
    for width in (40, 80, 100):
        assert debate()["debateId"] in " ".join(printed([debate()], width, whole_ids=True))


def test_the_counts_of_a_facet_wrap_under_one_another() -> None:
    values = [{"value": f"a use case of some words {n}", "count": 1_000 + n} for n in range(2)]
    screen = Console(file=io.StringIO(), width=40, color_system=None)

    listing.show_facets(screen, [{"facet": "useCase", "values": values}, {"facet": "flag", "values": []}])

    assert isinstance(screen.file, io.StringIO)
    assert [line.rstrip() for line in screen.file.getvalue().splitlines()] == [
        "useCase  a use case of some words 0",
        "         1,000, a use case of some words",
        "         1 1,001",
        "flag     none",
    ]


# -- options


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("today", "2026-03-01"),
        ("yesterday", "2026-02-28"),
        ("12h", "2026-03-01T00:30:00Z"),
        ("7d", "2026-02-22T12:30:00Z"),
        ("2w", "2026-02-15T12:30:00Z"),
        ("2026-11-01", "2026-11-01"),
        ("2026-13-01", "2026-13-01"),
    ],
)
def test_a_time_may_be_a_word_or_an_age(text: str, found: str) -> None:
    assert instant(text, "--since", NOW) == found


@pytest.mark.parametrize("text", ["7 d", "0d", "3", "last week", ""])
def test_any_other_text_is_answered_with_all_that_a_time_may_be(text: str) -> None:
    with pytest.raises(click.UsageError, match=f"12h, 7d or 2w, found '{text}'$"):
        instant(text, "--since", NOW)


def test_a_slip_in_a_word_of_time_is_answered_with_the_word() -> None:
    with pytest.raises(click.UsageError, match=r"--until: .*; did you mean 'yesterday'\?"):
        instant("yesteday", "--until", NOW)


def test_an_age_before_all_calendars_is_usage() -> None:
    with pytest.raises(click.UsageError, match="before the year 1"):
        instant("99999w", "--since", datetime(1900, 1, 1, tzinfo=UTC))


def given_of(*words: str) -> dict[str, Any]:
    """What these words give to the parameters of a command."""

    found: dict[str, Any] = {}

    @click.command()
    @list_options
    def command(**given: Any) -> int:
        found.update(given)
        return 0

    command.main(list(words), standalone_mode=False)
    return found


def test_every_filter_of_the_service_is_an_option() -> None:
    words = "--since 1d --until today --task-type t --status s --format f --outcome o --confidence c --flag x "
    words += "--no-human-review --use-case u --materiality m --purpose p --model y --metadata a=b --question q "
    words += "--sort createdAt"

    query = query_of(given_of(*words.split()), NOW)

    assert {name for name, _ in query} == set(PARAMETERS) - {"limit", "after", "facets"}
    assert ("humanReview", "false") in query
    assert filters_in_words(given_of(*words.split())) == words.removesuffix(" --sort createdAt")


def test_the_lists_that_the_shell_completes_are_those_of_the_service() -> None:
    assert SORTS == debate_query.SORTS
    assert FACETS == debate_query.FACETS


def test_a_filter_may_be_given_several_times() -> None:
    query = query_of(given_of("--status", "failed", "--status", "aborted"), NOW)

    assert query == (("status", "failed"), ("status", "aborted"), ("sort", "-createdAt"))


# -- CSV


@pytest.mark.parametrize("text", ["=1+1", "+1 a", "-x", "@x", " =1", "\uff1d1"])
def test_no_cell_of_a_caller_is_a_formula(text: str) -> None:
    cells: dict[str, Any] = {"question": text, "useCase": text, "metadata": {text: text}, "caller": {"id": text}}

    line = row(debate(**cells))

    expected = [cell(debate(**cells)) for cell in COLUMNS.values()]
    assert line == csv_line(expected)
    assert not any(cell.startswith(tuple("=+-@\t\r")) for cell in line.decode().replace('"', "").split(",")[2:7])
