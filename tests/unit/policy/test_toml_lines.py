"""Which line of a TOML file says what, however the file is written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.policy.faults import Path
from service.policy.file.toml_lines import line_of

TEXT = '''
[policy]                                  # 2
version = "1"
"a.b" = { "c d" = 4 }

[seats]                                   # 6
critic = { model = ["a", "b"], allowance = 1 }
framing.model = "x"                       # 8

[[models]]                                # 10
alias = """
[[models]]
alias = "not this one"
"""
prices = [                                # 15
  { effective = "2026-01-01" },
  # a word
  { effective = "2026-02-01" }, { effective = "2026-03-01" },
]

[[models]]                                # 21
alias = "two"
  [[models.prices]]                       # 23
  effective = "2026"
  [[models.prices]]                       # 25
  effective = "2027"
    [models.prices.tiers.flex]            # 27
    input_usd = "1"

[budgets.tenants."acme & co"]             # 30
day_usd = "1"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("policy",), 2),
        (("policy", "version"), 3),
        (("policy", "a.b", "c d"), 4),
        (("policy", "missing"), 2),
        (("seats", "critic"), 7),
        (("seats", "critic", "model", 1), 7),
        (("seats", "framing", "model"), 8),
        (("models",), 10),
        (("models", 0), 10),
        (("models", 0, "alias"), 11),
        (("models", 0, "prices"), 15),
        (("models", 0, "prices", 0), 16),
        (("models", 0, "prices", 1, "effective"), 18),
        (("models", 0, "prices", 2, "missing"), 18),
        (("models", 1), 21),
        (("models", 1, "alias"), 22),
        (("models", 1, "prices", 0, "effective"), 24),
        (("models", 1, "prices", 1), 25),
        (("models", 1, "prices", 1, "effective"), 26),
        (("models", 1, "prices", 1, "tiers", "flex", "input_usd"), 28),
        (("models", 1, "prices", 1, "tiers", "flex", "missing"), 27),
        (("budgets", "tenants", "acme & co", "day_usd"), 31),
        (("nowhere", "at", "all"), None),
        ((), None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_place_has_its_line_or_that_of_the_table_around_it(path: Path, line: int | None, end: str) -> None:
    assert line_of(TEXT.replace("\n", end), path) == line


KEYS = st.text("abcdefgh", min_size=1, max_size=3)
FILLERS = st.lists(st.sampled_from(["", "# [table]", "#= [", "   ", "\t# key = 1"]), max_size=3)


@given(
    tables=st.dictionaries(KEYS, st.dictionaries(KEYS, st.booleans(), min_size=1, max_size=4), max_size=5),
    data=st.data(),
)
def test_every_value_of_a_file_is_found_on_the_line_where_it_was_written(
    tables: dict[str, dict[str, bool]], data: st.DataObject
) -> None:
    """Values are numbers that occur once; some stand in lists over several lines."""
    lines: list[str] = []
    expected: dict[Path, int] = {}
    number = 1_000
    for name, keys in tables.items():
        lines += [*data.draw(FILLERS), f"[{name}]"]
        for key, is_list in keys.items():
            lines += data.draw(FILLERS)
            if not is_list:
                expected[name, key] = number
                lines.append(f"{key} = {number}")
                number += 1
                continue
            lines.append(f"{key} = [")
            for i in range(data.draw(st.integers(0, 3))):
                lines += [*data.draw(FILLERS), f"  {number},"]
                expected[name, key, i] = number
                number += 1
            lines.append("]")
    text = "\n".join(lines)
    tomllib.loads(text)

    found: dict[Path, Any] = {path: lines[(line_of(text, path) or 0) - 1] for path in expected}

    assert {path: str(value) in found[path] for path, value in expected.items()} == dict.fromkeys(expected, True)
