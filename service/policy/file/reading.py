"""The policy file as a whole: read table by table, checked, and refused with every line that is wrong."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.debate.adversarial import SEATS
from service.errors import SettingsError
from service.policy import FORMAT_RULES, GatePolicy, Model, Policy, Seat, encode_policy
from service.policy.checks import (
    check_automatic_formats,
    check_ceiling,
    check_gate,
    check_task_types,
    check_usual_format,
    check_usual_numbers,
    check_votes,
)
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.file.defaults import SHIPPED_POLICY, mended, value_at, with_defaults
from service.policy.file.probe import check_simulated
from service.policy.file.providers import ReadProvider, read_providers
from service.policy.file.refusal import refusal
from service.policy.file.seats import check_apart, check_fixed_names, read_seats
from service.policy.file.tenants import CATALOGUE, TenantPolicy, read_rows, refuse_shared, tenant_policies
from service.policy.file.witnesses import check_approval, checked_audit
from service.policy.file.zones import check_zone
from service.policy.keys import Key, keys_of, members, read, sound_members
from service.policy.known_faults import check_known_faults
from service.policy.limits import check_day_within_month, check_pauses, read_budgets
from service.policy.models import read_models

FILE = (Key("policy", Any, member="version", needed=True), *keys_of(Policy), Key("tenants", Any, member="tenants"))
"""The tables of the file; [policy] holds its version alone, and [tenants] is in no policy: each tenant has its own."""
VERSION = (Key("version", str, member="version", needed=True),)
Reader = Callable[[FilePath], bytes]
"""How a file is read: from the disk, or from a `service.policy.file.snapshot.FileSnapshot`; raises `OSError`."""


class PolicyFile(NamedTuple):
    """A policy file: its policy, its tables as written and with what the shipped policy settles, and named tenants."""

    policy: Policy
    written: Mapping[str, Any]
    filled: Mapping[str, Any]
    tenants: Mapping[str, TenantPolicy] = {}


def read_policy(path: FilePath, shipped: FilePath = SHIPPED_POLICY) -> Policy:
    """The policy of a file; raises `SettingsError` with every fault, each with its line and its key."""
    return read_file(path, shipped).policy


def read_file(
    path: FilePath, shipped: FilePath = SHIPPED_POLICY, day: str | None = None, *, reader: Reader = FilePath.read_bytes
) -> PolicyFile:
    """A file with its policy; raises `SettingsError` with every fault, each with its line and its key.

    ``shipped`` is the policy whose values the keys have that are left out (`service.policy.file.defaults`). With a
    ``day`` each model has to have a price in force then. The files of its tenants are read and refused with it.
    """
    file = _File.read(path, shipped, reader)
    rows = read_rows(file.written.get("tenants", {}), Faults())
    refused, policy, own = list[str](), list[Policy](), dict[str, Policy]()
    with file.refusing(refused):
        policy.append(_policy(file.filled, file.defaults, day))
    for name, place in _own_files(file.written):
        try:
            own[name] = _own_policy(path, _File.read(path.parent / place, shipped, reader), file, day)
        except SettingsError as error:
            refused.append(error.detail)
    tenants: Mapping[str, TenantPolicy] = {}
    if policy and not refused:
        own |= {name: _policy(file.defaults, file.defaults, day) for name, row in rows.items() if row.shipped}
        with file.refusing(refused):
            tenants = tenant_policies(policy[0], rows, own, path)
            check_simulated(policy[0], tenants)
    if refused:
        raise SettingsError("\n".join(refused))
    return PolicyFile(policy[0], file.written, file.filled, tenants)


def _own_files(written: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The tenants with a file of their own, whatever else is wrong with their tables."""
    rows = written.get("tenants")
    for name, row in rows.items() if isinstance(rows, dict) else ():
        if isinstance(row, dict) and isinstance(row.get("policy"), str):
            yield name, row["policy"]


class _File(NamedTuple):
    """A file on its way to a policy: its text, its tables, and the shipped policy's."""

    path: FilePath
    text: str
    written: Mapping[str, Any]
    defaults: Mapping[str, Any]
    filled: Mapping[str, Any]

    @classmethod
    def read(cls, path: FilePath, shipped: FilePath, reader: Reader) -> _File:
        """Read a file; raises `SettingsError` for one that is no TOML."""
        text, written = _toml(path, reader)
        defaults = written if path == shipped else _toml(shipped, reader)[1]
        return cls(path, text, written, defaults, with_defaults(written, defaults))

    @contextmanager
    def refusing(self, refused: list[str]) -> Iterator[None]:
        """Take what is wrong with the file in the block as one message, and go on after it."""
        try:
            yield
        except WrongSetting as wrong:
            refused.append(refusal(self.path, self.text, self.written, self.filled, wrong.faults))
        except RecursionError:
            refused.append(f"{self.path} is nested too deeply to be a policy")


def _own_policy(service: FilePath, file: _File, main: _File, day: str | None) -> Policy:
    """The policy of a tenant's own file, with the service's catalogue where it has none; raises `SettingsError`."""
    refused, found = list[str](), list[Policy]()
    given = {name: main.written[name] for name in CATALOGUE if name not in file.written and name in main.written}
    with file.refusing(refused):
        faults = Faults()
        faults.found = list(refuse_shared(file.written, service))
        with faults.noted():
            found.append(_policy({**file.filled, **given}, file.defaults, day))
        faults.refuse()
    if refused:
        raise SettingsError(refused[0])
    return found[0]


def _toml(path: FilePath, reader: Reader = FilePath.read_bytes) -> tuple[str, dict[str, Any]]:
    text = _text(path, reader)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply to be a policy") from error


def refuse_unpriced(policy: Policy, path: FilePath, day: str) -> None:
    """Raise `SettingsError` for the models that have no price yet on a day: no debate could ever ask them.

    The file is read again for the lines, and the message does without where that cannot be.
    """
    if all(model.price(day) for model in policy.models.values()):
        return
    try:
        text, written = _toml(path)
        faults = list(_unpriced(policy.models, written, day))
    except (SettingsError, LookupError, TypeError, ValueError):  # another file stands there by now
        text, written, faults = "", {}, list(_unpriced(policy.models, {}, day))
    raise SettingsError(refusal(path, text, written, written, faults))


def _unpriced(models: Mapping[str, Model], written: Mapping[str, Any], day: str) -> Iterator[WrongSetting]:
    for alias, model in models.items():
        if model.price(day) is None:
            first = model.prices[0].effective
            yield WrongSetting(
                _first_price(written, alias, first),
                f"expected a price in force on {day}, found none before {first}; add the price, or "
                "take the model in on the day that its price begins",
            )


def _first_price(written: Mapping[str, Any], alias: str, effective: str) -> Path:
    """Where the first price of a model stands in a file, or the model's name where it stands nowhere."""
    for i, row in enumerate(written.get("models", ())):
        if row["alias"] == alias:
            days = [price["effective"] for price in row["prices"]]
            return ("models", i, "prices", days.index(effective), "effective")
    return ("models", alias)


def _text(path: FilePath, reader: Reader) -> str:
    try:  # some editors begin a file with a mark of its encoding
        return io.TextIOWrapper(io.BytesIO(reader(path)), "utf-8-sig").read()
    except OSError as error:
        reason = error.strerror
        remedy = "; `gainsay policy init` writes one" if isinstance(error, FileNotFoundError) else ""
        raise SettingsError(
            f"expected a policy file at {path}, found none that can be read: {reason}{remedy}"
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


def _policy(filled: Mapping[str, Any], defaults: Mapping[str, Any], day: str | None) -> Policy:
    """The policy of a file with its defaults; raises `WrongSetting` with every fault that can be found at once."""
    faults = Faults()
    tables = _tables(filled, faults)
    read_rows(filled.get("tenants", {}), faults)
    providers, models, seats = _catalogue(tables, faults)
    sound = tables if not faults.found else _tables(mended(filled, defaults, faults), Faults())
    named = {alias: model for alias, model in models.items() if model}
    usable = {name: seat for name, seat in seats.items() if seat and set(_models(seat)) <= set(named)}
    reached = {name: provider.setting for name, provider in providers.items() if provider.setting}
    parts = {"version": tables.get("version", ""), "providers": reached, "models": named, "seats": usable}
    policy = Policy(**(sound | parts))
    _check(policy, tuple(seats), faults)
    for fault in _unpriced(named, filled, day) if day else ():
        faults.found.append(fault)
    faults.refuse()
    policy = replace(policy, audit=checked_audit(policy.audit))
    policy = replace(policy, gate=replace(policy.gate, version=policy.version))
    return replace(policy, gate=replace(policy.gate, hash=sha256(encode_policy(policy)).hexdigest()))


def _tables(filled: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """The tables that can be read, by the members of `Policy`; the catalogue's as they stand in the file."""
    tables = sound_members(filled, FILE, (), faults)
    tables.pop("tenants", None)
    if "version" in tables:
        with faults.noted():
            tables["version"] = members(tables["version"], VERSION, ("policy",))["version"]
            if not tables["version"].strip():
                faults.note(("policy", "version"), "it is empty, and decisions name it")
    for name, table in (("gate", _gate), ("budgets", read_budgets)):
        if name in tables:
            with faults.noted():
                tables[name] = table(tables[name])
    return tables


def _gate(written: Any) -> GatePolicy:
    return read(written, GatePolicy, ("gate",), version="", hash="")


class _Catalogue(NamedTuple):
    """What of the catalogue could be read; ``None`` where a table has faults."""

    providers: Mapping[str, ReadProvider]
    models: Mapping[str, Model | None]
    seats: Mapping[str, Seat | None]


def _catalogue(tables: Mapping[str, Any], faults: Faults) -> _Catalogue:
    """Providers, models and seats, each judged by those before it as far as these could be read."""
    providers: Mapping[str, ReadProvider] | None = None
    models: Mapping[str, Model | None] | None = None
    seats: Mapping[str, Seat | None] = {}
    if "providers" in tables:
        with faults.noted():
            providers = read_providers(tables["providers"], faults)
    if "models" in tables:
        with faults.noted():
            models = read_models(tables["models"], providers, faults)
    if "seats" in tables:
        with faults.noted():
            seats = read_seats(tables["seats"], models if _named(tables.get("models")) else None, faults)
    return _Catalogue(providers or {}, models or {}, seats)


def _named(models: Any) -> bool:
    """Whether each model has an alias; where one has none, it cannot be said of a seat that its model is not there."""
    return isinstance(models, list) and all(isinstance(value_at({"": row}, ("", "alias")), str) for row in models)


def _models(seat: Seat) -> Iterator[str]:
    yield from (seat.model, *seat.alternatives)
    if seat.fallback:
        yield seat.fallback


_TASK_TYPES: tuple[Path, ...] = (("gate", "risk_categories"), ("gate", "always"), ("gate", "never"))
_SEATED: tuple[Path, ...] = (
    ("formats", "stances", "synthesizer"),
    ("formats", "panel", "adjudicator"),
    ("formats", "panel", "classifier"),
    ("formats", "convergence", "judge"),
)
"""The keys that say which seats a format needs."""
_RULES: tuple[tuple[tuple[Path, ...], Callable[[Policy], object]], ...] = (
    ((*_TASK_TYPES, ("gate", "unknown_task_type")), lambda policy: check_gate(policy.gate)),
    ((("debate", "ceiling_usd"), ("debate", "ceiling_max_usd")), lambda policy: check_ceiling(policy.debate)),
    ((("calls", "backoff_ms"), ("calls", "backoff_max_ms")), lambda policy: check_pauses(policy.calls)),
    ((("budgets", "zone"),), lambda policy: check_zone(policy.budgets.zone)),
    ((("budgets",),), lambda policy: check_day_within_month(policy.budgets.others, ("budgets",))),
    (
        (("evaluation",),),
        lambda policy: check_day_within_month(policy.evaluations.budget.money, ("evaluation", "budget")),
    ),
    (
        (*_TASK_TYPES, ("gate", "thresholds"), ("debate", "human_review"), ("formats", "auto")),
        check_task_types,
    ),
    *(
        ((("formats", name),), partial(lambda name, policy: check_usual_numbers(policy.formats, name), name))
        for name in FORMAT_RULES
    ),
    ((("formats", "ballot"),), lambda policy: check_votes(policy.formats.ballot)),
    ((("debate", "floating_names"),), check_fixed_names),
    ((("providers",), ("models",)), check_known_faults),
    ((("approval",),), lambda policy: check_approval(policy.approval)),
    ((("audit",),), lambda policy: checked_audit(policy.audit)),
)
"""Rules between keys, each with the places that it reads: it judges nothing where one of them has a fault."""


def _check(policy: Policy, seats: tuple[str, ...], faults: Faults) -> None:
    """Note what breaks the rules between keys. ``seats`` are all that are written, those with faults too."""
    before = Faults()
    before.found = list(faults.found)
    for places, check in _RULES:
        if not before.touch(*places):
            with faults.noted():
                check(policy)
    written = {*SEATS, *seats}  # a missing one of these has its own fault
    for place, chosen in ((("debate", "format"), check_usual_format), (("formats", "auto"), check_automatic_formats)):
        if not before.touch(place, *_SEATED):
            with faults.noted():
                chosen(policy, written)
    if set(SEATS) <= set(policy.seats) and not before.touch(("debate", "diversity")):
        with faults.noted():
            check_apart(policy)
