"""Runs of words on the two sides that are the same words, joined on one and apart on the other; see `joined_words`."""

from __future__ import annotations

from collections.abc import Sequence

from service.checks.citations.match.sides import Sides, printed
from service.checks.citations.match.slips import is_slip
from service.checks.citations.text import joined_words
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.lexicon import is_english
from service.checks.citations.text.tokens import TextTokens
from service.checks.citations.text.word_bounds import is_currency
from service.checks.patterns import lazily

_LINE_BREAK = lazily(r"- (?:> ?)*")


def same(theirs: Sequence[int], ours: Sequence[int], sides: Sides) -> str | None:
    """The kind of difference by which two unlike runs of tokens are the same words or number, or ``None``."""
    t, o = [sides.theirs.texts[i] for i in theirs], [sides.ours.texts[j] for j in ours]
    if {len(t), len(o)} <= {1, 2} and _spelled_out(t) == _spelled_out(o):
        plain = _parts_by_blank(sides.theirs, theirs, sides.document.folded)
        plain &= _parts_by_blank(sides.ours, ours, sides.alignment.quote.folded)
        kind = "hyphenation" if joined_words.is_cannot(t, o[0]) or joined_words.is_cannot(o, t[0]) else "notation"
        return kind if plain else None
    if "".join(t) != "".join(o) or len(t) == len(o) or min(len(t), len(o)) != 1:
        return None
    folded, split, tokens = (
        (sides.document.folded, theirs, sides.theirs)
        if len(t) > len(o)
        else (sides.alignment.quote.folded, ours, sides.ours)
    )
    if split[-1] - split[0] != len(split) - 1:
        return None
    between = folded.text[tokens.starts[split[0]] : tokens.ends[split[-1]]]
    as_printed = printed(tokens, split, folded)
    parts, whole = (t, o[0]) if len(t) > len(o) else (o, t[0])
    if whole.replace(".", "", 1).isdigit():
        at = tokens.starts[split[0]]
        tied = is_currency(folded.text[max(0, at - 2) : at].rstrip()[-1:] or " ")
        return joined_words.notation(as_printed, between, split is ours, tied)
    if any(not part.isalpha() for part in parts):
        return None
    if all(len(part) == 1 for part in parts) and "." in between:
        return joined_words.initials(between, *_whole(theirs, ours, sides))
    if joined_words.is_held_apart(parts):
        return None
    if between == _folded_whole(theirs, ours, sides):
        return "hyphenation"
    if how := joined_words.hyphenated(between, as_printed, parts):
        return how
    return _spacing(parts, whole, split is ours, sides) if between == " ".join(parts) else None


def _parts_by_blank(tokens: TextTokens, places: Sequence[int], folded: Folded) -> bool:
    return not folded.text[tokens.ends[places[0]] : tokens.starts[places[-1]]].strip()


def _spelled_out(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in joined_words.spelled_out(word)]


def _folded_whole(theirs: Sequence[int], ours: Sequence[int], sides: Sides) -> str:
    tokens, folded, at = (
        (sides.ours, sides.alignment.quote.folded, ours[0])
        if len(ours) == 1
        else (sides.theirs, sides.document.folded, theirs[0])
    )
    return folded.text[tokens.starts[at] : tokens.ends[at]]


def _whole(theirs: Sequence[int], ours: Sequence[int], sides: Sides) -> tuple[str, str]:
    """The side of two that is one word, as printed, and the words around it."""
    if len(ours) == 1:
        return sides.printed_ours(ours), joined_words.context(sides.ours, ours[0], sides.alignment.quote.folded)
    return sides.printed_theirs(theirs), joined_words.context(sides.theirs, theirs[0], sides.document.folded)


def broken_slip(theirs: Sequence[int], ours: Sequence[int], sides: Sides) -> str | None:
    """Whether the quotation breaks one word at the end of a line, with a slip in it."""
    if len(theirs) != 1 or len(ours) != 2:
        return None
    ends, starts = sides.ours.ends, sides.ours.starts
    if not _LINE_BREAK.fullmatch(sides.alignment.quote.folded.text, ends[ours[0]], starts[ours[1]]):
        return None
    word, whole = sides.theirs.texts[theirs[0]], sides.ours.texts[ours[0]] + sides.ours.texts[ours[1]]
    how = sides.how_printed(theirs, ours)
    if how == "code" or sides.is_elsewhere(whole):
        return None
    return "slip" if is_slip(word, whole, sides.reading(how, word, sides.printed_theirs(theirs))) else None


def _spacing(parts: Sequence[str], whole: str, is_split_by_us: bool, sides: Sides) -> str | None:
    """Whether the difference is one blank, missing or added, and the result is no other word."""
    if not joined_words.may_be_spaced(parts):
        return None
    made = [part for part in parts if len(part) > 3] if is_split_by_us else [whole]
    known = [is_english(word) or sides.is_elsewhere(word) for word in made]
    return "spacing" if made and not all(known) and sides.is_english_passage() else None
