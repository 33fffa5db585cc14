"""What the simulated models argue in a case without documents: general considerations, which any question admits.

They have no knowledge, so these are all that they can say: for a proposition, against it, and for a question that takes
no side. A family begins at a place of its own in the list, and a seat repeats none that it was shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.simulated.passage_choice import Desk
from service.simulated.propositions import lowered

FOR = (
    "waiting has a price too, because whatever depends on an open question is held up until it is closed",
    "a small first step would show early whether it holds, so that little has to be risked before more is known",
    "the usual objections concern how it is done and not whether, hence conditions can meet them",
    "those who would have to live with it are the first to notice a fault, therefore an error would not stay hidden",
    "where an outcome can be undone, a mistake costs a correction and not the whole stake",
    "no better course has been shown, and a gain that is forgone is a loss as well",
    "what has worked in like circumstances deserves more trust, since the causes behind it are the same",
    "a plain course leaves less room for slips, because fewer people have to do the right thing at once",
)
"""Considerations for a proposition."""
AGAINST = (
    "nothing shows that it was tested, and an untested expectation fails first in the hardest case",
    "the cost comes at once and is certain, whereas the gain comes later and may not come",
    "if it goes wrong, others than those who decide bear the damage, so the price looks lower to them than it is",
    "it closes off alternatives for a time, and none of them has been weighed against it",
    "it assumes that present circumstances last, because every plan is made in those that it knows",
    "no limit is named at which it would be stopped, hence an error would run on until it hurts",
    "the people on whom it depends have other duties, therefore part of it would be left undone",
    "a rare event with grave consequences is left out of the reckoning, since it has not happened yet",
)
"""Considerations against it."""
OPEN = (
    "what counts as an answer has to be fixed first, because two readings of the question have two answers",
    "the strongest effect deserves to be named before the others, since small ones can cancel each other",
    "averages hide groups for which the opposite holds, so that an answer has to say for whom it is meant",
    "causes and companions are easily confused, hence what merely goes together should not be given as a reason",
    "what is measured often differs from what matters, therefore a figure alone would not settle it",
    "an answer that was right may have aged, because the circumstances behind it change",
    "a finding that is reported was chosen among others, so that silence about the rest proves nothing",
    "a view that cannot say what would refute it says little, since it fits every outcome",
)
"""Considerations for a question without yes or no."""
IDEAS = (
    "Try the smallest version of it with a few people, and measure one figure before and after.",
    "Ask those who left or refused for their reason, and answer that reason in public.",
    "Turn a cost that others hide into a promise, because a plain price is remembered.",
    "Give away the first result instead of a description of it, so that people judge by use.",
    "Let users of long standing show newcomers around, and reward both for it.",
    "Do the opposite of the custom in one region for a month, and compare.",
    "Build on an event that happens anyway, since its audience is already there.",
    "Offer it together with something that has the same buyers and another seller.",
)
"""Ideas for a brainstorm."""
_BEGINS: Mapping[str, int] = {"alder": 0, "birch": 2, "cedar": 4}
_SIDES: Mapping[int, tuple[str, ...]] = {1: FOR, -1: AGAINST, 0: OPEN}


def considerations(desk: Desk, side: int, most: int) -> list[str]:
    """At least one and at most ``most`` considerations for a side, as sentences; 0 stands for both sides.

    The first says what it is about. A question without yes or no has considerations of its own.
    """
    if not desk.wanted.proposition.settled and not desk.reading.stance:
        found = _fresh(desk, OPEN)
    elif side:
        found = _fresh(desk, _SIDES[side])
    else:
        found = [text for pair in zip(_fresh(desk, FOR), _fresh(desk, AGAINST), strict=False) for text in pair]
    first, *more = found[: max(1, most)]
    return [f"{_about(desk)}: {first}.", *(f"{text[:1].upper()}{text[1:]}." for text in more)]


def ideas(desk: Desk) -> list[str]:
    """The ideas of a family, those first that no seat has put forward."""
    return _fresh(desk, IDEAS)


def side_of(text: str) -> int:
    """The side for which a consideration speaks: 1, -1, or 0 for neither or for a text that is none."""
    flat = text.casefold()
    return next((side for side, known in _SIDES.items() if any(one in flat for one in known)), 0)


def _about(desk: Desk) -> str:
    if stance := desk.reading.stance.strip().rstrip("."):
        return f"On the stance {stance}"
    if not desk.wanted.proposition.settled:
        return f"On the question {desk.reading.question.strip().rstrip('?')}"
    return f"On whether {lowered(desk.wanted.proposition.thesis).rstrip('.')}"


def _fresh(desk: Desk, known: tuple[str, ...]) -> list[str]:
    """The list from the family's own place on; what was said already comes last."""
    begin = _BEGINS[desk.strategy.family]
    turned = (*known[begin:], *known[:begin])
    said = " ".join(a.text.casefold() for s in desk.reading.statements for a in s.arguments)
    return sorted(turned, key=lambda text: text.casefold() in said)
