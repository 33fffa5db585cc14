"""The middle parts of a report: struck arguments, and open points."""

from __future__ import annotations

from collections.abc import Iterator

from service.report.document.arguments import TONES, argued, titles_of
from service.report.document.blocks import Bar, Block, Bullets, Chart, ReportPart, Segment, TableBlock, Text
from service.report.document.speakers import speaker_possessive
from service.report.document.undocumented import UNCHECKED
from service.report.formats import Telling, telling_of
from service.report.labels import MOVEMENT, VERDICT, label_of, seat_name
from service.report.result.types import Result


def struck(r: Result) -> Iterator[Block]:
    """Evidence that failed, and the arguments that were struck for it."""
    telling = telling_of(r.options)
    if telling is None or not (r.rounds or r.transcript):
        return
    titles = titles_of(r)
    yield ReportPart("evidence", "Evidence and what was struck")
    yield _verdicts(r, telling)
    if not r.case.documents:
        yield Text(UNCHECKED)
    elif not r.struck:
        yield Text("No argument was struck.")
    for one in r.struck:
        seat = speaker_possessive(r, one.seat, telling.who) + (f" of {one.position}" if one.position else "")
        yield argued(f"{seat}, round {one.round}, number {one.argument.n}", one.argument, titles)
    if r.critical_validation_failures:
        yield TableBlock(
            "Critical validation failures",
            ("Turn", "Number", "Failure", "Quotation", "Source named"),
            tuple(
                (f.turn, str(f.n), f.reason.replace("_", " "), f.quote or "none cited", f.source_id or "none")
                for f in r.critical_validation_failures
            ),
            numeric=(1,),
            code=(0,),
        )


def _verdicts(r: Result, telling: Telling) -> Chart:
    """Citations by verdict, and by the debater or seat that cited."""
    cited = telling.cited(r)
    rows: dict[str, list[str]] = {
        name: [c.verdict or "pending" for a in said for c in a.citations] for name, said in cited.items()
    }
    most = max((len(found) for found in rows.values()), default=1)
    bars = tuple(_verdict_bar(name, found, most) for name, found in rows.items() if found)
    return Chart("Citations by verdict", bars)


def _verdict_bar(name: str, found: list[str], most: int) -> Bar:
    counts = {verdict: found.count(verdict) for verdict in VERDICT if verdict in found}
    segments = tuple(Segment(label_of(VERDICT, v), count, TONES.get(v, "plain")) for v, count in counts.items())
    shown = ", ".join(f"{count} {label_of(VERDICT, v).lower()}" for v, count in counts.items())
    return Bar(name, segments, most, shown)


def uncertainties(r: Result) -> Iterator[Block]:
    """The uncertainties of the conclusion, and the shifts of the seats after new evidence."""
    if r.explicit_uncertainties:
        yield ReportPart("uncertainties", "Explicit uncertainties")
        yield Bullets(r.explicit_uncertainties)
    if r.shifts:
        yield ReportPart("shifts", "How new evidence moved the seats")
        yield TableBlock(
            "Each seat compared with what it said in the round before",
            ("Round", "Seat", "Documents", "Moved", "Because"),
            tuple(
                (
                    str(s.round),
                    seat_name(s.seat) + (f" of {s.position}" if s.position else ""),
                    ", ".join(s.documents),
                    label_of(MOVEMENT, s.movement),
                    s.because,
                )
                for s in r.shifts
            ),
            numeric=(0,),
        )
