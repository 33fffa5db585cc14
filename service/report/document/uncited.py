"""The part of a report about uncited parts of documents: in sentences, as a picture of each document, and in tables."""

from __future__ import annotations

from collections.abc import Iterator

from service.checks.coverage import DocumentCoverage
from service.checks.coverage.sentences import brief, name_document, sentence, shorten
from service.report.document.blocks import (
    Block,
    Bullets,
    Fact,
    Key,
    Lane,
    Map,
    Mark,
    Pattern,
    ReportPart,
    Strip,
    TableBlock,
    Text,
)
from service.report.document.speakers import lane_labels, latest, within
from service.report.document.strip_chart import WIDTH, runs
from service.report.document.undocumented import NO_COVERAGE
from service.report.labels import ABSENT, NOT_READ, STATE, label_of
from service.report.result.types import Result
from service.report.shortened import short

LEADING = 3
"""The number of documents in the first sentences; the others follow in a list."""
MOST_ROWS = 100
_LONGEST_MARK = 8
TITLE_MAX = 40
"""The most characters of a title on the first page."""
_PATTERNS: dict[str, Pattern] = {"proposer": "full", "critic": "upright", "rebuttal": "level"}
_SIDES = (
    Key("full", "cited by a proposer"),
    Key("upright", "cited by a critic"),
    Key("level", "cited by a rebuttal"),
)
_DEBATERS = (Key("full", "cited by that debater"),)
_KEYS = (
    Key("hollow", "cited only in arguments that were struck for other evidence"),
    Key("cross", "quoted wrongly there: not counted as cited"),
    Key("mark", "a part begins"),
)


def uncited(r: Result) -> Iterator[Block]:
    """The uncited parts; the sentences come first."""
    if r.coverage_absent == "noDocuments" and r.status != "declined":
        yield ReportPart("coverage", "What was not cited")
        yield Text(NO_COVERAGE)
    if not r.coverage:
        return
    yield ReportPart("coverage", "What was not cited")
    yield Text(" ".join(sentence(c) for c in r.coverage[:LEADING]), "lead")
    if r.coverage[LEADING:]:
        yield Bullets(tuple(sentence(c) for c in r.coverage[LEADING:]))
    yield Text(NOT_READ, "note")
    for c in r.coverage:
        if c.given and c.absent:
            yield Text(f"{name_document(c)}: {label_of(ABSENT, c.absent)}.", "note")
    keys = (*(_DEBATERS if r.transcript else _SIDES), *_KEYS)
    yield Map("coverage", "Where each document was quoted, from its beginning to its end", keys, tuple(_strips(r)))
    yield from _never(r)
    yield from _cited(r)
    yield from _wrongly(r)


def never_cited(r: Result) -> Iterator[Fact]:
    """The same for the decision: a line for each of the first documents. Documents without a citation come first."""
    if r.coverage_absent == "noDocuments" and r.status != "declined":
        yield Fact("Cited", NO_COVERAGE)
    for c in r.coverage[:LEADING]:
        yield Fact(f"Cited of {_named(c)}", brief(c))


def _named(c: DocumentCoverage) -> str:
    """``D1 (Master agreement)``, or the id alone if the title adds nothing to it."""
    return c.document_id if c.title in ("", c.document_id) else f"{c.document_id} ({short(c.title, TITLE_MAX)})"


def _strips(r: Result) -> Iterator[Strip]:
    for c in r.coverage:
        if not c.given:
            continue
        shown = f"{brief(c)}." + (f" Quoted wrongly: {len(c.quoted_wrongly):,}." if c.quoted_wrongly else "")
        yield Strip(name_document(c), tuple(_lanes(r, c)), _crosses(c), _marks(c), shown[:1].upper() + shown[1:])


def _lanes(r: Result, c: DocumentCoverage) -> Iterator[Lane]:
    """A lane for each side or debater; stretches that only struck arguments cite are hollow."""
    debaters: dict[str, Pattern] = {one.seat: "full" for one in latest(r)}
    lanes = debaters or _PATTERNS
    labels = lane_labels(r, lanes)
    for seat, pattern in lanes.items():
        by = [who for passage in c.cited for who in passage.by if who.seat == seat]
        solid = runs((span for who in by if not who.struck for span in who.spans), c.characters)
        hollow = runs((span for who in by if who.struck for span in who.spans), c.characters)
        yield Lane(labels[seat], pattern, solid, hollow)


def _crosses(c: DocumentCoverage) -> tuple[int, ...]:
    found = runs((wrong.span for wrong in c.quoted_wrongly), c.characters)
    return tuple((a + b) // 2 for a, b in found)


def _marks(c: DocumentCoverage) -> tuple[Mark, ...]:
    short = (mark.numeral if len(mark.numeral) <= _LONGEST_MARK and mark.numeral.isascii() else "" for mark in c.marks)
    return tuple(Mark(label, mark.at * WIDTH // c.characters) for label, mark in zip(short, c.marks, strict=True))


def _never(r: Result) -> Iterator[Block]:
    rows: list[tuple[str, ...]] = []
    for c in r.coverage:
        if c.given and not c.citations:
            rows.append((c.document_id, "all of it", f"{c.characters:,}"))
        elif c.given:
            rows += [(c.document_id, p.name, f"{p.span[1] - p.span[0]:,}") for p in c.never_cited_parts]
    yield TableBlock(
        "Parts that nobody cited", ("Document", "Part", "Characters"), tuple(rows[:MOST_ROWS]), numeric=(2,)
    )
    yield from _more(len(rows))


def _cited(r: Result) -> Iterator[Block]:
    rows = [
        (
            c.document_id,
            place.label,
            shorten(place.title) if place.title.casefold() not in place.label.casefold() else "",
            label_of(STATE, place.state),
            str(place.citations),
            ", ".join(within(r, seat) for seat in place.seats),
        )
        for c in r.coverage
        for place in c.places
    ]
    head = ("Document", "Part", "Title", "Cited", "Citations", "By")
    yield TableBlock("Parts that were cited", head, tuple(rows[:MOST_ROWS]), numeric=(4,))
    yield from _more(len(rows))


def _wrongly(r: Result) -> Iterator[Block]:
    rows = [
        (c.document_id, f"{w.span[0]:,} to {w.span[1]:,}", w.turn, str(w.argument))
        for c in r.coverage
        for w in c.quoted_wrongly
    ]
    head = ("Document", "Characters", "Turn", "Argument")
    yield TableBlock("Passages that were quoted wrongly", head, tuple(rows[:MOST_ROWS]), numeric=(3,), code=(2,))
    yield from _more(len(rows))


def _more(rows: int) -> Iterator[Block]:
    if rows > MOST_ROWS:
        yield Text(f"{rows - MOST_ROWS:,} more are in the result as JSON, under coverage.", "note")
