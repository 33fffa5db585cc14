"""A bundle is proven under a head that witnesses have countersigned, where there is one that covers the debate."""

from __future__ import annotations

import time

from msgspec.structs import replace

from service.audit.checkpoint import cosign, open_checkpoint
from service.audit.note import COSIGNATURE, SigningKey
from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from tests.fixtures.bundles import failed
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
