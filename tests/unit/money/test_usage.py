"""What a vendor says of a call's tokens is believed only where its sums are right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.debate.entries import Charge
from service.errors import SettingsError
from service.money import USAGE_MAX, Usage, charge, normalise, with_tier
from service.money.usage import Reasoning, anthropic, openai, plain
from tests.fixtures.debates import PRICE

counts = st.integers(0, 2_000_000)
settings: st.SearchStrategy[Reasoning] = st.sampled_from(["inside", "outside"])


def told(prompt: Any = 100, completion: Any = 50, total: Any = None, **more: Any) -> dict[str, Any]:
    """An OpenAI-compatible usage object; the total is right unless told otherwise."""
    right = prompt + completion if total is None else total
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": right, **more}


def message(**more: Any) -> dict[str, Any]:
    """An Anthropic usage object."""
    return {"input_tokens": 100, "output_tokens": 50, **more}


# What adds up is believed.


@st.composite
def consistent(draw: st.DrawFn) -> tuple[dict[str, Any], Usage]:
    """A usage and an OpenAI-compatible object that tells it truthfully, with or without what servers leave out."""
    usage = Usage(draw(counts), draw(counts), draw(counts), draw(counts), draw(counts), draw(counts))
    assume(usage.inputs)
    inside = draw(st.booleans())
    completion = usage.output + usage.reasoning if inside else usage.output
    raw: dict[str, Any] = told(usage.inputs, completion, usage.inputs + usage.outputs)
    written = usage.cache_write + usage.cache_write_1h
    details: dict[str, Any] = {}
    if usage.cached_input or draw(st.booleans()):
        details["cached_tokens"] = usage.cached_input
    if written or draw(st.booleans()):
        details[draw(st.sampled_from(["cache_write_tokens", "cache_creation_tokens"]))] = written
        details["cache_creation"] = {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    raw["prompt_tokens_details"] = details or draw(st.sampled_from([None, {}]))
    raw["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning, "audio_tokens": 0}
    return raw, usage


@given(consistent(), settings)
def test_an_object_whose_sums_are_right_gives_kinds_whose_sum_is_its_total(
    pair: tuple[dict[str, Any], Usage], setting: Reasoning
) -> None:
    raw, usage = pair

    found = openai(raw, setting)

    assert found == usage
    assert found.inputs + found.outputs == raw["total_tokens"]
    assert found.inputs == raw["prompt_tokens"]


@given(consistent(), settings, st.integers(-1_000_000, 1_000_000))
def test_an_object_whose_total_is_wrong_is_not_believed(
    pair: tuple[dict[str, Any], Usage], setting: Reasoning, off: int
) -> None:
    raw, usage = pair
    total = raw["total_tokens"] + off
    parts = raw["prompt_tokens"] + raw["completion_tokens"]
    assume(total not in (parts, parts + usage.reasoning))

    assert openai({**raw, "total_tokens": total}, setting) is None


@given(consistent(), settings, st.integers(1, 1_000_000))
def test_an_object_whose_caches_hold_more_than_its_prompt_is_not_believed(
    pair: tuple[dict[str, Any], Usage], setting: Reasoning, more: int
) -> None:
    raw, usage = pair
    details = {**(raw["prompt_tokens_details"] or {}), "cached_tokens": usage.cached_input + usage.input + more}

    assert openai({**raw, "prompt_tokens_details": details}, setting) is None


@given(counts, counts, counts, counts, counts, counts)
def test_an_anthropic_object_gives_kinds_whose_sum_is_what_it_tells(
    fresh: int, read: int, five: int, hour: int, said: int, thought: int
) -> None:
    assume(fresh + read + five + hour)
    raw = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": five + hour,
        "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour},
        "output_tokens": said + thought,
        "output_tokens_details": {"thinking_tokens": thought},
    }

    assert anthropic(raw) == Usage(fresh, said, read, five, thought, hour)
    assert anthropic({**raw, "cache_creation_input_tokens": five + hour + 1}) is None
    assert anthropic({**raw, "output_tokens_details": {"thinking_tokens": said + thought + 1}}) is None


@given(counts, counts, counts)
def test_the_setting_decides_where_a_reasoning_server_tells_no_total(prompt: int, completion: int, more: int) -> None:
    assume(prompt)
    raw = {
        "prompt_tokens": prompt,
        "completion_tokens": completion + more,
        "completion_tokens_details": {"reasoning_tokens": more},
    }

    assert openai(raw, "inside") == Usage(prompt, completion, reasoning=more)
    assert openai(raw, "outside") == Usage(prompt, completion + more, reasoning=more)


def test_a_total_that_hides_its_thoughts_is_read_only_where_the_setting_says_that_they_are_outside() -> None:
    raw = {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}

    assert openai(raw, "outside") == Usage(20, 198, reasoning=405)
    assert openai(raw, "inside") is None
    assert openai({**raw, "total_tokens": 100}, "outside") is None
    assert openai({**raw, "completion_tokens_details": {"reasoning_tokens": 0}}, "outside") is None, "zero is told"


def test_an_explicit_zero_is_a_zero_and_not_something_missing() -> None:
    zeros = {"cached_tokens": 0, "cache_write_tokens": 0, "audio_tokens": 0}

    assert openai(told(100, 0, prompt_tokens_details=zeros)) == Usage(100, 0)
    assert anthropic({"input_tokens": 0, "cache_read_input_tokens": 9, "output_tokens": 0}) == Usage(0, 0, 9)
    assert plain({"input_tokens": 0, "output_tokens": 0}) == Usage(0, 0)
    assert openai({"prompt_tokens": 100, "total_tokens": 100}) is None, "a completion that is not told is not 0"
    assert openai({**told(), "total_tokens": 0}) is None, "a total of 0 is told, and wrong"


# What cannot be true, or has no price, is charged as held.

NOT_BELIEVED: dict[str, tuple[str, Any]] = {
    "nothing came back: a stream died (litellm 13245)": ("openai-compatible", None),
    "an empty object": ("openai-compatible", {}),
    "a list": ("openai-compatible", [1, 2]),
    "a text": ("anthropic", "12 tokens"),
    "a number as text": ("openai-compatible", {**told(), "prompt_tokens": "100"}),
    "a fraction": ("openai-compatible", {**told(), "prompt_tokens": 100.0}),
    "a truth value": ("anthropic", message(cache_read_input_tokens=True)),
    "a negative number": ("openai-compatible", told(-100, 50)),
    "a negative part": ("openai-compatible", told(prompt_tokens_details={"cached_tokens": -1})),
    "a boundless number": ("anthropic", {"input_tokens": USAGE_MAX + 1, "output_tokens": 1}),
    "details that are no object": ("openai-compatible", told(prompt_tokens_details=7)),
    "zeros where a gateway knows nothing": ("openai-compatible", told(0, 0)),
    "zeros under Anthropic's names": ("anthropic", {"input_tokens": 0, "output_tokens": 0}),
    "writes that the prompt may not hold (litellm 15056)": (
        "openai-compatible",
        told(31, 467, prompt_tokens_details={"cached_tokens": 0}, cache_creation_input_tokens=20),
    ),
    "reads that the prompt may not hold": ("openai-compatible", told(cache_read_input_tokens=10)),
    "more reasoning than completion": (
        "openai-compatible",
        told(completion_tokens_details={"reasoning_tokens": 51}),
    ),
    "two counts of the cache": (
        "openai-compatible",
        told(prompt_tokens_details={"cached_tokens": 10}, cached_tokens=11),
    ),
    "hits and misses that are not the prompt": (
        "openai-compatible",
        told(prompt_cache_hit_tokens=10, prompt_cache_miss_tokens=80),
    ),
    "a breakdown of writes that does not add up (litellm 42663)": (
        "openai-compatible",
        told(prompt_tokens_details={"cache_write_tokens": 10, "cache_creation": {"ephemeral_1h_input_tokens": 9}}),
    ),
    "sound in the prompt": ("openai-compatible", told(prompt_tokens_details={"audio_tokens": 1})),
    "a picture in the prompt": ("openai-compatible", told(prompt_tokens_details={"image_tokens": 1})),
    "sound in the completion": ("openai-compatible", told(completion_tokens_details={"audio_tokens": 1})),
    "seconds of sound": ("openai-compatible", told(prompt_audio_seconds=3)),
    "sources that were searched": ("openai-compatible", told(num_sources_used=2)),
    "searches": ("openai-compatible", told(num_search_queries=1)),
    "tools on the server": ("openai-compatible", told(server_tool_use={"web_search_requests": 1})),
    "Anthropic's searches": ("anthropic", message(server_tool_use={"web_search_requests": 1})),
    "Anthropic's breakdown that does not add up": (
        "anthropic",
        message(cache_creation_input_tokens=10, cache_creation={"ephemeral_5m_input_tokens": 9}),
    ),
    "a summary by the vendor, which its sums leave out": (
        "anthropic",
        message(iterations=[{"type": "compaction", "input_tokens": 1000}, {"type": "message"}]),
    ),
    "steps that are no list": ("anthropic", message(iterations=3)),
    "a tier that is no name": ("openai-compatible", told(service_tier=["priority"])),
    "a tier that is a sentence": ("anthropic", message(service_tier="Please see our terms.")),
    "the other wire": ("anthropic", told()),
}


@pytest.mark.parametrize(("wire", "raw"), list(NOT_BELIEVED.values()), ids=list(NOT_BELIEVED))
def test_what_cannot_be_true_or_has_no_price_is_charged_as_held(wire: str, raw: Any) -> None:
    found = normalise(wire, raw)

    assert found is None
    assert charge(found, 1_234, PRICE) == Charge(1_234, "reserved")


names = st.sampled_from(
    "prompt_tokens completion_tokens total_tokens prompt_tokens_details completion_tokens_details cached_tokens "
    "reasoning_tokens cache_write_tokens cache_creation cache_creation_input_tokens cache_read_input_tokens "
    "ephemeral_1h_input_tokens input_tokens output_tokens output_tokens_details thinking_tokens service_tier "
    "server_tool_use iterations speed inference_geo prompt_cache_miss_tokens".split()
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 40) | st.floats() | st.sampled_from(["", "priority", "7", "Ü"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=6),
    max_leaves=12,
)


@given(st.sampled_from(["openai-compatible", "anthropic", "offline", "scripted"]), anything, settings)
def test_no_object_breaks_the_reading_and_none_gives_negative_or_boundless_kinds(
    wire: str, raw: Any, setting: Reasoning
) -> None:
    found = normalise(wire, raw, setting)

    assert found is None or found.believable


# Tiers.


@pytest.mark.parametrize("usual", [None, "", "default", "standard", "auto", "on_demand"])
def test_the_usual_tier_has_no_name(usual: str | None) -> None:
    assert openai({**told(), "service_tier": usual}) == Usage(100, 50)


@pytest.mark.parametrize(
    ("more", "tier"),
    [
        ({"service_tier": "standard", "speed": "standard", "inference_geo": "global"}, ""),
        ({"inference_geo": "not_available"}, ""),
        ({"service_tier": "priority"}, "priority"),
        ({"speed": "fast"}, "speed:fast"),
        ({"inference_geo": "us"}, "geo:us"),
        ({"service_tier": "priority", "inference_geo": "us", "speed": "fast"}, "priority+speed:fast+geo:us"),
    ],
)
def test_everything_that_anthropic_prices_apart_is_in_the_tier(more: dict[str, Any], tier: str) -> None:
    assert anthropic(message(**more)) == Usage(100, 50, tier=tier)


def test_a_tier_told_beside_the_usage_is_recorded_in_it_so_that_the_record_suffices() -> None:
    recorded = with_tier(told(), "flex")

    assert recorded == {**told(), "service_tier": "flex"}
    assert normalise("openai-compatible", recorded) == openai(told(), tier="flex") == Usage(100, 50, tier="flex")
    assert with_tier(recorded, "priority") == recorded, "what the object itself tells stays"
    assert with_tier(told(), None) == told()


def test_a_usage_cannot_be_recomputed_under_a_wire_that_is_not_known() -> None:
    with pytest.raises(SettingsError, match="found 'telegraph'"):
        normalise("telegraph", told())
