"""A plan file becomes a plan, or a refusal that lists all of its faults, each with its place in the file.

[plan]          name, question, kind, metric, alpha, margin, correction, missing, missing_limit, repeats, groups,
                stopping, look_every, seed, ceiling_usd, exploratory
[[sets]]        id, version, sha256, split
[[arms]]        name, does, and by what it does: format, options; drafts; until
[[comparisons]] first, second: the primary question first (a lift alone)
[models]        the alias of a model by seat; policy's own sit where none is named
[effect]        what is expected, for the power of the plan
[pins]          policy, prompts, build: left out, those that run are taken; named, they have to be these
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Literal

from service.errors import did_you_mean
from service.evaluation.plan.arms import read_arms, read_comparisons
from service.evaluation.plan.around import Around
from service.evaluation.plan.model import KINDS, METRICS, Effect, Kind, Pins, Plan, PlannedSet, Split
from service.evaluation.plan.rules import check_plan
from service.evaluation.plan.tables import InvalidPlan, Noted, Table, shown

FILE = ("plan", "sets", "arms", "comparisons", "models", "effect", "pins")
PLAN = (
    "name",
    "question",
    "kind",
    "metric",
    "alpha",
    "margin",
    "correction",
    "missing",
    "missing_limit",
    "repeats",
    "groups",
    "stopping",
    "look_every",
    "seed",
    "ceiling_usd",
    "exploratory",
)
SET = ("id", "version", "sha256", "split")
EFFECT: dict[Kind, tuple[str, ...]] = {"lift": ("gain", "loss"), "critic": ("hits", "alarms"), "moderator": ("share",)}
"""What a plan expects, by its kind."""
PINS = ("policy", "prompts", "build")

CORRECTIONS: tuple[Literal["holm"], ...] = ("holm",)
MISSING: tuple[Literal["wrong"], ...] = ("wrong",)
GROUPS: tuple[Literal["single", "whole"], ...] = ("single", "whole")
STOPPING: tuple[Literal["fixed", "sequence"], ...] = ("fixed", "sequence")
SPLITS: tuple[Split, ...] = ("open", "held")
MISSING_LIMIT = 50
LOOK_EVERY = 10
REPEATS_MAX = 25
_HASH = re.compile("[0-9a-f]{64}")
_HASH_WORDS = "the SHA-256 of a set as 64 hexadecimal digits, as `gainsay evaluate sets` shows it"


def read_plan(text: str, around: Around) -> Plan:
    """The plan of a file, held against what is around it.

    Raises `InvalidPlan`: its ``parts`` are the faults, each with the pointer of its place. A file that is no TOML
    has one fault, whose message names line and column.
    """
    try:
        written = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise InvalidPlan(f"the plan is not TOML: {error}") from None
    except RecursionError:
        raise InvalidPlan("the plan is nested too deeply; write it in tables of one level") from None
    noted = Noted()
    plan = _plan(written, around, noted)
    check_plan(plan, around, noted)
    noted.refuse()
    return plan


def _plan(written: dict[str, Any], around: Around, noted: Noted) -> Plan:
    file = Table(written, (), noted, FILE)
    table = Table(written.get("plan", {}), ("plan",), noted, PLAN)
    kind = table.choice("kind", KINDS)
    arms = read_arms(file, kind, noted)
    return Plan(
        name=table.name("name"),
        question=table.text("question"),
        kind=kind,
        sets=_sets(file),
        arms=arms,
        comparisons=read_comparisons(file, kind, arms),
        models=_models(file, around, noted),
        pins=_pins(file, around, noted),
        metric=table.choice("metric", METRICS[kind]),
        alpha=table.share("alpha", 1, 200),
        margin=table.share("margin", 0, 999),
        correction=table.choice("correction", CORRECTIONS),
        missing=table.choice("missing", MISSING),
        missing_limit=table.share("missing_limit", 0, 1_000, MISSING_LIMIT),
        repeats=_repeats(table),
        groups=table.choice("groups", GROUPS),
        stopping=table.choice("stopping", STOPPING),
        look_every=table.whole("look_every", 1, 1_000, LOOK_EVERY),
        seed=table.text("seed"),
        ceiling=table.dollars("ceiling_usd"),
        effect=_effect(file, kind, noted),
        exploratory=table.flag("exploratory"),
    )


def _repeats(table: Table) -> int:
    repeats = table.whole("repeats", 1, REPEATS_MAX)
    if repeats % 2 == 0:
        table.note("repeats", f"expected an odd number, so that a majority of repeats decides, found {repeats}")
    return repeats


def _sets(file: Table) -> tuple[PlannedSet, ...]:
    found: list[PlannedSet] = []
    for _, table in file.tables("sets", SET):
        planned = PlannedSet(
            id=table.name("id"),
            version=table.whole("version", 1, 1_000_000),
            sha256=table.text("sha256", form=_HASH, words=_HASH_WORDS),
            split=table.choice("split", SPLITS),
        )
        if any(other.id == planned.id for other in found):
            table.note("id", f"the set {shown(planned.id)} is named twice; a plan asks one split of a set")
        found.append(planned)
    return tuple(found)


def _models(file: Table, around: Around, noted: Noted) -> dict[str, str]:
    """The models that the file seats; policy seats the others."""
    table = Table(file.raw("models") if file.has("models") else {}, ("models",), noted, around.seats)
    models = dict[str, str]()
    for seat in around.seats:
        if table.has(seat):
            alias = table.text(seat)
            if alias and alias not in around.models:
                table.note(seat, f"policy has no model {shown(alias)}{did_you_mean(alias, around.models)}")
            models[seat] = alias
    return models


def _effect(file: Table, kind: Kind, noted: Noted) -> Effect:
    if not file.has("effect"):
        listed = ", ".join(EFFECT[kind])
        noted.note(("effect",), f"this table is missing: expected {listed}, from which the plan's power is computed")
        return Effect()
    table = Table(file.raw("effect"), ("effect",), noted, EFFECT[kind])
    return Effect(**{name: table.share(name, 0, 1_000) for name in EFFECT[kind]})


def _pins(file: Table, around: Around, noted: Noted) -> Pins:
    """What runs; a pin that the file names has to be this one."""
    table = Table(file.raw("pins") if file.has("pins") else {}, ("pins",), noted, PINS)
    for name in PINS:
        if table.has(name) and (named := table.text(name)) and named != (runs := getattr(around.pins, name)):
            table.note(name, f"the plan was written for {shown(named)}, and {shown(runs)} runs here")
    return around.pins
