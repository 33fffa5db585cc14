"""The numbers, names and paths of docs/money.md are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.amounts import usd
from service.debate.model import PriceRow, Rates
from service.money import TOKENIZERS, charge, normalise, servable, tokenizer_id, tokens, tokens_at_most, worst_case
from service.money.usage import USAGE_MAX
from tests.faults import test_money
from tests.faults.books import HELD_MOST
from tests.fixtures.debates import PRICE, a_start, price_row
from tests.unit.money.test_settled import SETTLED

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "money.md").read_text("utf-8")
ROW = price_row(2_500_000, 10_000_000, 1_250_000, 2_500_000, 10_000_000)


def table(header: str) -> dict[str, str]:
    """The rows of the table under a header line: first column -> the rest."""
    rows = PAGE.split(f"{header}\n")[1].split("\n\n")[0].splitlines()[1:]
    return {first.strip(): rest for first, rest in (row[1:-1].split("|", 1) for row in rows)}


def test_the_example_is_held_and_charged_as_the_page_says() -> None:
    seat = replace(
        a_start().seat("critic"), price=ROW, safety_per_mille=1_100, overhead_tokens=200, allowance=1_800, parameters={}
    )
    raw = json.loads(PAGE.split("```json\n")[1].split("```")[0])

    held = worst_case(10_000, seat)
    paid = charge(normalise("openai-compatible", raw), held, ROW)

    shown = {name: amount.strip() for name, amount in table("| | USD |").items()}
    assert shown == {"reserved": usd(held), "charged": usd(paid.amount), "free again": usd(held - paid.amount)}
    assert f"{tokens_at_most(10_000, seat):,} x 2.50 + 1,800 x 10.00 = {held:,} micro-dollars" in PAGE
    assert f"= {paid.amount:,} micro-dollars" in PAGE
    assert (paid.input_tokens, paid.cached_input_tokens, paid.output_tokens, paid.reasoning_tokens) == (
        1_858,
        8_192,
        512,
        128,
    )


def test_the_page_names_every_kind_of_token_of_a_price_row_and_no_other() -> None:
    kinds = [name.strip("`") for name in table("| kind | what it is |")]

    assert sorted(kinds) == sorted(Rates.__struct_fields__)


def test_the_page_names_every_tokenizer_with_its_file_and_how_requests_are_framed_and_cut() -> None:
    assert all(f"`{tokenizer_id(name)}`" in PAGE for name in TOKENIZERS)
    assert f"{tokens.MESSAGE_TOKENS} for the frame of each, and {tokens.PRIMING_TOKENS} before" in " ".join(
        PAGE.split()
    )
    assert f"at most {tokens.PIECE:,} characters" in PAGE
    assert USAGE_MAX == 1_000_000_000, "none above a billion"


def test_every_server_that_the_page_names_has_its_objects_in_the_table_of_settled_costs() -> None:
    shown = " ".join(case[0] for case in SETTLED)

    servers = [name for names in table("| server | how its object is read |") for name in names.split(", ")]

    assert [name for name in servers if name not in shown] == []
    assert len(servers) >= 12


@pytest.mark.parametrize(
    ("row", "parameters", "expected"),
    [
        ("no `service_tier`, or `auto`", {"inference_geo": "global"}, ("priority",)),
        ("no `service_tier`, or `auto`", {"inference_geo": "global", "service_tier": "auto"}, ("priority",)),
        ('`service_tier = "default"` or `"standard_only"`', {"service_tier": "default", "inference_geo": "global"}, ()),
        (
            '`service_tier = "priority"` (OpenAI also: `"fast"`)',
            {"service_tier": "fast", "inference_geo": "global"},
            ("priority",),
        ),
        ('`speed = "fast"` (Anthropic)', {"service_tier": "standard_only", "speed": "fast"}, ("speed:fast", "geo:us")),
        ("no `inference_geo` (Anthropic)", {"service_tier": "standard_only"}, ("geo:us",)),
        ('`inference_geo = "global"`', {"service_tier": "standard_only", "inference_geo": "global"}, ()),
    ],
)
def test_a_tier_is_held_for_as_the_page_says(row: str, parameters: dict[str, Any], expected: tuple[str, ...]) -> None:
    price: PriceRow = replace(PRICE, tiers=dict.fromkeys(("priority", "speed:fast", "geo:us"), PRICE))

    assert row in table("| the model's `parameters` | reserved for, beside the usual tier |")
    assert servable(price, parameters) == expected


def test_the_paths_and_pages_that_it_names_exist() -> None:
    root = Path(__file__).resolve().parents[3]
    named = re.findall(r"`((?:service|tests|docs)/[\w./]+)`", PAGE)
    linked = [f"docs/{path}" for path in re.findall(r"\]\(([\w./-]+\.md)\)", PAGE)]

    assert len(named) >= 5
    assert len(linked) >= 3
    assert [path for path in (*named, *linked) if not (root / path).exists()] == []


def test_what_the_page_says_was_shown_is_what_the_tests_of_money_run() -> None:
    shown = PAGE.split("## What is shown")[1].split("\n## ")[0]
    tests = [name for name in vars(test_money) if name.startswith("test_")]

    rows = table("| what happens | what is shown besides |")

    assert f"in {test_money.WORKERS} worker processes" in shown
    assert f"| {test_money.DEBATES} debates at once" in shown
    assert f"at most {HELD_MOST} of the dearest turns" in shown
    killed = f"{test_money.KILLS} workers killed by SIGKILL amid {test_money.KILLED_DEBATES} debates"
    assert f"{killed}, all {test_money.WORKERS} at once first" in rows
    assert f"a limit worth {test_money.WORTH} calls, {test_money.TRIED} tried at once" in rows
    assert len(rows) == len(tests)
