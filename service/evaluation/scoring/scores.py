"""One debate of an evaluation, scored: what stands in `item.scored`, byte-equal however often its run was killed.

``lost`` alone depends on interruptions; it is left out at 0.
"""

from __future__ import annotations

from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.debate.replies.parts import Conclusion, ConfidenceLevel
from service.evaluation.scoring.observed_types import Seated, Slot, WhyNone


class Run(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a debate took: its status, attempts and unreadable replies, its charge and what was lost (micro-dollars).

    ``fallbacks`` are the turns in which another model spoke than the seat's own. ``prompts`` is the hash of the pinned
    prompts, ``seats`` are the models that sat in it.
    """

    status: str
    attempts: int
    unusable: int
    charge: MicroUSD
    seats: tuple[Seated, ...] = ()
    prompts: str = ""
    simulated: bool = False
    fallbacks: int = 0
    lost: MicroUSD = 0


class QuestionScore(Struct, frozen=True, rename="camel", omit_defaults=True, tag="question", tag_field="kind"):
    """Whether a debate's answer is the label's. Without an answer it is wrong, and ``why_none`` says why there is none.

    ``said`` are the format's own words, from which ``answer`` was read.
    """

    right: bool
    answer: str | None
    why_none: WhyNone | None
    said: str | None
    run: Run


class CriticScore(Struct, frozen=True, rename="camel", omit_defaults=True, tag="critic", tag_field="kind"):
    """Whether a critique said *yes* of a proposal (`planted`), and how its debate ended, where it went on.

    ``yes`` is ``None`` without a critique: a miss of a flawed proposal, and no alarm of a sound one. ``by_code`` says
    that the citation engine itself struck the planted argument: a yes of a flawed one is then not the critic's.
    ``conclusion`` is that of the whole debate, absent where the plan ended it after the critique or it has none.
    """

    flawed: bool
    yes: bool | None
    by_code: bool
    run: Run
    own_rating: int | None = None
    retries: int = 0
    weak: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    points: int = 0
    conclusion: Conclusion | None = None


class PairScore(Struct, frozen=True, rename="camel", omit_defaults=True, tag="pair", tag_field="kind"):
    """A moderator's conclusion on given arguments, and the one in the reverse order of the same arguments.

    ``right`` compares the first with the label. ``slot`` and ``swapped_slot`` are the place of the side that each
    favoured. ``None`` where it was not asked or gave no readable reply; then ``right`` is false.
    """

    right: bool
    conclusion: Conclusion | None
    swapped: Conclusion | None
    run: Run
    slot: Slot | None = None
    swapped_slot: Slot | None = None
    confidence: ConfidenceLevel | None = None


Score = QuestionScore | CriticScore | PairScore


def is_as_labelled(score: Score) -> bool:
    """Whether an item came to what its label says; a missing answer did not, except of a sound proposal."""
    match score:
        case CriticScore():
            return score.flawed == (score.yes is True and not (score.flawed and score.by_code))
        case QuestionScore() | PairScore():
            return score.right


class Scored(Struct, frozen=True, rename="camel"):
    """A score with its place in the plan; ``set_`` is the id of the set, ``repeat`` counts from 1."""

    set_: str
    item: str
    arm: str
    repeat: int
    score: Score
