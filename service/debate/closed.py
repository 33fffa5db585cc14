"""The reply with which a debate closed."""

from __future__ import annotations

from service.debate.facts import Facts
from service.debate.model import Outcome
from service.debate.replies import Closing, closing


def closed(facts: Facts, outcome: Outcome) -> Closing | None:
    """The reply of the seat that closed a debate; ``None`` where no such seat spoke."""
    final = facts.said.get(outcome.final_turn) if outcome.final_turn else None
    return closing(final) if final else None
