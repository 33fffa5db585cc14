"""What code finds in replies and documents: the results of checks, recorded with their engine's version.

A finding is never recomputed to decide (an engine may change); the kernel branches on the recorded value.
Shares are whole per mille, so that no decision compares floats.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Verdict = Literal["verified", "altered", "not_found"]
StrikeReason = Literal["unverified_citation", "uncited"]


class Citation(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A quotation with its source, as a seat gave it. Without ``source_id`` any document of the turn may hold it."""

    quote: str
    source_id: str | None = None
    location: str | None = None


class Edit(Struct, frozen=True, rename="camel"):
    """One difference between the document's words and the quotation's; a verified one has none that is material."""

    kind: str
    from_: str = field(name="from")
    to: str = ""
    material: bool = True


class CitationVerdict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What code says of one citation.

    ``span`` is in code points of the stored document, end exclusive; ``text`` is the document's own text of that span.
    ``found_in`` names another given document that has the words; ``reason`` is the rule that refused; ``note`` tells a
    reader what does not change the verdict: where else the words stand, or that the location given is not theirs.
    """

    verdict: Verdict
    source_id: str | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    edits: tuple[Edit, ...] = ()
    found_in: str | None = None
    reason: str | None = None
    note: str | None = None


class ArgumentVerdict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The verdicts on one argument's citations, in their order, and whether the argument is struck."""

    turn: str
    n: int
    verdicts: tuple[CitationVerdict, ...] = ()
    struck: StrikeReason | None = None


class CitationsFound(Struct, frozen=True, rename="camel", tag="citations", tag_field="kind"):
    """Every argument of the turns that were checked."""

    arguments: tuple[ArgumentVerdict, ...]

    def struck(self, turn: str) -> dict[int, StrikeReason]:
        """The numbers of a turn's struck arguments, with the reason."""
        return {a.n: a.struck for a in self.arguments if a.turn == turn and a.struck}


class CritiqueFound(Struct, frozen=True, rename="camel", tag="critique", tag_field="kind"):
    """How a critique stands up to the signs that code can see (raw numbers, then what follows from them).

    ``weak`` lists hard signs (the critique is asked again), ``soft`` those that are only flagged.
    """

    points: int
    points_naming_an_argument: int
    citations: int
    citations_verified: int
    novelty: int
    self_overlap: int
    restating: int
    softening: tuple[str, ...]
    weak: tuple[str, ...]
    soft: tuple[str, ...]


class Suspicion(Struct, frozen=True, rename="camel"):
    """A passage of a document that speaks to the reader as if it were an instruction."""

    source_id: str
    span: tuple[int, int]
    pattern: str


class InjectionFound(Struct, frozen=True, rename="camel", tag="injection", tag_field="kind"):
    """Passages of the case's documents that look like orders to a model."""

    suspicions: tuple[Suspicion, ...]


Finding = CitationsFound | CritiqueFound | InjectionFound
