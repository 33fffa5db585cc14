"""JSON Schema of a policy file, for editors: made from the keys by which the file is read.

It knows names, types, words and bounds. What keys have to hold between them, such as a seat's model that is in the
catalogue, is known to `gainsay policy check` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from service.debate.adversarial import SEATS
from service.policy.file.defaults import SETTLED, with_defaults
from service.policy.file.reading import FILE, VERSION
from service.policy.file.seats import OTHERS
from service.policy.file.tenants import NAME, OWN, TenantRow
from service.policy.keys import Key, keys_of
from service.policy.limits import BUDGETS
from service.policy.models import Model, Seat
from service.policy.rules import GatePolicy
from service.policy.wires import RULES, ProviderSetting

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_NEEDED = ("policy", "providers", "models", "seats")
"""The tables that a file has to have; a tenant's own has to have the first alone."""


def policy_schema(shipped: Mapping[str, Any], *, tenant: bool = False) -> Schema:
    """The schema of a policy file, or of a tenant's own; ``shipped`` has what a key is that the file leaves out."""
    own: Mapping[str, Any] = {
        "policy": VERSION,
        "gate": GatePolicy,
        "budgets": BUDGETS,
        "providers": {"type": "object", "additionalProperties": _provider()},
        "models": {"type": "array", "minItems": 1, "items": Model},
        "seats": _closed(dict.fromkeys((*SEATS, *OTHERS), Seat), SEATS),
        "tenants": {
            "type": "object",
            "propertyNames": {"pattern": f"^{NAME.pattern}$"},
            "additionalProperties": TenantRow,
        },
    }
    tables: Schema = {}
    left_out = with_defaults({}, shipped)
    for key in FILE:
        if not tenant or key.name in OWN:
            found = _resolved(own.get(key.name, key.schema))
            tables[key.name] = _settled(found, left_out[key.name]) if key.name in SETTLED else found
    needed: Sequence[str] = _NEEDED[:1] if tenant else _NEEDED
    name, title = ("tenant-policy-file", "A tenant's own policy file") if tenant else ("policy-file", "A policy file")
    return {"$schema": DIALECT, "$id": f"urn:gainsay:{name}", "title": f"{title} of Gainsay", **_closed(tables, needed)}


def _closed(properties: Mapping[str, Any], needed: Sequence[str]) -> Schema:
    found = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**found, "required": [*needed]} if needed else found


def _resolved(part: Any) -> Any:
    """A schema in which types and keys stand for their tables, without them."""
    if isinstance(part, type) and issubclass(part, Struct):
        return _table(keys_of(part))
    if isinstance(part, tuple) and part and all(isinstance(key, Key) for key in part):
        return _table(part)
    if isinstance(part, dict):
        return {name: _resolved(inner) for name, inner in part.items()}
    return part


def _table(keys: Sequence[Key]) -> Schema:
    return _closed({key.name: _key(key) for key in keys}, [key.name for key in keys if key.needed])


def _key(key: Key) -> Schema:
    found = _type(key.written) if key.schema is None else _resolved(key.schema)
    return {"description": key.form, **found} if key.form else found


def _type(written: Any) -> Schema:
    (found,), _ = msgspec.json.schema_components([written])
    return found


def _provider() -> Schema:
    """A provider: a wire has a place for some of the keys alone."""
    wires = [
        {"if": {"properties": {"kind": {"const": wire}}}, "then": {"propertyNames": {"enum": [*rules.keys]}}}
        for wire, rules in RULES.items()
    ]
    return {**_table(keys_of(ProviderSetting)), "allOf": wires}


def _settled(table: Schema, left_out: Mapping[str, Any]) -> Schema:
    """A table that the file may leave out in whole or in part, with what its keys are then."""
    found = {name: part for name, part in table.items() if name != "required"}
    found["properties"] = {name: _left_out(part, left_out.get(name)) for name, part in table["properties"].items()}
    return found


def _left_out(part: Schema, value: Any) -> Schema:
    if "properties" in part and isinstance(value, dict):
        return _settled(part, value)
    return part if value is None else {**part, "default": value}
