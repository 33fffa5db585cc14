"""What policy knows of each format: which numbers and formats a policy file may name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from service.debate.formats import NAMES
from service.policy import FORMAT_RULES, FormatsPolicy
from tests.fixtures.policies import WRITTEN, changed, refused

OWN: dict[str, dict[str, Any]] = {
    name: asdict(rules) for name in NAMES if (rules := getattr(FormatsPolicy(), name, None)) is not None
}
"""The keys of each format's own table, with their defaults."""
BOUNDED = [
    (name, key) for name, rules in OWN.items() for key in rules if f"{key}_max" in rules and isinstance(rules[key], int)
]
ASSIGNED = [name for name in NAMES if FORMAT_RULES[name].assigned]


def test_a_format_has_a_usual_size_where_it_has_a_table() -> None:
    assert [name for name in NAMES if FORMAT_RULES[name].size] == [*OWN]


@pytest.mark.parametrize(("name", "key"), BOUNDED)
def test_a_usual_number_is_not_above_what_a_case_may_ask_for(tmp_path: Path, name: str, key: str) -> None:
    most = OWN[name][f"{key}_max"]
    table = {**WRITTEN["formats"].get(name, {}), key: most + 1, f"{key}_max": most}

    assert f"formats.{name}.{key}: expected from " in refused(tmp_path, changed("formats", name, to=table))


@pytest.mark.parametrize("name", ASSIGNED)
def test_policy_chooses_no_format_whose_stances_the_caller_assigns(tmp_path: Path, name: str) -> None:
    usual = refused(tmp_path, changed("debate", "format", to=name))
    automatic = refused(tmp_path, changed("formats", "auto", to={"contract": name}))
    unknown = refused(tmp_path, changed("formats", "auto", to={"contract": "shouting"}))

    assert f"{name} cannot be the usual format: only the caller can assign its stances" in usual
    assert f"{name} cannot be chosen automatically: only the caller can assign its stances" in automatic
    offered = re.findall(r"expected one of: (.*), found", unknown)[0].split(", ")
    assert offered == [one for one in NAMES if one not in ASSIGNED]
