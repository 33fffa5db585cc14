"""The schema of a policy file takes what is a policy, and refuses what `policy check` refuses for its shape."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from service.policy.faults import WrongSetting
from service.policy.file.defaults import with_defaults
from service.policy.file.reading import _policy
from service.policy.file.schema import policy_schema
from service.policy.first import VENDORS, first_policy
from tests.fixtures.policies import WRITTEN
from tests.unit.policy.test_policy_doc import TENANT_FILE, everything
from tests.vectors.published import EDITORS, editors

ROOT = Path(__file__).resolve().parents[3]
Place = tuple[str | int, ...]
SCHEMA = policy_schema(WRITTEN)
VALIDATOR, TENANTS = Draft202012Validator(SCHEMA), Draft202012Validator(policy_schema(WRITTEN, tenant=True))
EVERYTHING = everything()
FREE = ("parameters", "query", "headers", "secret_headers", "thresholds", "auto", "tiers")
"""Tables whose keys a deployment chooses."""
BY_NAME = ("providers", "tenants")
"""The same, with tables under the names."""


def faults(whole: dict[str, Any]) -> set[Place]:
    """The places at which a start refuses a policy."""
    try:
        _policy(with_defaults(whole, WRITTEN), WRITTEN, None)
    except WrongSetting as wrong:
        return {tuple(fault.path) for fault in wrong.faults}
    return set()


def errors(whole: dict[str, Any]) -> set[Place]:
    """The places at which the schema refuses it; an unknown or missing key is an error of its table."""
    return {tuple(error.absolute_path) for error in VALIDATOR.iter_errors(whole)}


def places(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a policy with its place: of a list its first element, of tables with the same keys the first."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield from places(value[0], (*path, 0))


PLACES = [(path, value) for path, value in places(EVERYTHING) if not {*path[:-1]} & {*FREE}]
LEAVES = [(path, value) for path, value in PLACES if not isinstance(value, dict)]


def with_value(path: Place, value: Any) -> dict[str, Any]:
    """Everything, with one value in the place of another."""
    whole = deepcopy(EVERYTHING)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return whole


def test_the_schema_is_one_and_knows_every_key() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert list(VALIDATOR.iter_errors(EVERYTHING)) == []
    assert faults(EVERYTHING) == set()
    assert len(LEAVES) > 150


def test_the_schemas_for_editors_are_what_the_types_say() -> None:
    """`python -m tests.vectors.format` writes them."""
    assert {path.name: path.read_text("utf-8") for path in EDITORS.iterdir()} == editors()


FILES = (ROOT / "service" / "gainsay.toml", ROOT / "examples" / "openai-anthropic.toml")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_shipped_policy_is_valid(path: Path) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(path.read_text("utf-8")))) == []


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_first_policy_is_valid(vendor: str) -> None:
    assert list(VALIDATOR.iter_errors(tomllib.loads(first_policy((vendor,), "2026-11-26")))) == []


def test_a_tenant_s_own_file_is_valid_under_its_schema_alone() -> None:
    own = tomllib.loads(TENANT_FILE.read_text("utf-8"))

    assert list(TENANTS.iter_errors(own)) == []
    assert [error.validator for error in TENANTS.iter_errors({**own, "budgets": {}})] == ["additionalProperties"]
    assert {error.validator for error in VALIDATOR.iter_errors(own)} == {"required"}


def test_a_value_of_another_type_is_refused_wherever_it_stands() -> None:
    """No key takes a number with a point, and no table can be a number."""
    for path, value in PLACES:
        whole = with_value(path, 7 if isinstance(value, dict) else 1.5)
        assert any(place[: len(path)] == path for place in faults(whole)), path
        assert path in errors(whole), path


def test_a_key_that_is_unknown_is_refused_in_every_table() -> None:
    tables = [path for path, value in PLACES if isinstance(value, dict) and path[-1] not in (*FREE, *BY_NAME)]
    assert len(tables) > 25
    for path in ((), *tables):
        whole = with_value((*path, "zzzz"), "x")
        assert (*path, "zzzz") in faults(whole) or path == (), path
        assert path in errors(whole), path


@pytest.mark.parametrize("wrong", [-5, 10**13])
def test_numbers_beyond_their_bounds_are_refused_as_far_as_a_key_bounds_them(wrong: int) -> None:
    numbers = {path for path, value in LEAVES if isinstance(value, int) and not isinstance(value, bool)}
    whole = deepcopy(EVERYTHING)
    for path in numbers:
        inner: Any = whole
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = wrong

    found = numbers & errors(whole)

    assert len(found) > 40
    assert found <= faults(whole)


WORDS = [
    (("debate", "diversity"), "sameModels"),
    (("debate", "ceiling_usd"), "half a dollar"),
    (("debate", "swap_above_usd"), "sometimes"),
    (("debate", "high_stakes_materiality"), ["huge"]),
    (("gate", "confidence_floor"), "nine"),
    (("gate", "always"), ["a b"]),
    (("gate", "thresholds", "contract"), "-3"),
    (("queue", "running_per_tenant"), "many"),
    (("providers", "openai", "kind"), "openai"),
    (("providers", "openai", "latency_ms"), 5),
    (("models", 0, "prices"), []),
    (("models", 0, "prices", 0, "effective"), "1 January"),
    (("models", 0, "prices", 0, "input_usd"), "FILL IN"),
    (("seats", "judges"), {"model": "cedar-small", "allowance": 100}),
    (("tenants", "Acme"), {}),
    (("tenants", "acme-two", "purpose"), "probing"),
    (("audit", "keys", 0, "use"), "signer"),
    (("webhooks", "ports"), [70_000]),
]


@pytest.mark.parametrize(("path", "value"), WORDS, ids=[".".join(map(str, path)) for path, _ in WORDS])
def test_a_word_that_no_key_has_is_refused_by_both(path: Place, value: Any) -> None:
    whole = with_value(path, value)

    assert faults(whole)
    assert any(place and place[: len(path)] == path[: len(place)] for place in errors(whole))


@pytest.mark.parametrize(
    "path", [("policy", "version"), ("providers",), ("models",), ("seats", "critic"), ("seats", "critic", "allowance")]
)
def test_what_a_file_has_to_have_is_missed_by_both(path: Place) -> None:
    whole = deepcopy(EVERYTHING)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]

    assert faults(whole)
    assert path[:-1] in errors(whole)
