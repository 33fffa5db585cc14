"""What stands under the answers of convergence/1: verified grounds, arguments that are not struck, shared words."""

from __future__ import annotations

from service.debate.findings import CitationsFound, ConvergenceFound
from service.debate.model import TurnId
from service.debate.replies import Position
from service.debate.script import Script


def is_grounded(s: Script, turn: TurnId) -> bool:
    """Whether an argument that stands has a verified citation."""
    found = s.facts.found.get(f"{turn}/citations")
    arguments = found.arguments if isinstance(found, CitationsFound) else ()
    return any(v.verdict == "verified" for argument in arguments if not argument.struck for v in argument.verdicts)


def argues(s: Script, turn: TurnId, reply: Position) -> bool:
    """Whether an argument of a reply is not struck."""
    found = s.facts.found.get(f"{turn}/citations")
    struck = found.struck(turn) if isinstance(found, CitationsFound) else {}
    return any(argument.n not in struck for argument in reply.arguments)


def similarity(found: ConvergenceFound) -> int | None:
    """The least similarity of all pairs; ``None`` if a pair has none."""
    overlaps = [pair.overlap for pair in found.pairs]
    known = [overlap for overlap in overlaps if overlap is not None]
    return min(known) if known and len(known) == len(overlaps) else None
