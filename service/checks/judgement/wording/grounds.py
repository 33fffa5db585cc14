"""Whether a point gives a ground of its own against what it attacks: a passage, or a step of reasoning.

    the point's own words    without quotations, and without the clauses in which it grants, praises or belittles
    evidence                 a verified passage that the attacked argument does not quote; not beside praise alone
    reasoning                words that the attacked argument has not, some of which are not general; more of them where
                             no word opposes; beside praise, one that opposes

Opposition and generality are looked for only where the case under attack is in English. In other languages the new
words alone decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import filterfalse, pairwise

from msgspec import Struct

from service.checks.judgement.wording.softening import KEPT, Soft, softenings, unquoted
from service.checks.judgement.wording.vocabulary import DEALING, FAULTS, FUNCTION, GENERAL, NEGATIONS, OPPOSING, matcher
from service.checks.patterns import lazily
from service.debate.whose import by_tenant

STEM = 5
"""The letters by which forms of one word are known."""
WORD = lazily(r"[^\W\d_]{4,}")
_TOKEN = lazily(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LETTERS = str.maketrans({c: c.lower() if c.isalpha() else " " for c in map(chr, range(128)) if c != "'"})
"""Letters as small ones and apostrophes, and blanks for all else of ASCII."""
_COMMONEST = tuple(f" {word} " for word in "the of to and in for is that on by".split())
"""Some of the words of `FUNCTION`, the most frequent first, between blanks."""
_MARK = lazily(r"[^\W_]+")
_PIECE, _OF_WORDS = lazily(r"[\w']+|[^\w\s]"), lazily(r"[\w']")
_SENTENCE = lazily(r"(?<=[.!?;:])\s+")
_CLAUSE = lazily(
    r"\s*(?:[,\u2014\u2013]|\s-\s)\s*(?:and\s+|so\s+)?|\s+(?=(?:but|yet|however|though|although|while|whereas|nevertheless|nonetheless)\b)",
    re.IGNORECASE,
)
_TURN = lazily(r"^(?:but|yet|however|though|although|while|whereas|nevertheless|nonetheless|still)\b\s*", re.IGNORECASE)
_OPPOSING, _FAULT, _DEALING = (matcher(words) for words in (OPPOSING, FAULTS, DEALING))
_NEGATIONS = frozenset(NEGATIONS.split())
_GENERAL = frozenset(GENERAL.split())


class GroundLimits(Struct, frozen=True, rename="camel"):
    """The least of a ground by reasoning, and how English and a denied fault are known.

    ``new`` words are per mille of the point's; without ``new_alone`` of them, or beside praise, a word has to oppose.
    ``telling`` words are new and not general: so many at least. There have to be ``telling_beside`` where a word
    opposes, ``telling_soft`` beside praise and ``telling_alone`` otherwise, or ``dense`` per mille of the new words, so
    that a short point may do. ``english`` is per mille of all words; ``reach`` is in words.
    """

    new: int = 250
    new_alone: int = 500
    telling: int = 2
    telling_beside: int = 4
    telling_soft: int = 6
    telling_alone: int = 5
    dense: int = 500
    english: int = 120
    reach: int = 4


LIMITS = GroundLimits()


@by_tenant(most=KEPT)
def words_of(text: str) -> frozenset[str]:
    """The content words of a text: those of four letters and more, without regard to case."""
    return frozenset(WORD.findall(text.casefold()))


def is_english(text: str, limits: GroundLimits = LIMITS) -> bool:
    """Whether so many of the words (per mille) are the commonest English ones."""
    plain = text.translate(_LETTERS) if text.isascii() else None
    if plain is not None and _is_surely_english(plain, limits):
        return True
    tokens = _TOKEN.findall(text.casefold()) if plain is None else _plain_tokens(plain)
    return bool(tokens) and sum(map(FUNCTION.__contains__, tokens)) * 1_000 >= limits.english * len(tokens)


def _is_surely_english(plain: str, limits: GroundLimits) -> bool:
    """Whether a few of these words are enough, by no more of them than there are and no fewer words than there are.

    That is seen without taking the text apart. Of blanks in a row, half and more are counted; words are fewer.
    """
    least = (plain.count(" ") - plain.count("  ") + plain.count("'") + 1) * limits.english
    found = 0
    for word in _COMMONEST:
        found += plain.count(word)
        if found * 1_000 >= least:
            return found > 0
    return False


def _plain_tokens(plain: str) -> list[str]:
    """What `_TOKEN` finds in a text of ASCII, in a fourth of the time and in any order: only pieces with an apostrophe
    are searched. ``plain`` is the text by `_LETTERS`."""
    pieces = plain.split()
    if "'" not in plain:
        return pieces
    tokens = list(filter(str.isalpha, pieces))
    return tokens + _TOKEN.findall(" ".join(filterfalse(str.isalpha, pieces)))


def gives_ground(text: str, attacked: str, *, evidence: bool, english: bool, limits: GroundLimits = LIMITS) -> bool:
    """Whether a point's text gives a ground against the ``attacked`` text.

    ``evidence`` says that it rests on a verified passage of its own, ``english`` that the case is in English.
    """
    plain = unquoted(text)
    soft = softenings(plain) if english else ()
    rest = _without(plain, soft) if soft else plain
    if english:
        rest = _undenied(rest.casefold(), limits)
    if evidence:
        return not soft or _opposes(rest, attacked) or len(_telling(rest) - _GENERAL) >= limits.telling_soft
    words = words_of(rest)
    new = _share(words - words_of(attacked), words)
    stems = _stems(attacked)
    fresh = {token for token in _telling(rest) if token[:STEM] not in stems}
    telling = fresh - _GENERAL if english else fresh
    if (words and new < limits.new) or len(telling) < limits.telling:
        return False
    if not english:
        return True
    opposes = _opposes(rest, attacked)
    if soft:
        return opposes and len(telling) >= limits.telling_soft
    if words and new < limits.new_alone:
        return opposes and len(telling) >= limits.telling_beside
    enough = limits.telling_beside if opposes else limits.telling_alone
    return len(telling) >= enough or len(telling) * 1_000 >= limits.dense * len(fresh)


def only_grants(text: str, limits: GroundLimits = LIMITS) -> bool:
    """Whether a text praises, grants or belittles, and has next to no words besides that say anything."""
    plain = unquoted(text)
    soft = softenings(plain)
    if not soft:
        return False
    rest = _undenied(_without(plain, soft).casefold(), limits)
    return not _opposes(rest, "") and len(_telling(rest) - _GENERAL) < limits.telling


def ungranted(text: str, *, english: bool) -> str:
    """The text without quotations, and without the clauses in which it grants, praises or belittles."""
    plain = unquoted(text)
    return _without(plain, softenings(plain)) if english else plain


def telling_words(text: str, *, english: bool) -> frozenset[str]:
    """The words and numbers of a text that say something of a case; in English without the general ones."""
    return frozenset(_telling(text) - _GENERAL if english else _telling(text))


def opposes(text: str, other: str) -> bool:
    """Whether a word of a text opposes that another text does not have beside the same word."""
    return _opposes(text.casefold(), other)


def _telling(text: str) -> set[str]:
    """The words of three letters and more, and every number."""
    return {token for token in _MARK.findall(text.casefold()) if len(token) > 2 or token.isdigit()} - FUNCTION


@by_tenant(most=KEPT)
def _stems(text: str) -> frozenset[str]:
    return frozenset(token[:STEM] for token in _telling(text))


@by_tenant(most=KEPT)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Each two words that stand side by side; the first and the last have the text's end beside them."""
    return frozenset(pairwise(["", *_TOKEN.findall(text.casefold()), ""]))


def _share(part: frozenset[str], whole: frozenset[str]) -> int:
    return len(part) * 1_000 // len(whole) if whole else 0


def _without(plain: str, soft: Sequence[Soft]) -> str:
    """The text without what softens; a word that only turns from it is left out with it."""
    kept: list[str] = []
    if any(s.reach == "text" for s in soft):
        return ""
    for start, end in _parts(_SENTENCE, plain, 0, len(plain)):
        inside = [s for s in soft if s.start < end and s.end > start]
        if not inside:
            kept.append(plain[start:end])
        elif all(s.reach != "sentence" for s in inside):
            kept += _clauses_without(plain, start, end, inside)
    return " ; ".join(kept)


def _clauses_without(plain: str, start: int, end: int, soft: Sequence[Soft]) -> Iterator[str]:
    for begin, stop in _parts(_CLAUSE, plain, start, end):
        inside = [s for s in soft if s.start < stop and s.end > begin]
        if any(s.reach == "clause" for s in inside):
            continue
        left, at = [], begin
        for s in inside:
            left.append(plain[at : max(at, s.start)])
            at = max(at, min(stop, s.end))
        yield _TURN.sub("", " ".join([*left, plain[at:stop]]).strip())


def _parts(boundary: re.Pattern[str], plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The places of the parts between boundaries."""
    for found in boundary.finditer(plain, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end


def _opposes(rest: str, attacked: str) -> bool:
    """Whether a word opposes that the attacked text does not have beside the same word."""
    known = _pairs(attacked)
    tokens = ["", *_TOKEN.findall(rest), ""]
    return any(
        (_OPPOSING.fullmatch(word) or word.endswith("n't")) and not {(before, word), (word, after)} & known
        for before, word, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _undenied(rest: str, limits: GroundLimits) -> str:
    """The text without each negation that denies a fault, and without that fault."""
    tokens = _PIECE.findall(rest)
    dropped: set[int] = set()
    for i in [i for i, token in enumerate(tokens) if token in _NEGATIONS]:
        for j in range(i + 1, min(len(tokens), i + 1 + limits.reach)):
            if not _OF_WORDS.match(tokens[j]) or _DEALING.fullmatch(tokens[j]):
                break
            if _FAULT.fullmatch(tokens[j]):
                dropped |= {i, j}
                break
    return " ".join(token for i, token in enumerate(tokens) if i not in dropped)
