"""A PDF is handed out when the log proves its record, once for each file, and a verifier knows every report by it."""

from __future__ import annotations

import asyncio
from datetime import date
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from service.audit.bundle import pack, unpack
from service.audit.checkpoint import sign_checkpoint
from service.audit.log_events import ReportIssued
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.proof import parse_proof
from service.cli.audit.verify import tools
from service.errors import AuditUnavailable, EvidenceDamaged
from service.reviews import Reviews
from service.reviews.evidence import NotOver
from service.reviews.report_issue import ReportNotProvable
from service.store.rebuild import rebuild
from service.store.rotation import next_log, open_next
from service.verify.bundle import verify_bundle
from service.verify.log import read_head
from service.verify.steps import Period, Trust, VerificationReport, VerificationStep
from tests.fixtures.bundles import rehashed
from tests.fixtures.running import CALLER
from tests.fixtures.sequencing import KEY
from tests.store.evidence.conftest import EXAMINER, TRUST, House, verified, wrong

Step = tuple[str, str]
STRANGER = SigningKey.from_seed("localhost", bytes([66]) * 32)
"""A key of the right name that signs no log of the house."""
LATER = SigningKey.from_seed("localhost", bytes([77]) * 32)


def held(house: House, hold_s: float = 0.2) -> Reviews:
    """Another replica on the same database, which does not hold answers for long."""
    desk = house.desk
    reviews = Reviews(desk.database, lambda _tenant: desk.deployment, desk.hub, house.logs)
    reviews._register._hold_s = hold_s
    return reviews


async def issued(house: House, debate: str, paper: Any = "a4", reviews: Reviews | None = None) -> bytes:
    """The PDF of a debate, with the sequencer running meanwhile."""
    asking = asyncio.create_task((reviews or held(house, 3.0)).report(debate, CALLER, "pdf", paper))
    while not asking.done():
        await house.sequencer.catch_up()
        await asyncio.wait({asking}, timeout=0.02)
    return asking.result()


def shown(bundle: bytes, report: bytes, trust: Trust = TRUST) -> VerificationReport:
    """What the verifier says of a report beside a bundle."""
    return verify_bundle(bundle, trust, tools(), shown=report)


def last(report: VerificationReport) -> Step:
    """The last step: its state, and what it says."""
    return report.steps[-1].state, report.steps[-1].detail


def records(house: House) -> list[ReportIssued]:
    """What the log holds of issued reports."""
    rows = house.rows("SELECT p.body FROM issued_report r JOIN payload p ON p.debate = r.record ORDER BY r.paper")
    logged = house.rows('SELECT count(*) FROM entry WHERE position(\'"kind":"report.issued"\'::bytea IN leaf) > 0')
    assert logged == [(len(rows),)]
    return [msgspec.json.decode(body, type=ReportIssued) for (body,) in rows]


async def test_a_pdf_is_recorded_once_and_its_bundle_knows_it(house: House) -> None:
    debate = await house.debated()

    first = await issued(house, debate)
    again = await issued(house, debate)
    letter = await issued(house, debate, "letter")

    assert first == again != letter
    found = records(house)
    assert [(one.debate, one.form, one.paper, one.template) for one in found] == [
        (debate, "pdf", "a4", "report/1"),
        (debate, "pdf", "letter", "report/1"),
    ]
    assert [one.sha256 for one in found] == [sha256(pdf).hexdigest() for pdf in (first, letter)]
    data = await house.bundle(debate)
    assert wrong(verified(data)) == {}
    for pdf in (first, letter):
        state, detail = last(shown(data, pdf))
        assert state == "OK"
        assert sha256(pdf).hexdigest() in detail


async def test_a_report_in_any_form_is_known_and_an_edited_one_fails(house: House) -> None:
    debate = await house.debated()
    pdf = await issued(house, debate)
    data = await house.bundle(debate)
    reviews = held(house)
    markdown = await reviews.report(debate, CALLER, "markdown")
    pages = [await reviews.report(debate, CALLER, "html", paper) for paper in ("a4", "letter")]

    files = unpack(data).files
    assert (files["report.md"], files["report.html"]) == (markdown, pages[0]), "what is served is what the bundle has"
    for report in (markdown, *pages, pdf):
        assert last(shown(data, report))[0] == "OK"
        assert shown(data, report).code == 0 or wrong(shown(data, report)) == {}
        edited = report.replace(b"MODERATE", b"HIGH") if b"MODERATE" in report else report[:-1] + b"\n\n"
        assert edited != report
        assert last(shown(data, edited))[0] == "FAILED"
        assert shown(data, edited).code == 1


async def test_a_pdf_of_another_debate_or_one_that_was_never_issued_fails(house: House) -> None:
    one, other = await house.debated(), await house.declined()
    pdf, none = await issued(house, one), await house.bundle(other)

    assert "never issued" in last(shown(none, pdf))[1]
    assert "none" in last(shown(none, pdf))[1]
    theirs = await issued(house, other)
    assert last(shown(await house.bundle(one), theirs))[0] == "FAILED"
    assert last(shown(await house.bundle(other), theirs))[0] == "OK", "a declined case has a report too"


async def test_two_replicas_asked_at_once_record_one(house: House) -> None:
    debate = await house.debated()
    replicas = [held(house, 3.0) for _ in range(3)]

    given = await asyncio.gather(*(issued(house, debate, reviews=each) for each in replicas))

    assert len(set(given)) == 1
    assert len(records(house)) == 1


async def test_no_pdf_leaves_before_the_log_proves_its_record(house: House) -> None:
    """The record is durable, and the sequencer is away."""
    debate = await house.debated()

    with pytest.raises(ReportNotProvable) as refused:
        await held(house).report(debate, CALLER, "pdf")

    assert (refused.value.status, refused.value.retry_after) == (503, 1)
    assert len(records(house)) == 1
    await issued(house, debate)
    assert len(records(house)) == 1, "it is the same record that is proven later"


async def test_no_pdf_leaves_where_nothing_can_be_recorded(house: House) -> None:
    debate = await house.debated()
    house.tamper("REVOKE INSERT ON pending FROM gainsay_writer")

    with pytest.raises(AuditUnavailable):
        await held(house).report(debate, CALLER, "pdf")

    assert records(house) == []


async def test_a_debate_that_goes_on_has_html_and_no_pdf(house: House) -> None:
    debate = await house.desk.submit()

    with pytest.raises(NotOver):
        await held(house).report(debate, CALLER, "pdf")

    assert b"not ended yet" in await held(house).report(debate, CALLER, "html")
    assert records(house) == []


async def test_a_pdf_that_is_issued_after_a_rotation_is_known_under_the_later_log(house: House) -> None:
    debate = await house.debated()
    before = await issued(house, debate, "letter")
    rotation = await next_log(house.desk.database, "default", "localhost")
    await open_next(house.desk.database, rotation, LATER.public, EXAMINER)
    signer: Any = house.sequencer._signer
    signer.key = LATER
    pdf = await issued(house, debate)
    data = await house.bundle(debate)

    both = replace(TRUST, keys=(KEY.public, LATER.public))
    assert wrong(shown(data, pdf, both)) == {}
    assert "localhost/default/2" in last(shown(data, pdf, both))[1]
    assert last(shown(data, before, both))[0] == "OK"
    gap = wrong(shown(data, pdf))
    assert list(gap) == ["lines", "issued"], "the key of the later log is not pinned"
    assert "pin the key of its time" in gap["issued"]
    assert shown(data, pdf).code == 4


async def rotated(house: House) -> tuple[str, str]:
    """A debate of a log that was closed, and the next log, in which two PDFs of it are recorded."""
    debate = await house.debated()
    rotation = await next_log(house.desk.database, "default", "localhost")
    await open_next(house.desk.database, rotation, LATER.public, EXAMINER)
    signer: Any = house.sequencer._signer
    signer.key = LATER
    await issued(house, debate)
    await issued(house, debate, "letter")
    return debate, "localhost/default/2"


def found_of(data: bytes, trust: Trust) -> VerificationStep:
    """The step ``issued`` of a bundle."""
    return next(step for step in verify_bundle(data, trust, tools(), every=True).steps if step.name == "issued")


async def test_an_accepted_gap_of_one_issued_record_hides_no_forgery_of_the_next(house: House) -> None:
    """No witness dates the first head, which the reader accepts; whoever forges puts a head of his own behind it."""
    debate, log = await rotated(house)
    bundle = unpack(await house.bundle(debate))
    dated = {LATER.public: Period("log", until=date(2100, 1, 1))}
    trust = replace(TRUST, keys=(KEY.public, LATER.public), periods=dated)
    path = "issued/0002.tlog-proof"
    proof = parse_proof(bundle.files[path])
    head = read_head(proof.checkpoint)[1]
    forged = replace(proof, checkpoint=sign_checkpoint(head, STRANGER))
    swapped = {name: bundle.files[name] for name in bundle.files if not name.startswith("issued/")}
    for name, content in bundle.files.items():
        if name.startswith("issued/"):
            swapped[name.translate(str.maketrans("12", "21"))] = content

    accepted = found_of(pack(bundle), trust)
    behind = found_of(pack(rehashed(bundle, {**bundle.files, path: forged.encode()})), trust)

    assert (accepted.state, accepted.allowed) == ("NOT CHECKABLE", True), accepted.detail
    assert (behind.state, behind.allowed) == ("NOT CHECKABLE", False)
    assert "no pinned key signed" in behind.detail
    assert found_of(pack(rehashed(bundle, swapped)), trust).state == "FAILED", "the order is checked behind a gap"
    assert log in accepted.detail


async def test_a_later_head_without_enough_witnesses_is_accepted_as_other_loose_times_are(house: House) -> None:
    debate, log = await rotated(house)
    data = await house.bundle(debate)
    witness = SigningKey.from_seed("witness.example", b"\x09" * 32, COSIGNATURE).public
    trust = Trust(keys=(KEY.public, LATER.public), witnesses=(witness,))

    strict, loose = found_of(data, trust), found_of(data, replace(trust, allow_loose_times=True))

    assert (strict.state, strict.allowed) == ("NOT CHECKABLE", False)
    assert (loose.state, loose.allowed) == ("NOT CHECKABLE", True)
    assert f"LOOSELY DATED: issued reports are recorded in {log}" in strict.detail
    unsigned = found_of(data, replace(trust, keys=(KEY.public,), allow_loose_times=True))
    assert not unsigned.allowed, "loose times are no signature"


async def test_a_later_head_that_no_key_of_the_house_signed_is_damage_of_its_log(house: House) -> None:
    """The bundle would leave as one that any reader finds incomplete, and nobody would hear of it."""
    debate, log = await rotated(house)
    assert "issued/0002.leaf.json" in unpack(await house.bundle(debate)).files
    house.tamper(f"UPDATE log_epoch SET key = '{STRANGER.public.encode()}' WHERE log = '{log}'")

    with pytest.raises(EvidenceDamaged) as refused:
        await house.bundle(debate)

    assert "issued" in refused.value.detail
    noted = house.rows("SELECT subject, log, debate, place FROM damage")
    assert noted == [("log", log, None, f"the log {log}")]


async def test_a_row_that_names_another_record_is_never_believed(house: House) -> None:
    debate = await house.debated()
    pdf = await issued(house, debate)
    await issued(house, debate, "letter")
    a4, letter = house.rows("SELECT record FROM issued_report ORDER BY paper")
    house.tamper("DELETE FROM issued_report WHERE paper = 'letter'", f"UPDATE issued_report SET record = '{letter[0]}'")

    with pytest.raises(EvidenceDamaged):
        await held(house).report(debate, CALLER, "pdf")

    assert a4 != letter
    assert last(shown(await house.bundle(debate), pdf))[0] == "FAILED"


async def test_rows_of_issued_reports_are_made_anew_from_their_records(house: House) -> None:
    debate = await house.debated()
    await issued(house, debate)
    await issued(house, debate, "letter")
    kept = house.rows("SELECT * FROM issued_report ORDER BY paper")
    spoilt = (
        "DELETE FROM issued_report",
        "UPDATE issued_report SET sha256 = 'other'",
        "DELETE FROM issued_report WHERE paper = 'a4'; UPDATE issued_report SET paper = 'a4'",
        "UPDATE issued_report SET record = gen_random_uuid()",
        "UPDATE issued_report SET record = overlay(gen_random_uuid()::text PLACING '0000' FROM 1)::uuid",
    )

    for statement in spoilt:
        house.tamper(statement)
        rebuilt = await rebuild(house.desk.database)
        assert house.rows("SELECT * FROM issued_report ORDER BY paper") == kept, statement
        assert rebuilt.troubles == []
        again = await rebuild(house.desk.database)
        assert (again.added, again.removed) == (0, 0)


async def test_every_edit_of_an_issued_record_is_found(house: House) -> None:
    debate = await house.debated()
    pdf = await issued(house, debate)
    bundle = unpack(await house.bundle(debate))
    files = {path: bundle.files[path] for path in bundle.files}
    ours = sorted(path for path in files if path.startswith("issued/"))
    forged = files["issued/0001.payload.json"].replace(sha256(pdf).hexdigest().encode(), b"0" * 64)

    def came(changed: dict[str, bytes]) -> VerificationReport:
        return verified(pack(rehashed(bundle, changed)))

    assert len(ours) == 4
    for path in ours:
        left_out = {name: content for name, content in files.items() if name != path}
        assert came(left_out).failed, f"{path} left out"
        assert came({**files, path: files[path] + b" "}).failed, f"{path} with a blank more"
    assert came({**files, "issued/0001.payload.json": forged}).failed
    twice = {path.replace("0001", "0002"): files[path] for path in ours}
    assert came({**files, **twice}).failed
    none = {name: content for name, content in files.items() if name not in ours}
    assert wrong(came(none)) == {}, "nothing in a debate says how often its report was issued"
    assert last(shown(pack(rehashed(bundle, none)), pdf))[0] == "FAILED"
