"""The pack of a period: every decision with its bundle and its row, and none can be left out unseen."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from service.audit import pack as packs
from service.audit.pack import SUMMARY, TABLE, PackCounts, decode_summary, encode_summary
from service.cli import exit_codes
from service.cli.audit.verify import tools
from service.errors import BadRequest, NotProvable
from service.report.pack_row import pack_row
from service.reviews import evidence
from service.verify.pack import verify_pack
from service.verify.steps import Trust, VerificationReport
from tests.fixtures.running import CALLER, CannedProvider, bench
from tests.fixtures.sequencing import KEY
from tests.store.evidence.conftest import EXAMINER, TRUST, House
from tests.store.evidence.test_handing import Run, configured, debate, run

__all__ = ["configured", "debate", "run"]
SINCE = datetime(2020, 1, 1, tzinfo=UTC)
Files = dict[str, bytes]


async def made(house: House, since: datetime = SINCE, until: datetime | None = None) -> bytes:
    """The pack of a period that ends now."""
    out = BytesIO()
    ((now,),) = house.rows("SELECT clock_timestamp()")
    await evidence.pack(house.desk.database, house.logs, (since, until or now), CALLER, EXAMINER, out)
    return out.getvalue()


def unzipped(data: bytes) -> Files:
    with zipfile.ZipFile(BytesIO(data)) as found:
        return {name: found.read(name) for name in found.namelist()}


def zipped(files: Mapping[str, bytes], *, method: int = zipfile.ZIP_STORED) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, packs.DAY)
            info.external_attr, info.compress_type = packs.MODE, method
            made.writestr(info, content)
    return out.getvalue()


def rehashed(files: Files) -> bytes:
    """The files with a summary that names their hashes."""
    summary = decode_summary(files[SUMMARY])
    hashes = {name: sha256(content).hexdigest() for name, content in files.items() if name != SUMMARY}
    return zipped({**files, SUMMARY: encode_summary(replace(summary, files=dict(sorted(hashes.items()))))})


def check(data: bytes, trust: Trust = TRUST) -> VerificationReport:
    return verify_pack(BytesIO(data), trust, tools(), pack_row, every=True)


def failed(data: bytes) -> list[str]:
    return [step.name for step in check(data).failed]


async def test_a_pack_has_each_decision_of_the_period_and_verifies(house: House) -> None:
    debated, declined = await house.debated(), await house.declined()
    under_way = await house.desk.submit()
    await house.sequencer.catch_up()

    data = await made(house)
    files = unzipped(data)
    summary = decode_summary(files[SUMMARY])
    rows = list(csv.DictReader(StringIO(files[TABLE].decode(), newline="")))

    report = check(data)
    assert (report.code, [step.name for step in report.failed]) == (0, []), report
    assert [row["debate"] for row in rows] == [debated, declined]
    assert {row["status"] for row in rows} == {"completed", "declined"}
    assert summary.counts == PackCounts(2, {"completed": 1, "declined": 1}, 1)
    assert f"bundles/{under_way}.zip" not in files
    assert all(summary.files[row["bundle"]] == row["sha256"] for row in rows)
    assert next(iter(files)) == "README.txt"


async def test_periods_that_follow_each_other_have_each_decision_once(house: House) -> None:
    first = await house.debated()
    ((between,),) = house.rows("SELECT clock_timestamp()")
    second = await house.declined()

    packed = [unzipped(data) for data in (await made(house, until=between), await made(house, between))]

    assert [sorted(name for name in files if name.startswith("bundles/")) for files in packed] == [
        [f"bundles/{first}.zip"],
        [f"bundles/{second}.zip"],
    ]
    one, other = (decode_summary(files[SUMMARY]).logs[0] for files in packed)
    assert one.below == other.first


async def test_whatever_is_left_out_or_edited_fails(house: House) -> None:
    debated, declined = await house.debated(), await house.declined()
    files = unzipped(await made(house))
    bundle, log, summary = f"bundles/{declined}.zip", "logs/0001.jsonl", decode_summary(files[SUMMARY])
    lines = files[log].splitlines(keepends=True)
    rows = files[TABLE].splitlines(keepends=True)

    def without(*names: str) -> Files:
        return {name: content for name, content in files.items() if name not in names}

    def edited(name: str, change: Callable[[bytes], bytes]) -> Files:
        return {**files, name: change(files[name])}

    last = b'{"records":%d}\n' % (len(lines) - 3)
    cases: dict[str, tuple[bytes, str]] = {
        "a bundle and its row": (rehashed({**without(bundle), TABLE: b"".join(rows[:-1])}), "decisions"),
        "a record of the log": (rehashed({**files, log: b"".join([*lines[:-2], last])}), "logs"),
        "a row": (rehashed({**files, TABLE: b"".join(rows[:-1])}), "table"),
        "a cell": (rehashed(edited(TABLE, lambda text: text.replace(b"not required", b"required", 1))), "table"),
        "a row more": (rehashed(edited(TABLE, lambda text: text + rows[-1])), "table"),
        "a byte of a bundle": (
            rehashed(edited(bundle, lambda data: data.replace(b"declined", b"Declined", 1))),
            "bundles",
        ),
        "another bundle": (rehashed({**files, bundle: files[f"bundles/{debated}.zip"]}), "bundles"),
        "a bundle more": (rehashed({**files, "bundles/x.zip": files[bundle]}), "decisions"),
        "a file more": (rehashed({**files, "notes.txt": b"words"}), "file"),
        "a hash": (zipped(edited(TABLE, lambda text: text + b"\r\n")), "file"),
        "the words": (rehashed(edited("README.txt", lambda text: text + b"VERIFIED\n")), "file"),
    }
    for counts in (
        replace(summary.counts, decisions=3),
        replace(summary.counts, begun_only=1),
        replace(summary.counts, by_status={"completed": 2}),
    ):
        changed = {**files, SUMMARY: encode_summary(replace(summary, counts=counts))}
        cases[f"counts {counts}"] = zipped(changed), "table" if counts.by_status == {"completed": 2} else "decisions"
    for what, (data, step) in cases.items():
        assert step in failed(data), what
    for data in (zipped(files, method=zipfile.ZIP_DEFLATED), zipped(files)[:-5], zipped(files) + b"x", b"PK"):
        assert check(data).kind == "unknown"


async def test_a_failed_debate_has_its_row_too(house: House) -> None:
    async with bench(house.database.service_url, CannedProvider(fails={"rebuttal": 99})) as desk:
        debate = await desk.run()
    await house.sequencer.catch_up()

    rows = list(csv.DictReader(StringIO(unzipped(await made(house))[TABLE].decode(), newline="")))

    assert [(row["debate"], row["status"], row["outcome"]) for row in rows] == [(debate, "failed", "none")]


async def test_a_period_that_is_not_over_or_empty_or_not_covered_is_refused(house: House) -> None:
    await house.debated()
    ((now,),) = house.rows("SELECT clock_timestamp()")

    with pytest.raises(BadRequest, match="has passed"):
        await made(house, until=now + timedelta(hours=1))
    with pytest.raises(BadRequest, match="ends after it begins"):
        await made(house, now, now)
    house.tamper("ALTER TABLE checkpoint DISABLE TRIGGER USER", "DELETE FROM checkpoint WHERE size > 1")
    with pytest.raises(NotProvable):
        await made(house)


@pytest.mark.usefixtures("configured")
def test_the_command_writes_a_pack_that_the_command_verifies(run: Run, debate: str) -> None:
    assert run("bundle", debate).code == exit_codes.DONE  # which makes it provable
    until = datetime.now(UTC).isoformat()

    whole = run("pack", "--since", "2020-01-01", "--until", until, "--out", "all.zip")
    empty = run("pack", "--since", "2020-01-01", "--until", "2020-02-01", "--out", "none.zip")
    again = run("pack", "--since", "2020-01-01", "--until", until, "--out", "all.zip")

    assert (whole.code, whole.err) == (exit_codes.DONE, "wrote all.zip (decisions: 1, logs: 1)\n")
    assert (empty.code, empty.err) == (exit_codes.DONE, "wrote none.zip (decisions: 0, logs: 1)\n")
    assert again.code == exit_codes.USAGE
    for name in ("all.zip", "none.zip"):
        unwitnessed = run("verify", name, "--key", KEY.public.encode())
        assert (unwitnessed.code, "UNWITNESSED" in unwitnessed.out) == (4, True)
        verified = run("verify", name, "--key", KEY.public.encode(), "--allow-unwitnessed")
        assert (verified.code, verified.out.splitlines()[-1]) == (exit_codes.DONE, "VERIFIED, UNWITNESSED"), (
            verified.out
        )
    assert debate in Path("all.zip").read_bytes().decode("latin-1")
