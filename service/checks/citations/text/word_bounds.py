"""Where a folded text may be cut: between two words or numbers, never inside one.

A quotation that starts or ends inside a longer word or number has another meaning, so such a match does not count:

    cut            inside
    with | out     a word; also _ and combining marks belong to words
    non- | stop    a compound on a hyphen, an apostrophe, a slash or &; an em dash separates words
    1 | ,000       a number with its separators: 3.10, 10:30, 1/2, 2020-01-15, 10-15, 10 000
    $ | 5          a number and its currency, sign, decimal mark, or per cent, also over one space
    5 | million    a number of several words: five hundred | thousand, one hundred and | fifty, 5 | 1/2
    5 | percent    a number and its unit, where the quotation ends between them: thirty (30) | days
    minus | 5      a number and what makes it negative, also - | 5; 10 | ' and A | - and A | *

Scripts that write no spaces (Chinese, Japanese, Thai) are cut at punctuation only: to cut them at words takes a
dictionary, and a cut before 可 in 不可 would turn the sense round.
"""

from __future__ import annotations

import re
import unicodedata

from service.checks.citations.text.cue_words import SCALES, UNITS
from service.checks.citations.text.fold import Folded
from service.checks.citations.text.tokens import is_block_quotation
from service.checks.patterns import lazily

_WORD_JOINTS = frozenset("-'/&")
_DIGIT_JOINTS = frozenset("-'/.,:^*×·=+~_")
_PARTING_DASHES = frozenset("—―")
_RATES = frozenset("%‰‱°")
_SIGNS = frozenset("+-±.")

_ANY, _SCALE = "|".join((*UNITS, *SCALES)), "|".join(SCALES)
_ENDS_IN_NUMBER = lazily(rf"(?<!\w)(?:{_ANY})[ -]?$")
_ENDS_IN_SCALE_AND = lazily(rf"(?<!\w)(?:{_SCALE}) and $")
_STARTS_WITH_SCALE = lazily(rf"[ -]?(?:{_SCALE})(?!\w)")
_STARTS_WITH_NUMBER = lazily(rf"[ -]?(?:{_ANY})(?!\w)")
_STARTS_WITH_AND = lazily(rf" ?and (?:{_ANY}|\d+)(?!\w)")
_ENDS_IN_SCALE = lazily(rf"(?<!\w)(?:{_SCALE})$")
_ENDS_IN_GROUPS = lazily(r"(?<!\d)\d{1,3}(?: \d{3})* ?$")
_STARTS_WITH_GROUP = lazily(r" ?\d{3}(?!\d)")
_STARTS_WITH_FRACTION = lazily(r" ?(?:[¼-¾⅐-⅞]|\d+/\d)")
_STARTS_WITH_HALF = lazily(r" ?and (?:an?|one|two|three)[ -](?:half|third|quarter|fifth|sixth|eighth|tenth)s?(?!\w)")
_RATES_IN_WORDS = (
    r"per ?cents?|per centum|percentage points?|pct|basis points?|bps?|bn|mn|mm|mio|trn|crores?|lakhs?|lacs?|per mille"
)
_MEASURES = (
    r"(?:calendar |business |working |banking |trading )?(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?"
    r"|quarters?|years?|decades?)|dollars?|euros?|pounds?|cents?|pence|yen|yuan|francs?|rupees?"
    r"|usd|eur|gbp|jpy|chf|cny|inr"
    r"|aud|cad|us dollars?|degrees?|(?:kilo|mega|giga|tera)?(?:bits?|bytes?|watts?|hertz|grams?|tons?|tonnes?)"
    r"|(?:centi|milli|kilo)?(?:met|lit)(?:er|re)s?|[kmgt]?(?:b|bit|w|wh|hz|pa)|[cmk]?[mlg]"
    r"|(?:square |cubic )?(?:feet|foot"
    r"|inch(?:es)?|miles?|yards?|acres?|hectares?)|ounces?|barrels?|gallons?|times|fold"
)
_ENDS_IN_AMOUNT = lazily(rf"(?:\d|(?<!\w)(?:{_ANY}))[)\]]?[ -]?$")
_STARTS_WITH_RATE = lazily(rf"[)\]]?[ -]?(?:{_RATES_IN_WORDS}|{_SCALE})(?!\w)")
_STARTS_WITH_MEASURE = lazily(rf"[)\]]?[ -]?(?:{_MEASURES})(?!\w)")
_ENDS_IN_MINUS = lazily(r"(?<!\w)(?:minus|negative|plus or minus) $")
_ENDS_IN_GRADE = lazily(r"(?<![\w'-])(?:([a-f])\1{0,2}|\d+)$")
_COMPARED = tuple("<>≤≥≦≧~±≈=")
_NEAR = 24
"""The number of characters read on either side for a number in words or in groups."""


def is_currency(c: str) -> bool:
    """Whether a character is a currency sign."""
    return c == "$" or (c > "\x7f" and unicodedata.category(c) == "Sc")


def is_word(c: str) -> bool:
    """Whether a character belongs to a word or a number: letters, digits, combining marks and the low line."""
    return c.isalnum() or c == "_" or (c > "\x7f" and unicodedata.category(c)[0] == "M")


def divides(folded: Folded, at: int) -> bool:
    """Whether a cut before folded offset ``at`` goes through a word or a number."""
    text = folded.text
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if is_word(left) and is_word(right):
        return True
    # Most cuts are between a space and a letter, where only a number in words can continue.
    is_plain = (left == " " and right.isalpha()) or (left.isalpha() and right == " ")
    joined = not is_plain and (
        _joins(folded, at) or _joins(folded, at - 1) or _parts_sign(text, at) or _parts_negative(folded, at)
    )
    return joined or _parts_number(text[max(0, at - _NEAR) : at], text[at : at + _NEAR])


def leaves_unit(folded: Folded, at: int) -> bool:
    """Whether a quotation that ends before folded offset ``at`` would leave its last number without its unit."""
    left, right = folded.text[max(0, at - _NEAR) : at], folded.text[at : at + _NEAR]
    return bool(_STARTS_WITH_MEASURE.match(right) and _ENDS_IN_AMOUNT.search(left))


def _joins(folded: Folded, joint: int) -> bool:
    """Whether the character at ``joint`` ties its neighbours into one word or number."""
    text = folded.text
    if not 0 < joint < len(text) - 1:
        return False
    c, before, after = text[joint], text[joint - 1], text[joint + 1]
    if before.isdigit() and after.isdigit():
        return c in _DIGIT_JOINTS
    if c not in _WORD_JOINTS or not (is_word(before) and is_word(after)):
        return False
    return folded.printed(joint) not in _PARTING_DASHES


def _parts_sign(text: str, at: int) -> bool:
    """Whether the cut takes a currency, a sign, a decimal mark or a per cent away from its number."""
    left, right = text[at - 1], text[at]
    before = text[at - 2] if at > 1 else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    after_that = text[at + 2] if at + 2 < len(text) else " "
    if right.isdigit():
        tied = is_currency(left) or (left in _SIGNS and not is_word(before))
        return tied or (left == " " and is_currency(before))
    if is_currency(right) and (left in _SIGNS or left.isalnum()):
        return after.isdigit() or left.isdigit()
    if right == " " and is_currency(left):
        return after.isdigit()
    if left.isdigit():
        return right in _RATES or (
            right == " " and (after in _RATES or (is_currency(after) and not after_that.isdigit()))
        )
    return left == " " and before.isdigit() and (right in _RATES or (is_currency(right) and not after.isdigit()))


def _parts_negative(folded: Folded, at: int) -> bool:
    """Whether the cut takes away a spaced minus, a mark of feet or inches, or of a grade."""
    text = folded.text
    left, right = text[at - 1], text[at]
    if right.isdigit() or is_currency(right):
        before = text[max(0, at - 3) : at].rstrip(" ")
        if before[-1:] in _COMPARED:
            sign = text.rindex(before[-1], 0, at)
            return not is_block_quotation(folded, sign)
        if not before.endswith("-") or before[-2:-1].isalnum() or before.endswith("--"):
            return False
        return folded.printed(text.rindex("-", 0, at)) not in _PARTING_DASHES
    if right in "'\"" and left.isdigit():
        return is_unmatched(text, at)
    if right in "-*" and not is_word(text[at + 1 : at + 2] or " "):
        return _ENDS_IN_GRADE.search(text, max(0, at - 8), at) is not None and (right == "-" or is_lone_star(text, at))
    return False


_AMOUNT = lazily(r"[$€£¥]? ?-?\d[\d,.']* ?%?\\?\)")
_LONGEST_QUOTED = 300


def is_bracketed(text: str, at: int) -> bool:
    """Whether a bracket that ends at an offset holds only an amount, as accountants print negative ones."""
    return _AMOUNT.match(text, at) is not None


def is_unmatched(text: str, at: int) -> bool:
    """Whether a quotation mark behind a number closes no quotation: it is the sign of feet, inches or minutes."""
    mark = text[at]
    opened = 0
    for match in re.finditer(re.escape(mark), text[max(0, at - _LONGEST_QUOTED) : at]):
        k = match.start() + max(0, at - _LONGEST_QUOTED)
        before, after = text[k - 1 : k] if k else " ", text[k + 1 : k + 2]
        if not before.isalnum() and not after.isspace():
            opened += 1
        elif not after.isalnum() and opened:
            opened -= 1
    return not opened


def is_lone_star(text: str, at: int) -> bool:
    """Whether an asterisk has no partner with which it would set words off."""
    before, after = text[max(0, at - _LONGEST_QUOTED) : at], text[at + 1 : at + 1 + _LONGEST_QUOTED]
    closes = re.search(r"(?<![\w*])\*(?=[^\s*])[^*]*$", before)
    opens = re.match(r"[^*]*(?<=[^\s*])\*(?![\w*])", after)
    glued_left = bool(before) and not before[-1].isspace() and before[-1] not in "\"'(["
    return not (closes if glued_left else opens)


def _parts_number(left: str, right: str) -> bool:
    """Whether the cut goes through a number of several words or groups of digits."""
    if " " not in (left[-1], right[0]) and "-" not in (left[-1], right[0]):
        return False
    # The right side comes first: a match at one place is far cheaper than a search for an end.
    if (_STARTS_WITH_RATE.match(right) or _STARTS_WITH_HALF.match(right)) and _ENDS_IN_AMOUNT.search(left):
        return True
    if right[0].isdigit() and _ENDS_IN_MINUS.search(left):
        return True
    if (left[-2:-1] if left[-1] in " -" else left[-1]).isdecimal():
        grouped = _STARTS_WITH_GROUP.match(right) and _ENDS_IN_GROUPS.search(left)
        return bool(grouped or _STARTS_WITH_SCALE.match(right) or _STARTS_WITH_FRACTION.match(right))
    if _STARTS_WITH_NUMBER.match(right) and _ENDS_IN_NUMBER.search(left):
        return True
    if _STARTS_WITH_AND.match(right) and _ENDS_IN_SCALE.search(left.rstrip()):
        return True
    return bool(_STARTS_WITH_NUMBER.match(" " + right) and _ENDS_IN_SCALE_AND.search(left))
