"""The policy file as a whole: read table by table, checked, and refused with the line that is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Any

from msgspec.structs import replace

from service.errors import SettingsError
from service.policy import Policy, encode_policy
from service.settings.audit import read_approval, read_audit
from service.settings.formats import check_formats, read_formats
from service.settings.limits import read_budgets, read_calls, read_queue
from service.settings.lines import Path, line_of
from service.settings.models import read_models
from service.settings.reading import WrittenFile, WrittenPolicy, Wrong, read
from service.settings.rules import check_task_types, read_debate, read_gate, read_limits
from service.settings.seats import check_table, read_seats
from service.settings.wires import read_providers


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
    except Wrong as wrong:
        raise SettingsError(_located(path, text, written, wrong.path, wrong.message)) from None
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
            raise SettingsError(_located(path, text, written, at, message))


def _text(path: FilePath) -> str:
    try:
        return path.read_text("utf-8-sig")  # some editors begin a file with a mark of its encoding
    except OSError as error:
        reason = error.strerror
        raise SettingsError(f"expected a policy file at {path}, found none that can be read: {reason}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


def _located(path: FilePath, text: str, written: Mapping[str, Any], at: Path, message: str) -> str:
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
    file = read(written, WrittenFile, ())
    version = read(file.policy, WrittenPolicy, ("policy",)).version
    if not version.strip():
        raise Wrong(("policy", "version"), "it is empty, and decisions name it")
    debate = read_debate(file.debate)
    limits, calls, budgets = read_limits(file.limits), read_calls(file.calls), read_budgets(file.budgets)
    providers = read_providers(file.providers)
    models = read_models(file.models, providers)
    seats = read_seats(file.seats, models)
    gate = read_gate(file.gate, version, "")
    check_task_types(gate, debate)
    audit, approval = read_audit(file.audit), read_approval(file.approval)
    formats, queue = read_formats(file.formats), read_queue(file.queue)
    policy = Policy(
        version, gate, debate, limits, seats, models, providers, calls, budgets, audit, approval, formats, queue
    )
    check_formats(policy)
    check_table(policy)
    return replace(policy, gate=replace(gate, hash=sha256(encode_policy(policy)).hexdigest()))
