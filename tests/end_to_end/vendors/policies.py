"""A policy whose seats sit with two vendors: who proposes speaks one wire, who challenges and weighs the other.

`two_vendors` gives it as the service holds it, `written` as the file that an operator writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol

from msgspec.structs import replace

from service.debate.model import PriceRow
from service.policy import Model, Policy, ProviderSetting
from service.policy.settings import SHIPPED_POLICY, read_policy
from tests.end_to_end.vendors.adapters import setting_for
from tests.fixtures.vendors import Tokens

MICRO = 1_000_000
OPEN, CLOSED, JUDGE = "open-1-2026-01-01", "closed-1-20260101", "closed-judge-1-20260101"
"""The models' names with their vendors: the first speaks OpenAI's wire, the others Anthropic's. No two are related."""

PRICES: Mapping[str, PriceRow] = {
    OPEN: PriceRow(
        model=OPEN,
        effective="2026-01-01",
        source="made up for tests",
        input=1_250_001,
        cached_input=125_003,
        cache_write=1_250_001,
        output=10_000_007,
        reasoning=10_000_007,
    ),
    CLOSED: PriceRow(
        model=CLOSED,
        effective="2026-01-01",
        source="made up for tests",
        input=3_000_011,
        cached_input=300_013,
        cache_write=3_750_017,
        cache_write_1h=6_000_019,
        output=15_000_023,
        reasoning=15_000_023,
    ),
    JUDGE: PriceRow(
        model=JUDGE,
        effective="2026-01-01",
        source="made up for tests",
        input=800_029,
        cached_input=80_031,
        cache_write=1_000_037,
        cache_write_1h=1_600_041,
        output=4_000_043,
        reasoning=4_000_043,
    ),
}
"""Micro-dollars per million tokens, odd on purpose: what is rounded where can be seen."""

FAMILIES = {OPEN: ("open", "osier"), CLOSED: ("closed", "cypress"), JUDGE: ("closed", "juniper")}

SEATS = {"framing": OPEN, "proposer": OPEN, "critic": CLOSED, "rebuttal": OPEN, "moderator": JUDGE}


class Bill(Protocol):
    """What a vendor bills for one call."""

    @property
    def model(self) -> str:
        """The model's name with its vendor."""

    @property
    def tokens(self) -> Tokens:
        """The tokens of each kind."""


def cost(bill: Bill) -> int:
    """What a bill comes to by the price table, rounded up once; computed here and not by the service."""
    price, tokens = PRICES[bill.model], bill.tokens
    exact = tokens.input * price.input + tokens.cached_input * price.cached_input
    exact += tokens.cache_write * price.cache_write
    exact += tokens.output * price.output + tokens.reasoning * price.reasoning
    return -(-exact // MICRO)


def two_vendors(open_url: str, closed_url: str, **changes: Any) -> Policy:
    """The shipped policy with its seats at these upstreams; ``changes`` go into both providers' settings."""
    shipped = read_policy(SHIPPED_POLICY)
    settings: dict[str, ProviderSetting] = {
        "open": setting_for("openai", open_url, **changes),
        "closed": setting_for("anthropic", closed_url, **changes),
    }
    models = {name: _model(name, *of) for name, of in FAMILIES.items()}
    seats = {
        name: replace(shipped.seats[name], model=model, alternatives=(), fallback=None) for name, model in SEATS.items()
    }
    return replace(shipped, models=models, providers=settings, seats=seats)


def _model(name: str, provider: str, family: str) -> Model:
    """Counted by our rule and a little more: a vendor counts the schema as the adapter sends it."""
    return Model(
        alias=name,
        provider=provider,
        name=name,
        family=family,
        tokenizer="bytes/4",
        safety_per_mille=1_200,
        context_window=200_000,
        prices=(PRICES[name],),
        overhead_tokens=100,
    )


def written(open_url: str, closed_url: str, providers: str = "") -> str:
    """The text of a policy file with the two vendors. ``providers`` are further lines for both of them.

    The vendors count bytes, the service with a real tokenizer, as it has to; the margin is for the difference.
    """
    shipped = SHIPPED_POLICY.read_text("utf-8")
    before, _, _ = shipped.partition("[providers.offline]")
    before, _, after = before.partition("[formats.auto]")  # whose formats need seats that nobody fills here
    before += after[after.index("\n[") :]
    parts = [
        before,
        f'[providers.open]\nkind = "openai-compatible"\nbase_url = "{open_url}/v1"\n{providers}',
        f'[providers.closed]\nkind = "anthropic"\nbase_url = "{closed_url}"\n{providers}',
        "[seats]",
        *(f'{seat} = {{ model = "{model}", allowance = 1800 }}' for seat, model in SEATS.items()),
        *(_table(name) for name in PRICES),
    ]
    return "\n".join(parts)


def _table(name: str) -> str:
    price, (provider, family) = PRICES[name], FAMILIES[name]
    kinds = ("input", "cached_input", "cache_write", "output", "reasoning")
    rates = ", ".join(f'{kind}_usd = "{Decimal(getattr(price, kind)) / MICRO}"' for kind in kinds)
    return (
        f'[[models]]\nalias = "{name}"\nprovider = "{provider}"\nname = "{name}"\nfamily = "{family}"\n'
        'tokenizer = "o200k_base"\nsafety = "2.0"\noverhead_tokens = 100\ncontext_window = 200000\n'
        f'prices = [{{ effective = "2026-01-01", source = "made up for tests", {rates} }}]\n'
    )
