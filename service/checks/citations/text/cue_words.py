"""The words that a rule knows by name: what turns or bounds the sense, and what counts, dates, pays or obliges."""

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
"""Words that a slip may touch only where it can be read as nothing else."""

GOVERNING = frozenset("not no never neither nor cannot non unless hardly scarcely barely seldom rarely nobody".split())
"""What stands before words and turns their sense round: a quotation must not begin right after one of these."""
FOLLOWING = frozenset("not never cannot".split())
"""What turns round the words before it: a quotation must not end right before one of these."""
BOUNDING = frozenset("unless except excepting excluding only without".split())
"""What bounds a sentence that goes on: a quotation may end before it, with a note."""


def is_negation(word: str) -> bool:
    """Whether a folded word turns the sense round or bounds it."""
    return word in NEGATIONS or word.endswith("n't")
