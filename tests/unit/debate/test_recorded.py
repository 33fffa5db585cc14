"""Recorded debates of every format replay and decide as they did, on any Python and under any hash seed."""

from hashlib import sha256
from pathlib import Path

import pytest

from service.debate.entries import CaseReceived, Entry, decode, encode
from service.debate.kernel import FORMATS, replay
from tests.fixtures.debates import outcome
from tests.vectors.record import debates, folder, moves

pytestmark = pytest.mark.replay


def recorded(form: str) -> list[Path]:
    """The files of a format's debates."""
    return sorted(path for path in folder(form).glob("*.jsonl") if ".moves." not in path.name)


RECORDED = [path for form in FORMATS for path in recorded(form)]

GOLDEN = "5fa8f474d0fb1e5121d9318d9be39d89120930c12a236c06f37abffe81db8b12"
"""SHA-256 of the encoded entries of a fixed debate. It depends on nothing but this code: not on hash seeds, not on the
version of Python. A change of it is a change of every record to come."""

ENDS = {
    "adversarial/1": {
        "aborted": ("aborted", "aborted"),
        "deadline": ("truncated", "deadline"),
        "failed": ("failed", "seatSilent"),
        "injection-sensitive": ("completed", "moderatorSatisfied"),
        "late-reply": ("aborted", "aborted"),
        "masked": ("completed", "moderatorSatisfied"),
        "masked-unchecked": ("completed", "moderatorSatisfied"),
        "new-evidence": ("completed", "moderatorSatisfied"),
        "order-sensitive": ("completed", "moderatorSatisfied"),
        "order-unchecked": ("completed", "moderatorSatisfied"),
        "plain": ("completed", "moderatorSatisfied"),
        "retried": ("completed", "moderatorSatisfied"),
        "reworded": ("completed", "moderatorSatisfied"),
        "swapped": ("completed", "moderatorSatisfied"),
        "three-positions": ("completed", "moderatorSatisfied"),
        "three-rounds": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
    },
    "stances/1": {
        "aborted": ("aborted", "aborted"),
        "deadline": ("truncated", "deadline"),
        "fabricated": ("completed", "roundCeiling"),
        "failed": ("failed", "seatSilent"),
        "injection-sensitive": ("completed", "roundCeiling"),
        "many-rounds": ("completed", "roundCeiling"),
        "masked": ("completed", "roundCeiling"),
        "named": ("completed", "roundCeiling"),
        "null-winner": ("completed", "roundCeiling"),
        "order-sensitive": ("completed", "roundCeiling"),
        "order-unchecked": ("completed", "roundCeiling"),
        "persons": ("completed", "roundCeiling"),
        "plain": ("completed", "roundCeiling"),
        "reworded": ("completed", "roundCeiling"),
        "silent-judge": ("failed", "seatSilent"),
        "swapped": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
    },
    "ballot/1": {
        "abstentions": ("completed", "roundCeiling"),
        "aborted": ("aborted", "aborted"),
        "critique-decides": ("completed", "consensus"),
        "deadline": ("truncated", "deadline"),
        "escalated-by-vote": ("completed", "consensus"),
        "failed": ("failed", "seatSilent"),
        "first-phase": ("completed", "consensus"),
        "instructed": ("completed", "consensus"),
        "invented": ("completed", "consensus"),
        "split": ("completed", "roundCeiling"),
        "tied": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
    },
    "panel/1": {
        "aborted": ("aborted", "aborted"),
        "blind-consensus": ("completed", "consensus"),
        "brainstorm": ("completed", "roundCeiling"),
        "classified": ("completed", "roundCeiling"),
        "consensus": ("completed", "consensus"),
        "deadline": ("truncated", "deadline"),
        "debater-missing": ("completed", "consensus"),
        "failed": ("failed", "seatSilent"),
        "injection-sensitive": ("completed", "roundCeiling"),
        "masked": ("completed", "roundCeiling"),
        "model-adjudicates": ("completed", "consensus"),
        "objection-unanswered": ("completed", "roundCeiling"),
        "order-sensitive": ("completed", "roundCeiling"),
        "order-unchecked": ("completed", "consensus"),
        "prediction": ("completed", "roundCeiling"),
        "reworded": ("completed", "consensus"),
        "round-ceiling": ("completed", "roundCeiling"),
        "silent-adjudicator": ("completed", "roundCeiling"),
        "silent-classifier": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
    },
    "convergence/1": {
        "aborted": ("aborted", "aborted"),
        "check-off": ("completed", "roundCeiling"),
        "converged": ("completed", "consensus"),
        "converged-alone": ("completed", "consensus"),
        "deadline": ("truncated", "deadline"),
        "debater-missing": ("completed", "roundCeiling"),
        "failed": ("failed", "seatSilent"),
        "injection-sensitive": ("completed", "roundCeiling"),
        "judged": ("completed", "roundCeiling"),
        "masked": ("completed", "roundCeiling"),
        "order-sensitive": ("completed", "roundCeiling"),
        "order-unchecked": ("completed", "roundCeiling"),
        "reworded": ("completed", "roundCeiling"),
        "silent-judge": ("failed", "seatSilent"),
        "swapped": ("completed", "roundCeiling"),
        "tie-to-the-lowest": ("completed", "roundCeiling"),
        "tie-without-answer": ("completed", "roundCeiling"),
        "truncated": ("truncated", "budget"),
        "truncated-vote": ("truncated", "budget"),
        "vote": ("completed", "roundCeiling"),
    },
}


def read(path: Path) -> tuple[list[bytes], list[Entry]]:
    lines = path.read_bytes().splitlines()
    return lines, [decode(line) for line in lines]


def test_the_encoded_entries_of_a_fixed_debate_have_a_known_hash() -> None:
    _, entries = debates()["retried"]

    assert sha256(b"\n".join(map(encode, entries))).hexdigest() == GOLDEN


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_debate_still_replays_and_gives_the_same_move_at_every_prefix(path: Path) -> None:
    lines, entries = read(path)
    first = entries[0]
    assert isinstance(first, CaseReceived)

    replay(first.case, entries)

    assert [encode(entry) for entry in entries] == lines, "an entry is no longer encoded as it was"
    assert moves(first.case, entries) == path.with_suffix(".moves.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("form", FORMATS)
def test_the_recorded_debates_end_in_every_way_that_their_format_knows(form: str) -> None:
    ends = {path.stem: outcome(read(path)[1]) for path in recorded(form)}

    assert {name: (end.status, end.stop_reason) for name, end in ends.items()} == ENDS[form]


@pytest.mark.parametrize("form", FORMATS)
def test_a_driven_debate_is_recorded_byte_for_byte(form: str) -> None:
    for name, (_, entries) in debates(form).items():
        lines, _ = read(folder(form) / f"{name}.jsonl")

        assert [encode(entry) for entry in entries] == lines, name
