"""The looks at held splits that registrations record, against the log: one look fewer or more is found."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from service.audit.export import encode_row, read
from service.reviews import evidence
from service.reviews.evaluations import EvaluationDesk
from service.simulated.provider import OfflineProvider
from service.store.current_log import CurrentLogs
from service.verify.earlier_logs import read_event
from service.verify.export import ExportSummary, check_line, verify_export
from service.verify.log import read_head
from service.verify.log_records import LogRecords
from service.verify.looks import Looks
from service.verify.steps import Differs, NotCheckable, Trust
from tests.fixtures.bundles import failed, step
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, concluded, evaluating, registered_held
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)


class Recorded(NamedTuple):
    """A log of four evaluations of one held split: a scored one, one that ended without a score, and two under way."""

    lines: list[bytes]
    evaluations: list[str]

    @property
    def records(self) -> list[ExportSummary]:
        """Every record with its envelope, each evaluation an hour after the one before it."""
        found = [check_line(row) for row in read(iter(self.lines))[1]]
        for hour, evaluation in enumerate(self.evaluations):
            found = at_hour(found, hour, evaluation)
        return found


@asynccontextmanager
async def going_on(service: Bench, desk: EvaluationDesk) -> AsyncIterator[None]:
    async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
        yield


@pytest.fixture
async def recorded(database: Database) -> Recorded:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        scored = await registered_held(desk)
        await sequencer.catch_up()
        async with going_on(service, desk):
            await concluded(desk, scored, sequencer)
        unscored = await registered_held(desk)
        await desk.stop(unscored, "It was registered by mistake.", CALLER)
        async with going_on(service, desk):
            await concluded(desk, unscored, sequencer)
        under_way = [await registered_held(desk) for _ in range(2)]
        await sequencer.catch_up()
        logs = CurrentLogs(service.database, "localhost")
        chunks = await evidence.export(
            service.database, logs, LOG, evidence.Filters.of({}), CALLER, a_writer("examiner"), form="jsonl"
        )
        lines = b"".join([chunk async for chunk in chunks]).splitlines(keepends=True)
        return Recorded(lines, [scored, unscored, *under_way])


def of(evaluation: str, one: ExportSummary) -> bool:
    return bool(json.loads(one.payload or b"{}").get("evaluation") == evaluation)


def at_hour(records: Sequence[ExportSummary], hour: float, evaluation: str) -> list[ExportSummary]:
    """The records with the entries of an evaluation written so many hours after the beginning of a day."""
    at = f"{(datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)):%Y-%m-%dT%H:%M:%S}.000Z"
    found = list(records)
    for i, one in enumerate(found):
        assert one.envelope is not None
        if of(evaluation, one):
            found[i] = replace(one, envelope=replace(one.envelope, recorded=at))
        elif one.envelope.kind == "case.received":
            found[i] = replace(one, envelope=replace(one.envelope, recorded="2026-03-01T00:00:00.000Z"))
    return found


def registration(evaluation: str, records: Sequence[ExportSummary]) -> int:
    """The index of an evaluation's first entry."""
    return next(i for i, one in enumerate(records) if of(evaluation, one))


def edited(records: Sequence[ExportSummary], i: int, looks: int) -> list[ExportSummary]:
    found, payload = list(records), json.loads(records[i].payload or b"")
    asked = {name: value for name, value in payload["sets"][0].items() if name != "looks"}
    payload["sets"] = [{**asked, "looks": looks} if looks else asked]
    found[i] = replace(found[i], payload=json.dumps(payload, sort_keys=True, separators=(",", ":")).encode())
    return found


def without(records: Sequence[ExportSummary], leaves_out: Callable[[ExportSummary], bool]) -> list[ExportSummary]:
    return [one for one in records if not leaves_out(one)]


def checked(records: Sequence[ExportSummary], log: str = LOG, *, whole: bool = True) -> str:
    """What the looks come to; raises `Differs` and `NotCheckable`."""
    found = Looks(log, whole=whole)
    for index, one in enumerate(records):
        assert one.envelope is not None
        found.take(one.envelope)
        if one.envelope.kind.startswith(("evaluation.", "item.")):
            found.happened(read_event(one.envelope, one.payload or b""), one.envelope, index)
    return found.end(allowed=False)


def recorded_looks(records: Sequence[ExportSummary], evaluations: Sequence[str]) -> list[int]:
    found: list[dict[str, Any]] = [json.loads(records[registration(e, records)].payload or b"") for e in evaluations]
    return [one["sets"][0].get("looks", 0) for one in found]


async def test_a_whole_log_has_the_looks_that_its_registrations_record(recorded: Recorded) -> None:
    records = recorded.records
    assert recorded_looks(records, recorded.evaluations) == [0, 1, 1, 2], "one that ended without a score is no look"
    assert checked(records) == "4 numbers of looks at held splits counted again"
    whole = verify_export(iter(recorded.lines), TRUST)
    assert whole.failed == ()
    assert step(whole, "looks").detail.startswith("4 numbers of looks at held splits counted again")


async def test_a_registration_with_another_number_of_looks_is_found(recorded: Recorded) -> None:
    records, last = recorded.records, recorded.evaluations[-1]
    i = registration(last, records)
    with pytest.raises(Differs) as fewer:
        checked(edited(records, i, 1))
    assert f"the split held of tiny-critic before evaluation {last}" in fewer.value.what
    assert "ask the log's operator" in fewer.value.what
    assert (fewer.value.expected, fewer.value.found, fewer.value.record) == ("2", "1", i)

    third = registration(recorded.evaluations[2], records)
    for looks in (0, 2):
        with pytest.raises(Differs) as other:
            checked(edited(records, third, looks))
        assert (other.value.expected, other.value.found, other.value.record) == ("1", str(looks), third)

    rows = list(read(iter(recorded.lines))[1])
    payload = json.loads(rows[i].payload or "")
    payload["sets"][0]["looks"] = 1
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    lines = [*recorded.lines[: i + 1], encode_row(replace(rows[i], payload=text)), *recorded.lines[i + 2 :]]
    assert "looks" in failed(verify_export(iter(lines), TRUST, every=True))


@pytest.mark.parametrize("kind", ["evaluation.registered", "item.scored"])
async def test_an_event_of_a_later_schema_may_be_a_look_and_is_not_checkable(recorded: Recorded, kind: str) -> None:
    records, note = recorded.records, read_head(read(iter(recorded.lines))[0].checkpoint.encode())[0]
    for later in (False, True):
        happened = LogRecords(note, TRUST, None, None, Looks(LOG, whole=True))
        for one in records:
            assert one.envelope is not None
            of_later = later and of(recorded.evaluations[0], one) and one.envelope.kind == kind
            envelope = replace(one.envelope, schema=99) if of_later else one.envelope
            happened.take(envelope, one.payload, one.row.index, one.hash, one.unread)
        if not later:
            assert happened.looks() == "4 numbers of looks at held splits counted again"
            continue
        with pytest.raises(NotCheckable, match=f"schema 99 of '{kind}' is not known to this build") as gap:
            happened.looks()
        assert not gap.value.allowed


@pytest.mark.parametrize("place", ["in front", "behind"])
async def test_fewer_looks_than_are_certain_fail_beside_an_unread_leaf(recorded: Recorded, place: str) -> None:
    records, note = recorded.records, read_head(read(iter(recorded.lines))[0].checkpoint.encode())[0]
    scored, _, third, last = recorded.evaluations

    def looked(records: Sequence[ExportSummary], unread: int) -> str:
        happened = LogRecords(note, TRUST, None, None, Looks(LOG, whole=True))
        for index, one in enumerate(records):
            if index == unread:
                happened.take(None, None, index, b"", "an envelope of version 3")
            happened.take(one.envelope, one.payload, index, one.hash, one.unread)
        if unread == len(records):
            happened.take(None, None, unread, b"", "an envelope of version 3")
        return happened.looks()

    i = registration(last, records)
    unread = {"in front": i, "behind": len(records)}[place]
    with pytest.raises(Differs) as none:
        looked(edited(records, i, 0), unread)
    assert (none.value.expected, none.value.found) == ("1 or more" if place == "in front" else "2", "0")
    assert none.value.record == i
    for looks in (2,) if place == "behind" else (1, 2, 9):  # the third may have ended in the leaf, or more looked
        with pytest.raises(NotCheckable, match="an envelope of version 3"):
            looked(edited(records, i, looks), unread)

    entry = next(one for one in records if one.envelope and one.envelope.kind == "item.scored" and of(scored, one))
    going_on = replace(entry, payload=(entry.payload or b"").replace(scored.encode(), third.encode()))
    with pytest.raises(Differs) as fewer:
        looked([*edited(records, i, 1), going_on], unread)
    assert fewer.value.expected == ("2 or more" if place == "in front" else "2")


async def test_an_evaluation_that_is_left_out_is_found(recorded: Recorded) -> None:
    records, (scored, _, third, _) = recorded.records, recorded.evaluations
    with pytest.raises(Differs) as left_out:
        checked(without(records, lambda one: of(scored, one)))
    assert (left_out.value.expected, left_out.value.found) == ("0", "1")
    with pytest.raises(Differs) as unscored:
        checked(without(records, lambda one: of(scored, one) and b'"item.scored"' in (one.payload or b"")))
    assert (unscored.value.expected, unscored.value.found) == ("0", "1")

    near = "1 have more looks than the log has, near the end of the log's cases"
    assert near in checked(without(records, lambda one: of(third, one))), "the log may have been replaced meanwhile"
    later = "localhost/default/2"
    assert "which may be of an earlier log" in checked(without(records, lambda one: of(scored, one)), later)
    i = registration(recorded.evaluations[-1], records)
    with pytest.raises(Differs):
        checked(edited(records, i, 1), later)


async def test_an_end_shortly_before_a_registration_counts_either_way(recorded: Recorded) -> None:
    _, unscored, third, _ = recorded.evaluations
    records = at_hour(recorded.records, 1.9, unscored)
    third_at = registration(third, records)
    for looks in (1, 2):
        assert "1 evaluations that ended without a score shortly before" in checked(edited(records, third_at, looks))
    for looks in (0, 3):
        with pytest.raises(Differs) as found:
            checked(edited(records, third_at, looks))
        assert found.value.expected == "1 to 2"


async def test_a_part_of_a_log_says_that_looks_were_not_counted(recorded: Recorded) -> None:
    with pytest.raises(NotCheckable, match="LOOKS AS RECORDED") as gap:
        checked(recorded.records, whole=False)
    assert not gap.value.allowed

    part = recorded.lines[0].replace(b'"complete":true', b'"complete":false')
    for trust, accepted in ((TRUST, True), (replace(TRUST, records_only=False), False)):
        found = step(verify_export(iter([part, *recorded.lines[1:]]), trust, every=True), "looks")
        assert (found.state, found.allowed) == ("NOT CHECKABLE", accepted)
        assert "verify an export of the whole log" in found.detail
