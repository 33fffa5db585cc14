"""A bundle is proven under a head that witnesses have countersigned, where there is one that covers the debate."""

from __future__ import annotations

import asyncio
import time

import pytest
from msgspec.structs import replace

from service.audit.checkpoint import cosign, open_checkpoint
from service.audit.note import COSIGNATURE, SigningKey
from service.cli.audit.verify import tools
from service.errors import NotProvable
from service.reviews import Reviews
from service.reviews.evidence import covering_head
from service.verify.bundle import verify_bundle
from tests.fixtures.bundles import failed
from tests.fixtures.running import CALLER
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import TRUST, House

ONE, OTHER = (SigningKey.from_seed(name, b"\x03" * 32, COSIGNATURE) for name in ("one.example", "other.example"))
PINNED = replace(TRUST, witnesses=(ONE.public,), allow_unwitnessed=False)
KEEP = "INSERT INTO cosignature (log, size, witness, line) VALUES (%s, %s, %s, %s) RETURNING size"


def countersign(house: House, *witnesses: SigningKey) -> int:
    """Let witnesses countersign the latest head; its size."""
    ((size, note),) = house.rows("SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1")
    head, _ = open_checkpoint(bytes(note), [KEY.public])
    for witness in witnesses:
        house.rows(KEEP, LOG, size, witness.public.name, cosign(head, int(time.time()), witness))
    return int(size)


def size_of(report_head: bytes) -> int:
    return open_checkpoint(report_head, [KEY.public])[0].size


async def test_a_log_that_goes_on_takes_no_witness_from_a_bundle(house: House) -> None:
    debate = await house.debated()
    seen = countersign(house, ONE)
    await house.bundle(debate)
    await house.sequencer.catch_up()  # the reading is recorded, signed, and not countersigned yet
    data = await house.bundle(debate)

    assert failed(verify_bundle(data, PINNED, tools())) == []
    assert size_of((await house.opened(debate)).files["checkpoints/0001.txt"]) == seen


async def test_the_latest_head_that_most_witnesses_have_seen_is_taken_if_it_covers_the_debate(house: House) -> None:
    first = await house.debated()
    both = countersign(house, ONE, OTHER)
    second = await house.debated()
    one = countersign(house, ONE)
    third = await house.debated()

    found = {d: size_of((await house.opened(d)).files["checkpoints/0001.txt"]) for d in (first, second, third)}

    assert (found[first], found[second]) == (both, one)
    assert found[third] > one


async def issue(house: House, debate: str) -> bytes:
    """The PDF of a debate, recorded in its log."""
    desk = house.desk
    asking = asyncio.create_task(
        Reviews(desk.database, lambda _tenant: desk.deployment, desk.hub, house.logs).report(debate, CALLER, "pdf")
    )
    while not asking.done():
        await house.sequencer.catch_up()
        await asyncio.wait({asking}, timeout=0.02)
    return asking.result()


async def test_a_bundle_is_held_until_a_countersigned_head_has_the_issued_report(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older head with the debate and without the record would make a genuine PDF one that was never issued."""
    debate = await house.debated()
    countersign(house, ONE)
    pdf = await issue(house, debate)
    monkeypatch.setattr(covering_head, "HOLD_S", 0)
    reads = house.rows("SELECT count(*) FROM entry WHERE position('audit.read'::bytea IN leaf) > 0")

    with pytest.raises(NotProvable, match="countersigned by a witness") as held:
        await house.bundle(debate)

    assert (held.value.status, held.value.retry_after) == (503, 1)
    assert house.rows("SELECT count(*) FROM entry WHERE position('audit.read'::bytea IN leaf) > 0") == reads
    countersign(house, ONE)
    found = verify_bundle(await house.bundle(debate), PINNED, tools(), shown=pdf)
    assert (failed(found), found.steps[-1].name, found.steps[-1].state) == ([], "shown", "OK")


async def test_a_bundle_waits_for_the_witness_of_an_issued_report(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness answers after the first look."""
    debate = await house.debated()
    countersign(house, ONE)
    pdf = await issue(house, debate)
    refused = covering_head.not_covered

    def look(*arguments: str) -> NotProvable:
        countersign(house, ONE)
        monkeypatch.setattr(covering_head, "not_covered", refused)
        return refused(*arguments)

    monkeypatch.setattr(covering_head, "not_covered", look)

    found = verify_bundle(await house.bundle(debate), PINNED, tools(), shown=pdf)

    assert (failed(found), found.steps[-1].state, covering_head.not_covered) == ([], "OK", refused)


async def test_a_log_that_lost_its_witnesses_still_gives_bundles_with_every_issued_report(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    debate = await house.debated()
    countersign(house, ONE)
    pdf = await issue(house, debate)
    monkeypatch.setattr(covering_head, "AWAITED_S", 0)

    found = verify_bundle(await house.bundle(debate), TRUST, tools(), shown=pdf)

    assert (found.steps[-1].name, found.steps[-1].state) == ("shown", "OK")
