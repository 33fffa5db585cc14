"""Tiles hold what C2SP tlog-tiles says, and give every proof that the whole tree gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.audit.tiles import (
    WIDTH,
    Builder,
    Level,
    Tile,
    TileId,
    Tiles,
    decode_entries,
    encode_entries,
    parse_tile_path,
    partial_counts,
    tile_path,
    tile_root,
    tile_width,
    tiles_for_consistency,
    tiles_for_inclusion,
    tiles_for_root,
)
from service.audit.tree import (
    EMPTY_ROOT,
    Frontier,
    ProofError,
    consistency_path,
    inclusion_path,
    root_at,
    verify_consistency,
    verify_inclusion,
)
from tests.fixtures.merkle import leaves, mth, node_of, path, proof

# Two levels of full tiles and a third begun; C2SP's own example of a size.
LEAVES = leaves(70_000)
BUILDER = Builder()
FULL = BUILDER.add(LEAVES)
SIZES = st.one_of(
    st.integers(1, 70_000),
    st.sampled_from([1, 2, 255, 256, 257, 511, 512, 513, 65_280, 65_535, 65_536, 65_537, 65_792, 70_000]),
)


def stored(level: int, index: int, width: int) -> bytes:
    """A tile, or the beginning of one, of the tree of 70,000 leaves."""
    hashes = next((t.hashes for t in FULL if (t.level, t.index) == (level, index)), None)
    if hashes is None:
        hashes = b"".join(BUILDER.partial[level])
    return hashes[: width * 32]


def hashes_of(tile: bytes) -> list[bytes]:
    return [tile[at : at + 32] for at in range(0, len(tile), 32)]


def test_a_tree_of_the_specifications_example_has_the_tiles_it_says() -> None:
    by_level = [[t.index for t in FULL if t.level == level] for level in (0, 1, 2)]

    assert by_level == [list(range(273)), [0], []]
    assert partial_counts(70_000) == [len(hashes) for hashes in BUILDER.partial] == [112, 17, 1]
    assert [tile_width(0, 273, 70_000), tile_width(1, 1, 70_000), tile_width(2, 0, 70_000)] == [112, 17, 1]
    assert [tile_width(0, 272, 70_000), tile_width(0, 274, 70_000), tile_width(3, 0, 70_000)] == [256, 0, 0]
    assert all(t.width == WIDTH for t in FULL)
    assert BUILDER.size == 70_000


def test_each_tile_holds_the_roots_of_its_subtrees() -> None:
    for tile in FULL:
        if tile.level == 0:
            assert hashes_of(tile.hashes) == LEAVES[tile.index * 256 : (tile.index + 1) * 256]
    (above,) = [tile for tile in FULL if tile.level == 1]
    assert hashes_of(above.hashes) == [mth(LEAVES[n * 256 : (n + 1) * 256]) for n in range(256)]
    assert BUILDER.partial == [
        LEAVES[-112:],
        [mth(LEAVES[n * 256 :][:256]) for n in range(256, 273)],
        [mth(LEAVES[:65_536])],
    ]
    assert tile_root(above.hashes) == mth(LEAVES[:65_536])


def test_a_tile_comes_after_those_it_is_made_of() -> None:
    order = [(tile.level, tile.index) for tile in FULL]

    assert order[255:257] == [(0, 255), (1, 0)]
    assert sorted(order) == order[:256] + order[257:] + [(1, 0)]


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 512, 65_535, 65_536, 65_537, 69_999])
def test_a_builder_that_continues_cuts_the_same_tiles(size: int) -> None:
    first = Builder()
    before = first.add(LEAVES[:size])
    again = Builder(size, first.partial)

    assert before + again.add(iter(LEAVES[size:])) == FULL
    assert (again.size, again.partial) == (70_000, BUILDER.partial)


@given(st.lists(st.integers(0, 600), max_size=6))
def test_a_builder_cuts_the_same_tiles_however_the_leaves_arrive(parts: list[int]) -> None:
    builder, found, size = Builder(), list[Tile](), 0
    for part in parts:
        found += builder.add(LEAVES[size : size + part])
        size += part
        builder = Builder(size, builder.partial)

    assert found == Builder().add(LEAVES[:size])
    assert [len(hashes) for hashes in builder.partial] == partial_counts(size)


def test_what_a_builder_gives_out_is_not_its_own() -> None:
    builder = Builder()
    builder.add(LEAVES[:3])
    builder.partial[0].append(b"x")

    assert builder.partial == [LEAVES[:3]]


@pytest.mark.parametrize(
    ("size", "partial"), [(0, [[]]), (1, []), (1, [[]]), (256, [[]]), (256, [[b"x"], []]), (257, [[b"x"]])]
)
def test_a_builder_is_not_continued_from_other_hashes_than_its_size_has(size: int, partial: list[list[bytes]]) -> None:
    with pytest.raises(ValueError, match=f"for a tree of {size} leaves"):
        Builder(size, partial)


@settings(max_examples=40)
@given(st.data(), SIZES)
def test_every_proof_over_tiles_is_that_of_the_tree_and_needs_exactly_the_tiles_foretold(
    data: st.DataObject, size: int
) -> None:
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size))
    old_frontier = Frontier()
    old_frontier.extend(LEAVES[:old])
    frontier = old_frontier.copy()
    frontier.extend(LEAVES[old:size])
    read: set[TileId] = set()

    def reading(level: int, n: int, width: int) -> bytes:
        assert (level, n, width) not in read
        read.add(TileId(level, n, width))
        return stored(level, n, width)

    included = inclusion_path(index, size, Tiles(reading, size).node)
    assert read == tiles_for_inclusion(index, size)
    read.clear()
    between = consistency_path(old, size, Tiles(reading, size).node)
    assert read == tiles_for_consistency(old, size)
    read.clear()
    root = root_at(size, Tiles(reading, size).node)
    assert read == tiles_for_root(size)

    assert root == frontier.root()
    verify_inclusion(LEAVES[index], index, size, included, root)
    verify_consistency(old, size, between, old_frontier.root(), root)


@pytest.mark.parametrize("size", [1, 5, 255, 256, 300, 513])
def test_proofs_over_tiles_are_those_of_the_definition(size: int) -> None:
    tiles = Tiles(stored, size)

    for index in range(0, size, 7):
        assert inclusion_path(index, size, tiles.node) == path(index, LEAVES[:size])
        assert consistency_path(index + 1, size, tiles.node) == proof(index + 1, LEAVES[:size])
    assert root_at(size, tiles.node) == mth(LEAVES[:size])
    assert root_at(0, tiles.node) == EMPTY_ROOT


def test_every_tile_foretold_is_needed() -> None:
    for index, size in [(0, 70_000), (69_999, 70_000), (65_536, 70_000), (5, 300)]:
        needed = tiles_for_inclusion(index, size)
        for missing in needed:
            held = {tile: stored(*tile) for tile in needed - {missing}}
            tiles = Tiles(lambda *tile, held=held: held[TileId(*tile)], size)
            with pytest.raises(KeyError):
                inclusion_path(index, size, tiles.node)


def test_a_proof_needs_few_tiles() -> None:
    assert tiles_for_inclusion(0, 1) == tiles_for_root(0) == tiles_for_consistency(7, 7) == set()
    assert tiles_for_inclusion(0, 2) == {(0, 0, 2)}
    assert tiles_for_inclusion(0, 256) == {(0, 0, 256)}
    assert tiles_for_root(256) == {(1, 0, 1)}
    assert tiles_for_inclusion(1_000, 1_000_000) == {(0, 3, 256), (1, 0, 256), (0, 3906, 64), (1, 15, 66), (2, 0, 15)}


def test_the_nodes_of_a_tree_are_found_at_every_level() -> None:
    tiles, node = Tiles(stored, 2_000), node_of(LEAVES[:2_000])

    for level in range(11):
        for index in range(2_000 >> level):
            assert tiles.node(level, index) == node(level, index)


def test_a_tile_is_read_once_while_it_is_kept_and_again_afterwards() -> None:
    read: list[tuple[int, int]] = []

    def reading(level: int, n: int, width: int) -> bytes:
        read.append((level, n))
        return stored(level, n, width)

    tiles = Tiles(reading, 70_000, kept=2)
    for n in [0, 1, 0, 1, 2, 0]:
        tiles.node(3, n * 32)

    assert read == [(0, 0), (0, 1), (0, 2), (0, 0)]


@pytest.mark.parametrize("found", [b"", bytes(31), bytes(32 * 255), bytes(32 * 257), bytes(32 * 256 + 1)])
def test_a_tile_of_another_length_than_asked_for_is_no_proof(found: bytes) -> None:
    tiles = Tiles(lambda *_: found, 300)

    with pytest.raises(ProofError, match=r"expected 8192 bytes in tile/0/000, found \d+"):
        tiles.node(0, 0)


def test_a_changed_tile_is_not_taken_for_the_one_before() -> None:
    tile = stored(0, 0, 256)
    changed = bytes(32) + tile[32:]

    assert Tiles(lambda *_: tile, 256).node(7, 0) == mth(LEAVES[:128])
    assert Tiles(lambda *_: changed, 256).node(7, 0) == mth([bytes(32), *LEAVES[1:128]])


@pytest.mark.parametrize("width", [0, 1, 255])
def test_a_partial_tile_has_no_root(width: int) -> None:
    with pytest.raises(ValueError, match="expected a full tile of 8192 bytes"):
        tile_root(bytes(32 * width))


@pytest.mark.parametrize(
    ("level", "n", "width", "written"),
    [
        (0, 0, 256, "tile/0/000"),
        (0, 67, 8, "tile/0/067.p/8"),
        (1, 999, 255, "tile/1/999.p/255"),
        (0, 1_000, 256, "tile/0/x001/000"),
        (0, 1_234_067, 256, "tile/0/x001/x234/067"),
        (63, 1_234_067, 1, "tile/63/x001/x234/067.p/1"),
        ("entries", 1_234_067, 256, "tile/entries/x001/x234/067"),
        ("entries", 0, 12, "tile/entries/000.p/12"),
        (0, 2**63 - 1, 256, "tile/0/x009/x223/x372/x036/x854/x775/807"),
    ],
)
def test_tiles_are_served_where_the_specification_says(level: Level, n: int, width: int, written: str) -> None:
    assert tile_path(level, n, width) == written
    assert parse_tile_path(written) == (level, n, width)


@pytest.mark.parametrize(
    "text",
    """
    tile/0 tile/0/ tile/0/0 tile/0/00 tile/0/0000 tile/0/x000/000 tile/0/x001 tile/0/001/x234 tile/0/001/234
    tile/00/000 tile/01/000 tile/64/000 tile/-1/000 tile/+1/000 tile/x/000 tile/data/000 tile/0/000.p tile/0/000.p/
    tile/0/000.p/0 tile/0/000.p/08 tile/0/000.p/256 tile/0/000.p/257 tile/0/000.p/1/ tile/0/000/ /tile/0/000
    tile/0/٠٠٠ tile/٠/000 tile/0/x009/x223/x372/x036/x854/x775/808 tile/0/x001/x000/x000/x000/x000/x000/x000/000
    tile//000 tile/0//000 tile/0/../000 tile/entries tile/Entries/000 checkpoint
    """.split(),
)
def test_a_path_that_is_not_exactly_a_tiles_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected "):
        parse_tile_path(text)


@pytest.mark.parametrize("text", ["", "tile/0/000\n", " tile/0/000", "tile/0/000 ", "tile/0/000\x00"])
def test_a_path_with_anything_around_it_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected "):
        parse_tile_path(text)


@given(
    st.one_of(st.just("entries"), st.integers(0, 63)),
    st.integers(0, 2**63 - 1) | st.integers(0, 2_000_000),
    st.integers(1, 256),
)
def test_every_tiles_path_reads_back(level: Level, n: int, width: int) -> None:
    assert parse_tile_path(tile_path(level, n, width)) == (level, n, width)


@given(st.from_regex(r"tile/[0-9a-z]{1,3}(/x?[0-9]{2,4}){1,3}(\.p/[0-9]{0,4})?\n?", fullmatch=True) | st.text())
def test_no_two_paths_name_one_tile(text: str) -> None:
    try:
        named = parse_tile_path(text)
    except ValueError:
        return
    assert tile_path(*named) == text


@pytest.mark.parametrize(
    ("level", "n", "width"), [(-1, 0, 1), (64, 0, 1), (0, -1, 1), (0, 2**63, 1), (0, 0, 0), (0, 0, 257)]
)
def test_a_tile_that_cannot_be_has_no_path(level: int, n: int, width: int) -> None:
    with pytest.raises(ValueError, match="expected "):
        tile_path(level, n, width)


@given(st.lists(st.binary(max_size=300), max_size=256))
def test_a_bundle_gives_back_its_leaves(bundle: list[bytes]) -> None:
    assert decode_entries(encode_entries(bundle)) == bundle


@given(st.binary(max_size=40))
def test_no_two_bundles_hold_the_same_leaves(data: bytes) -> None:
    try:
        found = decode_entries(data)
    except ValueError:
        return
    assert encode_entries(found) == data


def test_a_bundle_is_each_leaf_after_its_length() -> None:
    longest = bytes(65_535)

    assert encode_entries([b"ab", b"", longest]) == b"\x00\x02ab\x00\x00\xff\xff" + longest
    with pytest.raises(ValueError, match=r"at most 65535 bytes, found 65536"):
        encode_entries([longest + b"x"])
    with pytest.raises(ValueError, match=r"at most 256 leaves in a bundle, found 257"):
        encode_entries([b""] * 257)
    with pytest.raises(ValueError, match=r"at most 256 leaves in a bundle, found 257"):
        decode_entries(b"\x00\x00" * 257)


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x01", b"\x00\x02a", b"\x00\x01ab", b"\x00\x01a\x00", b"\xff\xff"])
def test_a_bundle_that_ends_inside_of_a_leaf_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="ends inside of leaf"):
        decode_entries(data)
