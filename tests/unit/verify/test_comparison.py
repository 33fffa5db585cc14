"""Two views of one log: consistent, forked or undecided, and never the wrong one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.bundle import unpack
from service.audit.checkpoint import Checkpoint
from service.audit.earlier_head import parse_earlier_head
from service.audit.note import PublicKey
from service.audit.tree import Node, Place, growing_subtrees, inclusion_path, path_subtrees, subtrees
from service.verify.comparison import FORK, File, compare_files, compare_views
from service.verify.steps import Differs, NotCheckable, Trust
from service.verify.views import LogView, Wanted, bundle_views, head_view
from tests.fixtures.merkle import leaf, leaves, mth

BUNDLES = Path(__file__).resolve().parents[2] / "vectors" / "bundles"
LOG, KEY = "localhost/default/1", "localhost+key"
SIZES = st.integers(1, 40)


def node_of(hashes: Sequence[bytes]) -> Node:
    return lambda level, index: mth(hashes[index << level : (index + 1) << level])


def view(hashes: Sequence[bytes], proven: Iterable[int] = (), signers: tuple[str, ...] = (KEY,)) -> LogView:
    """The view of a head over these leaves, with proofs of some of them."""
    nodes: dict[Place, bytes] = {}
    for index in proven:
        path = inclusion_path(index, len(hashes), node_of(hashes))
        nodes.update(path_subtrees(hashes[index], index, len(hashes), path))
    return LogView(Checkpoint(LOG, len(hashes), mth(hashes)), "a note", signers, "a file", nodes)


def whole(hashes: Sequence[bytes]) -> LogView:
    """The view of a complete export."""
    return LogView(
        Checkpoint(LOG, len(hashes), mth(hashes)), "a note", (KEY,), "line 1", dict(growing_subtrees(hashes))
    )


def found(a: LogView, b: LogView) -> str:
    """``consistent``, ``forked`` or ``undecided``; both orders come to the same."""
    words = {_found(a, b), _found(b, a)}
    assert len(words) == 1
    return words.pop()


def _found(a: LogView, b: LogView) -> str:
    try:
        compare_views(a, b)
    except NotCheckable:
        return "undecided"
    except Differs as difference:
        return "forked" if difference.what.startswith(FORK) else difference.what
    return "consistent"


@given(SIZES, st.data())
def test_every_subtree_of_a_path_is_that_of_its_place(size: int, data: st.DataObject) -> None:
    hashes, index = leaves(size), data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, node_of(hashes))

    told = dict(path_subtrees(hashes[index], index, size, path))

    assert all(node == mth(hashes[at << level : (at + 1) << level]) for (level, at), node in told.items())
    assert all((at + 1) << level <= size for level, at in told)
    assert dict(growing_subtrees(hashes)).items() >= told.items()
    assert (0, index) in told


@pytest.mark.parametrize("size", [0, 1, 2, 7, 33, 60])
def test_growing_subtrees_are_all_complete_ones(size: int) -> None:
    hashes = leaves(size)
    told = dict(growing_subtrees(hashes))

    assert set(told) == {(level, at) for level in range(7) for at in range(size) if (at + 1) << level <= size}
    assert all(node == mth(hashes[at << level : (at + 1) << level]) for (level, at), node in told.items())


@given(SIZES, SIZES, st.integers(0, 40), st.data())
def test_a_complete_export_at_the_larger_size_decides_and_never_wrongly(
    one: int, other: int, fork: int, data: st.DataObject
) -> None:
    small, large = sorted((one, other))
    ours = [*leaves(fork), *leaves(large, "fork")[fork:]][:large]
    beginning = leaves(small)
    proven = data.draw(st.sets(st.integers(0, small - 1), max_size=3))

    expected = "consistent" if ours[:small] == beginning else "forked"

    assert found(view(beginning, proven), whole(ours)) == expected
    assert found(whole(beginning), whole(ours)) == expected


@given(SIZES, SIZES, st.integers(0, 40), st.data())
def test_two_bundles_are_never_called_what_they_are_not(one: int, other: int, fork: int, data: st.DataObject) -> None:
    small, large = sorted((one, other))
    ours = [*leaves(fork), *leaves(large, "fork")[fork:]][:large]
    beginning = leaves(small)
    proven = data.draw(st.sets(st.integers(0, small - 1), max_size=4))
    theirs = data.draw(st.sets(st.integers(0, large - 1), max_size=4))
    truth = "consistent" if ours[:small] == beginning else "forked"

    said = found(view(beginning, proven), view(ours, theirs))

    assert said in {truth, "undecided"}
    shown = {place for index in theirs for place, _ in path_subtrees(ours[index], index, large, _path(ours, index))}
    if small == large or set(subtrees(0, small)) <= shown:
        assert said == truth, "the subtrees of the smaller head decide it"


def _path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    return inclusion_path(index, len(hashes), node_of(hashes))


def test_one_record_in_both_at_another_place_or_with_another_leaf_is_a_contradiction() -> None:
    hashes = leaves(8)
    a = LogView(Checkpoint(LOG, 8, mth(hashes)), "n", (KEY,), "f", {}, {("d", 3): (3, hashes[3])})
    for place, hashed in ((4, hashes[3]), (3, leaf(b"another"))):
        b = LogView(a.head, "n", (KEY,), "f", {}, {("d", 3): (place, hashed)})
        with pytest.raises(Differs, match="has record 3 of debate d twice"):
            compare_views(a, b)


def test_a_head_without_a_checked_signature_contradicts_and_proves_nothing() -> None:
    with pytest.raises(Differs, match=r"^CONTRADICTED, and one head is UNSIGNED"):
        compare_views(view(leaves(8)), view(leaves(8, "fork"), signers=()))


def test_the_heads_that_date_a_bundle_are_compared_too() -> None:
    data = (BUNDLES / "witnessed.zip").read_bytes()
    trust = Trust(keys=(PublicKey.parse((BUNDLES / "log.vkey").read_text("ascii").strip()),))
    before = parse_earlier_head(unpack(data).files["times/before.txt"]).checkpoint

    def bundle(_: Wanted) -> list[LogView]:
        return bundle_views(BytesIO(data), trust)

    report = compare_files(File("a.zip", "bundle", bundle), File("b.txt", "head", lambda _: [head_view(before, trust)]))

    assert (report.code, len(report.steps)) == (0, 3)
    assert "both have the head of size" in report.steps[2].detail


@pytest.mark.parametrize(("place", "code"), [("times/before.txt", 0), ("times/first.txt", 0), ("the opening", 4)])
def test_a_head_that_dates_a_bundle_is_no_gap_where_its_own_head_is_compared(place: str, code: int) -> None:
    """It is proven to be of the tree of that head; any other head without proofs leaves a gap."""
    hashes = leaves(9)
    own, dated = view(hashes), LogView(Checkpoint(LOG, 4, mth(hashes[:4])), "a note", (KEY,), place)

    one, other = File("a", "bundle", lambda _: [own, dated]), File("b", "bundle", lambda _: [own])

    assert [compare_files(one, other).code, compare_files(other, one).code] == [code, code]


def test_a_head_that_dates_a_bundle_hides_no_gap_of_the_files_own_heads_and_no_fork() -> None:
    hashes = leaves(9)
    small, dated = view(hashes[:4]), LogView(Checkpoint(LOG, 3, mth(hashes[:3])), "a note", (KEY,), "times/before.txt")
    forked = LogView(Checkpoint(LOG, 9, mth(leaves(10)[1:])), "a note", (KEY,), "times/first.txt")

    def code(ours: list[LogView], theirs: list[LogView]) -> int:
        return compare_files(File("a", "bundle", lambda _: ours), File("b", "bundle", lambda _: theirs)).code

    assert code([small, dated], [view(hashes)]) == 4
    assert code([view(hashes), forked], [view(hashes)]) == 1
