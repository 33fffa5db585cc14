"""Prices, worst cases and the ledger of one debate, in whole micro-dollars.

    reserve   before an attempt, the worst case is held: input tokens as counted, the full output allowance
    settle    after it, the charge is what the usage says; missing usage is charged as held, never as zero
    hold      an `Ask` also needs what its closing turns would cost, so that a truncated debate still ends moderated

If spent + excess + held + worst case would pass the ceiling, the call is not made. The ledger is folded from the same
entries that are recorded, so an auditor computes the same amounts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import astuple, replace

from service.debate.entries import AttemptFailed, Charge, DebateStarted, Entry, TurnAsked, TurnSpoke
from service.debate.model import PriceRow, SeatPlan, TurnId
from service.debate.money import MICRO, MicroUSD
from service.errors import SettingsError

RENDERING_TOKENS = 160
"""What fences, labels and verdicts add at most to a reply when a later seat is shown it; measured in a test."""
RENDERING_PER_MILLE = 1_600
"""How much longer, in tokens, a reply may be in a later request than it was when its model said it."""


def bytes_over_four(text: str) -> int:
    """Tokens of the simulated models: a quarter of the UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


TOKENIZERS: Mapping[str, Callable[[str], int]] = {"bytes/4": bytes_over_four}


def count_tokens(text: str, tokenizer: str) -> int:
    """Tokens of a text under a tokenizer of the catalogue; raises `SettingsError` for one that is not known."""
    if tokenizer not in TOKENIZERS:
        raise SettingsError(f"expected a tokenizer among {sorted(TOKENIZERS)}, found {tokenizer!r}")
    return TOKENIZERS[tokenizer](text)


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens used by one call, normalised: the kinds do not overlap, and their sum is what was billed."""

    input: int
    output: int
    cached_input: int = 0
    cache_write: int = 0
    reasoning: int = 0


def cost(usage: Usage, price: PriceRow) -> MicroUSD:
    """What a usage costs, rounded up once: prices are micro-dollars per million tokens."""
    exact = (
        usage.input * price.input
        + usage.cached_input * price.cached_input
        + usage.cache_write * price.cache_write
        + usage.output * price.output
        + usage.reasoning * price.reasoning
    )
    return -(-exact // MICRO)


def tokens_at_most(input_tokens: int, plan: SeatPlan) -> int:
    """What the vendor may count: our count, times the safety factor of a tokenizer that is not its own."""
    return -(-input_tokens * plan.safety_per_mille // 1_000)


def fits(input_tokens: int, plan: SeatPlan) -> bool:
    """Whether a model's window holds the request and the whole reply that it may give."""
    return tokens_at_most(input_tokens, plan) + plan.allowance <= plan.context_window


def worst_case(input_tokens: int, plan: SeatPlan) -> MicroUSD:
    """The most that one attempt can cost: every input token at its dearest rate, the whole allowance as output."""
    price = plan.price
    dearest_in = max(price.input, price.cache_write, price.cached_input)
    dearest_out = max(price.output, price.reasoning)
    return -(-(tokens_at_most(input_tokens, plan) * dearest_in + plan.allowance * dearest_out) // MICRO)


def shown_tokens(said: int) -> int:
    """A bound on what a reply of this many tokens takes in a later request."""
    return -(-said * RENDERING_PER_MILLE // 1_000) + RENDERING_TOKENS


def charge(usage: Usage | None, held: MicroUSD, price: PriceRow) -> Charge:
    """The charge for an attempt that came back: its usage, or all that was held where none was told that can be true.

    A vendor that bills above the reservation is charged in full; ``excess`` says by how much.
    """
    if usage is None or not all(0 <= tokens <= USAGE_MAX for tokens in astuple(usage)):
        return Charge(held, "reserved")
    amount = cost(usage, price)
    return Charge(
        amount,
        "usage",
        usage.input,
        usage.cached_input,
        usage.cache_write,
        usage.output,
        usage.reasoning,
        excess=max(0, amount - held),
    )


USAGE_MAX = 1_000_000_000
"""Tokens of one kind in one call: no call has more, and no column could hold what far more would cost."""


class Refusal(Struct, frozen=True):
    """Why an `Ask` is not funded: which limit, what it needed and what was left, in micro-dollars."""

    limit: str
    needed: MicroUSD
    left: MicroUSD


class Ledger(Struct, frozen=True):
    """The money of one debate. ``held`` maps each turn with an open attempt to its reservation."""

    ceiling: MicroUSD
    spent: MicroUSD = 0
    excess: MicroUSD = 0
    held: Mapping[TurnId, MicroUSD] = {}

    @property
    def left(self) -> MicroUSD:
        """What may still be reserved; negative only after a vendor billed above a reservation."""
        return self.ceiling - self.spent - self.excess - sum(self.held.values())

    def refuse(self, worst_cases: Iterable[MicroUSD], holding: Sequence[MicroUSD] = ()) -> Refusal | None:
        """Why these attempts cannot be funded together with their closing turns, or ``None``."""
        needed = sum(worst_cases) + sum(holding)
        if self.excess:
            return Refusal("providerOverrun", needed, self.left)
        return Refusal("debateCeiling", needed, self.left) if needed > self.left else None

    def add(self, entry: Entry) -> Self:
        """Fold one more entry."""
        match entry:
            case DebateStarted():
                return replace(self, ceiling=entry.ceiling)
            case TurnAsked():
                return replace(self, held={**self.held, entry.turn: entry.held})
            case TurnSpoke() | AttemptFailed():
                rest = {turn: held for turn, held in self.held.items() if turn != entry.turn}
                within = entry.charge.amount - entry.charge.excess
                return replace(self, held=rest, spent=self.spent + within, excess=self.excess + entry.charge.excess)
        return self

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """Fold a whole list."""
        ledger = cls(0)
        for entry in entries:
            ledger = ledger.add(entry)
        return ledger
