"""The parts of a report in the order in which a reviewer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from string import ascii_uppercase

from msgspec.structs import replace

from service.audit.report_forms import Paper
from service.report.document import closing, deciders, exchange, money, opening, uncited
from service.report.document.blocks import Block, ReportBlocks, ReportPart
from service.report.document.first_screen import first_screen
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


def _declined(r: Result) -> Iterator[Block]:
    return opening.gate(r) if r.status == "declined" else iter(())


def _debated(r: Result) -> Iterator[Block]:
    return opening.gate(r) if r.status != "declined" else iter(())


Part = Callable[[Result], Iterator[Block]]
PARTS: tuple[Part, ...] = (
    opening.outcome,
    opening.question,
    _declined,
    opening.proposition,
    _measured,
    _argued,
    deciders.deciders,
    exchange.struck,
    uncited.uncited,
    _against,
    exchange.uncertainties,
    closing.notices,
    closing.about,
)
APPENDICES: tuple[Part, ...] = (_debated, money.cost, closing.models, closing.provenance, money.attempts)


def _title(result: Result) -> str:
    if result.status == "declined":
        return "Record of a declined case"
    telling = telling_of(result.options)
    return telling.title if telling else "Record of effective challenge"


def _appendices(result: Result) -> Iterator[Block]:
    letters = iter(ascii_uppercase)
    for part in APPENDICES:
        for block in part(result):
            if isinstance(block, ReportPart):
                yield replace(block, title=f"Appendix {next(letters)}: {block.title}")
            else:
                yield block


def report(result: Result, paper: Paper = "a4") -> ReportBlocks:
    """A result as the blocks of its report, with the marks of code in its texts."""
    result = shown(result)
    return ReportBlocks(
        title=_title(result),
        subtitle=result.debate_id,
        language="en",
        simulated=result.simulated,
        concluded=result.concluded_at or result.created_at,
        blocks=(*(block for part in PARTS for block in part(result)), *_appendices(result)),
        first=tuple(first_screen(result)),
        paper=paper,
    )
