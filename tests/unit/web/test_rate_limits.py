"""A caller's rate over one process and over several, and the headers that say what is left of it."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import StoreUnavailable
from service.identity.caller import Caller
from service.policy import WINDOW_S, Rates
from service.store.rates import OthersUse, RateBucket
from service.web import rate_limits
from service.web.rate_limits import RateLimiter, RateRefusal, ahead

ANNA, BERT = Caller(subject="sub_anna", via="keyboard"), Caller(subject="sub_bert", via="keyboard")


class Table:
    """What several processes tell each other, as the database keeps it."""

    def __init__(self) -> None:
        self.told: dict[tuple[str, RateBucket], int] = {}
        self.exchanges = 0
        self.ahead_s = 1_000_000.0
        self.away = False

    def of(self, process: str) -> Exchange:
        """The table as one process sees it."""
        return Exchange(self, process)


class Exchange:
    """One process's side of the table."""

    def __init__(self, table: Table, process: str) -> None:
        self.table, self.process = table, process

    async def exchange(self, mine: Mapping[RateBucket, int]) -> OthersUse:
        """Tell and learn."""
        await asyncio.sleep(0)
        if self.table.away:
            raise StoreUnavailable("away")
        self.table.exchanges += 1
        self.table.told |= {(self.process, bucket): used for bucket, used in mine.items()}
        found = Counter[RateBucket]()
        for (process, bucket), used in self.table.told.items():
            if process != self.process and bucket in mine:
                found[bucket] += used
        return OthersUse(found, time.time() + self.table.ahead_s)


def a_limiter(table: Table, process: str, most: int) -> RateLimiter:
    return RateLimiter(table.of(process), lambda _: Rates(submit=most))  # type: ignore[arg-type]


async def admitted(limiter: RateLimiter, caller: Caller = ANNA) -> bool:
    try:
        await limiter.admit(caller, "submit")
    except RateRefusal:
        return False
    return True


async def test_one_process_admits_exactly_the_rate() -> None:
    limiter = a_limiter(Table(), "a", 20)

    answers = await asyncio.gather(*(admitted(limiter) for _ in range(50)))
    await limiter.close()

    assert answers.count(True) == 20


@settings(max_examples=40, deadline=None)
@given(
    most=st.integers(1, 100),
    turns=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 60)), min_size=1, max_size=20),
)
def test_processes_never_admit_more_than_the_rate_and_an_eighth_each(most: int, turns: list[tuple[int, int]]) -> None:
    async def play() -> int:
        table = Table()
        limiters = [a_limiter(table, name, most) for name in "abc"]
        count = 0
        for which, times in turns:
            count += sum(await asyncio.gather(*(admitted(limiters[which]) for _ in range(times))))
        for limiter in limiters:
            await limiter.close()
        return count

    count = asyncio.run(play())

    assert min(most, sum(times for _, times in turns)) <= count <= most + 3 * ahead(most)


async def test_a_usual_caller_waits_for_no_exchange() -> None:
    table = Table()
    limiter = a_limiter(table, "a", 800)

    for _ in range(ahead(800)):
        assert await admitted(limiter)
    assert table.exchanges == 1, "the first request learns the database's time"
    assert await admitted(limiter)
    assert table.exchanges == 2, "an eighth of the rate was not known to the others"
    await limiter.close()


async def test_a_process_whose_database_is_away_keeps_the_rate_by_itself() -> None:
    table = Table()
    limiter = a_limiter(table, "a", 20)
    table.away = True

    answers = [await admitted(limiter) for _ in range(30)]
    await limiter.close()

    assert answers == [True] * 20 + [False] * 10


async def test_callers_do_not_take_from_each_other() -> None:
    limiter = a_limiter(Table(), "a", 2)

    assert [await admitted(limiter, who) for who in (ANNA, ANNA, ANNA, BERT, BERT, BERT)] == [True, True, False] * 2
    other = Caller(tenant="other", subject=ANNA.subject, via="keyboard")
    assert await admitted(limiter, other), "another tenant's subject of that name is another caller"
    await limiter.close()


async def test_a_second_key_of_a_subject_gives_no_second_rate() -> None:
    limiter = a_limiter(Table(), "a", 2)
    keys = [Caller(subject=ANNA.subject, credential=key, via="apiKey") for key in ("key_1", "key_2")]

    assert [await admitted(limiter, key) for key in (*keys, *keys)] == [True, True, False, False]
    await limiter.close()


async def test_a_minute_later_the_rate_is_whole_again(monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = RateLimiter(None, lambda _: Rates(submit=1))
    assert [await admitted(limiter) for _ in range(2)] == [True, False]

    monkeypatch.setattr(limiter, "_offset", limiter._offset + WINDOW_S)

    assert [await admitted(limiter) for _ in range(2)] == [True, False]


async def test_the_headers_say_what_is_left_and_a_retry_comes_no_earlier() -> None:
    limiter = RateLimiter(None, lambda _: Rates(submit=2))

    states = [await limiter.admit(ANNA, "submit") for _ in range(2)]
    with pytest.raises(RateRefusal, match="submit: 2 requests in 60 s are the rate of this caller") as refused:
        await limiter.admit(ANNA, "submit")

    assert [state and state.left for state in states] == [1, 0]
    state = refused.value.state
    assert state.policy == b'"submit";q=2;w=60'
    assert (found := re.fullmatch(rb'"submit";r=0;t=(\d+)', state.state(refused.value.retry_after)))
    assert 1 <= int(found[1]) <= 60
    assert refused.value.retry_after is not None
    assert refused.value.retry_after >= int(found[1])


async def test_no_limit_says_nothing() -> None:
    assert await RateLimiter(None, lambda _: Rates(submit=None)).admit(ANNA, "submit") is None


def test_without_a_table_of_rates_a_caller_with_an_identity_has_a_smaller_one() -> None:
    mine, all_ = rate_limits.usual_rates(ANNA), rate_limits.usual_rates(Caller())

    assert (mine.submit, all_.submit) == (600, 60_000)
    assert all_.listeners is None
