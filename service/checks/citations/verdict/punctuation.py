"""The marks between words: which of them carry sense, and whether both sides have them.

Marks that only set or separate words are passed over: sentence punctuation, quotation marks, brackets around words,
bullets at the beginning of a line, the dress of Markdown. In these places a mark counts:

    - 5%   5- 10   A-   -f            a dash beside a number, behind a grade, before the name of an option
    (1,000)                           brackets around an amount alone
    10'   10"                         behind a number, when it closes no quotation
    5, 6   5. 6   twenty, five        between two numbers
    5(a)   (a)(i)                     around the parts of a reference
    paid. The   |⏎|   paid; the       the end of a sentence, a row, an item: see `sentences`
    No. Changes   paid. Without       sentence punctuation beside a negation
    !=  !x  ||  a | b  x * y  *.com   operators: what no emphasis, table or heading explains
    C#  #5  ^  ~~  a\\b
    [ ]   [***]                       a box or a blank, a redaction

A mark that counts on one side must stand in the same place on the other, also if it would not count there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.checks.citations.match.alignment import Alignment
from service.checks.citations.text.cue_words import NUMBERS, is_negation
from service.checks.citations.text.document import Document
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.sentences import ends_row, ends_sentence, marks_end, marks_item
from service.checks.citations.text.tokens import TextTokens
from service.checks.citations.text.word_bounds import is_bracketed, is_currency, is_lone_star, is_unmatched
from service.checks.patterns import lazily
from service.debate.findings import Edit

Range = tuple[int, int]

_GRADE = lazily(r"([a-f])\1{0,2}|\d.*")
_DASHES = lazily(r"-+")
_REFERENCE = lazily(r"[a-z\d]{1,4}\)")
_LONG_DASHES = frozenset("—―")
_ELLIPSIS = lazily(r"\.(?: ?\.){2}")
_BOX = lazily(r"\[ ?((?:\* ?)*)\]")
_ALWAYS = frozenset("□▢▣◻◼◽◾؟՞")
"""Boxes to tick, and question marks of other scripts."""
_AT_THE_ENDS = frozenset(("-", "--", "[]", "[*", "*", "~", "^"))
_NEAR = 8
_BLANK = "\x01"
_GLUED = "\0"
"""A character added to the raw marks between two numbers without a blank: 5,50 is not 5, 50."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """The text between two words; ``marks`` is that text with every token in it as blanks."""

    folded: Folded
    start: int
    end: int
    left: str
    right: str
    marks: str

    @property
    def raw(self) -> str:
        text = self.folded.text[self.start : self.end]
        glued = self.left[-1:].isdigit() and self.right[:1].isdigit() and " " not in text
        return text.replace(" ", "").replace("\\", "") + (_GLUED if glued else "")

    @property
    def printed(self) -> str:
        """The printed text of the gap."""
        return self.folded.original[slice(*self.folded.reach(self.start, self.end))] if self.start < self.end else ""

    @property
    def next_is_capital(self) -> bool:
        """Whether the word behind it has a capital."""
        return self.end < len(self.folded.text) and self.folded.printed(self.end).isupper()


def changed_marks(alignment: Alignment, document: Document) -> Iterator[Edit]:
    """The marks that only one side has, as material edits."""
    ours, theirs = alignment.quote, alignment.source
    for (s, q), (s_next, q_next) in pairwise(_units(alignment)):
        there = document.folded.text[theirs.ends[s[1] - 1] : theirs.starts[s_next[0]]]
        here = ours.folded.text[ours.tokens.ends[q[1] - 1] : ours.tokens.starts[q_next[0]]]
        if there == here or (not there.strip() and not here.strip()) or _ELLIPSIS.search(here):
            continue
        source = _gap(document.folded, theirs, s[1] - 1, s_next[0])
        quote = _gap(ours.folded, ours.tokens, q[1] - 1, q_next[0], ours.note_spans)
        yield from _compared(source, quote)
    yield from _at_the_ends(alignment, document)


def _compared(source: _Gap, quote: _Gap) -> Iterator[Edit]:
    if _lacks_end(source, quote):
        yield Edit("punctuation", _printed(source), _printed(quote))
        return
    gone = [mark for mark in _sense(source) if mark not in quote.raw]
    added = [mark for mark in _sense(quote) if mark not in source.raw and not _parts_lines(source, mark)]
    if gone or added:
        negation = is_negation(source.left) or is_negation(source.right)
        number = source.left[:1].isdigit() or source.right[:1].isdigit()
        kind = "negation" if negation else "number" if number else "punctuation"
        yield Edit(kind, _printed(source), _printed(quote))


def _lacks_end(source: _Gap, quote: _Gap) -> bool:
    """Whether one side has the end of a sentence, an item or a row and the other continues."""
    there, here = source.printed, quote.printed
    if ends_row(there):
        return "\n" not in here and not marks_end(here, False)
    if _ends_sentence(source):
        return not marks_end(here, quote.next_is_capital)
    if _ends_sentence(quote):
        return not marks_end(there, source.next_is_capital)
    return ";" in source.marks and not marks_item(here)


def _ends_sentence(gap: _Gap) -> bool:
    """Whether a sentence ends in a gap, and not the number of a clause at the beginning of its line."""
    if not ends_sentence(gap.left, gap.marks, gap.next_is_capital):
        return False
    return gap.left.isalpha() or not _opens_line(gap.folded, max(0, gap.start - len(gap.left)))


def _at_the_ends(alignment: Alignment, document: Document) -> Iterator[Edit]:
    """The quotation's marks before its first and after its last word that the document does not have there."""
    quote, words, theirs = alignment.quote.folded, alignment.quote.tokens, alignment.source
    first, last = alignment.span
    head = _Gap(
        quote, 0, words.starts[0], "", words.texts[0], quote.text[max(0, words.starts[0] - _NEAR) : words.starts[0]]
    )
    end = len(quote.text)
    tail = _Gap(quote, words.ends[-1], end, words.texts[-1], "", quote.text[words.ends[-1] : words.ends[-1] + _NEAR])
    text = document.folded.text
    start = theirs.starts[first]
    before = text[max(0, start - _NEAR) : start].replace(" ", "")
    stop = theirs.ends[last - 1]
    after = text[stop : stop + _NEAR].replace(" ", "")
    wrapped = head.marks.lstrip(" \"'").startswith("*") and tail.marks.rstrip(" \"'.,;:").endswith("*")
    for gap, there in ((head, before), (tail, after)):
        added = [mark for mark in _sense(gap) if mark in _AT_THE_ENDS and mark not in there]
        added = [mark for mark in added if mark != "*" or not wrapped]
        if added and not _ELLIPSIS.search(gap.marks):
            yield Edit("number" if gap.right[:1].isdigit() else "punctuation", "", "".join(added))


def _units(alignment: Alignment) -> Iterator[tuple[Range, Range]]:
    """The units of the alignment that both sides have, in order: equal words and changed ones."""
    blocks = iter([b for b in alignment.blocks if b.source[0] < b.source[1] and b.quote[0] < b.quote[1]])
    block = next(blocks, None)
    for s, q in alignment.equal:
        while block is not None and block.quote[0] < q:
            yield block.source, block.quote
            block = next(blocks, None)
        yield (s, s + 1), (q, q + 1)
    while block is not None:
        yield block.source, block.quote
        block = next(blocks, None)


def _gap(folded: Folded, tokens: TextTokens, left: int, right: int, notes: Sequence[Range] = ()) -> _Gap:
    start, end = tokens.ends[left], tokens.starts[right]
    marks = folded.text[start:end]
    hidden = [(tokens.starts[k], tokens.ends[k]) for k in range(left + 1, right)]
    for a, b in (*hidden, *(note for note in notes if start <= note[0] and note[1] <= end)):
        marks = marks[: a - start] + _BLANK * (b - a) + marks[b - start :]
    return _Gap(folded, start, end, tokens.texts[left], tokens.texts[right], marks)


def _sense(gap: _Gap) -> list[str]:
    """The marks of a gap that carry sense."""
    if not gap.marks.strip():
        return []
    found = [*_dashes(gap), *_beside_numbers(gap), *_stops(gap), *_boxes(gap)]
    for k, c in enumerate(gap.marks):
        if c in "*#^~|!\\" or c > "\x7f":
            found += _operator(gap, k, c)
    return found


def _dashes(gap: _Gap) -> Iterator[str]:
    for match in _DASHES.finditer(gap.marks):
        glued_left = match.start() == 0 and gap.left != ""
        glued_right = match.end() == len(gap.marks) and gap.right != ""
        if glued_left and glued_right:
            continue
        long = gap.folded.printed(gap.start + match.start()) in _LONG_DASHES
        grade = glued_left and _GRADE.fullmatch(gap.left)
        option = glued_right and gap.right[0].isalpha() and not long
        bracketed = "(" in gap.marks[match.end() :]
        if (_is_amount(gap.right) and not bracketed) or grade or is_negation(gap.left) or _are_variables(gap):
            yield "-"
        elif option:
            yield match.group()


def _beside_numbers(gap: _Gap) -> Iterator[str]:
    text = gap.folded.text
    left_digit, right_digit = gap.left[-1:].isdigit(), gap.right[:1].isdigit()
    if _is_amount(gap.right) and gap.marks.endswith("(") and is_bracketed(text, gap.end):
        yield "("
    opening = text.rfind("(", max(0, gap.start - 24), gap.start)
    if left_digit and ")" in gap.marks[:2] and opening >= 0 and is_bracketed(text, opening + 1):
        yield ")"
    if left_digit and gap.marks[0] in "'\"" and gap.right != "s" and is_unmatched(text, gap.start):
        yield gap.marks[0]
    if left_digit and right_digit:
        yield from (c + (_GLUED if gap.marks == c else "") for c in gap.marks if c in ",;:.")
    elif (left_digit or gap.left in NUMBERS) and (right_digit or gap.right in NUMBERS):
        yield from (c for c in gap.marks if c in ",;:.")
    if gap.marks.endswith("(") and (left_digit or gap.marks == ")(") and _REFERENCE.match(text, gap.end):
        yield "("


def _stops(gap: _Gap) -> Iterator[str]:
    if is_negation(gap.left):
        yield from (c for c in gap.marks if c in ".,;:!")
    if is_negation(gap.right) and not (len(gap.left) == 1 or gap.left[:1].isdigit()):
        yield from (c for c in gap.marks if c in ".;:!")


def _boxes(gap: _Gap) -> Iterator[str]:
    for match in _BOX.finditer(gap.marks.replace("\\", "")):
        yield "[*" if match[1] else "[]"


def _operator(gap: _Gap, k: int, c: str) -> Iterator[str]:
    """A mark that counts unless emphasis, a heading, a table, a footnote or an exclamation explains it."""
    text, at = gap.folded.text, gap.start + k
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if c == before or (c == after and c in "*#^!\\"):
        return
    if c == "|":
        if after == "|" or not _is_row(gap.folded, at):
            yield "||" if after == "|" else c
    elif _COUNTS.get(c, _is_inline_shape)(gap, at, before, after):
        yield c


def _is_star(gap: _Gap, at: int, before: str, after: str) -> bool:
    if before.strip() or after.strip():
        behind_word = gap.start == at and len(gap.left) > 3  # the mark of a footnote
        return not behind_word and is_lone_star(gap.folded.text, at)
    return not _opens_line(gap.folded, at)


def _is_hash(gap: _Gap, at: int, before: str, after: str) -> bool:
    return bool(before.strip() or after.strip()) and not _opens_line(gap.folded, at)


def _is_caret(gap: _Gap, at: int, before: str, _: str) -> bool:
    return not (before == "[" and gap.start == at - 1)


def _is_tilde(gap: _Gap, at: int, _: str, __: str) -> bool:
    return gap.folded.text[at : at + 3] != "~~~"


def _is_not(gap: _Gap, at: int, before: str, _: str) -> bool:
    return at == gap.end - 1 and gap.right != "" and not before.isalnum()


def _is_backslash(_: _Gap, __: int, before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum()


def _is_times(gap: _Gap, _: int, before: str, __: str) -> bool:
    return before.isdigit() or gap.left[-1:].isdigit()


def _is_inline_shape(gap: _Gap, at: int, _: str, __: str) -> bool:
    c = gap.folded.text[at]
    return c in _ALWAYS or ("\u25a0" <= c <= "\u25ff" and not _opens_line(gap.folded, at))


_COUNTS: dict[str, Callable[[_Gap, int, str, str], bool]] = {
    "*": _is_star,
    "#": _is_hash,
    "^": _is_caret,
    "~": _is_tilde,
    "!": _is_not,
    "\\": _is_backslash,
    "·": _is_times,
}


def _are_variables(gap: _Gap) -> bool:
    return all(len(word) == 1 and word.isalpha() and word not in "ai" for word in (gap.left, gap.right))


def _is_amount(token: str) -> bool:
    return token[:1].isdigit() or (token != "" and is_currency(token[0])) or (token[:1] == "." and len(token) > 1)


def _line(folded: Folded, at: int) -> tuple[str, str]:
    """The parts of a mark's line before and after it."""
    origin = folded.reach(at, at + 1)[0]
    before = folded.original[max(0, origin - 400) : origin].rpartition("\n")[2]
    return before, folded.original[origin + 1 : origin + 400].partition("\n")[0]


def _opens_line(folded: Folded, at: int) -> bool:
    return not _line(folded, at)[0].strip(" \t>*_#-|\"'“‘\u200e\u200f")


def _is_row(folded: Folded, at: int) -> bool:
    """Whether a bar stands in a row of a table: a line that begins or ends with a bar, or has two."""
    before, after = _line(folded, at)
    return not before.strip() or not after.strip() or "|" in before + after


def _parts_lines(source: _Gap, mark: str) -> bool:
    """Whether the document has an empty line in the place of the quotation's mark between sentences."""
    first, last = source.folded.reach(source.start, max(source.start + 1, source.end))
    return mark in ".,;:" and source.folded.original[first:last].count("\n") > 1


def _printed(gap: _Gap) -> str:
    """The gap with the words on either side of it."""
    text = gap.folded.text
    start, end = max(0, gap.start - len(gap.left)), min(len(text), gap.end + len(gap.right))
    return gap.folded.original[slice(*gap.folded.reach(start, end))]
