"""Every key of the policy is declared by a type, can be written, has a default or stands in the shipped file, and is
explained in docs/policy.md or docs/models.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import UNSET, Struct
from msgspec.structs import fields

from service.audit.note import COSIGNATURE, SigningKey
from service.policy import (
    Approval,
    Audit,
    BallotPolicy,
    Batches,
    Calls,
    ConvergencePolicy,
    DebatePolicy,
    DropIn,
    FormatsPolicy,
    GatePolicy,
    Limits,
    Model,
    PanelPolicy,
    ProviderSetting,
    Queue,
    Rates,
    RegisteredKey,
    Seat,
    StancesPolicy,
    TimeStamps,
    Witness,
)
from service.policy.evaluation import EvaluationBudget, EvaluationPolicy, ModeratorPolicy, ReleasePolicy
from service.policy.file.defaults import SETTLED
from service.policy.file.reading import FILE, VERSION
from service.policy.file.tenants import TenantRow
from service.policy.keys import Key, keys_of
from service.policy.limits import BUDGETS
from service.policy.prices import LONG_INPUT, PRICE, RATES
from service.policy.settings import read_policy
from service.policy.traces import Traces
from service.policy.webhooks import Webhooks
from tests.fixtures.policies import ROW, WRITTEN, policy_file, refused, vendors
from tests.fixtures.stamping import AUTHORITY

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "policy.md").read_text("utf-8")
PARTS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")}
MODELS = (DOCS / "models.md").read_text("utf-8")

TYPES: Mapping[str, type[Struct]] = {
    "gate": GatePolicy,
    "debate": DebatePolicy,
    "limits": Limits,
    "queue": Queue,
    "audit": Audit,
    "approval": Approval,
    "rates": Rates,
    "dropin": DropIn,
    "webhooks": Webhooks,
    "traces": Traces,
    "batches": Batches,
    "evaluation": EvaluationPolicy,
}
"""The tables of the file that docs/policy.md explains."""
PAGED: Mapping[str, type[Struct]] = {
    **TYPES,
    "audit.timestamps": TimeStamps,
    "tenants.NAME": TenantRow,
    "evaluation.budget": EvaluationBudget,
    "evaluation.release": ReleasePolicy,
    "evaluation.moderators": ModeratorPolicy,
}
"""The tables of docs/policy.md."""
RATE_NAMES = {key.name: "4.00" for key in RATES}
TENANT_FILE = Path(__file__).with_name("tenant.toml")
"""A tenant's own policy file: a version, and the service's tables."""
WITNESS = SigningKey.from_seed("witness.example", bytes(32), COSIGNATURE)
APPROVER = SigningKey.from_seed("approver.example", bytes(32))


def everything() -> dict[str, Any]:
    """A policy in which every key is written."""
    whole = vendors()
    whole["gate"]["thresholds"] = {"contract": "3.50"}
    whole["audit"] = {
        "witnesses": [{"url": "https://witness.example", "key": WITNESS.public.encode()}],
        "keys": [
            {
                "key": WITNESS.public.encode(),
                "use": "witness",
                "logs": ["audit.example"],
                "since": "2026-01-31",
                "until": "2026-12-31",
                "vouched_by": "its operator, letter of 31 January",
            }
        ],
        "late_s": 31,
        "check_minutes": 0,
        "clock_skew_s": 6,
        "row_hours": 12,
        "damage_unready": True,
        "timestamps": {"url": "https://stamps.example/tsr", "certificate": AUTHORITY, "every_s": 900},
    }
    whole["rates"] = {"submit_per_minute": 60, "read_per_minute": "unlimited"}
    whole["rates"] |= {"check_per_minute": 6, "evidence_per_minute": 7, "listeners": 8}
    whole["dropin"] = {"task_type": "contract", "estimated_downside_usd": "250000.00", "downside_basis": "a fine"}
    whole["traces"] = {"content": True, "redact": ["[0-9]+"], "characters": 100}
    whole["webhooks"] = {"enabled": False, "endpoints": 3, "allow_networks": ["10.20.0.0/16"], "allow_http": True}
    whole["webhooks"] |= {"ports": [8443], "timeout_s": 5, "retry_hours": 24}
    whole["batches"] = {"cases": 50, "megabytes": 2, "per_tenant": 3, "queued_per_tenant": 4, "ceiling_usd": "5.00"}
    whole["evaluation"] = {"held_looks": 5, "budget": {"day_usd": "1.00", "month_usd": "unlimited", "debates": 2}}
    stricter = {"hits": "0.7", "alarms": "0.3", "family": "0.55", "rating": "7.5", "unusable": "0.01"}
    whole["evaluation"]["release"] = stricter
    whole["evaluation"]["moderators"] = {"tilt_limit": "0.7"}
    whole["tenants"] = {
        "acme-two": {"policy": str(TENANT_FILE), "approval": "acme.note", "day_usd": "1.00", "month_usd": "unlimited"}
    }
    whole["tenants"]["acme-two"] |= {
        "running": 8,
        "waiting": 9,
        "rates": {"submit_per_minute": 1},
        "webhooks": {},
        "traces": {},
        "evaluation_budget": {"day_usd": "2.00"},
    }
    whole["tenants"]["acme-two"] |= {"purpose": "usual"}
    whole["approval"] = {"key": APPROVER.public.encode(), "required": True}
    whole["seats"]["critic"]["fallback"] = "birch-small"
    whole["providers"]["played"] = {"kind": "scripted", "script": "replies.json", "latency_ms": 5}
    whole["providers"]["openai"] |= {
        "path": "/chat",
        "query": {"api-version": "1"},
        "proxy": "http://proxy:3128",
        "headers": {"X-Centre": "4711"},
        "secret_headers": {"X-Gateway": "env:GATEWAY"},
        "auth": "api-key",
        "structured": "tool",
        "strict_schema": False,
        "seat_role": "system",
        "messages": "apart",
        "max_tokens_field": "max_tokens",
        "reasoning": "outside",
        "connect_timeout_s": 5,
        "call_timeout_s": 60,
        "breaker_failures": 3,
        "breaker_pause_s": 9,
    }
    row = {**ROW, **RATE_NAMES, "confirmed": True}
    row |= {"long_input": {**RATE_NAMES, "above": 100_000}, "tiers": {"priority": RATE_NAMES}}
    whole["models"][6] |= {
        "safety": "1.25",
        "overhead_tokens": 12,
        "snapshot": False,
        "cutoff": "2025-06-30",
        "parameters": {"seed": 7},
        "prices": [row],
    }
    return whole


PLACES: Mapping[str, tuple[tuple[str | int, ...], tuple[Key, ...]]] = {
    "the file": ((), FILE),
    "policy": (("policy",), VERSION),
    **{name: ((name,), keys_of(kind)) for name, kind in TYPES.items()},
    "a witness": (("audit", "witnesses", 0), keys_of(Witness)),
    "time stamps": (("audit", "timestamps"), keys_of(TimeStamps)),
    "evaluation budget": (("evaluation", "budget"), keys_of(EvaluationBudget)),
    "release": (("evaluation", "release"), keys_of(ReleasePolicy)),
    "moderators": (("evaluation", "moderators"), keys_of(ModeratorPolicy)),
    "a tenant": (("tenants", "acme-two"), keys_of(TenantRow)),
    "a verifier key": (("audit", "keys", 0), keys_of(RegisteredKey)),
    "calls": (("calls",), keys_of(Calls)),
    "budgets": (("budgets",), BUDGETS),
    "formats": (("formats",), keys_of(FormatsPolicy)),
    "stances": (("formats", "stances"), keys_of(StancesPolicy)),
    "ballot": (("formats", "ballot"), keys_of(BallotPolicy)),
    "panel": (("formats", "panel"), keys_of(PanelPolicy)),
    "convergence": (("formats", "convergence"), keys_of(ConvergencePolicy)),
    "a seat": (("seats", "critic"), keys_of(Seat)),
    "a provider": (("providers", "openai"), keys_of(ProviderSetting)),
    "a model": (("models", 6), keys_of(Model)),
    "a price": (("models", 6, "prices", 0), PRICE),
    "long input": (("models", 6, "prices", 0, "long_input"), LONG_INPUT),
}
"""Every table of the file: where it stands, and the keys that it may have."""
SIMULATED_ALONE = {"script", "latency_ms", "faults"}
"""Keys that a provider of the other wires cannot have."""


def at(whole: Any, place: tuple[str | int, ...]) -> Any:
    return reduce(lambda inner, step: inner[step], place, whole)


def test_every_table_of_the_file_is_held_here() -> None:
    tables = {key.name for key in FILE}

    chosen = {"audit", "approval", "rates", "dropin", "webhooks", "traces", "batches", "evaluation", "tenants"}
    assert tables == set(WRITTEN) | chosen
    assert {place[0] for place, _ in PLACES.values() if place} == tables


@pytest.mark.parametrize("name", PLACES)
def test_every_key_can_be_written_and_is_read(tmp_path: Path, name: str) -> None:
    place, keys = PLACES[name]
    whole = everything()

    read_policy(policy_file(tmp_path, **whole))

    left_out = SIMULATED_ALONE if name == "a provider" else set()
    assert set(at(whole, place)) == {key.name for key in keys} - left_out


@pytest.mark.parametrize("name", [name for name, (place, _) in PLACES.items() if place])
def test_a_key_that_no_type_declares_is_refused_with_those_that_are(tmp_path: Path, name: str) -> None:
    place, keys = PLACES[name]
    whole = everything()
    at(whole, place)["wholly_unknown"] = 1

    known = ", ".join(key.name for key in keys)
    assert f"wholly_unknown: this key is unknown; the keys here are: {known}" in refused(tmp_path, whole)


def settled(name: str, key: Key) -> bool:
    """Whether the shipped policy has the value of a key that a file leaves out."""
    return name in SETTLED or (name == "the file" and key.name in SETTLED)


NEEDED = [(n, key.name) for n, (_, keys) in PLACES.items() for key in keys if key.needed and not settled(n, key)]
LEFT_OUT = [(n, key.name) for n, (_, keys) in PLACES.items() for key in keys if not key.needed or settled(n, key)]
ASKED_FOR = {
    ("a provider", "base_url"),
    ("a provider", "key"),
    ("approval", "key"),
    ("a price", "cache_write_1h_usd"),
    ("long input", "cache_write_1h_usd"),
}
"""Keys without which another key of the same table makes no sense here."""


@pytest.mark.parametrize(("name", "key"), NEEDED)
def test_a_key_without_a_default_has_to_be_written(tmp_path: Path, name: str, key: str) -> None:
    place, _ = PLACES[name]
    whole = everything()
    del at(whole, place)[key]

    assert f"{key}: this key is missing, and it has no default" in refused(tmp_path, whole)


@pytest.mark.parametrize(("name", "key"), LEFT_OUT)
def test_a_key_with_a_default_may_be_left_out(tmp_path: Path, name: str, key: str) -> None:
    place, _ = PLACES[name]
    whole = everything()
    at(whole, place).pop(key, None)

    if (name, key) in ASKED_FOR:
        assert str(place[0]) in refused(tmp_path, whole)
    else:
        read_policy(policy_file(tmp_path, **whole))


def value_told(key: Key) -> str:
    """What the file may say under a key, in the words of the page."""
    if key.form:
        return key.form
    words = get_args(key.written)
    if key.written is bool:
        return "true, false"
    if key.written is str:
        return "text"
    return ", ".join(words) if all(isinstance(word, str) for word in words) else "a list"


def default_told(name: str, kind: type[Struct], key: Key) -> str:
    if settled(name, key):
        value = WRITTEN[name][key.name]
        words = ", ".join(f"`{word}`" for word in value) if isinstance(value, list) else f"`{value}`"
        return "none" if value in ([], {}) else words.lower() if isinstance(value, bool) else words
    if key.needed:
        return "required"
    default = next(field.default for field in fields(kind) if field.name == key.member)
    default = default if default is UNSET else key.shown(default)
    if isinstance(default, tuple) and default:
        return ", ".join(f"`{each}`" for each in default)
    if isinstance(default, Struct):
        return "its own defaults"
    if default is None and "unlimited" in key.form:
        return "`unlimited`"
    if default is None and "never" in key.form:
        return "`never`"
    return (
        "none"
        if default in (None, UNSET, ())
        else f"`{str(default).lower() if isinstance(default, bool) else default}`"
    )


@pytest.mark.parametrize("name", PAGED)
def test_the_page_gives_each_key_its_value_and_its_default(name: str) -> None:
    rows = [[cell.strip() for cell in row.split("|")] for row in PARTS[f"`[{name}]`"].splitlines()]
    told = [tuple(cells[1:4]) for cells in rows if len(cells) == 6 and cells[1].startswith("`")]

    keys = keys_of(PAGED[name])
    assert told == [(f"`{key.name}`", value_told(key), default_told(name, PAGED[name], key)) for key in keys]
    assert all(cells[4] for cells in rows if len(cells) == 6)


@pytest.mark.parametrize("name", PLACES)
def test_every_key_is_explained(name: str) -> None:
    _, keys = PLACES[name]
    quoted = re.findall(r"`\[*([\w.]+)\]*`", PAGE + MODELS)

    assert {key.name for key in keys} <= {word for name in quoted for word in name.split(".")}
