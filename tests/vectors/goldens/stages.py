"""Citations: what each step of the engine makes of small documents, quotations and pairs of words.

A verdict shows little of the steps before it: most changes of a step change the verdicts on few documents. So a hash
of each step's result is held for the cases in ``cases/small-documents.jsonl``: ``[text]`` is a document,
``[word, other]`` a pair of words, and ``[texts, quotation, source, location]`` a citation. The work that a citation
takes is held too, because it decides which citations are refused for taking too much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from service.checks.citations import ENGINE, MAX_STEPS, Sources, check
from service.checks.citations.match.alignment import alignments
from service.checks.citations.match.quotation import QuoteWords
from service.checks.citations.match.slips import distance_is_one, is_slip
from service.checks.citations.text.derived_words import are_related, is_derived, may_be_made
from service.checks.citations.text.document import Document
from service.checks.citations.text.list_marks import is_footnote_mark, is_list_mark
from service.checks.citations.text.omissions import hidden_turn
from service.checks.citations.text.page_furniture import page_starts
from service.checks.citations.text.spelling import american, is_respelled
from service.checks.citations.text.steps import Steps
from service.checks.citations.text.tokens import is_block_quotation, read_tokens
from service.checks.citations.text.word_bounds import divides, is_lone_star, is_unmatched, leaves_unit
from service.checks.citations.verdict.changes import judge
from service.checks.citations.verdict.location import stands_in
from service.checks.citations.verdict.neighbours import cut_off, goes_on
from service.debate.findings import Citation
from tests.vectors.goldens import CASES, Golden, file_of, lines

ENGINES = (ENGINE,)
"""The versions that have these steps."""
LEAST = 30
"""Per cent of a quotation's words that an alignment held here must share: fewer than any that is judged."""


def cases() -> Iterator[list[Any]]:
    """Documents, pairs of words and citations."""
    for line in (CASES / "small-documents.jsonl").read_bytes().splitlines():
        yield msgspec.json.decode(line)


def step_by_step(case: list[Any]) -> str:
    """What the steps make of a case, each in a few letters of a hash."""
    match case:
        case [str() as text]:
            found = _document(text)
        case [str() as word, str() as other]:
            found = _words(word, other)
        case [dict() as texts, quote, source, location]:
            found = _citation(texts, Citation(quote, source, location))
        case _:
            raise ValueError(f"expected a document, two words or a citation, found {case}")
    return " ".join(_short(one) for one in found)


def _short(value: object) -> str:
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()[:6]


def _document(text: str) -> Iterator[object]:
    """How a document is folded, divided and read, and what each place in it is to a quotation that ends there."""
    document = Document(text)
    folded = document.folded
    yield folded.text, [*folded.starts], [*folded.origins], [*folded.ends], [*folded.whole]
    yield document.outline
    yield [*document.furniture], page_starts(text)
    yield document.index
    tokens = read_tokens(folded)
    yield tokens
    places = range(len(folded.text) + 1)
    yield [(divides(folded, at), leaves_unit(folded, at)) for at in places]
    yield [(is_unmatched(folded.text, at), is_lone_star(folded.text, at)) for at in places[:-1]]
    yield [is_block_quotation(folded, at) for at in places[:-1]]
    spans = [*zip(tokens.starts, tokens.ends[2:], strict=False)]
    yield [hidden_turn(folded, *span) for span in spans]
    yield [cut_off(folded, *span) for span in spans]
    yield [goes_on(folded, end) for end in tokens.ends]
    origins = [found for span in spans if (found := folded.span(*span))]
    yield [stands_in(document, span) for span in origins]
    ones = [found for span in zip(tokens.starts, tokens.ends, strict=True) if (found := folded.span(*span))]
    yield [(is_list_mark(text, *span), is_footnote_mark(text, *span)) for span in ones]


def _words(word: str, other: str) -> Iterator[object]:
    """Whether one word is another with a slip, or is made of it."""
    yield [is_slip(word, other, how) for how in ("plain", "term", "name")]
    yield distance_is_one(word, other), is_respelled(word, other), american(word), american(other)
    yield may_be_made(word, other), are_related(word, other), is_derived(word), is_derived(other)


def _citation(texts: Mapping[str, str], citation: Citation) -> Iterator[object]:
    """The verdict, every passage that a quotation can be laid beside with its differences, and the work for them."""
    sources = Sources(texts)
    yield check(citation, sources)
    quote = QuoteWords(citation.quote, sources.has_word)
    yield quote.tokens, quote.notes, sorted(quote.cuts), quote.ends_cut, quote.has_short_piece, quote.letters
    for name in sorted(texts):
        steps, document = Steps(MAX_STEPS), sources.document(name)
        found = [*alignments(quote, document, LEAST, steps)] if quote.tokens.texts else []
        yield [(one.equal, one.blocks, one.span, one.folded_span) for one in found]
        yield [judge(one, document, sources.has_word).edits for one in found], steps.left


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "stages"): Golden(name, partial(_made, name)) for name in ENGINES}


def _made(name: str) -> bytes:
    return lines(name, {1: map(step_by_step, cases())})
