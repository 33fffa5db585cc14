"""Which debate is taken next and by whom: fairness, limits, deadlines, leases, versions side by side."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from service.store import queue
from service.store.pool import Database as Pool
from service.store.queue import (
    ClaimedDebate,
    ClaimRequest,
    Renewed,
    back_off,
    claim,
    release,
    release_to_others,
    release_unacknowledged,
    renew_leases,
)
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench, take_log

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
            "UPDATE debate_head SET lease_until = lease_until + %s, created = created + %s, due = due + %s, "
            "unable_since = unable_since + %s",
            *[timedelta(seconds=seconds)] * 4,
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


async def taken(pool: Pool, most: int = 1, most_late: int = 0, **more: Any) -> list[str]:
    """The debates that a claim gives."""
    return [c.debate for c in await claimed(pool, most, most_late, **more)]


async def claimed(
    pool: Pool, most: int = 1, most_late: int = 0, leave: Sequence[str] = (), **wanted: Any
) -> list[ClaimedDebate]:
    """What a claim gives."""
    return await claim(pool, ClaimRequest(**{"worker": "w", "lease_s": LEASE_S, **wanted}), most, most_late, leave)


def renewed(debates: Iterable[str]) -> list[ClaimedDebate]:
    """Debates that were claimed once each."""
    return [ClaimedDebate(debate, "acme", 1) for debate in debates]


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


@pytest.mark.parametrize("seed", range(3))
async def test_what_is_taken_is_what_comparing_everything_that_waits_would_give(
    database: Database, heads: Heads, seed: int
) -> None:
    draw = random.Random(seed)
    expected: list[tuple[int, int, int, str]] = []
    for n in range(12):
        tenant, busy = f"t{n}", draw.randrange(3)
        heads.add(tenant, busy, state="running", worker="other", lease_until="2999-01-01")
        for nth, debate in enumerate(heads.add(tenant, draw.randrange(5)), 1):
            expected.append((busy + nth, nth, len(expected), debate))
        heads.add(tenant, draw.randrange(2), templates="of another image")
    async with Pool.open(database.service_url) as pool:
        for most in (1, 4, 9, 14):
            heads.do(
                "UPDATE debate_head SET state = 'queued', worker = NULL, lease_until = '-infinity' WHERE worker = 'w'"
            )
            heads.do("DELETE FROM queue_turn")
            ranked = [debate for rank, *_, debate in sorted(expected) if rank <= 4]
            assert await taken(pool, most, templates="mine", per_tenant=4) == ranked[:most]


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
    taking = "SELECT * FROM gainsay.claim_debates('w', 30, ARRAY['adversarial/1'], 'a', NULL, '{}', 3, 0, 3, 86400)"
    async with Pool.open(database.service_url) as pool:
        with psycopg.connect(database.service_url) as first:
            assert len(first.execute(taking).fetchall()) == 3
            second = asyncio.create_task(taken(pool, 3, worker="v", templates="b", per_tenant=3))
            await waiting_for_the_lock(heads, 1)
            assert not second.done()

        assert await second == []


async def test_a_tenant_with_a_share_of_its_own_runs_so_many_and_leaves_the_places_to_others(
    database: Database, heads: Heads
) -> None:
    small, large, usual = (set(heads.add(tenant, 6)) for tenant in ("small", "large", "usual"))
    shares = {"small": 1, "large": None}
    async with Pool.open(database.service_url) as pool:
        first = await taken(pool, 4, per_tenant=2, shares=shares)
        rest = await taken(pool, 20, per_tenant=2, shares=shares)
        more = await taken(pool, 20, per_tenant=2, shares={**shares, "small": 3})

    assert [len(set(first) & whose) for whose in (small, large, usual)] == [1, 2, 1]
    assert [len(set(first + rest) & whose) for whose in (small, large, usual)] == [1, 6, 2]
    assert len(more) == 2
    assert set(more) < small


async def test_what_is_released_parked_or_over_leaves_its_place_to_another(database: Database, heads: Heads) -> None:
    heads.add(number=8)
    async with Pool.open(database.service_url) as pool:
        first, second, third = await taken(pool, 10, per_tenant=3)
        assert await taken(pool, 10, per_tenant=3) == []

        await back_off(pool, ClaimedDebate(first, "acme", 1), 60.0)
        heads.do("UPDATE debate_head SET state = 'completed', lease_until = '-infinity' WHERE debate = %s", second)
        await release(pool, ClaimedDebate(third, "acme", 1))
        again = await taken(pool, 10, per_tenant=3)

    assert again[0] == third
    assert len(again) == 3
    assert first not in again


async def test_a_parked_debate_is_nobody_s_until_its_pause_is_over(database: Database, heads: Heads) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool)
        await back_off(pool, ClaimedDebate(debate, "acme", 1), 60.0)
        assert await taken(pool) == []
        assert not (await read_head(pool, debate, "acme"))["leased"]

        heads.shift(-61.0)

        assert await taken(pool) == [debate]


async def test_debates_past_their_deadline_come_first_and_count_in_no_limit(database: Database, heads: Heads) -> None:
    waiting = heads.add("acme", 3)
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool, per_tenant=1) == waiting[:1]
        past = heads.add("acme", 3, deadline="2026-01-01", due="2026-01-01")

        assert await taken(pool, per_tenant=1) == [], "nobody asked for any of those"
        assert await claimed(pool, 0, 2, per_tenant=1) == [
            ClaimedDebate(debate, "acme", 1, late=True) for debate in past[:2]
        ]
        assert await taken(pool, 5, 2, per_tenant=1) == past[2:]
        assert await taken(pool, 5, 2, per_tenant=2) == waiting[1:2]


async def test_a_debate_left_behind_past_its_deadline_is_taken_to_be_ended(database: Database, heads: Heads) -> None:
    (left,) = heads.add(deadline="2026-01-01", state="running", worker="gone", templates="other")
    async with Pool.open(database.service_url) as pool:
        assert await claimed(pool, 0, 1) == [ClaimedDebate(left, "acme", 1, late=True)]


# -- leases


async def test_the_leases_of_a_worker_are_kept_together_and_those_it_lost_do_not_come_back(
    database: Database, heads: Heads
) -> None:
    heads.add(number=4)
    async with Pool.open(database.service_url) as pool:
        mine, lost, given_back, ended = await taken(pool, 4, lease_s=0.01)
        await asyncio.sleep(0.02)
        assert len(await taken(pool, 1, worker="other", only=lost)) == 1
        await release(pool, ClaimedDebate(given_back, "acme", 1))
        heads.do("UPDATE debate_head SET state = 'completed', lease_until = '-infinity' WHERE debate = %s", ended)

        kept = await renew_leases(pool, "w", LEASE_S, renewed((mine, lost, given_back, ended)))

        assert kept == dict.fromkeys((mine, given_back, ended), Renewed(3))
        leased = {d: (await read_head(pool, d, "acme"))["leased"] for d in (mine, lost, given_back, ended)}
    assert leased == {mine: True, lost: True, given_back: False, ended: False}


async def test_a_head_that_somebody_keeps_locked_costs_no_other_debate_its_lease(
    database: Database, heads: Heads
) -> None:
    heads.add(number=2)
    async with Pool.open(database.service_url) as pool:
        locked, free = await taken(pool, 2, lease_s=0.01)
        with psycopg.connect(database.admin_url) as somebody:
            somebody.execute("SELECT FROM gainsay.debate_head WHERE debate = %s FOR UPDATE", [locked])

            assert set(await renew_leases(pool, "w", LEASE_S, renewed([locked, free]))) == {locked, free}
            assert (await read_head(pool, free, "acme"))["leased"]
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

        await renew_leases(pool, "w", LEASE_S, renewed([debate]))
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
        assert await renew_leases(pool, "w", LEASE_S, renewed([debate])) == {}
        assert (await read_head(pool, debate, "acme"))["epoch"] == 2


async def test_what_a_lost_answer_gave_to_a_worker_goes_back(database: Database, heads: Heads) -> None:
    heads.add(number=4)
    async with Pool.open(database.service_url) as pool:
        (running,) = await taken(pool)
        (others,) = await taken(pool, worker="other")
        unheard = await taken(pool, 5)

        await release_unacknowledged(pool, "w", [running])

        assert sorted(await taken(pool, 5, worker="third")) == sorted(unheard)
        assert {running, others}.isdisjoint(unheard)


async def test_what_is_given_back_in_a_worker_s_name_comes_after_the_claim_that_it_is_for(
    database: Database, heads: Heads
) -> None:
    heads.add(number=2)
    async with Pool.open(database.service_url) as pool:
        with psycopg.connect(database.service_url) as somebody:
            somebody.execute("SELECT pg_advisory_xact_lock(6723847561209418321)")
            unheard = asyncio.create_task(taken(pool, 5))
            await waiting_for_the_lock(heads, 1)
            unheard.cancel()  # cuts its connection; the server goes on with what it was asked
            await asyncio.gather(unheard, return_exceptions=True)
            giving_back = asyncio.create_task(release_unacknowledged(pool, "w", []))
            await waiting_for_the_lock(heads, 2)

            assert not giving_back.done()
        await giving_back

    assert heads.do("SELECT state, epoch, worker FROM debate_head") == [("running", 1, None)] * 2


async def waiting_for_the_lock(heads: Heads, number: int) -> None:
    """Wait until so many wait for whoever is just taking debates."""
    for _ in range(250):
        ((found,),) = heads.do(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        if found == number:
            return
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("does", ["release", "pass_on", "park", "disown", "keep", "look"])
async def test_what_may_be_asked_twice_does_not_fail_for_a_connection_that_was_cut(
    database: Database, heads: Heads, does: str
) -> None:
    heads.add()
    async with Pool.open(database.service_url, size=1) as pool:
        (debate,) = await taken(pool)
        heads.do(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        match does:
            case "release":
                await release(pool, ClaimedDebate(debate, "acme", 1))
            case "pass_on":
                await release_to_others(pool, ClaimedDebate(debate, "acme", 1))
            case "park":
                await back_off(pool, ClaimedDebate(debate, "acme", 1), 60.0)
            case "disown":
                await release_unacknowledged(pool, "w", [])
            case "keep":
                assert await renew_leases(pool, "w", LEASE_S, renewed([debate])) == {debate: Renewed(3)}
            case _:
                await queue.Backlog(pool).look()

    held = does in ("keep", "look")
    assert heads.do("SELECT worker IS NOT NULL FROM debate_head") == [(held,)]


# -- debates that a worker cannot run, or that end their workers


async def test_a_debate_that_a_worker_cannot_run_is_another_s_at_once_and_left_by_the_one(
    database: Database, heads: Heads
) -> None:
    first, second = heads.add(number=2)
    (late,) = heads.add(deadline="2026-01-01")
    async with Pool.open(database.service_url) as pool:
        assert await taken(pool) == [first]
        await release_to_others(pool, ClaimedDebate(first, "acme", 1))
        await release_to_others(pool, ClaimedDebate(first, "acme", 0))

        assert await taken(pool, 5, 5, leave=[first, late]) == [second]
        assert await taken(pool, only=first, leave=[first]) == []
        assert await claimed(pool, 5, 5, worker="able") == [
            ClaimedDebate(late, "acme", 1, late=True),
            ClaimedDebate(first, "acme", 2),
        ]


async def test_how_long_nobody_could_run_a_debate_counts_from_the_first_who_could_not_and_ends_with_a_record(
    database: Database, heads: Heads
) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        heads.shift(-7_200.0)
        for epoch, stale in ((1, False), (2, False), (3, True)):
            (found,) = await claimed(pool, retry_window_s=3_600.0)
            assert (found.epoch, found.stale) == (epoch, stale), "that it has waited long is no failed try"
            await release_to_others(pool, ClaimedDebate(found.debate, "acme", epoch))
            heads.shift(-1_900.0)


async def test_faults_are_counted_apart_from_takes_and_each_once(database: Database, heads: Heads) -> None:
    (debate,) = heads.add()
    async with Pool.open(database.service_url) as pool:
        for epoch in (1, 2, 3):
            assert await claimed(pool) == [ClaimedDebate(debate, "acme", epoch)]
            await release(pool, ClaimedDebate(debate, "acme", epoch))
        await taken(pool)
        await back_off(pool, ClaimedDebate(debate, "acme", 4), 60.0)
        await back_off(pool, ClaimedDebate(debate, "acme", 4), 60.0)
        heads.shift(-61.0)

        assert await claimed(pool) == [ClaimedDebate(debate, "acme", 5, faults=1)]


async def test_a_debate_may_be_given_back_for_a_while_in_which_nobody_takes_it(
    database: Database, heads: Heads
) -> None:
    heads.add()
    async with Pool.open(database.service_url) as pool:
        (debate,) = await taken(pool)
        await release(pool, ClaimedDebate(debate, "acme", 1), 60.0)
        assert await taken(pool) == []
        heads.shift(-61.0)

        assert await claimed(pool) == [ClaimedDebate(debate, "acme", 2)]


LAPSED = "UPDATE debate_head SET lease_until = clock_timestamp() - make_interval(secs => %s)"


async def test_a_debate_whose_workers_fall_silent_again_and_again_is_left_alone_for_longer_each_time(
    database: Database, heads: Heads
) -> None:
    (debate,) = heads.add()
    async with Pool.open(database.service_url) as pool:
        assert await claimed(pool) == [ClaimedDebate(debate, "acme", 1)]
        for falls, pause_s in (
            (1, 0.1),
            (2, 0.1),
            (3, 0.1),
            (4, 8),
            (5, 16),
            (6, 32),
            (7, 64),
            (8, 128),
            (9, 256),
            (10, 300),
        ):
            if pause_s > 1:
                heads.do(LAPSED, pause_s - 1)
                assert await claimed(pool, 1, 1) == [], falls
            heads.do(LAPSED, pause_s + 1)
            assert await claimed(pool) == [ClaimedDebate(debate, "acme", falls + 1, lost=True, falls=falls)]

        await release(pool, ClaimedDebate(debate, "acme", 11))
        assert await claimed(pool) == [ClaimedDebate(debate, "acme", 12, falls=10)], "what is handed back did not fall"


async def test_a_debate_past_its_deadline_that_ends_its_workers_is_left_alone_as_well(
    database: Database, heads: Heads
) -> None:
    (debate,) = heads.add(deadline="2026-01-01", state="running", worker="gone", falls=5)
    async with Pool.open(database.service_url) as pool:
        heads.do(LAPSED, 31)
        assert await claimed(pool, 1, 1) == []
        heads.do(LAPSED, 33)

        assert await claimed(pool, 1, 1) == [ClaimedDebate(debate, "acme", 1, late=True, lost=True, falls=6)]


async def test_a_debate_whose_worker_fell_silent_keeps_its_place_and_is_taken_first(
    database: Database, heads: Heads
) -> None:
    heads.add("other")
    heads.add("acme", 6)
    async with Pool.open(database.service_url) as pool:
        silent = await order(heads, "acme")
        assert await taken(pool, 3, per_tenant=3, leave=await order(heads, "other")) == silent[:3]
        heads.do(LAPSED + " WHERE state = 'running'", 1)

        again = await claimed(pool, 10, worker="v", per_tenant=3)
        assert [c.debate for c in again[:3]] == silent[:3]
        assert [c.debate for c in again[3:]] == await order(heads, "other"), "and no fourth one of this tenant"


async def test_a_worker_that_comes_to_itself_again_never_makes_more_debates_run_than_a_tenant_may(
    database: Database, heads: Heads
) -> None:
    heads.add("acme", 6)
    async with Pool.open(database.service_url) as pool:
        mine = await taken(pool, 3, per_tenant=3)
        heads.do(LAPSED + " WHERE state = 'running'", 1)

        assert await taken(pool, 1, worker="v", per_tenant=3) == mine[:1]
        await renew_leases(pool, "w", LEASE_S, renewed(mine))
        assert await taken(pool, 5, worker="v", per_tenant=3) == []

        live = heads.do(
            "SELECT debate::text FROM debate_head WHERE lease_until > clock_timestamp() AND worker IS NOT NULL"
        )
        assert sorted(d for (d,) in live) == sorted(mine)


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
        assert await claimed(pool, templates="after", retry_window_s=3_600.0) == []
        heads.shift(-3_601.0)

        assert await claimed(pool, templates="after", retry_window_s=3_600.0) == [ClaimedDebate(old, "acme", 1)]


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


def test_no_time_is_spent_on_compiling_what_is_asked_often(heads: Heads) -> None:
    """PostgreSQL 16 and 17 take a claim for dear for the steps that it forbids itself, and compile it each time."""
    found = heads.do("SELECT proconfig FROM pg_proc WHERE proname IN ('claim_debates', 'disown_debates')")
    assert [("jit=off" in settings) for (settings,) in found] == [True, True]


@pytest.mark.parametrize(("tenants", "each"), [(1, 10_000), (1_000, 60)])
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

    assert read <= 4 * tenants + 200, f"{read} rows of {tenants * each} that wait were read to take 8"


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
        await back_off(pool, ClaimedDebate(parked, "acme", 1), 60.0)
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
    from service.observing import labelled

    return lambda: labelled.REGISTRY.get_sample_value(name)


MEASURED: Sequence[Any] = tuple(
    map(_value, ("gainsay_debates_queued", "gainsay_debates_queued_seconds", "gainsay_debates_left"))
)


async def test_a_log_that_was_claimed_renews_under_the_length_that_it_says(database: Database, heads: Heads) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim(LEASE_S)
        await (await take_log(service.database, debate, 1, lease_s=5.0)).renew()

    ((lease_s, left_s),) = heads.do(
        "SELECT lease_s, extract(epoch FROM lease_until - clock_timestamp())::float8 FROM debate_head"
    )
    assert lease_s == 5.0
    assert 0.0 < left_s <= 5.0
