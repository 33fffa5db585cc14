"""The policy file as a whole: read table by table, checked, and refused with the line that is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

from msgspec.structs import replace

from service.errors import SettingsError
from service.policy import GatePolicy, Policy, encode_policy
from service.policy.checks import (
    check_ceiling,
    check_chosen_formats,
    check_gate,
    check_task_types,
    check_usual_numbers,
    check_votes,
)
from service.policy.faults import Path, WrongSetting
from service.policy.file.providers import read_providers
from service.policy.file.seats import check_table, read_seats
from service.policy.file.toml_lines import line_of
from service.policy.file.witnesses import check_approval, checked_audit
from service.policy.file.zones import check_zone
from service.policy.keys import Key, keys_of, members, read
from service.policy.limits import check_pauses, read_budgets
from service.policy.models import read_models

FILE = (Key("policy", Any, member="version", needed=True), *keys_of(Policy))
"""The tables of the file; [policy] holds its version alone."""
VERSION = (Key("version", str, member="version", needed=True),)


def read_policy(path: FilePath) -> Policy:
    """The policy of a file; raises `SettingsError` naming the file, the line and the key."""
    text = _text(path)
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply to be a policy") from error
    try:
        return _policy(written)
    except WrongSetting as wrong:
        raise SettingsError(located(path, text, written, wrong.path, wrong.message)) from None
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply to be a policy") from error


def refuse_unpriced(policy: Policy, path: FilePath, day: str) -> None:
    """Raise `SettingsError` for a model that has no price yet on a day: no debate could ever ask it.

    The file is read again for the line, and the message does without where that cannot be.
    """
    for i, (alias, model) in enumerate(policy.models.items()):
        if model.price(day) is None:
            message = (
                f"expected a price in force on {day}, found none before {model.prices[0].effective}; add the price, or "
                "take the model in on the day that its price begins"
            )
            try:
                text = _text(path)
                written = tomllib.loads(text)
                days = [row["effective"] for row in written["models"][i]["prices"]]
                at = ("models", i, "prices", days.index(model.prices[0].effective), "effective")
            except (SettingsError, tomllib.TOMLDecodeError, RecursionError, LookupError, TypeError, ValueError):
                raise SettingsError(f"{path}: models.{alias}: {message}") from None
            raise SettingsError(located(path, text, written, at, message))


def _text(path: FilePath) -> str:
    try:
        return path.read_text("utf-8-sig")  # some editors begin a file with a mark of its encoding
    except OSError as error:
        reason = error.strerror
        raise SettingsError(f"expected a policy file at {path}, found none that can be read: {reason}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


def located(path: FilePath, text: str, written: Mapping[str, Any], at: Path, message: str) -> str:
    """A message with the file, the line and the key that it is about."""
    line = line_of(text, at)
    return f"{path}{f', line {line}' if line else ''}: {_label(at, written)}: {message}"


def _label(at: Path, written: Mapping[str, Any]) -> str:
    """A place in words: a model by its alias, and elements of lists without their number, for the line tells."""
    names = list(at)
    if at[:1] == ("models",) and len(at) > 1:
        model = written["models"][at[1]]
        alias = model.get("alias") if isinstance(model, dict) else None
        names[1] = alias if isinstance(alias, str) and alias.strip() else at[1]
    said = ".".join(str(name)[:100] for i, name in enumerate(names) if isinstance(name, str) or i == 1)
    return "".join(c if c.isprintable() else "?" for c in said)


def _policy(written: Mapping[str, Any]) -> Policy:
    tables = members(written, FILE, ())
    version = members(tables["version"], VERSION, ("policy",))["version"]
    if not version.strip():
        raise WrongSetting(("policy", "version"), "it is empty, and decisions name it")
    providers = read_providers(tables["providers"])
    models = read_models(tables["models"], providers)
    tables |= {
        "version": version,
        "gate": read(tables["gate"], GatePolicy, ("gate",), version=version, hash=""),
        "budgets": read_budgets(tables["budgets"]),
        "providers": providers,
        "models": models,
        "seats": read_seats(tables["seats"], models),
    }
    policy = _checked(Policy(**tables))
    return replace(policy, gate=replace(policy.gate, hash=sha256(encode_policy(policy)).hexdigest()))


def _checked(policy: Policy) -> Policy:
    """The policy with usable addresses of witnesses; raises `WrongSetting` where keys contradict each other."""
    check_gate(policy.gate)
    check_ceiling(policy.debate)
    check_pauses(policy.calls)
    check_zone(policy.budgets.zone)
    check_task_types(policy)
    check_usual_numbers(policy.formats)
    check_votes(policy.formats.ballot)
    check_chosen_formats(policy)
    check_table(policy)
    check_approval(policy.approval)
    return replace(policy, audit=checked_audit(policy.audit))
