"""From paragraphs to sentences, with offsets, and from long sentences to a clause that can be quoted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from service.simulated.layout import Paragraph, paragraphs

QUOTE_MOST = 400
QUOTE_LEAST = 40

_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof inc corp co ltd llc no nos sec sect art arts fig figs vol al etc vs v cf viz approx est
    dept jan feb mar apr jun jul aug sep sept oct nov dec st jr sr esq para paras ch pt app ex e.g i.e u.s u.k
    eg ie a.m p.m pub stat seq supp rev ed eds cir u.s.c c.f.r""".split()
)
_END = re.compile(r"[.?!](?:[\"”’'»)\]*_]{0,3})(?=\s)|[。！？]")
_ITEM = re.compile(r";(?=\s+(?:and\s+|or\s+)?\([a-z0-9]{1,4}\)\s)")
_LONG = 600
_BREAKS = re.compile(
    r";\s+(?:and\s+|or\s+|but\s+)?|,\s+(?=(?:provided|except|unless|whether|including|but|"
    r"and|or|which|so long as|where|if|"
    r"in each case|other than|as well as|to the extent)\b)|:\s+|\s+(?=\((?:[a-z]|[ivx]+|\d)\)\s)|(?<=[.?!])\s+"
)
_TRAILING = re.compile(r"(?:[\s,;:–—-]+(?:and|or|but|the|a|of)\b)?[\s,;:–—-]*$")


class Sentence(NamedTuple):
    """One sentence or clause: ``text[start:end]`` of the document, and its place as readers cite it."""

    start: int
    end: int
    location: str
    caption: str
    heading: str
    kind: str


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a document in their order."""
    for paragraph in paragraphs(text):
        yield from _split(text, paragraph)


def _split(text: str, paragraph: Paragraph) -> Iterator[Sentence]:
    place = paragraph[2:]
    if paragraph.kind == "table":
        yield Sentence(paragraph.start, paragraph.end, *place)
        return
    start = paragraph.start
    for found in _END.finditer(text, paragraph.start, paragraph.end):
        if found[0][0] in ".?!" and not _ends_sentence(text, start, found, paragraph.end):
            continue
        yield from _items(text, Sentence(start, found.end(), *place))
        start = _skip(text, found.end(), paragraph.end)
    if start < paragraph.end:
        yield from _items(text, Sentence(start, paragraph.end, *place))


def _items(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """The items of the list in a very long sentence."""
    start = sentence.start
    if sentence.end - start > _LONG:
        for found in _ITEM.finditer(text, start, sentence.end):
            yield sentence._replace(start=start, end=found.end())
            start = _skip(text, found.end(), sentence.end)
    yield sentence._replace(start=start)


def _skip(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


def _ends_sentence(text: str, start: int, found: re.Match[str], end: int) -> bool:
    """Whether a mark ends a sentence: not before a small letter, and no full stop after an abbreviation or a number."""
    after = _skip(text, found.end(), end)
    if after < end and text[after].islower():
        return False
    at = found.start()
    if text[at] != ".":
        return True
    begin = at
    while begin > start and not text[begin - 1].isspace() and text[begin - 1] not in '("“':
        begin -= 1
    last = text[begin:at].lower()
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()):
        return last in ("inc", "ltd", "etc", "corp", "co") and after < end and text[after].isupper() and at - start > 60
    return not (last.isdigit() and at - start < 12)


def clip(text: str, sentence: Sentence, value: Callable[[str], float]) -> tuple[int, int]:
    """The span to quote: the sentence if it is short enough, else the run of its clauses with the highest value.

    ``value`` rates a clause; a run that begins with the sentence is preferred, because it stands on its own.
    """
    start, end = sentence.start, sentence.end
    if end - start <= QUOTE_MOST:
        return start, _trim(text, start, end)
    cuts = [start, *(m.end() for m in _BREAKS.finditer(text, start, end)), end]
    cuts = [a for a, b in zip(cuts, [*cuts[1:], end + 1], strict=True) if b > a]
    values = [value(text[a:b]) for a, b in pairwise(cuts)]
    best, span = -1.0, (start, start)
    for i in range(len(cuts) - 1):
        total = 0.5 * sum(values) if i == 0 else 0.0
        for j in range(i + 1, len(cuts)):
            if cuts[j] - cuts[i] > QUOTE_MOST:
                break
            total += values[j - 1]
            if cuts[j] - cuts[i] >= QUOTE_LEAST and total > best:
                best, span = total, (cuts[i], cuts[j])
    if span[1] - span[0] < QUOTE_LEAST:
        span = (start, _last_space(text, start, start + QUOTE_MOST))
    return span[0], _trim(text, *span)


def _last_space(text: str, start: int, end: int) -> int:
    at = text.rfind(" ", start, end)
    return at if at > start + QUOTE_LEAST else end


def _trim(text: str, start: int, end: int) -> int:
    """The end of the span without trailing space, commas and conjunctions."""
    found = _TRAILING.search(text, max(start, end - 40), end)
    return found.start() if found and found.start() > start else end
