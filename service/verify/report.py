"""The texts of a bundle, written again from the records, so that what a reader reads is verified too.

report.md, report.html  the report of the debate, or of the declined case
README.txt              what the files are, and how they are verified
schema/*.json           the JSON Schemas of the files

The records name the version of each, and only that version is compared, byte for byte. Where this build lacks it, the
result says of the file that it is only words.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.audit import bundle as bundles
from service.audit.bundle_texts import READMES, SCHEMAS
from service.audit.report_forms import Form
from service.verify.opened_bundle import OpenedBundle
from service.verify.records import unknown_members
from service.verify.steps import Differs, NotCheckable, Tools
from service.verify.versions import sealed

README, FOLDER = bundles.README, "schema/"
REPORTS: Mapping[str, Form] = {bundles.REPORT: "markdown", bundles.PAGE: "html"}


def check_report(evidence: OpenedBundle, tools: Tools) -> str:
    """Check that the texts equal those written from the records; raises `Differs`."""
    details, gaps, differences = [], [], list[Differs]()
    for check in (_report, _readme, _schemas):
        try:
            details.append(check(evidence, tools))
        except NotCheckable as gap:
            gaps.append(gap.reason)
        except Differs as difference:  # raised when the others are compared too: the result names what is only words
            differences.append(difference)
    if differences:
        raise differences[0]
    if gaps:
        raise NotCheckable("; ".join(dict.fromkeys(gaps)))
    return "; ".join(details)


def _report(evidence: OpenedBundle, tools: Tools) -> str:
    if not tools.reports:
        raise NotCheckable(
            "this verifier renders no reports; read the records, or verify with the command of the service"
        )
    version = sealed(evidence.debate.decided, "report", tools.reports)
    if evidence.debate.gap:
        raise NotCheckable(evidence.debate.gap)
    differences = list[Differs]()
    for file, form in REPORTS.items():
        evidence.size(file)
        again = tools.reports[version](evidence, form, "a4")
        if (why := unknown_members(evidence)) and again != evidence.file(file):
            raise NotCheckable(f"the report may show what this build does not know: {why}")
        try:
            _compare(file, "the report rendered from the records", version, again, evidence)
            evidence.words.discard(file)
        except Differs as difference:  # raised when both are compared, as in `check_report`
            differences.append(difference)
    if differences:
        raise differences[0]
    return f"{' and '.join(REPORTS)} equal the report rendered from the records in the words of {version}"


def _readme(evidence: OpenedBundle, _: Tools) -> str:
    version = sealed(evidence.debate.decided, "readme", READMES)
    first = evidence.first
    _compare(
        README, "the text", version, READMES[version].format(debate=first.debate, log=first.log).encode(), evidence
    )
    evidence.words.discard(README)
    return f"README.txt has the words of {version}"


def _schemas(evidence: OpenedBundle, tools: Tools) -> str:
    if tools.schemas is None:
        raise NotCheckable("this verifier has no JSON Schemas to compare")
    version = sealed(evidence.debate.decided, "schemas", SCHEMAS, judged=False)
    for path, content in sorted(tools.schemas(version).items()):
        _compare(path, "the JSON Schema", version, content, evidence)
    evidence.words.discard(FOLDER)
    return f"the schemas are those of {version}"


def _compare(file: str, what: str, version: str, again: bytes, evidence: OpenedBundle) -> None:
    size = evidence.size(file)
    if size != len(again):  # a file of another length is not read
        raise Differs(file, f"{what} by {version}, {len(again)} bytes", f"{size} bytes", file=file)
    found = evidence.files[file]
    if again == found:
        return
    at = next(i for i, pair in enumerate(zip(again, found, strict=True)) if pair[0] != pair[1])
    raise Differs(file, f"{what} by {version}", f"another from byte {at} on", file=file)
