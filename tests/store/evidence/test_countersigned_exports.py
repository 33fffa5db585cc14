"""An export waits a moment for a witness, and leaves nothing out for its sake."""

from __future__ import annotations

import asyncio

from service.audit.export import decode_header
from service.verify.export import verify_export
from tests.fixtures.waiting import within
from tests.store.evidence.conftest import House
from tests.store.evidence.test_countersigned import ONE, PINNED, countersign


async def test_an_export_of_a_log_that_no_witness_knows_has_the_latest_head_at_once(house: House) -> None:
    await house.debated()

    lines = await within(2, house.export())

    ((size,),) = house.rows("SELECT max(size) FROM checkpoint")
    assert decode_header(lines[0]).size == size


async def test_an_export_waits_for_a_head_that_a_witness_has_seen_over_everything_that_is_there(house: House) -> None:
    await house.debated()
    countersign(house, ONE)
    await house.debated()
    ((there,),) = house.rows("SELECT max(size) FROM checkpoint")
    asked = asyncio.create_task(house.export())
    await asyncio.sleep(0.5)
    assert not asked.done()
    seen = countersign(house, ONE)

    lines = await asked

    assert decode_header(lines[0]).size == seen >= there
    assert verify_export(lines, PINNED).failed == ()


async def test_a_witness_that_is_away_keeps_no_record_from_an_export(house: House) -> None:
    await house.debated()
    countersign(house, ONE)
    await house.debated()
    ((there,),) = house.rows("SELECT max(size) FROM checkpoint")

    assert decode_header((await house.export())[0]).size == there
