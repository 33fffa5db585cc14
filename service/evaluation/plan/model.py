"""A registered plan: everything that decides what an evaluation asks and how its result is judged.

It is recorded before the first call and named by its hash. Shares are per mille and money is whole micro-dollars, so
that no float is hashed. The items of the sets are not in it: sets are named by their hashes, from which items follow.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.debate.formats import FormatName

FORM = "gainsay.plan/1"
PER_MILLE = 1_000

Kind = Literal["lift", "critic", "moderator"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Does = Literal["debate", "single", "vote", "critic", "moderator"]
Split = Literal["open", "held"]
Metric = Literal["accuracy", "hits", "position", "tilt", "preference"]
METRICS: dict[Kind, tuple[Metric, ...]] = {
    "lift": ("accuracy",),
    "critic": ("hits",),
    "moderator": ("position", "tilt", "preference"),
}
"""The primary metric that a plan may name, by its kind."""
DOES: dict[Kind, tuple[Does, ...]] = {
    "lift": ("debate", "single", "vote"),
    "critic": ("critic",),
    "moderator": ("moderator",),
}
"""What the arms of a plan may do, by its kind."""


class PlannedSet(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One split of one golden set, by its hash."""

    id: str
    version: int
    sha256: str
    split: Split


class Arm(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """One way in which every item is asked.

    ``format`` and ``options`` are a debate's, the options as a request names them (`service.debate.options`).
    ``drafts`` is how many blind answers a vote has, ``until`` where an adversarial debate with a given proposal ends.
    """

    name: str
    does: Does
    format: FormatName | None = None
    options: dict[str, Any] = {}
    drafts: int | None = None
    until: Literal["critic", "whole"] | None = None


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """Two arms, by name: the first less the second."""

    first: str
    second: str


class Effect(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the plan expects, in shares per mille: its power is computed from this.

    ``gain`` and ``loss`` of items differ each way between the arms of a lift; a critic has rates of ``hits`` and
    ``alarms``; a moderator decides a ``share`` of cases for one side.
    """

    gain: int | None = None
    loss: int | None = None
    hits: int | None = None
    alarms: int | None = None
    share: int | None = None


class Pins(Struct, frozen=True, forbid_unknown_fields=True):
    """What runs: the hashes (hex) of the policy and of the manifest of prompts, and the build."""

    policy: str
    prompts: str
    build: str


class Plan(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, tag=FORM, tag_field="form"):
    """A plan. The first of ``comparisons`` is the primary question; only a lift has any.

    ``models`` are aliases of models by seat, where they are others than those of the pinned policy. ``alpha``,
    ``margin`` and ``missing_limit`` are per mille. ``repeats`` is odd. With ``groups`` ``whole`` the items of one group
    count as one. A ``sequence`` is looked at after every ``look_every`` items, in the plan's own order.
    """

    name: str
    question: str
    kind: Kind
    sets: tuple[PlannedSet, ...]
    arms: tuple[Arm, ...]
    comparisons: tuple[Comparison, ...]
    models: dict[str, str]
    pins: Pins
    metric: Metric
    alpha: int
    margin: int
    correction: Literal["holm"]
    missing: Literal["wrong"]
    missing_limit: int
    repeats: int
    groups: Literal["single", "whole"]
    stopping: Literal["fixed", "sequence"]
    look_every: int
    seed: str
    ceiling: MicroUSD
    effect: Effect
    exploratory: bool

    def arm(self, name: str) -> Arm:
        """The arm of this name; raises `KeyError`."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(name)


def encode_plan(plan: Plan) -> bytes:
    """The plan as canonical JSON: members sorted, no spaces, UTF-8."""
    return msgspec.json.encode(plan, order="sorted")


def decode_plan(written: bytes) -> Plan:
    """The plan of its JSON; raises `ValueError` (`msgspec.ValidationError`) for anything else."""
    return msgspec.json.decode(written, type=Plan)


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical JSON, in hex: by this a plan is named."""
    return sha256(encode_plan(plan)).hexdigest()


def plan_members(plan: Plan) -> dict[str, Any]:
    """The plan as a record holds it."""
    members: dict[str, Any] = msgspec.json.decode(encode_plan(plan))
    return members


def plan_of(members: dict[str, Any]) -> Plan:
    """The plan of a record; raises `ValueError` (`msgspec.ValidationError`)."""
    return msgspec.convert(members, Plan)
