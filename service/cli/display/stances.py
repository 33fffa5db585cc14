"""A debate of assigned stances: the transcript by stance, then the one judge's verdict and who won."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from service.cli.display.adversarial import WORDS
from service.cli.display.arguments import arguments, heading
from service.cli.display.aspects import Page, decided, in_rounds
from service.cli.display.console import row, text, unwrapped
from service.cli.display.speakers import rule, seated
from service.debate.model import StancesOptions
from service.debate.options import debater_seats
from service.debate.results import Verdict
from service.report import Result
from service.report.result.decision import ORDER
from service.report.result.terms import StancesTerms


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The verdict that stands, or the two that differ."""
    found = r.result
    if not isinstance(found, StancesTerms):
        return
    if found.verdict:
        if not decided(r, found.verdict.verdict):
            yield "Verdict", text(found.verdict.verdict)
        yield "Winner", text(_verdict_text(found.verdict))
    elif found.swapped_verdict and ORDER in r.flags:
        yield "Verdict", text("none stands: in another order the judge decided otherwise", "bold yellow")
    elif found.masked_verdict:
        yield "Verdict", text("none stands: without the flagged passages the judge decided otherwise", "bold yellow")
    if found.swapped_verdict:
        again = f"winner {_verdict_text(found.swapped_verdict)}; {found.swapped_verdict.verdict}"
        yield "Other order", text(f"{again} ({WORDS})" if found.verdict else again)
    if found.masked_verdict:
        again = f"winner {_verdict_text(found.masked_verdict)}; {found.masked_verdict.verdict}"
        yield "Masked", text(f"without the flagged passages: {again}{f' ({WORDS})' if found.verdict else ''}")


def why(r: Result) -> tuple[str, str] | None:
    """The judge's reasoning."""
    found = r.result
    return ("Why", found.verdict.reasoning) if isinstance(found, StancesTerms) and found.verdict else None


def exchange(r: Result) -> Iterator[RenderableType]:
    """Each stance with all its arguments, round by round, and then the projection of the whole debate."""
    options = r.options
    if not isinstance(options, StancesOptions):
        return
    for seat, debater in zip(debater_seats(options), options.debaters, strict=True):
        yield rule(seated(r, seat))
        yield row(text("For", "dim"), text(debater.stance, "bold"), lead_width=3)
        for one in r.transcript:
            if one.seat == seat:
                yield heading(f"Round {one.round}", f"{one.charged_usd} USD")
                yield from arguments(one.arguments)
    if isinstance(r.result, StancesTerms) and r.result.output is not None:
        yield rule(
            "In the shape that was asked for" if options.output_schema is not None else "In brief",
            seated(r, "synthesizer"),
        )
        for line in json.dumps(r.result.output, indent=2, ensure_ascii=False).split("\n"):
            yield unwrapped(line)


def _verdict_text(verdict: Verdict) -> str:
    return verdict.winner or "no single stance: the verdict combines stances"


PAGE = Page(lines=lines, why=why, exchange=exchange, decider="the judge", course=in_rounds)
