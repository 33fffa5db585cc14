"""The parts of a report in the order in which a reviewer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.report import closing, exchange, money, opening, uncited
from service.report.outline import Block, Report
from service.report.shape import Result

PARTS: tuple[Callable[[Result], Iterator[Block]], ...] = (
    opening.question,
    opening.decision,
    opening.gate,
    opening.proposition,
    exchange.rounds,
    exchange.struck,
    uncited.uncited,
    exchange.dissent,
    exchange.uncertainties,
    closing.notices,
    money.cost,
    closing.models,
    closing.provenance,
    money.attempts,
    closing.about,
)


def report(result: Result) -> Report:
    """A result as the blocks of its report."""
    return Report(
        title="Record of effective challenge" if result.status != "declined" else "Record of a declined case",
        subtitle=result.debate_id,
        language="en",
        simulated=result.simulated,
        concluded=result.concluded_at or result.created_at,
        blocks=tuple(block for part in PARTS for block in part(result)),
    )
