"""The cost of a debate by seat, round and model, from the same charges that the ledger is folded from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from service.debate.amounts import MicroUSD, usd
from service.debate.entries import AttemptFailed, Charge, TurnSpoke
from service.money import Ledger
from service.report.result.bill import Account, AttemptDetail, Basis, ByBasis, Charged, OverallCost, Tokens
from service.report.result.history import AttemptHistory, History
from service.report.result.round_types import TokenCost
from service.report.result.seat_types import Speaker

PLACES = 1_000
"""A ratio has three decimal places."""


def token_cost(h: History, r: int) -> TokenCost:
    """Tokens per seat of one round, in and out, of all attempts."""

    def spoken(name: str) -> int:
        return sum(tokens_of(a.charge) for a in h.attempts if a.charge and a.round == r and a.seat == name)

    return TokenCost(
        proposer=spoken("proposer"), critic=spoken("critic"), rebuttal=spoken("rebuttal"), moderator=spoken("moderator")
    )


def framing_token_cost(h: History) -> int:
    """Tokens of the framing, which belongs to no round."""
    return sum(tokens_of(a.charge) for a in h.attempts if a.charge and a.seat == "framing")


def tokens_of(charge: Charge) -> int:
    """All tokens of an attempt, of every kind; 0 if the provider did not report them."""
    return (
        charge.input_tokens
        + charge.cached_input_tokens
        + charge.cache_write_tokens
        + charge.cache_write_1h_tokens
        + charge.output_tokens
        + charge.reasoning_tokens
    )


def overall_cost(h: History) -> OverallCost:
    """The money of the whole debate."""
    ledger = Ledger.of(line.entry for line in h.lines)
    started = h.facts.started
    estimates = started.expected_by_seat if started else {}
    by_seat = _grouped(h.attempts, lambda a: a.seat)
    table = [plan.seat for plan in started.seats if plan.seat in estimates] if started else []
    return OverallCost(
        ceiling_usd=usd(started.ceiling) if started else None,
        spent_usd=usd(ledger.spent),
        held_usd=usd(sum(ledger.held.values())),
        expected_usd=usd(started.expected_cost) if started else None,
        excess_usd=usd(ledger.excess),
        actual_to_estimate=ratio(ledger.spent + ledger.excess, started.expected_cost if started else None),
        by_basis=_by_basis(h.attempts),
        by_seat={
            name: _account(by_seat.get(name, ()), estimates.get(name))
            for name in dict.fromkeys((*by_seat, *table, *estimates))
        },
        by_round=_accounts(h.attempts, lambda a: str(a.round)),
        by_seat_and_round={name: _accounts(attempts, lambda a: str(a.round)) for name, attempts in by_seat.items()},
        by_model=_accounts(h.attempts, lambda a: a.asked.model),
    )


def attempts(h: History, names: Callable[[str], Speaker]) -> tuple[AttemptDetail, ...]:
    """Every attempt, in the order of the record; ``names`` gives those of a seat."""
    return tuple(_detail(attempt, names(attempt.seat)) for attempt in h.attempts)


def ratio(actual: MicroUSD, estimate: MicroUSD | None) -> str | None:
    """An amount divided by its estimate, rounded half up to three places; ``None`` without an estimate."""
    if not estimate:
        return None
    thousandths = (2 * actual * PLACES + estimate) // (2 * estimate)
    return f"{thousandths // PLACES}.{thousandths % PLACES:03d}"


def _grouped(made: Sequence[AttemptHistory], by: Callable[[AttemptHistory], str]) -> dict[str, list[AttemptHistory]]:
    """Attempts grouped by a name, in the order of first appearance."""
    found: dict[str, list[AttemptHistory]] = {}
    for attempt in made:
        found.setdefault(by(attempt), []).append(attempt)
    return found


def _accounts(made: Sequence[AttemptHistory], by: Callable[[AttemptHistory], str]) -> dict[str, Account]:
    return {name: _account(attempts) for name, attempts in _grouped(made, by).items()}


def _account(made: Sequence[AttemptHistory], estimate: MicroUSD | None = None) -> Account:
    charges = [a.charge for a in made if a.charge]
    amount = sum(c.amount for c in charges)
    return Account(
        tokens=Tokens(
            input=sum(c.input_tokens for c in charges),
            cached_input=sum(c.cached_input_tokens for c in charges),
            cache_write=sum(c.cache_write_tokens for c in charges),
            cache_write_1h=sum(c.cache_write_1h_tokens for c in charges),
            output=sum(c.output_tokens for c in charges),
            reasoning=sum(c.reasoning_tokens for c in charges),
        ),
        amount_usd=usd(amount),
        held_usd=usd(sum(a.asked.held for a in made if a.ended is None)),
        expected_usd=None if estimate is None else usd(estimate),
        actual_to_estimate=ratio(amount, estimate),
        attempts=len(made),
        failed_attempts=sum(isinstance(a.ended, AttemptFailed) for a in made),
        usage_untold=sum(c.basis == "reserved" for c in charges),
        by_basis=_by_basis(made),
        tiers=tuple(sorted({c.tier for c in charges if c.tier})),
    )


def _by_basis(made: Iterable[AttemptHistory]) -> ByBasis:
    charges = [a.charge for a in made if a.charge]

    def charged(basis: Basis) -> Charged:
        amounts = [c.amount for c in charges if c.basis == basis]
        return Charged(attempts=len(amounts), amount_usd=usd(sum(amounts)))

    return ByBasis(usage=charged("usage"), reserved=charged("reserved"), none=charged("none"))


def _detail(attempt: AttemptHistory, speaker: Speaker) -> AttemptDetail:
    asked, ended, charge = attempt.asked, attempt.ended, attempt.charge
    return AttemptDetail(
        turn=asked.turn,
        attempt=asked.attempt,
        seat=attempt.seat,
        label=speaker.label,
        name=speaker.name,
        model=asked.model,
        served_model=ended.served_model if ended else None,
        request_id=ended.request_id if ended else None,
        fingerprint=ended.fingerprint if ended else None,
        input_tokens_counted=asked.input_tokens,
        held_usd=usd(asked.held),
        amount_usd=usd(charge.amount) if charge else None,
        basis=charge.basis if charge else None,
        outcome="open" if ended is None else "spoke" if isinstance(ended, TurnSpoke) else ended.reason,
    )
