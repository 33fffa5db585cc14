"""A debate whose end is not provable yet is found by nothing of that end: no filter, count or order tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.app import sequencing_at
from service.reviews.query_parameters import CLOSED
from tests.end_to_end.test_held_answers import concluded
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, sequenced, served, settings_for

ENDS = ("completed", "truncated", "failed", "aborted", "declined")


async def found(site: Served, **params: str) -> list[str]:
    answer = await site.http.get("/v1/debates", params=params)
    assert answer.is_success, answer.text
    return [item["debateId"] for item in answer.json()["debates"]]


async def counts(site: Served) -> tuple[int, dict[str, dict[str, int]]]:
    facets: Any = [("facets", name) for name in ("status", "outcome", "confidence", "flag", "humanReview", "taskType")]
    page: JSON = (await site.http.get("/v1/debates", params=facets)).json()
    return page["total"]["count"], {f["facet"]: {v["value"]: v["count"] for v in f["values"]} for f in page["facets"]}


async def test_nothing_of_an_end_is_told_before_it_is_provable(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.HOLD_S", 0.2)
    async with served(database.service_url, sequence=False) as site:
        dear, cheap = await concluded(site, database), await concluded(site, database)
        await site.http.post("/v1/debates", json=a_case(estimatedDownside=1, confidenceScore=0.99, materiality="low"))
        with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
            rows: dict[str, str] = dict(
                admin.execute("SELECT debate::text, (status, outcome, human_review)::text FROM found_by")
            )
            admin.execute("UPDATE found_by SET spent = spent + 1000 WHERE debate = %s", [dear])
            admin.execute("UPDATE found_by SET flags = ARRAY['softenedCritique', 'tied']")
        declined = next(debate for debate in rows if debate not in (dear, cheap))
        assert all("(,," not in row for row in rows.values()), "each has an end, which is not provable"

        every = [declined, cheap, dear]
        for name in ("outcome", "confidence", "flag"):
            for value in CLOSED[name]:
                assert await found(site, **{name: value}) == [], value
        for asked in ({"humanReview": "true"}, {"humanReview": "false"}, *({"status": end} for end in ENDS)):
            assert await found(site, **asked) == [], asked
        assert await found(site, status="running") == every
        assert await found(site, status="queued") == []
        # The dearer one is older: an order by cost would put it on the other side.
        assert await found(site, sort="-spentUSD") == every
        assert await found(site, sort="spentUSD") == every[::-1]
        total, counted = await counts(site)
        assert (total, counted["status"], counted["taskType"]) == (3, {"running": 3}, {"contract": 3})
        assert [counted[name] for name in ("outcome", "confidence", "flag", "humanReview")] == [{}, {}, {}, {}]
        page = (await site.http.get("/v1/debates", params={"sort": "-spentUSD", "limit": "1"})).json()
        assert await found(site, sort="-spentUSD", after=page["next"]) == every[1:]
        for item in (await site.http.get("/v1/debates")).json()["debates"]:
            assert (item["status"], item.get("flags"), item.get("decision")) == ("running", None, None)

        settings = settings_for(database.service_url, **sequenced(database.service_url, tmp_path))
        async with sequencing_at(database.sequencer_url, settings):
            for debate in every:
                await site.http.get(f"/v1/debates/{debate}")
                while (await site.http.get(f"/v1/debates/{debate}")).status_code == 503:
                    pass

        assert await found(site, status="running") == []
        assert await found(site, status="completed") == [cheap, dear]
        assert await found(site, sort="-spentUSD") == [dear, cheap, declined]
        assert (await counts(site))[1]["status"] == {"completed": 2, "declined": 1}


async def test_an_end_that_another_version_recorded_is_not_told_either(database: Database) -> None:
    """While versions run side by side, one before this leaves the row of a debate that it concludes without an end."""
    async with served(database.service_url, sequence=False) as site:
        debate = await concluded(site, database)
        with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
            admin.execute(
                "UPDATE found_by SET (status, outcome, confidence, human_review, flags, spent)"
                " = (NULL, NULL, NULL, NULL, NULL, NULL)"
            )
        for end in ENDS:
            answer = await site.http.get("/v1/debates", params=[("status", "queued"), ("status", end)])
            assert answer.json() == {"debates": []}, end
        assert await found(site, status="running") == [debate]
        assert (await counts(site))[1]["status"] == {"running": 1}


async def test_debates_are_found_while_they_wait_and_run(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        waiting = [(await site.submit())["debateId"] for _ in range(3)][::-1]
        await site.http.post(f"/v1/debates/{waiting[0]}/abort", json={})
        while (await site.http.get(f"/v1/debates/{waiting[0]}")).status_code == 503:
            pass
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.debate_head SET state = 'running' WHERE debate = %s", [waiting[1]])

        assert await found(site, status="aborted") == waiting[:1]
        assert await found(site, outcome="none") == waiting[:1]
        assert await found(site, status="running") == waiting[1:2]
        assert await found(site, status="queued") == waiting[2:]
        assert await found(site, humanReview="false") + await found(site, humanReview="true") == waiting[:1]
        assert await found(site, sort="spentUSD") == [waiting[0], *waiting[1:][::-1]]
        assert await found(site, sort="-spentUSD") == waiting
        answer = await site.http.get("/v1/debates", params=[("status", s) for s in ("queued", "aborted")])
        assert [item["status"] for item in answer.json()["debates"]] == ["aborted", "queued"]
        assert (await counts(site))[1]["status"] == {"aborted": 1, "queued": 1, "running": 1}


async def test_an_end_in_the_log_and_not_under_a_signed_head_is_not_told(database: Database) -> None:
    async with served(database.service_url) as site:
        old, new = (await site.finished())["debateId"], (await site.finished())["debateId"]
    with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        ended = "SELECT count(*) FROM pending WHERE debate = ANY (%s::uuid[])"  # who read it may wait still
        assert admin.execute(ended, [[old, new]]).fetchone() == (0,)
        admin.execute("SET session_replication_role = replica")
        admin.execute("ALTER TABLE checkpoint DISABLE TRIGGER USER")
        admin.execute("DELETE FROM checkpoint WHERE size > (SELECT max(idx) FROM leaf WHERE debate = %s)", [new])
        admin.execute("ALTER TABLE checkpoint ENABLE ALWAYS TRIGGER refuse_change")
        admin.execute("ALTER TABLE checkpoint ENABLE ALWAYS TRIGGER refuse_truncate")
    async with served(database.service_url, sequence=False, work=False) as site:
        assert await found(site, status="completed") == [old]
        assert await found(site, status="running") == [new]
        assert await found(site, sort="-spentUSD") == [old, new]
        assert (await counts(site))[1]["status"] == {"completed": 1, "running": 1}


async def test_a_log_that_lost_a_leaf_tells_no_end_either(database: Database) -> None:
    """The statement finds it: no record waits for a head. The page does not show it."""
    async with served(database.service_url) as site:
        debate = (await site.finished())["debateId"]
        assert await found(site, status="completed") == [debate]
        with psycopg.connect(database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
            admin.execute("SET session_replication_role = replica")
            admin.execute("ALTER TABLE leaf DISABLE TRIGGER USER")
            admin.execute("DELETE FROM leaf WHERE debate = %s AND n = (SELECT max(n) FROM leaf)", [debate])
            admin.execute("ALTER TABLE leaf ENABLE ALWAYS TRIGGER refuse_change")
            admin.execute("ALTER TABLE leaf ENABLE ALWAYS TRIGGER refuse_truncate")

        assert await found(site, status="completed") == []
        assert await found(site) == [debate]
