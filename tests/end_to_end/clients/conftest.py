"""What tests of the clients share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.fixtures.client_drivers import AsyncDriver, Driver, SyncDriver, built, node_driver


@pytest.fixture(scope="session")
def node_program(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that drives the client in TypeScript; skipped without node."""
    return built(pytestconfig, tmp_path_factory.mktemp("typescript"))


@pytest_asyncio.fixture(params=["sync", "async", "typescript"], scope="module", loop_scope="module")
async def driver(request: pytest.FixtureRequest) -> AsyncIterator[Driver]:
    """Each client, one after the other."""
    if request.param == "sync":
        yield SyncDriver()
    elif request.param == "async":
        yield AsyncDriver()
    else:
        async with node_driver(request.getfixturevalue("node_program")) as driving:
            yield driving
