"""Opens the pools of a process: of the service's own login, and of the one that serves callers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from service.intake import Deployment
from service.store import contents, spend
from service.store.pool import Database, ServingDatabase
from service.store.schema.wait_for_database import retry_until
from service.store.startup import DatabaseAddresses


@asynccontextmanager
async def prepared(
    url: str, deployments: Sequence[Deployment], size: int, left_s: Callable[[], float]
) -> AsyncIterator[Database]:
    """The open database, after the deployments' texts are stored in it."""

    async def once() -> tuple[Database, AsyncExitStack]:
        async with AsyncExitStack() as stack:
            database = await stack.enter_async_context(Database.open(url, size=size))
            await store_deployments(database, deployments)
            return database, stack.pop_all()

    database, opened = await retry_until(once, left_s)
    async with opened:
        yield database


async def store_deployments(database: Database, deployments: Sequence[Deployment]) -> None:
    """Store the texts that debates of these deployments name; the first is the service's.

    Raises `StoreUnavailable`, and `SettingsError` for a time zone that the database does not know.
    """
    await spend.check_zone(database, deployments[0].policy.budgets)
    for deployment in deployments:
        await contents.store_deployment(database, deployment)


@asynccontextmanager
async def for_callers(
    where: DatabaseAddresses, database: Database, size: int, left_s: Callable[[], float]
) -> AsyncIterator[Database]:
    """The database by the login that serves callers, or by the service's own where the process has no such address."""
    url = where.serving
    if url is None:
        yield database
        return

    async def opened() -> tuple[Database, AsyncExitStack]:
        async with AsyncExitStack() as stack:
            return await stack.enter_async_context(ServingDatabase.open(url, size=size)), stack.pop_all()

    serving, stack = await retry_until(opened, left_s)
    async with stack:
        yield serving
