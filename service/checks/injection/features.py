"""What the model over words sees of a unit of text: its words, pairs of them, parts of words, concepts, and poses.

The trainer (`bench.corpora.injection.train`) and the score (`scoring`) both take a unit apart here, so that what is
scored is what was trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain, combinations
from typing import NamedTuple

from service.checks.injection.concepts import names_of
from service.checks.injection.reading import LONGEST, Odd, Sentence
from service.checks.patterns import lazily

GRAM = 4
"""How many characters of a word, with its two borders, are looked up together."""
WORD_MAX = LONGEST
"""The most characters of a word; a longer one is read as several."""
UNIT_MAX = 1200
"""The most characters of a paragraph that is one unit; a longer one is read in parts of about `PART` characters."""
PART = 700
_IDEOGRAPHS = "\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f"
_IDEOGRAPHIC = lazily(f"[{_IDEOGRAPHS}]")
_TOKEN = lazily(rf"[^\W_]{{1,{WORD_MAX}}}(?:'[^\W_]{{1,{WORD_MAX}}})*|[^\w\s]|_")
_TOKEN_OF_RUNS = lazily(
    rf"[{_IDEOGRAPHS}]|(?:(?![{_IDEOGRAPHS}])[^\W_]){{1,{WORD_MAX}}}(?:'(?:(?![{_IDEOGRAPHS}])[^\W_]){{1,{WORD_MAX}}})*|[^\w\s]|_"
)
_SIGN = lazily(r"[^\w\s]")
_DIGIT = lazily("[0-9\x80-\U0010ffff]")
_NUMBER = lazily("[0-9]+")
_LEADING = lazily(
    r"(?:[\s>|*\u2022#\"'\u201c\u201d\u201e\u00ab\u00bb(,.]|-\s|<!--|/\*|//|[0-9]{1,4}(?=[\s|.)])|(?<=[0-9])\))*"
)
_TRAILING = " \t\r\n->*/\"'\u201c\u201d\u201e\u00ab\u00bb).,;:!?\u2026|\u3002\uff01\uff1f\uff1b"
"""What stands around a sentence and is easily put there or left out: it makes no pairs with what is said."""
_BLANK = lazily(r"\n[ \t\r]*\n\s*|\n(?=[ \t]{0,12}(?:[|*\u2022+-]|[0-9]{1,2}[.)])[ \t])")
_ASCII = [chr(n) for n in range(128)]
_NO_SIGNS = "".join(one for one in _ASCII if one.isalnum() or one.isspace() or one == "'").encode()
"""Each character of ASCII that is no sign, and the apostrophe, which is one only outside of a word."""
_DIGITS = ("", "0", "00", "000", *["0000"] * (WORD_MAX - 3))
"""By its length what a number is known by."""

DISTANCES = (1, 2, 3)
"""How far from each other the two tokens of a pair are."""

Pair = tuple[str, str]
"""Two tokens, of which one may be the border of the unit."""
BORDER = "<>"
"""No token: signs stand alone."""


class Unit(NamedTuple):
    """A paragraph of a plain view, an item of a list, a row of a table, a part of a long paragraph, or one sentence.

    It has its place, and the sentences in it.
    """

    start: int
    end: int
    sentences: Sequence[Sentence]
    is_whole: bool = False
    """Whether its words are those of its sentences: a sentence may begin before a unit, or end behind it."""

    @property
    def words(self) -> Sequence[str] | None:
        """Its words, where they are those of its sentences."""
        return list(chain.from_iterable([one.words for one in self.sentences])) if self.is_whole else None

    @property
    def alone(self) -> Sequence[Unit]:
        """Each of its sentences as a unit of its own, with the signs behind it."""
        ends = [*(one.start for one in self.sentences[1:]), self.end]
        return [Unit(one.start, end, [one]) for one, end in zip(self.sentences, ends, strict=True)]

    @property
    def said(self) -> Sequence[int]:
        """The concepts of each of its sentences."""
        return [one.said for one in self.sentences]


class Parts(NamedTuple):
    """The different tokens of a text, and its words in their order between two borders."""

    tokens: Set[str]
    bordered: Sequence[str]

    def pairs(self, far: int) -> Set[Pair]:
        """The different pairs of words that are so far from each other."""
        return set(zip(self.bordered, self.bordered[far:], strict=False))


def units(plain: str, sentences: Sequence[Sentence]) -> Iterator[Unit]:
    """The units of a plain view that have a word; ``sentences`` are all of the view, in their order."""
    at = first = 0
    for match in (*_BLANK.finditer(plain), None):
        end = match.start() if match else len(plain)
        here = first
        while here < len(sentences) and sentences[here].start < end:
            here += 1
        if here > first:
            is_whole = sentences[here - 1].end <= end and (not first or sentences[first - 1].end <= at)
            yield from _parts(at, end, sentences[first:here], is_whole=is_whole)
        first, at = here, match.end() if match else end


def _parts(start: int, end: int, sentences: Sequence[Sentence], *, is_whole: bool) -> Iterator[Unit]:
    if end - start <= UNIT_MAX:
        yield Unit(start, end, sentences, is_whole)
        return
    first = 0
    for n, sentence in enumerate(sentences):
        if n > first and sentence.end - sentences[first].start > PART:
            yield Unit(sentences[first].start, sentences[n - 1].end, sentences[first:n], is_whole)
            first = n
    yield Unit(sentences[first].start, end, sentences[first:], is_whole)


def parts_of(text: str) -> Parts:
    """A text in its tokens. Numbers are known by how many digits they have, ideographs stand alone."""
    start, end = _within(text)
    if text.isascii():
        tokens = _tokens_of_ascii(text[start : max(start, end)])
    else:
        expression = _TOKEN_OF_RUNS if _IDEOGRAPHIC.search(text) else _TOKEN
        tokens = expression.findall(text, start, end)
    if _DIGIT.search(text):
        tokens = [_DIGITS[len(token)] if token.isdigit() else token for token in tokens]
    around = _SIGN.findall(text, 0, start) + _SIGN.findall(text, max(start, end))
    return Parts({*tokens, *around}, [BORDER, *tokens, BORDER])


def _tokens_of_ascii(text: str) -> list[str]:
    """What `_TOKEN` finds in a text of ASCII: what stands between blanks once they are put around each sign. Only what
    has an apostrophe, or is too long for a token, is taken apart by the expression."""
    for sign in _signs_of(text):
        text = text.replace(sign, f" {sign} ")
    pieces = text.split()
    if "'" not in text and len(max(pieces, key=len, default="")) <= WORD_MAX:
        return pieces
    tokens = list[str]()
    for one in pieces:
        if "'" in one or len(one) > WORD_MAX:
            tokens += _TOKEN.findall(one)
        else:
            tokens.append(one)
    return tokens


def tokens_of(text: str, words: Sequence[str], odd: Odd) -> Set[str]:
    """The different tokens of a text, as `parts_of` has them; ``words`` are those of its sentences, and ``odd`` is what
    is known of the words of its view.

    In a text of ASCII, tokens are its words and its signs, so that it need not be taken apart. Only where words of
    sentences may be more or longer than tokens, it is.
    """
    if odd.are_long or not text.isascii() or "_" in text or "@" in text or "$" in text:
        return parts_of(text).tokens
    leading = _LEADING.match(text)
    if leading and leading.end():  # before it are no words but numbers
        words = words[len(_NUMBER.findall(text, 0, leading.end())) :]
    tokens = set(words)
    if "'" in text and "".join(words).count("'") != text.count("'"):
        tokens.add("'")
    if numbers := tokens & odd.numbers:
        tokens -= numbers
        tokens.update([_DIGITS[len(number)] for number in numbers])
    tokens.update(_signs_of(text))
    return tokens


def _signs_of(text: str) -> Set[str]:
    """The different signs of a text of ASCII, but for apostrophes."""
    return set(text.encode().translate(None, _NO_SIGNS).decode())


def _within(text: str) -> tuple[int, int]:
    """A text without what stands around a sentence; where there is nothing else, the end may be before the start."""
    leading = _LEADING.match(text)
    return leading.end() if leading else 0, len(text.rstrip(_TRAILING))


def grams(token: str) -> Sequence[str]:
    """The parts of a word, with its borders; none of signs and ideographs."""
    if not token.isalnum() or (not token.isascii() and _IDEOGRAPHIC.search(token)):
        return ()
    bordered = f"<{token}>"
    return [bordered[n : n + GRAM] for n in range(len(bordered) - GRAM + 1)]


def concepts_of(bits: int) -> Sequence[str]:
    """The concepts of a sentence, and every two of them."""
    names = sorted(names_of(bits))
    return [*names, *map("+".join, combinations(names, 2))]
