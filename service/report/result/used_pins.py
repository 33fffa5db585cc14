"""The pins of the texts that one request was made of."""

from __future__ import annotations

from service.debate.facts import Facts
from service.debate.model import SeatPlan, Turn
from service.prompts.layout_pin import LAYOUT
from service.prompts.render import pins
from service.prompts.undocumented import pin_of


def pins_used(facts: Facts, turn: Turn, plan: SeatPlan) -> set[str]:
    """The ids of the pinned texts, of the layout and of the schema in a request, as the facts before it give it."""
    return {pin_of(facts, "house"), *pins(facts, turn, plan), f"schema.{turn.asks}", LAYOUT}
