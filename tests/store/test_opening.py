"""A new debate is recorded once, with its key or not at all, also when the database's answer is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from service.errors import AuditUnavailable, StoreUnavailable
from service.store import contents, sealing
from service.store.pool import Database as Pool
from service.store.pool import Row, StatementRefused
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, a_request


class Losing(Pool):
    """A database that fails the first tries to open a debate: before they are done, or by losing the answer."""

    before = 0
    after = 0
    error: type[StoreUnavailable] = StoreUnavailable
    salts: list[bytes] | None = None
    taken: Callable[[], Awaitable[str]] | None = None
    tries = 0
    silent = False

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query, if they arrive."""
        if name != "open_debate":
            return await super().query(name, params)
        self.tries += 1
        if self.silent:
            return []
        if self.salts is not None:
            params = {**(params or {}), "document_salts": self.salts}
        if self.before:
            self.before -= 1
            raise self.error("cut off before it was done")
        rows = await super().query(name, params)
        if self.after:
            self.after -= 1
            if self.taken:
                await self.taken()
            raise self.error("cut off after it was done")
        return rows


@asynccontextmanager
async def losing(database: Database) -> AsyncIterator[tuple[Bench, Losing]]:
    """A service on such a database."""
    async with Losing.open(database.service_url, size=4) as pool:
        made = Bench(pool, {"offline": CannedProvider()})
        await contents.store_deployment(pool, made.deployment)
        yield made, pool


def counted(database: Database) -> tuple[int, ...]:
    """Debates, entries, records that wait for their tree, keys."""
    with psycopg.connect(database.admin_url) as admin:
        found = admin.execute(
            "SELECT (SELECT count(*) FROM gainsay.debate_head), (SELECT count(*) FROM gainsay.entry), "
            "(SELECT count(*) FROM gainsay.pending), (SELECT count(*) FROM gainsay.idempotency_key)"
        ).fetchone()
    return tuple(found or ())


@pytest.mark.parametrize(("before", "after"), [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1)])
@pytest.mark.parametrize("key", [None, "k"])
async def test_a_case_whose_answer_is_lost_is_taken_once(
    database: Database, key: str | None, before: int, after: int
) -> None:
    async with losing(database) as (service, pool):
        pool.before, pool.after = before, after
        submitted = await service.reviews.record(a_request(), CALLER, key)

        assert (submitted.status, submitted.replayed) == ("queued", False)
        assert counted(database) == (1, 3, 3, 1 if key else 0)
        assert [entry.__class__.__name__ for entry in await service.entries(submitted.debate)] == [
            "CaseReceived",
            "GateDecided",
            "DebateStarted",
        ]
    assert pool.tries > max(before, after)


async def test_a_case_that_a_worker_took_while_its_answer_was_lost_is_a_success_all_the_same(
    database: Database,
) -> None:
    async with losing(database) as (service, pool):
        pool.after = 1
        pool.taken = service.claim
        submitted = await service.reviews.record(a_request(), CALLER)
        head = await read_head(pool, submitted.debate, "default")

    assert (submitted.status, head["epoch"]) == ("queued", 1)
    assert counted(database)[0] == 1


async def test_a_case_that_the_database_never_confirms_is_an_outage_and_its_repetition_finds_what_became_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can know whether it is recorded: the key is for that."""
    monkeypatch.setattr(sealing, "OFFERED_S", 0.3)
    async with losing(database) as (service, pool):
        pool.after = 1_000
        with pytest.raises(AuditUnavailable):
            await service.reviews.record(a_request(), CALLER, "k")
        pool.after = 0
        again = await service.reviews.record(a_request(), CALLER, "k")

        assert again.replayed
        assert counted(database) == (1, 3, 3, 1)


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_case_that_was_not_recorded_is_not_answered_as_if_it_were(database: Database, key: str | None) -> None:
    async with losing(database) as (service, pool):
        pool.silent = True
        with pytest.raises(AuditUnavailable):
            await service.reviews.record(a_request(), CALLER, key)

    assert pool.tries == 1
    assert counted(database) == (0, 0, 0, 0)


async def test_what_the_database_refuses_is_not_offered_again(database: Database) -> None:
    async with losing(database) as (service, pool):
        pool.before, pool.error = 1, StatementRefused
        with pytest.raises(AuditUnavailable):
            await service.reviews.record(a_request(), CALLER, "k")

    assert pool.tries == 1
    assert counted(database) == (0, 0, 0, 0)


async def test_a_debate_that_cannot_be_written_leaves_no_key(database: Database) -> None:
    """One statement: with a salt that the table does not take, nothing of it is there."""
    async with losing(database) as (service, pool):
        pool.salts = [b"too short"]
        with pytest.raises(AuditUnavailable):
            await service.reviews.record(a_request(), CALLER, "k")

        assert counted(database) == (0, 0, 0, 0)
        pool.salts = None
        assert not (await service.reviews.record(a_request(), CALLER, "k")).replayed
