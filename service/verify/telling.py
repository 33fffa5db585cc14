"""The readable report beside the evidence: told again from the records, so that nobody reads what was not verified.

Its words are a build's own. Where they differ and the bundle was made by another build than this one, nothing follows
from that; where it is the same build, somebody has changed what a reader is shown.
"""

from __future__ import annotations

from service.verify.evidence import Evidence
from service.verify.steps import Differs, Tools, Unchecked

REPORT = "report.md"


def told(evidence: Evidence, tools: Tools) -> str:
    """That the report tells what the records hold; raises `Differs`."""
    if REPORT not in evidence.files:
        return "no report is in the bundle; it would be a telling of the records and no evidence"
    if tools.tell is None:
        raise Unchecked("this verifier tells no reports; read the records, or verify with the command of the service")
    if evidence.debate.gap:
        raise Unchecked(evidence.debate.gap)
    again = tools.tell(evidence)
    if again == evidence.files[REPORT]:
        return "report.md is what the records are told as"
    if evidence.manifest.build != tools.build():
        raise Unchecked("report.md was told by another build; read the report of this build (`gainsay report`)")
    at = next((i for i, pair in enumerate(zip(again, evidence.files[REPORT], strict=False)) if pair[0] != pair[1]), 0)
    raise Differs("report.md", "the telling of the records", f"another from byte {at} on", file=REPORT)
