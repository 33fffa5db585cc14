"""The last line names each gap that the options accept once and whole, whatever signs a signer's name has."""

from __future__ import annotations

import pytest

from service.audit.note import Note, Signature
from service.cli.audit.result_words import result_line
from service.verify.lines import check_lines
from service.verify.pack import _Gaps
from service.verify.steps import NotCheckable, Trust, VerificationReport, VerificationStep, heading, headings

ID = bytes.fromhex("0a0b0c0d")
OPEN = Trust(allow_unchecked_lines=True)
NAMES = ("witness", "log:8080/a", "a:b,c", "it's:1", "'", "\"'a:", "X,", "\\:'")


def gap_of(*names: str, file: str = "line 1") -> NotCheckable:
    """The gap of lines under these names, which no pinned key checked."""
    note = Note("text\n", tuple(Signature(name, ID, b"x") for name in names))
    with pytest.raises(NotCheckable) as gap:
        check_lines([(file, "log", note, None)], OPEN)
    return gap.value


def line_of(*details: str) -> str:
    steps = [VerificationStep(n, "lines", "NOT CHECKABLE", said, allowed=True) for n, said in enumerate(details, 1)]
    return result_line(VerificationReport("pack", {}, tuple(steps)))


def sentence(*names: str, file: str = "line 1") -> str:
    listed = ", ".join(f"{name!r} ({ID.hex()}) in {file}" for name in names)
    return f"no pinned key checked the lines of {listed}"


@pytest.mark.parametrize("name", NAMES)
def test_a_signer_with_a_colon_in_its_name_is_named_whole(name: str) -> None:
    gap = gap_of(name, "other", name + "2")
    whole = sentence(name, "other", name + "2")
    assert heading(gap.reason) == whole
    assert line_of("UNSIGNED: no key", gap.reason, gap.reason) == f"VERIFIED, UNSIGNED, {whole}"


def test_the_gaps_of_several_files_are_each_named_once() -> None:
    one, other = gap_of("a:b"), gap_of("a:b", file="before/0001.txt")
    gaps = _Gaps()
    for gap in (NotCheckable("UNWITNESSED: none", allowed=True), one, other, one):
        gaps.add(gap)
    told = gaps.accepted()
    both = [sentence("a:b"), sentence("a:b", file="before/0001.txt")]
    assert headings(told) == ["UNWITNESSED", *both]
    assert told.startswith(f"UNWITNESSED, {both[0]}, {both[1]}: none; any holder")
    assert line_of(told, one.reason) == f"VERIFIED, UNWITNESSED, {both[0]}, {both[1]}"


def test_a_reason_without_a_colon_is_its_own_name() -> None:
    assert heading("LOOSELY DATED") == "LOOSELY DATED"
    assert headings("RECORDS ONLY, UNWITNESSED: the log's holder said 'x: y'") == ["RECORDS ONLY", "UNWITNESSED"]
    assert heading("") == ""
