"""The events that a format adds to the stream, and those that have a shape of its own (`Stream`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from service.debate.entries import BudgetRefused, CheckFound, DebateStarted, TurnAsked, TurnGiven, TurnSilent, TurnSpoke
from service.debate.findings import ConsensusFound
from service.debate.formats import FormatName, complete_formats
from service.debate.options import Options, PanelOptions, format_of
from service.debate.panel_answers import DEVIL_FROM
from service.debate.replies import Adjudication
from service.debate.turns import SCREENER, round_of
from service.report.events import panel, replies
from service.report.events.replies import NamedEvent
from service.report.events.speakers import debaters_of
from service.report.events.types import RoundStartedEvent
from service.report.result.history import History
from service.report.result.summary import View
from service.report.result.types import Line, Result

NamedEvents = tuple[NamedEvent, ...]


class Stream(NamedTuple):
    """A format's own part of the stream.

    before_asked    events before an attempt, or a given reply
    said            a reply
    measured        the event of a check of consensus
    settled         events after an entry that settles a round
    final           the last event in the shape of the format's reference, with a view of the result, or ``None``
    """

    before_asked: Callable[[Line, TurnAsked | TurnGiven, str, Sequence[Line]], NamedEvents]
    said: Callable[[Line, TurnSpoke, str, History], NamedEvent]
    measured: Callable[[Line, CheckFound, ConsensusFound, str, Options], NamedEvents]
    settled: Callable[[Line, str, Sequence[Line]], NamedEvents]
    final: Callable[[Line, Result, View], Struct | None]


def _nothing(*_: object) -> NamedEvents:
    return ()


def _plain(*_: object) -> None:
    """``None``: the shape that all formats share."""


PLAIN = Stream(before_asked=_nothing, said=replies.of_debaters, measured=_nothing, settled=_nothing, final=_plain)
"""A format without further events and shapes of its own, in which debaters alone reply."""


# Convergence.


def _round_started(line: Line, entry: TurnAsked | TurnGiven, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    """The event that a round of convergence begins, before the first of its debaters is asked."""
    begun = (known.entry for known in before if isinstance(known.entry, TurnAsked | TurnGiven))
    r, asked = round_of(entry.turn), [one.turn for one in begun if one.turn != SCREENER]
    options = options_among(before)
    if options is None or entry.turn == SCREENER or r in map(round_of, asked):
        return ()
    event = RoundStartedEvent(
        debate_id=debate_id, n=line.n, at=line.at, round=r, independent=r == 0, debaters=debaters_of(History(before))
    )
    return (("debate.round_started", event),)


# A panel.


def _measured(line: Line, entry: CheckFound, found: ConsensusFound, debate_id: str, options: Options) -> NamedEvents:
    """The event of code's measures, if they are not yet the standing: a model scores it, or objections are answered."""
    if not isinstance(options, PanelOptions):
        return ()
    awaited = found.unanswered and entry.check == f"{options.max_rounds}/consensus" and options.max_rounds >= DEVIL_FROM
    waits = options.adjudicator == "model" or awaited
    return (("measured", panel.measured(line, entry, found, debate_id)),) if waits else ()


def _settled(line: Line, debate_id: str, before: Sequence[Line]) -> NamedEvents:
    """The event of a panel's consensus after a round, after the event of the entry that settles it."""
    match line.entry:
        case CheckFound() as entry:
            settles = isinstance(entry.finding, ConsensusFound)
        case TurnSpoke() | TurnGiven() as entry:
            settles = isinstance(entry.reply, Adjudication)
        case other:
            settles = isinstance(other, TurnSilent | BudgetRefused)
    found = panel.consensus_event(line, debate_id, History([*before, line]), History(before)) if settles else None
    return (("consensus", found),) if found else ()


def _ended(line: Line, concluded: Result, view: View) -> Struct:
    return panel.ended(concluded, line.n, line.at, view)


STREAMS: Mapping[FormatName, Stream] = complete_formats(
    {
        "adversarial": PLAIN._replace(said=replies.adversarial),
        "stances": PLAIN._replace(said=replies.stances),
        "ballot": PLAIN,
        "panel": Stream(before_asked=_nothing, said=panel.said, measured=_measured, settled=_settled, final=_ended),
        "convergence": PLAIN._replace(before_asked=_round_started, said=replies.convergence),
    },
    "events",
    __file__,
)


def stream_of(options: Options | None) -> Stream:
    """The stream of a debate with these options; a plain one for a debate that has not started."""
    return STREAMS[format_of(options)] if options else PLAIN


def options_among(lines: Sequence[Line]) -> Options | None:
    """The options in these lines' `debate.started`."""
    return next((known.entry.options for known in lines if isinstance(known.entry, DebateStarted)), None)
