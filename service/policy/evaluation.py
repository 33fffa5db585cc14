"""What evaluations may spend, and what their results are judged by beside the plan: the table [evaluation].

Evaluations have money and places of their own (service/store/evaluation_room.py): they draw on no limit of the tenant,
and no debate of the tenant draws on theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct
from msgspec.structs import asdict

from service.audit.evaluation_rules import AT_LEAST, SHIPPED_LIMITS, EvaluationRules, ReleaseLimits, is_looser
from service.debate.amounts import MICRO, MicroUSD
from service.policy.bounds import number, share_per_mille
from service.policy.faults import Path, WrongSetting
from service.policy.keys import AMOUNT, UNLIMITED, Key, dollars, table, whole
from service.policy.limits import Budget
from service.policy.models import Model


def _limit(name: str) -> Key:
    """A limit of a critic's release, kept in thousandths; one that is looser than the shipped limit is refused."""
    shipped: int = getattr(SHIPPED_LIMITS, name)
    rating = name == "rating"
    most = 10 if rating else 1
    low, high = (f"{shipped / 1_000:g}", most) if name in AT_LEAST else (0, f"{shipped / 1_000:g}")

    def read(path: Path, value: str) -> int:
        if rating:
            found = number(path, value, 0, most) * 1_000
            if found != int(found):
                raise WrongSetting(path, f"expected a rating with at most three decimals, found {value!r}")
            limit = int(found)
        else:
            limit = share_per_mille(path, value)
        if is_looser(name, limit):
            way = "at least" if name in AT_LEAST else "at most"
            raise WrongSetting(
                path,
                f"expected {way} {shipped / 1_000:g}, found {value!r}: a policy may be stricter than the shipped "
                "limit, and never looser",
            )
        return limit

    return Key("", str, read, str, lambda limit: f"{limit / 1_000:g}", form=f"{low} to {high}", schema=AMOUNT)


def _half_or_more() -> Key:
    """A share from 0.5 to 1, kept in thousandths: of two sides one has at least half."""

    def read(path: Path, value: str) -> int:
        limit = share_per_mille(path, value)
        if limit < 500:
            raise WrongSetting(
                path, f"expected a share from 0.5 to 1, found {value!r}: one of two sides has half or more"
            )
        return limit

    return Key("", str, read, str, lambda limit: f"{limit / 1_000:g}", form="0.5 to 1", schema=AMOUNT)


class EvaluationBudget(Struct, frozen=True, rename="camel"):
    """What the evaluations of a tenant may spend, in micro-dollars (``None``: no limit), and how many debates they ask
    at once."""

    day: Annotated[MicroUSD | None, dollars("day_usd", none=UNLIMITED)] = 50 * MICRO
    month: Annotated[MicroUSD | None, dollars("month_usd", none=UNLIMITED)] = 500 * MICRO
    debates: Annotated[int, whole(1, 1_000)] = 8

    @property
    def money(self) -> Budget:
        """The limits of money, as a tenant's."""
        return Budget(self.day, self.month)


USUAL_BUDGET = EvaluationBudget()
"""Where neither the policy nor the tenant has such a table: bounded, and apart from the tenant's limits."""


class ReleasePolicy(Struct, frozen=True, rename="camel"):
    """The limits for which a critic's release stops, in thousandths."""

    hits: Annotated[int, _limit("hits")] = SHIPPED_LIMITS.hits
    alarms: Annotated[int, _limit("alarms")] = SHIPPED_LIMITS.alarms
    family: Annotated[int, _limit("family")] = SHIPPED_LIMITS.family
    rating: Annotated[int, _limit("rating")] = SHIPPED_LIMITS.rating
    unusable: Annotated[int, _limit("unusable")] = SHIPPED_LIMITS.unusable


class ModeratorPolicy(Struct, frozen=True, rename="camel"):
    """Above which share of decided debates for one side, or place, a recorded tilt asks for a person (per mille)."""

    tilt_limit: Annotated[int, _half_or_more()] = 650


class EvaluationPolicy(Struct, frozen=True, rename="camel"):
    """The table [evaluation]. From ``held_looks`` looks on, a held split supports no claim."""

    held_looks: Annotated[int, whole(2, 1_000)] = 10
    budget: Annotated[EvaluationBudget, table(EvaluationBudget)] = EvaluationBudget()
    release: Annotated[ReleasePolicy, table(ReleasePolicy)] = ReleasePolicy()
    moderators: Annotated[ModeratorPolicy, table(ModeratorPolicy)] = ModeratorPolicy()

    def rules(self, models: Mapping[str, Model]) -> EvaluationRules:
        """What a registration records of it, and of the models."""
        cutoffs = {alias: model.cutoff for alias, model in sorted(models.items()) if isinstance(model.cutoff, str)}
        return EvaluationRules(self.held_looks, ReleaseLimits(**asdict(self.release)), cutoffs)


USUAL_EVALUATION = EvaluationPolicy()
"""What holds where the policy has no such table."""


class EvaluationBudgets(Struct, frozen=True):
    """The budgets of all tenants, for workers; ``others`` holds for tenants that are not named."""

    others: EvaluationBudget = USUAL_BUDGET
    tenants: Mapping[str, EvaluationBudget] = {}

    def of(self, tenant: str) -> EvaluationBudget:
        """The budget of a tenant's evaluations."""
        return self.tenants.get(tenant, self.others)


USUAL_BUDGETS = EvaluationBudgets()
