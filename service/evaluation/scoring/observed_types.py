"""What the record of one debate shows of an evaluation's item, before it is compared with a label."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.debate.replies.parts import Conclusion, ConfidenceLevel

WhyNone = Literal[
    "notStarted",
    "notEnded",
    "failed",
    "aborted",
    "undecided",
    "modified",
    "tied",
    "escalated",
    "noWinner",
    "noSynthesis",
    "noFinalAnswer",
    "notInList",
    "rejectedOfSeveral",
]
"""Why a debate gave no answer of the closed list; `NONE_IN_WORDS` has each in words."""

NONE_IN_WORDS: dict[WhyNone, str] = {
    "notStarted": "the debate never started",
    "notEnded": "the debate has not ended",
    "failed": "the debate failed",
    "aborted": "the debate was aborted",
    "undecided": "the decider's replies differed, or it reached no conclusion",
    "modified": "the proposition was upheld in a changed form only, which is no answer of the list",
    "tied": "two or more answers shared the lead",
    "escalated": "the vote went to a person, or no answer had enough votes",
    "noWinner": "the judge named no assigned stance as the winner",
    "noSynthesis": "the panel has no synthesis",
    "noFinalAnswer": "there is no final answer",
    "notInList": "the answer given is none of the closed list",
    "rejectedOfSeveral": "the proposition was rejected, which leaves several answers of the list",
}

Slot = Literal["first", "second", "none"]
"""Which of the two sides' places in a moderator's request its conclusion favours."""


class Passage(Struct, frozen=True, rename="camel"):
    """A verified quotation's place: ``start`` to ``end`` (exclusive) in code points of the stored document."""

    document: str
    start: int
    end: int


class PointMade(Struct, frozen=True, rename="camel"):
    """A critic's point: the arguments that it attacks, its words, and where its verified quotations stand."""

    n: int
    attacks: tuple[int, ...]
    text: str
    passages: tuple[Passage, ...]


class CritiqueMade(Struct, frozen=True, rename="camel"):
    """The first round's standing critique. ``own_rating`` is the critic's own, 1 to 10; ``retries`` its takes less one.

    ``weak`` and ``soft`` are the signs that code recorded of it.
    """

    points: tuple[PointMade, ...]
    own_rating: int
    conclusion: Conclusion
    retries: int
    weak: tuple[str, ...]
    soft: tuple[str, ...]


class ModerationMade(Struct, frozen=True, rename="camel"):
    """A moderation: its conclusion, and the place of the side that it favours in the order that it was shown."""

    conclusion: Conclusion
    confidence: ConfidenceLevel
    slot: Slot


class Seated(Struct, frozen=True, rename="camel"):
    """The model of a seat: its alias, the name that its vendor knows, and its family."""

    seat: str
    alias: str
    model: str
    family: str


class Observed(Struct, frozen=True, rename="camel"):
    """A debate as an evaluation sees it, from recorded entries alone.

    ``said`` is what the format decided, in its own words: a vote, a final answer, a stance, a synthesis, or the
    conclusion on the proposition; without one, ``why_none`` says why. ``struck_by_code`` are the numbers of the
    proposal's arguments that the citation engine struck. ``attempts`` and ``charge`` (micro-dollars) leave out what was
    lost with a worker, which is ``lost``. ``unusable`` counts replies that could not be read, ``fallbacks`` the turns
    in which another model spoke than the seat's own.
    """

    format: str
    status: str
    said: str | None
    why_none: WhyNone | None
    critique: CritiqueMade | None
    struck_by_code: tuple[int, ...]
    moderation: ModerationMade | None
    swapped: ModerationMade | None
    conclusion: Conclusion | None
    attempts: int
    unusable: int
    fallbacks: int
    charge: MicroUSD
    lost: MicroUSD
    seats: tuple[Seated, ...]
    prompts: str
    simulated: bool
