"""Judge every difference between a quotation and its nearest passage, and name it.

Tolerated, and recorded as not material:

    notation         500 000 for 500,000 (the groups of the same digits), did not for didn't
    hyphenation      agree-ment for agreement, nonrefundable for non-refundable, U.S. for US; see `joined_words`
    spelling         colour for color; a word without its Hebrew or Arabic points
    slip             see `slips`; one to three of them, by the quotation's length
    spacing          inthe for in the: a slip that drops or adds a space and makes no other words
    ellipsis         the words behind "…", at most 300 characters and without the words that `omissions` names
    note             an editor's note that the document does not have, see `quotation`
    list mark        the marks of list items and footnotes, see `list_marks`
    page furniture   page numbers, running heads and feet that the quotation leaves out, see `page_furniture`
    cut word         the last word cut, with an ellipsis that says so

All other differences are material. Each has the first of these kinds that one of its words, on either side, has:

    negation, currency, date, number, modal, name (a capital inside a sentence)
    article, plural  only articles, only an -s
    splice           more hidden by an ellipsis than it may stand for, or pieces too short beside it
    limit, subject   an ellipsis that hides an exception or a condition, or another subject; see `omissions`
    punctuation      a question mark or another sign, the end of a sentence; see `punctuation` for which count where
    inserted, dropped, word

If no word differs, the kind is ``cut`` if the quotation begins or ends inside a longer word or number. It is ``negation
cut off`` if the quotation begins right after, or ends right before, a negation that governs its words (`neighbours`).

Each block of the alignment is judged in these steps, and then the whole passage:

    1  tokens that a true quotation may leave out or add are taken away: markup, page furniture, list marks
    2  equal words at both ends are taken away
    3  the rest is the same words written apart or together: one edit, not material
    4  the rest is taken apart into pairs and remainders; a block with one material piece is one material edit, because
       its pairs are then uncertain, unless it has an ellipsis
    5  the passage: marks between words (`punctuation`), the case of units (`units`), its two ends
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import UNSET
from msgspec.structs import replace

from service.checks.citations.match.alignment import Alignment, Block
from service.checks.citations.match.find import LONGEST_GAP
from service.checks.citations.match.quotation import QuoteWords
from service.checks.citations.match.sides import Sides
from service.checks.citations.match.slips import is_slip
from service.checks.citations.match.word_runs import broken_slip, same
from service.checks.citations.text.cue_words import (
    ARTICLES,
    CRITICAL,
    CURRENCIES,
    DATES,
    MODALS,
    NUMBERS,
    is_negation,
)
from service.checks.citations.text.document import Document
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.lexicon import is_english
from service.checks.citations.text.omissions import hidden_turn
from service.checks.citations.text.spelling import is_respelled
from service.checks.citations.text.tokens import TextTokens, is_address, is_markup
from service.checks.citations.text.units import changed_units
from service.checks.citations.text.word_bounds import divides, is_currency, leaves_unit
from service.checks.citations.verdict.punctuation import changed_marks
from service.checks.patterns import lazily
from service.debate.findings import Edit

MOST_EDITS = 40
"""The most edits in one verdict; a reader needs no more."""
_WORDS_A_SLIP = 6
_MOST_SLIPS = 3
_WORDS_A_LATER_SLIP = 100
"""Above 300 words, one more slip is allowed for each so many words."""

_YEAR = lazily(r"(?:1[6-9]|20)\d\d|\d{1,4}/\d{1,2}(?:/\d{1,4})?")
_POINTS = lazily("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670\u0640]")
_POINTED = lazily("[\u0590-\u06ff]+")
_SENTENCE_END = ".!?:"
_UNDERLINED = lazily(r"_+(?!\w)")
_RANK = ("negation", "currency", "date", "number", "modal", "name")
_CUT_ENDINGS = ("less", "free")
_INFLECTIONS = frozenset("s es d ed ing ings ly ion ions ation ations ment ments ance ence al ally y ies".split())
_LONGEST_STUMP = 3
"""The beginning of a longer word with at most so many letters is never a word of its own."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The edits of one alignment, in the order of reading; the quotation stands when none is material."""

    edits: tuple[Edit, ...]

    @property
    def stands(self) -> bool:
        """Whether nothing material was changed."""
        return not any(edit.material for edit in self.edits)


def judge(alignment: Alignment, document: Document, is_elsewhere: Callable[[str], bool]) -> Judged:
    """Judge an alignment; ``is_elsewhere`` says whether one of the given documents has a word."""
    sides = Sides(alignment, document, is_elsewhere)
    edits = [*_notes(alignment.quote), *islice(_all(sides), MOST_EDITS + 1)]
    if sides.slips > _allowed_slips(len(alignment.quote.tokens.texts)):  # so many are no slips but another text
        edits = [Edit("word", e.from_, e.to) if e.kind in ("slip", "spacing") else e for e in edits]
    material = [edit for edit in edits if edit.material]
    return Judged(tuple((material if len(edits) > MOST_EDITS and material else edits)[:MOST_EDITS]))


def _notes(quote: QuoteWords) -> Iterator[Edit]:
    for note in islice(quote.notes, MOST_EDITS):
        yield Edit("note", "", note, material=False)


def _allowed_slips(words: int) -> int:
    return max(1, min(_MOST_SLIPS, words // _WORDS_A_SLIP), words // _WORDS_A_LATER_SLIP)


def _all(sides: Sides) -> Iterator[Edit]:
    for block in sides.alignment.blocks:
        yield from _block(block, sides)  # steps 1 to 4
    # Step 5.
    yield from changed_marks(sides.alignment, sides.document)
    passage = sides.document.original[slice(*sides.document.folded.reach(*sides.alignment.folded_span))]
    yield from changed_units(passage, sides.alignment.quote.folded.original)
    yield from _bounds(sides)


def _block(block: Block, sides: Sides) -> Iterator[Edit]:
    # Step 1, with the signs that `punctuation` judges on the other side.
    theirs = [i for i in range(*block.source) if not sides.is_free_of_theirs(i)]
    ours = [j for j in range(*block.quote) if not sides.is_free_of_ours(j)]
    theirs = [i for i in theirs if sides.theirs.texts[i] != "-" or not sides.has_mark_of_ours("-", block)]
    marks = {mark for mark in "->" if sides.has_mark_of_theirs(mark, block)}
    ours = [j for j in ours if sides.ours.texts[j] not in marks]
    yield from _free(block, sides)
    _trim(theirs, ours, sides)  # step 2
    if not theirs and not ours:
        return
    # Step 3.
    if theirs and ours and (kind := same(theirs, ours, sides) or broken_slip(theirs, ours, sides)):
        sides.slips += kind in ("spacing", "slip")
        yield Edit(kind, sides.printed_theirs(theirs), sides.printed_ours(ours), material=False)
        return
    # Step 4.
    pieces = list(_pieces(block, set(theirs), set(ours), sides))
    if all(not edit.material for edit in pieces):
        sides.slips += sum(edit.kind == "slip" for edit in pieces)
        yield from pieces
    elif any(edit.kind == "splice" for edit in pieces) or sides.has_cut(*block.quote):
        yield from pieces
    else:
        yield _material(theirs, ours, sides)


def _trim(theirs: list[int], ours: list[int], sides: Sides) -> None:
    """Remove equal words at both ends, which pairing leaves in a block beside a word that is written in two."""
    for end in (0, -1):
        while theirs and ours and sides.theirs.texts[theirs[end]] == sides.ours.texts[ours[end]]:
            del theirs[end], ours[end]


def _free(block: Block, sides: Sides) -> Iterator[Edit]:
    """Edits for the tokens of step 1: page furniture, list marks, markup. Changed markup is material."""
    gone = [i for i in range(*block.source) if sides.is_free_of_theirs(i)]
    added = [j for j in range(*block.quote) if sides.is_free_of_ours(j)]
    markup = [i for i in gone if is_markup(sides.theirs.texts[i])], [j for j in added if is_markup(sides.ours.texts[j])]
    beside = markup[0] or _markup_beside(block, sides)
    if beside and markup[1] and [sides.theirs.texts[i] for i in beside] != [sides.ours.texts[j] for j in markup[1]]:
        yield Edit("word", sides.printed_theirs(beside), sides.printed_ours(markup[1]))
        return
    if not beside and (hidden := [j for j in markup[1] if not is_address(sides.ours.texts[j])]):
        yield Edit("inserted", "", sides.printed_ours(hidden))
        return
    if asides := [i for i in gone if i not in markup[0] and sides.is_aside(i)]:
        yield Edit("list mark", sides.printed_theirs(asides), "", material=False)
    if furniture := [i for i in gone if i not in markup[0] and i not in asides]:
        yield Edit("page furniture", sides.printed_theirs(furniture), "", material=not sides.are_lines(furniture))


def _markup_beside(block: Block, sides: Sides) -> list[int]:
    """The document's markup right outside the passage, if the quotation begins or ends with markup."""
    first, last = sides.alignment.span
    at = last if block.quote[1] == len(sides.ours.texts) else first - 1 if block.quote[0] == 0 else -1
    return [at] if 0 <= at < len(sides.theirs.texts) and is_markup(sides.theirs.texts[at]) else []


def _pieces(block: Block, theirs: set[int], ours: set[int], sides: Sides) -> Iterator[Edit]:
    """A block in pieces: each pair of words, and between the pairs the words of one side alone."""
    s, q = block.source[0], block.quote[0]
    for pair_s, pair_q in (*block.pairs, (block.source[1], block.quote[1])):
        dropped = [i for i in range(s, pair_s) if i in theirs]
        inserted = [j for j in range(q, pair_q) if j in ours]
        if dropped and not inserted and sides.has_cut(q, pair_q):
            yield _hidden(dropped, sides)
        elif dropped or inserted:
            yield _material(dropped, inserted, sides)
        if pair_s < block.source[1]:
            yield _pair(pair_s, pair_q, pair_s in theirs, pair_q in ours, sides)
        s, q = pair_s + 1, pair_q + 1


def _hidden(places: Sequence[int], sides: Sides) -> Edit:
    """The edit for an ellipsis, from the words that it hides."""
    folded, theirs = sides.document.folded, sides.theirs
    start = theirs.ends[places[0] - 1] if places[0] else theirs.starts[0]
    end = theirs.starts[places[-1] + 1] if places[-1] + 1 < len(theirs.texts) else theirs.ends[-1]
    first, last = folded.reach(start, end)
    text = sides.printed_theirs(places)
    if last - first > LONGEST_GAP or sides.alignment.quote.has_short_piece:
        return Edit("splice", text, "…")
    if divides(folded, start) or divides(folded, end):
        return Edit("cut", text, "…")
    if turn := hidden_turn(folded, start, end):
        words = folded.original[slice(*folded.reach(*turn.span))].strip()
        return Edit(turn.kind, text, "…", because=UNSET if words == text else words)
    return Edit("ellipsis", text, "…", material=False)


def _pair(i: int, j: int, theirs_counts: bool, ours_counts: bool, sides: Sides) -> Edit:
    """The edit for one word of the document paired with one of the quotation."""
    theirs, ours = sides.theirs.texts[i], sides.ours.texts[j]
    if theirs == ours or not (theirs_counts and ours_counts):
        if theirs != ours and (theirs_counts or ours_counts):
            return _material([i], [j], sides)
        return Edit("note", sides.printed_theirs([i]), sides.printed_ours([j]), material=False)
    printed = sides.printed_theirs([i]), sides.printed_ours([j])
    if _is_unpointed(theirs, ours):
        return Edit("spelling", *printed, material=False)
    how = sides.how_printed([i], [j]) if theirs[0] == ours[0] else "plain"
    if how in ("plain", "term") and is_respelled(theirs, ours):
        return Edit("spelling", *printed, material=False)
    if _is_cut_word(i, j, sides):
        return Edit("cut word", *printed, material=False)
    struck = how != "code" and not sides.is_elsewhere(ours.removesuffix("'s"))
    if struck and is_slip(theirs, ours, sides.reading(how, theirs, printed[0])):
        return Edit("slip", *printed, material=False)
    return _material([i], [j], sides)


def _is_unpointed(theirs: str, ours: str) -> bool:
    """Whether one of two words lacks the points that the other has, and nothing else."""
    if not (_POINTED.fullmatch(theirs) and _POINTED.fullmatch(ours)):
        return False
    bare = _POINTS.sub("", theirs)
    return bare == _POINTS.sub("", ours) and bare in (theirs, ours)


def _is_cut_word(i: int, j: int, sides: Sides) -> bool:
    """Whether the quotation's last word is the beginning of the document's, and an ellipsis says that it is cut."""
    theirs, ours = sides.theirs.texts[i], sides.ours.texts[j]
    if j != len(sides.ours.texts) - 1 or not sides.alignment.quote.ends_cut or not theirs.startswith(ours):
        return False
    if (
        not theirs.removesuffix("'s").isalpha()
        or {theirs, ours} & CRITICAL
        or is_negation(theirs)
        or theirs.endswith(_CUT_ENDINGS)
    ):
        return False
    is_name = sides.is_elsewhere(ours) and sides.printed_theirs([i])[:1].isupper()
    is_word = len(ours) > _LONGEST_STUMP and (is_english(ours) or is_name)
    return not is_word or theirs[len(ours) :] in _INFLECTIONS


def _material(theirs: Sequence[int], ours: Sequence[int], sides: Sides) -> Edit:
    kinds = {_kind(sides.theirs, i, sides.document.folded) for i in theirs}
    kinds |= {_kind(sides.ours, j, sides.alignment.quote.folded) for j in ours}
    kind = next((kind for kind in _RANK if kind in kinds), None)
    if not any(map(_is_word, (*(sides.theirs.texts[i] for i in theirs), *(sides.ours.texts[j] for j in ours)))):
        kind = kind or "punctuation"
    if kind in (None, "name"):
        t, o = [sides.theirs.texts[i] for i in theirs], [sides.ours.texts[j] for j in ours]
        kind = _mild(t, o) or kind or ("word" if t and o else "dropped" if t else "inserted")
    edit = Edit(kind=kind, from_=sides.printed_theirs(theirs), to=sides.printed_ours(ours))
    because = [sides.printed_theirs([i]) for i in theirs if _kind(sides.theirs, i, sides.document.folded) == kind]
    because += [sides.printed_ours([j]) for j in ours if _kind(sides.ours, j, sides.alignment.quote.folded) == kind]
    plain = len(theirs) < 2 and len(ours) < 2
    return edit if plain else replace(edit, because=", ".join(dict.fromkeys(because)) or UNSET)


def _is_word(token: str) -> bool:
    return token[0].isalnum()


def _mild(theirs: Sequence[str], ours: Sequence[str]) -> str | None:
    """``article`` or ``plural``, which a reader may judge less harshly; they are material all the same."""
    if {*theirs, *ours} <= ARTICLES:
        return "article"
    if len(theirs) == len(ours) == 1:
        one, other = sorted((theirs[0], ours[0]), key=len)
        plural = {one + "s", one + "es", one + "'s", one[:-1] + "ies" if one.endswith("y") else one + "s"}
        return "plural" if other in plural else None
    return None


def _kind(tokens: TextTokens, place: int, folded: Folded) -> str | None:
    text = tokens.texts[place]
    if is_negation(text):
        return "negation"
    if text in CURRENCIES or is_currency(text[0]):
        return "currency"
    if text in DATES or _YEAR.fullmatch(text):
        return "date"
    if text in NUMBERS or text in "%-" or any(map(str.isdigit, text)):
        return "number"
    if text in MODALS:
        return "modal"
    start = tokens.starts[place]
    return "name" if folded.printed(start).isupper() and not _starts_sentence(start, folded) else None


def _starts_sentence(start: int, folded: Folded) -> bool:
    before = folded.text[max(0, start - 4) : start].rstrip(" \"'(-")
    return not before or before[-1] in _SENTENCE_END


def _bounds(sides: Sides) -> Iterator[Edit]:
    """An edit for each end of the passage that lies inside a longer word or number."""
    alignment, folded = sides.alignment, sides.document.folded
    start, end = alignment.folded_span
    first, last = alignment.span
    size = len(sides.ours.texts)
    text = folded.text
    while end < len(text) and text[end] == "_" and _UNDERLINED.match(text, end):
        end += 1
    while start and text[start - 1] == "_" and not text[max(0, start - 2)].isalnum():
        start -= 1
    if divides(folded, start):
        yield Edit("cut", sides.printed_theirs([max(0, first - 1), first]), sides.printed_ours([0]))
    ends_in_word = sides.theirs.texts[last - 1] == sides.ours.texts[-1] or not alignment.quote.ends_cut
    if ends_in_word and (divides(folded, end) or leaves_unit(folded, end)):
        after = min(last, len(sides.theirs.texts) - 1)
        yield Edit("cut", sides.printed_theirs([last - 1, after]), sides.printed_ours([size - 1]))
