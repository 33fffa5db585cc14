"""Write the recorded debates of formats anew: ``python -m tests.vectors.record stances/1 ballot/1``...

Each format has a folder (``stances-1``) and each debate two files in it: NAME.jsonl holds its entries, one a line,
exactly as they are stored; NAME.moves.jsonl the move that each prefix gives, from the third entry on. Once a format is
released its files are never written again: they are what shows that a later release still decides as it did.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from service.debate.entries import DebateStopped, Entry, encode
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, CitationVerdict, CritiqueFound, Finding
from service.debate.kernel import FORMATS, next_move
from service.debate.model import Case, Check, Turn
from service.debate.replies import Reply
from service.debate.turns import is_masked
from service.money import Usage
from tests.fixtures.debates import INPUT_TOKENS, a_case, a_start, canned, drive, found, moderation, weak_first
from tests.fixtures.masking import flagged, masking, otherwise
from tests.vectors.played import DEBATES, inventing

HERE = Path(__file__).parent
FOLDER = HERE / "adversarial-1"

_encoder = msgspec.json.Encoder(order="sorted")


def moves(case: Case, entries: Sequence[Entry]) -> list[bytes]:
    """The move that each prefix gives, from the third entry on, as one line each."""
    return [_encoder.encode(next_move(case, entries[:n])) for n in range(3, len(entries) + 1)]


def debates(form: str = "adversarial/1") -> dict[str, tuple[Case, list[Entry]]]:
    """Every recorded debate of a format by its name."""
    if form == "adversarial/1":
        return _adversarial()
    return {name: (a_case(), entries) for name, entries in DEBATES[form]().items()}


def folder(form: str) -> Path:
    """Where the debates of a format are recorded."""
    return HERE / form.replace("/", "-")


def recorded_files() -> list[Path]:
    """The entries of every recorded debate of every format, one file each."""
    files = [path for form in FORMATS for path in folder(form).glob("*.jsonl")]
    return sorted(path for path in files if not path.name.endswith(".moves.jsonl"))


def _adversarial() -> dict[str, tuple[Case, list[Entry]]]:
    plain, two_rounds = a_case(), a_case(1, 2)
    three = ("adopt-x", "adopt-y", "defer")
    abort, late = DebateStopped("abort", "the caller asked for it"), DebateStopped("deadline", "it is too late")
    swapped = a_start()
    swapped = replace(swapped, options=replace(swapped.options, swapped=True))
    return {
        "plain": (plain, drive(a_start())),
        "retried": (plain, drive(a_start(), weak_first, findings=_fabricated)),
        "truncated": (plain, drive(a_start(2, ceiling=23_250), _again, used=lambda _: Usage(INPUT_TOKENS, 400))),
        "failed": (plain, drive(a_start(), fails=lambda turn, _: turn == "1.rebuttal.1")),
        "aborted": (plain, drive(a_start(), stops=lambda facts: abort if "1.critic.1" in facts.said else None)),
        "late-reply": (plain, drive(a_start(), stops=lambda facts: abort if "1.critic.1" in facts.open else None)),
        "deadline": (
            plain,
            drive(a_start(2), _again, stops=lambda f: late if "2.critic.1" in f.said else None),
        ),
        "three-positions": (plain, drive(a_start(positions=three, seed="5e" * 32), _scored)),
        "new-evidence": (two_rounds, drive(a_start(2), case=two_rounds)),
        "three-rounds": (plain, drive(a_start(3, seed="a7" * 32), _again)),
        "swapped": (plain, drive(swapped)),
        "order-sensitive": (plain, drive(swapped, _turning)),
        "order-unchecked": (plain, drive(swapped, fails=lambda turn, _: ".swapped." in turn)),
        "masked": (plain, drive(masking("adversarial/1"), findings=flagged)),
        "masked-unchecked": (
            plain,
            drive(masking("adversarial/1"), findings=flagged, fails=lambda turn, _: is_masked(turn)),
        ),
        "injection-sensitive": (
            plain,
            drive(masking("adversarial/1"), otherwise(conclusion="rejected"), findings=flagged),
        ),
        "reworded": (plain, drive(swapped, findings=inventing(".moderator.1", ".swapped.1"))),
    }


def _turning(turn: Turn, facts: Facts) -> Reply:
    """The moderator concludes otherwise in the other order."""
    reply = canned(turn, facts)
    return replace(reply, conclusion="rejected") if ".swapped." in turn.id else reply


def _again(turn: Turn, facts: Facts) -> Reply:
    return moderation(turn, another=True) if turn.seat == "moderator" else canned(turn, facts)


def _scored(turn: Turn, facts: Facts) -> Reply:
    if turn.seat != "moderator":
        return canned(turn, facts)
    return moderation(turn, scores=lambda label: int(label[-1]), best=lambda label: -int(label[-1]))


def _fabricated(check: Check, facts: Facts) -> Finding:
    """The first critique is weak, and the second makes a passage up."""
    finding = found(check, facts)
    if isinstance(finding, CritiqueFound) and check.id == "1.critic.1/critique":
        return replace(finding, weak=("noPointNamesAnArgument",), softening=("to be fair",))
    if isinstance(finding, CitationsFound) and check.id == "1.critic.2/citations":
        first, *others = finding.arguments
        verdicts = (CitationVerdict("not_found", reason="unknown_source"),)
        return CitationsFound((replace(first, verdicts=verdicts, struck="unverified_citation"), *others))
    return finding


def write(*forms: str) -> None:
    """Write every file of these formats."""
    for form in forms:
        folder(form).mkdir(exist_ok=True)
        for name, (case, entries) in debates(form).items():
            (folder(form) / f"{name}.jsonl").write_bytes(b"\n".join([*map(encode, entries), b""]))
            (folder(form) / f"{name}.moves.jsonl").write_bytes(b"\n".join([*moves(case, entries), b""]))


if __name__ == "__main__":
    write(*sys.argv[1:])
