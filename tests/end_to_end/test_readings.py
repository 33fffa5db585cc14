"""Who was given content of cases over HTTP is in the log: not before it was given, and after a kill too."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from msgspec.structs import replace

from service.audit.record import moment
from service.identity.authentication import Presented
from service.identity.caller import LOCAL, Caller
from service.reviews.evidence.reading_log import ReadingLog
from service.web.api import make_api
from service.web.app_state import AppState
from service.web.debate_stream import FollowingDebate
from service.web.server import serving
from service.web.stream import events
from service.web.stream_listeners import Listener, Listeners
from tests.end_to_end.processes import deployed, until_ready
from tests.fixtures.postgres import Database
from tests.fixtures.readings import bodies, kinds
from tests.fixtures.serving import Served, a_case, served, slow_policy

pytestmark = pytest.mark.no_replay

KEY = "key_0a1b2c3d4e5f6g7h8j9k0m1n2p"
AUDITOR = Caller(
    "default", "sub_7z9y8x7w6v5t4s3r2q1p0n9m8k", "auditor", "person", "apiKey", ("auditor", "requester"), None, KEY
)


def recorded(database: Database) -> list[dict[str, Any]]:
    """The readings that any log has."""
    return [each for body in bodies(database) if body["kind"] == "content.read" for each in body["readings"]]


def counted(database: Database) -> Counter[tuple[str, str | None]]:
    """How often what was read of which case."""
    counts: Counter[tuple[str, str | None]] = Counter()
    for each in recorded(database):
        counts[each["what"], each.get("debate")] += each["times"]
    return counts


class Auditing:
    """Registers in which every request is that of the auditor, who is also a requester."""

    configured: ClassVar[bool] = True

    async def identify(self, presented: Presented) -> Caller:
        """The auditor."""
        return AUDITOR

    async def still(self, caller: Caller) -> bool:
        """Always so."""
        return True


@asynccontextmanager
async def answering(site: AppState) -> AsyncIterator[httpx.AsyncClient]:
    """A server to which every request comes from the auditor."""
    async with serving(make_api(site)) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
        yield http


def state(served_: Served, readings: ReadingLog | None = None, **options: Any) -> AppState:
    """The state of a server beside another one, with a reading log of its own if one is given."""
    closing = asyncio.Event()
    service = replace(served_.app, authenticator=Auditing(), readings=readings or served_.app.readings)
    listeners = Listeners(closing, service.authenticator)
    return AppState(service, closing, listeners, **options)


async def test_each_way_to_content_is_a_reading_and_an_answer_without_content_is_none(database: Database) -> None:
    async with served(database.service_url) as site:
        debate = (await site.finished())["debateId"]
        where = f"/v1/debates/{debate}"
        async with answering(state(site)) as http:
            one = await http.get(where)
            await http.get(where, params={"view": "full"})
            unchanged = await http.get(where, headers={"if-none-match": one.headers["etag"]})
            await http.get(f"{where}/report", headers={"accept": "text/markdown"})
            await http.get(f"{where}/events")
            listed = (await http.get(f"{where}/documents")).json()["documents"]
            await http.get(listed[0]["href"])
            await http.get("/v1/debates", params={"facets": "status"})
            heads = [await http.head(path) for path in (where, f"{where}/events", f"{where}/documents", "/v1/debates")]
            missing = await http.get("/v1/debates/0199c0de-0000-7000-8000-000000000001")
            nothing = await http.get(f"{where}/events", headers={"last-event-id": "100000"})
            proof = await http.get("/v1/audit/logs")

    assert [answer.status_code for answer in (unchanged, missing, nothing, proof, *heads)] == [
        304,
        404,
        204,
        *[200] * 5,
    ]
    assert counted(database) == {
        ("result", debate): 2,  # the one who submitted it waited for its result
        ("summary", debate): 1,
        ("report", debate): 1,
        ("events", debate): 1,
        ("documents", debate): 1,
        ("document", debate): 1,
        ("list", None): 1,
    }
    by = {(each["subject"], each["role"], each["via"], each.get("credential")) for each in recorded(database)}
    assert by == {(AUDITOR.subject, "auditor", "apiKey", KEY), (LOCAL.subject, LOCAL.role, "none", None)}


async def test_files_of_evidence_that_head_asks_for_are_neither_read_nor_issued(database: Database) -> None:
    async with served(database.service_url) as site:
        debate = (await site.finished())["debateId"]
        where = f"/v1/debates/{debate}"
        pdf = {"accept": "application/pdf"}
        log = (await site.http.get("/v1/audit/logs")).json()["logs"][-1]["log"]
        batch = await site.http.post(
            "/v1/batches?ceilingUSD=1", content=json.dumps(a_case()), headers={"content-type": "application/jsonl"}
        )
        whole = {
            f"{where}/audit": {},
            f"{where}/report": pdf,
            "/v1/audit/recall?model=alder-large": {},
        }
        streamed = (
            f"/v1/audit/logs/{log}/records",
            f"/v1/audit/logs/{log}/records?format=csv",
            f"{where}/events",
            f"{batch.headers['location']}/results",
        )

        heads = {path: await site.http.head(path, headers=whole.get(path, {})) for path in (*whole, *streamed)}
        before = kinds(database)
        gets = {path: await site.http.get(path, headers=whole.get(path, {})) for path in (*whole, *streamed)}

    assert before == {"audit.read": 1}, "the recall: the header fields of its page tell of debates"
    assert kinds(database) == {"audit.read": 5, "report.issued": 1}
    for path, head in heads.items():
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-type"] == gets[path].headers["content-type"]
        assert {*head.headers} == {*gets[path].headers} - {"transfer-encoding"}, path
    assert [path for path, head in heads.items() if "content-length" not in head.headers] == [*streamed]


async def test_without_a_record_of_who_reads_no_content_is_given_and_a_case_is_still_taken(
    database: Database,
) -> None:
    """The log of the readings is away, and that of debates is not: the case is not lost, its result is not shown."""
    async with served(database.service_url) as site:
        debate = (await site.finished())["debateId"]
        stuck = ReadingLog(site.app.database, site.app.logs, site.app.readings._writer, oldest_s=0.1)
        here = state(site, stuck, noted_s=0.0)
        async with answering(here) as http:
            first = await http.get(f"/v1/debates/{debate}")  # nobody runs this log, so nothing is ever recorded
            await asyncio.sleep(0.2)
            paths = ("", "?view=full", "/report", "/events", "/documents", "/documents/D1")
            found = [await http.get(f"/v1/debates/{debate}{path}") for path in paths]
            found.append(await http.get("/v1/debates"))
            submitted = await http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=30"})
            other = await http.get("/v1/audit/logs")
        cut = [chunk async for chunk in events(FollowingDebate(here, AUDITOR, debate, -1), Listener(None))]

    assert first.status_code == 200
    assert {(answer.status_code, answer.json()["code"]) for answer in found} == {(503, "audit_unavailable")}
    assert all(answer.headers["retry-after"] for answer in found)
    assert (submitted.status_code, "decision" in submitted.json()) == (202, False)
    assert other.status_code == 200, "a proof is no content of a case"
    assert b"event:" not in b"".join(cut)
    assert b": interrupted" in cut[-1]


async def test_a_stream_is_noted_again_for_as_long_as_it_goes_on(database: Database, tmp_path: Path) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=250))
    async with served(database.service_url, GAINSAY_POLICY=policy) as site:
        debate = (await site.submit())["debateId"]
        here = state(site, noted_s=0.3)
        begun = time.monotonic()
        async with answering(here) as http:
            await http.get(f"/v1/debates/{debate}/events")
        lasted = time.monotonic() - begun

    times = counted(database)["events", debate]
    assert 3 <= times <= lasted / 0.3 + 1


async def test_a_killed_server_loses_the_readings_of_its_last_second_alone_and_a_stopped_one_none(
    database: Database, tmp_path: Path
) -> None:
    async with deployed(database, tmp_path, GAINSAY_DRAIN_S="0") as deployment:
        server = deployment.start("serve", "--port", "0", "--no-worker")
        given = await _read_for(await server.address(), 2.6)
        server.kill()
        killed = time.monotonic()
        kept = counted(database)["list", None]
        records = len({each["first"] for each in recorded(database)})
        settled = sum(at < killed - 1.3 for at in given)

        server = deployment.start("serve", "--port", "0", "--no-worker")
        address = await server.address()
        await until_ready(address)
        async with httpx.AsyncClient(base_url=address) as http:
            for _ in range(5):
                assert (await http.get("/v1/debates")).status_code == 200
        server.send(signal.SIGTERM)
        assert await server.ends() == 0

    assert 0 < settled <= kept <= len(given)
    assert records <= 4, "one in a second, and not one for each of the readings"
    assert counted(database)["list", None] == kept + 5
    assert all(moment(each["first"]) <= moment(each["last"]) for each in recorded(database))


async def _read_for(address: str, seconds: float) -> list[float]:
    """Read the list of debates again and again; when each answer came."""
    given = []
    await until_ready(address)
    async with httpx.AsyncClient(base_url=address) as http:
        begun = time.monotonic()
        while time.monotonic() < begun + seconds:
            assert (await http.get("/v1/debates")).status_code == 200
            given.append(time.monotonic())
            await asyncio.sleep(0.02)
    return given
