"""Paths that are made a tile at a time are those that are made one by one, and none leads through a changed tile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from hashlib import sha256

import pytest

from service.audit.tree import verify_inclusion
from service.reviews.evidence.inclusion_paths import inclusion_paths
from service.store.pool import Database
from service.store.proofs import LogDamaged, SignedCheckpoint, checkpoint_at, inclusions
from service.store.tiles import StoredTiles
from tests.fixtures import postgres
from tests.fixtures.growing import LOG, Growing

SIZES = (1, 255, 256, 257, 600, 65_536, 66_100)
CHOSEN = {*range(0, 66_100, 997), *(0, 1, 254, 255, 256, 257, 511, 512, 599, 65_279, 65_280, 65_535, 65_536, 66_099)}


@pytest.fixture
def grown(database: postgres.Database) -> Iterator[Growing]:
    log = Growing(database.admin_url)
    hashes = [sha256(str(n).encode()).digest() for n in range(SIZES[-1])]
    for before, size in zip((0, *SIZES), SIZES, strict=False):
        log.add(hashes[before:size])
    yield log
    log.close()


@pytest.fixture
async def store(database: postgres.Database) -> AsyncIterator[Database]:
    async with Database.open(database.service_url, size=2) as opened:
        yield opened


async def head(store: Database, size: int) -> SignedCheckpoint:
    found = await checkpoint_at(store, "default", LOG, size)
    assert found is not None
    return found


@pytest.mark.no_replay
async def test_paths_of_many_leaves_are_those_of_each(grown: Growing, store: Database) -> None:
    for size in SIZES:
        chosen = sorted(index for index in CHOSEN if index < size)
        signed = await head(store, size)

        found = await inclusion_paths(store, "default", signed, reversed(chosen))

        assert found == await inclusions(store, "default", LOG, chosen, size)
        for index in chosen:
            verify_inclusion(grown.hashes[index], index, size, found[index], signed.root)
    assert await inclusion_paths(store, "default", await head(store, 600), []) == {}


@pytest.mark.no_replay
async def test_no_path_leads_through_a_tile_that_was_changed(grown: Growing, store: Database) -> None:
    signed = await head(store, 600)
    grown.tamper("UPDATE tile SET hashes = overlay(hashes PLACING sha256('x') FROM 33) WHERE level = 0 AND idx = 1")

    for some in (range(100), range(256, 300)):
        with pytest.raises(LogDamaged):
            await inclusion_paths(store, "default", signed, some)


@pytest.mark.no_replay
async def test_a_tile_that_changes_between_two_looks_is_noticed(
    grown: Growing, store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = await head(store, 600)
    statement = "UPDATE tile SET hashes = overlay(hashes PLACING sha256('x') FROM 33) WHERE level = 0 AND idx = 1"

    async def proven_then_changed(database: Database, tenant: str, log: str, indexes: list[int], size: int) -> object:
        found = await inclusions(database, tenant, log, indexes, size)
        StoredTiles.of(database).forget()
        grown.tamper(statement)
        return found

    monkeypatch.setattr("service.reviews.evidence.inclusion_paths.inclusions", proven_then_changed)

    with pytest.raises(LogDamaged, match="changed while it was read"):
        await inclusion_paths(store, "default", signed, range(256, 300))
