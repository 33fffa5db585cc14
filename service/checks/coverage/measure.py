"""From the case, the recorded verdicts and the texts to the coverage of each document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from service.checks.coverage.parts import by_characters, has_named_parts
from service.checks.coverage.quoted import Passages, cited, in_order, passages, quoted_wrongly
from service.checks.coverage.shape import Absent, DocumentCoverage, Span
from service.checks.coverage.spans import measure, per_mille, rest, union
from service.debate.findings import ArgumentVerdict
from service.debate.model import Case, Document, seat_of


def coverage(
    case: Case, arguments: Iterable[ArgumentVerdict], last_round: int, texts: Mapping[str, str] | None
) -> tuple[DocumentCoverage, ...]:
    """The coverage of each document at the end of ``last_round``; ``texts`` maps ids to stored texts, ``None`` if
    they were not read.

    Documents without a citation come first, those of rounds that were not reached last. A document without its text is
    in the result too, with the reason.
    """
    found = passages(case, arguments)
    covered = [_document_coverage(d, found[d.id], d.round <= last_round, texts) for d in case.documents]
    return tuple(sorted(covered, key=lambda c: (not c.given, c.citations > 0)))


def shares(case: Case, arguments: Iterable[ArgumentVerdict], last_round: int) -> dict[str, int]:
    """Document -> the share of it that was cited, in per mille, for the documents of the reached rounds."""
    found = passages(case, arguments)
    return {
        d.id: per_mille(measure(union(q.span for q in found[d.id].verified)), d.characters)
        for d in case.documents
        if d.round <= last_round
    }


def _document_coverage(
    document: Document, found: Passages, given: bool, texts: Mapping[str, str] | None
) -> DocumentCoverage:
    stretches = cited(found.verified)
    joined = [c.span for c in stretches]
    absent = _absent(document, texts)
    if texts is None or absent:
        parts = by_characters(joined, document.characters)
    else:
        parts = has_named_parts(texts[document.id], _by_seat(found), joined)
    return DocumentCoverage(
        document_id=document.id,
        title=document.title,
        round=document.round,
        given=given,
        characters=document.characters,
        citations=len(found.verified),
        cited_share=per_mille(measure(joined), document.characters) / 1_000,
        cited=stretches,
        never_cited=rest(joined, document.characters),
        quoted_wrongly=quoted_wrongly(found.altered),
        parts_are=parts.parts_are,
        parts=parts.parts,
        parts_never_cited=parts.never,
        places=parts.places,
        never_cited_parts=parts.ranges,
        marks=parts.marks,
        absent=absent,
    )


def _by_seat(found: Passages) -> dict[str, list[Span]]:
    """Seat -> its cited stretches, in the order in which seats speak."""
    spans: dict[str, list[Span]] = defaultdict(list)
    for quoted in found.verified:
        spans[seat_of(quoted.turn)].append(quoted.span)
    return dict(sorted(spans.items(), key=lambda item: in_order(item[0])))


def _absent(document: Document, texts: Mapping[str, str] | None) -> Absent | None:
    if texts is None:
        return "textNotRead"
    text = texts.get(document.id)
    if text is None:
        return "textNotStored"
    return None if len(text) == document.characters else "textDiffers"
