"""The moderator with known faults: what it concludes in a case that it knows.

    a pull     in a set share of cases it decides for the side that is shown first, for the longer one, or for the one
               of its own family, whatever is right; a case has one pull at most
    no pull    right or wrong as `faulty_answers` says

The side that is shown first and the longer one are read from the statements. Which one is of the moderator's family is
said by the key alone, because no request names a family.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from service.debate.replies import Conclusion
from service.policy.known_faults import FaultShares
from service.simulated.draws import draw
from service.simulated.faulty_answers import Who, right
from service.simulated.known_cases import KnownCase
from service.simulated.request_reader import Reading, ShownTurn

Side = Literal["proposer", "critic"]
_FOR: dict[Side, Conclusion] = {"proposer": "upheld", "critic": "rejected"}
_HOLDS = {"critic": "sound", "pairs": "upheld"}
_OPPOSITE: dict[Conclusion, Conclusion] = {"upheld": "rejected", "rejected": "upheld"}


def decided(reading: Reading, shares: FaultShares, who: Who, case: KnownCase) -> Conclusion | None:
    """The conclusion, or ``None`` where the moderator decides as one without faults."""
    if reading.positions:
        return None
    if side := _pulled_to(reading, shares, who, case):
        return _FOR[side]
    is_right = right(shares, who, case, later=True, states=True)
    if is_right is None:
        return None
    return true_conclusion(case) if is_right else _OPPOSITE[true_conclusion(case)]


def true_conclusion(case: KnownCase) -> Conclusion:
    """What is right of the proposition of a case."""
    line = case.line
    return "upheld" if line.answer == (line.states or _HOLDS[line.kind]) else "rejected"


def _pulled_to(reading: Reading, shares: FaultShares, who: Who, case: KnownCase) -> Side | None:
    """The side that a pull decides for; ``None`` for no pull, and where no side has what pulls."""
    drawn = draw("pull", who.model, who.seat, case.shown)
    for share, side in (
        (shares.first_slot_pull, _shown_first(reading)),
        (shares.length_pull, _longer(reading)),
        (shares.family_pull, case.line.favours if case.line.feature == "family" else ""),
    ):
        if drawn < share:
            return side or None
        drawn -= share
    return None


def _is_critique(said: ShownTurn) -> bool:
    """Whether a statement attacks others: its arguments alone have a place for what they are against."""
    arguments = said.body.get("arguments")
    return isinstance(arguments, list) and any(isinstance(a, dict) and "against" in a for a in arguments)


def _shown_first(reading: Reading) -> Side | Literal[""]:
    """The side of the first statement that opens or attacks; a rebuttal, which has its own place, does not count."""
    first = next((said for said in reading.statements if not said.replies), None)
    return "" if first is None else "critic" if _is_critique(first) else "proposer"


def _longer(reading: Reading) -> Side | Literal[""]:
    """The side with more characters in its theses and arguments, also of its rebuttal; neither of two with as many."""
    length = Counter[str]()
    for said in reading.statements:
        side = "critic" if _is_critique(said) else "proposer"
        length[side] += len(said.thesis) + sum(len(a.text) for a in (*said.arguments, *said.concessions))
    if length["critic"] == length["proposer"]:
        return ""
    return "critic" if length["critic"] > length["proposer"] else "proposer"
