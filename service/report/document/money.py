"""The parts of a report about money: charges against ceiling and estimate, and every attempt with its charge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from service.debate.amounts import micro, usd
from service.report.document.blocks import Bar, Block, Chart, Fact, FactList, ReportPart, Segment, TableBlock
from service.report.document.speakers import seated
from service.report.labels import BASIS, OUTCOME, label_of
from service.report.result.bill import Account, AttemptDetail, OverallCost
from service.report.result.shares import shown
from service.report.result.types import Result

_HEAD = ("Attempts", "Failed", "Tokens in", "Tokens out", "USD")


def cost(r: Result) -> Iterator[Block]:
    """The cost of the debate against its ceiling and its estimate."""
    money = r.overall_cost
    if money.ceiling_usd is None:
        return
    yield ReportPart("cost", "Cost")
    yield Chart("Money against the ceiling", (_money_bar(r),))
    yield FactList(tuple(_sums(money)))
    yield _by_seat(r)
    yield _by_round(money)
    if len(money.by_round) > 2:  # with fewer, the table of seats says the same
        yield _matrix(r)
    if {(a.seat, a.model) for a in r.attempts} - {(s.seat, s.alias) for s in r.seats}:
        yield _by_model(money)
    yield _by_basis(money)


def _sums(money: OverallCost) -> Iterator[Fact]:
    yield Fact("Ceiling", f"USD {money.ceiling_usd}")
    yield Fact("Spent", f"USD {money.spent_usd}")
    compared = f"; what was charged is {money.actual_to_estimate} of it" if money.actual_to_estimate else ""
    yield Fact("Estimated before", f"USD {money.expected_usd}{compared}")
    if micro(money.held_usd):
        yield Fact("Held for calls under way", f"USD {money.held_usd}")
    if micro(money.excess_usd):
        yield Fact("Billed above what was held", f"USD {money.excess_usd}")
        yield Fact("Charged in all", f"USD {usd(micro(money.spent_usd) + micro(money.excess_usd))}")
    if kinds := _kinds(money):
        yield Fact("Tokens by kind", kinds)
    if tiers := sorted({tier for a in money.by_seat.values() for tier in a.tiers}):
        yield Fact("Service tiers billed", ", ".join(tiers))


def _kinds(money: OverallCost) -> str:
    """The tokens of the whole debate by kind, without the kinds that were not used."""
    names = {
        "input": "fresh input",
        "cached_input": "input from a cache",
        "cache_write": "written to a cache",
        "cache_write_1h": "written to an hour's cache",
        "output": "output",
        "reasoning": "reasoning",
    }
    sums = {words: sum(getattr(a.tokens, name) for a in money.by_seat.values()) for name, words in names.items()}
    return ", ".join(f"{words} {tokens:,}" for words, tokens in sums.items() if tokens)


def _money_bar(r: Result) -> Bar:
    money = r.overall_cost
    spent, held, excess = micro(money.spent_usd), micro(money.held_usd), micro(money.excess_usd)
    ceiling = micro(money.ceiling_usd or "0")
    segments = (Segment("spent", spent, "info"), Segment("held", held, "warn"), Segment("excess", excess, "bad"))
    part = shown(spent / ceiling) if ceiling else "1"
    words = f"USD {money.spent_usd} of {money.ceiling_usd} (a share of {part})"
    words += f", and {money.excess_usd} above what was held" if excess else ""
    return Bar("Spent", tuple(s for s in segments if s.value), max(ceiling, spent + held + excess), words)


def _by_seat(r: Result) -> TableBlock:
    money = r.overall_cost
    held = _anything_held(money)
    rows = (
        (seated(r, seat), *_cells(a, held=held), a.expected_usd or "not told", a.actual_to_estimate or "-")
        for seat, a in money.by_seat.items()
    )
    return _table("By seat", ("Seat", *_head(held=held), "Estimated", "Of estimate"), rows)


def _by_round(money: OverallCost) -> TableBlock:
    return _accounts("By round", "Round", {_round(n): a for n, a in money.by_round.items()}, money)


def _by_model(money: OverallCost) -> TableBlock:
    return _accounts("By model, since a fallback was asked", "Model", money.by_model, money)


def _accounts(caption: str, first: str, accounts: Mapping[str, Account], money: OverallCost) -> TableBlock:
    held = _anything_held(money)
    rows = ((name, *_cells(a, held=held)) for name, a in accounts.items())
    return _table(caption, (first, *_head(held=held)), rows)


def _matrix(r: Result) -> TableBlock:
    """Charges in US dollars, a row for each seat and a column for each round."""
    money = r.overall_cost
    rounds = tuple(money.by_round)
    rows = (
        (seated(r, seat), *(cells[n].amount_usd if n in cells else "-" for n in rounds))
        for seat, cells in money.by_seat_and_round.items()
    )
    return _table("By seat and round, in US dollars", ("Seat", *map(_round, rounds)), rows)


def _by_basis(money: OverallCost) -> TableBlock:
    bases = (("usage", money.by_basis.usage), ("reserved", money.by_basis.reserved), ("none", money.by_basis.none))
    rows = ((label_of(BASIS, basis), str(c.attempts), c.amount_usd) for basis, c in bases if c.attempts)
    return _table("What the charges rest on", ("Basis", "Attempts", "USD"), rows)


def _anything_held(money: OverallCost) -> bool:
    """Whether calls are under way: only then is there a column for reservations."""
    return bool(micro(money.held_usd))


def _head(*, held: bool) -> tuple[str, ...]:
    return (*_HEAD, "Held") if held else _HEAD


def _cells(a: Account, *, held: bool) -> tuple[str, ...]:
    """The cells of an account in the columns of the head."""
    into = a.tokens.input + a.tokens.cached_input + a.tokens.cache_write + a.tokens.cache_write_1h
    out = a.tokens.output + a.tokens.reasoning
    found = (str(a.attempts), str(a.failed_attempts), f"{into:,}", f"{out:,}", a.amount_usd)
    return (*found, a.held_usd) if held else found


def _table(caption: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> TableBlock:
    """A table with a column of names and columns of numbers."""
    return TableBlock(caption, head, tuple(rows), numeric=tuple(range(1, len(head))))


def _round(n: str) -> str:
    return "Before round 1" if n == "0" else f"Round {n}"


def attempts(r: Result) -> Iterator[Block]:
    """Every call, with the ids by which a reader finds it in the vendor's own records."""
    if not r.attempts:
        return
    yield ReportPart("attempts", "Attempts")
    yield TableBlock(
        "Every call in the order in which it was made: what was held for it, and what was charged",
        ("Turn", "Attempt", "Model", "Outcome", "Tokens counted", "Held USD", "Charged USD", "Basis"),
        tuple(_charged(a) for a in r.attempts),
        numeric=(1, 4, 5, 6),
    )
    yield TableBlock(
        "What the vendors said of them",
        ("Turn", "Attempt", "Model that answered", "Request id", "Fingerprint"),
        tuple(_served(a) for a in r.attempts if a.served_model or a.request_id or a.fingerprint),
        numeric=(1,),
        code=(3, 4),
    )


def _charged(a: AttemptDetail) -> tuple[str, ...]:
    charged, basis = (a.amount_usd or "not yet", label_of(BASIS, a.basis) if a.basis else "not yet")
    counted = f"{a.input_tokens_counted:,}"
    return a.turn, str(a.attempt), a.model, label_of(OUTCOME, a.outcome), counted, a.held_usd, charged, basis


def _served(a: AttemptDetail) -> tuple[str, ...]:
    served = (a.served_model, a.request_id, a.fingerprint)
    return a.turn, str(a.attempt), *(value or "not told" for value in served)
