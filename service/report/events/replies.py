"""Replies as events, in the formats other than a panel: the name of the event, and its data.

    any format     screening, of the screener
    adversarial    round, of the moderator synthesis, swapped or masked
    stances        round, of the judge verdict, swapped or masked, of the synthesizer synthesis
    ballot         round
    convergence    debate.response, of the judge synthesis, swapped or masked

The three names with ``debate.`` are those of convergence's reference.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct

from service.debate.entries import TurnSpoke
from service.debate.options import role_of
from service.debate.replies import (
    Ballot,
    ConfidenceLevel,
    Critique,
    Framing,
    Judgement,
    Moderation,
    Projection,
    Proposal,
    Rebuttal,
    Ruling,
    ScreenedPassage,
    Screening,
)
from service.debate.turns import TurnId, is_masked, round_of, seat_of
from service.errors import IllegalEntry
from service.report.events.speakers import placed_reply
from service.report.events.types import (
    ArguedEvent,
    DebaterEvent,
    EventName,
    ModeratedEvent,
    ReplyHeading,
)
from service.report.result.history import History, is_swapped
from service.report.result.rounds import critic_position, evaluation, proposer_position, rebuttal_position
from service.report.result.transcript import spoken
from service.report.result.types import Line

NamedEvent = tuple[EventName, Struct]


class VerdictEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The judge's verdict in the three members of the stances' reference; a null winner combines several stances."""

    always_sent: ClassVar = ("winner",)

    verdict: str
    """The judge's verdict in words."""
    winner: str | None
    """The stance that won; null if the verdict combines several."""
    reasoning: str
    """Why, in the judge's words."""
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...]


class ProjectionEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The debate in the caller's own shape: ``output`` is JSON text."""

    output: str
    """The projection as JSON text, which fits the case's output schema."""


class RulingEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The judge's final answer."""

    final_answer: str
    """The judge's answer."""
    justification: str
    """Why, in the judge's words."""
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...]


class ScreeningEvent(ReplyHeading, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the screener says of the case before the debate, in every format."""

    suspicious: bool
    """Whether the screener holds the case for suspicious."""
    passages: tuple[ScreenedPassage, ...] = ()
    """The passages that it names, in its words for their places; code has not looked for them yet."""


def heading(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> dict[str, Any]:
    """The members of `ReplyHeading`."""
    return {"debate_id": debate_id, "round": round_of(entry.turn), **placed_reply(line, h, entry)}


def screened(line: Line, entry: TurnSpoke, debate_id: str, h: History, reply: Screening) -> NamedEvent:
    """The reply of the screener, in any format."""
    at_top = heading(line, entry, debate_id, h)
    return "screening", ScreeningEvent(**at_top, suspicious=reply.suspicious, passages=reply.passages)


def of_debaters(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    """A debater's reply as `round`. Raises `IllegalEntry` for any other seat: its format has an event for it."""
    if role_of(seat_of(entry.turn)) != "debater":
        raise IllegalEntry(
            f"expected an event for the reply of {entry.turn}, found none; give its seat one in "
            "service/report/events/formats.py, as the row of that file in docs/how-to/add-a-format.md says"
        )
    return "round", _debater(entry, h, heading(line, entry, debate_id, h))


def adversarial(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    """A reply of the adversarial format."""
    at_top, reply, turn = heading(line, entry, debate_id, h), entry.reply, entry.turn
    if isinstance(reply, Moderation) and (found := evaluation(h, turn)):
        return _closing(entry), ModeratedEvent(
            **at_top, moderator_evaluation=found, conclusion=reply.conclusion, ranking=h.ranked(turn)
        )
    argues = reply if isinstance(reply, Proposal | Critique | Rebuttal) else None
    return "round", ArguedEvent(
        **at_top,
        framing=reply if isinstance(reply, Framing) else None,
        proposer_position=proposer_position(h, turn),
        critic_position=critic_position(h, turn),
        rebuttal_position=rebuttal_position(h, turn),
        objections=reply.objections if isinstance(reply, Proposal) else (),
        conclusion=argues.conclusion if argues else None,
        shift=argues.shift if argues else None,
    )


def stances(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    """A reply of stances: the judge's is no `round`, so that rounds can be counted."""
    match entry.reply:
        case Judgement() as reply:
            return beside(entry.turn) or "verdict", VerdictEvent(
                **heading(line, entry, debate_id, h),
                verdict=reply.verdict,
                winner=reply.winner,
                reasoning=reply.reasoning,
                confidence_level=reply.confidence_level,
                explicit_uncertainties=reply.explicit_uncertainties,
            )
        case Projection(output):
            return _closing(entry), ProjectionEvent(**heading(line, entry, debate_id, h), output=output)
        case _:
            return of_debaters(line, entry, debate_id, h)


def convergence(line: Line, entry: TurnSpoke, debate_id: str, h: History) -> NamedEvent:
    """A reply of convergence."""
    if isinstance(reply := entry.reply, Ruling):
        return _closing(entry), RulingEvent(
            **heading(line, entry, debate_id, h),
            final_answer=reply.final_answer,
            justification=reply.justification,
            confidence_level=reply.confidence_level,
            explicit_uncertainties=reply.explicit_uncertainties,
        )
    return "debate.response", of_debaters(line, entry, debate_id, h)[1]


def beside(turn: TurnId) -> EventName | None:
    """The name of the event of a reply that stands beside a decider's first one; ``None`` for any other reply."""
    return "swapped" if is_swapped(turn) else "masked" if is_masked(turn) else None


def _closing(entry: TurnSpoke) -> EventName:
    return beside(entry.turn) or "synthesis"


def _debater(entry: TurnSpoke, h: History, at_top: dict[str, Any]) -> DebaterEvent:
    said = spoken(h, entry.turn)
    return DebaterEvent(
        **at_top,
        blind=said.blind,
        stance=said.stance or None,
        answer=said.answer or None,
        vote=said.vote or None,
        written=(entry.reply.vote or None) if isinstance(entry.reply, Ballot) else None,
        confidence=said.confidence,
        arguments=said.arguments,
    )
