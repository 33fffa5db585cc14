"""What the service hands over is what the command takes: from a real debate to the examiner's exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.audit import log_events
from service.audit.bundle import Bundle, pack, unpack
from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.log_events import LogOpened
from service.audit.note import PublicKey, Signature, SigningKey
from service.audit.proof import TlogProof
from service.audit.record import Link, RecordPlace, Times, open_leaf, seal
from service.audit.tree import root_of
from service.cli.audit.verify import tools
from service.simulated import OfflineProvider
from service.store.rotation import next_log, open_next
from service.verify.bundle import verify_bundle, verify_opened
from service.verify.earlier_logs import EVENTS
from tests.fixtures.bundles import failed, rehashed, step
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.sequencing import KEY, a_sequencer
from tests.store.evidence.conftest import EXAMINER, TRUST, House
from tests.store.verify.conftest import a_policy

GAINSAY = Path(sys.executable).with_name("gainsay")


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """A service with simulated models that reason, and a sequencer."""
    async with (
        bench(database.service_url, OfflineProvider(), policy=a_policy()) as desk,
        a_sequencer(database) as sequencer,
    ):
        yield House(desk, sequencer, database)


def run(file: Path, *arguments: str) -> dict[str, Any]:
    """The command's report, in a process of its own without an environment."""
    command = [str(GAINSAY), "audit", "verify", str(file), "--json", "--key", KEY.public.encode(), *arguments]
    done = subprocess.run(command, cwd="/", env={}, capture_output=True, check=False)
    assert done.stderr == b""
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == found["exit"]
    return found


async def test_what_is_handed_over_verifies_whole_in_a_process_of_its_own(house: House, tmp_path: Path) -> None:
    bundle, export = tmp_path / "case.zip", tmp_path / "log.jsonl"
    bundle.write_bytes(await house.bundle(await house.debated()))
    declined = tmp_path / "declined.zip"
    declined.write_bytes(await house.bundle(await house.declined()))
    await house.sequencer.catch_up()
    export.write_bytes(b"".join(await house.export()))

    verified, told, exported = (run(file, "--allow-unwitnessed") for file in (bundle, declined, export))

    assert [one["name"] for one in verified["steps"] if one["state"] != "OK"] == ["witnesses", "times"]
    assert (verified["exit"], told["exit"], exported["exit"]) == (0, 0, 4)
    assert [one["name"] for one in exported["steps"] if one["state"] != "OK"] == ["witnesses", "sources"]
    assert run(bundle)["exit"] == 4


async def test_a_report_that_tells_something_else_than_the_records_fails(house: House) -> None:
    bundle = unpack(await house.bundle(await house.debated()))
    told = bundle.files["report.md"].replace(b"Confidence", b"Certainty")
    other = rehashed(bundle, {**bundle.files, "report.md": told})

    assert step(verify_opened(bundle, TRUST, tools()), "report").state == "OK"
    assert failed(verify_opened(other, TRUST, tools())) == ["report"]


async def test_a_report_is_compared_in_the_words_that_the_record_names(house: House) -> None:
    """A later build that has other words beside ours goes by the record, and not by what it writes itself."""
    bundle = unpack(await house.bundle(await house.debated()))
    later = {**tools().reports, "report/2": lambda *_: b"other words"}

    found = verify_opened(bundle, TRUST, replace(tools(), reports=later))

    assert step(found, "report").state == "OK"
    assert "report/1" in step(found, "report").detail


# Heads of earlier logs.


@pytest.fixture
async def later(house: House) -> Bundle:
    """A debate in the tenant's third log."""
    await house.debated()
    for _ in range(2):
        log = await next_log(house.desk.database, "default", "localhost")
        await open_next(house.desk.database, log, KEY.public, EXAMINER)
        await house.sequencer.catch_up()
    house.desk.reviews._recorder._logs = house.logs
    return unpack(await house.bundle(await house.debated()))


async def test_earlier_logs_are_followed_up_to_the_debates_own(later: Bundle) -> None:
    report = verify_opened(later, TRUST, tools())

    assert failed(report) == []
    told = step(report, "logs").detail.split("; ")
    assert [one.partition(" ended")[0] for one in told] == ["localhost/default/1", "localhost/default/2"]
    assert all("signed by localhost+" in one for one in told)


async def test_an_earlier_log_that_is_left_out_swapped_or_changed_fails(later: Bundle) -> None:
    files = dict(later.files)
    first = {path: files.pop(path) for path in list(files) if path.startswith("heads/0001")}
    second = {path: files[path] for path in files if path.startswith("heads/0002")}
    renamed = {path.replace("0002", "0001"): content for path, content in second.items()}
    kept = {path: content for path, content in files.items() if path not in second}
    swapped = kept | renamed | {path.replace("0001", "0002"): content for path, content in first.items()}
    broken = {**later.files, "heads/0001.salt": later.files["heads/0002.salt"]}
    unproven = {**later.files, "heads/0001.tlog-proof": later.files["heads/0002.tlog-proof"]}
    other = {**later.files, "checkpoints/0002.txt": later.files["checkpoints/0001.txt"]}

    for changed in (files, swapped, broken, unproven, other):
        assert {"logs", "parts"} & set(failed(verify_opened(rehashed(later, changed), TRUST, tools(), every=True)))
    for fewer in (kept | renamed, kept):  # the number of the log says how many records opened logs up to it
        report = verify_opened(rehashed(later, fewer), TRUST, tools(), every=True)
        assert step(report, "parts").state == "FAILED"
        assert str(step(report, "parts").expected).startswith("heads/")
    stated = rehashed(Bundle(later.files, replace(later.manifest, logs=later.manifest.logs[:1])), later.files)
    assert {"file", "parts"} <= set(failed(verify_opened(stated, TRUST, tools(), every=True)))


@pytest.mark.parametrize(
    "path", ["heads/0003.leaf.json", "heads/0099.payload.json", "heads/0099.salt", "heads/0001.txt"]
)
async def test_a_file_beside_the_heads_that_no_log_has_fails(later: Bundle, path: str) -> None:
    report = verify_opened(rehashed(later, {**later.files, path: b"Approved."}), TRUST, tools())

    assert (report.code, report.failed[0].name in ("file", "logs", "parts")) == (1, True)


def _with_a_line(later: Bundle, path: str) -> Bundle:
    """A line of a key that nobody knows below a checkpoint, the same in every proof."""
    line, before = Signature("sec-examiner.gov", b"\x01\x02\x03\x04", bytes(64)).line(), later.files[path]
    return rehashed(later, {name: body.replace(before, before + line.encode()) for name, body in later.files.items()})


async def test_a_line_of_signatures_that_nobody_checked_is_named_below_the_checkpoint_of_the_debates_log(
    later: Bundle,
) -> None:
    changed = _with_a_line(later, "checkpoints/0001.txt")
    report = verify_opened(changed, TRUST, tools())
    accepted = verify_opened(changed, replace(TRUST, allow_unchecked_lines=True), tools())

    assert (report.code, accepted.code) == (4, 0)
    assert "'sec-examiner.gov' (01020304) in checkpoints/0001.txt" in step(report, "lines").detail


async def test_the_checkpoint_of_an_earlier_log_is_the_very_one_that_the_next_log_begins_with(later: Bundle) -> None:
    carried = json.loads(later.files["heads/0002.payload.json"])["previous"]
    report = verify_opened(_with_a_line(later, "checkpoints/0002.txt"), TRUST, tools())

    assert later.files["checkpoints/0002.txt"].decode() == carried
    assert (failed(report), step(report, "logs").file) == (["logs"], "checkpoints/0002.txt")


MALLORY = SigningKey.from_seed("localhost", bytes([7]) * 32)


def _opened_otherwise(
    later: Bundle, previous: bytes | None, records: int = 1, key: PublicKey = MALLORY.public, nth: int = 0
) -> Bundle:
    """The record that opened the second log made up, under a head that only its forger signed."""
    envelope, salt = open_leaf(later.files["heads/0001.leaf.json"]), bytes(32)
    event = LogOpened(envelope.log, 2, key.encode(), previous.decode() if previous else None)
    place = RecordPlace(envelope.log, envelope.tenant, envelope.debate)
    record = seal(
        log_events.encode(event),
        salt,
        envelope.kind,
        place=place,
        writer=EXAMINER,
        link=Link(0, b""),
        times=Times(envelope.occurred, envelope.recorded),
    )
    hashes = [record.leaf_hash, *[bytes(32)] * (records - 1)]
    hashes = hashes[::-1] if nth else hashes
    note = sign_checkpoint(Checkpoint(envelope.log, records, root_of(hashes)), MALLORY)
    made_up = {
        "heads/0001.leaf.json": record.leaf,
        "heads/0001.payload.json": record.payload,
        "heads/0001.salt": salt.hex().encode(),
        "heads/0001.tlog-proof": TlogProof(nth, tuple(hashes[:1] if nth else hashes[1:]), note).encode(),
        "checkpoints/0002.txt": note,
    }
    return rehashed(later, {**later.files, **made_up})


async def test_how_an_earlier_log_was_opened_cannot_be_made_up_without_a_key(later: Bundle) -> None:
    previous = _first_head(later)

    same, longer = (verify_opened(_opened_otherwise(later, previous, n), TRUST, tools(), every=True) for n in (1, 2))

    for report in (same, longer):  # the third log begins with another head
        assert (failed(report), step(report, "logs").file) == (["logs"], "checkpoints/0002.txt")


async def test_how_an_earlier_log_was_opened_says_which_key_signs_it_and_which_log_was_before(later: Bundle) -> None:
    previous = _first_head(later)
    forged = {
        "another key": _opened_otherwise(later, previous, 2, KEY.public),
        "another host's": _opened_otherwise(later, previous, 2, SigningKey.from_seed("mallory", bytes(32)).public),
        "no log before it": _opened_otherwise(later, None, 2),
        "not the first record": _opened_otherwise(later, previous, 2, nth=1),
    }

    found = {name: verify_opened(bundle, TRUST, tools()) for name, bundle in forged.items()}

    assert {name: failed(report) for name, report in found.items()} == {name: ["logs"] for name in forged}
    assert "the key that signs localhost/default/2" in step(found["another key"], "logs").detail
    assert "that follows no other" in step(found["no log before it"], "logs").detail
    assert "the place of the record that opens a log" in step(found["not the first record"], "logs").detail


def _first_head(later: Bundle) -> bytes:
    """The head of the first log, by the record that opened the second."""
    event = EVENTS.decode(later.files["heads/0001.payload.json"], 1)
    assert isinstance(event, LogOpened)
    assert event.previous
    return event.previous.encode()


async def test_a_log_that_was_signed_by_a_key_that_is_not_pinned_fails_at_the_signature(later: Bundle) -> None:
    stranger = SigningKey.from_seed("localhost", bytes([9]) * 32)

    report = verify_bundle(pack(later), replace(TRUST, keys=(stranger.public,)), tools(), every=True)

    assert failed(report) == ["signature"]
    assert "by the word of the next log" in step(report, "logs").detail
