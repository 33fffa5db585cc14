"""The differences between formats in results and reports (`Telling`): each format fills one of these.

The rest of ``report`` assembles results and pages, and reads this record wherever formats differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from service.debate.model import Case, Outcome, Turn, TurnId
from service.debate.replies import Closing, Reply
from service.report.document.blocks import Block, Fact
from service.report.result.argument_types import Argument
from service.report.result.history import Folded, History
from service.report.result.round_types import RoundDetail, RoundRecord
from service.report.result.terms import Terms
from service.report.result.types import Result, Spoken


class Given(NamedTuple):
    """The parts of a debater's turn beside its arguments, as far as the format has them."""

    name: str | None = None
    stance: str | None = None
    vote: str | None = None
    answer: str | None = None
    confidence: int | None = None


class Own(NamedTuple):
    """The members of a result that some formats alone have."""

    rounds: tuple[RoundRecord, ...] = ()
    round_details: tuple[RoundDetail, ...] = ()


class Telling(NamedTuple):
    """The rendering of a format. The first half is read from the record, the second half is parts of a report.

    label           the neutral label under which others see a debater, the same in the whole debate
    blind           whether a turn came before its debater had seen a reply of another
    first_draft     the turns before any challenge: they show the effect of the debate
    given           the parts of a debater's turn beside its arguments
    closing         the first reply of the closing seat
    synthesis       that seat's conclusion, in its words; ``None`` if none stands
    own             the members of the result that this format alone has
    terms           the outcome in the format's own terms: ``Result.result``
    further         turns that a debate with these options on this case may ask with other texts than its roster's:
                    later phases and takes, types of the question (`service.report.result.pins`)

    title           of the report
    by_rounds       whether seats speak in the round records of EAAPL-MAG005, and not in a transcript
    decider         the seat that gave the confidence, before rules lower it; empty if votes decide
    diversity       the words for the diversity of the models
    saw             the form in which deciders saw the debaters' names
    facts           the facts under the decision
    untested        why no seat has tested the decision; ``None`` if one has, or without a decision
    parameters      the options that shaped the debate, without the rounds and the second order of the decider
    who             a debater's name in a report
    measured        the parts about votes, consensus or answers
    argued          the parts about the arguments, round by round
    cited           all arguments, by the name of their speaker
    against         the part about objections against the decision
    """

    label: Callable[[Folded, str], str]
    blind: Callable[[TurnId], bool]
    first_draft: Callable[[History], tuple[TurnId, ...]]
    given: Callable[[History, TurnId, Reply], Given]
    closing: Callable[[Folded, Outcome], Closing | None]
    synthesis: Callable[[Outcome, Closing | None], str | None]
    own: Callable[[History, str], Own]
    terms: Callable[[Folded, Outcome, tuple[Spoken, ...]], Terms | None]

    title: str
    by_rounds: bool
    decider: str
    diversity: Mapping[str, str]
    saw: Callable[[Any], str]
    facts: Callable[[Result], Iterator[Fact]]
    untested: Callable[[Result], str | None]
    parameters: Callable[[Any], Iterator[Fact]]
    who: Callable[[Spoken], str]
    measured: Callable[[Result], Iterator[Block]]
    argued: Callable[[Result], Iterator[Block]]
    cited: Callable[[Result], Mapping[str, Sequence[Argument]]]
    against: Callable[[Result], Iterator[Block]]
    further: Callable[[Any, Case], Iterable[Turn]] = lambda _, __: ()
