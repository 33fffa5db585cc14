"""The words of a verification that the terminal and the certificate share: the result, and the signed times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.cli.terminal_text import unbroken
from service.verify.steps import (
    AUTHORITY,
    FAILED,
    GAPS,
    VerificationReport,
    VerificationStep,
    headings,
    tolerance_words,
)

VERDICTS = {0: "VERIFIED", FAILED: "FAILED", GAPS: "NOT ALL CHECKABLE"}
SHOWN = "shown"
"""The step that compares a report in hand: where it alone fails, the file itself is not at fault."""


def result_line(report: VerificationReport) -> str:
    """The result in one line: what failed, what could not be checked, or what was accepted without a check."""
    verdict = VERDICTS[report.code]
    if report.failed:
        first = report.failed[0]
        if first.name == SHOWN:
            return unbroken(f"{verdict}: the report given with --report is not the one of this file; {_others(report)}")
        return unbroken(f"{verdict}: step {first.number} ({first.name}){place(first)}: {first.detail}")
    if report.gaps:
        return unbroken(f"{verdict}: {_named(report)}")
    return unbroken(", ".join((verdict, *_accepted(report))))


def recorded_words(about: Mapping[str, Any], *, differs: bool) -> str:
    """Between which signed times the debate was recorded; empty where the step `times` found nothing or ``differs``."""
    ends = about.get("recorded")
    if not ends or not ends["until"] or differs:
        return ""
    after, until = (f"{end['time']} ({end['signer']})" if end else "an unknown time" for end in ends.values())
    seconds = tolerance_words(about["toleranceS"])
    stamped = {end["signer"].startswith(AUTHORITY) for end in ends.values() if end}
    signers = " and ".join((("witnesses",) * (False in stamped)) + (("authorities",) * (True in stamped)))
    return f"between {after} and {until}, as {signers} signed {seconds}"


def place(step: VerificationStep) -> str:
    """The file and record of a step, in brackets, or nothing."""
    places = [step.file] if step.file else []
    places += [f"record {step.record}"] if step.record is not None else []
    return f" [{', '.join(places)}]" if places else ""


def _others(report: VerificationReport) -> str:
    """What the steps say of the file itself, where only the report in hand differs."""
    if report.gaps:
        return f"of the other steps none failed, and these could not be checked: {_named(report)}"
    accepted = ", ".join(_accepted(report))
    return f"every other step is OK{f', or accepted by an option: {accepted}' if accepted else ''}"


def _named(report: VerificationReport) -> str:
    return ", ".join(f"{step.number} {step.name}" for step in report.gaps)


def _accepted(report: VerificationReport) -> list[str]:
    """What the options accepted, in the order of the steps, each once: a step over several files names several."""
    said = dict[str, None]()
    for step in report.steps:
        if step.allowed:
            said.update(dict.fromkeys(headings(step.detail)))
    return list(said)
