"""What a model with known faults takes for right in a case that it knows: a first answer, and a later turn's.

    a first answer    right in `accuracy` of the cases; the draw is common to all models in `correlation` of them
    a later turn      a wrong first answer becomes right in `mended`, a right one wrong in `broken` of the cases; these
                      draws are common in the same cases
    with a confidence where a reply states one and `true_rate` is given: right in that share of the cases

Two models with one accuracy and correlation 1 have one answer in every case. A seat that decides takes its later turn
after a first answer that it would have given itself.
"""

from __future__ import annotations

from typing import NamedTuple

from service.debate.replies import ConfidenceLevel
from service.policy.known_faults import FaultShares
from service.simulated.draws import WHOLE, draw, happens
from service.simulated.known_cases import KnownCase

_HIGH, _MODERATE = 800, 500


class Who(NamedTuple):
    """Who draws: the model by its name, and its seat, which tells several debaters of one model apart."""

    model: str
    seat: str


def right(shares: FaultShares, who: Who, case: KnownCase, *, later: bool, states: bool) -> bool | None:
    """Whether the model is right in this case; ``None`` where it is as one without faults.

    ``later`` says that others were heard before, ``states`` that the reply states a confidence.
    """
    own = _drawing(shares, who, case)
    if states and shares.true_rate is not None:
        return happens(shares.true_rate, "answer", *own)
    if shares.accuracy is None:
        return None
    first = happens(shares.accuracy, "answer", *own)
    if not later:
        return first
    return not happens(shares.broken, "broken", *own) if first else happens(shares.mended, "mended", *own)


def answer(case: KnownCase, *, is_right: bool) -> str:
    """The answer of the closed list: the labelled one, or one of the others, the same for all models."""
    wrong = [one for one in case.line.answers if one != case.line.answer]
    if is_right or not wrong:
        return case.line.answer
    return wrong[draw("wrong", case.shown) % len(wrong)]


def level(confidence: int) -> ConfidenceLevel:
    """The level that stands for a stated confidence: HIGH from 0.8, MODERATE from 0.5."""
    return "HIGH" if confidence >= _HIGH else "MODERATE" if confidence >= _MODERATE else "LOW"


def per_cent(confidence: int) -> int:
    """A stated confidence in per cent."""
    return confidence * 100 // WHOLE


def _drawing(shares: FaultShares, who: Who, case: KnownCase) -> tuple[str, ...]:
    """Of whom a draw is: of all models together in the share of cases that are common, else of this one."""
    common = happens(shares.correlation, "common", who.model, who.seat, case.shown)
    return ("", "", case.shown) if common else (who.model, who.seat, case.shown)
