"""What a debate cost, per seat and per round, from the same charges that the ledger is folded from."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from service.budget import Ledger
from service.debate.entries import Charge
from service.debate.model import TurnId
from service.debate.money import usd
from service.report.history import Charged, History, round_of, seat
from service.report.shape import Account, OverallCost, TokenCost, Tokens


def token_cost(h: History, r: int) -> TokenCost:
    """Tokens per seat of one round, in and out, of all attempts."""

    def spoken(name: str) -> int:
        return sum(tokens_of(c.charge) for c in h.charged if round_of(c.turn) == r and seat(c.turn) == name)

    return TokenCost(
        proposer=spoken("proposer"), critic=spoken("critic"), rebuttal=spoken("rebuttal"), moderator=spoken("moderator")
    )


def framing_token_cost(h: History) -> int:
    """Tokens of the framing, which belongs to no round."""
    return sum(tokens_of(c.charge) for c in h.charged if seat(c.turn) == "framing")


def tokens_of(charge: Charge) -> int:
    """All tokens of an attempt, of every kind; 0 where the provider did not tell them."""
    return (
        charge.input_tokens
        + charge.cached_input_tokens
        + charge.cache_write_tokens
        + charge.output_tokens
        + charge.reasoning_tokens
    )


def overall_cost(h: History) -> OverallCost:
    """The money of the whole debate."""
    ledger = Ledger.of(line.entry for line in h.lines)
    started = h.facts.started
    return OverallCost(
        ceiling_usd=usd(started.ceiling) if started else None,
        spent_usd=usd(ledger.spent),
        held_usd=usd(sum(ledger.held.values())),
        expected_usd=usd(started.expected_cost) if started else None,
        excess_usd=usd(ledger.excess),
        by_seat=_accounts(h, seat),
        by_round=_accounts(h, lambda turn: str(round_of(turn))),
    )


def _accounts(h: History, by: Callable[[TurnId], str]) -> dict[str, Account]:
    """One account for everything that was asked, in the order of first asking."""
    names = list(dict.fromkeys(by(turn) for turn in h.facts.attempts))
    asked = {name: sum(n for turn, n in h.facts.attempts.items() if by(turn) == name) for name in names}
    return {name: _account([c for c in h.charged if by(c.turn) == name], asked[name]) for name in names}


def _account(charged: Iterable[Charged], attempts: int) -> Account:
    charged = list(charged)
    charges = [c.charge for c in charged]
    return Account(
        tokens=Tokens(
            input=sum(c.input_tokens for c in charges),
            cached_input=sum(c.cached_input_tokens for c in charges),
            cache_write=sum(c.cache_write_tokens for c in charges),
            output=sum(c.output_tokens for c in charges),
            reasoning=sum(c.reasoning_tokens for c in charges),
        ),
        amount_usd=usd(sum(c.amount for c in charges)),
        attempts=attempts,
        failed_attempts=sum(c.failed for c in charged),
        usage_untold=sum(c.basis == "reserved" for c in charges),
    )
