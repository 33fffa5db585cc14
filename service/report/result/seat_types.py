"""The shape of who sat where, how seats moved, and what those said who decide and do not debate."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from service.debate.model import TurnId
from service.debate.replies import Movement


class SeatDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """The model behind a seat. ``servedModels`` are the names that the vendor gave with its replies, each once.

    ``wire`` is the format in which its usage is told, ``fallback`` the alias that is asked where the model cannot
    answer.
    """

    seat: str
    alias: str
    provider: str
    model_name: str
    family: str
    served_models: tuple[str, ...]
    wire: str
    fallback: str | None


class ShiftDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a seat moved when ``documents`` were introduced."""

    round: int
    seat: str
    position: str | None
    movement: Movement
    because: str
    documents: tuple[str, ...]


class Weighed(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a seat said that does not debate: it sorts the question, weighs what debaters said, or writes it up.

    ``swapped`` says that it was asked again with the order turned round. ``reply`` is the whole reply;
    ``tokens`` and ``chargedUSD`` are of all its attempts.
    """

    turn: TurnId
    round: int
    seat: str
    swapped: bool
    model: str
    reply: dict[str, Any]
    tokens: int
    charged_usd: str = field(name="chargedUSD")
