"""The shape of arguments with their citations, and of the objections that stand against a proposition."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.findings import Edit, StrikeReason, Verdict
from service.debate.replies import Basis, Conclusion

WhyMaintained = Literal["unanswered", "answerStruck", "rebuttalNotReached"]


class Citation(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A quotation as a seat gave it, and the verdict on it."""

    quote: str
    """The words that the seat gives as the source's."""
    source_id: str | None = None
    """The id of the document: the one that the seat named, or where the words were found."""
    verdict: Verdict | None = None
    """Whether the words stand in the document. Absent before the check."""
    span: tuple[int, int] | None = None
    """Start and end of the words in code points of the document, end exclusive."""
    text: str | None = None
    """The document's own words there."""
    location: str | None = None
    """Where the seat places them, in its words."""
    edits: tuple[Edit, ...] = ()
    """The differences of the quotation from the document."""
    found_in: str | None = None
    """The id of another given document that has the words."""
    reason: str | None = None
    """The rule for which they could not be verified."""


class CitedEvidence(Citation, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A citation of a statement, listed once."""

    arguments: tuple[int, ...]
    """The numbers of the arguments that rest on it, each from 1 to 99."""


class Argument(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An argument, a critic's point, or the answer to a critic's point."""

    n: int
    """The number of the argument in its turn, from 1 to 99. An answer has the number of the critic's point."""
    text: str
    """The argument in the seat's words."""
    citations: tuple[Citation, ...] = ()
    """The quotations that it rests on, with verdicts."""
    basis: Basis
    """Whether it claims evidence or reasons only. Evidence without a citation is struck."""
    attacks: tuple[int, ...] | None = None
    """The numbers of the proposer's arguments that a critic's point is against, each from 1 to 99."""
    position: str | None = None
    """The position whose arguments these are, if there are several."""
    struck: StrikeReason | None = None
    """Why the argument was struck. Absent if it stands."""


class Maintained(Struct, frozen=True, kw_only=True, rename="camel"):
    """A critic's point that was neither granted nor answered by a standing argument."""

    round: int
    """The round in which the point was made, from 1."""
    point: Argument
    """The critic's point."""
    why: WhyMaintained
    """Why it stands: it was not answered, the answer was struck, or the rebuttal was not reached."""


class Dissent(Struct, frozen=True, kw_only=True, rename="camel"):
    """The standing objections against the proposition."""

    thesis: str
    """The thesis of the last standing critique."""
    conclusion: Conclusion
    """What that critique concludes."""
    unresolved_points: tuple[str, ...]
    """The points that the last moderation leaves open."""
    maintained: tuple[Maintained, ...]
    """The critic's points that were neither granted nor answered."""
