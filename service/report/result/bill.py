"""The shape of a debate's cost: accounts of its money, and every attempt with its reservation and charge.

Amounts are US dollars as decimal strings, exact to the micro-dollar; a ratio is a decimal string of three places.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from service.debate.model import TurnId

Basis = Literal["usage", "reserved", "none"]


class Tokens(Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens by kind, as far as providers reported them; the kinds do not overlap."""

    input: int = 0
    """Tokens of input at the full rate."""
    cached_input: int = 0
    """Tokens of input that the vendor read from its cache."""
    cache_write: int = 0
    """Tokens of input that the vendor wrote into its cache for some minutes."""
    output: int = 0
    """Tokens of output, without reasoning."""
    reasoning: int = 0
    """Tokens of reasoning."""
    cache_write_1h: int = field(default=0, name="cacheWrite1h")
    """Tokens of input that the vendor wrote into its cache for an hour."""


class Charged(Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of attempts that were charged on one basis, and their cost together."""

    attempts: int
    """The number of attempts."""
    amount_usd: str = field(name="amountUSD")
    """US dollars charged for them together."""


class ByBasis(Struct, frozen=True, kw_only=True):
    """The bases of charges: the reported usage, the reservation if no usage could be priced, or no use at all."""

    usage: Charged
    """Charged by the usage that the vendor reported."""
    reserved: Charged
    """Charged as reserved, because no usage could be priced."""
    none: Charged
    """Not charged, because the vendor did not work on them."""


class Account(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The cost of a seat, a round or a model.

    Only a whole seat has an estimate, and older records have none.
    """

    tokens: Tokens
    """Tokens by kind, as far as vendors reported them."""
    amount_usd: str = field(name="amountUSD")
    """US dollars charged, excess included."""
    held_usd: str = field(name="heldUSD")
    """US dollars reserved for attempts under way."""
    expected_usd: str | None = field(name="expectedUSD", default=None)
    """US dollars by the catalogue's estimate. Only a whole seat has one."""
    actual_to_estimate: str | None = None
    """The amount divided by its estimate, with three decimals: 1.000 is as estimated."""
    attempts: int
    """The number of attempts."""
    failed_attempts: int
    """The number of attempts without a usable reply."""
    usage_untold: int
    """The number of attempts that were charged as reserved."""
    by_basis: ByBasis
    """All attempts by the basis of their charge."""
    tiers: tuple[str, ...] = ()
    """The vendor's service tiers that were billed, beside its usual one."""


class OverallCost(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Money: spent + excess is the sum of all charges, and spent + held never passes the ceiling."""

    ceiling_usd: str | None = field(name="ceilingUSD", default=None)
    """US dollars that the debate may cost at most. Absent for a declined case."""
    spent_usd: str = field(name="spentUSD")
    """US dollars spent, never above the ceiling."""
    held_usd: str = field(name="heldUSD")
    """US dollars reserved for calls under way. Together with what is spent it never passes the ceiling."""
    expected_usd: str | None = field(name="expectedUSD", default=None)
    """US dollars by the catalogue's estimate. Absent for a declined case."""
    excess_usd: str = field(name="excessUSD")
    """US dollars that vendors billed above reservations, beside what is spent."""
    actual_to_estimate: str | None = None
    """Spent and excess divided by the estimate, with three decimals: 1.000 is as estimated."""
    by_basis: ByBasis
    """All attempts by the basis of their charge."""
    by_seat: dict[str, Account]
    """The cost of each seat, asked or not."""
    by_round: dict[str, Account]
    """The cost of each round. Round 0 is what comes before the first."""
    by_seat_and_round: dict[str, dict[str, Account]]
    """The cost of each seat in each round."""
    by_model: dict[str, Account]
    """The cost of each model, by the alias that was asked."""


class AttemptDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One attempt at a turn: the model asked, the model that answered, the reservation and the charge.

    ``servedModel``, ``requestId`` and ``fingerprint`` are the vendor's own words, absent if it gave none.
    """

    turn: TurnId
    attempt: int
    """The number of the attempt in its turn, from 1."""
    seat: str
    label: str | None = None
    """The debater's neutral name in this debate. Other seats have none."""
    name: str | None = None
    """The caller's name for the debater. Other seats have none."""
    model: str
    """The alias of the model that was asked."""
    served_model: str | None = None
    """The name of the model that answered, by the vendor's word."""
    request_id: str | None = None
    """The vendor's id of the request."""
    fingerprint: str | None = None
    """The vendor's mark of the system that answered."""
    input_tokens_counted: int
    """Tokens of the request by our own count, the basis of the reservation."""
    held_usd: str = field(name="heldUSD")
    """US dollars reserved for the attempt."""
    amount_usd: str | None = field(name="amountUSD", default=None)
    """US dollars charged. Absent while the attempt is under way."""
    basis: Basis | None = None
    """What the charge is based on. Absent while the attempt is under way."""
    outcome: str
    """`spoke`, `open` while the attempt is under way, or the code of its failure."""
