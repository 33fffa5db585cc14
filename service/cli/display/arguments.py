"""Arguments of all formats with their quotations, and the lines that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from service.cli.display.console import joined, row, text
from service.report.labels import REFUSED, STRUCK, label_of
from service.report.result.argument_types import Argument, Citation
from service.report.shortened import short

LONGEST_QUOTE = 240
"""The most characters of a quotation on the page; the report has it whole."""
MOST_EDITS, LONGEST_EDIT = 3, 60
"""The most edits of a quotation on the page, and the most characters of each."""
_MARKS = {
    "verified": ("✓", "green"),
    "altered": ("✗", "red"),
    "too_short": ("✗", "red"),
    "not_found": ("✗", "red"),
    "unchecked": ("?", "yellow"),
    None: ("?", "dim"),
}
_VERDICTS = {
    "verified": "",
    "altered": "ALTERED",
    "too_short": "TOO SHORT",
    "not_found": "NOT FOUND",
    "unchecked": "UNCHECKED",
    None: "not checked",
}


def heading(title: str, beside: str, thesis: str = "") -> RenderableType:
    """The speaker, a remark beside the name, and the thesis in a sentence."""
    head = joined(text(title, "bold"), text(f"({beside})" if beside else "", "dim"))
    body = Text("\n").join([head, text(thesis)]) if thesis else head
    return Padding(body, (1, 0, 0, 0))


def arguments(arguments: Iterable[Argument], verb: str = "", wide: int = 2) -> Iterator[RenderableType]:
    """Numbered arguments, each with its quotations, and whether it was struck."""
    for argument in arguments:
        against = f"(against {', '.join(map(str, argument.attacks))}) " if argument.attacks else ""
        whose = f"[{argument.position}] " if argument.position else ""
        words = text(f"{whose}{against}{argument.text}", "dim" if argument.struck else "")
        yield numbered(f"{verb}{argument.n}", words, wide)
        for citation in argument.citations:
            yield _quotation(citation)
        if argument.struck:
            yield indented(f"STRUCK: {label_of(STRUCK, argument.struck)}; no later seat was shown it", "bold red")


def numbered(lead: str, body: Text, wide: int) -> RenderableType:
    """A line under a number, or another short word."""
    return row(text(lead), body, lead_width=wide, indent=2)


def _quotation(citation: Citation) -> RenderableType:
    mark, style = _MARKS[citation.verdict]
    where = citation.source_id or "no source named"
    if citation.span:
        where += f", characters {citation.span[0]:,} to {citation.span[1]:,}"
    body = joined(
        text(_VERDICTS[citation.verdict], style),
        text(f"“{short(citation.quote, LONGEST_QUOTE)}”", "italic"),
        text(where, "dim"),
        text(_instead(citation), style),
    )
    return row(text(mark, style), body, lead_width=1, indent=5)


def _instead(citation: Citation) -> str:
    """The documents' own words, if a quotation is not verified, and what in it counts; or why it was not compared."""
    if citation.found_in:
        return f"it stands in {citation.found_in} instead"
    if citation.verdict == "too_short":
        return label_of(REFUSED, citation.reason or "")
    if citation.verdict == "altered" and citation.text:
        return "; ".join([f"the document says: “{short(citation.text, LONGEST_QUOTE)}”", *_material(citation)])
    return ""


def _material(citation: Citation) -> Iterator[str]:
    """The first edits that count, each by the words that made it count."""
    for edit in [edit for edit in citation.edits if edit.material][:MOST_EDITS]:
        yield f"{edit.kind}: “{short(edit.because or edit.from_ or edit.to, LONGEST_EDIT)}”"


def indented(words: str, style: str = "") -> RenderableType:
    """Words under an argument."""
    return Padding(text(words, style), (0, 0, 0, 5))


def bullets(items: Iterable[str]) -> Iterator[RenderableType]:
    """A line each, with a dash."""
    for item in items:
        yield row("-", text(item), lead_width=1, indent=2)
