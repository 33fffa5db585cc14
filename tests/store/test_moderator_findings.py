"""A recorded tilt of a moderator asks for a person in each debate that it decides, until a person resolves it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from service.audit.moderator_events import ModeratorFound
from service.debate.entries import DebateConcluded, DebateStarted, Entry
from service.debate.model import HumanReview
from service.errors import BadRequest, NotFound
from service.reviews.moderator_findings import FindingDesk, above_limit
from service.store.current_log import CurrentLogs
from service.store.moderator_tilts import standing_tilts, tilts
from tests.end_to_end.processes import deployed
from tests.end_to_end.test_cli_server import Ended
from tests.fixtures.bundles import Draft, failed, verify
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, a_writer, bench
from tests.store.test_moderator_audit import (
    ENOUGH,
    IN_MARCH,
    an_item,
    audited,
    begin,
    moderators,
    question,
    ran,
    recording,
)

__all__ = ["begin"]

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
LIMIT = 650
NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057"


def a_desk(service: Bench) -> FindingDesk:
    return FindingDesk(service.database, CurrentLogs(service.database, "localhost"), a_writer("validator"))


def a_finding(entries: list[Entry], **changes: Any) -> ModeratorFound:
    """A finding about the moderator of a debate."""
    started = start_of(entries)
    plan = started.seat("moderator")
    found = ModeratorFound(
        finding=NOBODY,
        alias=plan.model,
        model=plan.model_name,
        prompt="moderator",
        pin=started.pins["moderator"],
        aspect="position",
        first=40,
        second=0,
        limit=LIMIT,
        since="2026-03-01T00:00:00Z",
        until="2026-05-01T00:00:00Z",
        audit="ab" * 32,
    )
    return replace(found, **changes)


def start_of(entries: list[Entry]) -> DebateStarted:
    return next(entry for entry in entries if isinstance(entry, DebateStarted))


def review_of(entries: list[Entry]) -> HumanReview:
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome.human_review


async def debated(service: Bench, n: int, **changes: Any) -> list[Entry]:
    return await service.entries(await service.run(question=question(n), **changes))


async def test_a_tilt_of_an_audit_above_the_limit_asks_for_a_person_until_it_is_resolved(
    database: Database, begin: Any
) -> None:
    begin(IN_MARCH)
    async with recording(database, swapped=True, first_slot_pull=1_000) as service:
        await ran(service, range(ENOUGH))
        audit = await audited(service)
        (found,) = above_limit(audit, LIMIT)
        assert (found.aspect, found.first, found.second) == ("position", 2 * ENOUGH, 0)
        assert list(above_limit(audit, 1_000)) == []
    begin(None)
    async with recording(database, accuracy=1_000) as service:
        desk = a_desk(service)
        before = await debated(service, 1)
        first = await desk.record(found, "default")
        again = await desk.record(found, "default")
        during = await service.run(question=question(2))
        assert first is not None
        assert again is None, "a finding about the same stands"
        await desk.resolve(first, "Ada Lovelace", "The prompt is replaced tonight.", "default")
        after = await debated(service, 3)
        entries = await service.entries(during)
        draft = Draft.read(database, during, service.deployment)
        (stored,) = await tilts(service.database, "default")

    assert [one.finding for one in start_of(entries).tilts] == [first]
    assert "moderatorTilt" in review_of(entries).reasons
    assert review_of(entries).required
    for others in (before, after):
        assert start_of(others).tilts == ()
        assert "moderatorTilt" not in review_of(others).reasons
    assert stored.resolved is not None
    assert (verify(draft.bundle()).code, failed(verify(draft.bundle()))) == (0, [])


async def test_what_asked_for_the_person_is_in_the_debate_s_own_record_and_cannot_be_taken_out(
    database: Database,
) -> None:
    async with recording(database, accuracy=1_000) as service:
        await a_desk(service).record(a_finding(await debated(service, 0)), "default")
        debate = await service.run(question=question(1))
        entries = await service.entries(debate)
        draft = Draft.read(database, debate, service.deployment)

    def no_reason(entry: dict[str, Any]) -> None:
        review = entry["outcome"]["humanReview"]
        review["reasons"] = [reason for reason in review["reasons"] if reason != "moderatorTilt"]
        review["required"] = bool(review["reasons"])

    assert failed(verify(draft.change(2, lambda entry: entry.pop("tilts")).bundle())) == ["outcome"]
    assert failed(verify(draft.change(len(entries) - 1, no_reason).bundle())) == ["outcome"]
    stranger = draft.change(2, lambda entry: entry["tilts"][0].update(model="nobody"))
    assert "seats" in failed(verify(stranger.bundle()))


async def test_another_model_prompt_task_type_tenant_and_format_are_not_asked_about(database: Database) -> None:
    panel = {"format": "panel", "debaters": 2, "maxRounds": 2, "questionType": "factual"}
    async with recording(database, accuracy=1_000) as service:
        usual = await debated(service, 0)
        desk = a_desk(service)
        others = (
            a_finding(usual, alias="elsewhere"),
            a_finding(usual, model="another-name"),
            a_finding(usual, pin=f"v9:{'cd' * 32}"),
            a_finding(usual, prompt="moderator.undocumented"),
            a_finding(usual, task_type="security"),
        )
        for found in others:
            assert await desk.record(found, "default") is not None
        assert await desk.record(a_finding(usual), "rival") is not None
        unasked = await debated(service, 1)
        security = await debated(service, 2, taskType="security")
        await desk.record(a_finding(usual), "default")
        in_panel = await debated(service, 3, options=panel)
        item = (await service.reviews.open_item(an_item(3), replace(CALLER, role="operator"))).debate
        assert await service.claim() == item
        await (await service.runner(item)).run()
        in_evaluation = await service.entries(item)
        asked = await debated(service, 4)

    assert start_of(unasked).tilts == ()
    assert len(start_of(security).tilts) == 1
    assert start_of(in_panel).tilts == ()
    assert start_of(in_evaluation).tilts == (), "an item of an evaluation decides nothing"
    assert len(start_of(asked).tilts) == 1


async def test_a_finding_is_resolved_once_by_one_who_says_why_and_rows_are_never_changed(database: Database) -> None:
    async with bench(database.service_url, moderators(accuracy=1_000)) as service:
        desk = a_desk(service)
        id_ = await desk.record(a_finding(await debated(service, 0)), "default")
        assert id_ is not None
        for unknown in (NOBODY, "not an id"):
            with pytest.raises(NotFound, match=r"there is no finding .*gainsay evaluate tilts"):
                await desk.resolve(unknown, "Ada", "why", "default")
        with pytest.raises(NotFound):
            await desk.resolve(id_, "Ada", "why", "rival")
        with pytest.raises(ValueError, match="length"):
            await desk.resolve(id_, "", "why", "default")
        assert len(await standing_tilts(service.database, "default")) == 1
        await desk.resolve(id_, "Ada", "The tilt is true.", "default")
        with pytest.raises(BadRequest, match="is resolved already"):
            await desk.resolve(id_, "Grace", "again", "default")
        assert await standing_tilts(service.database, "default") == ()
        assert await desk.record(a_finding(await debated(service, 1)), "default") is not None, "it may be found anew"
    for change in ("UPDATE moderator_tilt SET alias = 'x'", "DELETE FROM moderator_resolution"):
        with (
            psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin,
            pytest.raises(psycopg.DatabaseError, match="evidence is only ever added"),
        ):
            admin.execute(change.encode())


def test_a_finding_at_its_limit_is_none_and_a_record_of_one_is_refused() -> None:
    whole: dict[str, Any] = {
        "finding": NOBODY,
        "alias": "a",
        "model": "m",
        "prompt": "moderator",
        "pin": "v1",
        "aspect": "side",
    }
    whole |= {"since": "2026-03-01T00:00:00Z", "until": "2026-05-01T00:00:00Z", "audit": "ab" * 32, "limit": 650}
    with pytest.raises(ValueError, match=r"above 0\.65 of both, found 65 and 35"):
        ModeratorFound(**whole, first=65, second=35)
    assert ModeratorFound(**whole, first=35, second=66).second == 66


async def test_the_commands_record_a_tilt_list_it_and_resolve_it(
    database: Database, begin: Any, tmp_path: Path
) -> None:
    period = ("moderator", "--since", "2026-03-01", "--until", "2026-05-01")
    begin(IN_MARCH)
    async with recording(database, swapped=True, first_slot_pull=1_000) as service:
        await ran(service, range(ENOUGH))
    async with deployed(database, tmp_path) as deployment:

        async def run(*words: str) -> Ended:
            process = deployment.start("evaluate", *words)
            return Ended(await process.ends(), process.said, process.told)

        looked, none = await run(*period), await run("tilts")
        recorded, again = await run(*period, "--record"), await run(*period, "--record")
        listed = await run("tilts", "--json")
        (stored,) = json.loads(listed.out)
        refused = [
            await run("tilts", "--resolve", stored["finding"]),
            await run("tilts", "--resolve", stored["finding"], "--by", " ", "--why", "x"),
            await run("tilts", "--by", "Ada", "--why", "x"),
            await run("tilts", "--resolve", NOBODY, "--by", "Ada", "--why", "x"),
        ]
        resolved = await run("tilts", "--resolve", stored["finding"], "--by", "Ada Lovelace", "--why", "A new prompt.")
        after = await run("tilts")

    assert (looked.code, recorded.code, again.code) == (1, 1, 1), looked.err
    assert "above 65 %; --record asks for a person in each debate that it decides" in looked.err
    assert "no tilt is recorded" in none.out
    assert f"recorded as finding {stored['finding']} (default)" in recorded.err
    assert "a finding about it stands already (default)" in again.err
    assert (stored["aspect"], stored["taskType"], stored["resolved"]) == ("position", "contract", None)
    assert [one.code for one in refused] == [2] * 4, [one.err for one in refused]
    assert resolved.code == 0, resolved.err
    assert f"{stored['finding']}  " in after.out
    assert "position: resolved " in after.out
