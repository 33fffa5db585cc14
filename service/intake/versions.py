"""The versions that a debate which begins now is recomputed by, sealed in ``gate.decided``."""

from __future__ import annotations

from service import policy
from service.audit import beside
from service.debate.versions import Part
from service.prompts import layouts
from service.report import versions as report


def current() -> dict[str, str]:
    """The version of each part that this build writes."""
    written: dict[Part, str] = {
        "layout": layouts.VERSION,
        "policy": policy.VERSION,
        "report": report.VERSION,
        "readme": beside.README_VERSION,
        "schemas": beside.SCHEMAS_VERSION,
    }
    return {str(part): version for part, version in written.items()}
