"""The shape of arguments with their citations, and of the objections that stand against a proposition."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.findings import Edit, StrikeReason, Verdict
from service.debate.replies import Basis, Conclusion

WhyMaintained = Literal["unanswered", "answerStruck", "rebuttalNotReached"]


class Citation(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A quotation as a seat gave it, and the verdict on it.

    ``verdict`` is missing before the check, ``unchecked`` in a case without documents. ``span`` is in code points of
    the document, end exclusive, and ``text`` the document's own words there. ``edits`` are the differences of the
    quotation, ``foundIn`` is another given document that holds it, ``reason`` says why it could not be verified.
    """

    quote: str
    source_id: str | None = None
    verdict: Verdict | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    location: str | None = None
    edits: tuple[Edit, ...] = ()
    found_in: str | None = None
    reason: str | None = None


class CitedEvidence(Citation, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A citation of a statement, listed once; ``arguments`` are the numbers of the arguments that rest on it."""

    arguments: tuple[int, ...]


class Argument(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An argument, a critic's point, or the answer to the critic's point ``n``.

    ``attacks`` are the numbers of the proposer's arguments that a point is against, ``position`` their position if
    there are several. ``struck`` is present if the argument was struck, and is the reason.
    """

    n: int
    text: str
    citations: tuple[Citation, ...] = ()
    basis: Basis
    attacks: tuple[int, ...] | None = None
    position: str | None = None
    struck: StrikeReason | None = None


class Maintained(Struct, frozen=True, kw_only=True, rename="camel"):
    """A critic's point that was neither granted nor answered by a standing argument."""

    round: int
    point: Argument
    why: WhyMaintained


class Dissent(Struct, frozen=True, kw_only=True, rename="camel"):
    """The standing objections against the proposition.

    ``unresolvedPoints`` are the last moderation's; ``thesis`` and ``conclusion`` those of the last standing critique.
    """

    thesis: str
    conclusion: Conclusion
    unresolved_points: tuple[str, ...]
    maintained: tuple[Maintained, ...]
