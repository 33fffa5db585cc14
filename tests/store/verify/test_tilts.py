"""Starts beside the recorded tilts of their log: what a holder of the key changes is found, what is near is counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from service.audit.export import encode_row, read
from service.reviews import evidence
from service.store.current_log import CurrentLogs
from service.verify.earlier_logs import read_event
from service.verify.export import ExportSummary, check_line, verify_export
from service.verify.log import read_head
from service.verify.log_records import LogRecords
from service.verify.looks import Looks
from service.verify.steps import Differs, NotCheckable, Trust
from service.verify.tilts import Tilts
from tests.fixtures.bundles import failed, step
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, a_writer
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.store.test_moderator_audit import recording
from tests.store.test_moderator_findings import a_desk, a_finding, debated

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)
STRANGER = "01890a5d-ac96-774b-bcce-b302099a8057"
Change = Callable[[dict[str, Any]], object]


class Recorded(NamedTuple):
    """A log with a case before a finding, one under it, one after its resolution, and another one at the end."""

    lines: list[bytes]
    finding: str

    @property
    def records(self) -> list[ExportSummary]:
        """Every record with its envelope; the cases are three hours apart, and what happened is between them."""
        found = [check_line(row) for row in read(iter(self.lines))[1]]
        for n, debate in enumerate(debates_of(found)):
            found = at_hour(found, 3 * n, debate=debate)
        for kind, hour in {"moderator.found": 1, "moderator.resolved": 7}.items():
            found = at_hour(found, hour, kind=kind)
        return found


@pytest.fixture
async def recorded(database: Database) -> Recorded:
    async with recording(database, accuracy=1_000) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        finding = await desk.record(a_finding(await debated(service, 0)), "default")
        assert finding is not None
        await debated(service, 1)
        await debated(service, 2, options={"format": "panel", "debaters": 2, "questionType": "factual"})
        await desk.resolve(finding, "Ada Lovelace", "The prompt is replaced.", "default")
        await debated(service, 3)
        await debated(service, 4)
        await sequencer.catch_up()
        logs = CurrentLogs(service.database, "localhost")
        chunks = await evidence.export(
            service.database, logs, LOG, evidence.Filters.of({}), CALLER, a_writer("examiner"), form="jsonl"
        )
        return Recorded(b"".join([chunk async for chunk in chunks]).splitlines(keepends=True), finding)


def debates_of(records: Sequence[ExportSummary]) -> list[str]:
    return [one.envelope.debate for one in records if one.envelope and one.envelope.kind == "case.received"]


def start(n: int, records: Sequence[ExportSummary]) -> int:
    """The index of the start of the nth case."""
    return [i for i, one in enumerate(records) if one.envelope and one.envelope.kind == "debate.started"][n]


def place(kind: str, records: Sequence[ExportSummary]) -> int:
    return next(i for i, one in enumerate(records) if one.envelope and one.envelope.kind == kind)


def at_hour(records: Sequence[ExportSummary], hour: float, *, debate: str = "", kind: str = "") -> list[ExportSummary]:
    """The records of a debate, or of a kind, written this many hours after the beginning of a day."""
    at = f"{(datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)):%Y-%m-%dT%H:%M:%S}.000Z"
    found = list(records)
    for i, one in enumerate(found):
        assert one.envelope is not None
        if debate == one.envelope.debate or kind == one.envelope.kind:
            found[i] = replace(one, envelope=replace(one.envelope, recorded=at))
    return found


def edited(records: Sequence[ExportSummary], i: int, change: Change) -> list[ExportSummary]:
    found, payload = list(records), json.loads(records[i].payload or b"")
    change(payload)
    found[i] = replace(found[i], payload=json.dumps(payload, sort_keys=True, separators=(",", ":")).encode())
    return found


def without(records: Sequence[ExportSummary], i: int) -> list[ExportSummary]:
    return [*records[:i], *records[i + 1 :]]


def checked(records: Sequence[ExportSummary], log: str = LOG, *, unread: str = "") -> str:
    """What the starts come to, beside a record that cannot be read for this reason; raises `Differs`."""
    found = Tilts(log)
    if unread:
        found.pass_over(unread)
    for index, one in enumerate(records):
        assert one.envelope is not None
        assert one.payload is not None
        found.take(one.envelope, one.payload, index)
        if one.envelope.kind.startswith("moderator."):
            found.happened(read_event(one.envelope, one.payload), one.envelope)
    return found.end()


def named(finding: str, model: str) -> Change:
    return lambda entry: entry.update(tilts=[{"finding": finding, "model": model}])


async def test_a_whole_log_says_how_many_starts_it_compared_and_a_part_of_one_nothing(recorded: Recorded) -> None:
    whole = verify_export(iter(recorded.lines), TRUST)
    assert whole.failed == ()
    assert "4 starts compared with 1 findings about moderators" in step(whole, "logs").detail
    assert checked(recorded.records) == "4 starts compared with 1 findings about moderators"

    i = start(1, [check_line(row) for row in read(iter(recorded.lines))[1]])
    rows = list(read(iter(recorded.lines))[1])
    payload = json.loads(rows[i].payload or "")
    payload["tilts"][0]["model"] = "nobody"
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    lines = [*recorded.lines[: i + 1], encode_row(replace(rows[i], payload=text)), *recorded.lines[i + 2 :]]
    assert "logs" in failed(verify_export(iter(lines), TRUST, every=True))
    part = recorded.lines[0].replace(b'"complete":true', b'"complete":false')
    assert "logs" not in failed(verify_export(iter([part, *lines[1:]]), TRUST, every=True))


@pytest.mark.parametrize("kind", ["case.received", "debate.started"])
async def test_a_case_or_start_of_a_later_schema_is_claimed_by_no_comparison(recorded: Recorded, kind: str) -> None:
    records = recorded.records
    for i, one in enumerate(records):
        assert one.envelope is not None
        if one.envelope.kind == kind and one.envelope.debate == debates_of(records)[1]:
            records[i] = replace(one, envelope=replace(one.envelope, schema=99))

    with pytest.raises(NotCheckable, match=f"schema 99 of '{kind}' is not known to this build"):
        checked(records)


def expect_difference(what: str, records: list[ExportSummary], said: str, **members: str) -> None:
    with pytest.raises(Differs) as difference:
        checked(records, **members)
    shown = f"{difference.value.what} {difference.value.expected} {difference.value.found}"
    assert said in shown, (what, shown)
    assert difference.value.record is not None, what


async def test_what_a_start_names_or_leaves_out_is_judged_where_nothing_else_explains_it(recorded: Recorded) -> None:
    records, finding = recorded.records, recorded.finding
    before, under, after = (start(n, records) for n in (0, 1, 3))
    model = json.loads(records[under].payload or b"")["tilts"][0]["model"]
    found, resolved = place("moderator.found", records), place("moderator.resolved", records)
    early = edited(records, before, named(finding, model))
    wrong: list[tuple[str, list[ExportSummary], str]] = [
        ("left out", edited(records, under, lambda entry: entry.pop("tilts")), "among them"),
        ("never recorded", edited(records, under, named(STRANGER, model)), "recorded before"),
        ("no record of it", without(records, found), "recorded before"),
        ("recorded later", at_hour(early, 4, kind="moderator.found"), "before"),
        ("resolved before", edited(records, after, named(finding, model)), "resolved before"),
        ("another model", edited(records, found, lambda event: event.update(model="other")), "one about its model"),
        ("another prompt", edited(records, found, lambda event: event.update(pin="v9:00")), "one about its model"),
        ("another task type", edited(records, found, lambda event: event.update(taskType="security")), "its model"),
        ("not resolved", without(records, resolved), "among them"),
    ]
    for what, changed, said in wrong:
        expect_difference(what, changed, said)


async def test_what_no_unread_leaf_explains_fails_beside_one_and_the_rest_is_not_checkable(recorded: Recorded) -> None:
    records, finding = recorded.records, recorded.finding
    before, under, after = (start(n, records) for n in (0, 1, 3))
    model = json.loads(records[under].payload or b"")["tilts"][0]["model"]
    found, resolved = place("moderator.found", records), place("moderator.resolved", records)
    stale = edited(records, after, named(finding, model))
    left_out = edited(records, under, lambda entry: entry.pop("tilts"))
    early = at_hour(edited(records, before, named(finding, model)), 4, kind="moderator.found")
    for what, changed, said in (
        ("resolved before", stale, "resolved before"),
        ("resolved before, its finding unread", without(stale, found), "resolved before"),
        ("left out, resolved later", left_out, "among them"),
        ("recorded later", early, "recorded before"),
    ):
        expect_difference(what, changed, said, unread="a later one")
    for what, changed in (
        ("as recorded", records),
        ("a finding that may be unread", edited(records, before, named(STRANGER, model))),
        ("a finding whose record may be unread", without(records, found)),
        ("a resolution that may be unread", without(left_out, resolved)),
        ("named within an hour of its resolution", at_hour(stale, 8.5, kind="moderator.resolved")),
    ):
        with pytest.raises(NotCheckable, match="a later one"):
            pytest.fail(f"{what}: {checked(changed, unread='a later one')}")


async def test_a_whole_log_names_a_stale_finding_before_its_unread_leaf(recorded: Recorded) -> None:
    records, note = recorded.records, read_head(read(iter(recorded.lines))[0].checkpoint.encode())[0]
    after = start(3, records)
    model = json.loads(records[start(1, records)].payload or b"")["tilts"][0]["model"]
    happened = LogRecords(note, TRUST, None, Tilts(LOG), Looks(LOG, whole=True))
    happened.take(None, None, 0, b"", "an envelope of version 3")
    for one in edited(records, after, named(recorded.finding, model)):
        happened.take(one.envelope, one.payload, one.row.index, one.hash, one.unread)

    with pytest.raises(Differs, match="a finding that a start names"):
        happened.end()


async def test_a_later_log_that_names_what_it_resolved_differs_although_the_finding_is_of_another_log(
    recorded: Recorded,
) -> None:
    records = recorded.records
    model = json.loads(records[start(1, records)].payload or b"")["tilts"][0]["model"]
    stale = edited(records, start(3, records), named(recorded.finding, model))
    with pytest.raises(Differs) as difference:
        checked(without(stale, place("moderator.found", records)), "localhost/default/2")
    assert "resolved before" in difference.value.found


async def test_what_may_have_crossed_the_opening_of_a_case_is_counted_and_no_difference(recorded: Recorded) -> None:
    records, finding = recorded.records, recorded.finding
    under, after, last = (start(n, records) for n in (1, 3, 4))
    model = json.loads(records[under].payload or b"")["tilts"][0]["model"]
    late, name = edited(records, under, lambda entry: entry.pop("tilts")), named(finding, model)
    near = [
        at_hour(late, 2.5, kind="moderator.found"),
        at_hour(edited(records, after, name), 8.5, kind="moderator.resolved"),
        edited(records, last, named(STRANGER, model)),
        without(edited(records, after, name), place("moderator.resolved", records)),
    ]
    for n, changed in enumerate(near):
        assert "1 changes within an hour of a case are not judged" in checked(changed), n


async def test_a_finding_that_a_later_log_names_may_be_one_of_the_log_before(recorded: Recorded) -> None:
    records = recorded.records
    changed = without(records, place("moderator.found", records))

    assert "1 named ones would be of an earlier log" in checked(changed, "localhost/default/2")
    with pytest.raises(Differs):
        checked(changed, LOG)
