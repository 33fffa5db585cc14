"""Proofs from a stored tree: every one leads to the signed root, and none is given from a tree that was changed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import pytest

from service.audit.checkpoint import cosignatures, open_checkpoint
from service.audit.note import parse_note
from service.audit.tiles import tile_width
from service.audit.tree import EMPTY_ROOT, leaf_hash, root_of, verify_consistency, verify_inclusion
from service.errors import NotFound
from service.store import proofs
from service.store.pool import Database, ServingDatabase
from service.store.proofs import LogDamaged
from tests.fixtures.growing import KEY, LOG, WITNESS, Growing
from tests.fixtures.postgres import Database as Place

SIZES = (1, 2, 255, 256, 257, 600, 1_024, 66_000, 66_304)
"""Around the edges of tiles; the last but one has a tile of the third level, partial as are those below it."""


@pytest.fixture(scope="module")
def grown(module_database: Place) -> Iterator[Growing]:
    """A log that was signed at each of the sizes."""
    log = Growing(module_database.admin_url)
    leaves = [b"leaf %d" % n for n in range(SIZES[-1])]
    for size in SIZES:
        log.grow(leaves[len(log.hashes) : size])
    yield log
    log.close()


@pytest.fixture
def growing(database: Place) -> Iterator[Growing]:
    """A log of its own for one test."""
    log = Growing(database.admin_url)
    yield log
    log.close()


@pytest.mark.parametrize("size", SIZES)
async def test_the_path_of_every_leaf_leads_to_every_signed_root(
    module_database: Place, grown: Growing, size: int
) -> None:
    indexes = {*range(0, size, max(1, size // 40)), *range(max(0, size - 300), size, 7), size - 1}
    async with Database.open(module_database.service_url, size=1) as database:
        paths = await proofs.inclusions(database, "default", LOG, indexes, size)
        alone = await proofs.inclusion(database, "default", LOG, size - 1, size)

    assert set(paths) == indexes
    for index, path in paths.items():
        verify_inclusion(grown.hashes[index], index, size, path, grown.roots[size])
    assert alone == paths[size - 1]


@pytest.mark.parametrize("new", SIZES)
async def test_every_smaller_tree_is_shown_to_be_the_beginning_of_a_signed_one(
    module_database: Place, grown: Growing, new: int
) -> None:
    sizes = {0, new, *(size for size in SIZES if size <= new), *range(1, new, max(1, new // 11))}
    async with Database.open(module_database.service_url, size=1) as database:
        head = await proofs.checkpoint_at(database, "default", LOG, new)
        assert head
        for old in sizes:
            path = await proofs.consistency(database, "default", LOG, old, new)
            root = await proofs.root_at_size(database, "default", LOG, old, head)

            assert root == root_of(grown.hashes[:old])
            verify_consistency(old, new, path, root, grown.roots[new])


async def test_tiles_of_every_width_are_those_of_the_tree(module_database: Place, grown: Growing) -> None:
    async with Database.open(module_database.service_url, size=1) as database:
        for index, width in ((0, 256), (0, 1), (1, 255), (257, 256), (258, 256), (258, 3)):
            hashes = await proofs.tile(database, "default", LOG, 0, index, width)
            leaves = await proofs.entries(database, "default", LOG, index, width)

            assert hashes == b"".join(grown.hashes[256 * index : 256 * index + width])
            assert [leaf_hash(leaf) for leaf in leaves] == grown.hashes[256 * index : 256 * index + width]
        upper = [root_of(grown.hashes[256 * n : 256 * n + 256]) for n in range(259)]
        assert await proofs.tile(database, "default", LOG, 1, 0, 256) == b"".join(upper[:256])
        assert await proofs.tile(database, "default", LOG, 1, 1, 3) == b"".join(upper[256:])
        assert await proofs.tile(database, "default", LOG, 2, 0, 1) == root_of(grown.hashes[:65_536])


async def test_heads_are_those_that_were_signed_with_their_cosignatures(module_database: Place, grown: Growing) -> None:
    async with Database.open(module_database.service_url, size=1) as database:
        head = await proofs.checkpoint_at(database, "default", LOG, 257)
        latest = await proofs.latest_checkpoint(database, "default", LOG)
        (listed,) = await proofs.logs_of(database, "default")
        other = await proofs.logs_of(database, "other")
        between = await proofs.checkpoint_at(database, "default", LOG, 258)

        with pytest.raises(NotFound):
            await proofs.log_of(database, "other", LOG)

    assert head
    checkpoint, signers = open_checkpoint(head.note, [KEY.public])
    assert (checkpoint.origin, checkpoint.size, checkpoint.root) == (LOG, 257, grown.roots[257])
    assert signers == (KEY.public,)
    assert cosignatures(parse_note(head.note), checkpoint, [WITNESS.public]) == {"witness.example": 1_795_000_000}
    assert latest == listed.head
    assert latest
    assert latest.size == SIZES[-1]
    assert (listed.log, listed.epoch, listed.key) == (LOG, 1, KEY.public.encode())
    assert other == []
    assert between is None


async def test_nothing_is_proven_under_a_head_that_was_not_signed(module_database: Place, grown: Growing) -> None:
    async with Database.open(module_database.service_url, size=1) as database:
        for size in (258, SIZES[-1] + 1):
            with pytest.raises(NotFound):
                await proofs.inclusion(database, "default", LOG, 0, size)
            with pytest.raises(NotFound):
                await proofs.consistency(database, "default", LOG, 1, size)
        for call in (
            proofs.inclusion(database, "default", LOG, 257, 257),
            proofs.consistency(database, "default", LOG, 258, 257),
        ):
            with pytest.raises(ValueError):
                await call


CHANGES: dict[str, tuple[str, *tuple[bytes, ...]]] = {
    "a leaf's hash": ("UPDATE leaf SET hash = %s WHERE idx = 513", sha256(b"other").digest()),
    "a full tile": ("UPDATE tile SET hashes = overlay(hashes PLACING %s FROM 33) WHERE idx = 0", bytes(32)),
    "a tile that is gone": ("DELETE FROM tile WHERE idx = 0",),
    "leaves that are gone": ("DELETE FROM leaf WHERE idx >= 510",),
    "another root": ("UPDATE checkpoint SET root = %s", bytes(32)),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_nothing_is_proven_from_a_tree_that_was_changed(database: Place, growing: Growing, name: str) -> None:
    growing.grow([b"leaf %d" % n for n in range(515)])
    growing.tamper(*CHANGES[name])

    async with Database.open(database.service_url, size=1) as opened:
        with pytest.raises(LogDamaged):
            await proofs.inclusions(opened, "default", LOG, (0, 514), 515)
        with pytest.raises(LogDamaged):
            await proofs.consistency(opened, "default", LOG, 257, 515)


async def test_what_was_kept_of_a_tree_is_read_again_when_it_no_longer_proves(
    database: Place, growing: Growing
) -> None:
    """As when the database is put back to what it was: what was read of the wrong one must not stay."""
    growing.grow([b"leaf %d" % n for n in range(515)])
    async with Database.open(database.service_url, size=1) as opened:
        wrong, right = bytes(8192), b"".join(growing.hashes[:256])
        growing.tamper("UPDATE tile SET hashes = %s WHERE idx = 0", wrong)
        with pytest.raises(LogDamaged):
            await proofs.inclusion(opened, "default", LOG, 1, 515)
        growing.tamper("UPDATE tile SET hashes = %s WHERE idx = 0", right)

        path = await proofs.inclusion(opened, "default", LOG, 1, 515)
        verify_inclusion(growing.hashes[1], 1, 515, path, growing.roots[515])

        growing.tamper("UPDATE tile SET hashes = %s WHERE idx = 0", wrong)
        again = await proofs.inclusion(opened, "default", LOG, 1, 515)
        assert again == path, "a full tile never changes: it is read once"


async def test_tiles_of_one_database_are_not_taken_for_those_of_another(
    database: Place, module_database: Place, grown: Growing, growing: Growing
) -> None:
    growing.grow([b"another %d" % n for n in range(300)])
    async with (
        Database.open(module_database.service_url, size=1) as one,
        Database.open(database.service_url, size=1) as other,
    ):
        assert await proofs.tile(one, "default", LOG, 0, 0, 256) == b"".join(grown.hashes[:256])
        assert await proofs.tile(other, "default", LOG, 0, 0, 256) == b"".join(growing.hashes[:256])


def test_a_log_has_the_tiles_that_its_size_allows() -> None:
    for size in (0, 1, 255, 256, 257, 65_536, 65_537):
        for level, index in ((0, 0), (0, 1), (0, 256), (1, 0), (1, 1), (2, 0)):
            allowed = [width for width in range(258) if proofs.has_tile(level, index, width, size)]

            assert allowed == list(range(1, tile_width(level, index, size) + 1))
    assert root_of([]) == EMPTY_ROOT


async def test_a_tile_that_its_tenant_has_read_is_given_to_no_other(module_database: Place, grown: Growing) -> None:
    """Neither from the database nor from the cache, where a full tile stays."""
    async with Database.open(module_database.service_url, size=1) as database:
        assert await proofs.tile(database, "default", LOG, 0, 0, 256) == b"".join(grown.hashes[:256])

        for call in (proofs.tile(database, "other", LOG, 0, 0, 256), proofs.entries(database, "other", LOG, 0, 256)):
            with pytest.raises(LogDamaged):
                await call
        with pytest.raises(NotFound):
            await proofs.inclusion(database, "other", LOG, 0, 257)


async def test_the_views_of_one_pool_read_a_tile_once(growing: Growing, database: Place) -> None:
    growing.grow([b"one %d" % n for n in range(300)])
    async with ServingDatabase.open(database.service_url, size=1) as serving:
        path = await proofs.inclusion(serving.of("default"), "default", LOG, 1, 300)
        growing.tamper("UPDATE tile SET hashes = %s WHERE idx = 0", bytes(8192))

        assert await proofs.inclusion(serving.of("default"), "default", LOG, 1, 300) == path
