"""Each filter and each order of the list has its index: what PostgreSQL plans for it on a few thousand debates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest

from bench.found import RARE, TENANT, fill
from service.reviews.query_parameters import CLOSED, FILTERS, read_query
from service.store.debate_query import SORTS, Position
from service.store.finding import Search, page_statement
from service.store.queries import numbered, queries
from service.store.reach import ReachLimit
from tests.fixtures.postgres import Cluster, Database
from tests.store.tenants import CLAUSE

pytestmark = pytest.mark.no_replay
DEBATES = 3_000
LARGE = {"found_by", "case_words", "debate_head", "rests_on", "leaf", "entry_2026", "payload_2026", "decision"}
"""The tables that are never read from end to end."""
PLANS: Mapping[str, tuple[dict[str, str], str]] = {
    "since": ({"since": "2026-10-01"}, "debate_head_list"),
    "until": ({"until": "2025-02-01"}, "debate_head_list"),
    "taskType": ({"taskType": "other"}, "found_by_task_type"),
    "status": ({"status": "aborted"}, "found_by_status"),
    "status, open": ({"status": "queued"}, "found_by_status"),
    "format": ({"format": "convergence"}, "found_by_format"),
    "outcome": ({"outcome": "escalated"}, "found_by_outcome"),
    "confidence": ({"confidence": "LOW"}, "found_by_confidence"),
    "flag": ({"flag": "inventedQuotation"}, "found_by_flags"),
    "humanReview": ({"humanReview": "true"}, "found_by_human_review"),
    "useCase": ({"useCase": "use 70"}, "found_by_use_case"),
    "materiality": ({"materiality": "high"}, "found_by_materiality"),
    "purpose": ({"purpose": "evaluation"}, "found_by_evaluation"),
    "model": ({"model": "alder-large"}, "rests_on_pkey"),
    "metadata": ({"metadata": "ticket=MR-17"}, "case_words_metadata"),
    "metadata, a key": ({"metadata": "nothing"}, "case_words_metadata"),
    "q": ({"q": RARE}, "case_words_words"),
}
ORDERS = {"createdAt": "debate_head_list", "spentUSD": "found_by_spent", "estimatedDownsideUSD": "found_by_downside"}


@pytest.fixture(scope="module")
def filled(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A database with that many debates, counted as autovacuum would."""
    with cluster.lend(template.name) as database:
        fill(database.admin_url, DEBATES)
        with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
            admin.execute("UPDATE debate_head SET subject = 'sub_' || abs(hashtext(debate::text)) % 300")
            admin.execute("VACUUM ANALYZE debate_head")
        yield database


@pytest.fixture(scope="module", params=["service", "serving"])
def planner(request: pytest.FixtureRequest, filled: Database) -> Iterator[psycopg.Connection[Any]]:
    """The service's login on it, and the one that serves callers, whose rows are kept to their tenant."""
    url, path = filled.service_url, "gainsay"
    if request.param == "serving":
        url, path = filled.serving_url, f"gainsay_tenant,gainsay -c gainsay.tenant={TENANT}"
    with psycopg.connect(url, autocommit=True, options=f"-c search_path={path}") as connection:
        yield connection


def plan(planner: psycopg.Connection[Any], statement: tuple[bytes, dict[str, Any]]) -> str:
    """The plan of a statement as JSON, with its values, as the service has it planned."""
    sql, names = numbered(statement[0])
    cursor = psycopg.RawCursor(planner)
    cursor.execute(b"EXPLAIN (FORMAT JSON) " + sql, [statement[1][name] for name in names], prepare=False)
    found = cursor.fetchone()
    assert found is not None
    return json.dumps(found[0])


def read_whole(plan: str) -> set[str]:
    """The tables that a plan reads from end to end."""
    found, rest = set(), [json.loads(plan)]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            if part.get("Node Type") == "Seq Scan":
                found.add(part["Relation Name"])
            rest += part.values()
        elif isinstance(part, list):
            rest += part
    return found


def asked(given: dict[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in given.items()}


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("what", PLANS)
def test_each_filter_uses_its_index(planner: psycopg.Connection[Any], what: str, few: bool) -> None:
    given, index = PLANS[what]
    few = few and index.startswith("case_words")

    found = plan(planner, page_statement(Search(TENANT, read_query(asked(given)), held=True, few=few), None))

    assert f'"{index}"' in found
    assert read_whole(found) & LARGE == set()


@pytest.mark.parametrize("assigned", [False, True])
def test_a_requesters_own_cases_use_their_index(planner: psycopg.Connection[Any], assigned: bool) -> None:
    """Of a few thousand debates it has ten."""
    limit = ReachLimit("sub_7", own=True, assigned=assigned)

    found = plan(planner, page_statement(Search(TENANT, read_query({}), held=True, limit=limit), None))

    assert '"debate_head_own"' in found
    assert read_whole(found) & LARGE == set()


def test_no_filter_is_left_out() -> None:
    assert {what.partition(",")[0] for what in PLANS} == set(FILTERS)
    assert {name for name in CLOSED if name != "facets"} < set(PLANS)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("after", [False, True])
def test_each_order_uses_its_index_from_any_place_on(planner: psycopg.Connection[Any], sort: str, after: bool) -> None:
    key = None if sort.endswith("createdAt") else "100000"
    place = Position("01960000-0000-7000-8000-000000000000", key) if after else None

    found = plan(planner, page_statement(Search(TENANT, read_query({"sort": [sort]}), held=True), place))

    assert f'"{ORDERS[sort.lstrip("-")]}"' in found
    assert read_whole(found) & LARGE == set()


def test_no_clause_about_the_tenant_has_a_statement_read_a_table_from_end_to_end(filled: Database) -> None:
    """As it is planned for all values, as PostgreSQL does with a statement that a connection has sent some times."""
    whole = {}
    with psycopg.connect(filled.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        for name, sql in queries().items():
            if CLAUSE.search(sql):
                cursor = psycopg.RawCursor(admin)
                cursor.execute(b"EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + numbered(sql)[0], prepare=False)
                whole[name] = read_whole(json.dumps(cursor.fetchall())) & LARGE

    assert {name: tables for name, tables in whole.items() if tables} == {}
    assert len(whole) >= 45
