"""An earlier head has one spelling, and is believed only with a proof that the later head continues it."""

from __future__ import annotations

import pytest

from service.audit.checkpoint import Checkpoint, parse_checkpoint, sign_checkpoint
from service.audit.earlier_head import MAGIC, EarlierHead, open_earlier_head, parse_earlier_head
from service.audit.note import parse_note
from service.audit.proof import PATH_MAX, BadProof
from service.audit.tree import HASH_BYTES, ProofError
from service.errors import GainsayError
from tests.fixtures.vouching import FORK, LOG, ORIGIN, TREE, Tree


def file(old: int, new: int, tree: Tree = TREE) -> bytes:
    return EarlierHead(tree.path(old, new), tree.note(old)).encode()


@pytest.mark.parametrize("old", [1, 5, 8, 39, 40])
def test_a_head_is_read_as_it_was_written_and_opened_with_its_proof(old: int) -> None:
    data = file(old, 40)

    note, head = open_earlier_head(data, TREE.checkpoint(40))

    assert parse_earlier_head(data).encode() == data
    assert (head, note.encode()) == (TREE.checkpoint(old), sign_checkpoint(TREE.checkpoint(old), LOG))


WRONG = {
    "of a fork": (file(39, 40, FORK), ProofError),
    "of another log": (file(5, 40, Tree(origin="host.example/default/2")), BadProof),
    "with the proof to another size": (file(5, 39), ProofError),
    "larger than the later one": (EarlierHead((), Tree(41).note(41)).encode(), ProofError),
    "without a proof": (EarlierHead((), TREE.note(5)).encode(), ProofError),
    "with a hash more": (EarlierHead((*TREE.path(5, 40), bytes(32)), TREE.note(5)).encode(), ProofError),
    "without its first line": (file(5, 40).partition(b"\n")[2], BadProof),
    "of another version": (file(5, 40).replace(b"/1\n", b"/2\n", 1), BadProof),
    "without an empty line": (MAGIC.encode() + b"\n" + TREE.note(5).replace(b"\n\n", b"\n"), BadProof),
    "with other characters": (file(5, 40).replace(b"\n", "\u2028\n".encode(), 1), BadProof),
    "with a hash of another length": (MAGIC.encode() + b"\nAAAA\n\n" + TREE.note(5), BadProof),
    "with a longer path than any tree": (
        b"".join([MAGIC.encode(), (b"\n" + b"A" * 43 + b"=") * (PATH_MAX + 1), b"\n\n", TREE.note(5)]),
        BadProof,
    ),
    "with Windows' ends of lines": (file(5, 40).replace(b"\n", b"\r\n"), BadProof),
    "of words": (b"Approved by the board.\n\nYes.\n", BadProof),
    "of nothing": (b"", BadProof),
}


@pytest.mark.parametrize("what", WRONG)
def test_any_other_file_is_refused(what: str) -> None:
    data, error = WRONG[what]

    with pytest.raises(error) as refused:
        open_earlier_head(data, TREE.checkpoint(40))
    assert isinstance(refused.value, GainsayError)


def test_a_path_that_no_tree_has_is_not_written() -> None:
    with pytest.raises(BadProof):
        EarlierHead((bytes(HASH_BYTES - 1),), TREE.note(5))
    assert parse_checkpoint(parse_note(TREE.note(5)).text) == Checkpoint(ORIGIN, 5, TREE.head(5).root)
