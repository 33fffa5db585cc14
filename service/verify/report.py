"""The report of a bundle, rendered again from the records, so that the reader's text is verified too.

The records name the version of the report's words, and only that version is compared. The step ignores the bundle's own
claim on which build made it.
"""

from __future__ import annotations

from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs, NotCheckable, Tools
from service.verify.versions import sealed

REPORT = "report.md"


def check_report(evidence: OpenedBundle, tools: Tools) -> str:
    """Check that the report equals one rendered from the records; raises `Differs`."""
    if REPORT not in evidence.files:
        return "the bundle has no report; a report renders the records and is no evidence of its own"
    if not tools.reports:
        raise NotCheckable(
            "this verifier renders no reports; read the records, or verify with the command of the service"
        )
    version = sealed(evidence.debate.decided, "report", tools.reports)
    if evidence.debate.gap:
        raise NotCheckable(evidence.debate.gap)
    again = tools.reports[version](evidence)
    if again == evidence.files[REPORT]:
        return f"report.md equals the report rendered from the records in the words of {version}"
    at = next((i for i, pair in enumerate(zip(again, evidence.files[REPORT], strict=False)) if pair[0] != pair[1]), 0)
    raise Differs(
        "report.md", f"the report rendered from the records by {version}", f"another from byte {at} on", file=REPORT
    )
