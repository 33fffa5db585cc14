"""Whether a negation earlier in its clause governs the first words of a passage; the bar is where the passage begins.

    party shall | be liable                 none: no word that turns the sense is left out
    no | party shall be liable              right before it
    shall not knowingly or otherwise | sell adverbs and forms of to be, to have, to do between them
    does not, in any event, | guarantee     a few words between two commas
    does not, | in any event, guarantee
    is not obliged to | pay                 "to" with its verb in the passage, "to directly" too
    it is not the case that | we pay        "that" with its sentence in the passage
    in no event | shall we pay              a clause that begins with a negation, and whose verb is in the passage
    neither the Buyer nor the Seller shall | pay
    fails to | pay, prohibited from | selling
    shall not: (a) | sell                   the first item of a list

It is lifted by the end of a sentence, a semicolon, an empty line, and a comma but for the pair above; by words that
begin a clause of their own (which, who, when, if, but …); and by "not only", "whether or not", "not limited to". A
negation of which the verb is left out, as before "information of the Supplier" in "shall not disclose any | information
of the Supplier", turns no statement round.
"""

from __future__ import annotations

import re
from itertools import islice

from service.checks.citations.text.cue_words import ARTICLES, GOVERNING, MODALS
from service.checks.citations.text.fold import Folded
from service.checks.patterns import lazily
from service.debate.whose import by_tenant

_FARTHEST = 240
"""The number of characters that are searched before the passage."""
_MOST_BETWEEN = 10
"""The most words between a negation and a "to" or "that" which it governs."""
_LONGEST_ASIDE = 8
"""The most words between two commas that set them off."""
_MOST_LEADING = 3
"""The most words before the negation that a clause begins with: "and in no event"."""

_WORD = lazily(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d[\w.,]*")
_STOP = lazily(r"[.;?!:](?:(?<=:)[\"')\]*_]* ?|[\"')\]*_]* )")
"""A colon, or another mark before a space. It begins with one class of characters: a search then skips all others."""
_EMPTY_LINE = lazily(r"\n[ \t\r]*\n")
_BRACKETS = lazily(r"\([^()]*\)")
_ABBREVIATED = frozenset("inc corp ltd co llc art sec mr mrs ms dr vs st al eg ie cf para".split())
_LONGEST_ABBREVIATED = max(map(len, _ABBREVIATED))
_LAST_WORD = lazily(r"\w*\Z")
_ITEM = lazily(r"[ \"'*_-]*(?:\(?(?:[a-z]{1,4}|\d{1,2})[).])?[ \"'*_-]*")
_LIGHT = frozenset(
    "be been being have has had do does did so also otherwise then thereby ever yet itself themselves longer more less "
    "later fewer earlier greater than or and in any event way case manner circumstance "
    "circumstances time times respect "
    "even always necessarily either at by under for on of whatsoever whatever such no event "
    "hereby herein thereof hereof "
    "is are was were am it there become seem appear solely directly indirectly further thereafter".split()
)
_BEFORE_TO = frozenset(
    "obliged required entitled permitted allowed bound able liable authorized authorised obligated necessary intended "
    "expected deemed construed taken held supposed need have has had agree agrees agreed promise undertake "
    "obligation right duty power authority reason interpreted understood considered used".split()
)
_LEADS = frozenset("in under at on by for and but that or with as to however therefore provided accordingly".split())
_OWN_CLAUSE = frozenset(
    "which who whom whose where when while because since if but unless until whereas although though whether "
    "provided except".split()
)
_NEGATIVE = frozenset("no neither none nothing nobody nowhere nor".split())
_TURNS = GOVERNING | _NEGATIVE
_AUXILIARY = MODALS | frozenset("is are was were be been has have had do does did".split())
_ASIDE = frozenset(
    "in for under however therefore as at to by on without if upon after before during subject with except other "
    "including notwithstanding directly indirectly at nor or and unless save pursuant according whether then "
    "accordingly".split()
)
_DETERMINED = ARTICLES | frozenset(
    "any all each every such its his her their our your this that these those it them him us me you one".split()
)
_TAKES_BACK = lazily(
    r"\b(?:(?:fail(?:s|ed|ing|ure)?|refus(?:es?|ed|ing|al)|unable|inability|unwilling"
    r"|declin(?:es?|ed|ing)|ceas(?:es?|ed|ing)"
    r"|neglect(?:s|ed|ing)?|omit(?:s|ted|ting)?|powerless|reluctant) to"
    r"|(?:prohibit|prevent|preclud|barred|restrain|refrain|exempt|excus|reliev|releas|discharg"
    r"|forbid|enjoin|debar|estop)\w*"
    r" (?:[\w'-]+ ){0,6}from"
    r"|den(?:y|ies|ying)(?: that)?|denied that|disclaim(?:s|ed|ing)?(?: that)?|doubt(?:s|ed|ful)? (?:that|whether)"
    r"|(?:false|untrue|incorrect|wrong) that)"
    r"(?: (?:be|being|have|having|been|or|otherwise|ever|also|so|then|\w+ly))*[ \"'*_-]*$"
)
_MARKUP = lazily(
    r"<!--.*?-->|</?(?:a|b|i|u|s|p|em|strong|span|su[bp]|code|br|div|font|small|mark|del|ins|t[dhr]|li|[uo]l|h[1-6])\b[^<>]*>",
    re.DOTALL,
)
_DENYING = tuple(
    "fail refus unable inability unwilling declin ceas neglect omit powerless reluctant prohibit prevent preclud "
    "barred restrain refrain exempt excus reliev releas discharg forbid enjoin debar estop deny deni disclaim "
    "doubt false untrue incorrect wrong".split()
)
"""Strings of which every match of `_TAKES_BACK` holds one: most clauses have none, and a string search is fast."""
_TURNING = ("no", "nei", "never", "n't", "unless", "hardly", "scarcely", "barely", "seldom", "rarely", *_DENYING)
"""The same for all words that may govern a passage."""
_SHORTEST_TURNING = min(map(len, _TURNING))
_DRESS = " \"'*_-"
_NOUNS_ALONE = (["event"], ["case"], ["way"], ["time"])
"""Of "in no event" the clause must show that the rest is governed: see `_negative_beginning`."""
_CONJUNCTIONS = (["event"], ["extent"], ["so"], ["such"], ["provided"], ["now"], ["given"])
"""Words before "that" which begin a condition or a consequence, and not the denied clause."""
_NOT_ONLY = ("only", "limited", "merely", "just", "least")


def governing(folded: Folded, start: int, end: int) -> int | None:
    """The folded offset of a negation that governs a passage's first words and is left out, or ``None``."""
    text = folded.text
    begin, listed = _clause_start(text, start)
    if start >= end or not _may_turn(text[begin:start]) or _opens_line(folded, start):
        return None
    if (lines := _last_empty_line(folded, begin, start)) > begin:
        begin, listed = lines, False
    before = _without_brackets(_without_markup(text[begin:start]))
    found = _found(before, text[start : min(end, start + _FARTHEST)], listed)
    return None if found is None else begin + found


def _may_turn(before: str) -> bool:
    """Whether the text has a word that could govern the passage."""
    return len(before) >= _SHORTEST_TURNING and any(map(before.__contains__, _TURNING))


def _without_markup(before: str) -> str:
    """The text with comments and tags as blanks of their length: their contents are no part of the sentence."""
    shown = before.rpartition("-->")
    hidden = shown[0] + shown[1] if "<!--" not in shown[0] and shown[1] else ""
    rest = before[len(hidden) :]
    return " " * len(hidden) + _MARKUP.sub(lambda match: " " * len(match.group()), rest)


@by_tenant(most=1024)  # several seats quote one passage, and a passage may stand at many places
def _found(before: str, passage: str, listed: bool) -> int | None:
    """The offset in ``before`` of the negation that governs the passage after it."""
    for clause in _clauses(before, passage):
        if (taken := _takes_back(clause, passage)) is not None:
            return taken
        words = _WORD.findall(clause)
        if (k := _governs(words, passage, listed)) is not None:
            return _offset(clause, k)
    return None if listed else _negative_beginning(before, passage)


def _takes_back(clause: str, passage: str) -> int | None:
    """The offset of a verb that denies the beginning of the passage: fails to, prohibited from."""
    match = _TAKES_BACK.search(clause) if any(word in clause for word in _DENYING) else None
    if match is None:
        return None
    first = _WORD.match(passage)
    needs_verb = match.group().rstrip(_DRESS).endswith("from")
    return match.start() if not needs_verb or (first and first.group().endswith("ing")) else None


def _clauses(before: str, passage: str) -> list[str]:
    """The clauses that may govern the passage: the words after the last comma, and those before a pair of commas."""
    head, comma, tail = before.rpartition(",")
    if not comma:
        return [before]
    if tail.strip(" \"'*_-"):
        found = [" " * (len(head) + 1) + tail]
        first = tail.split()[0]
        if first in _ASIDE and len(tail.split()) <= _LONGEST_ASIDE and _closes_aside(passage, False):
            found.append(_last(head))
        return found
    earlier, another, aside = head.rpartition(",")
    if another and 0 < len(aside.split()) <= _LONGEST_ASIDE:
        return [_last(earlier)]
    return [_last(head)] if _closes_aside(passage, True) else []


def _last(head: str) -> str:
    """The words after the last comma, at their offsets."""
    at = head.rfind(",") + 1
    return " " * at + head[at:]


def _closes_aside(passage: str, from_its_start: bool) -> bool:
    """Whether the passage begins within words that its first comma sets off."""
    aside, comma, _ = passage.partition(",")
    words = aside.split()
    return bool(comma and words) and len(words) <= _LONGEST_ASIDE and (not from_its_start or words[0] in _ASIDE)


def _offset(clause: str, k: int) -> int:
    """The offset of a clause's k-th word."""
    return next(islice(_WORD.finditer(clause), k, None)).start()


def _governs(words: list[str], passage: str, listed: bool) -> int | None:
    """The index of the word that governs the passage after these: the last negation, if it reaches so far."""
    negations = [i for i, word in enumerate(words) if word in _TURNS or word.endswith("n't")]
    if not negations:
        return None
    k = negations[-1]
    word, earlier, tail = words[k], words[:k], words[k + 1 :]
    if (tail[:1] and tail[0] in _NOT_ONLY) or any(w in _OWN_CLAUSE for w in tail):
        return None
    if earlier[-1:] == ["or"] and "whether" in earlier:
        return None
    if listed:
        return k if word != "unless" and all(_is_light(w) or w in ("to", "following") for w in tail) else None
    return k if _reaches(word, tail, passage) else None


def _reaches(word: str, tail: list[str], passage: str) -> bool:
    """Whether a negation reaches over the words between to the passage."""
    if all(_is_light(w) for w in tail) and (word not in _NEGATIVE or tail[:1] not in _NOUNS_ALONE):
        return True
    if len(tail) > _MOST_BETWEEN:
        return False
    if tail[-1] in ("that", "whether"):
        return tail[-2:-1] not in _CONJUNCTIONS
    begins = _WORD.search(passage)
    first = begins.group() if begins else ""
    while len(tail) > 1 and _is_light(tail[-1]):  # "to directly or indirectly" is a "to"
        tail = tail[:-1]
    takes_verb = len(tail) == 1 or tail[-2] in _BEFORE_TO or word in _NEGATIVE
    return tail[-1] == "to" and first not in _DETERMINED and takes_verb


def _negative_beginning(before: str, passage: str) -> int | None:
    """The negation that a clause begins with, when its verb, or all of it but its modal, stands in the passage."""
    first = [m.group() for m in islice(_WORD.finditer(before), _MOST_LEADING + 1)]
    k = next((i for i, word in enumerate(first) if word in _NEGATIVE), None)
    if k is None or any(word not in _LEADS for word in first[:k]):
        return None
    tail = _WORD.findall(before)[k + 1 :]
    if any(w in _OWN_CLAUSE for w in tail):
        return None
    verb = next((i for i, w in enumerate(tail) if w in _AUXILIARY), None)
    if verb is not None:
        return _offset(before, k) if all(_is_light(w) or w in _AUXILIARY for w in tail[verb:]) else None
    begins = _WORD.search(passage)
    if "," in before and not (begins and begins.group() in _AUXILIARY):
        return None
    return _offset(before, k) if len(tail) <= 3 * _MOST_BETWEEN else None


def _is_light(word: str) -> bool:
    return word in _LIGHT or (word.endswith("ly") and len(word) > 4)


def _clause_start(text: str, start: int) -> tuple[int, bool]:
    """The beginning of an offset's sentence, and whether the offset is the first item of a list in it."""
    begin = passed = max(0, start - _FARTHEST)
    listed = False
    for match in _STOP.finditer(text, begin, start):
        at, after = match.span()
        word_from, passed = passed, after
        if text[at] == ":":
            item = _ITEM.match(text, after)
            if item is not None and item.end() >= start and any(map(str.isalnum, item.group())):
                listed = True
                continue
        elif text[at] == "." and _is_abbreviated(text[max(word_from, at - _LONGEST_ABBREVIATED - 1) : at]):
            continue
        begin, listed = after, False
    return begin, listed


def _is_abbreviated(before: str) -> bool:
    """Whether a full stop after these characters ends no sentence."""
    word = _LAST_WORD.findall(before)[0]
    return word in _ABBREVIATED or len(word) == 1


def _last_empty_line(folded: Folded, begin: int, start: int) -> int:
    """The folded offset after the last empty line between two offsets, else the first of them."""
    first = folded.reach(begin, begin + 1)[0]
    last = folded.reach(start, start + 1)[0]
    found = [m.end() for m in _EMPTY_LINE.finditer(folded.original[first:last])]
    return folded.offset(first + found[-1]) if found else begin


def _without_brackets(text: str) -> str:
    """The text with the contents of closed brackets as blanks; the rest keeps its offsets."""
    return _BRACKETS.sub(lambda m: " " * len(m.group()), text)


def _opens_line(folded: Folded, start: int) -> bool:
    """Whether an empty line stands between a stretch and the text before it."""
    origin = folded.reach(start, start + 1)[0] if start < len(folded.text) else len(folded.original)
    before = folded.original[max(0, origin - 200) : origin]
    return "\n\n" in before[len(before.rstrip()) :].replace("\r", "")
