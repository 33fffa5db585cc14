"""docs/models.md names every key of the catalogue, and its examples are read as they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields

from service.policy import (
    RULES,
    SIMULATED,
    BallotPolicy,
    Calls,
    ConvergencePolicy,
    Model,
    PanelPolicy,
    ProviderSetting,
    Seat,
    StancesPolicy,
)
from service.policy.file.providers import PRIVATE
from service.policy.keys import Key, keys_of
from service.policy.known_faults import ModelFaults
from service.policy.limits import BUDGETS
from service.policy.parameters import REFUSED
from service.policy.prices import FACTOR, PRICE, USUAL
from service.policy.seating import CHOICE_MAX
from service.policy.settings import read_policy
from tests.fixtures.policies import MODEL, policy_file, refused, vendors

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "models.md").read_text("utf-8")
PARTS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")}
EXAMPLES = re.findall(r"```toml\n(\[providers\.(\w+)\]\n.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("part", "keys"),
    [
        ("A vendor: `[providers.NAME]`", keys_of(ProviderSetting)),
        ("Known faults: `[providers.NAME.faults.MODEL]`", keys_of(ModelFaults)),
        ("A model: `[[models]]`", keys_of(Model)),
        ("A price: `[[models.prices]]`", PRICE),
        ("Limits: `[budgets]`, `[calls]`", keys_of(Calls)),
        ("Limits: `[budgets]`, `[calls]`", BUDGETS),
        ("The formats: `[formats]`", keys_of(StancesPolicy)),
        ("The formats: `[formats]`", keys_of(BallotPolicy)),
        ("The formats: `[formats]`", keys_of(PanelPolicy)),
        ("The formats: `[formats]`", keys_of(ConvergencePolicy)),
        ("The models of the seats: `[seats]`", keys_of(Seat)),
    ],
)
def test_every_key_is_explained_and_no_other(part: str, keys: tuple[Key, ...]) -> None:
    rows = [row.split("|")[1] for row in PARTS[part].splitlines() if row.startswith("| `")]
    named = {key.rpartition(".")[2] for row in rows for key in re.findall(r"`([\w.]+)`", row)}
    declared = {key.name for key in keys}

    if part.startswith("The models of the seats"):
        assert all(f"`{key}`" in PARTS[part] for key in declared)
    elif part.startswith("Limits"):
        assert declared <= named | {"tenants"}
    elif part.startswith("The formats"):
        assert declared <= named | {"thresholds"}
    else:
        assert named == declared


def test_the_defaults_of_a_provider_are_those_that_are_told() -> None:
    told = {
        key: value
        for row in PARTS["A vendor: `[providers.NAME]`"].splitlines()
        if row.startswith("| `")
        for _, keys, _, values, _ in [row.split("|")]
        for key, value in zip(re.findall(r"`(\w+)`", keys), values.split(","), strict=False)
    }
    default = ProviderSetting(kind="openai-compatible")

    for key in ("connect_timeout_s", "call_timeout_s", "breaker_failures", "breaker_pause_s", "latency_ms"):
        assert int(told[key]) == getattr(default, key)
    for key in ("max_tokens_field", "reasoning"):
        assert told[key].strip() == f"`{getattr(default, key)}`"


@pytest.mark.parametrize(("text", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_the_example_of_a_vendor_is_read(tmp_path: Path, text: str, name: str) -> None:
    whole: dict[str, Any] = vendors()
    whole["providers"] |= tomllib.loads(text)["providers"]
    whole["models"].append({**MODEL, "alias": "theirs", "provider": name, "safety": "1.5"})

    assert read_policy(policy_file(tmp_path, **whole)).models["theirs"].provider == name


FORMAT_TABLES: dict[str, type[Struct]] = {
    "stances": StancesPolicy,
    "ballot": BallotPolicy,
    "panel": PanelPolicy,
    "convergence": ConvergencePolicy,
}


@pytest.mark.parametrize("name", FORMAT_TABLES)
def test_the_defaults_of_a_format_are_those_that_are_told(name: str) -> None:
    told = {
        key: value.strip(" `")
        for row in PARTS["The formats: `[formats]`"].splitlines()
        if row.startswith(f"| `{name}.")
        for _, keys, _, values, _ in [row.split("|")]
        for key, value in zip(re.findall(r"\.(\w+)`", keys), values.split(",") * 2, strict=False)
    }
    names = {key.member: key.name for key in keys_of(FORMAT_TABLES[name]) if key.name != "thresholds"}
    kept = {field.name: field.default for field in fields(FORMAT_TABLES[name])}
    defaults = {
        names[member]: kept[member] / 1_000 if member.endswith("_per_mille") else kept[member] for member in names
    }

    told = {key: value.replace("` and `", ",") for key, value in told.items() if key != "TYPE"}
    assert told == {
        key: ",".join(value) if isinstance(value, tuple) else str(value).replace("True", "true")
        for key, value in defaults.items()
    }


def test_all_vendors_have_an_example_and_every_wire_behind_http_has_one() -> None:
    named = {name for _, name in EXAMPLES}
    kinds = {tomllib.loads(text)["providers"][name]["kind"] for text, name in EXAMPLES}

    assert named >= {"openai", "azure", "anthropic", "openrouter", "vllm", "ollama", "litellm"}
    assert kinds == set(RULES) - set(SIMULATED)


def test_the_message_that_is_shown_is_the_one_that_comes(tmp_path: Path) -> None:
    shown = " ".join(PAGE.split("```\ngainsay.toml, line 97: ")[1].split("\n```")[0].split())
    whole = vendors()
    row = {**MODEL["prices"][0], "input_usd": "1.25", "cache_write_usd": "1.25"}
    row |= {"output_usd": "0.00001", "reasoning_usd": "0.00001"}
    whole["models"][6] |= {"alias": "gpt-5", "prices": [row]}

    assert refused(tmp_path, whole).partition(": ")[2] == shown


def test_names_and_numbers_of_the_page_are_those_of_the_code() -> None:
    assert all(f"`{name}`" in PAGE for name in PRIVATE)
    named = re.search(r"names are refused: .*?`store`", PAGE, re.DOTALL)
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[0])) <= set(REFUSED)
    assert f"a price {FACTOR} times off" in PAGE
    assert f"{USUAL[0] / 1e6:g} to {USUAL[1] / 1e6:g} dollars" in PAGE
    assert (CHOICE_MAX, "up to four in the order" in PAGE) == (4, True)
