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
    """A turn that cited a passage. A turn with struck and other arguments on it is listed twice.

    Arguments are struck here because other evidence of theirs failed.
    """

    turn: TurnId
    seat: str
    round: int
    position: str | None = None
    arguments: tuple[int, ...]
    """The numbers of the turn's arguments that quote the stretch, each from 1 to 99."""
    struck: bool
    """Whether these arguments were struck, so that later seats did not see them."""
    spans: tuple[Span, ...]
    """The exact stretches that the turn quoted, each as start and end in code points of the text, end exclusive."""


class CitedSpan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A stretch that verified citations of all turns cover without a gap."""

    span: Span
    """Start and end in code points of the text, end exclusive."""
    by: tuple[CitedBy, ...]
    """The turns that cited it."""


class QuotedWrongly(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A passage that was quoted with a material change: it does not count as cited."""

    span: Span
    """Start and end of the passage in code points of the text, end exclusive."""
    turn: TurnId
    seat: str
    round: int
    position: str | None = None
    argument: int
    """The number of the argument that quotes it, from 1 to 99."""


class CitedPlace(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A clause, heading or page that verified citations touch."""

    label: str
    """The part as the document names it, such as `Section 12.4`."""
    title: str = ""
    """The heading of the part."""
    span: Span
    """Start and end of the part in code points of the text, end exclusive."""
    state: State
    """`cited`, or `partly` if the part has parts of its own and not all of them were cited."""
    citations: int
    """The number of verified citations that touch the part."""
    seats: tuple[str, ...]
    """The seats that cited it."""


class UncitedRange(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Neighbouring parts that no verified citation touches."""

    name: str
    """The range in words, such as `Sections 9 to 12`."""
    word: str = ""
    """What the document calls these parts, such as `Section`."""
    first: str = ""
    """The numeral of the first part."""
    last: str = ""
    """The numeral of the last part."""
    of: str = ""
    """The part that holds them, where the document has this name more than once."""
    span: Span
    """Start and end of the range in code points of the text, end exclusive."""
    members: int
    """The number of neighbouring parts."""
    parts: int
    """The number of these parts and of all parts under them."""


class PartStart(Struct, frozen=True, kw_only=True, rename="camel"):
    """The start of a part of the highest level."""

    numeral: str
    """The numeral of the part, empty for a title without one."""
    at: int
    """Where the part begins, in code points of the text."""


class DocumentCoverage(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The cited and the uncited stretches of one document: together they are the whole of it."""

    document_id: str
    """The id of the document, by which citations name it."""
    title: str
    """The document's title, or its id where the case gave none."""
    round: int
    """The first round whose seats read the document, from 1."""
    given: bool
    """Whether any seat could cite the document: false if its round was not reached."""
    characters: int
    """The length of the text in code points."""
    citations: int
    """The number of verified citations of the document."""
    cited_share: float
    """The share of the text's characters that verified citations cover, from 0 to 1: 0 only for none, 1 only for all.
    """
    cited: tuple[CitedSpan, ...]
    """The stretches that verified citations cover, in the order of the text."""
    never_cited: tuple[Span, ...]
    """The stretches that no verified citation covers, each as start and end in code points, end exclusive."""
    quoted_wrongly: tuple[QuotedWrongly, ...]
    """The passages that were quoted with a material change, which do not count as cited."""
    parts_are: PartsAre
    """The unit of `neverCitedParts`: clauses and headings of the document's own (`places`), pages, lines, or characters
    where the text could not be read."""
    parts: int
    """The number of parts of the document; 0 where its units are lines."""
    parts_never_cited: int
    """The number of parts that no verified citation touches; 0 where the units are lines."""
    places: tuple[CitedPlace, ...]
    """The parts that verified citations touch."""
    never_cited_parts: tuple[UncitedRange, ...]
    """The parts that no verified citation touches, neighbours together."""
    marks: tuple[PartStart, ...]
    """Where the parts of the highest level begin, for a picture of the document; 200 at most."""
    absent: Absent | None = None
    """Why the text could not be read. Ranges are then in characters."""
