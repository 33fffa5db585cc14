"""The shift of a seat after new evidence: asked for only if documents are introduced after the first round."""

from __future__ import annotations

from service.debate.replies import Movement, Shift
from service.simulated.passage_choice import Desk, value
from service.simulated.phrases import does, upper


def shift(desk: Desk, side: int) -> Shift | None:
    """The shift of the seat that argues for ``side``, by the new documents' passages for and against it."""
    new = desk.reading.new_documents
    if not new or desk.reading.round < 2:
        return None
    found = sorted((e for e in desk.evidence if e.source_id in new and e.side), key=lambda e: -value(desk, e))[:8]
    if not found:
        return Shift("unchanged", "The new documents hold no passage that takes a side on the question.")
    own = sum(value(desk, e) for e in found if e.side == side)
    other = sum(value(desk, e) for e in found if e.side == -side)
    movement: Movement = "unchanged"
    if own > 1.3 * other:
        movement = "strengthened"
    elif other > 1.3 * own:
        movement = "weakened"
    leading = next((e for e in found if e.side == (side if movement == "strengthened" else -side)), found[0])
    return Shift(movement, f"{upper(leading.where)} {does(leading)}.")
