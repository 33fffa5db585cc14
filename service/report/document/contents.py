"""The parts of a report in the order in which a reviewer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.report.document import closing, deciders, exchange, money, opening, uncited
from service.report.document.blocks import Block, ReportBlocks
from service.report.formats import telling_of
from service.report.result.types import Result
from service.report.shown import shown


def _measured(r: Result) -> Iterator[Block]:
    telling = telling_of(r.options)
    return telling.measured(r) if telling else iter(())


def _argued(r: Result) -> Iterator[Block]:
    telling = telling_of(r.options)
    return telling.argued(r) if telling else iter(())


def _against(r: Result) -> Iterator[Block]:
    telling = telling_of(r.options)
    return telling.against(r) if telling else iter(())


PARTS: tuple[Callable[[Result], Iterator[Block]], ...] = (
    opening.decision,
    opening.question,
    opening.gate,
    opening.proposition,
    _measured,
    _argued,
    deciders.deciders,
    exchange.struck,
    uncited.uncited,
    _against,
    exchange.uncertainties,
    closing.notices,
    money.cost,
    closing.models,
    closing.provenance,
    money.attempts,
    closing.about,
)


def _title(result: Result) -> str:
    if result.status == "declined":
        return "Record of a declined case"
    telling = telling_of(result.options)
    return telling.title if telling else "Record of effective challenge"


def report(result: Result) -> ReportBlocks:
    """A result as the blocks of its report, with the marks of code in its texts."""
    result = shown(result)
    return ReportBlocks(
        title=_title(result),
        subtitle=result.debate_id,
        language="en",
        simulated=result.simulated,
        concluded=result.concluded_at or result.created_at,
        blocks=tuple(block for part in PARTS for block in part(result)),
    )
