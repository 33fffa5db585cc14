"""Replies: one type for each kind of turn, decoded strictly from a model's text.

On the wire a model sends the object without its ``seat``; in the record the tag is there. Arguments are numbered by
their author, no number twice, so that others can name the ones that they attack, answer or mark.

    parts                                           the common parts of replies
    adversarial, stances, ballot, panel, convergence   the replies of a format's seats
    screening                                       the reply of the screener, in every format
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from service.debate.replies.adversarial import (
    Answer,
    ArgumentScore,
    Concession,
    Critique,
    Framing,
    KeyDocument,
    Moderation,
    Objection,
    Point,
    Proposal,
    Rebuttal,
    Shift,
)
from service.debate.replies.ballot import Ballot
from service.debate.replies.convergence import Position, Ruling
from service.debate.replies.panel import (
    AccuracyReview,
    Adjudication,
    BlindAnswer,
    Claim,
    Classification,
    ObjectionAnswers,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.parts import (
    Basis,
    Conclusion,
    ConfidenceLevel,
    Movement,
    Number,
    Percent,
    Score,
    Statement,
    Words,
    numbered,
)
from service.debate.replies.screening import ScreenedPassage, Screening
from service.debate.replies.stances import Argument, Judgement, Projection

__all__ = [
    "REPLY_TYPES",
    "AccuracyReview",
    "Adjudication",
    "Answer",
    "Argument",
    "ArgumentScore",
    "Ballot",
    "Basis",
    "BlindAnswer",
    "Cited",
    "Claim",
    "Classification",
    "Closing",
    "Concession",
    "Conclusion",
    "ConfidenceLevel",
    "Critique",
    "Framing",
    "Judgement",
    "KeyDocument",
    "Moderation",
    "Movement",
    "Number",
    "Objection",
    "ObjectionAnswers",
    "Percent",
    "Point",
    "Position",
    "Projection",
    "Proposal",
    "Rebuttal",
    "Reply",
    "RevisedAnswer",
    "Ruling",
    "Score",
    "ScreenedPassage",
    "Screening",
    "Shift",
    "Statement",
    "Synthesis",
    "Words",
    "closing",
    "numbered",
    "statements",
    "without_statements",
]

Reply = (
    Framing
    | Proposal
    | Critique
    | Rebuttal
    | Moderation
    | Argument
    | Judgement
    | Projection
    | Ballot
    | Classification
    | BlindAnswer
    | RevisedAnswer
    | ObjectionAnswers
    | Adjudication
    | AccuracyReview
    | Synthesis
    | Position
    | Ruling
    | Screening
)
REPLY_TYPES: dict[str, type[Reply]] = {
    "framing": Framing,
    "proposer": Proposal,
    "critic": Critique,
    "rebuttal": Rebuttal,
    "moderator": Moderation,
    "stances.debater": Argument,
    "stances.judge": Judgement,
    "stances.synthesizer": Projection,
    "ballot.debater": Ballot,
    "panel.classifier": Classification,
    "panel.blind": BlindAnswer,
    "panel.deliberation": RevisedAnswer,
    "panel.answer": ObjectionAnswers,
    "panel.adjudicator": Adjudication,
    "panel.accuracy": AccuracyReview,
    "panel.synthesizer": Synthesis,
    "convergence.debater": Position,
    "convergence.judge": Ruling,
    "screener": Screening,
}
"""The reply to each kind of turn: `Turn.asks` names it, and so do its prompt and its schema."""

Cited = Statement | Point | Answer | Claim
"""The parts of replies that may carry citations."""


def statements(reply: Reply) -> tuple[Cited, ...]:
    """The parts of a reply that may carry citations, in their order."""
    match reply:
        case Proposal() | Argument() | Position():
            return reply.arguments
        case Critique():
            return reply.points
        case Rebuttal():
            return reply.rebuttals
        case Ballot():
            return reply.rationale
        case BlindAnswer() | RevisedAnswer():
            return reply.claims
        case Framing() | Moderation() | Judgement() | Projection() | Classification() | Adjudication():
            return ()
        case ObjectionAnswers() | AccuracyReview() | Synthesis() | Ruling() | Screening():
            return ()


def without_statements(reply: Reply, numbers: Collection[int]) -> Reply:
    """The same reply without the statements that have these numbers."""
    match reply:
        case Proposal() | Argument() | Position():
            return replace(reply, arguments=tuple(a for a in reply.arguments if a.n not in numbers))
        case Critique():
            return replace(reply, points=tuple(p for p in reply.points if p.n not in numbers))
        case Rebuttal():
            return replace(reply, rebuttals=tuple(a for a in reply.rebuttals if a.n not in numbers))
        case Ballot():
            return replace(reply, rationale=tuple(a for a in reply.rationale if a.n not in numbers))
        case BlindAnswer() | RevisedAnswer():
            return replace(reply, claims=tuple(c for c in reply.claims if c.n not in numbers))
        case Framing() | Moderation() | Judgement() | Projection() | Classification() | Adjudication():
            return reply
        case ObjectionAnswers() | AccuracyReview() | Synthesis() | Ruling() | Screening():
            return reply


Closing = Moderation | Judgement | Synthesis | Ruling
"""The reply of a closing seat."""


def closing(reply: Reply) -> Closing | None:
    """The reply if it closes a debate, ``None`` for any other."""
    match reply:
        case Moderation() | Judgement() | Synthesis() | Ruling():
            return reply
        case Framing() | Proposal() | Critique() | Rebuttal():
            return None
        case Argument() | Ballot() | BlindAnswer() | RevisedAnswer() | ObjectionAnswers() | Position():
            return None
        case Projection() | Classification() | Adjudication() | AccuracyReview() | Screening():
            return None
