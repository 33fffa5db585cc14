"""What differs from format to format when a debate is told (`Telling`): each format fills one of these.

The rest of ``report`` assembles results and pages, and asks this record wherever formats differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from service.debate.model import Outcome, TurnId
from service.debate.replies import Closing, Reply
from service.report.document.blocks import Block, Fact
from service.report.result.history import History
from service.report.result.types import Argument, Result, RoundDetail, RoundRecord, Spoken

ORDER = "orderSensitive"
"""The flag of a debate in which the order of presentation decided."""


class Given(NamedTuple):
    """What a debater's turn says beside its arguments, as far as the format has it."""

    name: str | None = None
    stance: str | None = None
    vote: str | None = None
    answer: str | None = None
    confidence: int | None = None


class Own(NamedTuple):
    """The members of a result that some formats alone have."""

    rounds: tuple[RoundRecord, ...] = ()
    round_details: tuple[RoundDetail, ...] = ()
    ballot_report: str | None = None
    raw: dict[str, Any] | None = None


class Telling(NamedTuple):
    """How a format is told. The first half is read from the record, the second half is words and blocks of a report.

    label           the neutral label under which others see a debater: one in the whole debate, whatever the turn
    blind           whether a turn came before its debater had seen anything of another
    first_draft     the turns before anything was challenged: they show what the debate changed
    given           what a debater's turn says beside its arguments
    closing         what the seat that closes the debate made of it, as it was asked first
    synthesis       what that seat concluded, in its words; ``None`` where nothing stands
    own             the members of the result that this format alone has

    title           of the report
    by_rounds       whether seats speak in the round records of EAAPL-MAG005, and not in a transcript
    decider         the seat that the confidence is from, before rules lower it; empty where votes decide
    order_decides   whether the order of presentation alone can leave the debate without a decision
    diversity       the words for how far apart the models are
    saw             what those who weigh the debate saw of the debaters' names
    headline        the decision in one line; ``None`` where there is none
    facts           what stands under the headline
    untested        why what was decided was not tested by any seat; ``None`` where it was, or nothing was decided
    parameters      the options that shaped the debate, but for the rounds and the second look of the decider
    who             a debater, as a report names it
    measured        the parts about votes, consensus or answers
    argued          the parts about what was argued, round by round
    cited           everything that was argued, by the name of who argued it
    against         the part about what was held against the decision
    """

    label: Callable[[History, str], str]
    blind: Callable[[TurnId], bool]
    first_draft: Callable[[History], tuple[TurnId, ...]]
    given: Callable[[History, TurnId, Reply], Given]
    closing: Callable[[History, Outcome], Closing | None]
    synthesis: Callable[[Outcome, Closing | None], str | None]
    own: Callable[[History, str, Outcome | None, tuple[Spoken, ...]], Own]

    title: str
    by_rounds: bool
    decider: str
    order_decides: bool
    diversity: Mapping[str, str]
    saw: Callable[[Any], str]
    headline: Callable[[Result], str | None]
    facts: Callable[[Result], Iterator[Fact]]
    untested: Callable[[Result], str | None]
    parameters: Callable[[Any], Iterator[Fact]]
    who: Callable[[Spoken], str]
    measured: Callable[[Result], Iterator[Block]]
    argued: Callable[[Result], Iterator[Block]]
    cited: Callable[[Result], Mapping[str, Sequence[Argument]]]
    against: Callable[[Result], Iterator[Block]]
