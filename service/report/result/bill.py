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
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    cache_write_1h: int = field(default=0, name="cacheWrite1h")


class Charged(Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of attempts that were charged on one basis, and their cost together."""

    attempts: int
    amount_usd: str = field(name="amountUSD")


class ByBasis(Struct, frozen=True, kw_only=True):
    """The bases of charges: the reported usage, the reservation if no usage could be priced, or no use at all."""

    usage: Charged
    reserved: Charged
    none: Charged


class Account(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The cost of a seat, a round or a model: ``amountUSD`` is the sum of its charges, excess included.

    ``heldUSD`` is reserved for its attempts under way. ``expectedUSD`` is the catalogue's estimate, and
    ``actualToEstimate`` the amount divided by it. Only a whole seat has an estimate, and older records have none: both
    are then absent. ``usageUntold`` attempts were charged as reserved, because their provider did not report tokens;
    ``byBasis`` covers all attempts. ``tiers`` are the vendor's service tiers that were billed, beside its usual one.
    """

    tokens: Tokens
    amount_usd: str = field(name="amountUSD")
    held_usd: str = field(name="heldUSD")
    expected_usd: str | None = field(name="expectedUSD", default=None)
    actual_to_estimate: str | None = None
    attempts: int
    failed_attempts: int
    usage_untold: int
    by_basis: ByBasis
    tiers: tuple[str, ...] = ()


class OverallCost(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Money: spent + excess is the sum of all charges, and spent + held never passes the ceiling.

    ``heldUSD`` is reserved for calls under way; ``expectedUSD`` is the catalogue's estimate; ``excessUSD`` is the cost
    above reservations. Round 0 is the framing. A declined case has neither ceiling nor estimate. ``bySeat`` has every
    seat with an estimate, asked or not; ``bySeatAndRound`` maps seats to rounds; ``byModel`` uses the alias that was
    asked, the seat's own or its fallback.
    """

    ceiling_usd: str | None = field(name="ceilingUSD", default=None)
    spent_usd: str = field(name="spentUSD")
    held_usd: str = field(name="heldUSD")
    expected_usd: str | None = field(name="expectedUSD", default=None)
    excess_usd: str = field(name="excessUSD")
    actual_to_estimate: str | None = None
    by_basis: ByBasis
    by_seat: dict[str, Account]
    by_round: dict[str, Account]
    by_seat_and_round: dict[str, dict[str, Account]]
    by_model: dict[str, Account]


class AttemptDetail(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One attempt at a turn: the model asked, the model that answered, the reservation and the charge.

    ``label`` and ``name`` are a debater's letter or number and the caller's name for it, as in the transcript.
    ``model`` is the catalogue's alias, ``servedModel``, ``requestId`` and ``fingerprint`` are the vendor's own words,
    absent if it gave none. ``inputTokensCounted`` is our count of the request, the basis of the reservation.
    ``outcome`` is ``spoke``, ``open`` before the attempt has ended, or the reason of the failure; an open one has no
    charge.
    """

    turn: TurnId
    attempt: int
    seat: str
    label: str | None = None
    name: str | None = None
    model: str
    served_model: str | None = None
    request_id: str | None = None
    fingerprint: str | None = None
    input_tokens_counted: int
    held_usd: str = field(name="heldUSD")
    amount_usd: str | None = field(name="amountUSD", default=None)
    basis: Basis | None = None
    outcome: str
