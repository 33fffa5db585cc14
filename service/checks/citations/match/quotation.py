"""A quotation read word by word: its cuts at ellipses, an editor's notes, and whether its end is cut.

    […] … [. . .]                       a cut: the document may go on between the words on either side
    [sic] [emphasis added] (emphasis added) [as defined above] [i.e., as set out herein]
                                        a note: the document need not have these words
    [T]he                               The

A note is one of a few set phrases, or "i.e." before one that points to another place of the document. All other words
in brackets count as the document's words: "[not]" is as much of an addition as "not". Neither notes nor the targets of
links count towards the letters that a quotation must have.
"""

from __future__ import annotations

import html
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from service.checks.citations.text.fold import Folded, fold
from service.checks.citations.text.tokens import TextTokens, is_markup, join_broken, read_tokens
from service.checks.patterns import lazily
from service.debate.neutral import INVISIBLE

ELLIPSIS = r"(?:\[ ?\.(?: ?\.){2,3} ?\]|\( ?\.(?: ?\.){2} ?\)|\.(?: ?\.){2,3})"
SHORTEST_PIECE = 12
"""The least letters and digits on each side of an ellipsis: with shorter pieces any statement could be composed."""

_CUT_OUT = lazily(ELLIPSIS)
_ENDS_CUT = lazily(rf"(\w)[\"'*_]*{ELLIPSIS}[\"'*_\])., ]*$")
_INVISIBLE = f"[{INVISIBLE}]*"
_ONE_LETTER = lazily(rf"\[{_INVISIBLE}([^\W\d_]){_INVISIBLE}\](?={_INVISIBLE}[^\W\d_])")
_SET_PHRASES = lazily(
    r"sic!?|(?:emphasis|italics|bold|underlining|highlighting) "
    r"(?:added|mine|ours|in (?:the )?original|supplied|omitted)"
    r"|(?:(?:internal )?(?:citations?|footnotes?|quotation marks|references?) (?:omitted|removed))"
    r"|as (?:defined|described|set out|set forth|stated|provided|noted|mentioned)"
    r"(?: (?:above|below|herein|hereunder))?"
    r"|see (?:above|below)|ibid\.?|translation(?: ours)?|translated|continued|contd?\.?"
)
_LEADS = lazily(
    r"(?:i\.? ?e\.?|that is|viz\.?|namely|e\.? ?g\.?)\b[:,. ]*(?:as )?(?:defined|described"
    r"|set out|set forth|stated|provided"
    r"|noted|mentioned)(?: (?:above|below|herein|hereunder|in this (?:agreement|section|clause"
    r"|document|contract)))?[.,; ]*"
)
"""An explanation that only points to another place of the document. One with a statement is no note."""
_IN_ROUND = lazily(r"[a-z -]*(?:added|mine|ours|supplied|omitted|removed|original)")
"""Notes that editors put into round brackets too; all other words in them may be the document's."""
_BROKEN = lazily(r"- (?:> ?)*")
_BRACKETED = lazily(r"\[([^\[\]]{1,200})\]|\(([a-z][^()\[\]]{4,60})\)")


class QuoteWords:
    """The tokens of a quotation, without an editor's notes, with the indices before which it is cut.

    ``notes`` are the notes as printed; with ``with_notes`` they count as words, because the document may have them.
    """

    def __init__(self, text: str, is_word: Callable[[str], bool], with_notes: bool = False) -> None:
        plain = html.unescape(text) if "&" in text else text
        self.folded: Folded = fold(_ONE_LETTER.sub(r"\1", plain) if "[" in plain else plain)
        self.tokens: TextTokens = join_broken(read_tokens(self.folded), self.folded, is_word)
        spans = [] if with_notes else list(self._note_spans())
        self.note_spans: Sequence[tuple[int, int]] = spans
        self.notes = tuple(self.folded.original[slice(*self.folded.reach(*span))] for span in spans)
        if spans:
            self.tokens = _without(self.tokens, spans)
        self.ends_cut = bool(_ENDS_CUT.search(self.folded.text[-40:]))

    @cached_property
    def letters(self) -> int:
        """The number of letters and digits of the words, without notes and invisible markup."""
        return sum(sum(map(str.isalnum, text)) for text in self.tokens.texts if not is_markup(text))

    @cached_property
    def cuts(self) -> frozenset[int]:
        """The indices of tokens right behind an ellipsis; for an ellipsis at the end, the number of tokens."""
        return frozenset(self._index(match.end()) for match in _CUT_OUT.finditer(self.folded.text))

    @cached_property
    def has_short_piece(self) -> bool:
        """Whether a piece beside an ellipsis is shorter than `SHORTEST_PIECE`."""
        at = sorted({0, *self.cuts, len(self.tokens.texts)})
        pieces = [self.tokens.texts[a:b] for a, b in pairwise(at)]
        return any(sum(map(str.isalnum, "".join(piece))) < SHORTEST_PIECE for piece in pieces if piece)

    def _note_spans(self) -> Iterator[tuple[int, int]]:
        for match in _BRACKETED.finditer(self.folded.text):
            inside = (match[1] or match[2]).strip(" *_'")
            if is_note(inside) and (match[1] or _IN_ROUND.match(inside)):
                yield match.span()

    def _index(self, at: int) -> int:
        return bisect_left(self.tokens.starts, at)


def _without(tokens: TextTokens, spans: list[tuple[int, int]]) -> TextTokens:
    """The tokens outside of some stretches, which come in order."""
    inside = set(spans)
    kept = TextTokens([], [], [])
    for start, end in pairwise([0, *(at for span in spans for at in span), tokens.ends[-1] + 1 if tokens.ends else 1]):
        if (start, end) in inside:
            continue
        part = tokens.part(bisect_left(tokens.starts, start), bisect_left(tokens.starts, end))
        kept.texts.extend(part.texts)
        kept.starts.extend(part.starts)
        kept.ends.extend(part.ends)
    return kept


def is_note(inside: str) -> bool:
    """Whether the folded words in brackets are an editor's note without a statement about the document's matter."""
    whole = _BROKEN.sub("", inside).replace("> ", "")  # a line's end may break it
    return _SET_PHRASES.fullmatch(whole) is not None or _LEADS.fullmatch(whole) is not None
