"""Cue words: words that turn or bound the sense, and words of numbers, dates, money and duty."""

from __future__ import annotations

NEGATIONS = frozenset(
    "not no nor never neither none nothing nobody nowhere cannot non without unless except excepting excluding "
    "excluded excludes exclude only save notwithstanding until hardly scarcely barely rarely seldom".split()
)
CURRENCIES = frozenset(
    "dollar dollars euro euros pound pounds sterling cent cents pence yen yuan franc francs rupee rupees "
    "usd eur gbp jpy chf cny inr aud cad".split()
)
DATES = frozenset(
    "january february april june july august september october november december jan feb apr jun jul aug sep sept "
    "oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
MODALS = frozenset("shall must may might should can could will would ought need needs".split())
ARTICLES = frozenset("a an the".split())
UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
).split()
SCALES = "hundred thousand million billion trillion dozen".split()
ORDINALS = frozenset(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth half quarter once twice "
    "thrice double triple zero nil".split()
)
NUMBERS = frozenset(UNITS) | frozenset(SCALES)
CRITICAL = NEGATIONS | CURRENCIES | DATES | MODALS | NUMBERS | ORDINALS
"""Words in which a slip counts only if there is no other reading."""

GOVERNING = frozenset("not no never neither nor cannot non unless hardly scarcely barely seldom rarely nobody".split())
"""Words that turn the sense of the words behind them: a quotation must not begin right after one of these."""
FOLLOWING = frozenset("not never cannot".split())
"""Words that turn the sense of the words before them: a quotation must not end right before one of these."""
BOUNDING = frozenset("unless except excepting excluding only without".split())
"""Words that limit the sentence before them: a quotation may end before one, with a note."""


def is_negation(word: str) -> bool:
    """Whether a folded word turns the sense or limits it."""
    return word in NEGATIONS or word.endswith("n't")
