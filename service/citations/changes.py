"""Name the differences between a quotation and the passage that it comes nearest to.

A difference takes the first kind of this table that one of its words, on either side, belongs to:

    negation     not, never, without, unless, except …: what turns the sense round or bounds it
    currency     a currency sign, name or code
    date         a month or day by name, a year, digits with slashes
    number       anything with a digit, and numbers in words
    modal        shall, must, may, should, can, will …
    name         a capital inside a sentence
    inserted     only the quotation has it
    dropped      only the document has it
    word         any other word for another

and where no word differs: ``punctuation``, or ``cut`` when the quotation ends inside a longer word or number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from service.citations.align import Alignment, Block, Token
from service.citations.bounds import NUMBER_WORDS, divides, is_currency
from service.citations.fold import Folded
from service.debate.findings import Edit

MOST_EDITS = 40
"""Edits in one verdict: they are for a reader."""

_NEGATIONS = frozenset(
    "not no nor never neither none nothing nobody nowhere cannot non without unless except excepting excluding "
    "excluded excludes exclude only save notwithstanding until hardly scarcely barely rarely seldom".split()
)
_CURRENCIES = frozenset(
    "dollar dollars euro euros pound pounds sterling cent cents pence yen yuan franc francs rupee rupees "
    "usd eur gbp jpy chf cny inr aud cad".split()
)
_DATES = frozenset(
    "january february april june july august september october november december jan feb apr jun jul aug sep sept "
    "oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_MODALS = frozenset("shall must may might should can could will would ought need needs".split())
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d|\d{1,4}/\d{1,2}(?:/\d{1,4})?")
_SENTENCE_END = ".!?:"
_RANK = ("negation", "currency", "date", "number", "modal", "name")


def edits(alignment: Alignment, quote: Folded, document: Folded) -> tuple[Edit, ...]:
    """What differs, in the order of reading and in the words of either side; at most `MOST_EDITS`."""
    found = tuple(islice((_edit(alignment, b, quote, document) for b in alignment.blocks), MOST_EDITS))
    found = found or tuple(islice(_between_words(alignment, quote, document), MOST_EDITS))
    return found or (_around_words(alignment, quote, document),)


def _edit(alignment: Alignment, block: Block, quote: Folded, document: Folded) -> Edit:
    theirs = alignment.source[block.source : block.source_end]
    ours = alignment.quote[block.quote : block.quote_end]
    kind = _first({_kind(theirs, document), _kind(ours, quote)})
    if kind is None:
        kind = "word" if theirs and ours else "dropped" if theirs else "inserted"
    return Edit(kind=kind, from_=_printed(theirs, document), to=_printed(ours, quote))


def _kind(tokens: Sequence[Token], folded: Folded) -> str | None:
    return _first({_kind_of(token, folded) for token in tokens})


def _first(kinds: set[str | None]) -> str | None:
    return next((kind for kind in _RANK if kind in kinds), None)


def _kind_of(token: Token, folded: Folded) -> str | None:
    text = token.text
    if text in _NEGATIONS or text.endswith("n't"):
        return "negation"
    if text in _CURRENCIES or is_currency(text[0]):
        return "currency"
    if text in _DATES or _YEAR.fullmatch(text):
        return "date"
    if text in NUMBER_WORDS or text == "%" or any(map(str.isdigit, text)):
        return "number"
    if text in _MODALS:
        return "modal"
    return "name" if folded.printed(token.start).isupper() and not _starts_sentence(token, folded) else None


def _starts_sentence(token: Token, folded: Folded) -> bool:
    before = folded.text[max(0, token.start - 4) : token.start].rstrip(" \"'(-")
    return not before or before[-1] in _SENTENCE_END


def _between_words(alignment: Alignment, quote: Folded, document: Folded) -> Iterator[Edit]:
    for (s, q), (s_next, q_next) in pairwise(alignment.pairs):
        theirs = document.text[alignment.source[s].end : alignment.source[s_next].start]
        ours = quote.text[alignment.quote[q].end : alignment.quote[q_next].start]
        if theirs != ours:
            yield Edit(
                kind="punctuation",
                from_=_printed(alignment.source[s : s_next + 1], document),
                to=_printed(alignment.quote[q : q_next + 1], quote),
            )
    first, last = alignment.pairs[0][0], alignment.pairs[-1][0]
    if divides(document, alignment.span[0]):
        theirs_at = alignment.source[max(0, first - 1) : first + 1]
        yield Edit(kind="cut", from_=_printed(theirs_at, document), to=_printed(alignment.quote[:1], quote))
    if divides(document, alignment.span[1]):
        yield Edit(
            kind="cut",
            from_=_printed(alignment.source[last : last + 2], document),
            to=_printed(alignment.quote[-1:], quote),
        )


def _around_words(alignment: Alignment, quote: Folded, document: Folded) -> Edit:
    """What is left when all words and what lies between them agree: the marks before the first or after the last."""
    start, end = document.reach(*alignment.span)
    return Edit(kind="punctuation", from_=document.original[start:end], to=quote.original.strip())


def _printed(tokens: Sequence[Token], folded: Folded) -> str:
    if not tokens:
        return ""
    start, end = folded.reach(tokens[0].start, tokens[-1].end)
    return folded.original[start:end]
