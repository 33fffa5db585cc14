"""The shape of a decision, which is the same in every format."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from service.debate.model import HumanReview
from service.debate.replies import ConfidenceLevel

DecisionOutcome = Literal[
    "upheld",
    "modified",
    "rejected",
    "chosen",
    "ranked",
    "agreed",
    "split",
    "escalated",
    "undecided",
    "declined",
    "none",
]
"""What came of a case, over all formats.

upheld, modified, rejected    a proposition stands as framed, in another form, or not (adversarial)
chosen                        one option, stance or answer was taken by a vote, a judge or a rule for ties
ranked                        several positions or ideas stand in an order
agreed                        the debaters agreed as far as the format asks
split                         the debaters stand apart, and what is given, if anything, combines or weighs them
escalated                     the vote, or its rules, leave it to a person
undecided                     the order of presentation decided, or the debate was cut short before a decision
declined                      the gate held no debate
none                          the debate failed or was aborted
"""
DecidedBy = Literal[
    "gate",
    "moderator",
    "judge",
    "vote",
    "tieRule",
    "agreement",
    "adjudicator",
    "synthesizer",
    "endorsements",
]
"""What decided: the gate, a seat, a count of votes, the rule for level answers (that of the debater declared first),
agreement measured by code or scored by an adjudicator, or a count of the debaters that name an idea."""


class Dissenter(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A seat that stands, or at first stood, against the decision.

    ``name`` is the caller's for it, or its neutral label. ``holds`` is its own conclusion, assigned stance, vote or
    answer, absent for an abstention. ``points`` counts its arguments that stand: a critic's that were neither granted
    nor answered, otherwise those of its last turn that are not struck. ``until`` is ``firstDraft`` if it held this only
    before it had read the others.
    """

    seat: str
    points: int
    until: Literal["end", "firstDraft"]
    name: str | None = None
    holds: str | None = None


class DecisionDissent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands against the decision, in a sentence and seat by seat.

    ``kind`` is ``assigned`` for the points of a critic or of a stance that lost, which the format gave them to argue,
    and ``own`` for a debater's own: the minority of a ballot, a panel or convergence, and who gave way to the others.
    """

    kind: Literal["assigned", "own"]
    text: str
    by: tuple[Dissenter, ...]


class DecisionCost(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """US dollars as decimal strings. ``ceilingUSD`` is absent for a declined case.

    ``excessUSD`` is what vendors billed above reservations, beside ``spentUSD``; absent if that is nothing.
    """

    spent_usd: str = field(name="spentUSD")
    ceiling_usd: str | None = field(name="ceilingUSD", default=None)
    excess_usd: str | None = field(name="excessUSD", default=None)


class Decision(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was decided, the same members in every format, list item, event and report.

    ``answer`` is the sentence that a person would say: it names who decided what, or why nothing is decided, and never
    says that the decision is right. ``by`` is absent if nothing decided, ``confidence`` if there is no decision to be
    sure of, ``dissent`` if none stands. A confidence is not a probability, and code can only lower it.
    """

    outcome: DecisionOutcome
    answer: str
    by: DecidedBy | None = None
    confidence: ConfidenceLevel | None = None
    human_review: HumanReview
    dissent: DecisionDissent | None = None
    cost: DecisionCost
