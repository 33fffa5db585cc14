"""What a model with known faults takes for right in a case that it knows: a first answer, and later turns.

    a first answer    right in `accuracy` of the cases; the draw is common to all models in `correlation` of them
    a later turn      a wrong answer becomes right in `mended`, a right one wrong in `broken` of the cases; these
                      draws are common in the same cases
    more later turns  each mends and breaks the answer of the one before, by a draw of its own; in `rounds_alike` of
                      the cases they share the draw of the first, so that nothing changes after it
    a confidence      where a reply states one and `true_rate` is given: right in that share of the cases
    heeding           in `heeds` of the cases a seat that decides goes by what it was shown, where that names one answer

Two models with one accuracy and correlation 1 have one answer in every case. A seat that decides takes one later turn
after a first answer that it would have given itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.debate.labels import read as named
from service.debate.replies import ConfidenceLevel
from service.policy.known_faults import FaultShares
from service.simulated.draws import WHOLE, draw, happens
from service.simulated.known_cases import KnownCase
from service.simulated.request_reader import ShownTurn

_HIGH, _MODERATE = 800, 500
_CHECKED = ("verified", "unchecked", "")
"""The verdicts of a quotation that counts: one is empty where its reader is shown none."""


class Who(NamedTuple):
    """Who draws: the model by its name, and its seat, which tells several debaters of one model apart."""

    model: str
    seat: str


def right(shares: FaultShares, who: Who, case: KnownCase, *, later: int, states: bool) -> bool | None:
    """Whether the model is right in this case; ``None`` where it is as one without faults.

    ``later`` is how many turns up to this one could change the first answer, ``states`` says that the reply states a
    confidence.
    """
    own = _drawing(shares, who, case)
    if states and shares.true_rate is not None:
        return happens(shares.true_rate, "answer", *own)
    if shares.accuracy is None:
        return None
    now = happens(shares.accuracy, "answer", *own)
    turns = min(later, 1) if happens(shares.rounds_alike, "alike", *own) else later
    for n in range(turns):
        nth = f" {n + 1}" if n else ""
        now = not happens(shares.broken, f"broken{nth}", *own) if now else happens(shares.mended, f"mended{nth}", *own)
    return now


def answer(case: KnownCase, *, is_right: bool) -> str:
    """The answer of the closed list: the labelled one, or one of the others, the same for all models."""
    wrong = [one for one in case.line.answers if one != case.line.answer]
    if is_right or not wrong:
        return case.line.answer
    return wrong[draw("wrong", case.shown) % len(wrong)]


def heeds(shares: FaultShares, who: Who, case: KnownCase) -> bool:
    """Whether a seat that decides goes by what it was shown in this case."""
    return happens(shares.heeds, "heeds", who.model, who.seat, case.shown)


def leading(case: KnownCase, said: Iterable[object]) -> str | None:
    """The answer of the closed list that most of these words name; ``None`` where two have as many, and for none."""
    counted = Counter(filter(None, (named(str(words), case.line.answers) for words in said)))
    (first, second) = (*counted.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > second[1] else None


def quotes(said: ShownTurn) -> bool:
    """Whether a statement rests on a passage."""
    return any(one.verdict in _CHECKED for argument in said.arguments for one in argument.citations)


def argued(stances: Sequence[tuple[str, ShownTurn]]) -> str | None:
    """The one stance for which a passage was quoted; ``None`` where there are several, and for none."""
    found = {stance for stance, said in stances if quotes(said)}
    return next(iter(found)) if len(found) == 1 else None


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
