"""The effective policy as TOML: what a file says, and what it leaves out, each marked.

Reading the text gives the same policy, with the same hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from service.policy import (
    RULES,
    Approval,
    Audit,
    Batches,
    EvaluationPolicy,
    Model,
    Policy,
    ProviderSetting,
    Rates,
    price_hash,
)
from service.policy.faults import Path
from service.policy.file.defaults import SETTLED, value_at
from service.policy.file.reading import PolicyFile
from service.policy.keys import keys_of
from service.policy.traces import Traces
from service.policy.webhooks import Webhooks

SHIPPED, USUAL = "shipped", "usual"
"""Marks of a value that the file leaves out: the shipped policy's, or the usual one of its kind of table."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BY_CHOICE = ("rates", "dropin", "batches", "webhooks", "traces", "evaluation", "audit", "approval")
_ORDER = ("policy", *SETTLED, *_BY_CHOICE, "providers", "seats", "models")


def effective_toml(file: PolicyFile) -> str:
    """The whole policy, with its hashes above and a mark beside every value that the file leaves out."""
    whole = _completed(file)
    tables = [line for name in _ORDER if name in whole for line in _table(whole[name], (name,), file.written)]
    return "\n".join([*_head(file.policy), *tables, ""])


def differences(file: PolicyFile, shipped: PolicyFile) -> str:
    """What the file has otherwise than the shipped policy, as TOML keys with both values; the catalogue in numbers."""
    lines = [*_head(file.policy), ""]
    for place, value in _leaves({name: file.filled[name] for name in SETTLED}, ()):
        other = value_at(shipped.filled, place)
        if value != other:
            lines.append(
                f"{_dotted(place)} = {_inline(value)}  # shipped: {'none' if other is None else _inline(other)}"
            )
    for place, other in _leaves({name: shipped.filled[name] for name in SETTLED}, ()):
        if value_at(file.filled, place) is None:
            lines.append(f"# {_dotted(place)} is not there  # shipped: {_inline(other)}")
    for name in _BY_CHOICE:
        lines += [
            f"{_dotted(place)} = {_inline(value)}" for place, value in _leaves({name: file.written.get(name, {})}, ())
        ]
    policy = file.policy
    seats = ", ".join(f"{name} {seat.model}" for name, seat in policy.seats.items())
    lines.append(f"# providers: {', '.join(policy.providers)}")
    lines.append(f"# models: {', '.join(policy.models)}")
    return "\n".join([*lines, f"# seats: {seats}", ""])


def _head(policy: Policy) -> list[str]:
    return [
        f"# policy  {policy.gate.hash}",
        f"# prices  {price_hash(policy)}",
        "# The hash of the policy is what records, GET /v1/policy and an approval name.",
        f"# The file leaves out what is marked: `# {SHIPPED}` has the shipped value, `# {USUAL}` the usual one.",
    ]


def _completed(file: PolicyFile) -> dict[str, Any]:
    """The file's tables with the defaults of the types, where the shipped policy settles nothing."""
    whole = dict(file.filled)
    kinds: dict[str, type[Struct]] = {"rates": Rates, "batches": Batches, "webhooks": Webhooks, "traces": Traces}
    kinds |= {"evaluation": EvaluationPolicy, "audit": Audit, "approval": Approval}
    for name, kind in kinds.items():
        if name in file.written or kind in (Audit, Approval):
            whole[name] = _usual(file.written.get(name, {}), kind, tuple(key.name for key in keys_of(kind)))
    whole["providers"] = {
        name: _usual(table, ProviderSetting, RULES[file.policy.providers[name].kind].keys)
        for name, table in file.filled["providers"].items()
    }
    whole["models"] = [_model(table, file.policy.models[table["alias"]]) for table in file.filled["models"]]
    return whole


def _usual(table: Mapping[str, Any], kind: type[Struct], names: tuple[str, ...]) -> dict[str, Any]:
    """A table with the plain defaults of its type; what stands for "none" stays left out."""
    defaults = {field.name: field.default for field in fields(kind)}
    whole = dict(table)
    for key in keys_of(kind):
        default = defaults[key.member]
        if key.name in names and isinstance(default, Struct):
            inner = type(default)
            whole[key.name] = _usual(whole.get(key.name, {}), inner, tuple(key.name for key in keys_of(inner)))
        elif key.name in names and key.name not in whole and isinstance(default, bool | int | str):
            whole[key.name] = key.shown(default)
    return whole


def _model(table: Mapping[str, Any], model: Model) -> dict[str, Any]:
    prices = table["prices"]
    whole = {key: value for key, value in table.items() if key != "prices"}
    whole.setdefault("safety", f"{model.safety_per_mille / 1_000:g}")
    whole.setdefault("overhead_tokens", model.overhead_tokens)
    whole.setdefault("snapshot", model.snapshot)
    return {**whole, "prices": prices}


def _table(table: Mapping[str, Any] | list[Any], path: Path, written: Mapping[str, Any]) -> Iterator[str]:
    """A table with its header: first its own keys, then the tables in it."""
    if isinstance(table, list):
        for i, row in enumerate(table):
            yield from _rows(row, (*path, i), f"[[{_dotted(path)}]]", written)
        return
    yield from _rows(table, path, f"[{_dotted(path)}]", written)


def _rows(table: Mapping[str, Any], path: Path, header: str, written: Mapping[str, Any]) -> Iterator[str]:
    inner = {name: value for name, value in table.items() if _is_table(value, (*path, name))}
    own = {name: value for name, value in table.items() if name not in inner}
    if own or not inner or header.startswith("[["):
        yield f"\n{header}"
    for name, value in own.items():
        mark = "" if value_at(written, (*path, name)) is not None else f"  # {SHIPPED if path[0] in SETTLED else USUAL}"
        yield f"{_key(name)} = {_inline(value)}{mark}"
    for name, value in inner.items():
        yield from _table(value, (*path, name), written)


def _is_table(value: Any, path: Path) -> bool:
    """Whether a value gets a header of its own; seats and parameters stand on one line."""
    if path[0] == "seats" or path[-1] == "parameters":
        return False
    return isinstance(value, dict) or (bool(value) and isinstance(value, list) and isinstance(value[0], dict))


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, value


def _dotted(path: Path) -> str:
    return ".".join(_key(step) for step in path if isinstance(step, str))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    """A string that shows what it holds: no character of it moves the terminal or turns the order of reading."""
    return "".join(
        c if c.isprintable() else f"\\U{ord(c):08X}" if ord(c) > 0xFFFF else f"\\u{ord(c):04X}"
        for c in json.dumps(text, ensure_ascii=False)
    )


def _inline(value: Any) -> str:
    match value:
        case str():
            return _string(value)
        case dict():
            return "{ " + ", ".join(f"{_key(name)} = {_inline(inner)}" for name, inner in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case bool():
            return str(value).lower()
        case _:
            return str(value)
