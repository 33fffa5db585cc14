"""Which debate is taken next and by whom: fairness, limits, deadlines, leases, versions side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from service.store import queue
from service.store.log import DebateLog, read_head
from service.store.pool import Database as Pool
from service.store.queue import Claimed, Wanted, claim, disown, keep, park
from tests.postgres import Database
from tests.running import a_writer

LEASE_S = 30.0


class Heads:
    """Puts heads into the queue as `open_debate` does, without their records, and looks at them."""

    def __init__(self, database: Database) -> None:
        self._admin = psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay")

    def add(self, tenant: str = "acme", number: int = 1, **columns: Any) -> list[str]:
        """The ids of so many new debates, in the order in which they came."""
        row = {"format": "adversarial/1", "state": "queued", **columns}
        names, values = ", ".join(row), ", ".join(["%s"] * len(row))
        added = [str(uuid4()) for _ in range(number)]
        for debate in added:
            self._admin.execute(
                "INSERT INTO debate_head (debate, tenant, log, task_type, next_n, last_hash, ceiling, granted, "
                f"{names}) VALUES (%s, %s, 'l', 'contract', 3, '', 1000, 1000, {values})",
                [debate, tenant, *row.values()],
            )
        return added

    def do(self, statement: Any, *params: Any) -> list[Any]:
        """What a statement of the superuser gives."""
        cursor = self._admin.execute(statement, params)
        return cursor.fetchall() if cursor.description else []

    def shift(self, seconds: float) -> None:
        """Have every time that is stored lie so much later: what setting the server's clock back comes to."""
        self.do(
            "UPDATE debate_head SET lease_until = lease_until + %s, created = created + %s, due = due + %s",
            *[timedelta(seconds=seconds)] * 3,
        )

    def close(self) -> None:
        """Disconnect."""
        self._admin.close()


@pytest.fixture
def heads(database: Database) -> Any:
    """Heads in a database of the test's own."""
    made = Heads(database)
    yield made
    made.close()


async def taken(pool: Pool, most: int = 1, most_late: int = 0, **wanted: Any) -> list[str]:
    """The debates that a claim gives."""
    return [c.debate for c in await claimed(pool, most, most_late, **wanted)]


async def claimed(pool: Pool, most: int = 1, most_late: int = 0, **wanted: Any) -> list[Claimed]:
    """What a claim gives."""
    return await claim(pool, Wanted(**{"worker": "w", "lease_s": LEASE_S, **wanted}), most, most_late)


# -- order


async def test_within_a_tenant_the_earliest_due_comes_first_and_then_the_oldest(
    database: Database, heads: Heads
) -> None:
    (patient,) = heads.add(deadline="2999-01-01", due="2999-01-01")
    first, second = heads.add(number=2)
    (urgent,) = heads.add(due="2026-01-01")
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool, 10) == [urgent, first, second, patient]


async def test_a_tenant_with_ten_thousand_waiting_keeps_nobody_else_waiting(database: Database, heads: Heads) -> None:
    heads.do(
        "INSERT INTO debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted) "
        "SELECT gen_random_uuid(), 'crowd', 'l', 'adversarial/1', 'contract', 'queued', 3, '', 1, 1 "
        "FROM generate_series(1, 10000)"
    )
    late_comers = heads.add("small", 3)
    async with Pool.open(database.service_url) as pool:
        found = await taken(pool, 6)

    assert found[1::2] == late_comers, "turn and turn about, though the others came first"


async def test_what_a_tenant_has_running_counts_against_it_in_the_order(database: Database, heads: Heads) -> None:
    heads.add("busy", 5)
    async with Pool.open(database.service_url) as pool:
        await taken(pool, 2)
        others = heads.add("other", 3)

        assert await taken(pool, 3) == [*others[:2], (await order(heads, "busy"))[2]]


async def order(heads: Heads, tenant: str) -> list[str]:
    """A tenant's debates as they came."""
    return [str(d) for (d,) in heads.do("SELECT debate FROM debate_head WHERE tenant = %s ORDER BY created", tenant)]


async def test_a_debate_that_was_left_is_taken_before_those_that_came_later(database: Database, heads: Heads) -> None:
    (left,) = heads.add()
    async with Pool.open(database.service_url) as pool:
        await taken(pool, lease_s=0.0)
        heads.add(number=3)

        assert [(c.debate, c.epoch) for c in await claimed(pool)] == [(left, 2)]


# -- limits


async def test_the_limit_of_a_tenant_is_exact_over_all_workers(database: Database, heads: Heads) -> None:
    heads.add("acme", 40)
    heads.add("other", 3)
    async with Pool.open(database.service_url, size=8) as pool:
        for _ in range(3):
            await asyncio.gather(*(claimed(pool, 4, worker=f"w{n}", per_tenant=7) for n in range(6)))

    running = dict(heads.do("SELECT tenant, count(*) FROM debate_head WHERE state = 'running' GROUP BY tenant"))
    assert running == {"acme": 7, "other": 3}


async def test_who_counts_what_a_tenant_has_running_waits_for_whoever_is_just_taking_more(
    database: Database, heads: Heads
) -> None:
    heads.add("acme", 3, templates="a")
    heads.add("acme", 3, templates="b")
    taking = "SELECT * FROM gainsay.claim_debates('w', 30, ARRAY['adversarial/1'], 'a', NULL, 3, 0, 3, 86400)"
    async with Pool.open(database.service_url) as pool:
        with psycopg.connect(database.service_url) as first:
            assert len(first.execute(taking).fetchall()) == 3
            second = asyncio.create_task(taken(pool, 3, worker="v", templates="b", per_tenant=3))
            for _ in range(200):
                if heads.do("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") or second.done():
                    break
                await asyncio.sleep(0.02)
            assert not second.done()

        assert await second == []


async def test_what_is_released_parked_or_over_leaves_its_place_to_another(database: Database, heads: Heads) -> None:
    heads.add(number=8)
    async with Pool.open(database.service_url) as pool:
        first, second, third = await taken(pool, 10, per_tenant=3)
        assert await taken(pool, 10, per_tenant=3) == []

        await park(pool, first, 1, 60.0)
        heads.do("UPDATE debate_head SET state = 'completed', lease_until = '-infinity' WHERE debate = %s", second)
        await pool.query("release", {"debate": UUID(third), "epoch": 1})
        again = await taken(pool, 10, per_tenant=3)

    assert again[0] == third
    assert len(again) == 3
    assert first not in again


async def test_a_parked_debate_is_nobody_s_until_its_pause_is_over(database: Database, heads: Heads) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool)
        await park(pool, debate, 1, 60.0)
        assert await taken(pool) == []
        assert not (await read_head(pool, debate))["leased"]

        heads.shift(-61.0)

        assert await taken(pool) == [debate]


async def test_debates_past_their_deadline_come_first_and_count_in_no_limit(database: Database, heads: Heads) -> None:
    waiting = heads.add("acme", 3)
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool, per_tenant=1) == waiting[:1]
        past = heads.add("acme", 3, deadline="2026-01-01", due="2026-01-01")

        assert await taken(pool, per_tenant=1) == [], "nobody asked for any of those"
        assert await claimed(pool, 0, 2, per_tenant=1) == [Claimed(debate, 1, late=True) for debate in past[:2]]
        assert await taken(pool, 5, 2, per_tenant=1) == past[2:]
        assert await taken(pool, 5, 2, per_tenant=2) == waiting[1:2]


async def test_a_debate_left_behind_past_its_deadline_is_taken_to_be_ended(database: Database, heads: Heads) -> None:
    (left,) = heads.add(deadline="2026-01-01", state="running", worker="gone", templates="other")
    async with Pool.open(database.service_url) as pool:
        assert await claimed(pool, 0, 1) == [Claimed(left, 1, late=True)]


# -- leases


async def test_the_leases_of_a_worker_are_kept_together_and_those_it_lost_do_not_come_back(
    database: Database, heads: Heads
) -> None:
    heads.add(number=4)
    async with Pool.open(database.service_url) as pool:
        mine, lost, given_back, ended = await taken(pool, 4, lease_s=0.01)
        await asyncio.sleep(0.02)
        assert len(await taken(pool, 1, worker="other", only=lost)) == 1
        await pool.query("release", {"debate": UUID(given_back), "epoch": 1})
        heads.do("UPDATE debate_head SET state = 'completed', lease_until = '-infinity' WHERE debate = %s", ended)

        kept = await keep(pool, "w", LEASE_S, dict.fromkeys((mine, lost, given_back, ended), 1))

        assert kept == {mine: 3, given_back: 3, ended: 3}
        leased = {d: (await read_head(pool, d))["leased"] for d in (mine, lost, given_back, ended)}
    assert leased == {mine: True, lost: True, given_back: False, ended: False}


async def test_a_head_that_somebody_keeps_locked_costs_no_other_debate_its_lease(
    database: Database, heads: Heads
) -> None:
    heads.add(number=2)
    async with Pool.open(database.service_url) as pool:
        locked, free = await taken(pool, 2, lease_s=0.01)
        with psycopg.connect(database.admin_url) as somebody:
            somebody.execute("SELECT FROM gainsay.debate_head WHERE debate = %s FOR UPDATE", [locked])

            assert set(await keep(pool, "w", LEASE_S, {locked: 1, free: 1})) == {locked, free}
            assert (await read_head(pool, free))["leased"]
            assert await taken(pool, worker="other") == [], "not even to be looked at while it is written to"


async def test_a_lease_by_a_clock_that_was_set_back_runs_out_after_its_length_and_not_after_hours(
    database: Database, heads: Heads
) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool, lease_s=0.2)
        heads.shift(7_200.0)

        assert await taken(pool) == [], "its worker may well be alive: it is given a lease's length from now"
        await asyncio.sleep(0.25)

        assert await taken(pool) == [debate]


async def test_a_worker_that_lives_keeps_its_debates_when_the_database_s_clock_is_set_back(
    database: Database, heads: Heads
) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool, lease_s=0.2)
        heads.shift(7_200.0)
        assert await taken(pool, worker="other") == []

        await keep(pool, "w", LEASE_S, {debate: 1})
        await asyncio.sleep(0.25)

        assert await taken(pool, worker="other") == []


async def test_a_clock_that_is_set_forward_ends_leases_early_and_fences_who_had_them(
    database: Database, heads: Heads
) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool)
        heads.shift(-7_200.0)

        assert [c.epoch for c in await claimed(pool, worker="other")] == [2]
        assert await keep(pool, "w", LEASE_S, {debate: 1}) == {}
        assert (await read_head(pool, debate))["epoch"] == 2


async def test_what_a_lost_answer_gave_to_a_worker_goes_back(database: Database, heads: Heads) -> None:
    heads.add(number=4)
    async with Pool.open(database.service_url) as pool:
        (running,) = await taken(pool)
        (others,) = await taken(pool, worker="other")
        unheard = await taken(pool, 5)

        await disown(pool, "w", [running])

        assert sorted(await taken(pool, 5, worker="third")) == sorted(unheard)
        assert {running, others}.isdisjoint(unheard)


# -- versions side by side


async def test_a_debate_laid_out_by_other_templates_is_left_to_workers_that_have_them(
    database: Database, heads: Heads
) -> None:
    (old,) = heads.add(templates="before")
    (new,) = heads.add(templates="after")
    (any_,) = heads.add()
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool, 5, worker="new", templates="after") == [new, any_]
        assert await taken(pool, 5, worker="old", templates="before") == [old]


async def test_a_debate_that_nobody_can_lay_out_is_taken_by_anybody_once_patience_is_over(
    database: Database, heads: Heads
) -> None:
    (old,) = heads.add(templates="before")
    async with Pool.open(database.service_url) as pool:
        assert await claimed(pool, templates="after", patience_s=3_600.0) == []
        heads.shift(-3_601.0)

        assert await claimed(pool, templates="after", patience_s=3_600.0) == [Claimed(old, 1, stale=True)]


async def test_a_head_of_the_version_before_is_taken_and_its_lease_runs_out_by_itself(
    database: Database, heads: Heads
) -> None:
    (old,) = heads.add(due=None)
    heads.do("UPDATE debate_head SET state = 'running', worker = 'before', lease_until = '2999-01-01'")
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool) == []
        heads.do("UPDATE debate_head SET lease_until = clock_timestamp() - interval '1 second'")

        assert await taken(pool) == [old]


# -- what it costs


@pytest.mark.parametrize(("tenants", "each"), [(1, 10_000), (1_000, 10)])
async def test_a_claim_reads_the_queue_by_its_indexes_also_when_nobody_has_counted_it_lately(
    database: Database, heads: Heads, tenants: int, each: int
) -> None:
    """Counted in index entries that were read, by PostgreSQL itself: a plan for an empty queue would read it all."""
    fill = (
        "INSERT INTO debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted) "
        "SELECT gen_random_uuid(), 't' || g %% %s, 'l', 'adversarial/1', 'contract', %s, 3, '', 1, 1 "
        "FROM generate_series(1, %s) AS g"
    )
    heads.do(fill, tenants, "completed", 20_000)
    heads.do("ANALYZE debate_head")
    heads.do(fill, tenants, "queued", tenants * each)
    async with Pool.open(database.service_url, size=1) as pool:
        before = await rows_read(pool, heads)
        assert len(await taken(pool, 8)) == 8
        read = await rows_read(pool, heads) - before

    assert read <= 10 * tenants + 200, f"{read} rows of {tenants * each} that wait were read to take 8"


async def rows_read(pool: Pool, heads: Heads) -> int:
    """How many heads were read in this database, one by one or by an index."""
    heads.do("SELECT pg_stat_force_next_flush()")
    async with pool._pool.connection() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
    ((read,),) = heads.do(
        "SELECT s.seq_tup_read + (SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = s.relid) "
        "FROM pg_stat_user_tables s WHERE s.relid = 'gainsay.debate_head'::regclass"
    )
    return int(read)


# -- what is told


async def test_the_backlog_is_measured_for_whoever_looks_at_the_metrics(database: Database, heads: Heads) -> None:
    heads.add(number=5)
    async with Pool.open(database.service_url) as pool:
        parked, dead, _ = await taken(pool, 3)
        await park(pool, parked, 1, 60.0)
        heads.do("UPDATE debate_head SET lease_until = '-infinity' WHERE debate = %s", dead)
        heads.shift(-90.0)
        backlog = queue.Backlog(pool)

        await backlog.look()

        assert [gauge() for gauge in MEASURED[:1]] == [2.0]
        assert MEASURED[2]() == 3.0, "its lease has run out as well by now"
        assert 90.0 <= MEASURED[1]() < 150.0
        heads.do("UPDATE debate_head SET state = 'completed'")
        await backlog.look()
        assert [gauge() for gauge in MEASURED] == [0.0, 0.0, 0.0]


def _value(name: str) -> Any:
    from service import telemetry

    return lambda: telemetry.REGISTRY.get_sample_value(name)


MEASURED: Sequence[Any] = tuple(
    map(_value, ("gainsay_debates_queued", "gainsay_debates_queued_seconds", "gainsay_debates_left"))
)


async def test_a_log_that_was_claimed_renews_under_the_length_that_it_says(database: Database, heads: Heads) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool)
        await (await DebateLog.at(pool, debate, a_writer("w"), 5.0, 1)).renew()

    ((lease_s, left_s),) = heads.do(
        "SELECT lease_s, extract(epoch FROM lease_until - clock_timestamp())::float8 FROM debate_head"
    )
    assert lease_s == 5.0
    assert 0.0 < left_s <= 5.0
