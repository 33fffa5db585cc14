"""Draws edits of the recorded bundles, verifies each with the pinned keys, and judges what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from service.audit.note import PublicKey
from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from service.verify.steps import FAILED, GAPS, VERIFIED, Trust, VerificationReport
from tests.mutations.edits import LISTED, UNISSUED, Edit, drawn, opened

FOLDER = Path(__file__).parents[1] / "vectors" / "bundles"
NAMES = (
    *("adversarial", "approved", "ballot", "convergence", "declined", "panel", "rotated", "rotated-declined"),
    *("stances", "witnessed"),
)
WITNESSED = ("rotated", "rotated-declined", "witnessed")
"""Those of later logs of the tenant, which a witness countersigns."""


def pinned(name: str) -> Trust:
    """What an examiner of a bundle pins: the keys of log and approver, and that of the witness where there is one."""
    log, approver, witness = (
        PublicKey.parse((FOLDER / f"{key}.vkey").read_text("ascii").strip()) for key in ("log", "approver", "witness")
    )
    return Trust(
        keys=(log, approver),
        witnesses=(witness,) if name in WITNESSED else (),
        allow_unwitnessed=name not in WITNESSED,
    )


def mutate(edits: int, seed: int) -> Iterator[tuple[int, str, Edit, VerificationReport]]:
    """So many edits, bundle after bundle in turn: its number, the bundle, the edit, and what is found of it."""
    own, random = tools(), Random(seed)
    stored = {name: (FOLDER / f"{name}.zip").read_bytes() for name in NAMES}
    bundles = {name: opened(stored[name], tuple(stored[n] for n in NAMES if n != name)) for name in NAMES}
    for nth in range(edits):
        name = NAMES[nth % len(NAMES)]
        edit = drawn(bundles[name], random)
        yield nth, name, edit, verify_bundle(edit.data, pinned(name), own)


def judge(edit: Edit, report: VerificationReport) -> str:
    """Why an edit came to something else than docs/verification.md says; empty if it did not."""
    if edit.what.startswith("times/") and edit.what not in LISTED:  # damage may leave out a witness's line, or its name
        gaps = {step.name for step in report.gaps}
        return "" if report.failed or (gaps and gaps <= {"lines", "times"}) else f"expected no exit {report.code}"
    if edit.what == UNISSUED:
        return "" if report.code == VERIFIED else f"expected exit {VERIFIED}, found {report.code}"
    gap = LISTED.get(edit.what, "")
    expected = GAPS if gap else FAILED
    if report.code != expected:
        return f"expected exit {expected}, found {report.code}"
    if gap and [step.name for step in report.gaps] != [gap]:
        return f"expected the gap {gap}, found {', '.join(step.name for step in report.gaps)}"
    return ""
