"""What a claim states, as far as code can read it: amounts, dates, parties, negations, and its other words.

    amounts    numbers in digits or words, with their scale and measure (`measures`), and "at least" or "at most";
               "nothing" is 0, and "no cap", "not capped" and "unlimited" are amounts too. Numbers of clauses are none
    dates      day, month and year as far as they are named; a year alone
    periods    how often: each year, monthly, once, in total
    parties    names (a capital inside a sentence) and the usual words for the parties of a contract, in their order
    negations  how many words turn the sense; those in "no more than" and the like belong to their amount
    sense      yes or no, the strength of a duty, and how far a claim extends (`sense`)
    words      the remaining words with content, without their endings, in their order

Tokens, and the words for numbers, currencies, dates and negations, are those of the citation engine.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from service.checks.citations.text.cue_words import is_negation
from service.checks.citations.text.fold import Folded, fold
from service.checks.citations.text.spelling import american
from service.checks.citations.text.tokens import TextTokens, read_tokens
from service.checks.consensus.measures import (
    BUSINESS,
    FACTOR,
    FACTORS,
    UNLIMITED,
    Amount,
    Bound,
    currency_of,
    is_measure,
    kind_of,
    measured,
)
from service.checks.consensus.numerals import Numerals, stem_unit
from service.checks.consensus.sense import Sense, SenseReader, opener
from service.checks.consensus.vocabulary import (
    BASE_REACH,
    BUSINESS_DAYS,
    EACH,
    ENDLESS,
    FRACTIONS,
    JOINING,
    LIMITED,
    LIMITING,
    LIMITS,
    MONTHS,
    MULTIPLES,
    NOTHING,
    ONE_OF,
    ORDINAL,
    PARTS,
    PERIOD_UNITS,
    PERIODS,
    PLACES,
    PREPOSITIONS,
    QUALIFYING,
    RATES,
    REACH,
    ROLES,
    STATING,
    WEEKDAYS,
)
from service.checks.overlap import NEGATIONS, STOP_WORDS
from service.checks.patterns import lazily
from service.debate.whose import by_tenant


class Date(NamedTuple):
    """A date; a part that is not named is 0, and a day of the week stands in ``day`` as a negative number."""

    year: int
    month: int
    day: int
    bound: Bound = ""


@dataclass(frozen=True, eq=False)
class Reading:
    """What one claim states; compared by identity, because one text is read once.

    ``places`` are the numbers of clauses; ``limiting`` are those of the negations that limit a claim and do not deny
    it; ``special`` are the words behind a preposition, which may narrow the matter; ``bases`` are the words of what a
    share or a multiple is taken.
    """

    amounts: frozenset[Amount]
    dates: frozenset[Date]
    periods: frozenset[str]
    parties: tuple[str, ...]
    negations: int
    words: tuple[str, ...]
    is_passive: bool
    sense: Sense
    limiting: int
    places: frozenset[str]
    special: frozenset[str]
    bases: frozenset[str]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words without their order."""
        return frozenset(self.words)


_LEAST = lazily(
    r"(?:at least|(?:no|not) (?:less|fewer|lower|earlier|sooner) than|minimum(?: of)?|more than|in excess of|exceed\w*"
    r"|over|above|not (?:below|under)|greater than|longer than|after|since|not before|as of|starting(?: on)?) $"
)
_MOST = lazily(
    r"(?:at most|(?:no|not) (?:more|greater|higher|later|longer) than|(?:not|never|cannot) (?:to )?exceed\w*"
    r"|maximum(?: of)?|up to|less than|fewer than|below|within|capped at|limited to|not (?:above|over|after)|before"
    r"|until|shorter than) $"
)
_OR_MORE = lazily(r"(?: \w+){0,2} (?:or (?:more|longer|later|above|over)|at least)\b")
_OR_LESS = lazily(r"(?: \w+){0,2} (?:or (?:less|fewer|earlier|shorter|below)|at (?:the )?most)\b")
_OF_DATES: dict[str, Bound] = {"from": "least", "by": "most"}
_LONGEST_BOUND = 5
_PASSIVE = lazily(r"\b(?:is|are|was|were|be|been|being)\b(?: \w+){1,4} by\b")
_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s")
_SHORTEST_STEM = 3


@by_tenant(most=1 << 12)
def reading(text: str) -> Reading:
    """Read one claim."""
    return _Reader(text).read()


def stem(word: str) -> str:
    """A word without a plain ending and in its American spelling: caps, capped and capping are cap."""
    word = american(word.removesuffix("'s").removesuffix("'"))
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and not word.endswith("ss"):
            word = word.removesuffix(ending) + ("y" if ending in ("ied", "ies") else "")
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        return word[:-1]
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM else word


class _Reader:
    """The tokens of a claim, and those of them that a rule has read."""

    def __init__(self, text: str) -> None:
        self.folded: Folded = fold(text)
        self.tokens: TextTokens = read_tokens(self.folded)
        self.texts: Sequence[str] = self.tokens.texts
        self.numerals = Numerals(self.texts)
        self.read_at: set[int] = set()
        self.places: set[str] = set()
        self.bases: set[str] = set()
        self.multiple = Fraction(1)
        self.amounts: set[Amount] = set()
        self.dates: set[Date] = set()

    def read(self) -> Reading:
        """Every part in turn: what one rule has read no later one reads again."""
        answer = self._answer()
        periods = self._periods()
        self._dates()
        self._amounts()
        sense = SenseReader(self.folded.text, self.tokens, self.read_at).read(answer)
        turning = [
            word
            for i, word in enumerate(self.texts)
            if i not in self.read_at
            and (is_negation(word) or word in NEGATIONS)
            and word != "only"
            and not (word == "not" and self._at(i + 1) == "only")
        ]
        rest = [i for i in range(len(self.texts)) if i not in self.read_at and self.texts[i][0].isalnum()]
        return Reading(
            amounts=frozenset(self.amounts),
            dates=frozenset(self.dates),
            periods=frozenset(periods),
            parties=tuple(stem(self.texts[i]) for i in rest if self._is_party(i)),
            negations=len(turning),
            words=tuple(stem(w) for i in rest if _has_content(w := self.texts[i])),
            is_passive=_PASSIVE.search(self.folded.text) is not None,
            sense=sense._replace(only=tuple(dict.fromkeys(stem(w) for w in sense.only if _has_content(w)))),
            places=frozenset(self.places),
            limiting=sum(word in LIMITING for word in turning),
            special=frozenset(self._special(rest)),
            bases=frozenset(self.bases),
        )

    def _answer(self) -> str:
        """Yes or no at the beginning, which then denies nothing else."""
        found = opener(self.folded.text)
        if found and self.texts[:1] == [found]:
            self.read_at.add(0)
        return found

    def _special(self, rest: Sequence[int]) -> Iterator[str]:
        """The words behind prepositions, as far as they reach."""
        for at, i in enumerate(rest):
            if self.texts[i] in PREPOSITIONS:
                behind = [w for k in rest[at + 1 :] if _has_content(w := self.texts[k])]
                yield from map(stem, behind[:REACH])

    def _at(self, i: int) -> str:
        return self.texts[i] if 0 <= i < len(self.texts) else ""

    def _is_party(self, i: int) -> bool:
        word, start = self.texts[i], self.tokens.starts[i]
        if stem(word) in _ROLE_STEMS:
            return True
        before = self.folded.text[max(0, start - 4) : start].rstrip(" \"'(-")
        inside = bool(before) and before[-1] not in ".!?:"
        return inside and word[0].isalpha() and self.folded.printed(start).isupper() and _has_content(word)

    def _periods(self) -> set[str]:
        found = set()
        for i, word in enumerate(self.texts):
            if word in PERIODS:
                found.add(PERIODS[word])
                self.read_at.add(i)
            if word in EACH:
                at = i + 2 if self._at(i + 1) in QUALIFYING else i + 1
                if (unit := stem_unit(self._at(at))) in PERIOD_UNITS:
                    found.add(unit)
                    self.read_at |= {*range(i, at + 1)}
            if word in ("a", "an") and self._is_rate(i):
                found.add(stem_unit(self._at(i + 1)))
                self.read_at |= {i, i + 1}
            if word == "whole" and self._at(i + 1) in ("term", "contract", "period"):
                found.add("once")
        return found

    def _is_rate(self, i: int) -> bool:
        """Whether "a year" says how often: EUR 5 a year, and not within a year."""
        before = self._at(i - 1)
        counted = currency_of(before) or before in RATES or self.numerals.read(i - 1)[0] is not None
        return i > 0 and bool(counted) and before not in ONE_OF and stem_unit(self._at(i + 1)) in PERIOD_UNITS

    def _dates(self) -> None:
        for i, word in enumerate(self.texts):
            if word in MONTHS:
                self._month(i)
            elif word in WEEKDAYS:
                self._date(Date(0, 0, -1 - WEEKDAYS.index(word)), i)
            elif re.fullmatch(r"\d{1,4}[./]\d{1,2}[./]\d{1,4}", word):
                self._date(_written(re.split(r"[./]", word)), i)
            elif _is_year(word) and self._at(i + 1) == "-" and self._at(i + 3) == "-":
                self._date(_written([word, self._at(i + 2), self._at(i + 4)]), *range(i, i + 5))

    def _month(self, i: int) -> None:
        before = i - 1 - (self._at(i - 1) in ("of", *ORDINAL))
        before -= self._at(before) in ORDINAL
        after = i + 1
        day = year = 0
        used = [i]
        if _is_day(self._at(before)):
            day, used = int(self._at(before)), [*range(before, i + 1)]
        elif _is_day(self._at(after)):
            day, used, after = int(self._at(after)), [*used, after], after + 1
            used += [after] if self._at(after) in ORDINAL else []
            after += self._at(after) in ORDINAL
        if _is_year(self._at(after)):
            year, used = int(self._at(after)), [*used, after]
        printed = self.folded.printed(self.tokens.starts[i])
        if self.texts[i] in ("may", "march") and not (printed.isupper() and (day or year)):
            return
        self._date(Date(year, MONTHS[self.texts[i]], day), *used)

    def _date(self, date: Date, *at: int) -> None:
        bound = self._bound(min(at), max(at) + 1) or _OF_DATES.get(self._at(min(at) - 1), "")
        self.dates.add(date._replace(bound=bound))
        self.read_at.update(at)

    def _amounts(self) -> None:
        i = 0
        while i < len(self.texts):
            i = self._amount(i)

    def _amount(self, i: int) -> int:
        """Read the amount that begins at a token, if one does; the next place to read at."""
        word = self.texts[i]
        if i in self.read_at:
            return i + 1
        if word in NOTHING or word in ENDLESS or (word in ("no", "without") and self._limit_after(i)):
            self.read_at |= set() if word in ENDLESS else {i}
            self.amounts.add(Amount(Fraction(0) if word in NOTHING else UNLIMITED, ""))
            return i + 1
        if self._denies_limit(i):
            self.read_at.add(i)
            self.amounts.add(Amount(UNLIMITED, ""))
            return i + 1
        if word in MULTIPLES and self._at(i + 1) not in ("a", "per", "each", "every"):
            return self._multiplied(Fraction(MULTIPLES[word]), i, i + 1)
        value, end = self.numerals.read(i)
        if value is None or self._is_identifier(i):
            return i + 1
        if stem(self._at(i - 1)) in _PLACE_STEMS or self._at(i - 1) == "§":
            end = self._places(end)
            self.read_at.update(range(i, end))
            self.places |= {self.texts[k] for k in range(i, end)} - {*JOINING}
            return end
        if _is_year(word) and end == i + 1 and not self._currency(i - 1) and not self._unit(end)[0]:
            self._date(Date(int(word), 0, 0), i)
            return end
        again, after = self.numerals.read(end)
        end = after if again == value else end  # thirty (30) days
        before, (unit, last) = self._currency(i - 1), self._unit(end)
        if before and not currency_of(unit):
            unit, last = "", end  # what follows a sum of money is no unit: EUR 5 million net
        if unit == FACTOR or (not unit and (word in FRACTIONS or self._at(end - 1) in PARTS)):
            return self._multiplied(value, i, last)
        stated = before or is_measure(unit) or self._at(i - 1) in STATING
        if "." in word and end == i + 1 and not stated:
            return end  # a clause, as in "9.2 limits it"; it stays a word
        amount = measured(value * self.multiple, before or unit, self._bound(i - bool(before), last))
        self.multiple = Fraction(1)
        self.amounts.add(amount)
        self.read_at.update(range(i - bool(before), last))
        if kind_of(amount.unit) == "ratio":
            self.bases.update(self._base(last))
        return last

    def _multiplied(self, value: Fraction, i: int, last: int) -> int:
        """Read a multiple: of the amount that follows, as in "twice EUR 5 million", or of something else."""
        if self.numerals.read(last)[0] is not None or currency_of(self._at(last)) or self._at(last) in MULTIPLES:
            self.multiple *= value
        else:
            self.amounts.add(Amount(value * self.multiple, FACTOR, self._bound(i, last)))
            self.multiple = Fraction(1)
            self.bases.update(self._base(last))
        self.read_at.update(range(i, last))
        return last

    def _base(self, i: int) -> Iterator[str]:
        """The words of what a share or a multiple is taken: of the annual fees."""
        if self._at(i) in ("of", "the", "its", "their", "what"):
            behind = itertools.takewhile(lambda k: self._at(k) not in (*JOINING, ""), range(i, i + BASE_REACH))
            yield from (stem(self._at(k)) for k in behind if _has_content(self._at(k)))

    def _is_identifier(self, i: int) -> bool:
        """Whether a number is part of a name: ISO-27001, C7.1."""
        start = self.tokens.starts[i]
        return re.search(r"(?:[^\W\d_][-/]|\w\.)$", self.folded.text[max(0, start - 2) : start]) is not None

    def _places(self, i: int) -> int:
        """The place after further numbers of clauses: sections 12.1, 12.2 and 12.3."""
        while True:
            at = i + 1 if self._at(i) in JOINING else i
            if not re.fullmatch(r"\d+(?:\.\d+)*", self._at(at)) or self._unit(at + 1)[0] in (*PERIOD_UNITS, "%"):
                return i
            i = at + 1

    def _denies_limit(self, i: int) -> bool:
        """Whether a negation denies that there is a limit: not capped, isn't limited; not "not limited to"."""
        at = i + 2 if self._at(i + 1) in ("been", "be", "in") else i + 1
        denies = self.texts[i] in ("not", "never") or self.texts[i].endswith("n't")
        return denies and self._at(at) in LIMITED and self._at(at + 1) not in ("to", "at", "by", "in")

    def _limit_after(self, i: int) -> bool:
        return any(self._at(i + k) in LIMITS for k in (1, 2, 3))

    def _currency(self, i: int) -> str:
        found = currency_of(self._at(i)) if i not in self.read_at else ""
        return currency_of(self._at(i - 1), self._at(i)) or found if found else ""

    def _unit(self, i: int) -> tuple[str, int]:
        """The unit behind a number, and the place after it."""
        word, following = self._at(i), self._at(i + 1)
        for rate, count in ((f"{word} {following}", 2), (word, 1)):
            if rate in RATES:
                return RATES[rate], i + count
        if found := currency_of(word, following):
            return found, i + 1 + (currency_of(word) == "")
        at = i + 1 if word in QUALIFYING else i
        if (unit := stem_unit(self._at(at))) in PERIOD_UNITS:
            return (BUSINESS if word in BUSINESS_DAYS and unit == "day" else unit), at + 1
        if word in FACTORS:
            return FACTOR, i + 1
        if word.isalpha() and _has_content(word) and not is_negation(word) and word not in EACH:
            return stem(word), i + 1
        return "", i

    def _bound(self, first: int, end: int) -> Bound:
        said = "".join(f"{word} " for word in self.texts[max(0, first - _LONGEST_BOUND) : first])
        after = "".join(f" {word}" for word in self.texts[end - 1 : end + 4])
        if found := _MOST.search(said):  # first: "not exceeding" holds "exceeding"
            self._take(first, found.group())
            return "most"
        if found := _LEAST.search(said):
            self._take(first, found.group())
            return "least"
        for bound, words in (("least", _OR_MORE), ("most", _OR_LESS)):
            if behind := words.match(after):
                self.read_at.update(range(end, end - 1 + len(behind.group().split())))
                return bound
        return ""

    def _take(self, first: int, phrase: str) -> None:
        self.read_at.update(range(first - len(phrase.split()), first))


def _has_content(word: str) -> bool:
    return word not in STOP_WORDS and word not in NEGATIONS and not is_negation(word) and word not in EACH


def _is_year(word: str) -> bool:
    return re.fullmatch(r"(?:1[6-9]|20)\d\d", word) is not None


def _is_day(word: str) -> bool:
    return re.fullmatch(r"\d{1,2}", word) is not None and 1 <= int(word) <= 31


def _written(parts: Sequence[str]) -> Date:
    """A date in figures. Which of two small figures is the month differs by country, so their order is kept."""
    one, two, three = (int(part) if part.isdigit() else 0 for part in parts)
    return Date(one, two, three) if _is_year(parts[0]) else Date(three, two, one)


_ROLE_STEMS = frozenset(map(stem, ROLES))
_PLACE_STEMS = frozenset(map(stem, PLACES))
