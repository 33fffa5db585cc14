"""Nothing that was decided leaves the house before a signed head of the log covers it; debates go on meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from service import telemetry
from service.app import sequencing_at
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, a_case, a_declined_case, sequenced, served, settings_for
from tests.fixtures.waiting import within

HEADS = "SELECT count(*) FROM gainsay.checkpoint"


async def concluded(site: Served, database: Database) -> str:
    """The id of a debate that is over and durable, and no more."""
    debate = str((await site.submit())["debateId"])
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for _ in range(600):
            row = admin.execute("SELECT state FROM gainsay.debate_head WHERE debate = %s", [debate]).fetchone()
            if row and row[0] not in ("queued", "running"):
                return debate
            await asyncio.sleep(0.05)
    raise AssertionError("the debate did not end")


async def test_a_debate_ends_without_a_sequencer_and_its_answer_is_held(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.HOLD_S", 0.3)
    async with served(database.service_url, sequence=False) as site:
        held = telemetry.ANSWERS_HELD._value.get()
        debate = await concluded(site, database)

        for path in (f"/v1/debates/{debate}", f"/v1/debates/{debate}/report", f"/v1/debates/{debate}/audit"):
            answer = await site.http.get(path)
            assert (answer.status_code, answer.json()["code"]) == (503, "not_provable"), path
            assert int(answer.headers["retry-after"]) > 0
            assert "synthesis" not in answer.text
        assert telemetry.ANSWERS_HELD._value.get() >= held + 2
        assert (await site.http.post(f"/v1/debates/{debate}/abort", json={})).json()["code"] == "not_provable"
        (listed,) = (await site.http.get("/v1/debates")).json()["debates"]
        assert (listed["debateId"], listed["status"]) == (debate, "running")
    levels = {record.levelname for record in caplog.records if "request failed" in record.message}
    assert levels == {"WARNING"}, "so it is at every start, for a while"


async def test_a_declined_case_is_told_where_its_decision_will_be(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.HOLD_S", 0.3)
    async with served(database.service_url, sequence=False) as site:
        answer = await site.http.post("/v1/debates", json=a_declined_case())

        assert (answer.status_code, answer.json()["code"]) == (503, "not_provable")
        (debate,) = [word for word in answer.json()["detail"].split() if word.startswith("/v1/debates/")]
        assert (await site.http.get(debate)).status_code == 503
        assert [d["status"] for d in (await site.http.get("/v1/debates")).json()["debates"]] == ["running"]


async def test_waiting_for_a_result_ends_without_it_when_it_cannot_be_proved(database: Database) -> None:
    async with served(database.service_url, sequence=False) as site:
        answer = await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=4"})

        assert answer.status_code == 202
        assert "rounds" not in answer.json()


async def test_the_last_event_comes_when_the_head_is_signed(database: Database, tmp_path: Path) -> None:
    async with served(database.service_url, sequence=False, heartbeat_s=0.1) as site:
        debate = await concluded(site, database)
        lines: asyncio.Queue[str] = asyncio.Queue()

        async def listen() -> None:
            async with site.http.stream("GET", f"/v1/debates/{debate}/events") as answer:
                async for line in answer.aiter_lines():
                    lines.put_nowait(line)
            lines.put_nowait("end")

        listener = asyncio.create_task(listen())
        seen: list[str] = []
        while seen.count(": still here") < 5:
            seen.append(await within(30, lines.get()))
        assert "event: synthesis" in seen or "event: round" in seen
        assert "event: final" not in seen

        settings = settings_for(database.service_url, **sequenced(database.service_url, tmp_path))
        async with sequencing_at(database.sequencer_url, settings):
            while seen[-1] != "end":
                seen.append(await within(30, lines.get()))
        await listener

        assert seen.count("event: final") == 1
        told = (await site.http.get(f"/v1/debates/{debate}?view=full")).json()
        with psycopg.connect(database.admin_url) as admin:
            notes = [bytes(n).decode() for (n,) in admin.execute("SELECT note FROM gainsay.checkpoint ORDER BY size")]
        place = told["hashes"]["log"]
        assert any(note.startswith(f"{place['log']}\n{place['size']}\n") for note in notes)
        assert place["index"] < place["size"]


async def test_a_place_in_the_log_stays_the_same_however_much_is_recorded_after(database: Database) -> None:
    async with served(database.service_url) as site:
        first = await site.finished()
        for _ in range(3):
            await site.finished()

        again = (await site.http.get(f"/v1/debates/{first['debateId']}?view=full")).json()
        assert again == first
        assert {d["status"] for d in (await site.http.get("/v1/debates")).json()["debates"]} == {"completed"}
        with psycopg.connect(database.admin_url) as admin:
            assert (admin.execute(HEADS).fetchone() or (0,))[0] > 1


@pytest.mark.parametrize("path", ["", "/report", "/audit"])
async def test_everything_is_given_out_once_it_is_provable(database: Database, path: str) -> None:
    async with served(database.service_url) as site:
        told = await site.finished()

        assert (await site.http.get(f"/v1/debates/{told['debateId']}{path}")).status_code == 200


async def test_an_answer_names_a_head_that_covers_it_also_when_another_process_has_signed_that(
    database: Database, tmp_path: Path
) -> None:
    settings = settings_for(database.service_url, **sequenced(database.service_url, tmp_path))
    async with sequencing_at(database.sequencer_url, settings), served(database.service_url, sequence=False) as site:
        for _ in range(2):
            answer = await site.http.post("/v1/debates?view=full", json=a_case(), headers={"prefer": "wait=30"})
            stands = answer.json()["hashes"]["log"]
            log, size, _root = answer.headers["gainsay-checkpoint"].split(" ")
            assert log == stands["log"]
            assert int(size) >= stands["size"] > stands["index"]
