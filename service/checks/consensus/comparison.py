"""Two claims beside each other: whether they say the same, as far as code can read it.

    alike     both quote one passage; amounts, dates, periods, parties, negations, duties and scope are the same; the
              words of one are all in the other, which has few more, in the same order, and none of them names a
              special case ("the limit for data loss"); they name no different clauses. Claims without marks are alike
              only so
    near      the same readings, and one passage or half of the shorter's words: for claims that no voice contests
    opposed   they exclude each other (`opposition`)
    apart     anything else: about another matter, or in words that code cannot compare

Words can only keep claims apart; they never make them alike. The rules err towards another round: a paraphrase is
apart, and debaters then mark it.
"""

from __future__ import annotations

from service.checks.consensus.matter import (
    NEAR,
    WHOLE,
    Compared,
    are_exchanged,
    in_order,
    one_passage,
    shared,
    turned,
)
from service.checks.consensus.measures import are_equal
from service.checks.consensus.readings import Reading, reading

ALIKE = 600
"""The least share of the longer claim's words, per mille, that an alike one has."""


def alike(one: Compared, other: Compared) -> bool:
    """Whether two claims say the same of one passage."""
    here, there = reading(one.text), reading(other.text)
    if not (one_passage(one, other) and _same_readings(here, there)):
        return False
    if here.places and there.places and not here.places & there.places:
        return False
    (_, shorter), (said, longer) = sorted(
        ((one, one.vocabulary) for one in (here, there)), key=lambda each: len(each[1])
    )
    both = here.vocabulary & there.vocabulary
    ordered = in_order(here.words, both) == in_order(there.words, both)
    close = shorter <= longer and len(shorter) * WHOLE >= ALIKE * len(longer)
    return close and ordered and said.special.isdisjoint(longer - shorter)


def near(one: Compared, other: Compared) -> bool:
    """Whether two claims, which their readers accept, state the same."""
    here, there = reading(one.text), reading(other.text)
    return _same_readings(here, there) and (one_passage(one, other) or shared(here, there) >= NEAR)


def _same_readings(here: Reading, there: Reading) -> bool:
    words = here.vocabulary & there.vocabulary
    return (
        are_equal(here.amounts, there.amounts)
        and (here.dates, here.periods, here.negations, here.sense)
        == (there.dates, there.periods, there.negations, there.sense)
        and {*here.parties} - words <= there.vocabulary
        and {*there.parties} - words <= here.vocabulary
        and not are_exchanged(here, there)
        and not turned(here, there)
    )
