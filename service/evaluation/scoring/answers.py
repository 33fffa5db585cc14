"""From what a format decided to an answer of the closed list: anything else is none, with its reason.

ballot         the decision, by the name of the option (`labels.read`); so are the drafts of a vote
convergence    the final answer, folded as the format folds it (`answer_keys.folded`)
stances        the assigned stance that the judge's winner names
panel          the synthesizer's answer, where it is one of the list and nothing else
adversarial    upheld is the answer that the proposition states; rejected is the other one of two;
               modified and undecided are none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from service.debate.answer_keys import folded
from service.debate.formats import FormatName, complete_formats, name_of
from service.debate.labels import read
from service.evaluation.scoring.observed_types import Observed, WhyNone


class Answered(NamedTuple):
    """An answer of the closed list, in the list's own spelling, or why there is none."""

    answer: str | None
    why_none: WhyNone | None


def answer_of(observed: Observed, answers: Sequence[str], states: str) -> Answered:
    """The answer that a debate gave: ``answers`` is the closed list, ``states`` the one that the proposition states."""
    if observed.said is None:
        return Answered(None, observed.why_none)
    return ANSWERS[name_of(observed.format)](observed.said, answers, states)


def _listed(said: str, answers: Sequence[str], _: str) -> Answered:
    return _found(read(said, answers))


def _folded(said: str, answers: Sequence[str], _: str) -> Answered:
    key = folded(said)
    return _found(next((answer for answer in answers if folded(answer) == key), None))


def _found(answer: str | None) -> Answered:
    return Answered(answer, None if answer is not None else "notInList")


def _through_proposition(conclusion: str, answers: Sequence[str], states: str) -> Answered:
    if conclusion == "upheld":
        return Answered(states, None)
    if conclusion != "rejected":
        return Answered(None, "modified")
    others = [answer for answer in answers if answer != states]
    return Answered(others[0], None) if len(others) == 1 else Answered(None, "rejectedOfSeveral")


ANSWERS: Mapping[FormatName, Callable[[str, Sequence[str], str], Answered]] = complete_formats(
    {
        "adversarial": _through_proposition,
        "stances": _listed,
        "ballot": _listed,
        "panel": _listed,
        "convergence": _folded,
    },
    "evaluation",
    __file__,
)
"""The answer of the closed list in what a debate of each format decided, by the answer that the proposition states."""
