"""What callers get of debates whose log has lost records: what was proven stays so, the rest is refused for good."""

from __future__ import annotations

import asyncio

import httpx
import psycopg
import pytest

from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, a_case, served
from tests.fixtures.waiting import within

pytestmark = pytest.mark.no_replay  # the second log has no records

LOG, NEXT = "localhost/default/1", "localhost/default/2"
LOSS = (
    f"INSERT INTO gainsay.incident (log, what) VALUES ('{LOG}', 'the signer has signed more')",
    f"INSERT INTO gainsay.incident (log, what, closes) VALUES ('{LOG}', 'standby promoted; J. Doe', 1)",
    (
        "INSERT INTO gainsay.log_epoch (log, tenant, epoch, key) "
        f"SELECT '{NEXT}', tenant, 2, key FROM gainsay.log_epoch WHERE log = '{LOG}'"
    ),
)
KEY = {"idempotency-key": "the-same-key"}


def lose(database: Database) -> None:
    """What a sequencer finds after a failover, what a person writes about it, and the next log."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for statement in LOSS:
            admin.execute(statement.encode())


async def ended(site: Served, database: Database) -> str:
    """The id of a debate that has ended."""
    debate = str((await site.http.post("/v1/debates", json=a_case(), headers=KEY)).json()["debateId"])
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for _ in range(600):
            row = admin.execute("SELECT state FROM gainsay.debate_head WHERE debate = %s", [debate]).fetchone()
            if row and row[0] == "completed":
                return debate
            await asyncio.sleep(0.05)
    raise AssertionError("the debate did not end")


def refused(answer: httpx.Response) -> None:
    """A final answer that says what happened and what to do."""
    assert (answer.status_code, answer.json()["code"]) == (410, "records_lost"), answer.text
    assert "retry-after" not in answer.headers
    assert f"the log {LOG} has lost records" in answer.json()["detail"]
    assert "submit the case again, under another Idempotency-Key" in answer.json()["detail"]


async def test_what_was_proven_before_the_loss_is_given_and_the_rest_is_refused_for_good(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.HOLD_S", 0.3)
    monkeypatch.setattr("service.reviews.wait.LOST_S", 0.2)
    async with served(database.service_url) as site:
        proven = (await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"})).json()["debateId"]
    async with served(database.service_url, sequence=False) as site:
        debate = await ended(site, database)
        listening = asyncio.create_task(site.http.get(f"/v1/debates/{debate}/events"))
        assert (await site.http.get(f"/v1/debates/{debate}")).json()["code"] == "not_provable", "not yet"

        lose(database)
        cut = await within(30, listening)
        for path in ("", "/events", "/report", "/report?paper=letter", "/audit"):
            refused(await site.http.get(f"/v1/debates/{debate}{path}"))
        refused(await site.http.post(f"/v1/debates/{debate}/abort", json={}))
        refused(await site.http.get(f"/v1/audit/logs/{LOG}/proof/{debate}.0"))
        refused(await site.http.post("/v1/debates", json=a_case(), headers={**KEY, "prefer": "wait=1"}))
        again = await site.http.post("/v1/debates", json=a_case(), headers={"idempotency-key": "another"})
        result = await site.http.get(f"/v1/debates/{proven}")
        bundle = await site.http.get(f"/v1/debates/{proven}/audit")
        unknown = await site.http.get("/v1/debates/01920000-0000-7000-8000-000000000000")

    assert cut.status_code == 200
    assert "event: final" not in cut.text
    assert again.status_code == 202
    assert (result.status_code, result.json()["status"], bundle.status_code) == (200, "completed", 200)
    assert unknown.status_code == 404
