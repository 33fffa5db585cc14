"""Roots and proofs are those of RFC 6962, and nothing but the right proof is believed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.audit import tree
from service.audit.tree import (
    EMPTY_ROOT,
    SIZE_MAX,
    Frontier,
    ProofError,
    consistency_path,
    inclusion_path,
    root_at,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from tests.fixtures import merkle
from tests.fixtures.merkle import CT_LEAVES, CT_ROOTS, leaves, mth, node_of

LEAVES = leaves(71)
OTHER = merkle.leaf(b"another")
SIZES = [(old, new) for new in range(1, 22) for old in range(1, new + 1)]


def included(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    try:
        verify_inclusion(leaf, index, size, path, root)
    except ProofError:
        return False
    return True


def consistent(old: int, new: int, path: list[bytes], old_root: bytes, new_root: bytes) -> bool:
    try:
        verify_consistency(old, new, path, old_root, new_root)
    except ProofError:
        return False
    return True


def changed(path: list[bytes]) -> list[list[bytes]]:
    """Every path with one hash more, one less, another one, or two in the wrong order."""
    places = range(len(path))
    others = [[*path[:at], OTHER, *path[at:]] for at in range(len(path) + 1)]
    others += [[*path[:at], path[at], *path[at:]] for at in places]
    others += [[*path[:at], *path[at + 1 :]] for at in places]
    others += [[*path[:at], OTHER, *path[at + 1 :]] for at in places]
    others += [[*path[:at], path[at + 1], path[at], *path[at + 2 :]] for at in places[:-1]]
    return others


def flipped(data: bytes) -> list[bytes]:
    """The bytes with each of their bits flipped in turn."""
    number = int.from_bytes(data)
    return [(number ^ 1 << bit).to_bytes(len(data)) for bit in range(8 * len(data))]


@pytest.mark.parametrize("size", range(9))
def test_the_roots_of_the_certificate_transparency_trees_are_the_published_ones(size: int) -> None:
    hashes = [tree.leaf_hash(leaf) for leaf in CT_LEAVES[:size]]

    assert root_of(hashes).hex() == CT_ROOTS[size]
    assert root_of(iter(hashes)).hex() == CT_ROOTS[size]
    assert mth(hashes).hex() == CT_ROOTS[size]


def test_the_proofs_of_the_certificate_transparency_tree_are_the_published_ones() -> None:
    node = node_of([tree.leaf_hash(leaf) for leaf in CT_LEAVES])

    assert [h.hex() for h in inclusion_path(0, 8, node)] == [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]
    assert [h.hex() for h in inclusion_path(5, 8, node)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [h.hex() for h in consistency_path(6, 8, node)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


def test_a_node_and_a_leaf_are_hashed_apart_from_each_other() -> None:
    assert tree.node_hash(b"l" * 32, b"r" * 32) == merkle.parent(b"l" * 32, b"r" * 32)
    assert tree.node_hash(b"", b"x") != tree.leaf_hash(b"x")


@pytest.mark.parametrize("size", range(71))
def test_a_frontier_has_the_root_of_its_leaves_and_continues_from_its_bytes(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier.add(leaf)
    again = Frontier.decode(frontier.size, frontier.encode())

    assert frontier.root() == again.root() == root_at(size, node_of(LEAVES)) == mth(LEAVES[:size])
    assert (again.size, again.encode()) == (size, frontier.encode())
    again.extend(LEAVES[size:])
    assert (again.size, again.root()) == (71, mth(LEAVES))
    assert frontier.size == size


@given(st.integers(0, 4_000), st.integers(0, 4_000))
def test_a_frontier_that_grows_in_two_parts_has_the_root_of_the_whole(first: int, second: int) -> None:
    hashes = leaves(first + second)
    frontier = Frontier()
    frontier.extend(hashes[:first])
    twin = frontier.copy()
    frontier.extend(iter(hashes[first:]))

    assert frontier.root() == mth(hashes)
    assert (twin.size, twin.root()) == (first, mth(hashes[:first]))


def test_a_frontier_counts_what_it_took_in_when_the_leaves_stop_with_an_error() -> None:
    def broken() -> object:
        yield from LEAVES[:3]
        raise OSError("the store is gone")

    frontier = Frontier()
    with pytest.raises(OSError, match="the store is gone"):
        frontier.extend(broken())  # type: ignore[arg-type]

    assert (frontier.size, frontier.root()) == (3, mth(LEAVES[:3]))


@pytest.mark.parametrize(("size", "length"), [(0, 32), (1, 0), (1, 64), (3, 32), (3, 65), (4, 64), (-1, 32), (-1, 0)])
def test_a_frontier_of_another_size_is_refused(size: int, length: int) -> None:
    with pytest.raises(ValueError, match="hashes of a tree of"):
        Frontier.decode(size, bytes(length))


@pytest.mark.parametrize("size", range(1, 71))
def test_every_inclusion_path_is_that_of_the_definition_and_is_believed(size: int) -> None:
    hashes, node = LEAVES[:size], node_of(LEAVES[:size])
    for index in range(size):
        path = inclusion_path(index, size, node)

        assert path == merkle.path(index, hashes)
        verify_inclusion(hashes[index], index, size, path, mth(hashes))


@pytest.mark.parametrize("size", range(71))
def test_every_consistency_path_is_that_of_the_definition_and_is_believed(size: int) -> None:
    hashes, node = LEAVES[:size], node_of(LEAVES[:size])
    for old in range(size + 1):
        path = consistency_path(old, size, node)

        assert path == (merkle.proof(old, hashes) if old else [])
        verify_consistency(old, size, path, mth(hashes[:old]), mth(hashes))


@settings(max_examples=30)
@given(st.data(), st.integers(1, 5_000))
def test_proofs_of_larger_trees_are_those_of_the_definition(data: st.DataObject, size: int) -> None:
    hashes = leaves(size)
    node, root = node_of(hashes), mth(hashes)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    path, between = inclusion_path(index, size, node), consistency_path(old, size, node)

    assert (path, between) == (merkle.path(index, hashes), merkle.proof(old, hashes))
    verify_inclusion(hashes[index], index, size, path, root)
    verify_consistency(old, size, between, mth(hashes[:old]), root)


@pytest.mark.parametrize("size", range(1, 10))
def test_no_bit_of_an_inclusion_proof_may_differ(size: int) -> None:
    hashes, root = LEAVES[:size], mth(LEAVES[:size])
    for index, leaf in enumerate(hashes):
        path = merkle.path(index, hashes)

        assert not any(included(other, index, size, path, root) for other in flipped(leaf))
        assert not any(included(leaf, index, size, path, other) for other in flipped(root))
        for at, sibling in enumerate(path):
            for other in flipped(sibling):
                assert not included(leaf, index, size, [*path[:at], other, *path[at + 1 :]], root)


@pytest.mark.parametrize("size", range(1, 10))
def test_no_bit_of_a_consistency_proof_may_differ(size: int) -> None:
    new_root = mth(LEAVES[:size])
    for old in range(1, size + 1):
        path, old_root = merkle.proof(old, LEAVES[:size]), mth(LEAVES[:old])

        assert not any(consistent(old, size, path, other, new_root) for other in flipped(old_root))
        assert not any(consistent(old, size, path, old_root, other) for other in flipped(new_root))
        for at, sibling in enumerate(path):
            for other in flipped(sibling):
                assert not consistent(old, size, [*path[:at], other, *path[at + 1 :]], old_root, new_root)


@pytest.mark.parametrize("size", range(1, 35))
def test_no_path_with_a_hash_more_less_or_elsewhere_is_believed(size: int) -> None:
    root = mth(LEAVES[:size])
    for at in range(size):
        path = merkle.path(at, LEAVES[:size])
        between = merkle.proof(at + 1, LEAVES[:size])
        old_root = mth(LEAVES[: at + 1])

        assert included(LEAVES[at], at, size, path, root)
        assert not any(included(LEAVES[at], at, size, other, root) for other in changed(path))
        assert consistent(at + 1, size, between, old_root, root)
        assert not any(consistent(at + 1, size, other, old_root, root) for other in changed(between))


@pytest.mark.parametrize("size", range(2, 35))
def test_an_inclusion_path_cut_short_is_refused_even_with_the_root_it_leads_to(size: int) -> None:
    for index in range(size):
        path = merkle.path(index, LEAVES[:size])
        for length, (begin, end) in enumerate(merkle.spans(index, size)[:-1]):
            with pytest.raises(ProofError, match="fewer than leaf"):
                verify_inclusion(LEAVES[index], index, size, path[:length], mth(LEAVES[begin:end]))


@pytest.mark.parametrize("size", range(2, 35))
def test_a_consistency_path_cut_short_is_refused_even_with_the_roots_it_leads_to(size: int) -> None:
    for old in range(1, size):
        path = merkle.proof(old, LEAVES[:size])
        larger = [(begin, end) for begin, end in merkle.spans(old - 1, size) if end > old]
        for missing, (begin, end) in enumerate(larger[-2::-1], start=1):
            cut = path[: len(path) - missing]
            with pytest.raises(ProofError, match=r"fewer hashes"):
                verify_consistency(old, size, cut, mth(LEAVES[begin:old]), mth(LEAVES[begin:end]))
        if old & (old - 1) == 0:  # the verifier begins with the old root itself
            with pytest.raises(ProofError, match=r"fewer hashes"):
                verify_consistency(old, size, [], mth(LEAVES[:old]), mth(LEAVES[:old]))


@pytest.mark.parametrize("size", range(1, 35))
def test_a_path_that_goes_on_above_the_root_is_refused_even_with_the_root_it_leads_to(size: int) -> None:
    root = mth(LEAVES[:size])
    for at in range(size):
        path, between = merkle.path(at, LEAVES[:size]), merkle.proof(at + 1, LEAVES[:size])
        old_root = mth(LEAVES[: at + 1])
        for above, old_above in [
            (merkle.parent(OTHER, root), merkle.parent(OTHER, old_root)),
            (merkle.parent(root, OTHER), old_root),
        ]:
            with pytest.raises(ProofError, match="more than leaf"):
                verify_inclusion(LEAVES[at], at, size, [*path, OTHER], above)
            with pytest.raises(ProofError, match=r"more hashes than|no consistency path is needed"):
                verify_consistency(at + 1, size, [*between, OTHER], old_above, above)


@pytest.mark.parametrize("size", range(1, 20))
def test_another_index_or_size_is_believed_only_where_the_tree_has_the_same_shape_along_the_path(size: int) -> None:
    root = mth(LEAVES[:size])
    for index, leaf in enumerate(LEAVES[:size]):
        path = merkle.path(index, LEAVES[:size])
        assert not any(included(leaf, other, size, path, root) for other in range(-1, size + 2) if other != index)
        for claimed in range(34):
            leads_there = index < claimed and merkle.root_by_path(leaf, index, claimed, path) == root
            assert included(leaf, index, claimed, path, root) == leads_there
            believed = included(leaf, index, claimed, path, mth(LEAVES[:claimed]))
            assert believed == (claimed == size)  # a signed head has both, so another size never passes


@pytest.mark.parametrize("size", range(1, 20))
def test_other_sizes_of_a_consistency_proof_are_believed_only_where_the_trees_have_the_same_shape(size: int) -> None:
    root = mth(LEAVES[:size])
    for old in range(1, size + 1):
        path, old_root = merkle.proof(old, LEAVES[:size]), mth(LEAVES[:old])
        for m, n in SIZES:
            found = merkle.roots_by_proof(m, n, path, old_root)
            assert consistent(m, n, path, old_root, root) == (found == (old_root, root))
            believed = consistent(m, n, path, mth(LEAVES[:m]), mth(LEAVES[:n]))
            assert believed == (path == merkle.proof(m, LEAVES[:n]))


@given(st.data(), st.integers(1, 300), st.integers(1, 300))
def test_whatever_is_claimed_is_believed_exactly_when_the_definition_leads_to_the_roots(
    data: st.DataObject, size: int, claimed: int
) -> None:
    hashes = leaves(size)
    index, m = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, claimed))
    path = data.draw(st.sampled_from([merkle.path(index, hashes), merkle.proof(min(m, size), hashes), []]))
    root = mth(hashes)
    old_root = mth(hashes[:m])

    found = merkle.root_by_path(hashes[index], index, claimed, path) if index < claimed else None
    assert included(hashes[index], index, claimed, path, root) == (found == root)
    if found is not None:
        verify_inclusion(hashes[index], index, claimed, path, found)
    between = merkle.roots_by_proof(m, claimed, path, old_root)
    assert consistent(m, claimed, path, old_root, root) == (between == (old_root, root))
    if between is not None and between[0] == old_root:
        verify_consistency(m, claimed, path, *between)


def test_an_empty_tree_is_the_beginning_of_every_tree_and_has_one_root() -> None:
    root = mth(LEAVES)

    verify_consistency(0, 0, [], EMPTY_ROOT, EMPTY_ROOT)
    verify_consistency(0, 71, [], EMPTY_ROOT, root)
    for path, old_root, new, new_root in [
        ([OTHER], EMPTY_ROOT, 71, root),
        ([], OTHER, 71, root),
        ([], bytes(32), 71, root),
        ([OTHER], EMPTY_ROOT, 0, EMPTY_ROOT),
        ([], OTHER, 0, OTHER),
        ([], EMPTY_ROOT, 0, OTHER),
    ]:
        assert not consistent(0, new, path, old_root, new_root)


def test_equal_sizes_need_equal_roots_and_no_path() -> None:
    root = mth(LEAVES)

    verify_consistency(71, 71, [], root, root)
    assert not consistent(71, 71, [], OTHER, root)
    assert not consistent(71, 71, [OTHER], root, root)


@pytest.mark.parametrize(("old", "new"), [(-1, 5), (6, 5), (1, 0), (-2, -1)])
def test_sizes_that_cannot_be_are_refused(old: int, new: int) -> None:
    assert not consistent(old, new, [], EMPTY_ROOT, EMPTY_ROOT)
    with pytest.raises(ValueError, match="expected an older size"):
        consistency_path(old, new, node_of(LEAVES))


@pytest.mark.parametrize(("index", "size"), [(0, 0), (-1, 5), (5, 5), (6, 5)])
def test_an_index_that_the_tree_does_not_have_is_refused(index: int, size: int) -> None:
    assert not included(LEAVES[0], index, size, [], LEAVES[0])
    with pytest.raises(ValueError, match="expected the index of a leaf"):
        inclusion_path(index, size, node_of(LEAVES))


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_hash_of_another_length_is_refused_wherever_it_stands(length: int) -> None:
    odd, path, root = bytes(length), merkle.path(1, LEAVES[:3]), mth(LEAVES[:3])

    for leaf, siblings, claimed in [(odd, path, root), (LEAVES[1], [odd, path[1]], root), (LEAVES[1], path, odd)]:
        with pytest.raises(ProofError, match=f"hashes of 32 bytes, found one of {length}"):
            verify_inclusion(leaf, 1, 3, siblings, claimed)
    for siblings, old_root, new_root in [([odd], LEAVES[0], root), ([], odd, root), ([], LEAVES[0], odd)]:
        with pytest.raises(ProofError, match=f"hashes of 32 bytes, found one of {length}"):
            verify_consistency(1, 3, siblings, old_root, new_root)


def test_two_hashes_are_not_taken_apart_elsewhere_than_between_them() -> None:
    left, right = LEAVES[0], LEAVES[1]

    assert not included(left + right[:1], 0, 2, [right[1:]], mth(LEAVES[:2]))


def test_a_path_in_the_largest_tree_is_as_long_as_the_tree_is_high() -> None:
    path = [OTHER] * 63
    root = merkle.root_by_path(LEAVES[0], SIZE_MAX - 1, SIZE_MAX, path)

    assert root is None, "the last leaf stands on a shorter path"
    root = merkle.root_by_path(LEAVES[0], 0, SIZE_MAX, path)
    assert root is not None
    verify_inclusion(LEAVES[0], 0, SIZE_MAX, path, root)
    assert not included(LEAVES[0], 0, SIZE_MAX, path[:-1], root)
