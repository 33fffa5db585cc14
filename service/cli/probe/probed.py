"""What came of a probe: its steps in order, the first that failed, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from service.cli import exit_codes
from service.cli.terminal_text import unbroken
from service.verify.steps import GAPS

STEPS = ("ready", "submit", "wait", "result", "money", "proof")
"""What is done, in order; a step after one that failed is left out."""
_FAULT = {
    exit_codes.NEGATIVE: "WRONG",
    exit_codes.USAGE: "REFUSED",
    exit_codes.FAILED: "FAILED",
    GAPS: "VERIFIED IN PART",
}


class ProbeStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that was begun: how long it took, what was found, and for one that failed what to do."""

    name: str
    good: bool
    seconds: float
    detail: str
    remedy: str = ""


class Probed(Struct, frozen=True, kw_only=True):
    """A probe that has ended. ``at`` is when, in seconds since 1970; ``code`` is how the command exits."""

    steps: tuple[ProbeStep, ...]
    code: int
    seconds: float
    at: float
    debate: str | None = None

    @property
    def failed(self) -> ProbeStep | None:
        """The step that failed."""
        return next((step for step in self.steps if not step.good), None)

    @property
    def line(self) -> str:
        """The result in one line."""
        about = f", debate {self.debate}" if self.debate else ""
        if self.failed is None:
            found = "; ".join(step.detail for step in self.steps if step.name in ("result", "money", "proof"))
            return unbroken(f"probe: good in {self.seconds:.1f} s{about}: {found}")
        step = self.failed
        advice = f". {step.remedy}" if step.remedy else ""
        return unbroken(
            f"probe: {_FAULT[self.code]} at {step.name} after {self.seconds:.1f} s{about}: {step.detail}{advice}"
        )

    def as_json(self) -> Mapping[str, Any]:
        """The result as JSON; steps that were left out are named."""
        begun = [step.name for step in self.steps]
        return {
            "good": self.failed is None,
            "exit": self.code,
            "seconds": round(self.seconds, 3),
            "debate": self.debate,
            "failed": self.failed.name if self.failed else None,
            "steps": [
                {
                    "name": step.name,
                    "good": step.good,
                    "seconds": round(step.seconds, 3),
                    "detail": unbroken(step.detail),
                    "remedy": step.remedy or None,
                }
                for step in self.steps
            ],
            "left": [name for name in STEPS if name not in begun],
        }
