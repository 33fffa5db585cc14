"""Recorded debates of adversarial/1 replay and decide as they did, on any Python and under any hash seed."""

from hashlib import sha256
from pathlib import Path

import pytest

from service.debate.entries import CaseReceived, Entry, decode, encode
from service.debate.kernel import replay
from tests.debates import outcome
from tests.vectors.record import FOLDER, debates, moves

pytestmark = pytest.mark.replay

RECORDED = sorted(path for path in FOLDER.glob("*.jsonl") if ".moves." not in path.name)

GOLDEN = "39ae33500d6232006d36da81ff2fa5aba1eb038b878b46721d2f87e0df00adfd"
"""SHA-256 of the encoded entries of a fixed debate. It depends on nothing but this code: not on hash seeds, not on the
version of Python. A change of it is a change of every record to come."""


def read(path: Path) -> tuple[list[bytes], list[Entry]]:
    lines = path.read_bytes().splitlines()
    return lines, [decode(line) for line in lines]


def test_the_encoded_entries_of_a_fixed_debate_have_a_known_hash() -> None:
    _, entries = debates()["retried"]

    assert sha256(b"\n".join(map(encode, entries))).hexdigest() == GOLDEN


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_debate_still_replays_and_gives_the_same_move_at_every_prefix(path: Path) -> None:
    lines, entries = read(path)
    first = entries[0]
    assert isinstance(first, CaseReceived)

    replay(first.case, entries)

    assert [encode(entry) for entry in entries] == lines, "an entry is no longer encoded as it was"
    assert moves(first.case, entries) == path.with_suffix(".moves.jsonl").read_bytes().splitlines()


def test_the_recorded_debates_end_in_every_way_that_the_format_knows() -> None:
    ends = {path.stem: outcome(read(path)[1]) for path in RECORDED}

    assert {name: (end.status, end.stop_reason) for name, end in ends.items()} == {
        "aborted": ("aborted", "aborted"),
        "deadline": ("truncated", "deadline"),
        "failed": ("failed", "seatSilent"),
        "late-reply": ("aborted", "aborted"),
        "new-evidence": ("completed", "moderatorSatisfied"),
        "plain": ("completed", "moderatorSatisfied"),
        "retried": ("completed", "moderatorSatisfied"),
        "three-positions": ("completed", "moderatorSatisfied"),
        "three-rounds": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
    }


def test_a_driven_debate_is_recorded_byte_for_byte() -> None:
    for name, (_, entries) in debates().items():
        lines, _ = read(FOLDER / f"{name}.jsonl")

        assert [encode(entry) for entry in entries] == lines, name
