"""A witness answers by C2SP tlog-witness: it cosigns only what goes on from what it holds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import SigningKey, sign_note
from service.audit.tree import EMPTY_ROOT
from service.audit.witness import (
    AddCheckpoint,
    BadSubmission,
    KnownCheckpoint,
    Verdict,
    consider,
    open_submission,
    parse_add_checkpoint,
)
from tests.fixtures.merkle import leaves, mangled, mth, proof, reads_one_way

LOG = SigningKey.from_seed("host.example", bytes(range(32)))
NEXT = SigningKey.from_seed("host.example", bytes(range(1, 33)))  # after a rotation
STRANGER = SigningKey.from_seed("stranger.example", bytes(32))
ORIGIN = "host.example/default/0"
LEAVES = leaves(12)
FORK = [*LEAVES[:5], *leaves(7, "fork")]
KEYS = [LOG.public, NEXT.public]


def checkpoint(size: int, of: list[bytes] = LEAVES) -> Checkpoint:
    return Checkpoint(ORIGIN, size, mth(of[:size]))


def head(size: int, of: list[bytes] = LEAVES) -> KnownCheckpoint:
    return KnownCheckpoint(size, mth(of[:size]))


def submitted(old: int, size: int, of: list[bytes] = LEAVES, key: SigningKey = LOG, **others: Any) -> AddCheckpoint:
    """What an honest log sends to a witness that holds ``old`` leaves."""
    path = tuple(proof(old, of[:size])) if 0 < old <= size else ()
    return AddCheckpoint(
        **{"old": old, "path": path, "checkpoint": sign_checkpoint(checkpoint(size, of), key), **others}
    )


SUBMISSION = submitted(5, 12)


def decided(last: KnownCheckpoint | None, submission: AddCheckpoint) -> tuple[int, KnownCheckpoint | None]:
    verdict = consider(last, submission, KEYS)
    assert verdict.reason
    return verdict.status, verdict.head


@pytest.mark.parametrize("size", range(13))
def test_a_head_that_goes_on_from_what_is_held_is_taken(size: int) -> None:
    for old in range(size + 1):
        for last in [head(old)] + [None] * (old == 0):
            verdict = consider(last, submitted(old, size), KEYS)

            assert verdict == Verdict(200, head(size), checkpoint(size), "consistent with what the witness holds")


def test_a_head_is_taken_from_any_key_of_the_log() -> None:
    both = sign_note(checkpoint(12).body(), STRANGER, NEXT, LOG).encode()

    assert decided(head(5), submitted(5, 12, key=NEXT)) == (200, head(12))
    assert decided(head(5), submitted(5, 12, checkpoint=both)) == (200, head(12))


# Each row: what is held, what is submitted, the status, and the head that is told.
ROWS: dict[str, tuple[KnownCheckpoint | None, AddCheckpoint, int, KnownCheckpoint | None]] = {
    "400 not a note": (head(5), submitted(5, 12, checkpoint=b"nothing"), 400, None),
    "400 not a checkpoint": (head(5), submitted(5, 12, checkpoint=sign_note("a text\n", LOG).encode()), 400, None),
    "400 an extension line": (
        head(5),
        submitted(5, 12, checkpoint=sign_note(checkpoint(12).body() + "more\n", LOG).encode()),
        400,
        None,
    ),
    "400 an empty log with another root": (
        None,
        submitted(0, 0, checkpoint=sign_note(f"{ORIGIN}\n0\n{'A' * 43}=\n", LOG).encode()),
        400,
        None,
    ),
    "400 an old size above the checkpoint's": (head(5), submitted(6, 5), 400, None),
    "400 the same, where the old size is the one held": (head(12), submitted(12, 5), 400, None),
    "403 another's signature": (head(5), submitted(5, 12, key=STRANGER), 403, None),
    "403 a signature over another head": (
        head(5),
        submitted(5, 12, checkpoint=sign_checkpoint(checkpoint(11), LOG).replace(b"\n11\n", b"\n12\n")),
        403,
        None,
    ),
    "403 comes before what is held": (head(7), submitted(5, 12, key=STRANGER), 403, None),
    "409 more is held": (head(7), submitted(5, 12), 409, head(7)),
    "409 less is held": (head(3), submitted(5, 12), 409, head(3)),
    "409 nothing is held": (None, submitted(5, 12), 409, KnownCheckpoint(0, EMPTY_ROOT)),
    "409 asked with zero to learn the size": (head(7), submitted(0, 12), 409, head(7)),
    "409 a head of before, again": (head(12), submitted(5, 7), 409, head(12)),
    "409 a split view at the size held": (head(12), submitted(12, 12, FORK), 409, head(12)),
    "409 the same from an older size": (head(12), submitted(5, 12, FORK), 409, head(12)),
    "422 a split view that grew": (head(7), submitted(7, 12, FORK), 422, None),
    "422 a rewritten beginning": (head(5), submitted(5, 12, leaves(12, "other")), 422, None),
    "422 a path cut short": (head(5), submitted(5, 12, path=SUBMISSION.path[:-1]), 422, None),
    "422 no path": (head(5), submitted(5, 12, path=()), 422, None),
    "422 a path too long": (head(5), submitted(5, 12, path=(*SUBMISSION.path, bytes(32))), 422, None),
    "422 a path from nothing": (None, submitted(0, 12, path=(bytes(32),)), 422, None),
    "422 a path to the same head": (head(12), submitted(12, 12, path=(bytes(32),)), 422, None),
    "200 the same head again": (head(12), submitted(12, 12), 200, head(12)),
    "200 the first head": (None, submitted(0, 12), 200, head(12)),
    "200 an empty log": (None, submitted(0, 0), 200, KnownCheckpoint(0, EMPTY_ROOT)),
    "200 what branches off later than what is held": (head(5), submitted(5, 12, FORK), 200, head(12, FORK)),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_table_of_answers(row: str) -> None:
    last, submission, status, told = ROWS[row]

    assert row.startswith(str(status))
    assert decided(last, submission) == (status, told)


def test_an_origin_without_known_keys_is_unknown_whatever_is_submitted() -> None:
    for submission in (SUBMISSION, submitted(5, 12, key=STRANGER), submitted(6, 5), submitted(5, 12, FORK)):
        verdict = consider(None, submission, ())
        assert (verdict.status, verdict.head) == (404, None)
        assert verdict.checkpoint is not None
    assert consider(None, submitted(5, 12, checkpoint=b"nothing"), ()).status == 400


def test_a_witness_never_takes_both_sides_of_a_split_view() -> None:
    held: list[KnownCheckpoint] = []
    for of in (LEAVES, FORK):
        last = None
        for size in (5, 12):
            verdict = consider(held[-1] if held else last, submitted(held[-1].size if held else 0, size, of), KEYS)
            if verdict.status == 200 and verdict.head is not None:
                held.append(verdict.head)

    assert held == [head(5), head(12)]


@given(st.data())
def test_whatever_is_submitted_a_taken_head_is_of_the_tree_that_is_held(data: st.DataObject) -> None:
    old, size, claimed = (data.draw(st.integers(0, 12)) for _ in range(3))
    of = data.draw(st.sampled_from([LEAVES, FORK]))
    path = data.draw(st.sampled_from([(), tuple(proof(max(1, min(old, size)), of[: max(1, size)])), (bytes(32),)]))
    submission = AddCheckpoint(claimed, path, sign_checkpoint(checkpoint(size, of), LOG))

    verdict = consider(head(old), submission, KEYS)

    assert verdict.status in (200, 400, 409, 422)
    if verdict.status == 200:
        assert claimed == old <= size
        assert mth(of[:old]) == mth(LEAVES[:old])
        assert verdict.head == head(size, of)


def test_the_bytes_of_a_submission_are_fixed() -> None:
    request = AddCheckpoint(20852014, (b"\x00" * 32, b"\xff" * 32), b"the checkpoint\n")

    assert request.encode() == (
        b"old 20852014\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        b"//////////////////////////////////////////8=\n\nthe checkpoint\n"
    )
    assert AddCheckpoint(0, (), b"c").encode() == b"old 0\n\nc"


@given(
    st.builds(
        AddCheckpoint,
        st.integers(0, 2**63 - 1),
        st.lists(st.binary(min_size=32, max_size=32), max_size=63).map(tuple),
        st.binary(max_size=80) | st.just(SUBMISSION.checkpoint),
    )
)
def test_every_submission_is_read_back(submission: AddCheckpoint) -> None:
    assert parse_add_checkpoint(submission.encode()) == submission


@given(mangled(SUBMISSION.encode()) | mangled(SUBMISSION.encode()[:60]) | st.binary(max_size=60))
def test_any_other_bytes_are_refused_or_the_only_spelling_of_a_submission(data: bytes) -> None:
    reads_one_way(parse_add_checkpoint, BadSubmission, data)


@given(mangled(SUBMISSION.encode()))
def test_no_edit_of_a_submission_is_taken_for_another_head(data: bytes) -> None:
    try:
        submission = parse_add_checkpoint(data)
    except BadSubmission:
        return
    verdict = consider(head(5), submission, KEYS)
    assert verdict.status in (200, 400, 403, 409, 422)
    assert verdict.status != 200 or verdict.head == head(12)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"old 5",
        b"old 5\n",
        b"old 5\ncheckpoint",
        SUBMISSION.checkpoint,
        SUBMISSION.encode().replace(b"old 5", b"old 05"),
        SUBMISSION.encode().replace(b"old 5", b"old  5"),
        SUBMISSION.encode().replace(b"old 5", b"old -5"),
        SUBMISSION.encode().replace(b"old 5", b"old 5 "),
        SUBMISSION.encode().replace(b"old 5", b"old"),
        SUBMISSION.encode().replace(b"old 5", b"5"),
        SUBMISSION.encode().replace(b"old 5", b"new 5"),
        SUBMISSION.encode().replace(b"old 5", b"old 9223372036854775808"),
        SUBMISSION.encode().replace(b"old 5", "old ٥".encode()),
        SUBMISSION.encode().replace(b"old 5", b"old 5\nold 5"),
        SUBMISSION.encode().replace(b"old 5", b"old 5\nQQ=="),
        SUBMISSION.encode().replace(b"old 5", b"old 5\nno base64"),
        SUBMISSION.encode().replace(b"old 5", b"old 5\n" + b"\n".join([b"A" * 43 + b"="] * 60)),
        SUBMISSION.encode().replace(b"\n", b"\r\n"),
        b"\n" + SUBMISSION.encode(),
    ],
)
def test_what_is_not_exactly_a_submission_is_refused(data: bytes) -> None:
    assert data != SUBMISSION.encode()

    with pytest.raises(BadSubmission, match="expected "):
        parse_add_checkpoint(data)


@pytest.mark.parametrize(("old", "path"), [(-1, ()), (2**63, ()), (0, (b"x",)), (0, (bytes(32),) * 64)])
def test_a_submission_that_the_request_cannot_say_is_not_made(old: int, path: tuple[bytes, ...]) -> None:
    with pytest.raises(BadSubmission, match="expected "):
        AddCheckpoint(old, path, b"")


def test_the_origin_of_a_submission_can_be_looked_up_before_it_is_verified() -> None:
    found, note = open_submission(submitted(5, 12, key=STRANGER))

    assert (found, note.text) == (checkpoint(12), checkpoint(12).body())
    with pytest.raises(BadSubmission, match="expected "):
        open_submission(submitted(5, 12, checkpoint=b"nothing"))
