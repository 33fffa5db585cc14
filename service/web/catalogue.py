"""The catalogue: prompts, models and policy, each with the hashes that debates record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from litestar import Response, get
from msgspec import Struct, defstruct, field

from service.identity.caller import Caller
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
    Rates,
    Seat,
    StancesPolicy,
)
from service.policy.keys import Key, json_name, keys_of
from service.policy.seating import SeatChoice
from service.prompts import PinnedFile
from service.store.impact import standings
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller, database
from service.web.debates import answered, known_query
from service.web.model_types import ModelList, seat_places


class PromptDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pinned file. New debates use the current version."""

    id: str
    """The id of the file, by which pins name it."""
    version: int
    """The version of the text, at least 1."""
    kind: Literal["prompt", "fragment", "schema", "template"]
    """What the file is: a whole prompt, a part of one, a schema of replies, or a template."""
    file: str
    """The name of the file."""
    sha256: str
    """The SHA-256 of its bytes."""
    current: bool
    """Whether new debates use it."""


class PromptList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The pinned files and ``pin``, the SHA-256 of the manifest that lists them."""

    always_sent: ClassVar = ("prompts",)

    pin: str
    """The SHA-256 of the manifest that lists the files."""
    prompts: tuple[PromptDetail, ...]
    """The files."""


class SeatSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The default model of a seat, and the other models of the seat."""

    always_sent: ClassVar = ("choices",)

    model: str
    """The alias of the seat's model."""
    allowance: int
    """The most output tokens of one of its turns, at least 1."""
    choices: tuple[str, ...]
    """The models of the seat, in order of preference."""
    fallback: str | None
    """The alias that is asked if the model cannot answer."""


def _settings(name: str, doc: str, keys: Iterable[Key], *declared: type[Struct]) -> type[Struct]:
    """A type that shows members of the policy over HTTP, with the types, names and texts of their declaration."""
    members = [(key.member, key.shown_type, field(name=json_name(key))) for key in keys]
    namespace = {"__doc__": doc, "described_by": declared}
    return defstruct(name, members, frozen=True, kw_only=True, module=__name__, namespace=namespace)


def _shown(kept: Struct, keys: Iterable[Key]) -> dict[str, Any]:
    return {key.member: key.shown(getattr(kept, key.member)) for key in keys}


_GATE = keys_of(GatePolicy)
_DEBATE = tuple(key for key in keys_of(DebatePolicy) if not key.member.startswith("expected_"))
_ZONE = tuple(key for key in keys_of(Budgets) if key.member == "zone")
"""HTTP shows the limits of a tenant to no other tenant."""
GateSettings = _settings(
    "GateSettings",
    "The gate's rules for when a question deserves a debate. Thresholds are by task type, in US dollars.",
    _GATE,
    GatePolicy,
)
DebateSettings = _settings(
    "DebateSettings",
    "The settings of a debate that its case leaves out.\n\n"
    "Above ``swapAboveUSD`` the closing seat is asked twice, and above ``maskAboveUSD`` once more if passages of "
    "a case speak to a model; absent means never.",
    _DEBATE,
    DebatePolicy,
)
CallSettings = _settings(
    "CallSettings", "How often a turn is tried again, and when it ends without a reply.", keys_of(Calls), Calls
)
BudgetSettings = _settings(
    "BudgetSettings",
    "The limits of the caller's tenant, in US dollars; absent where there is no limit.",
    (*_ZONE, *keys_of(Budget)),
    Budgets,
    Budget,
)
RateSettings = _settings(
    "RateSettings",
    "The most requests of one caller in a minute, and the event streams and waits that it may have in one process.",
    keys_of(Rates),
    Rates,
)
StancesSettings = _settings(
    "StancesSettings", "The defaults of stances, and the bounds of a case.", keys_of(StancesPolicy), StancesPolicy
)
BallotSettings = _settings(
    "BallotSettings",
    "The defaults of a ballot, and the bounds of a case. ``thresholdShare`` is a share of the debaters, from 0 to 1.",
    keys_of(BallotPolicy),
    BallotPolicy,
)
PanelSettings = _settings(
    "PanelSettings",
    "The defaults of a panel, and the bounds of a case; rounds include the blind one.\n\n"
    "``thresholds`` are the consensus that ends a debate, shares from 0 to 1 by question type.",
    keys_of(PanelPolicy),
    PanelPolicy,
)
ConvergenceSettings = _settings(
    "ConvergenceSettings",
    "The defaults of convergence, and the bounds of a case; rounds do not include the independent one.\n\n"
    "``similarity`` is a share from 0 to 1.",
    keys_of(ConvergencePolicy),
    ConvergencePolicy,
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
        "__doc__": "The rules of each format but the adversarial one.",
        "described_by": (FormatsPolicy,),
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
        ("rates", RateSettings),
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
    """,
        "texts": {
            "version": "The version of the policy, as its file names it.",
            "hash": "The SHA-256 of the policy.",
            "task_types": "The task types that the policy knows.",
            "formats": "The formats that a case may name here.",
            "gate": "When a question deserves a debate.",
            "debate": "What a debate has where its case says nothing.",
            "limits": "How large a case may be.",
            "calls": "How often a turn is tried again.",
            "budgets": "What the caller's tenant may spend.",
            "rates": "How often this caller may ask.",
            "seats": "The models of each seat.",
            "format_rules": "The defaults of each format, and the bounds of a case.",
        },
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
    deployment = site.reviews.deployment_of(caller(request).tenant)
    found = await standings(database(request), caller(request).tenant)
    return answered(ModelList.of(deployment.policy, deployment.day, found))


@get("/v1/policy")
async def policy(request: HttpRequest) -> Response[bytes]:
    """The policy of the caller's tenant."""
    known_query(request, ())
    return answered(_policy(app_state(request).reviews.deployment_of(caller(request).tenant).policy, caller(request)))


def _prompt(entry: PinnedFile) -> PromptDetail:
    return PromptDetail(
        id=entry.id,
        version=entry.version,
        kind=entry.kind,
        file=entry.file,
        sha256=entry.sha256,
        current=entry.current,
    )


def _policy(policy: Policy, who: Caller) -> Struct:
    return PolicyDetail(
        version=policy.version,
        hash=policy.gate.hash,
        task_types=policy.task_types,
        formats=policy.offered,
        gate=GateSettings(**_shown(policy.gate, _GATE)),
        debate=DebateSettings(**_shown(policy.debate, _DEBATE)),
        limits=policy.limits,
        calls=CallSettings(**_shown(policy.calls, keys_of(Calls))),
        budgets=BudgetSettings(
            **_shown(policy.budgets, _ZONE), **_shown(policy.budgets.of(who.tenant), keys_of(Budget))
        ),
        rates=RateSettings(**_shown(policy.rates_of(identified=who.via != "none"), keys_of(Rates))),
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
