"""The texts of a bundle, written again from the records, so that what a reader reads is verified too.

report.md     the report of the debate, or of the declined case
README.txt    what the files are, and how they are verified

The records name the version of each text's words, and only that version is compared. The step ignores the bundle's own
claim on which build made it. A text that the bundle lacks is no difference: both are made from the records.
"""

from __future__ import annotations

from service.audit.bundle_texts import READMES
from service.verify.opened_bundle import OpenedBundle
from service.verify.records import unknown_members
from service.verify.steps import Differs, NotCheckable, Tools
from service.verify.versions import sealed

REPORT, README = "report.md", "README.txt"


def check_report(evidence: OpenedBundle, tools: Tools) -> str:
    """Check that the texts equal those written from the records; raises `Differs`."""
    details, gaps = [], []
    for check in (_report, _readme):
        try:
            details.append(check(evidence, tools))
        except NotCheckable as gap:
            gaps.append(gap.reason)
    if gaps:
        raise NotCheckable("; ".join(gaps))
    return "; ".join(details)


def _report(evidence: OpenedBundle, tools: Tools) -> str:
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
    if again != evidence.files[REPORT] and (why := unknown_members(evidence)):
        raise NotCheckable(f"the report may show what this build does not know: {why}")
    _compare(REPORT, "the report rendered from the records", version, again, evidence)
    return f"report.md equals the report rendered from the records in the words of {version}"


def _readme(evidence: OpenedBundle, _: Tools) -> str:
    if README not in evidence.files:
        return "the bundle has no README.txt"
    version = sealed(evidence.debate.decided, "readme", READMES)
    first = evidence.envelopes[0]
    _compare(
        README, "the text", version, READMES[version].format(debate=first.debate, log=first.log).encode(), evidence
    )
    return f"README.txt has the words of {version}"


def _compare(file: str, what: str, version: str, again: bytes, evidence: OpenedBundle) -> None:
    found = evidence.files[file]
    if again == found:
        return
    at = next((i for i, pair in enumerate(zip(again, found, strict=False)) if pair[0] != pair[1]), 0)
    raise Differs(file, f"{what} by {version}", f"another from byte {at} on", file=file)
