"""Batches by each client against a service: brought, read, listed, saved and aborted."""

from __future__ import annotations

import csv
import json
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.fixtures.client_drivers import Driver, Failed, Opened
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, a_case, a_declined_case, served, slow_policy
from tests.fixtures.waiting import until, within

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A service whose debates take seconds: a batch of them does not end before it is aborted."""
    policy = slow_policy(tmp_path_factory.mktemp("slow"), 3_000)
    async with served(module_database.service_url, GAINSAY_POLICY=str(policy)) as made:
        yield made


def text_of(path: str) -> str:
    return Path(path).read_text("utf-8")


async def ended(client: Opened, batch: str) -> Any:
    async def is_over() -> bool:
        return bool((await client.call("batch", batch))["status"] == "ended")

    await within(30, until(is_over))
    return await client.call("batch", batch)


async def test_a_batch_is_brought_once_and_read_listed_and_saved(driver: Driver, site: Served, tmp_path: Path) -> None:
    who = type(driver).__name__
    lines = [{"key": f"{who}-1", "case": a_declined_case()}, a_declined_case() | {"question": "And what of fines?"}]
    terms = {"ceiling": "5.00", "name": "contracts of March", "key": f"batch-{who}"}
    async with driver.open(site.url) as client:
        first = await client.call("create_batch", lines, **terms)
        again = await client.call("create_batch", lines, **terms)
        assert again["batchId"] == first["batchId"]
        with pytest.raises(Failed, match="idempotency_key_reused"):
            await client.call("create_batch", lines[:1], **terms)

        found = await ended(client, first["batchId"])
        assert (found["cases"], found["counts"]["declined"], found["ceilingUSD"]) == (2, 2, "5.00")
        page = await client.call("batches", limit=1)
        assert [(each["batchId"], each["name"]) for each in page["batches"]] == [(first["batchId"], terms["name"])]

        saved = await client.call("batch_results", first["batchId"], str(tmp_path / "results.jsonl"))
        table = await client.call("batch_results", first["batchId"], str(tmp_path / "decisions.csv"), form="csv")
    rows = [json.loads(line) for line in text_of(saved).splitlines()]
    assert [(row["line"], row.get("key"), row["status"]) for row in rows] == [
        (1, f"{who}-1", "declined"),
        (2, None, "declined"),
    ]
    decided = csv.DictReader(StringIO(text_of(table)))
    assert [row["debateId"] for row in decided] == [row["debateId"] for row in rows]


async def test_a_batch_is_aborted_and_the_reason_stays(driver: Driver, site: Served) -> None:
    text = "".join(f"{json.dumps(a_case(question=f'Case {n}: is it so?'))}\n" for n in range(30))
    async with driver.open(site.url) as client:
        brought = await client.call("create_batch", text, ceiling="90")
        await client.call("abort_batch", brought["batchId"], reason="the wrong file")
        await client.call("abort_batch", brought["batchId"], reason="again")
        found = await ended(client, brought["batchId"])
    assert (found["endedBy"], found["stopped"]) == ("aborted", "the wrong file")
    assert found["counts"].get("completed", 0) == 0


async def test_a_batch_that_is_refused_or_absent_is_an_error_with_its_code(driver: Driver, site: Served) -> None:
    async with driver.open(site.url) as client:
        with pytest.raises(Failed) as refused:
            await client.call("create_batch", [a_declined_case() | {"qestion": "?"}], ceiling="5")
        assert [fault["pointer"] for fault in refused.value.members["errors"]] == ["/1/qestion"]
        for name in ("batch", "abort_batch"):
            with pytest.raises(Failed, match="not_found"):
                await client.call(name, "01920000-0000-7000-8000-000000000000")
