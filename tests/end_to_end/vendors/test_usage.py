"""Usage as it came over the wire: what is told and can be true is believed, and nothing is ever made up.

How each vendor's object is read is the business of `tests/unit/budget`; here it goes through the whole adapter.
"""

from __future__ import annotations

from typing import Any

import pytest

from service.money.usage import Reasoning
from tests.end_to_end.vendors.adapters import WIRES, adapter, answered, usage_of
from tests.end_to_end.vendors.requests import TOLD
from tests.fixtures import vendors
from tests.fixtures.behaviours import Model, Rule, Say, cached, plain, reasoned, too_much, untold
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import VENDORS, Tokens, Wire

TRUE = Tokens(input=700, output=200, cached_input=300, reasoning=50)


@pytest.mark.parametrize("rule", [plain, cached, reasoned, too_much])
@pytest.mark.parametrize("wire", WIRES)
async def test_the_usage_is_what_the_vendor_bills_kind_by_kind(wire: Wire, rule: Rule) -> None:
    async with upstream(Model(usage=rule)) as up, adapter(wire, up.url) as made:
        answer = await answered(made)

    usage, billed = usage_of(wire, answer), up.billed
    assert usage is not None
    assert (usage.input, usage.cached_input, usage.cache_write) == (
        billed.input,
        billed.cached_input,
        billed.cache_write,
    )
    assert (usage.output, usage.reasoning) == (billed.output, billed.reasoning)
    assert usage.cache_write_1h == 0
    assert usage.tier == ""


async def test_writes_to_a_cache_of_an_hour_are_a_kind_of_their_own() -> None:
    told = vendors.usage("anthropic", Tokens(input=10, output=20, cached_input=30, cache_write=40, cache_write_1h=50))
    async with upstream(Say(TOLD, told)) as up, adapter("anthropic", up.url) as made:
        usage = usage_of("anthropic", await answered(made))

    assert usage is not None
    assert (usage.input, usage.cached_input, usage.cache_write, usage.cache_write_1h) == (10, 30, 40, 50)


@pytest.mark.parametrize("setting", ["inside", "outside"])
async def test_reasoning_beside_the_completion_is_counted_once(setting: Reasoning) -> None:
    """Some servers count reasoning beside the completion: their own total says so, whatever the setting is."""
    told = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 150,
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    async with upstream(Say(TOLD, told)) as up, adapter("openai", up.url, reasoning=setting) as made:
        usage = usage_of("openai", await answered(made), setting)

    assert usage is not None
    assert (usage.input, usage.output, usage.reasoning) == (100, 20, 30)


WRONG: list[Any] = [None, -1, "700", 700.0, 700.5, True, [], {}, 10**12, 10**30, 1e308]


def _with(wire: Wire, name: str, value: Any) -> dict[str, Any]:
    return {**vendors.usage(wire, TRUE), name: value}


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_count_that_is_none_makes_the_usage_unknown(wire: Wire, value: Any) -> None:
    for name in VENDORS[wire].counts:
        async with upstream(Say(TOLD, _with(wire, name, value))) as up, adapter(wire, up.url) as made:
            answer = await answered(made)

        assert usage_of(wire, answer) is None, name
        assert answer.text == TOLD, "the reply was paid for, and is kept"


@pytest.mark.parametrize("wire", WIRES)
async def test_half_a_usage_is_unknown(wire: Wire) -> None:
    for name in VENDORS[wire].counts:
        told = {key: value for key, value in vendors.usage(wire, TRUE).items() if key != name}
        async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
            assert usage_of(wire, await answered(made)) is None, name


def _named(told: object) -> str:
    """The same in every process, which the place of a function in memory is not."""
    return "untold" if told is untold else repr(told)


@pytest.mark.parametrize("told", [None, untold, {}, [], 7, "much", [{"prompt_tokens": 1}]], ids=_named)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_usage_that_is_not_told_is_unknown_and_not_zero(wire: Wire, told: Any) -> None:
    async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
        answer = await answered(made)

    assert usage_of(wire, answer) is None
    assert answer.text == TOLD


@pytest.mark.parametrize(
    ("wire", "changes"),
    [
        ("openai", {"prompt_tokens_details": {"cached_tokens": 1_001}}),
        ("openai", {"prompt_tokens_details": {"cached_tokens": -1}}),
        ("openai", {"completion_tokens_details": {"reasoning_tokens": 251}}),
        ("openai", {"total_tokens": 1}),
        ("anthropic", {"cache_read_input_tokens": -5}),
        ("anthropic", {"cache_creation_input_tokens": "many"}),
        ("anthropic", {"cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 1}}),
    ],
    ids=str,
)
async def test_counts_that_contradict_each_other_make_the_usage_unknown(wire: Wire, changes: dict[str, Any]) -> None:
    told = {**vendors.usage(wire, TRUE), **changes}
    async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
        assert usage_of(wire, await answered(made)) is None


@pytest.mark.parametrize("wire", WIRES)
async def test_a_call_that_sent_nothing_was_not_counted(wire: Wire) -> None:
    """Servers that know nothing of tokens tell zeros for everything; a request has words."""
    told = vendors.usage(wire, Tokens())
    async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
        assert usage_of(wire, await answered(made)) is None


@pytest.mark.parametrize("wire", WIRES)
async def test_a_zero_that_is_told_is_a_zero(wire: Wire) -> None:
    told = vendors.usage(wire, Tokens(input=700, output=0))
    async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
        usage = usage_of(wire, await answered(made))

    assert usage is not None
    assert usage.output == 0


@pytest.mark.parametrize("wire", WIRES)
async def test_the_raw_usage_is_kept_as_it_was_told(wire: Wire) -> None:
    told = {**vendors.usage(wire, TRUE), "future": {"kind": 3}}
    async with upstream(Say(TOLD, told)) as up, adapter(wire, up.url) as made:
        raw = (await answered(made)).raw_usage

    assert raw is not None
    assert raw.items() >= told.items()
