"""What callers get of debates and evaluations whose log has lost records: what was proven is given, no more."""

from __future__ import annotations

import asyncio
import json

import httpx
import psycopg
import pytest

from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from tests.fixtures.bundles import failed
from tests.fixtures.evaluating import a_plan, give_sets, recorded_end
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Served, a_case, a_declined_case, served
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


async def listed(site: Served, asked: str) -> dict[str, tuple[str, bool]]:
    """Each debate of a list with its status, and whether its decision is told."""
    answer = await site.http.get(f"/v1/debates{asked}")
    assert answer.status_code == 200, answer.text
    return {one["debateId"]: (one["status"], one.get("decision") is not None) for one in answer.json()["debates"]}


RECALLED = {
    "manifest": "SELECT value FROM gainsay.rests_on WHERE what = 'manifest' LIMIT 1",
    "prompt": "SELECT m.sha256 FROM gainsay.manifest_prompt m JOIN gainsay.rests_on r ON r.value = m.manifest LIMIT 1",
}
"""What the debates of a test rest on, by what recall is asked for; each has a statement of its own."""


async def recalled(site: Served, database: Database) -> dict[str, dict[str, str]]:
    """The status of each debate as recall shows it."""
    found = {}
    for what, query in RECALLED.items():
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            ((value,),) = admin.execute(query.encode()).fetchall()
        answer = await site.http.get("/v1/audit/recall", params={what: value})
        assert answer.status_code == 200, answer.text
        found[what] = {one["debateId"]: one["status"] for one in answer.json()["debates"]}
    return found


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
        held, recalled_before = await listed(site, ""), await recalled(site, database)
        listening = asyncio.create_task(site.http.get(f"/v1/debates/{debate}/events"))
        assert (await site.http.get(f"/v1/debates/{debate}")).json()["code"] == "not_provable", "not yet"

        lose(database)
        cut = await within(30, listening)
        for path in ("", "/events", "/report", "/report?paper=letter", "/audit"):
            refused(await site.http.get(f"/v1/debates/{debate}{path}"))
        refused(await site.http.post(f"/v1/debates/{debate}/abort", json={}))
        refused(await site.http.get(f"/v1/audit/logs/{LOG}/proof/{debate}.0"))
        refused(await site.http.post("/v1/debates", json=a_case(), headers={**KEY, "prefer": "wait=1"}))
        after = {
            asked: await listed(site, asked) for asked in ("", "?status=failed", "?status=running", "?status=completed")
        }
        recalled_after = await recalled(site, database)
        facets = (await site.http.get("/v1/debates?facets=status")).json()["facets"]
        again = await site.http.post("/v1/debates", json=a_case(), headers={"idempotency-key": "another"})
        result = await site.http.get(f"/v1/debates/{proven}")
        bundle = await site.http.get(f"/v1/debates/{proven}/audit")
        unknown = await site.http.get("/v1/debates/01920000-0000-7000-8000-000000000000")

    assert held == {debate: ("running", False), proven: ("completed", True)}
    assert after[""] == {debate: ("failed", False), proven: ("completed", True)}, (
        "without the decision, and not running"
    )
    assert recalled_before == {what: {debate: "running", proven: "completed"} for what in RECALLED}
    assert recalled_after == {what: {debate: "failed", proven: "completed"} for what in RECALLED}
    assert after["?status=failed"] == {debate: ("failed", False)}
    assert after["?status=running"] == {}
    assert after["?status=completed"] == {proven: ("completed", True)}
    assert {one["value"]: one["count"] for one in facets[0]["values"]} == {"failed": 1, "completed": 1}
    assert cut.status_code == 200
    assert "event: final" not in cut.text
    assert again.status_code == 202
    assert (result.status_code, result.json()["status"], bundle.status_code) == (200, "completed", 200)
    assert unknown.status_code == 404


TAKEN = (
    "INSERT INTO gainsay.leaf (log, idx, debate, n, hash) SELECT log, (SELECT count(*) FROM gainsay.leaf l "
    "WHERE l.log = p.log) + row_number() OVER (ORDER BY debate) - 1, debate, n, sha256(debate::text::bytea) "
    "FROM gainsay.pending p WHERE log = '{}'"
)
"""A sequencer has taken what waits into the tree of a log, and was lost before the head was signed."""


async def test_a_bundle_that_was_proven_before_the_loss_is_given_and_waits_for_no_report_of_the_lost_part(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("service.reviews.HOLD_S", "service.reviews.evidence.covering_head.HOLD_S"):
        monkeypatch.setattr(name, 0.3)

    def tell(statement: str) -> None:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(statement.encode())

    pdf = {"accept": "application/pdf"}
    async with served(database.service_url) as site:
        answer = await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=60"})
        debate = answer.json()["debateId"]
    async with served(database.service_url, sequence=False) as site:
        held = await site.http.get(f"/v1/debates/{debate}/report", headers=pdf)
        tell(TAKEN.format(LOG))
        before = await site.http.get(f"/v1/debates/{debate}/audit")
        lose(database)
        after = await site.http.get(f"/v1/debates/{debate}/audit")
    async with served(database.service_url, sequence=False) as site:
        again = await site.http.get(f"/v1/debates/{debate}/report?paper=letter", headers=pdf)
        tell(TAKEN.format(NEXT))
        later = await site.http.get(f"/v1/debates/{debate}/audit")

    assert [one.status_code for one in (held, before, again)] == [503, 503, 503]
    assert (after.status_code, after.headers["content-type"]) == (200, "application/zip"), after.text
    trust = Trust(keys=(SIGNING_KEY.public,), allow_unwitnessed=True)
    assert failed(verify_bundle(after.content, trust, tools())) == []
    assert (later.status_code, later.json()["code"]) == (503, "not_provable"), "the next log is signed soon"


async def test_a_batch_whose_debates_were_lost_does_not_run_for_ever(database: Database) -> None:
    async def line(site: Served, told: JSON) -> tuple[str, bool]:
        (found,) = [json.loads(row) for row in (await site.http.get(told["links"]["results"])).text.splitlines()]
        return found["status"], "decision" in found

    def has_ended() -> bool:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            return admin.execute("SELECT ended IS NOT NULL FROM gainsay.case_batch").fetchall() == [(True,)]

    async with served(database.service_url) as site:
        await site.http.post("/v1/debates", json=a_declined_case())
    async with served(database.service_url, sequence=False) as site:
        jsonl = {"content-type": "application/jsonl"}
        posted = await site.http.post("/v1/batches?ceilingUSD=5", content=json.dumps(a_case()), headers=jsonl)
        told = posted.json()
        for _ in range(600):
            if has_ended():
                break
            await asyncio.sleep(0.05)
        before = await line(site, told)
        lose(database)
        after = await line(site, told)
        counts = (await site.http.get(told["links"]["self"])).json()["counts"]

    assert (before, after) == (("running", False), ("failed", False))
    assert {name: n for name, n in counts.items() if n} == {"failed": 1}


async def registered(site: Served, kind: str) -> str:
    """The path of an evaluation of a tiny set, which was just registered."""
    give_sets(site.app)
    answer = await site.http.post("/v1/evaluations", json={"plan": a_plan(kind)})
    assert answer.status_code == 202, answer.text
    return str(answer.headers["location"])


async def stands(site: Served, path: str, *, until: str) -> JSON:
    """How an evaluation stands once it has this status."""
    for _ in range(1200):
        told: JSON = (await site.http.get(path)).json()
        if told["status"] == until:
            return told
        await asyncio.sleep(0.05)
    raise AssertionError(f"the evaluation did not become {until}")


def refused_result(answer: httpx.Response) -> None:
    """The same for an evaluation."""
    assert (answer.status_code, answer.json()["code"]) == (410, "records_lost"), answer.text
    assert "retry-after" not in answer.headers
    assert f"the log {LOG} has lost records" in answer.json()["detail"]
    assert f"{NEXT} has followed it" in answer.json()["detail"]
    assert "register the plan again" in answer.json()["detail"]


async def test_an_evaluation_whose_end_was_lost_has_no_result_and_one_that_was_proven_keeps_its_own(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.reviews.evaluation_follow.LOST_S", 0.2)
    archive = {"accept": "application/zip"}
    async with served(database.service_url) as site:
        proven = await registered(site, "critic")
        whole = await stands(site, proven, until="concluded")
        assert "event: evaluation.concluded" in (await site.http.get(f"{proven}/events")).text
    async with served(database.service_url, work=False) as site:
        lost = await registered(site, "pairs")
        told: JSON = {"asked": 0, "planned": 1}
        while told["asked"] < told["planned"]:
            await site.app.evaluating.round()
            told = (await site.http.get(lost)).json()
            await asyncio.sleep(0.05)
    async with served(database.service_url, sequence=False) as site:
        give_sets(site.app)
        await recorded_end(database.admin_url, lost.rpartition("/")[2])
        before: JSON = (await site.http.get(lost)).json()
        listening = asyncio.create_task(site.http.get(f"{lost}/events"))
        early = await site.http.get(f"{lost}/audit", headers=archive)
        tagged = await site.http.get(lost)

        lose(database)
        cut = await within(30, listening)
        after = await site.http.get(lost, headers={"if-none-match": tagged.headers["etag"]})
        for accept in ("application/json", "text/html"):
            refused_result(await site.http.get(f"{lost}/report", headers={"accept": accept}))
        refused_result(await site.http.get(f"{lost}/events"))
        refused_result(await site.http.get(f"{lost}/events", headers={"last-event-id": "1"}))
        refused_result(await site.http.get(f"{lost}/audit", headers=archive))
        seen = await site.http.get(f"{lost}/events", headers={"last-event-id": "99"})
        rows = (await site.http.get("/v1/evaluations")).json()["evaluations"]
        kept = await site.http.get(proven)
        events = await site.http.get(f"{proven}/events")
        report = await site.http.get(f"{proven}/report", headers={"accept": "application/json"})
        bundle = await site.http.get(f"{proven}/audit", headers=archive)

    assert (before["status"], "finding" in before, early.json()["code"]) == ("running", False, "not_concluded")
    assert cut.status_code == 200
    assert "event: item.scored" in cut.text
    assert "event: evaluation.concluded" not in cut.text
    assert (after.status_code, after.json()["status"]) == (200, "lost")
    assert not {"result", "finding", "resultHash"} & set(after.json())
    assert seen.status_code == 204
    assert {row["href"]: (row["ended"], row["lost"]) for row in rows} == {lost: (True, True), proven: (True, False)}
    assert kept.json() == whole
    assert "event: evaluation.concluded" in events.text
    assert report.json() == whole["result"]
    assert bundle.status_code == 200, bundle.text
