"""The quote of a case on one page: whether it would be debated and could begin, and the amounts with their parts."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from service.cli.display.console import counted, dollars, row, text
from service.cli.display.outcome import PAGES
from service.cli.display.speakers import speaker
from service.debate.amounts import MicroUSD, usd
from service.debate.kernel import FORMATS
from service.debate.model import AdversarialOptions, SeatPlan
from service.debate.options import format_of
from service.debate.turns import take_of
from service.intake.quote import CaseQuote
from service.report.labels import DECIDED, PAIR, RULE, label_of
from service.report.result.would_change import sentence

_HASH = 12
"""The number of characters of a hash on the page."""


def show(console: Console, found: CaseQuote) -> None:
    """Print the page of a quote."""
    for part in (_answer, _seats, _models, _documents, _basis):
        for block in part(found):
            console.print(block)


def _answer(q: CaseQuote) -> Iterator[RenderableType]:
    for term, words, style in (*_gate(q), *_format(q), _begins(q)):
        yield row(text(term, "dim"), text(words, style))
    yield row(text("Expected", "dim"), text(f"{_usd(q.started.expected_cost)}{_scarce(q)}"))
    yield row(text("At most", "dim"), text(f"{_usd(q.worst)}, {_bound(q)}"))


def _gate(q: CaseQuote) -> Iterator[tuple[str, str, str]]:
    """The gate's decision, and, if it declines, the changes that would reverse it."""
    if q.decision.debate:
        yield "Gate", f"debate: {label_of(DECIDED, q.decision.decided_by)}", ""
        return
    yield "Gate", f"NO DEBATE: the rule “{label_of(RULE, q.decision.decided_by)}” decides", "bold yellow"
    for change in q.decision.would_change:
        yield "", f"what would change it: {sentence(change)}", ""


def _format(q: CaseQuote) -> Iterator[tuple[str, str, str]]:
    """The format of the quote if it is not the usual one, with policy's reason if policy chose it."""
    if q.started.format_reason or not isinstance(q.started.options, AdversarialOptions):
        name = q.started.format.partition("/")[0]
        yield "Format", f"{name}: {q.started.format_reason}" if q.started.format_reason else name, ""


def _begins(q: CaseQuote) -> tuple[str, str, str]:
    ceiling, needed = usd(q.started.ceiling), f"a debate of this case needs {usd(q.needed)} USD to begin"
    if q.startable:
        return "Ceiling", f"{ceiling} USD; {needed}", ""
    return "Ceiling", f"{ceiling} USD is TOO SMALL: {needed}", "bold yellow"


def _scarce(q: CaseQuote) -> str:
    short = q.started.expected_cost > q.started.ceiling
    return ", more than the ceiling: money would probably end it early" if short else ""


def _bound(q: CaseQuote) -> str:
    course = PAGES[format_of(q.started.options)].course(q.started.options)
    beginning = FORMATS[q.started.format].table(q.started.options).beginning
    twice = dict.fromkeys(f"the {turn.seat}" for turn in beginning if take_of(turn.id) > 1)
    again = f", {' and '.join(twice)} asked again for its words" if twice else ""
    everything = f"{course}{again}, {counted(q.started.attempts_per_turn, 'attempt')} a turn"
    if q.worst < q.asked_at_most:
        return f"the ceiling; without it {_usd(q.asked_at_most)}: {everything}"
    return f"with everything that can be asked: {everything}"


def _seats(q: CaseQuote) -> Iterator[RenderableType]:
    yield Padding(Rule(text("Seats"), align="left", style="dim"), (1, 0, 0, 0))
    table = _table(("seat", "model"), ("turns", "first request", "expected", "at most"))
    for seat in q.seats:
        table.add_row(
            text(speaker(q.started.options, seat.plan.seat)),
            text(", then ".join(plan.model for plan in seat.plan.with_fallback)),
            str(seat.turns),
            f"{seat.first_request:,} tokens",
            _amount(seat.expected),
            _amount(seat.worst),
        )
    yield table


def _models(q: CaseQuote) -> Iterator[RenderableType]:
    yield Rule(text("Prices, in USD for a million tokens"), align="left", style="dim")
    table = _table(("model", "family"), ("in", "out", "since"))
    table.add_column("source", overflow="fold")
    plans: dict[str, SeatPlan] = {plan.model: plan for seat in q.seats for plan in seat.plan.with_fallback}
    for plan in plans.values():
        price = plan.price
        amounts = (usd(price.input), usd(price.output), price.effective)
        table.add_row(text(plan.model), text(plan.family), *amounts, text(price.source))
    yield table


def _documents(q: CaseQuote) -> Iterator[RenderableType]:
    yield Rule(text("Documents"), align="left", style="dim")
    if not q.documents:
        yield text("none: the arguments would rest on reasoning alone")
    for found in q.documents:
        tokens = ", ".join(f"{n:,} tokens of {name}" for name, n in found.tokens.items())
        later = f", from round {found.document.round}" if found.document.round > 1 else ""
        yield row(text(found.document.id, "dim"), text(f"{found.document.title}{later}"), text(tokens, "dim"))


def _basis(q: CaseQuote) -> Iterator[RenderableType]:
    started = q.started
    yield Rule(text("Basis"), align="left", style="dim")
    for diversity in dict.fromkeys(pair.diversity for pair in started.pairs):
        seats = ", ".join(" and ".join(pair.seats) for pair in started.pairs if pair.diversity == diversity)
        yield row(text("Diversity", "dim"), text(f"{label_of(PAIR, diversity)}: {seats}"))
    hashes = f"policy {started.policy_hash[:_HASH]}, prices {started.price_hash[:_HASH]}, prompts {started.pin[:_HASH]}"
    yield row(text("Valid", "dim"), text(f"by prices and policy {q.policy_version} of {q.day}; not binding"))
    yield row(text("Hashes", "dim"), text(hashes))


def _table(left: tuple[str, ...], right: tuple[str, ...]) -> Table:
    """Columns of words, then columns of numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in (*left, *right):
        table.add_column(name, justify="left" if name in left else "right", no_wrap=name != "model", overflow="fold")
    return table


def _usd(amount: MicroUSD) -> str:
    return dollars(usd(amount))


def _amount(amount: MicroUSD) -> str:
    return _usd(amount).removesuffix(" USD")
