"""The quote of a case on one page: whether it would be debated and could begin, and the amounts with their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table

from service.cli.display.console import counted, dollars, row, text
from service.cli.display.outcome import PAGES
from service.cli.display.speakers import speaker
from service.debate.amounts import micro, usd
from service.debate.kernel import FORMATS
from service.debate.model import AdversarialOptions
from service.debate.options import format_of
from service.debate.turns import take_of
from service.report.labels import DECIDED, PAIR, RULE, label_of
from service.web.quote_types import PriceQuote, QuotedModel, QuotedSeat

_HASH = 12
"""The number of characters of a hash on the page."""


def show(console: Console, found: PriceQuote, format_reason: str | None = None) -> None:
    """Print the page of a quote; ``format_reason`` is why policy chose the format, where that is known."""
    for block in _answer(found, format_reason):
        console.print(block)
    for part in (_seats, _models, _documents, _basis):
        for block in part(found):
            console.print(block)


def _answer(q: PriceQuote, format_reason: str | None) -> Iterator[RenderableType]:
    for term, words, style in (*_gate(q), *_format(q, format_reason), _begins(q)):
        yield row(text(term, "dim"), text(words, style))
    yield row(text("Expected", "dim"), text(f"{dollars(q.expected_usd)}{_scarce(q)}"))
    if q.cacheable_calls:
        yield row(text("Caches", "dim"), text(_caches(q)))
    yield row(text("At most", "dim"), text(f"{dollars(q.worst_usd)}, {_bound(q)}"))


def _gate(q: PriceQuote) -> Iterator[tuple[str, str, str]]:
    """The gate's decision, and, if it declines, the changes that would reverse it."""
    if q.gate.debate:
        yield "Gate", f"debate: {label_of(DECIDED, q.gate.decided_by)}", ""
        return
    yield "Gate", f"NO DEBATE: the rule “{label_of(RULE, q.gate.decided_by)}” decides", "bold yellow"
    for change in q.gate.would_change:
        yield "", f"what would change it: {change.sentence}", ""


def _format(q: PriceQuote, reason: str | None) -> Iterator[tuple[str, str, str]]:
    """The format of the quote if it is not the usual one, with policy's reason if policy chose it."""
    if reason or not isinstance(q.options, AdversarialOptions):
        name = q.format.partition("/")[0]
        yield "Format", f"{name}: {reason}" if reason else name, ""


def _begins(q: PriceQuote) -> tuple[str, str, str]:
    ceiling, needed = q.ceiling_usd, f"a debate of this case needs {q.needed_usd} USD to begin"
    if micro(q.ceiling_usd) < micro(q.needed_usd):
        return "Ceiling", f"{ceiling} USD is TOO SMALL: {needed}", "bold yellow"
    if not q.startable:
        return "Ceiling", f"{ceiling} USD; {needed}, and the tenant's limits have LESS LEFT", "bold yellow"
    return "Ceiling", f"{ceiling} USD; {needed}", ""


def _scarce(q: PriceQuote) -> str:
    short = micro(q.expected_usd) > micro(q.ceiling_usd)
    return ", more than the ceiling: money would probably end it early" if short else ""


def _caches(q: PriceQuote) -> str:
    calls, saves = counted(q.cacheable_calls, "call"), micro(q.cache_saves_usd)
    what = "take off some" if saves >= 0 else "add some"
    found = "finds" if q.cacheable_calls == 1 else "find"
    here = f"{calls} {found} the system prompt and the case in a vendor's cache"
    return f"may {what} {dollars(usd(abs(saves)))} if {here}; an estimate: caches expire after minutes"


def _bound(q: PriceQuote) -> str:
    course = PAGES[format_of(q.options)].course(q.options)
    beginning = FORMATS[q.format].table(q.options).beginning
    twice = dict.fromkeys(f"the {turn.seat}" for turn in beginning if take_of(turn.id) > 1)
    again = f", {' and '.join(twice)} asked again for its words" if twice else ""
    everything = f"{course}{again}, {counted(q.attempts_per_turn, 'attempt')} a turn"
    if micro(q.worst_usd) < micro(q.asked_at_most_usd):
        return f"the ceiling; without it {dollars(q.asked_at_most_usd)}: {everything}"
    return f"with everything that can be asked: {everything}"


def _seats(q: PriceQuote) -> Iterator[RenderableType]:
    yield Padding(Rule(text("Seats"), align="left", style="dim"), (1, 0, 0, 0))
    table = _table(("seat", "model"), ("turns", "first request", "expected", "at most"))
    for seat in q.seats:
        table.add_row(
            text(speaker(q.options, seat.seat)),
            text(", then ".join(model.alias for model in _models_of(seat))),
            str(seat.turns_at_most),
            f"{seat.first_request_tokens:,} tokens",
            _amount(seat.expected_usd),
            _amount(seat.worst_usd),
        )
    yield table


def _models_of(seat: QuotedSeat) -> Sequence[QuotedModel]:
    return (seat.model, seat.fallback) if seat.fallback else (seat.model,)


def _models(q: PriceQuote) -> Iterator[RenderableType]:
    yield Rule(text("Prices, in USD for a million tokens"), align="left", style="dim")
    table = _table(("model", "family"), ("in", "out", "since"))
    table.add_column("source", overflow="fold")
    models: dict[str, QuotedModel] = {model.alias: model for seat in q.seats for model in _models_of(seat)}
    for model in models.values():
        amounts = map(text, (model.input_usd, model.output_usd, model.price_effective))
        table.add_row(text(model.alias), text(model.family), *amounts, text(model.price_source))
    yield table


def _documents(q: PriceQuote) -> Iterator[RenderableType]:
    yield Rule(text("Documents"), align="left", style="dim")
    if not q.documents:
        yield text("none: the arguments would rest on reasoning alone")
    for found in q.documents:
        tokens = ", ".join(f"{n:,} tokens of {name}" for name, n in found.tokens.items())
        later = f", from round {found.round}" if found.round > 1 else ""
        yield row(text(found.id, "dim"), text(f"{found.title}{later}"), text(tokens, "dim"))


def _basis(q: PriceQuote) -> Iterator[RenderableType]:
    yield Rule(text("Basis"), align="left", style="dim")
    for diversity in dict.fromkeys(pair.diversity for pair in q.pairs):
        seats = ", ".join(" and ".join(pair.seats) for pair in q.pairs if pair.diversity == diversity)
        yield row(text("Diversity", "dim"), text(f"{label_of(PAIR, diversity)}: {seats}"))
    hashes = f"policy {q.policy_hash[:_HASH]}, prices {q.price_hash[:_HASH]}, prompts {q.prompts_pin[:_HASH]}"
    yield row(text("Valid", "dim"), text(f"by prices and policy {q.policy_version} of {q.day}; not binding"))
    yield row(text("Hashes", "dim"), text(hashes))


def _table(left: tuple[str, ...], right: tuple[str, ...]) -> Table:
    """Columns of words, then columns of numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in (*left, *right):
        table.add_column(name, justify="left" if name in left else "right", no_wrap=name != "model", overflow="fold")
    return table


def _amount(amount: str) -> str:
    return dollars(amount).removesuffix(" USD")
