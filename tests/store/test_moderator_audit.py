"""Moderators audited on recorded debates of a real database: simulated models with known pulls; what is left out.

Debates of an earlier month are opened with the ids that they would have had then.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec
import psycopg
import pytest
from msgspec.structs import replace

from service.audit.log_events import AuditRead
from service.debate.entries import EvaluationItem
from service.errors import BadRequest, NotFound
from service.evaluation.moderators.audit import ModeratorAudit, audit_of, encode, headline
from service.evaluation.scoring.result import Finding
from service.evaluation.sets.key_line import KeyLine, hash_of_case, hash_of_material
from service.evaluation.statistics import compute
from service.identity.caller import Caller
from service.intake.request import DocumentRequest, OptionsRequest
from service.policy import Budgets
from service.policy.known_faults import ModelFaults
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.reviews import EvaluationCase
from service.reviews.moderator_audit import AuditRequest, ModeratorAuditor
from service.simulated import MODELS
from service.simulated.faulty import FaultyModels
from service.simulated.known_cases import KnownCases
from service.simulated.provider import OfflineProvider
from service.store.current_log import CurrentLogs
from service.store.sealing import uuid7
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, TEXT, Bench, a_request, a_writer, bench

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
CASES = 60
ENOUGH = 24
"""Debates of an audit that can say something: 23 have to be decided."""
MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5))
IN_MARCH, IN_APRIL = (at.timestamp() + 10 * 86_400 for at in (MARCH, APRIL))
PERIOD = AuditRequest(("default",), MARCH, MAY)


def question(n: int) -> str:
    return f"Does this agreement leave us with uncapped liability in version {n}?"


def key_line(n: int, right: str = "yes") -> KeyLine:
    """A case that models with known faults know again; its proposition states "yes"."""
    material = hash_of_material({"D1": TEXT}, ())
    case = (material, hash_of_case(question(n), material), question(n))
    return KeyLine(*case, "questions", right, ("yes", "no"), "It does.", "yes")


def moderators(**shares: Any) -> OfflineProvider:
    """All models with these faults in the cases of the key."""
    lines = [key_line(n) for n in range(CASES)]
    return OfflineProvider(faulty=FaultyModels(dict.fromkeys(MODELS, ModelFaults(**shares)), KnownCases(lines)))


@asynccontextmanager
async def recording(database: Database, *, swapped: bool = False, **shares: Any) -> AsyncIterator[Bench]:
    """A service whose moderators have these faults; where orders are ``swapped``, each is asked twice."""
    shipped = read_policy(SHIPPED_POLICY)
    debate = replace(shipped.debate, swap_above=0 if swapped else None)
    policy = replace(shipped, budgets=Budgets(), debate=debate)
    async with bench(database.service_url, moderators(**shares), policy=policy) as service:
        yield service


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Gives new debates the ids of an earlier time, or again those of their own."""

    def at(seconds: float | None) -> None:
        monkeypatch.setattr("service.reviews.opening.uuid7", lambda now: uuid7(now if seconds is None else seconds))

    return at


async def ran(service: Bench, cases: range, **changes: Any) -> list[str]:
    return [await service.run(question=question(n), **changes) for n in cases]


async def audited(service: Bench, asked: AuditRequest = PERIOD) -> ModeratorAudit:
    logs = CurrentLogs(service.database, "localhost")
    return await ModeratorAuditor(service.database, logs, a_writer("auditor")).audit(asked)


def found(audit: ModeratorAudit, aspect: str, task_type: str = "contract") -> Finding:
    (one,) = [f for f in audit.findings if f.about == ("m1", task_type, aspect)]
    return one


def readings(database: Database) -> list[Any]:
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        rows = admin.execute(
            "SELECT p.body FROM entry e JOIN payload p USING (debate, n) "
            "WHERE convert_from(e.leaf, 'utf8')::json->>'kind' = 'audit.read' ORDER BY e.debate"
        )
        return [msgspec.json.decode(body, type=AuditRead) for (body,) in rows]


async def test_a_moderator_that_goes_by_the_place_is_seen_on_recorded_debates(database: Database, begin: Any) -> None:
    begin(IN_MARCH)
    async with recording(database, swapped=True, first_slot_pull=1_000) as service:
        await ran(service, range(ENOUGH + 6))
        audit = await audited(service)

    place = audit.figure("position/m1/contract")
    assert found(audit, "position").outcome == "tilt"
    assert headline(audit) == "tilt"
    assert place.input["pairs"] == [["first", "first"]] * (ENOUGH + 6)
    assert place.output["consistent"] == 0
    side = audit.figure("side/m1/contract")
    assert side.output["decided"] == ENOUGH + 6
    assert {side.input["first"], side.input["second"]} != {0, ENOUGH + 6}
    assert audit.family == ("side/m1/contract", "position/m1/contract")


async def test_an_even_moderator_that_is_always_right_tilts_where_the_cases_do_and_the_audit_says_so(
    database: Database, begin: Any
) -> None:
    """Each case here is right for the proposer: the tilt is true, and nothing on these records could tell."""
    async with recording(database, swapped=True, accuracy=1_000) as service:
        begin(IN_MARCH)
        await ran(service, range(ENOUGH // 2))
        begin(IN_APRIL)
        await ran(service, range(ENOUGH // 2, ENOUGH))
        audit = await audited(service)
        weekly = await audited(service, replace(PERIOD, every="week"))
        march = await audited(service, replace(PERIOD, until=APRIL))

    assert found(audit, "side").outcome == "tilt"
    assert found(audit, "position").outcome == "noneSeen"
    side = audit.figure("side/m1/contract")
    assert (side.input, side.output["decided"]) == ({"first": ENOUGH, "second": 0, "ties": 0}, ENOUGH)
    said = next(text for text in audit.said("finding") if "a tilt to the proposer was seen" in text)
    assert "a tilt may be true" in said
    (series,) = audit.series
    assert [window.name for window in series.windows] == ["2026-03", "2026-04"]
    assert [audit.figure(w.side).output["decided"] for w in series.windows] == [ENOUGH // 2, ENOUGH // 2]
    assert {w.side_adjusted for w in series.windows} == {None}, "a window under 23 decided cases is adjusted with none"
    assert sum(weekly.figure(w.side).output["decided"] for w in weekly.series[0].windows) == ENOUGH
    assert (found(march, "side").outcome, headline(march)) == ("notEnough", "notEnough")
    for figure in (*audit.figures, *weekly.figures):
        assert compute(figure.statistic, figure.input) == figure.output, figure.id
    assert audit_of(encode(audit)) == audit
    assert readings(database) == [
        AuditRead("moderators", asked={"since": "2026-03-01T00:00:00Z", "until": until})
        for until in ("2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z", "2026-04-01T00:00:00Z")
    ]


def an_item(n: int) -> EvaluationCase:
    """A case that an evaluation asks in the place of a caller."""
    return EvaluationCase(
        evaluation=ITEM,
        question=question(n),
        task_type="contract",
        documents=(DocumentRequest(TEXT, "D1", "Master agreement"),),
        options=OptionsRequest(format="adversarial", max_rounds=1),
    )


ITEM = EvaluationItem("0199c0de-0000-7000-8000-00000000e7a1", "0e" * 32, "0f" * 32, "clause-12", "debate", 1)
PANEL = {"format": "panel", "debaters": 2, "maxRounds": 2, "questionType": "factual"}
POSITIONS = {
    "format": "adversarial",
    "maxRounds": 1,
    "positions": [{"id": "keep", "text": "Keep it."}, {"id": "end", "text": "End it."}],
}


async def test_what_decides_nothing_between_two_sides_counts_for_no_moderator_and_is_told(
    database: Database, begin: Any
) -> None:
    begin(IN_MARCH)
    async with recording(database, accuracy=1_000) as service:
        await ran(service, range(3))
        usual, service.deployment = service.deployment, replace(service.deployment, probe=True)
        await ran(service, range(3, 4), metadata={"purpose": "probe"})
        service.deployment = usual
        await ran(service, range(4, 5), options=PANEL)
        await ran(service, range(5, 6), options=POSITIONS)
        item = (await service.reviews.open_item(an_item(6), replace(CALLER, role="operator"))).debate
        assert await service.claim() == item
        await (await service.runner(item)).run()
        (spoilt,) = await ran(service, range(7, 8))
        await service.submit(question=question(8))
        declined = await service.reviews.submit(
            a_request(estimatedDownside=1, confidenceScore=0.99, materiality="low"), CALLER
        )
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
            admin.execute("ALTER TABLE payload DISABLE TRIGGER USER")
            admin.execute("UPDATE payload SET body = body || ' ' WHERE debate = %s AND n = 3", [spoilt])
        audit = await audited(service)

    assert declined.debate
    assert audit.read.left == dict.fromkeys(("damaged", "evaluation", "format", "positions", "probe", "underWay"), 1)
    assert (audit.read.debates, audit.read.counted) == (9, 3)
    assert audit.figure("side/m1/contract").input["first"] == 3
    assert any(text.startswith("Of 9 debates that began in the period, 3 count") for text in audit.said("excluded"))


async def test_moderators_are_told_apart_by_tenant_task_type_and_model(database: Database, begin: Any) -> None:
    begin(IN_MARCH)
    async with recording(database, accuracy=1_000) as service:
        await ran(service, range(2))
        await ran(service, range(2, 4), taskType="security")
        other = (await service.reviews.submit(a_request(question=question(4)), Caller(tenant="rival"))).debate
        assert await service.claim() == other
        await (await service.runner(other)).run()
        policy = service.policy
        seats = dict(policy.seats)
        before = await audited(service)
    moved = {**seats, "moderator": replace(seats["moderator"], model="alder-small", alternatives=())}
    async with bench(database.service_url, moderators(accuracy=1_000), policy=replace(policy, seats=moved)) as service:
        await ran(service, range(5, 6))
        both = await audited(service)
        of_contract = await audited(service, replace(PERIOD, task_types=("contract",)))
        of_two = await audited(service, replace(PERIOD, tenants=("rival", "default")))

    def counted(audit: ModeratorAudit) -> Mapping[tuple[str, str], int]:
        return {(audit.moderator(one.moderator).alias, one.task_type): one.debates for one in audit.series}

    assert set(counted(before).values()) == {4, 2}
    assert {alias for alias, _ in counted(before)} == {before.moderators[0].alias}
    assert {task_type for _, task_type in counted(before)} == {"*", "contract", "security"}
    assert counted(both)["alder-small", "contract"] == 1
    assert len(both.moderators) == 2
    assert all(len(one.sha256) == 64 and one.version == "v1" for one in both.moderators)
    assert of_contract.read.debates == 3
    assert of_two.read.debates == both.read.debates + 1


async def test_a_period_that_is_none_and_a_tenant_without_a_debate_are_refused(database: Database) -> None:
    async with recording(database) as service:
        await service.run(question=question(0))
        for asked in (replace(PERIOD, until=MARCH), replace(PERIOD, until=datetime(2100, 1, 1, tzinfo=UTC))):
            with pytest.raises(BadRequest):
                await audited(service, asked)
        with pytest.raises(NotFound, match=r"the tenant 'nobody' has no debate here; name one"):
            await audited(service, replace(PERIOD, tenants=("default", "nobody")))

    assert readings(database) == [], "nothing was read"
