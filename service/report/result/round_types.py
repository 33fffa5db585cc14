"""The shape of the rounds of an adversarial debate.

The round record and its parts are those of EAAPL-MAG005, section 5.2, member by member and in that text's own spelling;
`RoundDetail` has the other facts of a round.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from service.debate.model import TurnId
from service.debate.replies import Concession, Conclusion, ConfidenceLevel, Objection
from service.report.result.argument_types import Argument, CitedEvidence
from service.report.sent import EVERY


class ProposerPosition(Struct, frozen=True, kw_only=True):
    """The case for the proposition, arguments in order of priority, and every citation once."""

    always_sent: ClassVar = EVERY
    thesis: str
    """What the proposer argues for, in a sentence."""
    supporting_arguments: tuple[Argument, ...]
    """Its arguments, in order of priority."""
    evidence_cited: tuple[CitedEvidence, ...]
    """Every citation of these arguments, once."""


class CriticPosition(Struct, frozen=True, kw_only=True):
    """The case against, with the critic's own rating of its strength."""

    always_sent: ClassVar = EVERY
    thesis: str
    """What the critic argues, in a sentence."""
    counter_arguments: tuple[Argument, ...]
    """The critic's points against the proposition."""
    evidence_cited: tuple[CitedEvidence, ...]
    """Every citation of these points, once."""
    challenge_strength: int = field(name="challengeStrength")
    """The strength of the challenge by the critic's own rating, from 1 to 10."""


class RebuttalPosition(Struct, frozen=True, kw_only=True):
    """The answers to the critic's points by number, and the points that were granted."""

    always_sent: ClassVar = EVERY
    thesis: str
    """What stands after the critique, in a sentence."""
    rebuttals: tuple[Argument, ...]
    """The answers, each under the number of the critic's point."""
    concessions: tuple[Concession, ...]
    """The critic's points that are granted."""


class ArgumentQualityScore(Struct, frozen=True, kw_only=True):
    """The moderator's scores from 1 to 10, its neutral labels read back as seats; null for a seat that had not spoken.

    With several positions, ``proposer`` and ``rebuttal`` are those of the position that it ranked first.
    """

    always_sent: ClassVar = EVERY
    proposer: int | None
    """The score of the proposer's arguments, from 1 to 10."""
    critic: int | None
    """The score of the critic's points, from 1 to 10."""
    rebuttal: int | None
    """The score of the rebuttal's answers, from 1 to 10."""


class ModeratorEvaluation(Struct, frozen=True, kw_only=True, rename="camel"):
    """The evaluation of the arguments, not of the positions."""

    always_sent: ClassVar = EVERY
    argument_quality_score: ArgumentQualityScore
    """The scores of the arguments by seat."""
    resolved_points: tuple[str, ...]
    """The points that the moderator takes for settled."""
    unresolved_points: tuple[str, ...]
    """The points that it leaves open."""
    recommend_another_round: bool
    """Whether it wants a further round."""
    synthesis: str
    """The answer that it writes from both sides."""
    confidence_level: ConfidenceLevel
    explicit_uncertainties: tuple[str, ...]


class TokenCost(Struct, frozen=True, kw_only=True):
    """Input and output tokens of all of a seat's attempts in the round, as far as the provider reported them."""

    proposer: int
    """Input and output tokens of the proposer in the round."""
    critic: int
    """Input and output tokens of the critic in the round."""
    rebuttal: int
    """Input and output tokens of the rebuttal in the round."""
    moderator: int
    """Input and output tokens of the moderator in the round."""


class RoundRecord(Struct, frozen=True, kw_only=True, rename="camel"):
    """A round as EAAPL-MAG005, section 5.2 has it; a part that was not reached is null, since it names all."""

    always_sent: ClassVar = EVERY
    debate_id: str
    round_number: int
    """The round, from 1."""
    question: str
    proposer_position: ProposerPosition | None
    """The case for the proposition; of several positions, for the one that the moderator ranked first."""
    critic_position: CriticPosition | None
    """The standing critique."""
    rebuttal_position: RebuttalPosition | None
    """The rebuttal of the same position as the proposer's."""
    moderator_evaluation: ModeratorEvaluation | None
    """The moderator's evaluation in the first order."""
    token_cost: TokenCost
    """Tokens of the round by seat."""


class Conclusions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Each seat's conclusion on the proposition; absent for a seat that had not spoken."""

    proposer: Conclusion | None = None
    """The proposer's conclusion; of several positions, that of the leading one."""
    critic: Conclusion | None = None
    """The conclusion of the standing critique."""
    rebuttal: Conclusion | None = None
    """The rebuttal's conclusion; of several positions, that of the leading one."""
    moderator: Conclusion | None = None
    """The moderator's conclusion."""


class PositionDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One of several positions in one round."""

    id: str
    """The id of the position."""
    text: str
    """The position, as it was put to the debate."""
    proposer_position: ProposerPosition | None = None
    """The case for this position."""
    rebuttal_position: RebuttalPosition | None = None
    """The answers to the critic's points against it."""
    objections: tuple[Objection, ...]
    """The objections that its proposer answered in advance."""
    proposer_conclusion: Conclusion | None = None
    """Its proposer's conclusion."""
    rebuttal_conclusion: Conclusion | None = None
    """Its rebuttal's conclusion."""
    proposer_score: int | None = None
    """The moderator's score of its proposer's arguments, from 1 to 10."""
    rebuttal_score: int | None = None
    """The moderator's score of its rebuttal, from 1 to 10."""
    rank: int | None = None
    """Its place in the moderator's order in this round, from 1, the best supported."""


class CriticFirstTake(Struct, frozen=True, kw_only=True, rename="camel"):
    """A critique that was too weak and was asked for again."""

    turn: TurnId
    position: CriticPosition
    """The critique that was too weak."""
    reasons: tuple[str, ...]
    """Why it was: `selfRating`, and the hard signs that code found."""
    replaced: bool
    """Whether the second take came and stands in its place."""


class CritiqueSigns(Struct, frozen=True, kw_only=True, rename="camel"):
    """The finding about the standing critique: hard signs of weakness, soft ones, and softening phrases."""

    weak: tuple[str, ...]
    """The hard signs of weakness, for which a critique is asked again."""
    soft: tuple[str, ...]
    """The soft signs, which are only shown."""
    softening: tuple[str, ...]
    """Phrases of the critique that soften it."""


class SwappedModeration(Struct, frozen=True, kw_only=True, rename="camel"):
    """The closing moderation, asked for again in the reverse order. It never replaces the first one."""

    turn: TurnId
    evaluation: ModeratorEvaluation
    """The evaluation in the reverse order."""
    conclusion: Conclusion
    """The conclusion in the reverse order."""
    labels: dict[str, str]
    """The neutral label of each seat, in the order in which the moderator saw them."""
    ranking: tuple[str, ...]
    """The positions as it ranked them, the best supported first."""
    agrees: bool
    """Whether the reverse order led to the same conclusion and the same first position."""


class MaskedModeration(Struct, frozen=True, kw_only=True, rename="camel"):
    """The closing moderation, asked for again with the passages masked that speak to a model. It never replaces the
    first one."""

    turn: TurnId
    evaluation: ModeratorEvaluation
    """The evaluation without the passages."""
    conclusion: Conclusion
    """The conclusion without the passages."""
    labels: dict[str, str]
    """The neutral label of each seat, in the order in which the moderator saw them."""
    ranking: tuple[str, ...]
    """The positions as it ranked them, the best supported first."""
    agrees: bool
    """Whether it led to the same conclusion and the same first position."""


class ModeratorFirstTake(Struct, frozen=True, kw_only=True, rename="camel"):
    """A moderation that quoted what does not stand where it says, and that a second take replaced.

    `TurnPassages` of its turn has the passages.
    """

    turn: TurnId
    swapped: bool
    """Whether it was asked for in the reverse order."""
    evaluation: ModeratorEvaluation
    """The evaluation that was replaced."""
    conclusion: Conclusion
    """The conclusion that was replaced."""


class RoundDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The details beside a round record."""

    round_number: int
    """The round, from 1."""
    turns: dict[str, TurnId]
    """The standing turn of each seat."""
    conclusions: Conclusions
    """What each seat concludes on the proposition."""
    objections: tuple[Objection, ...] = ()
    """The objections that the proposer answered in advance."""
    positions: tuple[PositionDetail, ...] = ()
    """What was said for each of several positions."""
    critic_first_take: CriticFirstTake | None = None
    """A first critique that was asked for again."""
    critique_signs: CritiqueSigns | None = None
    """What code found in the standing critique."""
    labels: dict[str, str] = {}
    """The neutral label of each seat, in the seeded order in which the moderator saw them."""
    new_documents: tuple[str, ...] = ()
    """The ids of the documents that were introduced in this round."""
    swapped_moderation: SwappedModeration | None = None
    """The closing moderation in the reverse order, if it was asked for."""
    masked_moderation: MaskedModeration | None = None
    """The closing moderation with the passages masked that speak to a model, if it was asked for."""
    moderator_first_takes: tuple[ModeratorFirstTake, ...] = ()
    """The moderations that second takes replaced."""
