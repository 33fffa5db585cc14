"""Find a quotation's own words in a folded text: whole, or in pieces around its ellipses.

These may be missing or added at the ends of a quotation: the marks that wrap it (quotation marks, emphasis, a list
mark), its end punctuation (but not a question mark, which would turn a statement into a question), and an ellipsis for
a cut. The text behind an ellipsis must be short and must not hold words that `omissions` refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from service.checks.citations.match.quotation import ELLIPSIS, SHORTEST_PIECE
from service.checks.citations.text.fold import Folded, fold
from service.checks.citations.text.omissions import hidden_turn
from service.checks.citations.text.steps import Steps
from service.checks.citations.text.word_bounds import divides, leaves_unit
from service.checks.patterns import lazily

LONGEST_GAP = 300
"""The most code points of the document that an ellipsis may stand for."""
MOST_PLACES = 32
"""The most places of one quotation that are compared: the first ones, and those before its location."""

_CUT_OUT = lazily(rf" ?{ELLIPSIS} ?")
_OPENING = lazily(rf"(?:[\"'*_ ]|[•‣·] |- (?=[^\W\d])|{ELLIPSIS})+")
_CLOSING = "\"'*_ .,;:!"
_CLOSING_ELLIPSIS = lazily(r"\[ ?\.(?: ?\.){2,3} ?\]$|\( ?\.(?: ?\.){2} ?\)$")
_WORD_CHARACTER_ENDS = lazily(r"\W")
_A_SEARCH = 32


@dataclass(frozen=True, slots=True)
class QuotationPieces:
    """A quotation prepared for the search.

    ``forms`` are its folded words, as given and without marks around them; ``pieces`` are the forms of each piece if
    ellipses cut it, else empty.
    """

    folded: Folded
    forms: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]
    letters: int
    """The number of letters and digits in the quotation as given."""


def read_quote(text: str) -> QuotationPieces:
    """Fold a quotation, and remove or mark the dress that printing may have put around or into it."""
    folded = fold(text)
    forms = _forms(folded.text)
    return QuotationPieces(folded, forms, _pieces(folded.text), _letters(text))


def find(quote: QuotationPieces, document: Folded, near: int | None, steps: Steps) -> list[tuple[int, int]]:
    """The places of the quotation in the document, word for word: folded stretches, in order.

    Of many places these are the first `MOST_PLACES`, and as many from the last one before ``near`` on.
    """
    for form in quote.forms:
        found = list(islice(_occurrences(form, document, 0, steps), MOST_PLACES))
        if near is not None and len(found) == MOST_PLACES:
            steps.take(near // 256)
            before = max(0, document.text.rfind(form, 0, near + len(form)))
            found += islice(_occurrences(form, document, before, steps), MOST_PLACES)
        if found := [at for at in found if not leaves_unit(document, at + len(form))]:
            return [(at, at + len(form)) for at in sorted(set(found))]
    found_pieces = _find_pieces(quote.pieces, document, steps) if quote.pieces else None
    return [found_pieces] if found_pieces else []


def _forms(text: str) -> tuple[str, ...]:
    whole = text.strip()
    opening = _OPENING.match(whole)
    bare = whole[opening.end() :] if opening else whole
    while bare != (closed := _CLOSING_ELLIPSIS.sub("", bare.rstrip(_CLOSING))):
        bare = closed
    return tuple(dict.fromkeys(form for form in (whole, bare) if form))


def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """The forms of each piece between ellipses; empty if there is only one piece or a piece is too short."""
    parts = _CUT_OUT.split(text)
    if len(parts) == 1:
        return ()
    inner = slice(0 if _letters(parts[0]) else 1, None if _letters(parts[-1]) else -1)
    pieces = tuple(_forms(part) for part in parts[inner])
    enough = all(piece and _letters(piece[-1]) >= SHORTEST_PIECE for piece in pieces)
    return pieces if len(pieces) > 1 and enough else ()


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _is_match(form: str, document: Folded, at: int) -> bool:
    end = at + len(form)
    return not divides(document, at) and not divides(document, end) and document.span(at, end) is not None


def _occurrences(form: str, document: Folded, at: int, steps: Steps) -> Iterator[int]:
    """The folded offsets at which the form stands between word bounds, in order."""
    text = document.text
    while True:
        found = text.find(form, at)
        passed = (found if found >= 0 else len(text)) - at
        steps.take(_A_SEARCH + passed // 256 + len(form) // 64)
        if found < 0:
            return
        if _is_match(form, document, found):
            yield found
            at = found + 1
        else:
            at = _next_start(text, found)


def _next_start(text: str, after: int) -> int:
    """The first offset after a failed one at which a word can start: a long run of letters costs one step only."""
    gap = _WORD_CHARACTER_ENDS.search(text, after + 1)
    return max(after + 1, gap.start()) if gap else len(text)


def _find_pieces(pieces: tuple[tuple[str, ...], ...], document: Folded, steps: Steps) -> tuple[int, int] | None:
    for form in pieces[0]:
        for at in _occurrences(form, document, 0, steps):
            end = at + len(form)
            for piece in pieces[1:]:
                end = _next_piece(piece, document, end, steps)
                if not end:
                    break
            else:
                return at, end
    return None


def _next_piece(forms: tuple[str, ...], document: Folded, after: int, steps: Steps) -> int:
    """The end of a piece that follows closely, without hidden words that turn the sense, or 0."""
    for form in forms:
        upto = after + LONGEST_GAP + len(form)
        steps.take(_A_SEARCH + (upto - after) // 64)
        at = document.text.find(form, after, upto)
        if at < 0 or not _is_match(form, document, at):
            continue
        hidden = document.span(after, at) if at > after else (0, 0)
        if hidden and hidden[1] - hidden[0] <= LONGEST_GAP and hidden_turn(document, after, at) is None:
            return at + len(form)
    return 0
