"""A bundle has the stamped heads between which its debate lies, each with its token."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.audit.bundle import STAMPED_BEFORE, STAMPED_FIRST, unpack
from service.audit.earlier_head import parse_earlier_head
from service.audit.note import parse_note
from service.audit.timestamp import open_time_stamp
from service.errors import EvidenceDamaged
from service.proving.signing.time_stamps import TimeStampAuthority
from tests.fixtures.sequencing import LOG
from tests.store.evidence.conftest import House
from tests.store.evidence.test_dated import size_of
from tests.store.test_stamping_http import authority, needs_openssl, openssl

LATEST = "SELECT size, note FROM checkpoint WHERE log = %s ORDER BY size DESC LIMIT 1"
KEEP = (
    "INSERT INTO time_stamp (log, size, stamped, authority, token) VALUES (%s, %s, to_timestamp(%s), %s, %s) "
    "RETURNING size"
)


async def stamp(house: House, client: TimeStampAuthority, *, damaged: bool = False) -> int:
    """Have the latest head stamped and store that; its size."""
    ((size, note),) = house.rows(LATEST, LOG)
    made = await client.stamp(bytes(note))
    token = bytes(len(made.token)) if damaged else made.token
    house.rows(KEEP, LOG, size, made.seconds, made.authority, token)
    return int(size)


@needs_openssl
async def test_a_bundle_has_the_last_stamped_head_without_the_debate_and_the_first_with_it(
    house: House, tmp_path: Path
) -> None:
    async with authority(openssl(tmp_path)) as client:
        await house.declined()
        await stamp(house, client)
        await house.declined()
        before = await stamp(house, client)
        debate = await house.debated()
        first = await stamp(house, client)
        await house.declined()
        await stamp(house, client)

    files = unpack(await house.bundle(debate)).files

    assert {path: size_of(files[path]) for path in (STAMPED_BEFORE, STAMPED_FIRST)} == {
        STAMPED_BEFORE: before,
        STAMPED_FIRST: first,
    }
    for path in (STAMPED_BEFORE, STAMPED_FIRST):
        text = parse_note(parse_earlier_head(files[path]).checkpoint).text
        open_time_stamp(files[path.replace(".txt", ".tst")], text)


@needs_openssl
async def test_a_bundle_with_a_damaged_time_stamp_does_not_leave(house: House, tmp_path: Path) -> None:
    async with authority(openssl(tmp_path)) as client:
        debate = await house.debated()
        await stamp(house, client, damaged=True)

    with pytest.raises(EvidenceDamaged, match="expected a time stamp in DER"):
        await house.bundle(debate)
    assert house.rows("SELECT DISTINCT subject, log FROM damage") == [("log", LOG)]
