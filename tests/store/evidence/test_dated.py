"""A bundle has the countersigned heads between which its debate lies, by the database's clock and not by a record's."""

from __future__ import annotations

import time
from uuid import UUID

from msgspec.structs import replace

from service.audit.bundle import unpack
from service.audit.checkpoint import Checkpoint, cosign, open_checkpoint, parse_checkpoint
from service.audit.earlier_head import parse_earlier_head
from service.audit.note import COSIGNATURE, SigningKey, parse_note
from service.audit.record import moment, open_leaf
from service.cli.audit.verify import tools
from service.reviews.opening import Earlier, prepare
from service.store.clock import DatabaseTime
from service.store.rotation import next_log, open_next
from service.store.sealing import open_debate
from service.verify.bundle import verify_bundle
from service.verify.steps import VerificationReport
from tests.fixtures.bundles import failed, step, uncheckable
from tests.fixtures.running import CALLER, a_request
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import EXAMINER, TRUST, House

WITNESS = SigningKey.from_seed("one.example", b"\x03" * 32, COSIGNATURE)
PINNED = replace(TRUST, witnesses=(WITNESS.public,), allow_unwitnessed=False)
KEEP = "INSERT INTO cosignature (log, size, witness, line, at) VALUES (%s, %s, %s, %s, to_timestamp(%s)) RETURNING size"


def countersign(house: House, log: str = LOG, at: float | None = None) -> int:
    """Let the witness countersign the latest head of a log, now or with another time; its size."""
    ((size, note),) = house.rows("SELECT size, note FROM checkpoint WHERE log = %s ORDER BY size DESC LIMIT 1", log)
    head, _ = open_checkpoint(bytes(note), [KEY.public])
    seconds = at or time.time()
    house.rows(KEEP, log, size, WITNESS.public.name, cosign(head, int(seconds), WITNESS), seconds)
    return int(size)


def checked(data: bytes) -> VerificationReport:
    return verify_bundle(data, PINNED, tools())


def sizes(data: bytes) -> dict[str, int]:
    """The sizes of the earlier heads of a bundle, by file."""
    files = unpack(data).files
    return {path: size_of(files[path]) for path in files if path.startswith("times/")}


def size_of(file: bytes) -> int:
    head: Checkpoint = parse_checkpoint(parse_note(parse_earlier_head(file).checkpoint).text)
    return head.size


async def test_a_debate_lies_between_the_last_head_without_it_and_the_first_with_all_of_it(house: House) -> None:
    await house.declined()
    older = countersign(house)
    await house.declined()
    before = countersign(house)
    debate = await house.debated()
    first = countersign(house)
    await house.declined()
    newest = countersign(house, at=time.time() + 3)

    data = await house.bundle(debate)
    report = checked(data)

    assert older < before < first < newest
    assert sizes(data) == {"times/before.txt": before, "times/first.txt": first}
    assert (failed(report), uncheckable(report)) == ([], [])
    assert step(report, "times").detail.startswith("recorded between ")


async def test_the_first_debate_of_a_log_lies_before_its_first_head_and_is_no_gap(house: House) -> None:
    debate = await house.debated()
    first = countersign(house)

    data = await house.bundle(debate)

    assert sizes(data) == {"times/first.txt": first}
    assert (checked(data).code, uncheckable(checked(data))) == (0, [])


async def test_a_log_without_witnesses_has_no_such_heads(house: House) -> None:
    assert sizes(await house.bundle(await house.debated())) == {}


async def test_a_head_that_was_countersigned_while_the_record_waited_dates_nothing(house: House) -> None:
    """A sequencer that was away: the witness signs the old head when the debate is durable, and not in the log."""
    await house.declined()
    before = countersign(house)
    await house.declined()
    late = await house.desk.submit(taskType="other")
    ((stored,),) = house.rows("SELECT leaf FROM entry WHERE debate = %s AND n = 0", UUID(late))
    recorded = moment(open_leaf(bytes(stored)).recorded) / 1_000_000
    size = countersign(house, at=recorded + 60)
    await house.sequencer.catch_up()
    countersign(house, at=recorded + 61)

    data = await house.bundle(late)

    assert size > before
    assert sizes(data)["times/before.txt"] == before
    assert failed(checked(data)) == []


async def test_a_debate_that_its_writer_dates_back_fails_by_the_databases_clock(house: House) -> None:
    await house.declined()
    before = countersign(house)
    yesterday = DatabaseTime(time.time() - 86_400, time.monotonic())
    case, deployment = a_request(taskType="other"), house.desk.deployment
    _, new, entries = prepare(case, deployment, CALLER, LOG, Earlier(), yesterday)
    assert await open_debate(house.desk.database, new, entries)
    await house.sequencer.catch_up()
    countersign(house)

    data = await house.bundle(new.place.debate)

    assert sizes(data)["times/before.txt"] == before
    assert failed(checked(data)) == ["times"]
    assert "which was not in the log at" in step(checked(data), "times").detail


async def test_a_debate_of_a_later_log_and_one_that_the_change_left_in_the_earlier(house: House) -> None:
    await house.declined()
    countersign(house)
    begun = await house.desk.submit()
    await house.sequencer.catch_up()
    rotation = await next_log(house.desk.database, CALLER.tenant, "localhost")
    await open_next(house.desk.database, rotation, KEY.public, EXAMINER)
    await house.sequencer.catch_up()
    house.desk.reviews._recorder._logs = house.logs
    opened = countersign(house, rotation.log)
    assert await house.desk.claim() == begun
    await (await house.desk.runner(begun)).run()
    later = await house.declined()
    for log in (LOG, rotation.log):
        countersign(house, log)

    spanning, following = await house.bundle(begun), await house.bundle(later)

    assert [failed(checked(data)) for data in (spanning, following)] == [[], []]
    assert sizes(following)["times/before.txt"] == opened
    assert unpack(spanning).manifest.logs[0] == LOG
    assert step(checked(spanning), "times").state == "OK"
