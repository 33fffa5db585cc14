"""The types of a coverage, as a result carries them. Spans are in code points of the stored text, end exclusive."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.model import TurnId

Span = tuple[int, int]
State = Literal["cited", "partly"]
PartsAre = Literal["places", "pages", "lines", "characters"]
Absent = Literal["textNotRead", "textNotStored", "textDiffers"]


class CitedBy(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who cited a passage: a turn, the numbers of its arguments, and what exactly they quoted of it.

    ``struck`` is true where later seats were not shown these arguments, because other evidence of theirs failed; a turn
    with arguments of both kinds is there twice.
    """

    turn: TurnId
    seat: str
    round: int
    position: str | None
    arguments: tuple[int, ...]
    struck: bool
    spans: tuple[Span, ...]


class CitedSpan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stretch that verified citations cover without a gap, whoever made them."""

    span: Span
    by: tuple[CitedBy, ...]


class QuotedWrongly(Struct, frozen=True, kw_only=True, rename="camel"):
    """A passage that was quoted with a material change: it does not count as cited."""

    span: Span
    turn: TurnId
    seat: str
    round: int
    position: str | None
    argument: int


class CitedPlace(Struct, frozen=True, kw_only=True, rename="camel"):
    """A clause, heading or page that verified citations touch, how many do, and of which seats.

    ``state`` is ``partly`` where it has parts of its own and not all of them were cited.
    """

    label: str
    title: str
    span: Span
    state: State
    citations: int
    seats: tuple[str, ...]


class UncitedRange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Neighbouring parts that no verified citation touches: ``name`` is ``Sections 9 to 12``.

    ``word``, ``first`` and ``last`` are its pieces, ``word`` empty for titles; ``of`` names the part that holds them
    where the document uses the same name more than once. ``members`` counts the neighbours, ``parts`` also what is
    under them.
    """

    name: str
    word: str
    first: str
    last: str
    of: str
    span: Span
    members: int
    parts: int


class PartStart(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a part of the highest level begins, with its numeral, empty for a title without one."""

    numeral: str
    at: int


class DocumentCoverage(Struct, frozen=True, kw_only=True, rename="camel"):
    """What of one document was cited, and what was not.

    ``given`` is false for a document of a round that was not reached: nobody could cite it. ``citations`` counts the
    verified ones, ``citedPerMille`` is the share of the characters that they cover: 0 only where there are none, 1000
    only where all are. ``cited`` and ``neverCited`` together are the whole document. ``partsAre`` says by what
    ``neverCitedParts`` are named: its own clauses and headings (``places``), pages, or lines where it has neither;
    ``parts`` and ``partsNeverCited`` count them, 0 for lines; ``marks`` say where those of the highest level begin, 200
    at most. ``absent`` is null, or why the text could not be looked
    at: ranges are then told in characters.
    """

    document_id: str
    title: str
    round: int
    given: bool
    characters: int
    citations: int
    cited_per_mille: int
    cited: tuple[CitedSpan, ...]
    never_cited: tuple[Span, ...]
    quoted_wrongly: tuple[QuotedWrongly, ...]
    parts_are: PartsAre
    parts: int
    parts_never_cited: int
    places: tuple[CitedPlace, ...]
    never_cited_parts: tuple[UncitedRange, ...]
    marks: tuple[PartStart, ...]
    absent: Absent | None
