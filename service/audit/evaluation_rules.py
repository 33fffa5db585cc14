"""What policy decides of an evaluation beyond its plan, as its registration records it: a verifier decides alike.

held_looks   from which look on a held split is worn
release      the limits for which a critic's release stops
cutoffs      when the training of models ended, as far as policy says

`Progress` refuses a registration whose limits are looser than the shipped ones, of any writer.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

_PerMille = Annotated[int, Meta(ge=0, le=1_000)]
_Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class ReleaseLimits(Struct, frozen=True, rename="camel"):
    """The limits of the five rules, in thousandths: of the share, and of a point of the critic's rating of itself."""

    hits: _PerMille
    alarms: _PerMille
    family: _PerMille
    rating: Annotated[int, Meta(ge=0, le=10_000)]
    unusable: _PerMille


SHIPPED_LIMITS = ReleaseLimits(hits=600, alarms=400, family=500, rating=7_000, unusable=50)
AT_LEAST = frozenset({"hits", "family", "rating"})
"""The limits that are stricter where they are higher."""


def is_looser(name: str, limit: int) -> bool:
    """Whether a limit would let a critic pass that the shipped one stops."""
    shipped: int = getattr(SHIPPED_LIMITS, name)
    return limit < shipped if name in AT_LEAST else limit > shipped


def looser_limits(limits: ReleaseLimits) -> tuple[str, ...]:
    """The names of the limits that are looser than the shipped ones."""
    return tuple(name for name in limits.__struct_fields__ if is_looser(name, getattr(limits, name)))


class EvaluationRules(Struct, frozen=True, rename="camel"):
    """What held when a plan was registered. ``cutoffs`` are ISO dates by the alias of a model; others are unknown."""

    held_looks: Annotated[int, Meta(ge=1)]
    release: ReleaseLimits
    cutoffs: dict[str, _Day]
