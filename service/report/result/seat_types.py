"""The shape of seats with their models, of shifts, and of the replies of seats that do not debate."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct, field

from service.debate.model import Difference, TurnId
from service.debate.replies import Movement, ScreenedPassage


class Speaker(NamedTuple):
    """A debater's letter or number and the caller's name for it, each ``None`` where there is none."""

    label: str | None = None
    name: str | None = None


class SeatDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The model behind a seat."""

    seat: str
    alias: str
    """The alias of the model in the catalogue."""
    provider: str
    model_name: str
    family: str
    served_models: tuple[str, ...]
    """The names that the vendor gave with its replies, each once."""
    wire: str
    fallback: str | None = None
    """The alias that is asked if the model cannot answer."""


class ShiftDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The shift of a seat when documents were introduced."""

    turn: TurnId
    round: int
    seat: str
    position: str | None = None
    movement: Movement
    """How the seat moved."""
    because: str
    """Why, in the seat's words."""
    documents: tuple[str, ...]
    """The ids of the documents that were introduced."""


class Weighed(Struct, frozen=True, kw_only=True, rename="camel"):
    """The reply of a seat that does not debate: it types the question, weighs replies, or writes a synthesis.

    A second take stands in the place of a reply that quoted what does not stand where it says.
    """

    always_sent: ClassVar = ("reply",)

    turn: TurnId
    round: int
    seat: str
    swapped: bool
    """Whether the seat was asked again in the reverse order."""
    masked: bool
    """Whether the seat was asked again with the passages masked that speak to a model."""
    replaced: bool
    """Whether a second take stands in the place of this reply."""
    model: str | None
    """The alias of the model that spoke; null where an evaluation gave the reply."""
    reply: dict[str, Any]
    """The whole reply as JSON, in the form of the seat's own schema."""
    tokens: int
    """Input and output tokens of all attempts of the turn."""
    charged_usd: str = field(name="chargedUSD")


class ScreeningDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the screener replied before the debate. Code looks for each passage in the case and trusts no place."""

    turn: TurnId
    model: str | None = None
    """The alias of the model that spoke. Absent where an evaluation gave the reply."""
    suspicious: bool
    """Whether the screener holds the case for suspicious."""
    passages: tuple[ScreenedPassage, ...] = ()
    """The passages that it named. Those that stand in the case are among the suspicions."""
    unlocated: int
    """The number of passages that stand in no text that it was shown."""
    tokens: int
    """Input and output tokens of all attempts of the turn."""
    charged_usd: str = field(name="chargedUSD")


class DifferingReplies(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Two replies of a decider to one question that differ in more than words, and the sentence that says in what."""

    always_sent: ClassVar = ("members",)

    why: Literal["secondTake", "repair", "otherOrder", "masked"]
    """Why there are two: marks in the first, a reply that could not be used, the reverse order, or masked passages."""
    first: TurnId
    """The turn of the first reply."""
    second: TurnId
    """The turn of the second reply."""
    attempt: int | None = None
    """The number of the unusable attempt, from 1. Absent unless the second is a repair."""
    members: tuple[Difference, ...]
    """The members that differ."""
    sentence: str
    """What differs, in a sentence."""
