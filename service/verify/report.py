"""The readable report beside the evidence: written again from the records, so that what is read was verified.

A debate's records name the version of the report's words. What another version would say is not compared with it, and
the bundle's own word on which build made it counts for nothing.
"""

from __future__ import annotations

from service.debate.versions import version_of
from service.verify.opened_bundle import Evidence
from service.verify.steps import DECIDED, Differs, Tools, Unchecked, later, never

REPORT = "report.md"


def told(evidence: Evidence, tools: Tools) -> str:
    """That the report tells what the records hold; raises `Differs`."""
    if REPORT not in evidence.files:
        return "no report is in the bundle; it would be a telling of the records and no evidence"
    if not tools.reports:
        raise Unchecked("this verifier tells no reports; read the records, or verify with the command of the service")
    version = version_of(evidence.debate.decided.versions, "report")
    if never("the words of the report", version, tools.reports, file=DECIDED, record=1) == "later":
        raise Unchecked(later("report.md is in the words of", version, tools.reports))
    if evidence.debate.gap:
        raise Unchecked(evidence.debate.gap)
    again = tools.reports[version](evidence)
    if again == evidence.files[REPORT]:
        return f"report.md is what the records are told as in the words of {version}"
    at = next((i for i, pair in enumerate(zip(again, evidence.files[REPORT], strict=False)) if pair[0] != pair[1]), 0)
    raise Differs("report.md", f"the telling of the records by {version}", f"another from byte {at} on", file=REPORT)
