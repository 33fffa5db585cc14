"""The parameters of the list: each is read, described to callers, and shares its words with the export."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.audit.export import FILTERS as OF_EXPORT
from service.errors import BadRequest
from service.reviews.evidence.log_export import Filters
from service.reviews.query_parameters import CLOSED, FILTERS, ONCE, PARAMETERS, TEXTS, read_query
from service.store.debate_query import SORTS, DebateQuery
from service.store.finding import first_id
from service.web.list_operations import LISTS


def test_nothing_asks_for_the_newest_debates() -> None:
    assert read_query({}) == DebateQuery()


def test_the_order_and_the_repetition_of_values_say_nothing() -> None:
    one = read_query({"status": ["failed", "completed", "failed"], "metadata": ["b=2", "a"]})
    other = read_query({"metadata": ["a", "b=2", "a"], "status": ["completed", "failed"]})

    assert one == other == DebateQuery(status=("completed", "failed"), metadata=(("a", None), ("b", "2")))


def test_every_parameter_is_described_with_the_values_that_it_takes() -> None:
    described = {parameter.name: parameter.schema for parameter in LISTS["listDebates"].parameters}

    assert set(described) == set(PARAMETERS) == {*TEXTS, *CLOSED, *ONCE}
    assert {name: tuple(described[name]["items"]["enum"]) for name in CLOSED} == CLOSED
    assert tuple(described["sort"]["enum"]) == SORTS
    assert {name for name, schema in described.items() if schema.get("type") == "array"} == {*TEXTS, *CLOSED}


def test_the_list_and_the_export_share_their_words() -> None:
    assert set(OF_EXPORT) - set(FILTERS) == {"prompt", "document"}, "those are for recall"
    values = {"since": "2026-01-31", "until": "2026-02-01T00:00:00+01:00", "taskType": "contract", "model": "m"}
    values["status"] = "completed"
    query, export = read_query({name: [value] for name, value in values.items()}), Filters.of(values)

    assert (query.since, query.until) == (export.since, export.until)
    assert (query.task_type, query.model, query.status) == ((export.task_type,), (export.model,), (export.status,))


@pytest.mark.parametrize(
    ("text", "pair"),
    [("k=v", ("k", "v")), ("k", ("k", None)), ("k=", ("k", "")), ("k==", ("k", "=")), ("k=a=b", ("k", "a=b"))],
)
def test_the_first_sign_divides_a_pair(text: str, pair: tuple[str, str | None]) -> None:
    assert read_query({"metadata": [text]}).metadata == (pair,)


@pytest.mark.parametrize("name", TEXTS)
def test_half_a_surrogate_pair_is_refused(name: str) -> None:
    with pytest.raises(BadRequest):
        read_query({name: ["a\ud800"]})


@pytest.mark.parametrize(
    ("at", "ms"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), 1_767_225_600_000),
        (datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1_767_225_600_001),
        (datetime(2026, 1, 1, 0, 0, 0, 1_000, tzinfo=UTC), 1_767_225_600_001),
        (datetime(1, 1, 1, tzinfo=UTC), 0),
        (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), 253_402_300_799_000),
    ],
)
def test_the_first_id_of_a_time_is_that_of_its_millisecond_or_the_next(at: datetime, ms: int) -> None:
    assert first_id(at).int >> 80 == ms
    assert first_id(at).int & ((1 << 80) - 1) == 0


def test_every_fault_is_listed() -> None:
    with pytest.raises(BadRequest) as refused:
        read_query({"a": ["1"], "sort": ["x", "createdAt"], "q": [""], "status": ["x", "y"]})

    assert len(refused.value.parts) == 6
