"""The effective policy as TOML: it reads back as the same policy, and marks what a file leaves out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.policy.file.defaults import SETTLED
from service.policy.file.effective import differences, effective_toml
from service.policy.file.reading import read_file
from service.policy.first import VENDORS, first_policy
from service.policy.settings import SHIPPED_POLICY
from tests.fixtures.policies import WRITTEN, changed, policy_file
from tests.unit.policy.test_first_policy import DAY, EXAMPLE
from tests.unit.policy.test_policy_doc import everything


def again(folder: Path, text: str) -> Any:
    path = folder / "effective.toml"
    path.write_text(text, "utf-8")
    return read_file(path)


def sources(folder: Path) -> list[Path]:
    found = [SHIPPED_POLICY, EXAMPLE, policy_file(folder, **everything())]
    for name in VENDORS:
        path = folder / f"{name}.toml"
        path.write_text(first_policy((name,), DAY), "utf-8")
        found.append(path)
    return found


def test_it_is_a_file_of_the_same_policy_with_the_same_hash_that_leaves_nothing_settled_out(tmp_path: Path) -> None:
    for source in sources(tmp_path):
        file = read_file(source)
        text = effective_toml(file)

        same = again(tmp_path, text)

        assert same.policy == file.policy, source
        assert file.policy.gate.hash in text
        assert same.written.keys() >= set(SETTLED)
        assert not [line for line in effective_toml(same).splitlines() if line.endswith(("  # shipped", "  # usual"))]


def test_no_character_of_a_file_moves_the_terminal_or_turns_the_order_of_reading(tmp_path: Path) -> None:
    version = "2026-07 \x9b2J\u202e\u2066\u200b\U000e0041 é🎉"
    file = read_file(policy_file(tmp_path, **changed("policy", "version", to=version)))

    text = effective_toml(file)

    assert all(c.isprintable() for c in text.replace("\n", ""))
    assert "é🎉" in text
    assert again(tmp_path, text).policy == file.policy


@given(
    left_out=st.sets(st.sampled_from([(t, k) for t in SETTLED for k in WRITTEN[t] if k not in ("thresholds", "auto")]))
)
def test_exactly_what_is_left_out_is_marked(
    left_out: set[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = {name: dict(table) if isinstance(table, dict) else table for name, table in WRITTEN.items()}
    for table, key in left_out:
        del whole[table][key]
    folder = tmp_path_factory.mktemp("policy")

    lines = effective_toml(read_file(policy_file(folder, **whole))).splitlines()

    marked = [line.partition(" = ")[0] for line in lines if line.endswith("  # shipped")]
    leaves = [name for t, k in left_out for name in (_leaves(WRITTEN[t][k]) or [k])]
    assert sorted(marked) == sorted(leaves)


def _leaves(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [name for key, inner in value.items() for name in (_leaves(inner) or [key])]


def test_the_difference_is_what_is_not_as_shipped_with_both_values(tmp_path: Path) -> None:
    path = policy_file(
        tmp_path, **{**WRITTEN, "gate": {**WRITTEN["gate"], "factor": 80}, "approval": {"required": False}}
    )
    shipped = read_file(SHIPPED_POLICY)

    text = differences(read_file(path), shipped)

    assert "gate.factor = 80  # shipped: 50" in text.splitlines()
    assert tomllib.loads(text) == {"gate": {"factor": 80}, "approval": {"required": False}}
    assert tomllib.loads(differences(shipped, shipped)) == {}
