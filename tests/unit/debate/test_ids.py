"""Debate ids are UUIDs of version 7 (RFC 9562, 5.7): they sort by the millisecond in which they were made."""

from __future__ import annotations

import time
from uuid import UUID

import pytest

from service.store import sealing


def test_a_debates_id_is_a_uuid_of_version_7_that_holds_its_time() -> None:
    before = time.time_ns() // 1_000_000
    made = sealing.uuid7()
    after = time.time_ns() // 1_000_000

    read = UUID(made)

    assert (read.version, read.variant, str(read)) == (7, "specified in RFC 4122", made)
    assert before <= read.int >> 80 <= after


def test_ids_of_different_milliseconds_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(millisecond: int) -> str:
        monkeypatch.setattr(time, "time_ns", lambda: millisecond * 1_000_000)
        return sealing.uuid7()

    ids = [at(1_800_000_000_000 + n) for n in range(200)]

    assert ids == sorted(ids)
    assert len({sealing.uuid7() for _ in range(1_000)}) == 1_000
