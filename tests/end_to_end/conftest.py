"""What tests of a whole service share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    """A service over HTTP whose debates are run and become provable; one for all tests of a module."""
    async with served(module_database.service_url) as running:
        yield running
