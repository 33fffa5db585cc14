"""A pooler in front of PostgreSQL: one that keeps a session for each connection will do, any other is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from service.errors import GainsayError, StoreUnavailable
from service.store import pool
from service.store.schema.migrate import migrate
from service.store.schema.pooler import SharedSessions
from service.store.schema.preflight import check_database, check_sequencer, refuse_incidents
from service.store.schema.wait_for_database import wait_for
from tests.fixtures.poolers import Pooler, pooler
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database

WAYS = {"transaction": "each transaction", "statement": "each (statement|transaction)"}


@pytest.fixture
def front(database: Database) -> Iterator[Pooler]:
    with pooler(database) as made:
        yield made


def checks(database: Database) -> list[tuple[str, Callable[[], object]]]:
    """Whatever looks at a database before it is used, by the setting that its address comes from."""
    return [
        ("GAINSAY_MIGRATE_URL", lambda: migrate(database.migrate_url, MIGRATIONS)),
        ("GAINSAY_DATABASE_URL", lambda: check_database(database.service_url, MIGRATIONS)),
        ("GAINSAY_DATABASE_URL", lambda: refuse_incidents(database.service_url)),
        ("GAINSAY_SEQUENCER_URL", lambda: check_sequencer(database.sequencer_url, MIGRATIONS)),
    ]


def not_waited_for(_error: GainsayError, _left_s: float) -> None:
    raise AssertionError("no waiting makes another pooler of it")


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("turns", [0, 1], ids=["the last one first", "in turn"])
@pytest.mark.parametrize("size", [1, 2, 20])
def test_a_pooler_of_transactions_or_statements_is_refused_by_whatever_starts_behind_it(
    front: Pooler, database: Database, mode: str, turns: int, size: int
) -> None:
    front.start(pool_mode=mode, server_round_robin=turns, default_pool_size=size, min_pool_size=size)
    for variable, check in checks(front.in_front(database)):
        with pytest.raises(
            SharedSessions, match=f"{variable}, found a pooler that gives {WAYS[mode]}.*pool_mode = sess"
        ):
            wait_for(check, lambda: 60.0, not_waited_for)
    with psycopg.connect(database.admin_url) as admin:
        locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database "
        assert admin.execute(locks + "WHERE datname = current_database())").fetchone() == (0,), "a lock was left there"


def test_an_empty_database_is_migrated_and_found_fit_through_a_pooler_of_sessions(empty_database: Database) -> None:
    with pooler(empty_database) as front:
        front.start(pool_mode="session")
        for _ in range(3):
            for _, check in checks(front.in_front(empty_database)):
                check()


def test_a_pooler_that_hands_on_sessions_as_they_were_left_is_refused(front: Pooler, database: Database) -> None:
    front.start(pool_mode="session", server_reset_query="")
    through = front.in_front(database)
    check_database(through.service_url, MIGRATIONS)
    with pytest.raises(SharedSessions, match="server_reset_query = DISCARD ALL"):
        refuse_incidents(through.service_url)


@pytest.mark.parametrize(("reset", "left"), [("DISCARD ALL", False), ("", True)])
def test_what_the_runbook_says_to_look_for_by_hand_shows_sessions_that_are_handed_on_as_they_were_left(
    front: Pooler, database: Database, reset: str, left: bool
) -> None:
    text = " ".join((MIGRATIONS.parent / "docs" / "runbook.md").read_text("utf-8").split())
    ours, sets, shows = re.findall(r"`(SELECT [^`]*)`", text.split("By hand: ")[1])[:3]
    front.start(pool_mode="session", server_reset_query=reset)
    found: list[bool] = []
    for _ in range(2):
        with psycopg.connect(front.in_front(database).service_url, autocommit=True) as one:
            row = one.execute(shows.encode()).fetchone()
            found.append(bool(row and row[0]))
            assert one.execute(ours.encode()).fetchone() == one.execute(ours.encode()).fetchone()
            one.execute(sets.encode())

    assert found == [False, left]


def test_a_pooler_with_too_few_sessions_is_told_and_waited_for(
    front: Pooler, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SILENT_S", 0.3)
    front.start(pool_mode="session", default_pool_size=1)
    with pytest.raises(StoreUnavailable, match=r"expected a second session .* default_pool_size"):
        check_database(front.in_front(database).service_url, MIGRATIONS)


def test_a_full_pooler_that_sends_away_whoever_waits_too_long_is_waited_for(front: Pooler, database: Database) -> None:
    front.start(pool_mode="session", default_pool_size=2, query_wait_timeout=0.5)
    through, told = front.in_front(database), list[str]()
    with psycopg.connect(through.service_url) as holder:
        holder.execute("SELECT 1")

        def gone(error: GainsayError, _left_s: float) -> None:
            told.append(error.detail)
            holder.close()

        wait_for(lambda: check_database(through.service_url, MIGRATIONS), lambda: 60.0, gone)
    assert "a second session beside the first" in told[0]
    assert "(query_wait_timeout)" in told[0]


@pytest.mark.parametrize("size", [1, 2])
def test_a_pooler_of_statements_is_told_from_one_that_is_full(front: Pooler, database: Database, size: int) -> None:
    front.start(pool_mode="statement", default_pool_size=size, query_wait_timeout=0.5)
    with pytest.raises(SharedSessions, match=WAYS["statement"]):
        check_database(front.in_front(database).service_url, MIGRATIONS)


def test_where_no_pooler_is_in_between_one_connection_is_enough_to_look(cluster: Cluster, database: Database) -> None:
    cluster.admin.execute(f'ALTER DATABASE "{database.name}" CONNECTION LIMIT 1')
    check_database(database.service_url, MIGRATIONS)
