"""The policy that the service runs under, as it stands in gainsay.toml: pure data, checked when it is read.

gate       when a question deserves a debate
debate     ceilings, rounds, thresholds of the critic, when a person has to decide
limits     how much a case may hold
seats      which model sits where, and how much it may say in one turn
models     the catalogue: provider, name, family, tokenizer, window, dated prices
providers  the wire behind each model
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from service.debate.model import PriceRow
from service.debate.money import MicroUSD
from service.gate import GatePolicy


class Model(Struct, frozen=True, rename="camel"):
    """A model of the catalogue. ``prices`` are in the order of their dates; the last one in force counts."""

    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    safety_per_mille: int
    context_window: int
    prices: tuple[PriceRow, ...]
    parameters: dict[str, int | str | bool] = {}

    def price(self, day: str) -> PriceRow | None:
        """The price row in force on a day (``YYYY-MM-DD``), or ``None``: no price, no call."""
        return next((row for row in reversed(self.prices) if row.effective <= day), None)


class Seat(Struct, frozen=True, rename="camel"):
    """Who sits in a seat by default, and the most output tokens of one turn there."""

    model: str
    allowance: int


class DebatePolicy(Struct, frozen=True, rename="camel"):
    """What a debate may cost and how it is played, where the case does not say. Amounts are micro-dollars.

    A case is high-stakes when its downside is above ``high_stakes_downside`` or its materiality is listed.
    """

    format: str
    ceiling: MicroUSD
    ceiling_max: MicroUSD
    rounds: int
    high_stakes_rounds: int
    high_stakes_downside: MicroUSD
    high_stakes_materiality: tuple[str, ...]
    min_challenge_strength: int
    require_critic_retry_below: int
    attempts_per_turn: int
    human_review: tuple[str, ...]
    expected_input_tokens: int
    expected_output_per_mille: int
    may_choose_models: bool


class Limits(Struct, frozen=True, rename="camel"):
    """How much a case may hold; characters are Unicode code points."""

    question_characters: int
    answer_characters: int
    persona_characters: int
    note_characters: int
    documents: int
    document_characters: int
    total_characters: int
    positions: int
    metadata: int


class ProviderSetting(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The wire behind a provider's name."""

    kind: Literal["offline", "scripted"]
    script: str | None = None
    latency_ms: int = 0


class Policy(Struct, frozen=True, rename="camel"):
    """The whole policy."""

    version: str
    gate: GatePolicy
    debate: DebatePolicy
    limits: Limits
    seats: Mapping[str, Seat]
    models: Mapping[str, Model]
    providers: Mapping[str, ProviderSetting]

    @property
    def task_types(self) -> tuple[str, ...]:
        """The task types that a case may name: risk categories, and those that policy always or never debates."""
        return tuple(dict.fromkeys((*self.gate.risk_categories, *self.gate.always, *self.gate.never, *OTHER)))


OTHER = ("other",)
"""A task type outside the risk categories: it may be asked for, and the gate then says why it is declined."""

_encoder = msgspec.json.Encoder(order="sorted")


def policy_hash(value: object) -> str:
    """SHA-256 over the sorted JSON of a part of the policy, hex."""
    return sha256(_encoder.encode(value)).hexdigest()


def decimal(value: object) -> Decimal:
    """A TOML number or string as the decimal that was written; raises `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise TypeError(f'expected a decimal, written as a string such as "0.50", found {value!r}')
    return Decimal(value)
