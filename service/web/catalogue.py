"""The catalogue: prompts, models and policy, each with the hashes that debates record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from litestar import Response, get
from msgspec import Struct, defstruct, field

from service.policy import (
    BallotPolicy,
    Budget,
    Budgets,
    Calls,
    ConvergencePolicy,
    DebatePolicy,
    FormatsPolicy,
    GatePolicy,
    Limits,
    PanelPolicy,
    Policy,
    Seat,
    StancesPolicy,
)
from service.policy.keys import Key, json_name, keys_of
from service.policy.seating import SeatChoice
from service.prompts import PinnedFile
from service.store.impact import standings
from service.web.app_state import LOCAL, HttpRequest, app_state
from service.web.debates import answered, known_query
from service.web.model_types import ModelList, seat_places


class PromptDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pinned file. New debates use the current version."""

    id: str
    version: int
    kind: Literal["prompt", "fragment", "schema", "template"]
    file: str
    sha256: str
    current: bool


class PromptList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pinned files and ``pin``, the SHA-256 of the manifest that lists them."""

    always_sent: ClassVar = ("prompts",)

    pin: str
    prompts: tuple[PromptDetail, ...]


class SeatSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The default model of a seat, the most output tokens of one of its turns, and the other models of the seat.

    ``choices`` are the models in order of preference. ``fallback`` replaces the model when it cannot answer.
    """

    always_sent: ClassVar = ("choices",)

    model: str
    allowance: int
    choices: tuple[str, ...]
    fallback: str | None


def _settings(name: str, doc: str, keys: Iterable[Key]) -> type[Struct]:
    """A type that shows members of the policy over HTTP, with the types and names of their declaration."""
    members = [(key.member, key.shown_type, field(name=json_name(key))) for key in keys]
    return defstruct(name, members, frozen=True, kw_only=True, module=__name__, namespace={"__doc__": doc})


def _shown(kept: Struct, keys: Iterable[Key]) -> dict[str, Any]:
    return {key.member: key.shown(getattr(kept, key.member)) for key in keys}


_GATE = keys_of(GatePolicy)
_DEBATE = tuple(key for key in keys_of(DebatePolicy) if not key.member.startswith("expected_"))
_ZONE = tuple(key for key in keys_of(Budgets) if key.member == "zone")
"""HTTP shows the limits of a named tenant to no other tenant."""
GateSettings = _settings(
    "GateSettings",
    "The gate's rules for when a question deserves a debate. Thresholds are by task type, in US dollars.",
    _GATE,
)
DebateSettings = _settings(
    "DebateSettings",
    "The settings of a debate that its case leaves out.\n\n"
    "Above ``swapAboveUSD`` the closing seat is asked twice; absent means never.",
    _DEBATE,
)
CallSettings = _settings(
    "CallSettings", "How often a turn is tried again, and when it ends without a reply.", keys_of(Calls)
)
BudgetSettings = _settings(
    "BudgetSettings",
    "The limits of a tenant that policy does not name, in US dollars; absent where there is no limit.",
    (*_ZONE, *keys_of(Budget)),
)
StancesSettings = _settings(
    "StancesSettings", "The defaults of stances, and the bounds of a case.", keys_of(StancesPolicy)
)
BallotSettings = _settings(
    "BallotSettings",
    "The defaults of a ballot, and the bounds of a case. ``thresholdShare`` is a share of the debaters, from 0 to 1.",
    keys_of(BallotPolicy),
)
PanelSettings = _settings(
    "PanelSettings",
    "The defaults of a panel, and the bounds of a case; rounds include the blind one.\n\n"
    "``thresholds`` are the consensus that ends a debate, shares from 0 to 1 by question type.",
    keys_of(PanelPolicy),
)
ConvergenceSettings = _settings(
    "ConvergenceSettings",
    "The defaults of convergence, and the bounds of a case; rounds do not include the independent one.\n\n"
    "``similarity`` is a share from 0 to 1.",
    keys_of(ConvergencePolicy),
)
FormatSettings = defstruct(
    "FormatSettings",
    [
        ("auto", Mapping[str, str]),
        ("stances", StancesSettings),
        ("ballot", BallotSettings),
        ("panel", PanelSettings),
        ("convergence", ConvergenceSettings),
    ],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={
        "__doc__": "The rules of each format but the adversarial one.\n\n"
        "``auto`` maps task types to the format that it selects."
    },
)
PolicyDetail = defstruct(
    "PolicyDetail",
    [
        ("version", str),
        ("hash", str),
        ("task_types", tuple[str, ...]),
        ("formats", tuple[str, ...]),
        ("gate", GateSettings),
        ("debate", DebateSettings),
        ("limits", Limits),
        ("calls", CallSettings),
        ("budgets", BudgetSettings),
        ("seats", dict[str, SeatSettings]),
        ("format_rules", FormatSettings),
    ],
    frozen=True,
    kw_only=True,
    rename="camel",
    module=__name__,
    namespace={
        "__doc__": """The policy that runs. Every decision names its ``hash``.

    ``formats`` are those that a case may name here. ``formatRules`` are the defaults of each format and the bounds of a
    case, with shares from 0 to 1.
    """
    },
)


@get("/v1/prompts")
async def prompts(request: HttpRequest) -> Response[bytes]:
    """Every pinned file of this image."""
    known_query(request, ())
    pinned = app_state(request).service.prompts
    return answered(PromptList(pin=pinned.pin, prompts=tuple(_prompt(entry) for entry in pinned.entries)))


@get("/v1/models")
async def models(request: HttpRequest) -> Response[bytes]:
    """The catalogue, with what the tenant's own panels have shown of its models."""
    known_query(request, ())
    site = app_state(request)
    deployment = site.deployment
    found = await standings(site.database, LOCAL.tenant)
    return answered(ModelList.of(deployment.policy, deployment.day, found))


@get("/v1/policy")
async def policy(request: HttpRequest) -> Response[bytes]:
    """The policy."""
    known_query(request, ())
    return answered(_policy(app_state(request).deployment.policy))


def _prompt(entry: PinnedFile) -> PromptDetail:
    return PromptDetail(
        id=entry.id,
        version=entry.version,
        kind=entry.kind,
        file=entry.file,
        sha256=entry.sha256,
        current=entry.current,
    )


def _policy(policy: Policy) -> Struct:
    return PolicyDetail(
        version=policy.version,
        hash=policy.gate.hash,
        task_types=policy.task_types,
        formats=policy.offered,
        gate=GateSettings(**_shown(policy.gate, _GATE)),
        debate=DebateSettings(**_shown(policy.debate, _DEBATE)),
        limits=policy.limits,
        calls=CallSettings(**_shown(policy.calls, keys_of(Calls))),
        budgets=BudgetSettings(**_shown(policy.budgets, _ZONE), **_shown(policy.budgets.others, keys_of(Budget))),
        seats={place.seat: _seat(place, policy.seats[place.seat]) for place in seat_places(policy)},
        format_rules=_format_rules(policy.formats),
    )


def _format_rules(rules: FormatsPolicy) -> Struct:
    return FormatSettings(
        auto=rules.auto,
        stances=StancesSettings(**_shown(rules.stances, keys_of(StancesPolicy))),
        ballot=BallotSettings(**_shown(rules.ballot, keys_of(BallotPolicy))),
        panel=PanelSettings(**_shown(rules.panel, keys_of(PanelPolicy))),
        convergence=ConvergenceSettings(**_shown(rules.convergence, keys_of(ConvergencePolicy))),
    )


def _seat(place: SeatChoice, seat: Seat) -> SeatSettings:
    return SeatSettings(
        model=place.model.alias,
        allowance=seat.allowance,
        choices=(seat.model, *seat.alternatives),
        fallback=place.fallback.alias if place.fallback else None,
    )
