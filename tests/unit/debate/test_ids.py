"""Debate ids are UUIDs of version 7 (RFC 9562, 5.7): they sort by the millisecond in which they were made."""

from __future__ import annotations

from uuid import UUID

from service.store import sealing


def test_a_debates_id_is_a_uuid_of_version_7_that_holds_its_time() -> None:
    made = sealing.uuid7(1_800_000_000.1239)

    read = UUID(made)

    assert (read.version, read.variant, str(read)) == (7, "specified in RFC 4122", made)
    assert read.int >> 80 == 1_800_000_000_123


def test_ids_of_different_milliseconds_sort_by_time() -> None:
    ids = [sealing.uuid7((1_800_000_000_000 + n) / 1_000) for n in range(200)]

    assert ids == sorted(ids)
    assert len({sealing.uuid7(1_800_000_000.0) for _ in range(1_000)}) == 1_000
