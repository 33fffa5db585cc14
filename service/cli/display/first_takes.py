"""The first takes of deciders of debaters: a second one stands in their place, so both are shown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from service.cli.display.adversarial import FIRST_TAKE
from service.cli.display.arguments import heading
from service.debate.replies import Judgement, Projection, Reply, Ruling, Synthesis
from service.report import Result
from service.report.labels import seat_name
from service.report.shown import reply_of


def first_takes(r: Result) -> Iterator[RenderableType]:
    """Each replaced reply: what it decides, how sure it is, and its words."""
    for one in r.weighed:
        if one.replaced:
            beside, words = _decided(reply_of(r, one))
            turned = "asked again in the other order, " if one.swapped else ""
            yield heading(f"{seat_name(one.seat)}, first take", f"{turned}{beside}{FIRST_TAKE}", words)


def _decided(reply: Reply) -> tuple[str, str]:
    match reply:
        case Judgement():
            winner = f"winner {reply.winner}, " if reply.winner else "no single winner, "
            return f"{winner}confidence {reply.confidence_level}; ", f"{reply.verdict}\n{reply.reasoning}"
        case Ruling():
            return f"confidence {reply.confidence_level}; ", f"{reply.final_answer}\n{reply.justification}"
        case Synthesis():
            return f"confidence {reply.confidence_level}; ", reply.answer
        case Projection():
            return "", reply.output
        case _:
            return "", ""  # no other seat is asked for a second take in these formats
