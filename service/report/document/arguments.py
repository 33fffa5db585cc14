"""An argument of a report, with its citations and the verdict on each."""

from __future__ import annotations

from collections.abc import Iterator

from service.report.document.blocks import Argued, Quotation, Tone
from service.report.labels import REFUSED, STRUCK, VERDICT, label_of
from service.report.result.argument_types import Argument, Citation
from service.report.result.types import Result

TONES: dict[str, Tone] = {
    "verified": "good",
    "altered": "warn",
    "too_short": "warn",
    "not_found": "bad",
    "unchecked": "warn",
}


def titles_of(r: Result) -> dict[str, str]:
    """The documents' titles by id."""
    return {d.id: d.title for d in r.case.documents}


def argued(label: str, argument: Argument, titles: dict[str, str]) -> Argued:
    """An argument as a block, with the verdict on each of its citations."""
    unchecked = argument.basis == "evidence" and not titles
    beside = ["claims evidence that could not be checked" if unchecked else f"rests on {argument.basis}"]
    if argument.attacks:
        beside.append(f"against argument{'s' if len(argument.attacks) > 1 else ''} {_listed(argument.attacks)}")
    if argument.position:
        beside.append(f"of {argument.position}")
    struck = f"Struck: {label_of(STRUCK, argument.struck)}. Later seats were not shown it." if argument.struck else ""
    quotations = tuple(_quotation(citation, titles) for citation in argument.citations)
    return Argued(label, ", ".join(beside), argument.text, struck, quotations)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _quotation(citation: Citation, titles: dict[str, str]) -> Quotation:
    verdict = citation.verdict or "pending"
    source = citation.source_id or "no source named"
    where = [f"{source}, {titles[source]}" if source in titles else source]
    where += [citation.location] if citation.location else []
    where += [f"characters {citation.span[0]:,} to {citation.span[1]:,}"] if citation.span else []
    return Quotation(
        TONES.get(verdict, "plain"),
        label_of(VERDICT, verdict),
        citation.quote,
        ", ".join(where),
        tuple(_notes(citation)),
    )


def _notes(citation: Citation) -> Iterator[str]:
    if citation.verdict == "altered" and citation.text:
        yield f"The source says: “{citation.text}”"
    for edit in citation.edits:
        because = f" (because of “{edit.because}”)" if edit.because else ""
        yield f"{edit.kind}{because}: the source has “{edit.from_}”, the quotation “{edit.to}”"
    if citation.found_in:
        yield f"It stands in {citation.found_in} instead."
    if citation.reason and citation.verdict != "verified":
        yield f"Why it is not verified: {label_of(REFUSED, citation.reason)}."
