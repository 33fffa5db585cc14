"""What a tenant's debates have spent: by day and month, given back at the end, and exact to the micro-dollar."""

from __future__ import annotations

from datetime import date
from typing import LiteralString

import psycopg
import pytest
from psycopg import errors, sql

from service.debate.model import Status
from service.errors import Fenced, SettingsError
from service.money import Refusal
from service.store import spend
from service.store.stored_debate import read_head, read_records
from tests.fixtures.postgres import Database as Server
from tests.fixtures.running import CALLER, bench
from tests.fixtures.spending import Spenders, change, drawn, exact, limits, rows, set_day

pytestmark = pytest.mark.no_replay
"""These debates spend without being played: what is legal is the kernel's question."""

NOVEMBER = (date(2026, 11, 21), date(2026, 11, 1))


# -- the end


@pytest.mark.parametrize("status", ["completed", "truncated", "failed", "aborted"])
async def test_what_is_not_spent_goes_back_with_the_conclusion(database: Server, status: Status) -> None:
    async with bench(database.service_url) as service:
        set_day(database, "2026-11-21")
        spender = await (await Spenders.of(service)).open(limits(day=1_000, month=10_000))
        await spender.allocate(300)
        await spender.allocate(400)
        await spender.spend(250)

        await spender.conclude(status)

        head = await read_head(service.database, spender.debate, "acme")
        assert (head["granted"], head["spent"], head["held"], head["state"]) == (250, 250, 0, status)
        assert drawn(database) == [("day", NOVEMBER[0], 250, 0), ("month", NOVEMBER[1], 250, 0)]
        assert [r[0] for r in rows(database, "SELECT amount FROM gainsay.draw ORDER BY nth")] == [300, 400, -450]
        await exact(service)


async def test_a_debate_that_spent_all_or_nothing_gives_back_nothing_or_all(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        most, least, none = [await spenders.open(budgets) for _ in range(3)]
        await most.allocate(600)
        await most.spend(600)
        await least.allocate(400)

        for spender in (most, least, none):
            await spender.conclude()

        balance = await exact(service)
        assert [(p.period, p.drawn, p.spent, p.open) for p in balance.periods] == [
            ("day", 600, 600, 0),
            ("month", 600, 600, 0),
        ]
        assert await (await spenders.open(budgets)).allocate(400) is None


async def test_the_last_reply_and_the_conclusion_in_one_append_give_back_the_rest(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        await spender.allocate(500)
        turn = await spender.hold(500)

        await spender.conclude("completed", spender.settled(turn, 120))

        assert [r[2] for r in drawn(database)] == [120, 120]
        await exact(service)


async def test_a_conclusion_that_is_not_written_gives_back_nothing(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        old = await spenders.open(limits(day=1_000))
        await old.allocate(500)
        await spenders.take(old.debate, limits(day=1_000))

        with pytest.raises(Fenced):
            await old.conclude()

        (day, _) = (await exact(service)).periods
        assert (day.drawn, day.open) == (500, 500)


async def test_a_debate_that_is_ended_by_hand_gives_back_what_it_has(database: Server) -> None:
    """Whoever moves the state: the database itself settles with the limits."""
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        await spender.allocate(500)
        await spender.spend(100)

        change(database, "UPDATE gainsay.debate_head SET state = 'failed' WHERE draws > 0")

        assert [r[2] for r in drawn(database)] == [100, 100]
        await exact(service)


async def test_an_abort_leaves_the_money_with_the_debate_until_it_concludes(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000), CALLER.tenant)
        await spender.allocate(500)
        await spender.log.renew()  # a worker has it: what nobody has, an abort concludes

        await service.reviews.abort(spender.debate, CALLER, "enough")
        assert [r[2] for r in drawn(database)] == [500, 500]
        await spender.log.new_entries()
        await spender.conclude("aborted")

        assert [r[2] for r in drawn(database)] == [0, 0]


# -- a vendor that bills above the reservation


async def test_an_excess_stands_apart_and_leaves_less_to_draw(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000)
        spender = await spenders.open(budgets)
        await spender.allocate(100)
        turn = await spender.hold(100)

        await spender.settle(turn, 130)

        assert await (await spenders.open(budgets)).allocate(871) == Refusal("tenantDay", 871, 870)
        assert await (await spenders.open(budgets)).allocate(870) is None
        charged = rows(database, "SELECT amount, excess FROM gainsay.charge")
        assert charged == [(130, 30)]
        await spender.conclude("truncated")
        (day, _) = (await exact(service)).periods
        assert (day.spent, day.excess, day.overrun) == (100, 30, 30)


@pytest.mark.parametrize("billed", [1_001, 10**15, 2**62])
@pytest.mark.parametrize("ends", [False, True], ids=["alone", "with the conclusion"])
async def test_no_excess_is_too_large_to_be_recorded(database: Server, billed: int, ends: bool) -> None:
    """The limit is used up and everything that could be short is: a paid reply is recorded all the same."""
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000, month=1_000)
        spender = await spenders.open(budgets)
        await spender.allocate(1_000)
        settled = spender.settled(await spender.hold(1_000), billed)

        if ends:
            await spender.conclude("truncated", settled)
        else:
            await spender.log.append([settled])

        left = min(billed - 1_000, 10**18)
        assert await (await spenders.open(budgets)).allocate(1) == Refusal("tenantMonth", 1, -left)
        assert rows(database, "SELECT amount, excess FROM gainsay.charge") == [(billed, billed - 1_000)]


# -- periods


async def test_a_debate_over_midnight_spends_its_draws_in_order_and_gives_each_day_its_own_rest(
    database: Server,
) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000, month=10_000))
        set_day(database, "2026-12-31")
        await spender.allocate(100)
        await spender.spend(60)
        set_day(database, "2027-01-01")
        await spender.allocate(200)
        await spender.spend(70)  # 40 are left of the old year
        await spender.spend(20)

        await spender.conclude()

        charged = rows(
            database,
            "SELECT n, part, amount, period_day, period_month FROM gainsay.charge ORDER BY n, part",
        )
        old, new = (date(2026, 12, 31), date(2026, 12, 1)), (date(2027, 1, 1), date(2027, 1, 1))
        assert [row[1:] for row in charged] == [(0, 60, *old), (0, 40, *old), (1, 30, *new), (0, 20, *new)]
        assert drawn(database) == [
            ("day", old[0], 100, 0),
            ("day", new[0], 50, 0),
            ("month", old[1], 100, 0),
            ("month", new[1], 50, 0),
        ]
        await exact(service)


async def test_what_an_old_day_granted_goes_back_to_that_day(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        for day in ("2026-11-21", "2026-11-22", "2026-11-24"):
            set_day(database, day)
            await spender.allocate(100)
        await spender.spend(150)

        await spender.conclude()

        assert [r[1:3] for r in drawn(database) if r[0] == "day"] == [
            (date(2026, 11, 21), 100),
            (date(2026, 11, 22), 50),
            (date(2026, 11, 24), 0),
        ]
        assert [r[1:3] for r in drawn(database) if r[0] == "month"] == [(date(2026, 11, 1), 150)]
        await exact(service)


async def test_a_new_day_has_its_limit_again_and_the_month_goes_on(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        budgets = limits(day=1_000, month=1_500)
        for day, need, refused in [
            ("2026-11-29", 1_000, None),
            ("2026-11-29", 1, ("tenantDay", 0)),
            ("2026-11-30", 501, ("tenantMonth", 500)),
            ("2026-11-30", 500, None),
            ("2026-12-01", 1_000, None),
        ]:
            set_day(database, day)
            found = await (await spenders.open(budgets)).allocate(need)
            assert found == (Refusal(refused[0], need, refused[1]) if refused else None), day


async def test_a_charge_of_nothing_and_an_excess_count_in_the_latest_draw_s_period(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        set_day(database, "2026-11-21")
        await spender.allocate(100)
        set_day(database, "2026-11-22")
        await spender.allocate(100)

        await spender.spend(0)
        await spender.settle(await spender.hold(50), 60)

        found = rows(database, "SELECT part, amount, excess, period_day FROM gainsay.charge ORDER BY n, part")
        assert found == [
            (0, 0, 0, date(2026, 11, 22)),
            (0, 50, 0, date(2026, 11, 21)),
            (1, 10, 10, date(2026, 11, 22)),
        ]
        assert [r[1:] for r in drawn(database) if r[0] == "day"] == [
            (date(2026, 11, 21), 100, 0),
            (date(2026, 11, 22), 100, 10),
        ]
        await exact(service)


async def test_several_charges_of_one_append_are_taken_from_the_draws_one_after_the_other(database: Server) -> None:
    async with bench(database.service_url) as service:
        spender = await (await Spenders.of(service)).open(limits(day=1_000))
        set_day(database, "2026-11-21")
        await spender.allocate(100)
        set_day(database, "2026-11-22")
        await spender.allocate(100)
        turns = [await spender.hold(60) for _ in range(3)]

        await spender.log.append([spender.settled(turn, 55) for turn in turns])

        found = rows(database, "SELECT part, amount, extract(day FROM period_day) FROM gainsay.charge ORDER BY n, part")
        assert found == [(0, 55, 21), (0, 45, 21), (1, 10, 22), (0, 55, 22)]
        await exact(service)


async def test_days_begin_where_the_policy_says(database: Server) -> None:
    """Two zones that never share a day."""
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        west, east = limits(100, zone="Etc/GMT+12"), limits(100, zone="Etc/GMT-14")
        debate = await spenders.open(west)

        assert await debate.allocate(100) is None
        assert (await (await spenders.open(west)).allocate(1)) is not None
        assert await (await spenders.open(east)).allocate(100) is None
        await debate.spend(1)

        expected = "SELECT (clock_timestamp() AT TIME ZONE 'Etc/GMT+12')::date"
        assert rows(database, "SELECT period_day FROM gainsay.charge") == rows(database, expected)


async def test_a_debate_without_limits_is_charged_in_the_policy_s_zone(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        for zone in ("Etc/GMT+12", "Etc/GMT-14"):
            await (await spenders.open(limits(zone=zone))).spend(1)

        days = [row[0] for row in rows(database, "SELECT period_day FROM gainsay.charge ORDER BY debate")]
        assert (days[1] - days[0]).days in (1, 2)


async def test_a_zone_that_postgresql_does_not_know_is_a_setting_to_mend(database: Server) -> None:
    async with bench(database.service_url) as service:
        for zone in ("UTC", "Europe/London", "America/Argentina/Buenos_Aires"):
            await spend.check_zone(service.database, limits(zone=zone))
        for zone in ("UTC+5", "Nowhere", ""):
            with pytest.raises(SettingsError, match="time zone"):
                await spend.check_zone(service.database, limits(zone=zone))


# -- what the database keeps by itself


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE gainsay.spend_limit SET drawn = ceiling + 1",
        "UPDATE gainsay.spend_limit SET ceiling = drawn - 1",
        "UPDATE gainsay.spend_limit SET drawn = -1",
        "UPDATE gainsay.debate_head SET granted = ceiling + 1",
        "UPDATE gainsay.debate_head SET spent = granted + 1 WHERE draws > 0",
        "INSERT INTO gainsay.draw SELECT debate, 9, tenant, period_day, period_month, 0 FROM gainsay.draw",
        "INSERT INTO gainsay.draw SELECT debate, 1, tenant, period_day, period_month, 1 FROM gainsay.draw",
    ],
)
async def test_the_database_refuses_what_no_draw_may_do(database: Server, statement: LiteralString) -> None:
    async with bench(database.service_url) as service:
        await (await (await Spenders.of(service)).open(limits(day=1_000))).allocate(500)

    with psycopg.connect(database.service_url, autocommit=True) as intruder, pytest.raises(errors.IntegrityError):
        intruder.execute(statement)


async def test_a_limit_s_row_can_neither_be_removed_nor_can_a_draw_be_changed(database: Server) -> None:
    async with bench(database.service_url) as service:
        await (await (await Spenders.of(service)).open(limits(day=1_000))).allocate(500)

    with psycopg.connect(database.service_url, autocommit=True) as intruder:
        for statement in (
            "DELETE FROM gainsay.spend_limit",
            "TRUNCATE gainsay.spend_limit",
            "DELETE FROM gainsay.draw",
            "UPDATE gainsay.draw SET amount = 1",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                intruder.execute(sql.SQL(statement))


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE gainsay.spend_limit SET drawn = drawn - 1",
        "UPDATE gainsay.spend_limit SET excess = 1",
        "DELETE FROM gainsay.spend_limit",
        "INSERT INTO gainsay.spend_limit VALUES ('nobody', 'day', '2026-11-21', 9, 1, 0)",
        "UPDATE gainsay.debate_head SET granted = granted + 1 WHERE draws > 0",
        "UPDATE gainsay.debate_head SET spent = spent - 1 WHERE draws > 0",
        "UPDATE gainsay.debate_head SET held = 1, granted = granted + 1 WHERE draws > 0 AND state = 'completed'",
        "INSERT INTO gainsay.charge SELECT debate, nth, '', 1, 'none', 1, 0, period_day, period_day FROM gainsay.draw",
        "INSERT INTO gainsay.draw SELECT debate, 99, tenant, period_day, period_month, 1 FROM gainsay.draw LIMIT 1",
    ],
)
async def test_the_balance_shows_what_does_not_agree(database: Server, tampering: LiteralString) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        for ends in (True, False):
            spender = await spenders.open(limits(day=1_000))
            await spender.allocate(200)
            await spender.spend(100)
            if ends:
                await spender.conclude()
        await exact(service)

        change(database, tampering)

        assert not (await spend.balance(service.database)).exact


async def test_rows_that_somebody_has_reset_do_not_keep_debates_from_ending(database: Server) -> None:
    async with bench(database.service_url) as service:
        spenders = await Spenders.of(service)
        one, two = [await spenders.open(limits(day=1_000)) for _ in range(2)]
        for spender in (one, two):
            await spender.allocate(200)

        change(database, "UPDATE gainsay.spend_limit SET drawn = 0")
        await one.conclude()
        change(database, "DELETE FROM gainsay.spend_limit")
        await two.settle(await two.hold(200), 300)
        await two.conclude()

        assert len(await read_records(service.database, two.debate, "acme")) == 6
