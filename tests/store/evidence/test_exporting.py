"""An export streams the records of a log under one signed head: all, or those of its filters with their paths."""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from io import StringIO
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.checkpoint import open_checkpoint
from service.audit.export import COLUMNS, Row, read
from service.audit.record import open_leaf
from service.errors import AuditUnavailable, BadRequest, NotFound, NotProvable
from service.identity.caller import Caller
from service.prompts import DIRECTORY
from service.reviews.evidence import Filters, log_export
from service.store.proofs import LogDamaged
from tests.fixtures.running import TEXT
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import House, examined, wrong

DOCUMENT = sha256(TEXT.encode()).hexdigest()
PROMPT = sha256((DIRECTORY / "critic.v1.md").read_bytes()).hexdigest()


def rows(lines: list[bytes]) -> list[Row]:
    return list(read(lines)[1])


def debates(lines: list[bytes]) -> set[str]:
    return {open_leaf(row.leaf.encode()).debate for row in rows(lines)}


async def test_an_export_without_filters_has_every_record_as_it_is_stored_and_proves_itself(house: House) -> None:
    for make in (house.debated, house.declined):
        await make()
    stored = house.rows(
        "SELECT l.idx, e.leaf, p.body, encode(p.salt, 'hex'), c.body, encode(c.salt, 'hex') FROM leaf l "
        "JOIN entry e USING (debate, n) JOIN payload p USING (debate, n) LEFT JOIN context c USING (debate) "
        "ORDER BY idx"
    )

    lines = await house.export()
    header, found = read(lines)

    assert wrong(examined(lines)) == {}
    assert (header.complete, header.filters, header.size) == (True, {}, len(stored))
    assert [
        (r.index, r.leaf.encode(), (r.payload or "").encode(), r.salt, (r.context or "").encode(), r.context_salt)
        for r in found
    ] == stored
    assert open_checkpoint(header.checkpoint.encode(), [KEY.public])[0].size == header.size
    assert header.key == KEY.public.encode()


async def test_records_that_belong_to_no_debate_are_exported_too_and_have_no_context(house: House) -> None:
    await house.debated()
    await house.export()
    await house.sequencer.catch_up()

    (note,) = [row for row in rows(await house.export()) if "audit.read" in row.leaf]

    assert json.loads(note.payload or "") == {
        "kind": "audit.read",
        "what": "records",
        "asked": {"form": "jsonl", "log": LOG},
    }
    assert (note.context, note.context_salt) == (None, None)


async def test_filters_let_pass_the_debates_that_they_are_about_each_with_its_path(house: House) -> None:
    debated, declined = await house.debated(), await house.declined()
    other = await house.debated(taskType="security", documents=[{"id": "X", "title": "X", "text": "Another text."}])
    model = house.rows("SELECT value FROM rests_on WHERE what = 'model' AND debate = %s", debated)[0][0]
    cases: list[tuple[dict[str, str], set[str]]] = [
        ({"taskType": "contract"}, {debated}),
        ({"taskType": "security"}, {other}),
        ({"status": "declined"}, {declined}),
        ({"status": "completed"}, {debated, other}),
        ({"model": model}, {debated, other}),
        ({"model": "nobody's"}, set()),
        ({"prompt": PROMPT}, {debated, other}),
        ({"prompt": "00" * 32}, set()),
        ({"document": DOCUMENT}, {debated, declined}),
        ({"document": DOCUMENT, "status": "completed"}, {debated}),
        ({"since": "2020-01-01", "taskType": "contract"}, {debated}),
        ({"until": "2020-01-01"}, set()),
    ]
    everything = {row.index: row for row in rows(await house.export())}

    for asked, expected in cases:
        lines = await house.export(asked)
        header, _ = read(lines)

        assert (header.complete, header.filters.keys()) == (False, asked.keys()), asked
        assert debates(lines) == expected, asked
        assert all(row.path is not None and replace(row, path=None) == everything[row.index] for row in rows(lines))
        assert wrong(examined(lines)) == {}, asked


async def test_neighbouring_ranges_of_time_have_every_record_once(house: House) -> None:
    for _ in range(3):
        await house.debated()
    batches = house.rows("SELECT first, at FROM batch ORDER BY first")
    cuts = [at.isoformat() for _, at in batches[1:]]

    ranges = [{"until": cuts[0]}, {"since": cuts[0], "until": cuts[1]}, {"since": cuts[1]}]
    found = [[row.index for row in rows(await house.export(asked))] for asked in ranges]

    assert [indexes[0] for indexes in found] == [first for first, _ in batches]
    size = sum(len(indexes) for indexes in found)
    assert [index for indexes in found for index in indexes] == list(range(size))


async def test_a_time_in_another_zone_is_the_same_time(house: House) -> None:
    await house.debated()

    assert Filters.of({"since": "2026-01-31T09:30:00+02:00"}) == Filters.of({"since": "2026-01-31T07:30:00Z"})
    assert Filters.of({"since": "2026-01-31"}) == Filters.of({"since": "2026-01-31T00:00:00Z"})
    assert Filters.of({"since": "2026-01-31"}).asked == {"since": "2026-01-31T00:00:00Z"}


async def test_what_is_written_meanwhile_is_not_part_of_an_export(house: House) -> None:
    await house.debated()
    stream = await house.stream()
    first = await anext(stream)

    await house.debated()
    lines = b"".join([first, *[chunk async for chunk in stream]]).splitlines(keepends=True)

    assert read(lines)[0].size == len(rows(lines)) == 25
    assert wrong(examined(lines)) == {}


@given(st.integers(1, 9), st.integers(1, 30), st.sampled_from([{}, {"taskType": "contract"}, {"since": "2020-01-01"}]))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_is_read_at_once_the_same_is_exported(
    house: House, window: int, span: int, asked: dict[str, str]
) -> None:
    if not house.rows("SELECT FROM batch"):
        await house.debated()
        await house.declined()
    expected = [row.index for row in rows(await house.export(asked)) if "audit.read" not in row.leaf]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_export, "WINDOW", window)
        patch.setattr(log_export, "SPAN", span)
        chunks = [chunk async for chunk in await house.stream(asked)]

    lines = b"".join(chunks).splitlines(keepends=True)
    assert [row.index for row in rows(lines) if "audit.read" not in row.leaf] == expected
    assert max(chunk.count(b"\n") for chunk in chunks) <= window


async def test_csv_has_a_line_for_each_record(house: House) -> None:
    debate = await house.debated(useCase="=cmd|' /C calc'!A0", intendedUse="to price, and to sign")
    jsonl = rows(await house.export())

    text = b"".join([chunk async for chunk in await house.stream({"taskType": "contract"}, "csv")]).decode()
    found = list(csv.DictReader(StringIO(text, newline="")))

    assert tuple(found[0]) == COLUMNS
    assert [(int(line["index"]), line["payload"]) for line in found] == [(row.index, row.payload) for row in jsonl]
    assert {(line["debate"], line["taskType"], line["useCase"]) for line in found} == {
        (debate, "contract", "'=cmd|' /C calc'!A0")
    }
    assert text.endswith("\r\n")


async def test_that_somebody_is_handed_records_is_a_record_with_what_was_asked_for(house: House) -> None:
    await house.declined()

    await house.export({"status": "declined"}, "csv")

    ((body,),) = house.rows(
        "SELECT body FROM pending JOIN entry USING (debate, n) JOIN payload USING (debate, n) ORDER BY seq DESC LIMIT 1"
    )
    assert json.loads(body)["asked"] == {"log": LOG, "form": "csv", "status": "declined"}


async def test_nobody_is_handed_records_when_that_cannot_be_recorded(house: House) -> None:
    await house.declined()
    house.tamper("REVOKE INSERT ON pending FROM gainsay_writer")

    with pytest.raises(AuditUnavailable):
        await house.stream()


async def test_a_log_of_another_tenant_is_not_found_and_one_without_a_head_is_not_provable(house: House) -> None:
    await house.declined()
    other = "localhost/other/1"
    house.rows("INSERT INTO log_epoch VALUES (%s, 'other', 1, %s) RETURNING 1", other, KEY.public.encode())

    for log, caller in ((LOG, Caller(tenant="other")), ("localhost/default/2", Caller()), (other, Caller())):
        with pytest.raises(NotFound):
            await house.stream(log=log, caller=caller)
    with pytest.raises(NotProvable):
        await house.stream(log=other, caller=Caller(tenant="other"))


@pytest.mark.parametrize(
    "asked",
    [
        {"colour": "red"},
        {"status": "done"},
        {"taskType": ""},
        {"model": ""},
        {"prompt": "critic"},
        {"document": "AB" * 32},
        {"since": "yesterday"},
        {"since": "2026-13-01"},
        {"since": "2026-01-31T09:00:00"},
        {"until": "2026-01-31T25:00:00Z"},
        {"until": "0001-01-01T00:00:00+14:00"},
        {"until": ""},
        {"since": "2026-01-31", "until": "2026-01-31"},
        {"since": "2026-02-01", "until": "2026-01-31"},
    ],
)
def test_a_filter_that_nothing_could_be_found_by_is_refused(asked: dict[str, str]) -> None:
    with pytest.raises(BadRequest, match=next(iter(asked)) if "colour" not in asked else "filters among"):
        Filters.of(asked)


@pytest.mark.no_replay
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM leaf WHERE idx = 4",
        "DELETE FROM leaf WHERE idx = (SELECT max(idx) FROM leaf)",
        "DELETE FROM entry WHERE n = 4",
        "UPDATE payload SET body = '\\xff' WHERE n = 4",
    ],
)
async def test_an_export_breaks_off_where_a_record_is_gone_or_no_text(house: House, statement: str) -> None:
    await house.debated()
    house.tamper(statement)
    chunks: list[bytes] = []

    async def take() -> None:
        async for chunk in await house.stream():
            chunks.append(chunk)  # noqa: PERF401 - what came before it broke off is what matters

    with pytest.raises(LogDamaged):
        await take()
    assert b'{"records":' not in b"".join(chunks)


@pytest.mark.no_replay
async def test_a_lost_payload_is_exported_as_lost(house: House) -> None:
    await house.debated()
    house.tamper("DELETE FROM payload WHERE n = 4")

    lines = await house.export()

    assert [(row.payload, row.salt) for row in rows(lines) if row.payload is None] == [(None, None)]
    assert wrong(examined(lines)) != {}


async def test_a_filtered_export_is_not_handed_out_from_a_tree_that_was_changed(house: House) -> None:
    await house.debated()
    house.tamper("UPDATE leaf SET hash = sha256('another') WHERE idx = 4")

    with pytest.raises(LogDamaged):
        await house.export({"taskType": "contract"})


@pytest.mark.parametrize(
    ("since", "hint"), [("2026-01-31T09:00:00 01:00", "is written %2B$"), ("2026-01-31 09:00", "'$")]
)
def test_a_zone_that_lost_its_sign_in_an_address_is_explained(since: str, hint: str) -> None:
    with pytest.raises(BadRequest, match=hint):
        Filters.of({"since": since})


def test_the_filters_of_an_export_are_those_of_its_format() -> None:
    every: Any = {
        **dict.fromkeys(("prompt", "document"), "00" * 32),
        "since": "2026-01-31T00:00:00Z",
        "until": "2026-01-31T00:00:00.000001Z",
        "taskType": "contract",
        "status": "completed",
        "model": "alder-large",
    }

    assert Filters.of(every).asked == every
    assert Filters().asked == {}
    assert Filters().debates is None
