"""A log that is recomputed from what is stored names whatever does not agree, and nothing when all does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from uuid import UUID

import pytest
from msgspec import Struct
from msgspec.structs import replace

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import SigningKey
from service.audit.recomputation import FINDINGS_MAX, Recomputation, StoredHead, StoredLeaf
from service.audit.record import Actor, Link, Record, RecordPlace, Times, Writer, seal
from service.audit.tiles import Builder, Tile
from service.audit.tree import Frontier

LOG = "host/default/1"
KEY, STRANGER = (SigningKey.from_seed("host", bytes([n]) * 32) for n in (1, 2))
WRITER = Writer(Actor("w", "service", "worker", "databaseRole"), "00" * 32)
LENGTH, BATCH = 600, 75


class Log(Struct, frozen=True):
    """What is stored of a log: leaves in order, roots by the size that they were written at, full tiles."""

    leaves: tuple[StoredLeaf, ...]
    heads: tuple[StoredHead, ...]
    tiles: tuple[Tile, ...]


def record(debate: str, n: int, prev: bytes, log: str = LOG, payload: bytes = b"{}") -> Record:
    return seal(
        payload,
        bytes([n % 256]) * 32,
        "debate.concluded" if n == 19 else "turn.spoke",
        place=RecordPlace(log, "default", debate),
        writer=WRITER,
        link=Link(n, prev),
        times=Times("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
    )


def a_log() -> Log:
    """Thirty debates of twenty records, whose records alternate, in batches of 75."""
    ends = [b""] * 30
    leaves, heads, tiles, tree, builder = [], [], [], Frontier(), Builder()
    for index in range(LENGTH):
        chain, n = index % 30, index // 30
        debate = str(UUID(int=chain + 1))
        made = record(debate, n, ends[chain])
        ends[chain] = made.leaf_hash
        leaves.append(StoredLeaf(index, made.leaf_hash, debate, n, made.leaf, made.salt, made.payload))
        tree.add(made.leaf_hash)
        tiles += builder.add([made.leaf_hash])
        if tree.size % BATCH == 0:
            note = sign_checkpoint(Checkpoint(LOG, tree.size, tree.root()), KEY)
            heads += [StoredHead(tree.size, tree.root(), None), StoredHead(tree.size, tree.root(), note)]
    return Log(tuple(leaves), tuple(heads), tuple(tiles))


SOUND = a_log()


def findings(log: Log) -> list[str]:
    work = Recomputation(LOG, [KEY.public])
    at = 0
    for head in log.heads:
        work.leaves(log.leaves[at : max(at, head.size)])
        at = max(at, head.size)
        work.head(head)
    work.leaves(log.leaves[at:])
    for tile in log.tiles:
        work.tile(tile.level, tile.index, tile.hashes)
    work.end()
    return [*work.findings, *["more"] * work.more]


def test_a_sound_log_gives_no_finding() -> None:
    assert findings(SOUND) == []


@pytest.mark.parametrize("steps", [1, 7, 256, 600])
def test_the_size_of_the_steps_changes_nothing(steps: int) -> None:
    work = Recomputation(LOG, [KEY.public])
    for first in range(0, LENGTH, steps):
        work.leaves(SOUND.leaves[first : first + steps])

    assert (work.size, work.root, work.findings) == (LENGTH, SOUND.heads[-1].root, [])


def changed(at: int, **changes: object) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        leaves = list(log.leaves)
        leaves[at] = replace(leaves[at], **changes)
        return replace(log, leaves=tuple(leaves))

    return change


def resealed(at: int) -> Callable[[Log], Log]:
    """Another payload, sealed and hashed as it should be: only the tree and the chain can tell."""

    def change(log: Log) -> Log:
        old = log.leaves[at]
        made = record(old.debate, old.n, b"", payload=b"[]")
        return changed(at, leaf=made.leaf, hash=made.leaf_hash, salt=made.salt, payload=made.payload)(log)

    return change


def without(*ats: int) -> Callable[[Log], Log]:
    return lambda log: replace(log, leaves=tuple(leaf for i, leaf in enumerate(log.leaves) if i not in ats))


def swapped(one: int, other: int) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        leaves = list(log.leaves)
        leaves[one], leaves[other] = (
            replace(leaves[other], index=one),
            replace(leaves[one], index=other),
        )
        return replace(log, leaves=tuple(leaves))

    return change


def with_head(at: int, **changes: object) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        heads = list(log.heads)
        heads[at] = replace(heads[at], **changes)
        return replace(log, heads=tuple(heads))

    return change


FORGED_NOTE = sign_checkpoint(Checkpoint(LOG, LENGTH, SOUND.heads[-1].root), STRANGER)
OTHER_LOG = sign_checkpoint(Checkpoint("host/other/1", LENGTH, SOUND.heads[-1].root), KEY)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (changed(100, leaf=None), "record 3 of .*00b .leaf 100. is not stored"),
        (changed(100, leaf=SOUND.leaves[100].leaf[:-1] + b" "), "leaf 100. is not the one that was logged"),  # type: ignore[index]
        (changed(100, hash=bytes(32)), "leaf 100. is not the one that was logged"),
        (changed(100, payload=None, salt=None), "the payload of record 3 .* is not stored"),
        (changed(100, payload=b"[]"), "the payload of record 3 .* is not the one that the record commits to"),
        (changed(100, salt=bytes(32)), "the payload of record 3 .* is not the one that the record commits to"),
        (resealed(100), "leaf 100. does not follow the record before it"),
        (resealed(15), "signed head at 75 has another root"),
        (resealed(599), "signed head at 600 has another root"),
        (without(599), "expected a signed head at 599, found it at 600: leaves are missing"),
        (without(100), "expected leaf 100, found leaf 101: leaves are missing"),
        (without(*range(11, 600, 30)), "expected leaf 11, found leaf 12: leaves are missing"),
        (swapped(100, 101), "the batch that ends at 150 has another root"),
        (swapped(40, 70), "does not follow the record before it"),
        (with_head(3, root=bytes(32)), "the signed head at 150 has another root"),
        (with_head(2, root=bytes(32)), "the batch that ends at 150 has another root"),
        (with_head(-1, note=FORGED_NOTE), "the signed head at 600 is not signed by the log's key"),
        (with_head(-1, note=b"rubbish"), "the signed head at 600 is not signed by the log's key"),
        (with_head(-1, note=OTHER_LOG), "the signed head at 600 says something else"),
        (with_head(1, note=SOUND.heads[-1].note), "the signed head at 75 says something else"),
        (lambda log: replace(log, tiles=log.tiles[:-1]), "tile 0/1 is missing"),
        (
            lambda log: replace(log, tiles=(replace(log.tiles[0], hashes=bytes(8192)), log.tiles[1])),
            "tile 0/0 does not",
        ),
        (lambda log: replace(log, tiles=(*log.tiles, Tile(0, 2, bytes(8192)))), "tile 0/2 does not hold"),
    ],
)
def test_what_was_changed_is_named(change: Callable[[Log], Log], finding: str) -> None:
    found = findings(change(SOUND))

    assert found
    assert any(re.search(finding, each) for each in found), found


def test_a_record_of_another_log_is_named() -> None:
    made = record(SOUND.leaves[0].debate, 0, b"", "host/other/1")
    forged = changed(0, leaf=made.leaf, hash=made.leaf_hash, salt=made.salt, payload=made.payload)(SOUND)

    assert any("in host/other/1" in each for each in findings(forged))


def test_findings_are_counted_when_they_are_too_many_to_tell() -> None:
    emptied: Sequence[StoredLeaf] = [replace(leaf, payload=None) for leaf in SOUND.leaves]

    found = findings(replace(SOUND, leaves=tuple(emptied)))

    assert len(found) == LENGTH
    assert found.count("more") == LENGTH - FINDINGS_MAX
