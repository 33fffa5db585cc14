"""Tenants are named so that their logs can be signed."""

from __future__ import annotations

import pytest

from service.errors import BadRequest
from service.store.current_log import CurrentLogs
from service.store.pool import Database as Store
from tests.fixtures.postgres import Database

NAMES = ["default", "tenant-7", "A.b_c-1", "x" * 100]
NONE = ["", " ", "a b", "a/b", "a+b", "a\nb", "..", "-a", "ü", "a\x00", "x" * 101, "a\n"]


async def test_a_tenant_with_a_plain_name_has_a_log_of_its_name(module_database: Database) -> None:
    async with Store.open(module_database.service_url) as store:
        logs = CurrentLogs(store, "localhost")

        assert [await logs.current(name) for name in NAMES] == [f"localhost/{name}/1" for name in NAMES]


@pytest.mark.parametrize("name", NONE)
async def test_a_tenant_whose_log_could_not_be_signed_records_nothing(module_database: Database, name: str) -> None:
    async with Store.open(module_database.service_url) as store:
        with pytest.raises(BadRequest, match="100 letters, digits"):
            await CurrentLogs(store, "localhost").current(name)
