"""The shape of passages: what the texts of replies quote or report, where it stands, and what misleads a reader."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from service.debate.findings import MARKED
from service.debate.model import TurnId


class PassageDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Words that a reply gives as those of another text (``quotation``), or a clause that it says to state something.

    ``status`` says where the words stand: in a document (``sourceId``), in a reply that the seat was shown (``turn``),
    or ``nowhere``; ``onlyInDebate`` are words of a reply that the text gives as a document's. ``unclear`` are words
    that stand nowhere, or only in the reply of ``turn``, which may be no quotation, or a clause of which the text
    reports something else than ``sourceId`` has. ``unchecked`` are words that a case without documents has nothing to
    compare with. A sentence of kind ``verdict`` is ``opposed``: it says the opposite of the reply's own typed verdict.
    A passage misleads a reader where it is ``nowhere``, ``onlyInDebate`` or ``opposed``.
    """

    field: str
    """The path of the text in the JSON of the turn's reply, such as `objections[0].answer`."""
    span: tuple[int, int]
    """Start and end of the words in code points of that text, end exclusive, without quotation marks."""
    kind: Literal["quotation", "clause", "verdict"]
    """Whether the text quotes, reports of a clause, or speaks of the verdict."""
    status: Literal["inDocument", "inDebate", "onlyInDebate", "unclear", "unchecked", "nowhere", "opposed"]
    """Where the words stand, or that they oppose the reply's own typed verdict."""
    attributed: Literal["document", "debate", "open"]
    """To what the text attributes the words; `open` if it names no author."""
    source_id: str | None = None
    """The id of the document that has the words, or of which a clause is reported."""
    turn: TurnId | None = None
    """The turn whose reply has the words."""
    reason: str | None = None
    """The rule that decided."""
    mark: str | None = None
    """The words that a report shows beside the passage. Absent if it does not mislead."""

    @property
    def marked(self) -> bool:
        """Whether it misleads a reader: the words stand nowhere, or not where the text says."""
        return self.status in MARKED


class TurnPassages(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The passages of one turn's reply; none if it quotes nothing."""

    turn: TurnId
    speaker: str
    """The seat and the round, as reports name them."""
    replaced: bool
    """Whether a second take stands in the place of this reply."""
    round: int
    seat: str
    position: str | None = None
    engine: str
    passages: tuple[PassageDetail, ...] = ()
    """What the texts of the reply quote or report, in their order."""


class PassageCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """Passages by status, of all seats and takes, and the replies that were compared."""

    replies: int
    """The number of replies that were compared."""
    not_compared: int
    """The number of replies that were not, because the debate ended before."""
    in_document: int
    """The number of passages that stand in a document."""
    in_debate: int
    """The number of passages that stand in a reply that the seat was shown."""
    only_in_debate: int
    """The number of passages that are given as a document's and stand only in a reply."""
    unclear: int
    """The number of passages of which code cannot say whether they mislead."""
    unchecked: int
    """The number of passages of a case without documents, which were compared with nothing."""
    nowhere: int
    """The number of passages that stand nowhere."""
    marked: int
    """The number of passages that mislead: those that stand nowhere or only in a reply."""
