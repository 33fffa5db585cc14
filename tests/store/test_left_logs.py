"""Debates of a log that lost records and that its tenant has left: workers end them without a call."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.debate.entries import DebateStopped
from service.store.left_logs import RecordsLost, refuse_lost
from service.store.queue import Renewed, renew_leases
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, CannedProvider, bench
from tests.store.workers import a_worker, over

pytestmark = pytest.mark.no_replay

LOG, NEXT = "localhost/default/1", "localhost/default/2"
WHAT = "the signer has signed a head of 6 records, and the database has 3"
EPOCHS = (
    "INSERT INTO gainsay.log_epoch (log, tenant, epoch, key) VALUES ('localhost/default/{n}', 'default', {n}, 'key')"
)
OPENED, FOLLOWED = EPOCHS.format(n=1), EPOCHS.format(n=2)
INCIDENT = f"INSERT INTO gainsay.incident (log, what) VALUES ('{LOG}', '{WHAT}')"
CLOSED = f"INSERT INTO gainsay.incident (log, what, closes) VALUES ('{LOG}', 'restored on 3 May; J. Doe', 1)"
HEAD = (
    "INSERT INTO gainsay.checkpoint (log, size, root, note, at) "
    f"VALUES ('{LOG}', {{size}}, sha256(''), '', clock_timestamp() + interval '{{after}}')"
)


def does(database: Database, *statements: str) -> None:
    """What a sequencer, a rotation or a person has written."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for statement in statements:
            admin.execute(statement.encode())


async def test_a_worker_ends_a_debate_of_a_log_that_was_left_without_a_call(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    provider = CannedProvider()
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        does(database, OPENED, INCIDENT, CLOSED, FOLLOWED)

        async with a_worker(service):
            outcome = await over(service, debate)

        assert (outcome.status, outcome.stop_reason, provider.calls) == ("failed", "auditUnavailable", {})
        assert (await read_head(service.database, debate, "default"))["spent"] == 0
        (stop,) = [entry for entry in await service.entries(debate) if isinstance(entry, DebateStopped)]
        assert f"{LOG}: {WHAT}" in stop.why
    said = [record.__dict__ for record in caplog.records if record.__dict__.get("event") == "debate.log_left"]
    assert [line["debate"] for line in said] == [debate]


async def test_a_debate_under_way_makes_no_further_call_once_its_log_is_left(database: Database) -> None:
    """The call in flight is charged as one whose reply was lost, and who ends the debate is not cancelled again."""
    provider = CannedProvider(latency_s=60.0)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        async with a_worker(service, lease_s=0.6):
            while not provider.calls:  # noqa: ASYNC110 - the provider has no event
                await asyncio.sleep(0.01)
            does(database, OPENED, INCIDENT, FOLLOWED)
            outcome = await over(service, debate)

    assert (outcome.status, outcome.stop_reason) == ("failed", "auditUnavailable")
    assert sum(provider.calls.values()) == 1


LEFT = (OPENED, INCIDENT, FOLLOWED)
GOES_ON = {
    "no incident": (OPENED, FOLLOWED),
    "an incident and no next log": (OPENED, INCIDENT),
    "an incident of the next log": (OPENED, FOLLOWED, INCIDENT.replace(LOG, NEXT)),
    "an incident of another tenant's log": (OPENED, FOLLOWED, INCIDENT.replace(LOG, "localhost/bank/1")),
    "signed again since": (*LEFT, HEAD.format(size=9, after="2 minutes")),
}


@pytest.mark.parametrize("name", GOES_ON)
async def test_a_debate_of_a_log_that_goes_on_is_run(database: Database, name: str) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        does(database, *GOES_ON[name])

        await refuse_lost(service.database, debate, "default")
        async with a_worker(service):
            assert (await over(service, debate)).status == "completed"


@pytest.mark.parametrize("after", ["-1 hour", "1 second"])
async def test_a_head_of_before_and_one_of_a_clock_that_is_ahead_heal_no_log(database: Database, after: str) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        does(database, *LEFT, HEAD.format(size=3, after=after))

        with pytest.raises(RecordsLost) as found:
            await refuse_lost(service.database, debate, "default")
        assert (found.value.status, found.value.code) == (410, "records_lost")
        assert f"the log {LOG} has lost records" in found.value.detail
        assert f"{NEXT} has followed it" in found.value.detail
        await refuse_lost(service.database, debate, "bank")


async def test_a_lease_says_whether_its_log_was_left(database: Database) -> None:
    async with bench(database.service_url) as service:
        before, after = await _renewed(service, database)

    assert (before.adrift, after.adrift) == (False, True)


async def _renewed(service: Bench, database: Database) -> tuple[Renewed, Renewed]:
    await service.submit()
    debate = await service.claim(lease_s=30.0)
    held = [service._claims[debate]]
    before = await renew_leases(service.database, "test", 30.0, held)
    does(database, *LEFT)
    return before[debate], (await renew_leases(service.database, "test", 30.0, held))[debate]
