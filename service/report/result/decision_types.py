"""The shape of a decision, which is the same in every format."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

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

ERASED = "The case was erased from the database, and with it the words of its decision."


class Dissenter(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A seat that stands, or at first stood, against the decision.

    ``points`` of a critic are those that were neither granted nor answered, of others those of the last turn that are
    not struck.
    """

    seat: str
    """The seat that stands against the decision."""
    points: int
    """The number of its arguments that stand."""
    until: Literal["end", "firstDraft"]
    """`end`, or `firstDraft` if it held this only before it had read the others."""
    name: str | None = None
    """The caller's name for it, or its neutral one."""
    holds: str | None = None
    """What it holds: its conclusion, assigned stance, vote or answer. Absent for an abstention."""


class DecisionDissent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands against the decision, in a sentence and seat by seat.

    ``own`` are the minority of a ballot, a panel or convergence, and who gave way to the others.
    """

    kind: Literal["assigned", "own"]
    """`assigned` if the format gave the seat its side to argue, `own` if it is a debater's own view."""
    text: str
    """The dissent in a sentence."""
    by: tuple[Dissenter, ...]
    """Who dissents."""


class DecisionCost(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the debate cost."""

    spent_usd: str = field(name="spentUSD")
    """US dollars spent."""
    ceiling_usd: str | None = field(name="ceilingUSD", default=None)
    """US dollars that the debate may cost at most. Absent for a declined case."""
    excess_usd: str | None = field(name="excessUSD", default=None)
    """US dollars that vendors billed above reservations. Absent if that is nothing."""


class Decision(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was decided, the same members in every format, list item, event and report.

    The answer never says that the decision is right. Code can only lower the confidence.
    """

    outcome: DecisionOutcome
    """What came of the case: one of eleven words that mean the same in every format."""
    answer: str
    """The sentence that a person would say: who decided what, or why nothing is decided."""
    by: DecidedBy | None = None
    """Who or what decided. Absent if nothing did."""
    confidence: ConfidenceLevel | None = None
    """The confidence after code lowered it. It is not a probability. Absent without a decision."""
    human_review: HumanReview
    """Whether a person has to decide, and why."""
    dissent: DecisionDissent | None = None
    """What stands against the decision. Absent if nothing does."""
    cost: DecisionCost
    """What the debate cost so far."""

    @property
    def without_words(self) -> Decision:
        """The decision of a case that was erased: what came of it, and no word of the debate."""
        return replace(self, answer=ERASED, dissent=None)
