"""The moderator with known faults: what it concludes in a case that it knows.

    a pull     in a set share of cases it decides for the side that is shown first, for the longer one, or for the one
               of its own family, whatever is right; a case has one pull at most
    heeds      in a set share of the others it goes by what it was shown: it rejects where every point of the critique
               was granted; or else, in a critic's case, where the critique names the planted argument on its passage,
               and in all others where the proposal rests on no passage
    neither    right or wrong as `faulty_answers` says, of the proposition as it was framed

The side that is shown first and the longer one are read from the statements. Which one is of the moderator's family is
said by the key alone, because no request names a family.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from service.debate.replies import Conclusion
from service.policy.known_faults import FaultShares
from service.simulated.draws import draw
from service.simulated.faulty_answers import Who, heeds, quotes, right
from service.simulated.faulty_sides import OPPOSITE, true_conclusion
from service.simulated.known_cases import KnownCase
from service.simulated.request_reader import Reading, ShownTurn

Side = Literal["proposer", "critic"]
_FOR: dict[Side, Conclusion] = {"proposer": "upheld", "critic": "rejected"}


def decided(reading: Reading, shares: FaultShares, who: Who, case: KnownCase) -> Conclusion | None:
    """The conclusion, or ``None`` where the moderator decides as one without faults."""
    if reading.positions:
        return None
    if side := _pulled_to(reading, shares, who, case):
        return _FOR[side]
    if heeds(shares, who, case):
        return _shown(reading, case)
    is_right = right(shares, who, case, later=1, states=True)
    if is_right is None:
        return None
    holds = true_conclusion(case, reading)
    return holds if is_right else OPPOSITE[holds]


def _shown(reading: Reading, case: KnownCase) -> Conclusion:
    """What the statements come to by themselves."""
    last = max((said.round for said in reading.statements), default=1)
    now = [said for said in reading.statements if said.round == last]
    points = {point.n for said in now if _is_critique(said) for point in said.arguments if point.n}
    granted = {one.answers[1] for said in now for one in said.concessions if one.answers}
    if points and points <= granted:
        return "rejected"
    if case.line.kind == "critic":
        return "rejected" if any(_names_planted(said, case) for said in now) else "upheld"
    opened = [said for said in now if not said.replies and not _is_critique(said)]
    return "upheld" if any(map(quotes, opened)) else "rejected"


def _names_planted(said: ShownTurn, case: KnownCase) -> bool:
    """Whether a critique attacks the planted argument with the passage that decides it."""
    quote = case.line.span.quote if case.line.span else ""
    return any(
        case.line.argument in [n for _, n in point.against] and quote in [one.quote for one in point.citations]
        for point in said.arguments
    )


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
