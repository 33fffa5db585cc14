"""Numbers and codes as reports write them: per cent with one decimal, differences in points, exact amounts."""

from __future__ import annotations

from service.debate.amounts import MicroUSD, usd
from service.evaluation.scoring.critic import UNUSABLE
from service.evaluation.scoring.grid import NOT_SCORED
from service.evaluation.scoring.lift import TIED
from service.evaluation.scoring.moderator import UNDECIDED
from service.evaluation.scoring.observed_types import NONE_IN_WORDS
from service.evaluation.scoring.result import Because, WhyExploratory

UNDEFINED = "undefined"
"""A figure that has no value: it is never written as 0."""


def per_cent(share: float | None) -> str:
    """A share as per cent: ``0.625`` is ``62.5 %``."""
    return UNDEFINED if share is None else f"{share * 100:.1f} %"


def points(difference: float | None) -> str:
    """A difference of shares with its sign, in percentage points."""
    return UNDEFINED if difference is None else f"{difference * 100:+.1f} points"


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """An interval of shares, or of differences where it is ``signed``."""
    if low is None or high is None:
        return UNDEFINED
    return f"{low * 100:+.1f} to {high * 100:+.1f} points" if signed else f"{low * 100:.1f} to {high * 100:.1f} %"


def number(value: float | None, digits: int = 2) -> str:
    """A plain number."""
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value: the last digits of a small one say nothing."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def dollars(amount: MicroUSD) -> str:
    """An amount in US dollars, exactly."""
    return f"{usd(amount)} USD"


def ordinal(n: int) -> str:
    """A place in a row: 1st, 2nd, 3rd, 11th."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


MISSING: dict[str, str] = {
    **{str(why): words for why, words in NONE_IN_WORDS.items()},
    NOT_SCORED: "the evaluation ended before it",
    TIED: "its repeats gave several answers and none led",
    UNUSABLE: "there is no readable critique",
    UNDECIDED: "there is no readable moderation",
}
"""Why an answer is missing, in words."""

BECAUSE: dict[Because, str] = {
    "nothingDiffers": "the two arms were right and wrong on the same items",
    "pAboveAlpha": "the adjusted p is above the registered alpha",
    "intervalHoldsZero": "the interval of the difference holds 0",
    "belowMargin": "the difference is under the registered margin",
    "missingAboveLimit": "more answers are missing in an arm than the plan allows",
    "groupsDisagree": "the tests over whole groups do not agree",
    "hitsTooLow": "the lower bound of the hit rate is too low",
    "alarmsTooHigh": "the upper bound of the false alarms is too high",
    "ratingTooLow": "the critic's mean rating of itself is too low, or there is none",
    "unusableTooMany": "too many answers are missing or unreadable",
    "familyMissed": "the upper bound of the hits of a family is too low",
    "tooFewCases": "too few cases are decided",
    "noCases": "there is no case",
}

EXPLORATORY: dict[WhyExploratory, str] = {
    "planSaysSo": "the plan says so",
    "planChanged": "the plan was changed after the first score",
    "openSplit": "the items are of a split that is open for work on prompts",
    "wornSet": "a set was looked at too often",
}

FAMILY: dict[str, str] = {
    "misreadFigure": "misread figure",
    "deadlineOrDate": "deadline or date",
    "dutyAgainstRight": "duty taken for right",
    "partiesSwapped": "parties swapped",
    "exceptionLeftOut": "exception left out",
    "contradictingClause": "contradicting clause elsewhere",
    "arithmeticOrUnit": "arithmetic or unit",
    "beyondPremises": "conclusion beyond its premises",
    "supersededVersion": "superseded version",
}

LIMIT: dict[str, str] = {
    "hits": "lower bound of the hits at least",
    "alarms": "upper bound of the false alarms at most",
    "family": "upper bound of a family's hits above",
    "rating": "mean own rating above",
    "unusable": "share of unusable answers at most",
}
"""The rules of a critic's release, as words before their limit."""

ASPECT: dict[str, str] = {
    "position": "the place in which a side is shown",
    "side": "a side",
    "length": "the longer side",
    "family": "the side of its own model family",
    "confident": "the side with the more confident wording",
    "citations": "the side with more verified quotations",
}
