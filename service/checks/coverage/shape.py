"""The types of a coverage, as a result carries them. Spans are in code points of the stored text, end exclusive."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.model import TurnId

Span = tuple[int, int]
State = Literal["cited", "partly"]
PartsAre = Literal["places", "pages", "lines", "characters"]
Absent = Literal["textNotRead", "textNotStored", "textDiffers"]


class CitedBy(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn that cited a passage, the numbers of its arguments, and the exact stretches that they quoted.

    ``struck`` is true if these arguments were struck because other evidence of theirs failed, so that later seats did
    not see them. A turn with arguments of both kinds is listed twice.
    """

    turn: TurnId
    seat: str
    round: int
    position: str | None = None
    arguments: tuple[int, ...]
    struck: bool
    spans: tuple[Span, ...]


class CitedSpan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stretch that verified citations of all turns cover without a gap."""

    span: Span
    by: tuple[CitedBy, ...]


class QuotedWrongly(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A passage that was quoted with a material change: it does not count as cited."""

    span: Span
    turn: TurnId
    seat: str
    round: int
    position: str | None = None
    argument: int


class CitedPlace(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A clause, heading or page that verified citations touch, with their number and their seats.

    ``state`` is ``partly`` if it has parts of its own and not all of them were cited; ``title`` is absent where the
    document gives the part none.
    """

    label: str
    title: str = ""
    span: Span
    state: State
    citations: int
    seats: tuple[str, ...]


class UncitedRange(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Neighbouring parts that no verified citation touches: ``name`` is ``Sections 9 to 12``.

    ``word``, ``first`` and ``last`` are its pieces, ``word`` absent for titles; ``of`` names the part that holds them
    if the document uses the same name more than once. ``members`` counts the neighbours, ``parts`` also the parts under
    them.
    """

    name: str
    word: str = ""
    first: str = ""
    last: str = ""
    of: str = ""
    span: Span
    members: int
    parts: int


class PartStart(Struct, frozen=True, kw_only=True, rename="camel"):
    """The start of a part of the highest level, with its numeral, empty for a title without one."""

    numeral: str
    at: int


class DocumentCoverage(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The cited and the uncited stretches of one document.

    ``given`` is false for a document of a round that was not reached: no seat could cite it. ``citations`` counts the
    verified ones, ``citedShare`` is the share of the characters that they cover: 0 only for none, 1 only for all.
    ``cited`` and ``neverCited`` together are the whole document. ``partsAre`` is the unit of ``neverCitedParts``: its
    own clauses and headings (``places``), pages, or lines if it has neither; ``parts`` and ``partsNeverCited`` count
    them, 0 for lines; ``marks`` are the starts of those of the highest level, 200 at most. ``absent`` is the
    reason why the text could not be read: ranges are then in characters.
    """

    document_id: str
    title: str
    round: int
    given: bool
    characters: int
    citations: int
    cited_share: float
    cited: tuple[CitedSpan, ...]
    never_cited: tuple[Span, ...]
    quoted_wrongly: tuple[QuotedWrongly, ...]
    parts_are: PartsAre
    parts: int
    parts_never_cited: int
    places: tuple[CitedPlace, ...]
    never_cited_parts: tuple[UncitedRange, ...]
    marks: tuple[PartStart, ...]
    absent: Absent | None = None
