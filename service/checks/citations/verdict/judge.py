"""The verdict on a citation: verified, altered, too short or not found. Made by code alone, and closed when in doubt.

    1  an unknown source was named                           not_found   unknown_source
    2  fewer than 12 letters and digits                      too_short
    3  the words stand in the source (any, if none is named) verified    with their span
    4  they do, but for tolerated differences (`changes`)    verified    with span and edits, none of them material
    5  3 or 4 holds, right beside a negation left out        altered     negation cut off
    6  another given source only has the words               not_found   foundIn
    7  most of the words stand in the source, but not all    altered     with span, edits, foundIn if another has them
    8  anything else                                         not_found
    *  the work allowed was used up                          not_found   out_of_steps

Where 3 and 4 do not hold, the source is searched once more as models have read it: without the embeddings, overrides
and isolates that are kept from them (`service.debate.neutral`). All else that is kept from them `fold` leaves out.

Words are compared after folding, one by one. ``fold`` and ``tokens`` list the differences that folding removes,
``changes`` the rules for the others, ``word_bounds`` the places where a quotation may begin and end, ``units`` the one
case in which upper and lower case differ. Similarity only explains a refusal and never verifies. If several sources
have the words, the one with the first id in sort order is named, so a verdict does not depend on the sources' order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec import structs

from service.checks import kept
from service.checks.citations.match.alignment import Alignment, alignments
from service.checks.citations.match.find import MOST_PLACES, QuotationPieces, find, read_quote
from service.checks.citations.match.quotation import QuoteWords
from service.checks.citations.match.slips import SHORTEST_SLIP, near
from service.checks.citations.text import lexicon
from service.checks.citations.text.document import Document
from service.checks.citations.text.place_labels import without_label
from service.checks.citations.text.steps import MAX_STEPS, OutOfSteps, Steps
from service.checks.citations.text.units import changed_units
from service.checks.citations.verdict import location, neighbours
from service.checks.citations.verdict.changes import Judged, judge
from service.debate.findings import Citation, CitationVerdict, Edit
from service.debate.neutral import unturned

ENGINE = f"citations/3+{lexicon.VERSION}"
"""The rules' version and the word list's: recorded beside every finding."""
LEAST_LETTERS = 12
LEAST_SHARE = 60
"""Per cent of the quotation's words that a passage must share for the verdict `altered`."""
_LEAST_ELSEWHERE = 70
"""The same for another source, which is named only if the quotation stands there."""

_FEW_EDITS = 3
"""The most tolerated edits of a passage that ends the search for a better one in the same document."""


_MOST_NAMED = 5
_LONGEST_BROKEN = 30


class Sources:
    """Documents by id, each read once, when it is first needed, and kept for the next `Sources` that has it too."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)
        self._documents: dict[str, Document] = {}

    @cached_property
    def as_read(self) -> Sources | None:
        """The sources as models have read them, with the same offsets; ``None`` if they are the same to a reader."""
        read = {name: kept.once("unturned", unturned, text) for name, text in self._texts.items()}
        return Sources(read) if read != self._texts else None

    def text(self, source_id: str, span: tuple[int, int]) -> str:
        """The stored text of a passage."""
        return self._texts[source_id][slice(*span)]

    def __contains__(self, source_id: str) -> bool:
        return source_id in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def document(self, source_id: str) -> Document:
        """A document prepared for searches."""
        if source_id not in self._documents:
            self._documents[source_id] = kept.once("document", Document, self._texts[source_id])
        return self._documents[source_id]

    def has_word(self, word: str) -> bool:
        """Whether any document has a word, folded."""
        return any(word in self.document(source).index for source in self._texts)


def check(citation: Citation, sources: Sources, max_steps: int = MAX_STEPS) -> CitationVerdict:
    """Judge one citation; raises no error for any quotation and documents."""
    return check_within(citation, sources, Steps(max_steps))


def check_within(citation: Citation, sources: Sources, steps: Steps) -> CitationVerdict:
    """The same within the work that is left for several citations."""
    try:
        verdict = _judge(citation, sources, steps)
        bare = without_label(citation) if verdict.verdict != "verified" else None
        found = _judge(bare, sources, steps) if bare else verdict
        if found.verdict != "verified" and (read := sources.as_read):
            found = check_within(citation, read, steps)
            if found.source_id and found.span:
                found = structs.replace(found, text=sources.text(found.source_id, found.span))
        return found if found.verdict == "verified" else verdict
    except OutOfSteps as end:
        return CitationVerdict("not_found", reason=end.code)


def check_all(citations: Iterable[Citation], sources: Sources) -> tuple[CitationVerdict, ...]:
    """Judge citations against the same documents, one verdict for each, in their order."""
    return tuple(check(citation, sources) for citation in citations)


@dataclass(frozen=True, slots=True)
class _Passage:
    """The best passage of one source for a quotation; ``places`` counts the places that are as good."""

    source_id: str
    span: tuple[int, int]
    edits: tuple[Edit, ...] = ()
    shared: int = 0
    places: int = 1
    others: tuple[str, ...] = ()
    """Other sources that have the words too."""
    goes_on: str | None = None

    @property
    def stands(self) -> bool:
        return not any(edit.material for edit in self.edits)


class _Asked:
    """One citation, read once for all the sources in which it is searched."""

    def __init__(self, citation: Citation, sources: Sources, steps: Steps) -> None:
        self.citation, self.sources, self.steps = citation, sources, steps
        self.quote: QuotationPieces = read_quote(citation.quote)
        self._readings: tuple[QuoteWords, ...] = ()

    @property
    def readings(self) -> tuple[QuoteWords, ...]:
        """The quotation word by word: without an editor's notes, and with them, since the document may have them."""
        if not self._readings:
            self.steps.take(2 * len(self.citation.quote))
            bare = QuoteWords(self.citation.quote, self._is_broken)
            whole = (QuoteWords(self.citation.quote, self._is_broken, with_notes=True),) if bare.notes else ()
            self._readings = bare, *whole
        return self._readings

    def _is_broken(self, word: str) -> bool:
        """Whether the two ends of a word that a line's end hyphenates are a document's, or are it but for a slip."""
        if self.sources.has_word(word):
            return True
        if not SHORTEST_SLIP < len(word) <= _LONGEST_BROKEN:
            return False
        self.steps.take(60 * len(word) * len(list(self.sources)))
        return any(self.sources.has_word(other) for other in near(word))

    @property
    def is_too_short(self) -> bool:
        """Whether there are too few letters and digits, without an editor's notes and hidden targets."""
        if self.quote.letters < LEAST_LETTERS:
            return True
        return any(c in self.citation.quote for c in "[(<&") and self.readings[0].letters < LEAST_LETTERS

    def exact(self, source: str) -> _Passage | None:
        """The place where a source has the words exactly, the best of several."""
        document = self.sources.document(source)
        where = location.locate(self.citation.location, document)
        near = None if where is None or where.near is None else document.folded.offset(where.near)
        found = find(self.quote, document.folded, near, self.steps)
        if not found:
            return None
        cuts = {place: neighbours.cut_off(document.folded, *place) for place in found}
        places = [place for place, cut in cuts.items() if cut is None] or found
        best = _preferred(places, where, near, document)
        span = document.folded.span(*best) or document.folded.reach(*best)
        cut = cuts[best]
        edits = (*changed_units(document.original[slice(*span)], self.citation.quote), *((cut,) if cut else ()))
        return _Passage(
            source,
            span,
            edits,
            shared=1 << 30,
            places=len(places),
            goes_on=neighbours.goes_on(document.folded, best[1]),
        )

    def nearest(self, source: str, least: int) -> _Passage | None:
        """The nearest passage of a source with its edits, if it shares enough words with the quotation."""
        document = self.sources.document(source)
        best: tuple[Alignment, Judged] | None = None
        for found in self._alignments(document, least):
            judged = judge(found, document, self.sources.has_word)
            if best is None or _rank(found, judged) > _rank(*best):
                best = found, judged
            if judged.stands and len(judged.edits) <= _FEW_EDITS:
                break
        if best is None:
            return None
        alignment, judged = best
        place = alignment.folded_span
        cut = neighbours.cut_off(document.folded, *place) if judged.stands else None
        edits = (*judged.edits, cut) if cut else judged.edits
        return _Passage(
            source,
            document.folded.reach(*alignment.marked_span(document.folded.text)),
            edits,
            shared=len(alignment.equal),
            goes_on=neighbours.goes_on(document.folded, place[1]),
        )

    def _alignments(self, document: Document, least: int) -> Iterator[Alignment]:
        for words in self.readings:
            if words.tokens.texts:
                yield from alignments(words, document, least, self.steps)


def _rank(alignment: Alignment, judged: Judged) -> tuple[bool, int, int, int]:
    material = sum(edit.material for edit in judged.edits)
    return judged.stands, len(alignment.equal), -material, -alignment.folded_span[0]


def _preferred(
    places: list[tuple[int, int]], where: location.Location | None, near: int | None, document: Document
) -> tuple[int, int]:
    """The place that the location names, else the nearest one to it, else the first."""
    if where is None or near is None or len(places) == 1:
        return places[0]
    inside = [place for place in places if where.holds(document.folded.reach(*place))]
    return min(inside or places, key=lambda place: (abs(place[0] - near), place[0]))


def _judge(citation: Citation, sources: Sources, steps: Steps) -> CitationVerdict:
    named = citation.source_id
    asked = _Asked(citation, sources, steps)
    if named is not None and named not in sources:
        return CitationVerdict("not_found", found_in=_elsewhere(asked, None), reason="unknown_source")
    if asked.is_too_short:
        return CitationVerdict("too_short", reason="too_short")
    given = sorted(sources) if named is None else [named]
    found = _best(asked, given)
    if found and found.stands:
        return _verdict("verified", found, asked)
    other = None if named is None else _elsewhere(asked, named)
    if found:
        return _verdict("altered", found, asked, other)
    return CitationVerdict("not_found", found_in=other)


def _best(asked: _Asked, given: list[str], least: int = LEAST_SHARE) -> _Passage | None:
    """Of the sources' passages the one that stands, an exact one first, or else the one that shares most words."""
    exact = [found for source in given if (found := asked.exact(source))]
    if whole := [found for found in exact if found.stands]:
        others = tuple(found.source_id for found in whole[1:])
        return replace(whole[0], others=others) if others else whole[0]
    near = [found for source in given if (found := asked.nearest(source, least))]
    if whole := [found for found in near if found.stands]:
        return min(whole, key=lambda found: len(found.edits))
    return max([*exact, *near], key=lambda found: found.shared, default=None)


def _elsewhere(asked: _Asked, named: str | None) -> str | None:
    """The first source beside the named one that has the quotation's words."""
    if asked.is_too_short:
        return None
    others = [source for source in sorted(asked.sources) if source != named]
    found = _best(asked, others, _LEAST_ELSEWHERE) if others else None
    return found.source_id if found and found.stands else None


def _verdict(verdict: str, found: _Passage, asked: _Asked, other: str | None = None) -> CitationVerdict:
    document = asked.sources.document(found.source_id)
    return CitationVerdict(
        "verified" if verdict == "verified" else "altered",
        source_id=found.source_id,
        span=found.span,
        text=document.original[slice(*found.span)],
        edits=found.edits,
        found_in=other,
        note=_note(found, asked, document) if verdict == "verified" else None,
    )


def _note(found: _Passage, asked: _Asked, document: Document) -> str | None:
    """The note on a verified quotation, in words for a reader."""
    citation = asked.citation
    where = location.locate(citation.location, document)
    notes = [location.note(citation.location, where, document, found.span)]
    if found.places > 1:
        times = str(found.places) if found.places < MOST_PLACES else "many"
        notes.append(f"stands {times} times in this document")
    if found.others:
        notes.append(f"stands in {', '.join(found.others[:_MOST_NAMED])} too")
    if found.goes_on:
        notes.append(f"the sentence goes on: {found.goes_on}")
    return "; ".join(note for note in notes if note) or None
