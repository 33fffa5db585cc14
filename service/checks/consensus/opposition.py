"""Two claims that exclude each other, as far as code can read them: marks that accept both do not make them agree.

Two claims are compared where both quote one passage, or where they are about one matter (`matter`).

    amounts    no amount of one kind is the same, "at least" stands against "at most", or one is a share, a sum or a
               multiple and the other another of these. Of times in units that do not convert, only on one matter
    no limit   one says that there is no limit, of nothing special, and the other has one
    dates      none may be the same day
    denial     one denies the other, or has the opposite of one of its words
    periods    the same amount for another period
    parties    the same of other parties, or of the same ones in exchanged parts
    duties     may against must, need not against must, and so on
    scope      "only" against a whole that has more, "only" of other things, a whole against an exception
    answers    yes against no

Different amounts or dates that all stand in the quoted passages belong to different parts of them, unless the claims
have the same words otherwise. Answers are compared sentence by sentence, with each other and with claims. Their first
sentences answer one question, so amounts of one kind in them are of one matter if half of the words are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from service.checks.consensus.matter import (
    LIMIT_STEMS,
    NEAR,
    ROLE_STEMS,
    SAME_MATTER,
    WHOLE,
    Compared,
    are_exchanged,
    is_one_matter,
    matter_of,
    named,
    one_passage,
    shared,
    turned,
)
from service.checks.consensus.measures import (
    UNLIMITED,
    Amount,
    are_alternative,
    are_comparable,
    are_other_times,
    is_same,
    kind_of,
)
from service.checks.consensus.readings import Date, Reading, reading, stem
from service.checks.consensus.sense import conflict, opener
from service.checks.consensus.vocabulary import ENDLESS
from service.checks.patterns import lazily
from service.debate.whose import by_tenant

DENIED_LEAST = 400
"""The least share of the longer claim's words, per mille, that a denial without a passage has."""
MOST_SENTENCES = 60
"""The most sentences of an answer that are compared, so that a long one cannot hold a worker."""
APPLYING = frozenset(map(stem, "apply applies cover covers extend extends reach reaches affect affects".split()))
"""Words of what a limit does; with a negation they name what stands outside of it."""
_ENDLESS_STEMS = frozenset(map(stem, ENDLESS)) | {"limit"}
_SENTENCE = lazily(r"(?<=[.!?;])\s+(?=\W*[A-Z])|\n+")
Facts = frozenset[Amount | Date]


class _Pair(NamedTuple):
    """Two readings; ``known`` are the amounts and dates of a common passage, and `None` without one."""

    here: Reading
    there: Reading
    known: Facts | None

    @property
    def same(self) -> bool:
        """Whether both are about one matter."""
        return self._shares(SAME_MATTER)

    @property
    def near(self) -> bool:
        """Whether claims on one passage have half of the shorter's words, or both are about one matter."""
        return self._shares(NEAR)

    def _shares(self, least: int) -> bool:
        on_passage = self.known is not None and shared(self.here, self.there) >= least
        return on_passage or is_one_matter(self.here, self.there)

    def differ(self, facts: list[tuple[Amount, Amount]] | list[tuple[Date, Date]]) -> bool:
        """Whether these facts, of which none is the same, exclude each other."""
        if self.known is None:
            return self.same
        stated = all(fact._replace(bound="") in self.known for pair in facts for fact in pair)
        return not stated or self.near


@by_tenant(most=1 << 14)
def opposed(one: Compared, other: Compared) -> bool:
    """Whether two claims exclude each other."""
    known = _known(one) | _known(other) if one_passage(one, other) else None
    return _opposed(_Pair(reading(one.text), reading(other.text), known))


@by_tenant(most=1 << 10)
def contrary(answer: str, other: str, *, predicts: bool = False) -> bool:
    """Whether two answers to one question exclude each other.

    Where the question is a prediction, percentages are not compared: its interval is a member of its own.
    """
    openers = {opener(answer.casefold()), opener(other.casefold())}
    if openers == {"yes", "no"}:
        return True
    mine, theirs = _sentences(answer, predicts), _sentences(other, predicts)
    if any(_opposed(_Pair(here, there, None)) for here in mine for there in theirs):
        return True
    return bool(mine and theirs) and _other_figure(mine[0], theirs[0])


@by_tenant(most=1 << 13)
def contradicts(answer: str, claim: Compared, *, predicts: bool = False) -> bool:
    """Whether a sentence of an answer excludes a claim."""
    there = _read(claim.text, predicts)
    return any(_opposed(_Pair(here, there, None)) for here in _sentences(answer, predicts))


@by_tenant(most=1 << 10)
def _sentences(text: str, predicts: bool) -> tuple[Reading, ...]:
    return tuple(_read(part, predicts) for part in _SENTENCE.split(text.strip())[:MOST_SENTENCES] if part)


@by_tenant(most=1 << 12)
def _read(text: str, predicts: bool) -> Reading:
    said = reading(text)
    if not predicts:
        return said
    return replace(said, amounts=frozenset(a for a in said.amounts if kind_of(a.unit) != "ratio"))


def _opposed(pair: _Pair) -> bool:
    if pair.known is None and _are_strangers(pair.here, pair.there):
        return False
    return (
        _other_amounts(pair)
        or _limitless(pair.here, pair.there)
        or _limitless(pair.there, pair.here)
        or _other_dates(pair)
        or _denied(pair)
        or _other_periods(pair)
        or _other_parties(pair)
        or (conflict(pair.here.sense.duties, pair.there.sense.duties) and pair.same)
        or _other_scope(pair)
        or _other_answer(pair)
    )


def _are_strangers(here: Reading, there: Reading) -> bool:
    """Whether two claims without a passage have no word of their matters in common, which all rules but two need."""
    mine, theirs = matter_of(here), matter_of(there)
    if not mine or not theirs or not mine.isdisjoint(theirs) or (here.sense.answer and there.sense.answer):
        return False
    return not any(amount.value == UNLIMITED for amount in (*here.amounts, *there.amounts))


def _known(claim: Compared) -> Facts:
    """The amounts and dates of the passages that a claim quotes, without their bounds."""
    found: set[Amount | Date] = set()
    for passage in claim.passages:
        said = reading(passage)
        found |= {amount._replace(bound="") for amount in said.amounts}
        found |= {date._replace(bound="") for date in said.dates}
    return frozenset(found)


def _other_amounts(pair: _Pair) -> bool:
    here, there = pair.here, pair.there
    if not here.amounts or not there.amounts or (pair.known is None and not pair.same):
        return False
    every = [(a, b) for a in here.amounts for b in there.amounts]
    pairs = [(a, b) for a, b in every if are_comparable(a, b) or (are_other_times(a, b) and pair.near)]
    if _exempts(here) != _exempts(there):
        # "The cap of EUR 2 million does not apply to fraud" goes with "for fraud there is no cap".
        pairs = [(a, b) for a, b in pairs if UNLIMITED not in (a.value, b.value)]
    clashing = [(a, b) for a, b in pairs if is_same(a, b) and {a.bound, b.bound} == {"least", "most"}]
    if clashing and (pair.known is not None or pair.same):
        return True
    kinds: dict[str, list[tuple[Amount, Amount]]] = {}
    for a, b in pairs:
        kinds.setdefault(kind_of(a.unit) or kind_of(b.unit), []).append((a, b))
    other = [found for found in kinds.values() if not any(is_same(a, b) for a, b in found)]
    agreed = len(other) < len(kinds)
    if any(pair.same if agreed else pair.differ(found) for found in other):
        return True
    alternative = any(are_alternative(a, b) for a, b in every)
    return alternative and not kinds and pair.same and bool(here.vocabulary & there.vocabulary)


def _exempts(said: Reading) -> bool:
    """Whether a claim says that something does not apply."""
    return said.negations % 2 == 1 and bool(APPLYING & said.vocabulary)


def _limitless(one: Reading, other: Reading) -> bool:
    """Whether one claim says that there is no limit, of nothing special, and the other names a limit."""
    endless = any(amount.value == UNLIMITED for amount in one.amounts) and one.negations % 2 == 0
    if not endless or any(amount.value == UNLIMITED for amount in other.amounts) or other.negations % 2:
        return False
    capped = any(a.bound == "most" and kind_of(a.unit) in ("money", "ratio", "factor") for a in other.amounts)
    special = {word for word in matter_of(one) if word not in _ENDLESS_STEMS and word not in ROLE_STEMS}
    special -= {stem("liability"), stem("liable")}
    return (capped or bool(LIMIT_STEMS & other.vocabulary)) and special <= other.vocabulary


def _other_figure(here: Reading, there: Reading) -> bool:
    """Whether the first sentences of two answers name other figures of one kind."""
    pairs = [(a, b) for a in here.amounts for b in there.amounts if are_comparable(a, b) or are_other_times(a, b)]
    if not pairs or any(is_same(a, b) for a, b in pairs) or _exempts(here) != _exempts(there):
        return False
    mine, theirs = matter_of(here), matter_of(there)
    shorter = min(len(mine), len(theirs))
    return len(mine & theirs) * WHOLE >= NEAR * shorter


def _other_dates(pair: _Pair) -> bool:
    dates = [(a, b) for a in pair.here.dates for b in pair.there.dates if (a.day < 0) == (b.day < 0)]
    clashing = any(_fits(a, b) and {a.bound, b.bound} == {"least", "most"} for a, b in dates)
    if clashing and (pair.known is not None or pair.same):
        return True
    return bool(dates) and not any(_fits(a, b) for a, b in dates) and pair.differ(dates)


def _fits(one: Date, other: Date) -> bool:
    """Whether two dates may be the same day; a part that is not named fits any."""
    return all(a == b or not a or not b for a, b in zip(one[:3], other[:3], strict=True))


def _denied(pair: _Pair) -> bool:
    """Whether one of two claims on one matter denies the other, or has the opposite of one of its words."""
    here, there = pair.here, pair.there
    if pair.known is None:
        opposite = turned(here, there)
        return _denies(here, there) or (bool(opposite) and is_one_matter(here, there, opposite))
    if here.negations % 2 != there.negations % 2:
        return pair.same
    return bool(turned(here, there)) and pair.near


def _denies(here: Reading, there: Reading) -> bool:
    """Whether one claim denies the other without a passage. The denial may not have words of its own: "the cap does not
    apply to fraud" is an exception to "the cap applies", and no denial."""
    denials = [(said.negations - said.limiting) % 2 for said in (here, there)]
    if denials[0] == denials[1]:
        return False
    denying, denied = (matter_of(said) for said in ((here, there) if denials[0] else (there, here)))
    both = len(denying & denied) * WHOLE
    return bool(both) and both >= SAME_MATTER * len(denying) and both >= DENIED_LEAST * len(denied)


def _other_periods(pair: _Pair) -> bool:
    here, there = pair.here.periods, pair.there.periods
    if not here or not there or here & there:
        return False
    amounts = any(is_same(a, b) for a in pair.here.amounts for b in pair.there.amounts)
    return pair.same or (amounts and pair.known is not None)


def _other_parties(pair: _Pair) -> bool:
    """Whether the same is said of other parties, or of the same ones in exchanged parts.

    Without a passage, only the usual words for parties are compared: other names may be those of another matter.
    """
    here, there = pair.here, pair.there
    if here.is_passive != there.is_passive:
        return False
    if are_exchanged(here, there):
        return pair.same
    mine, theirs = named(here) - there.vocabulary, named(there) - here.vocabulary
    if pair.known is None and not mine | theirs <= ROLE_STEMS:
        return False
    rest, others = here.vocabulary - named(here), there.vocabulary - named(there)
    return bool(mine and theirs and rest and rest == others)


def _other_scope(pair: _Pair) -> bool:
    here, there = pair.here, pair.there
    return (
        _narrows(pair, here, there) or _narrows(pair, there, here) or _takes_out(here, there) or _takes_out(there, here)
    )


def _takes_out(one: Reading, whole: Reading) -> bool:
    """Whether one claim has an exception to what the other says without any."""
    if not whole.sense.is_universal or whole.sense.excepts or not one.sense.excepts or one.sense.is_universal:
        return False
    mine, theirs = matter_of(whole), matter_of(one)
    both = len(mine & theirs) * WHOLE
    return bool(both) and both >= SAME_MATTER * len(mine) and both >= DENIED_LEAST * len(theirs)


def _narrows(pair: _Pair, one: Reading, whole: Reading) -> bool:
    """Whether one claim limits to some things what the other says of a whole, or only of others.

    On one passage, a claim without "all" is a whole too.
    """
    focus = set(one.sense.only) & one.vocabulary
    own = focus - whole.vocabulary
    if not own or (pair.known is None and not (whole.sense.is_universal or whole.sense.only)):
        return False
    theirs = set(whole.sense.only) & whole.vocabulary
    if theirs and theirs <= one.vocabulary:
        return False  # the same things, of which one claim says more
    rest, others = one.vocabulary - own, whole.vocabulary - (theirs - one.vocabulary)
    both, least = len(rest & others) * WHOLE, min(len(rest), len(others))
    return bool(both) and both >= SAME_MATTER * least and (pair.known is not None or both >= NEAR * len(rest | others))


def _other_answer(pair: _Pair) -> bool:
    if {pair.here.sense.answer, pair.there.sense.answer} != {"yes", "no"}:
        return False
    return (
        pair.known is not None
        or pair.same
        or shared(pair.here, pair.there) >= NEAR
        or bool(turned(pair.here, pair.there))
    )
