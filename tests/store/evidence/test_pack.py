"""The pack of a period: every decision with its bundle and its row, and none can be left out unseen."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import time
import zipfile
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO, StringIO
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
from msgspec.structs import replace

from service.audit.archive import LargeWriter
from service.audit.export import decode_row
from service.audit.note import encode_base64
from service.audit.pack import (
    DAMAGE_MAX,
    README,
    SUMMARY,
    TABLE,
    PackCounts,
    PackedDecision,
    PackedLog,
    Summary,
    bundle_file,
    decode_summary,
    encode_summary,
    readme,
    written_time,
)
from service.audit.record import SCHEMAS, Envelope
from service.cli import exit_codes
from service.cli.audit.result_words import result_line
from service.cli.audit.verify import tools
from service.debate.entries import Entry
from service.errors import BadRequest, IllegalEntry, NotProvable
from service.report.pack_row import pack_row
from service.reviews import evidence
from service.reviews.evidence import period_pack
from service.reviews.evidence.bundle_files import OtherBuild
from service.store.clock import database_time
from service.store.rotation import next_log, open_next
from service.verify import opened_bundle
from service.verify.pack import Row, _Parts, verify_pack
from service.verify.pack_files import PackFiles
from service.verify.steps import Differs, NotCheckable, Trust, VerificationReport
from tests.fixtures.evaluating import a_desk, registered_held
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, CannedProvider, a_request, bench
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import EXAMINER, TRUST, House
from tests.store.evidence.test_dated import PINNED, countersign
from tests.store.evidence.test_handing import Run, configured, debate, run

__all__ = ["configured", "debate", "run"]
SINCE = datetime(2020, 1, 1, tzinfo=UTC)
FIRST, SECOND = "logs/0001.jsonl", "logs/0002.jsonl"
BEFORE = "logs/0001.before.txt"
SEED = int(os.environ.get("GAINSAY_TEST_MUTATIONS_SEED", "17"))
Files = dict[str, bytes]


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A period is over at its end: no test has a record under way."""
    monkeypatch.setattr(period_pack, "SETTLED_S", 0.0)


async def now(house: House) -> datetime:
    """The next whole millisecond, as records are dated, once none that is written later is before it."""
    ((at,),) = house.rows("SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 ms'")
    assert isinstance(at, datetime)
    for _ in count():
        if (await database_time(house.desk.database)).now() >= at.timestamp():
            break
        await asyncio.sleep(0.01)
    return at


async def made(house: House, since: datetime = SINCE, until: datetime | None = None) -> bytes:
    """The pack of a period that ends now; the readings of an earlier one are in the log."""
    await house.sequencer.catch_up()
    return await pack(house, until or await now(house), since)


async def pack(house: House, until: datetime, since: datetime = SINCE) -> bytes:
    out = BytesIO()
    await evidence.pack(house.desk.database, house.logs, (since, until), CALLER, EXAMINER, out)
    return out.getvalue()


def unzipped(data: bytes) -> Files:
    with zipfile.ZipFile(BytesIO(data)) as found:
        return {name: found.read(name) for name in found.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """The files in their order, in the form of a pack."""
    out = BytesIO()
    written = LargeWriter(out)
    for name, content in files.items():
        with written.member(name) as put:
            put(content)
    written.close()
    return out.getvalue()


def summary_of(files: Files) -> Summary:
    return decode_summary(files[SUMMARY])


def rows_of(files: Files) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(files[TABLE].decode("utf-8-sig"), newline="")))


def _rank(name: str, ranks: tuple[str, ...]) -> tuple[int, str, bool]:
    """The place of a file: of a log its records, then the head before them; bundles as they are."""
    rank = next(n for n, beginning in enumerate(ranks) if name.startswith(beginning))
    return rank, name[:9] if rank == 1 else "", name.endswith(".before.txt")


def plain_row(row: Mapping[str, str]) -> bytes:
    """A row of CSV as somebody else writes it, who keeps no spreadsheet from running a cell."""
    out = StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(row.values())
    return out.getvalue().encode()


def rehashed(files: Files, **changes: object) -> bytes:
    """The files with a summary that names their hashes, in an order that a pack may have."""
    ranks = ("README", "logs/", "bundles/", "notes", "decisions", "summary")
    ordered = {name: files[name] for name in sorted(files, key=lambda name: _rank(name, ranks))}
    hashes = {name: sha256(content).hexdigest() for name, content in ordered.items() if name != SUMMARY}
    summary = replace(summary_of(files), files=dict(sorted(hashes.items())), **changes)
    return zipped({**ordered, SUMMARY: encode_summary(summary)})


def check(data: bytes, trust: Trust = TRUST) -> VerificationReport:
    return verify_pack(BytesIO(data), trust, tools(), pack_row)


def failed(data: bytes) -> list[str]:
    return [step.name for step in check(data).failed]


async def test_a_pack_has_each_decision_of_the_period_and_verifies(house: House) -> None:
    debated, declined = await house.debated(question='=HYPERLINK("http://x")\r\nGrößer, "als"?'), await house.declined()
    under_way = await house.desk.submit()
    await house.sequencer.catch_up()

    data = await made(house)
    files = unzipped(data)
    rows = rows_of(files)

    report = check(data)
    assert (report.code, [step.name for step in report.failed]) == (0, []), report
    assert [row["debate"] for row in rows] == [debated, declined]
    assert {row["status"] for row in rows} == {"completed", "declined"}
    assert summary_of(files).counts == PackCounts(2, {"completed": 1, "declined": 1}, 1)
    assert bundle_file(under_way) not in files
    assert all(summary_of(files).files[row["bundle"]] == row["sha256"] for row in rows)
    assert next(iter(files)) == README
    assert rows[0]["question"] == "'" + '=HYPERLINK("http://x") \u23ce Größer, "als"?'
    assert files[TABLE].startswith(b"\xef\xbb\xbfdebate,")  # by which Excel knows UTF-8


async def test_periods_that_follow_each_other_have_each_decision_once(house: House) -> None:
    first = await house.debated()
    between = await now(house)
    second = await house.declined()

    packed = [await made(house, until=between), await made(house, between)]

    assert [sorted(name for name in unzipped(data) if name.startswith("bundles/")) for data in packed] == [
        [bundle_file(first)],
        [bundle_file(second)],
    ]
    assert [check(data).code for data in packed] == [0, 0]


@pytest.mark.parametrize("at_the_end", [True, False])
async def test_a_decision_of_the_very_end_is_of_the_next_period(house: House, at_the_end: bool) -> None:
    debate = await house.declined()
    (ended,) = [row["decided"] for row in rows_of(unzipped(await made(house)))]
    until = datetime.fromisoformat(ended) + timedelta(microseconds=0 if at_the_end else 1)

    before, after = unzipped(await made(house, until=until)), unzipped(await made(house, until))

    assert (bundle_file(debate) in before, bundle_file(debate) in after) == (not at_the_end, at_the_end)


async def test_an_aborted_debate_has_its_row(house: House) -> None:
    debate = await house.desk.submit()
    await house.desk.reviews.abort(debate, CALLER, "enough")
    await house.sequencer.catch_up()

    data = await made(house)

    assert [(row["debate"], row["status"]) for row in rows_of(unzipped(data))] == [(debate, "aborted")]
    assert check(data).code == 0


@dataclass
class Quarter:
    """A period with a rotation in it, between heads that a witness countersigned."""

    data: bytes
    since: datetime
    until: datetime
    decisions: list[str]
    log: str
    early: bytes
    """A pack of its first half, made then."""

    @property
    def files(self) -> Files:
        return unzipped(self.data)

    def without(self, *names: str) -> Files:
        return {name: content for name, content in self.files.items() if name not in names}


async def a_quarter(house: House) -> Quarter:
    await house.declined()
    countersign(house)
    since = await now(house)
    decisions = [await house.debated(), await house.declined()]
    half = await now(house)
    countersign(house)
    early = await made(house, since, half)
    spanning = await house.desk.submit()
    await house.sequencer.catch_up()
    rotation = await next_log(house.desk.database, CALLER.tenant, "localhost")
    await open_next(house.desk.database, rotation, KEY.public, EXAMINER)
    await house.sequencer.catch_up()
    countersign(house, rotation.log)
    house.desk.reviews._recorder._logs = house.logs
    assert await house.desk.claim() == spanning
    await (await house.desk.runner(spanning)).run()
    decisions += [spanning, await house.declined()]
    until = await now(house)
    await house.declined()
    countersign(house, LOG, at=int(since.timestamp()))
    countersign(house, rotation.log, at=time.time() + 2)
    return Quarter(await made(house, since, until), since, until, decisions, rotation.log, early)


def relabelled(files: Files, since: datetime, until: datetime) -> bytes:
    """The files as of another period, all words of it made right."""
    summary, (one, other) = summary_of(files), map(written_time, (since, until))
    edited = {
        name: content.replace(f'"since":"{summary.since}"'.encode(), f'"since":"{one}"'.encode(), 1)
        if name.startswith("logs/")
        else content
        for name, content in files.items()
    }
    return rehashed({**edited, README: readme(summary.tenant, one, other)}, since=one, until=other)


def shorter(content: bytes, count: int) -> bytes:
    """The lines of an export without so many records at the beginning."""
    head, *lines = content.splitlines(keepends=True)
    kept = lines[count:-1]
    return b"".join([head, *kept, b'{"records":%d}\n' % len(kept)])


def edits(files: Files, random: Random) -> Iterator[tuple[str, bytes]]:
    """Two edits of each file without a key, the summary made right for them where that is possible."""
    for name, content in files.items():
        at = random.randrange(len(content))
        flipped = content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :]
        if name == SUMMARY:
            yield f"{name} flipped at {at}", zipped({**files, name: flipped})
            continue
        other = random.choice([files[each] for each in files if files[each] != content])
        changed: dict[str, Files] = {
            f"flipped at {at}": {**files, name: flipped},
            f"cut at {at}": {**files, name: content[:at]},
            "extended": {**files, name: content + other[:40]},
            "exchanged": {**files, name: other},
            "removed": {each: files[each] for each in files if each != name},
        }
        for what in random.sample(sorted(changed), 2):
            yield f"{name} {what}", rehashed(changed[what])


async def test_heads_before_and_after_a_period_show_it_whole_and_no_edit_without_a_key_changes_it(house: House) -> None:
    quarter = await a_quarter(house)
    files, (one, two) = quarter.files, summary_of(quarter.files).logs
    whole = check(quarter.data, PINNED)

    assert (whole.code, [step.state for step in whole.steps]) == (0, ["OK"] * 5), whole
    assert sorted(row["debate"] for row in rows_of(files)) == sorted(quarter.decisions)
    assert list(files)[:4] == [README, FIRST, BEFORE, SECOND]
    assert [(log.log, log.first > 0) for log in (one, two)] == [(LOG, True), (quarter.log, False)]
    day, ends = timedelta(days=1), (written_time(quarter.since), written_time(quarter.until))
    of_two = next(row["bundle"] for row in rows_of(files) if row["log"] == quarter.log)
    only_one = rehashed(quarter.without(SECOND, of_two), logs=(one,))
    cut, early = shorter(files[FIRST], 2), unzipped(quarter.early)
    later = unzipped(await made(house, quarter.until))
    renamed = {name: content for name, content in later.items() if not name.startswith("logs/0001")}
    renamed |= {FIRST: renamed.pop(SECOND), BEFORE: renamed.pop("logs/0002.before.txt")}
    alone = rehashed(renamed, logs=summary_of(later).logs[1:])
    cases: dict[str, tuple[bytes, str]] = {
        "a period that begins earlier": (relabelled(files, quarter.since - day, quarter.until), "logs"),
        "a period that ends later": (relabelled(files, quarter.since, quarter.until + day), "logs"),
        "an older pack as of a longer period": (
            relabelled(unzipped(quarter.early), quarter.since, quarter.until),
            "logs",
        ),
        "an earlier state of the earlier log": (
            rehashed({**files, FIRST: early[FIRST], BEFORE: early[BEFORE]}, logs=(summary_of(early).logs[0], two)),
            "logs",
        ),
        "an old log of a later period left out": (alone, "logs"),
        "a log twice": (rehashed({**files, "logs/0003.jsonl": files[SECOND]}, logs=(one, two, two)), "logs"),
        "a log twice, of one file": (rehashed(files, logs=(one, one)), "logs"),
        "logs exchanged": (rehashed({**files, FIRST: files[SECOND], SECOND: files[FIRST]}, logs=(two, one)), "file"),
        "the later log left out": (only_one, "logs"),
        "the earlier log left out": (
            rehashed({**quarter.without(BEFORE, SECOND), FIRST: files[SECOND]}, logs=(two,)),
            "logs",
        ),
        "no log": (rehashed(quarter.without(FIRST, BEFORE, SECOND), logs=()), "logs"),
        "the first records": (rehashed({**files, FIRST: cut}, logs=(replace(one, first=one.first + 2), two)), "logs"),
        "the first records and the head before them": (
            rehashed({**quarter.without(BEFORE), FIRST: cut}, logs=(replace(one, first=one.first + 2), two)),
            "logs",
        ),
        "the head before the period": (rehashed(quarter.without(BEFORE)), "logs"),
        "another tenant's": (
            rehashed({**files, README: readme("other", *ends)}, tenant="other"),
            "logs",
        ),
    }
    said = {
        "an old log of a later period left out": "the epoch of the first log",
        "an earlier state of the earlier log": "as the next log has it",
        "a log twice": "the log that follows",
        "another tenant's": "the tenant of the log",
    }
    for what, (data, step) in cases.items():
        report = check(data, PINNED)
        assert said.get(what, "") in next(s.detail for s in report.steps if s.state != "OK"), what
        assert report.code in (1, 4), what
        assert next(s.name for s in report.steps if s.state != "OK") == step, (what, report)
    strange = f"— stranger.example {encode_base64(b'abcd' + bytes(64))}\n".encode()
    added = relabelled({**files, BEFORE: files[BEFORE] + strange}, quarter.since - day, quarter.until)
    loose = check(added, replace(PINNED, allow_unchecked_lines=True))
    assert loose.code == 4, "an accepted line hides no date"
    assert "LOOSELY DATED" in next(step.detail for step in loose.steps if step.name == "logs")
    for what, data in edits(files, Random(SEED)):
        assert check(data, PINNED).code in (1, 4), (what, f"GAINSAY_TEST_MUTATIONS_SEED={SEED}")


async def test_the_log_before_a_rotation_has_the_root_that_the_next_log_carries(house: House) -> None:
    await house.declined()
    quarter = await a_quarter(house)
    whole, trust = unzipped(await made(house)), replace(TRUST, allow_unchecked_lines=True)

    assert [log.first for log in summary_of(whole).logs] == [0, 0]
    assert check(zipped(whole), trust).code == 0
    opening = decode_row(whole[SECOND].splitlines(keepends=True)[1])
    assert opening.payload is not None
    head = json.loads(opening.payload)["previous"].encode()
    other = head.replace(head.splitlines()[2], encode_base64(sha256(b"another tree").digest()).encode())
    forged = check(
        rehashed({**whole, SECOND: whole[SECOND].replace(head.splitlines()[2], other.splitlines()[2])}), trust
    )
    assert [step.name for step in forged.failed] == ["logs"]
    assert "root of localhost/default/1, as the next log has it" in forged.failed[0].detail
    size, root = int(head.splitlines()[1]), b64decode(head.splitlines()[2]).hex()
    ended = replace(summary_of(quarter.files), logs=(PackedLog(LOG, 1, size, root),))  # its last records alone
    parts = _Parts(cast("PackFiles", SimpleNamespace(summary=ended)), trust, tools(), pack_row)
    parts._opened(0, json.dumps({"previous": head.decode()}))
    with pytest.raises(Differs, match="the root of localhost/default/1, as the next log has it"):
        parts._opened(0, json.dumps({"previous": other.decode()}))


async def test_whatever_is_left_out_or_edited_fails(house: House) -> None:
    debated, declined = await house.debated(), await house.declined()
    files = unzipped(await made(house))
    bundle, summary = bundle_file(declined), summary_of(files)
    lines = files[FIRST].splitlines(keepends=True)
    rows = files[TABLE].splitlines(keepends=True)
    (log,) = summary.logs

    def without(*names: str) -> Files:
        return {name: content for name, content in files.items() if name not in names}

    def edited(name: str, change: Callable[[bytes], bytes]) -> Files:
        return {**files, name: change(files[name])}

    last, question = b'{"records":%d}\n' % (len(lines) - 3), rows_of(files)[0]["question"].encode()
    run = plain_row({**rows_of(files)[1], "answer": "=HYPERLINK(1)"})
    counts, exchanged = summary.counts, dict(reversed(files.items()))
    cases: dict[str, tuple[bytes, str]] = {
        "a bundle and its row": (rehashed({**without(bundle), TABLE: b"".join(rows[:-1])}), "decisions"),
        "a record of the log": (rehashed({**files, FIRST: b"".join([*lines[:-2], last])}), "logs"),
        "the size of the log": (rehashed(files, logs=(replace(log, size=log.size - 1),)), "logs"),
        "a row": (rehashed({**files, TABLE: b"".join(rows[:-1])}), "table"),
        "a cut row": (rehashed(edited(TABLE, lambda text: text[:-20])), "table"),
        "a cell": (rehashed(edited(TABLE, lambda text: text.replace(b"not required", b"required", 1))), "table"),
        "a huge cell": (
            rehashed(edited(TABLE, lambda text: text.replace(question, question + b"?" * (1 << 23), 1))),
            "table",
        ),
        "an answer that a spreadsheet runs": (rehashed({**files, TABLE: b"".join([*rows[:2], run])}), "table"),
        "a cell in quotes": (
            rehashed(edited(TABLE, lambda text: text.replace(b",completed,", b',"completed",', 1))),
            "table",
        ),
        "other ends of lines": (rehashed(edited(TABLE, lambda text: text.replace(b"\r\n", b"\n"))), "table"),
        "a row more": (rehashed(edited(TABLE, lambda text: text + rows[-1])), "table"),
        **{
            f"a row behind an empty line {line!r}": (
                rehashed({**files, TABLE: files[TABLE] + line + rows[1]}),
                "table",
            )
            for line in (b"\r\n", b"\n", b"\r\n\r\n")
        },
        "rows exchanged": (rehashed({**files, TABLE: b"".join([rows[0], rows[2], rows[1]])}), "table"),
        "no mark of UTF-8": (rehashed(edited(TABLE, lambda text: text[3:])), "table"),
        "a byte of a bundle": (
            rehashed(edited(bundle, lambda data: data.replace(b"declined", b"Declined", 1))),
            "bundles",
        ),
        "another bundle": (rehashed({**files, bundle: files[bundle_file(debated)]}), "bundles"),
        "a bundle more": (rehashed({**files, "bundles/x.zip": files[bundle]}), "decisions"),
        "bundles in another order": (
            zipped({**{name: files[name] for name in (README, FIRST)}, **exchanged, **without(README, FIRST)}),
            "file",
        ),
        "a file more": (rehashed({**files, "notes.txt": b"words"}), "file"),
        "a head that no record follows": (rehashed({**files, BEFORE: b"words"}), "file"),
        "a hash": (zipped(edited(TABLE, lambda text: text + b"\r\n")), "file"),
        "words of the same length": (
            rehashed(edited(README, lambda text: text.replace(b"only words", b"the truth."))),
            "file",
        ),
        "more words": (rehashed(edited(README, lambda text: text + b"VERIFIED\n")), "file"),
        "damage": (rehashed(files, damaged={declined: "approved anyway"}), "decisions"),
        "a count": (rehashed(files, counts=replace(counts, decisions=3)), "decisions"),
        "a count of cases": (rehashed(files, counts=replace(counts, begun_only=1)), "decisions"),
        "a count by status": (rehashed(files, counts=replace(counts, by_status={"completed": 2})), "table"),
    }
    for what, (data, step) in cases.items():
        assert failed(data) == [step], what
    with pytest.raises(ValueError, match="ends after it begins"):
        replace(summary, until=summary.since)
    for data in (zipped(files)[:-5], zipped(files) + b"x", b"PK"):
        assert check(data).kind == "unknown"


async def test_a_sentence_that_this_build_does_not_say_is_named_and_no_pack_with_it_verifies(house: House) -> None:
    debate = await house.debated()
    files = unzipped(await made(house))
    answer = rows_of(files)[0]["answer"].encode()

    report = check(rehashed({**files, TABLE: files[TABLE].replace(answer, b"Approved by the board.")}))

    (gap,) = report.gaps
    assert (report.code, gap.name, debate in gap.detail) == (4, "table", True)


async def test_a_pack_of_an_earlier_build_is_verified_by_the_columns_that_it_has(house: House) -> None:
    """Without the column of evaluations a table is as good, unless it has an item of one: a row like a decision."""
    debate = await house.debated()
    files = unzipped(await made(house))
    table = files[TABLE].replace(b",evaluation\r\n", b"\r\n", 1).replace(b",\r\n", b"\r\n")
    assert len(files[TABLE]) - len(table) == len(b",evaluation") + len(b",")
    data = rehashed({**files, TABLE: table})

    def of_an_item(entries: Sequence[Entry], packed: PackedDecision) -> Mapping[str, str]:
        return {**pack_row(entries, packed), "evaluation": "01890a5d-ac96-774b-bcce-b302099a8057"}

    plain, unmarked = check(data), verify_pack(BytesIO(data), TRUST, tools(), of_an_item)

    assert (plain.code, plain.gaps) == (0, ())
    (gap,) = unmarked.gaps
    assert (unmarked.code, gap.name, debate in gap.detail, "evaluation" in gap.detail) == (4, "table", True, True)


UNPINNED = Trust(allow_unsigned=True, allow_unwitnessed=True)
UNCHECKED = f"no pinned key checked the lines of 'localhost' ({KEY.public.id.hex()})"


async def test_what_the_options_accept_of_bundles_is_told(house: House) -> None:
    await house.debated()
    data = await made(house)

    report = check(data)
    strict = check(data, replace(TRUST, allow_unwitnessed=False))

    accepted = {step.name: step.detail for step in report.steps if step.allowed}
    assert accepted.keys() == {"logs", "bundles"}
    assert all("UNWITNESSED" in detail for detail in accepted.values())
    assert (strict.code, [gap.name for gap in strict.gaps]) == (4, ["logs", "bundles"])


async def test_the_last_line_of_a_pack_with_a_look_says_that_looks_are_as_recorded(house: House) -> None:
    await house.declined()
    assert result_line(check(await made(house))) == "VERIFIED, UNWITNESSED"
    await registered_held(a_desk(house.desk))
    await house.sequencer.catch_up()
    until = await now(house)
    data, none = await made(house, until=until), await made(house, until=SINCE + timedelta(days=1))
    await house.sequencer.catch_up()
    countersign(house, at=until.timestamp() + 2)
    witnessed = await made(house, until=until)

    for packed in (data, none):
        assert result_line(check(packed)) == "VERIFIED, UNWITNESSED, LOOKS AS RECORDED"
    assert result_line(check(witnessed, PINNED)) == "VERIFIED, LOOKS AS RECORDED"
    unsigned = result_line(check(none, UNPINNED))
    assert unsigned == f"VERIFIED, UNSIGNED, UNWITNESSED, {UNCHECKED} in line 1, LOOKS AS RECORDED"
    (logs,) = [step.detail for step in check(data).steps if step.name == "logs"]
    assert logs.startswith("UNWITNESSED, LOOKS AS RECORDED: no witness's key was pinned; ")
    assert "; how often a held split was looked at before is the registration's word here" in logs


async def test_the_last_line_of_a_pack_names_each_gap_that_is_accepted_once(house: House) -> None:
    await house.debated()
    data, none = await made(house), await made(house, until=SINCE + timedelta(days=1))

    for packed, of_bundles in ((data, f", {UNCHECKED} in checkpoints/0001.txt"), (none, "")):
        report = check(packed, UNPINNED)
        assert result_line(report) == f"VERIFIED, UNSIGNED, UNWITNESSED, {UNCHECKED} in line 1{of_bundles}"
        (logs,) = [one.detail for one in report.steps if one.name == "logs"]
        assert logs.startswith(f"UNSIGNED, UNWITNESSED, {UNCHECKED} in line 1: no key was pinned, ")
        assert "; no witness's key was pinned; " in logs


async def test_a_damaged_debate_is_named_the_rest_is_there_and_the_pack_never_verifies(house: House) -> None:
    damaged, other = await house.debated(), await house.declined()
    house.tamper(f"UPDATE payload SET body = body || ' ' WHERE debate = '{damaged}' AND n = 1")
    out = BytesIO()

    packed = await evidence.pack(house.desk.database, house.logs, (SINCE, await now(house)), CALLER, EXAMINER, out)

    files = unzipped(out.getvalue())
    assert (packed.decisions, list(packed.damaged)) == (1, [damaged])
    assert "record 1" in packed.damaged[damaged]
    assert list(summary_of(files).damaged) == [damaged]
    assert [row["debate"] for row in rows_of(files)] == [other]
    report = verify_pack(BytesIO(out.getvalue()), TRUST, tools(), pack_row, every=True)
    assert [step.name for step in report.failed] == ["logs", "decisions", "table"]
    assert damaged in report.failed[1].detail


@pytest.mark.parametrize("edit", ["tenant = 'other'", "state = 'queued'", "no row for the record"])
async def test_a_head_row_that_denies_a_decision_of_the_log_is_damage_and_stops_no_pack(
    house: House, monkeypatch: pytest.MonkeyPatch, edit: str
) -> None:
    damaged, other = await house.declined(), await house.declined()
    if edit == "no row for the record":
        monkeypatch.setattr(period_pack, "pack_row", refusing(damaged))
    else:
        house.tamper(f"UPDATE debate_head SET {edit} WHERE debate = '{damaged}'")

    files = unzipped(await made(house))

    assert list(summary_of(files).damaged) == [damaged]
    assert damaged in summary_of(files).damaged[damaged]
    assert [row["debate"] for row in rows_of(files)] == [other]
    assert [name for name in files if name.startswith("bundles/")] == [bundle_file(other)]


def refusing(debate: str) -> Row:
    """Rows of all debates but one, of which the entries are no whole debate."""

    def row(entries: Sequence[Entry], packed: PackedDecision) -> Mapping[str, str]:
        if packed.first.debate == debate:
            raise IllegalEntry(f"the debate {debate} is not over")
        return pack_row(entries, packed)

    return row


async def test_the_summary_of_many_damaged_decisions_is_read(house: House) -> None:
    debated = await house.debated()
    files = unzipped(await made(house))
    del files[bundle_file(debated)]

    report = check(rehashed(files, damaged={str(uuid4()): "x" * DAMAGE_MAX for _ in range(40)}))

    assert (report.kind, [step.name for step in report.failed]) == ("pack", ["decisions"])


async def test_a_decision_of_a_later_build_is_not_checkable_and_this_build_packs_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = await house.debated()
    await house.declined()
    data = await made(house)
    monkeypatch.setitem(SCHEMAS, "debate.concluded", 0)

    report = check(data)

    assert (report.code, [step.name for step in report.failed]) == (4, []), report
    gaps = {gap.name: gap.detail for gap in report.gaps}
    assert gaps.keys() >= {"bundles", "table"}
    assert later in gaps["table"]
    assert failed(rehashed({**unzipped(data), TABLE: unzipped(data)[TABLE] + b"x"})) == ["table"]
    with pytest.raises(OtherBuild, match=f"{later} .* make the pack with the build"):
        await made(house)


async def test_a_leaf_of_a_later_version_is_not_checkable(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    debate = await house.declined()
    data = await made(house)

    def read(leaf: bytes) -> tuple[Envelope | None, str]:
        envelope, unknown = opened_bundle.read_leaf(leaf)
        is_later = envelope is not None and (envelope.debate, envelope.n) == (debate, 1)
        return (None, "an envelope of version 3 is not known to this build") if is_later else (envelope, unknown)

    monkeypatch.setattr("service.verify.pack.read_leaf", read)

    report = check(data)

    assert (report.code, [step.name for step in report.failed]) == (4, []), report
    assert [gap.name for gap in report.gaps] == ["logs", "decisions", "bundles", "table"]
    assert "version 3" in report.gaps[0].detail


async def test_a_bundle_that_is_missing_or_forged_fails_beside_a_leaf_of_a_later_version(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread, known = await house.declined(), await house.declined()
    files = unzipped(await made(house))

    def read(leaf: bytes) -> tuple[Envelope | None, str]:
        envelope, unknown = opened_bundle.read_leaf(leaf)
        is_later = envelope is not None and (envelope.debate, envelope.n) == (unread, 1)
        return (None, "an envelope of version 3 is not known to this build") if is_later else (envelope, unknown)

    monkeypatch.setattr("service.verify.pack.read_leaf", read)
    missing = {name: content for name, content in files.items() if name != bundle_file(known)}
    forged = [{**files, bundle_file(debate): files[bundle_file(debate)] + b"x"} for debate in (known, unread)]

    assert failed(rehashed(files)) == []
    assert failed(rehashed(missing)) == ["decisions"]
    assert [failed(rehashed(one)) for one in forged] == [["bundles"], ["bundles"]]


async def test_a_gate_of_a_later_schema_may_end_a_debate_and_is_not_checkable(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.declined()
    files = unzipped(await made(house))
    rows = [decode_row(line) for line in files[FIRST].splitlines(keepends=True) if line.startswith(b'{"index":')]
    gate = next(row for row in rows if '"kind":"gate.decided"' in row.leaf)
    pack = SimpleNamespace(summary=summary_of(files), members=files)
    parts = _Parts(cast("PackFiles", pack), TRUST, tools(), pack_row)
    noted = summary_of(files).logs[0], gate.index, gate.leaf.encode(), '{"kind":"gate.decided","verdict":"no"}'

    with pytest.raises(ValueError, match="decision"):
        parts._note(*noted)
    monkeypatch.setitem(SCHEMAS, "gate.decided", 0)
    parts._note(*noted)

    with pytest.raises(NotCheckable, match=r"schema [0-9]+ of 'gate.decided' is not known"):
        parts.decisions()


async def test_a_log_without_a_head_that_has_records_of_the_period_is_awaited(house: House) -> None:
    await house.declined()
    ended = await now(house)
    rotation = await next_log(house.desk.database, CALLER.tenant, "localhost")
    await open_next(house.desk.database, rotation, KEY.public, EXAMINER)

    with pytest.raises(NotProvable, match=f"records of {rotation.log} .* under no checkpoint"):
        await pack(house, await now(house))
    before = unzipped(await pack(house, ended))

    assert [log.log for log in summary_of(before).logs] == [LOG]


async def test_a_failed_debate_has_its_row_too(house: House) -> None:
    async with bench(house.database.service_url, CannedProvider(fails={"rebuttal": 99})) as desk:
        debate = await desk.run()
    await house.sequencer.catch_up()

    rows = rows_of(unzipped(await made(house)))

    assert [(row["debate"], row["status"], row["outcome"]) for row in rows] == [(debate, "failed", "none")]


async def test_a_period_that_is_not_over_or_empty_or_not_covered_is_refused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.debated()
    ended = await now(house)

    with pytest.raises(BadRequest, match="has passed"):
        await made(house, until=ended + timedelta(hours=1))
    with pytest.raises(BadRequest, match="ends after it begins"):
        await made(house, ended, ended)
    await house.desk.submit()
    with pytest.raises(NotProvable, match="no checkpoint yet"):
        await pack(house, await now(house))
    monkeypatch.setattr(period_pack, "SETTLED_S", 600.0)
    with pytest.raises(NotProvable, match="under way"):
        await made(house, until=ended)
    monkeypatch.setattr(period_pack, "SETTLED_S", 0.0)
    house.tamper("ALTER TABLE checkpoint DISABLE TRIGGER USER", "DELETE FROM checkpoint WHERE size > 1")
    with pytest.raises(NotProvable):
        await pack(house, ended)


@pytest.mark.usefixtures("configured")
def test_the_command_writes_a_pack_that_the_command_verifies(run: Run, debate: str) -> None:
    assert run("bundle", debate).code == exit_codes.DONE  # which makes it provable
    until = datetime.now(UTC).isoformat()

    whole = run("pack", "--since", "2020-01-01", "--until", until, "--out", "all.zip")
    empty = run("pack", "--since", "2020-01-01", "--until", "2020-02-01", "--out", "none.zip")
    again = run("pack", "--since", "2020-01-01", "--until", until, "--out", "all.zip")

    assert (whole.code, whole.err) == (exit_codes.DONE, "wrote all.zip (tenant: default, decisions: 1, logs: 1)\n")
    assert (empty.code, empty.err) == (exit_codes.DONE, "wrote none.zip (tenant: default, decisions: 0, logs: 1)\n")
    assert again.code == exit_codes.USAGE
    for name in ("all.zip", "none.zip"):
        unwitnessed = run("verify", name, "--key", KEY.public.encode())
        assert (unwitnessed.code, "UNWITNESSED" in unwitnessed.out) == (4, True)
        verified = run("verify", name, "--key", KEY.public.encode(), "--allow-unwitnessed")
        assert (verified.code, verified.out.splitlines()[-1]) == (exit_codes.DONE, "VERIFIED, UNWITNESSED"), (
            verified.out
        )
    assert debate in Path("all.zip").read_bytes().decode("latin-1")


@pytest.mark.usefixtures("configured")
def test_the_command_packs_the_tenant_that_it_names(run: Run, database: Database) -> None:
    async def of_the_bank() -> str:
        async with bench(database.service_url) as desk:
            await desk.reviews.submit(a_request(), replace(CALLER, tenant="bank"))
            ended = await desk.claim()
            await (await desk.runner(ended)).run()
            return ended

    debate = asyncio.run(of_the_bank())
    period = ("--since", "2020-01-01", "--until", datetime.now(UTC).isoformat())

    own = run("pack", *period, "--out", "default.zip")
    named = run("pack", "--tenant", "bank", *period, "--out", "bank.zip")

    assert own.code == exit_codes.FAILED
    assert "no log of the tenant 'default' has a checkpoint yet; check its name (`gainsay tenants list`)" in own.err
    assert (named.code, named.err) == (exit_codes.DONE, "wrote bank.zip (tenant: bank, decisions: 1, logs: 1)\n")
    files = unzipped(Path("bank.zip").read_bytes())
    assert (summary_of(files).tenant, [row["debate"] for row in rows_of(files)]) == ("bank", [debate])
    verified = run("verify", "bank.zip", "--key", KEY.public.encode(), "--allow-unwitnessed")
    assert verified.out.splitlines()[-1] == "VERIFIED, UNWITNESSED", verified.out
