"""A debate ends with its listeners where its case asks for that, and only then: ``onDisconnect``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from service.debate.entries import DebateConcluded, DebateStopped, Entry
from service.errors import StoreUnavailable
from service.identity.caller import Caller
from service.reviews import on_disconnect
from service.reviews.on_disconnect import LATE_S, UNSEEN_S, DisconnectWatch
from service.store.pool import Database as Pool
from service.store.pool import Row
from service.web.api import make_api
from service.web.app_state import AppState
from service.web.server import serving
from service.web.stream_listeners import Listeners
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, served, slow_policy
from tests.fixtures.small_cases import CASES
from tests.fixtures.waiting import within

pytestmark = pytest.mark.long

LEAVE_S = 0.4


@pytest.fixture(autouse=True)
def _promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disconnect, "LEAVE_S", LEAVE_S)


def ending(**changes: Any) -> JSON:
    """A case whose debate ends with its listeners."""
    return a_case(onDisconnect="abort", **changes)


@asynccontextmanager
async def listening(site: Served, debate: str) -> AsyncIterator[None]:
    """A listener that has heard something, until the block ends."""
    async with site.http.stream("GET", f"/v1/debates/{debate}/events") as stream:
        lines = stream.aiter_lines()  # let go of, it would close the connection
        while not (await anext(lines)).startswith("event: started"):
            pass
        yield


async def entries(site: Served, debate: str) -> list[Entry]:
    return [line.entry for line in await site.app.reviews.lines(debate, Caller())]


async def ended(site: Served, debate: str) -> list[Entry]:
    """The entries of a debate once it is over."""
    for _ in range(400):
        if isinstance((found := await entries(site, debate))[-1], DebateConcluded):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("the debate goes on")


async def stays(site: Served, debate: str, seconds: float = 3 * LEAVE_S) -> None:
    """Assert that nobody stops a debate meanwhile."""
    await asyncio.sleep(seconds)
    assert not any(isinstance(entry, DebateStopped) for entry in await entries(site, debate))


def stop_of(found: list[Entry]) -> DebateStopped:
    (stop,) = [entry for entry in found if isinstance(entry, DebateStopped)]
    return stop


async def test_a_debate_of_any_format_is_aborted_when_its_last_listener_has_gone(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        debates = [(await site.submit(ending(**case)))["debateId"] for case in CASES.values()]
        for debate in debates:
            async with listening(site, debate), listening(site, debate):
                pass
        found = [await ended(site, debate) for debate in debates]
        told = [(await site.http.get(f"/v1/debates/{debate}?view=full")).json() for debate in debates]

    for each in found:
        assert stop_of(each).by == "abort"
        assert "last listener went away" in stop_of(each).why
    assert {(each["status"], each["stopReason"]) for each in told} == {("aborted", "aborted")}
    assert {(each["abortedBy"]["kind"], each["abortedBy"]["via"]) for each in told} == {("service", "databaseRole")}
    assert {(each["askedBy"]["kind"], each["askedBy"]["via"]) for each in told} == {("unknown", "none")}


async def test_a_caller_that_waits_and_goes_away_has_left_and_what_is_under_way_is_charged(
    database: Database, tmp_path: Path
) -> None:
    async with served(database.service_url, GAINSAY_POLICY=str(slow_policy(tmp_path, latency_ms=1_500))) as site:
        with suppress(httpx.ReadTimeout):
            await site.http.post("/v1/debates", json=ending(), headers={"prefer": "wait=30"}, timeout=0.5)
        (summary,) = (await site.http.get("/v1/debates")).json()["debates"]
        await ended(site, summary["debateId"])
        told = (await site.http.get(summary["href"])).json()

    assert told["status"] == "aborted"
    assert float(told["decision"]["cost"]["spentUSD"]) > 0


async def test_by_default_whoever_waits_or_listens_may_go_away(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        listened = (await site.submit())["debateId"]
        async with listening(site, listened):
            pass
        with suppress(httpx.ReadTimeout):
            await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=30"}, timeout=0.5)
        (waited, _) = (await site.http.get("/v1/debates")).json()["debates"]
        await stays(site, listened)
        await stays(site, waited["debateId"], 0)


async def test_a_listener_that_comes_back_in_time_finds_the_debate_as_it_was(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_s = 4 * LEAVE_S  # a loaded machine listens late
    monkeypatch.setattr(on_disconnect, "LEAVE_S", leave_s)
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit(ending()))["debateId"]
        for _ in range(6):
            async with listening(site, debate):
                await asyncio.sleep(leave_s / 8)
            await asyncio.sleep(leave_s / 8)
        async with listening(site, debate):
            await stays(site, debate, 2 * leave_s)
        await ended(site, debate)


async def test_a_debate_that_nobody_ever_listened_to_goes_on(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit(ending()))["debateId"]
        await stays(site, debate)


async def test_a_wait_that_runs_out_is_no_leaving(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        answer = await site.http.post("/v1/debates", json=ending(), headers={"prefer": "wait=1"})
        assert answer.status_code == 202
        await stays(site, answer.json()["debateId"])


async def test_a_debate_that_was_heard_to_its_end_ends_by_itself(database: Database) -> None:
    async with served(database.service_url) as site:
        debate = (await site.submit(ending()))["debateId"]
        (*_, final) = await site.events(debate)
        waited = await site.finished(ending())
        await stays(site, debate)
        await stays(site, waited["debateId"], 0)

    assert (final.data["status"], waited["status"]) == ("completed", "completed")


async def test_listeners_of_another_process_count_and_the_last_of_all_ends_it(database: Database) -> None:
    async with (
        served(database.service_url, work=False) as one,
        served(database.service_url, work=False, sequence=False) as other,
    ):
        debate = (await one.submit(ending()))["debateId"]
        async with listening(other, debate):
            async with listening(one, debate):
                pass
            await stays(one, debate)
        await ended(one, debate)


async def test_a_listener_that_changes_over_to_another_process_has_not_left(database: Database) -> None:
    async with (
        served(database.service_url, work=False) as one,
        served(database.service_url, work=False, sequence=False) as other,
    ):
        debate = (await one.submit(ending()))["debateId"]
        async with listening(one, debate):
            pass
        await asyncio.sleep(LEAVE_S / 2)
        async with listening(other, debate):
            await stays(other, debate)


async def test_a_service_that_stops_has_not_been_left(database: Database) -> None:
    async with served(database.service_url, work=False) as one, httpx.AsyncClient(timeout=30) as http:
        closing = asyncio.Event()
        site = AppState(one.app, closing, Listeners(closing, one.app.authenticator))
        async with serving(make_api(site)) as url:
            debate = (await one.submit(ending()))["debateId"]
            heard = asyncio.create_task(http.get(f"{url}/v1/debates/{debate}/events"))
            wait = http.post(f"{url}/v1/debates", json=ending(), headers={"prefer": "wait=30"})
            waited = asyncio.create_task(wait)
            await asyncio.sleep(LEAVE_S)
            closing.set()  # as when SIGTERM comes: the rest of the service stays for longer than a listener may be away
            assert ": stopping" in (await heard).text
            assert (await waited).status_code == 202
            await stays(one, debate)
            await stays(one, (await waited).json()["debateId"], 0)


class Held(Pool):
    """A database that does not say whether a debate has listeners elsewhere before it is let."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked, self.answered = asyncio.Event(), asyncio.Event()

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == "listened":
            self.asked.set()
            await self.answered.wait()
        return await super().query(name, params)


@pytest.mark.parametrize("comes_back", [True, False])
async def test_whoever_joins_while_other_processes_are_asked_for_listeners_keeps_the_debate(
    database: Database, comes_back: bool
) -> None:
    debate, aborted = str(UUID(int=1)), asyncio.Event()

    async def abort(_debate: str, _tenant: str, _why: str) -> None:
        aborted.set()

    async with Held.open(database.service_url, size=2) as held:
        leavers = DisconnectWatch(held, "here", abort)
        leavers.listener_joined(debate, "default")
        leavers.listener_left(debate)
        await within(10, held.asked.wait())
        if comes_back:
            leavers.listener_joined(debate, "default")
        held.answered.set()
        with suppress(TimeoutError):
            await within(LEAVE_S if comes_back else 10, aborted.wait())
        await leavers.close()

    assert aborted.is_set() != comes_back


class Failing(Pool):
    """A database that is away for the first so many looks for listeners elsewhere."""

    fails = 0
    looks = 0

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == "listened":
            self.looks += 1
            if self.looks <= self.fails:
                raise StoreUnavailable("away", retry_after=1)
        return await super().query(name, params)


@pytest.mark.parametrize(("fails", "in_trouble", "looks"), [(0, False, 1), (0, True, 2), (2, False, 4), (2, True, 4)])
async def test_a_listener_has_time_to_come_back_from_when_the_database_is_well(
    database: Database, fails: int, in_trouble: bool, looks: int
) -> None:
    aborted = asyncio.Event()

    async def abort(_debate: str, _tenant: str, _why: str) -> None:
        aborted.set()

    async with Failing.open(database.service_url, size=2) as away:
        away.fails = fails
        leavers = DisconnectWatch(away, "here", abort)
        leavers.listener_joined(str(UUID(int=1)), "default")
        leavers.listener_left(str(UUID(int=1)), in_trouble=in_trouble)
        await within(10, aborted.wait())
        await leavers.close()

    assert away.looks == looks


@pytest.mark.parametrize(("notes_ago_s", "kept"), [(1.4 * LEAVE_S, True), (1.5 * LEAVE_S + LATE_S + 0.5, False)])
async def test_a_note_of_another_process_may_be_missing_once(
    database: Database, notes_ago_s: float, kept: bool
) -> None:
    """By the time that this process looks, the note is older than the last one that is known to have come through."""
    async with served(database.service_url, work=False) as one:
        debate = (await one.submit(ending()))["debateId"]
        async with listening(one, debate):
            pass
        with psycopg.connect(database.admin_url) as admin:
            admin.execute(
                "UPDATE gainsay.listener SET process = 'other', seen = clock_timestamp() - make_interval(secs => %s)",
                [notes_ago_s - LEAVE_S],
            )
        if kept:
            await stays(one, debate)
        else:
            await ended(one, debate)


async def test_notes_of_no_use_are_taken_away_and_whoever_listens_on_is_noted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever became of their debates; one that is listened to meanwhile stays, or comes back with the next note."""
    ids = [str(UUID(int=n)) for n in range(1, 4)]
    add_heads(database, 4)
    async with Pool.open(database.service_url, size=4) as store:
        for process, debate, ago_s in (("gone", ids[0], 61.0), ("late", ids[1], 61.0), ("other", ids[2], 58.0)):
            await store.query("listen", {"process": process, "debates": [UUID(debate)], "tenants": ["default"]})
            with psycopg.connect(database.admin_url) as admin:
                admin.execute(
                    "UPDATE gainsay.listener SET seen = seen - make_interval(secs => %s) WHERE debate = %s",
                    [ago_s, debate],
                )
        leavers = DisconnectWatch(store, "here", stays_put)
        leavers.listener_joined(str(UUID(int=4)), "default")
        await until(lambda: noted(database) == {ids[2]: "other", str(UUID(int=4)): "here"})
        late = DisconnectWatch(store, "late", stays_put)
        late.listener_joined(ids[1], "default")
        await until(lambda: noted(database).get(ids[1]) == "late")
        await asyncio.gather(leavers.close(), late.close())


async def test_a_listener_that_is_noting_itself_is_waited_for_by_nobody_and_taken_away_by_nobody(
    database: Database,
) -> None:
    """Its note is old and is being renewed in the very moment that another process takes old ones away."""
    add_heads(database, 2)
    async with Pool.open(database.service_url, size=2) as store:
        for n in (1, 2):
            await store.query("listen", {"process": "here", "debates": [UUID(int=n)], "tenants": ["default"]})
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("UPDATE gainsay.listener SET seen = seen - interval '1 hour'")
        with psycopg.connect(database.admin_url) as noting:
            noting.execute("UPDATE gainsay.listener SET seen = clock_timestamp() WHERE debate = %s", [UUID(int=1)])
            gone = await within(5, store.query("forget_listeners", {"unseen": UNSEEN_S}))
        assert len(gone) == 1
    assert noted(database) == {str(UUID(int=1)): "here"}


async def stays_put(_debate: str, _tenant: str, _why: str) -> None:
    raise AssertionError("nobody has left")


def add_heads(database: Database, number: int) -> None:
    """Put debates 1 to ``number`` of the tenant ``default`` there, without their records."""
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "INSERT INTO gainsay.debate_head "
            "(debate, tenant, log, task_type, state, next_n, last_hash, ceiling, granted)"
            " SELECT lpad(to_hex(n), 32, '0')::uuid, 'default', 'l', 'contract', 'running', 3, '', 1, 1"
            " FROM generate_series(1, %s) AS n",
            [number],
        )


def noted(database: Database) -> dict[str, str]:
    """By whom each debate was last noted as listened to."""
    with psycopg.connect(database.admin_url) as admin:
        return {
            str(debate): process for debate, process in admin.execute("SELECT debate, process FROM gainsay.listener")
        }


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it does not come to that")


async def test_notes_that_do_not_get_through_are_told_once_until_they_do(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def told() -> int:
        return sum("listeners are not recorded" in record.message for record in caplog.records)

    async with served(database.service_url, work=False) as site:
        debate = (await site.submit(ending()))["debateId"]
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            for times in (1, 2):
                admin.execute("REVOKE INSERT, UPDATE ON gainsay.listener FROM gainsay_writer")
                async with listening(site, debate):
                    await asyncio.sleep(3 * LEAVE_S)
                    assert told() == times
                    admin.execute("GRANT INSERT, UPDATE ON gainsay.listener TO gainsay_writer")
                    await asyncio.sleep(2 * LEAVE_S)


async def test_old_notes_that_cannot_be_taken_away_are_no_trouble_to_new_ones(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disconnect, "TIDIED", 2)
    asked: list[str] = []

    class Told(Pool):
        """A pool that says what it was asked."""

        async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
            asked.append(name)
            return await super().query(name, params)

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute("REVOKE DELETE ON gainsay.listener FROM gainsay_writer")
    async with Told.open(database.service_url, size=2) as store:
        leavers = DisconnectWatch(store, "here", stays_put)
        leavers.listener_joined(str(UUID(int=1)), "default")
        await until(lambda: len(asked) >= 6)
        await leavers.close()

    assert asked[:6] == ["listen", "forget_listeners", "listen", "listen", "forget_listeners", "listen"]
    assert "listeners are not recorded" not in caplog.text


async def test_an_abort_that_cannot_be_recorded_is_tried_again(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        debate = (await site.submit(ending()))["debateId"]
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            async with listening(site, debate):
                admin.execute("REVOKE INSERT ON gainsay.entry FROM gainsay_api")
            await stays(site, debate)
            admin.execute("GRANT INSERT (debate, n, leaf, tenant) ON gainsay.entry TO gainsay_api")
        await ended(site, debate)
