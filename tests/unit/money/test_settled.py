"""Usage objects in the shapes of vendors' documentation, and what each has to cost to the micro-dollar.

The expected amounts are worked out by hand: dollars per million tokens are micro-dollars per token, so each line is
tokens times the price on the vendor's page, added up and rounded up once. Prices are those of the rows below, of the
size that such models cost; they are no price list.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.amounts import micro
from service.debate.model import LongInput, PriceRow, Rates
from service.money import charge, charged, cost, normalise
from service.money.usage import Reasoning

HELD = 5_000_000


def per_million(
    given: str, cached: str, written: str, output: str, reasoning: str | None = None, hour: str | None = None
) -> dict[str, Any]:
    """Rates from dollars per million tokens, as vendors write them."""
    return {
        "input": micro(given),
        "cached_input": micro(cached),
        "cache_write": micro(written),
        "output": micro(output),
        "reasoning": micro(reasoning or output),
        "cache_write_1h": micro(hour) if hour else None,
    }


def row(*rates: str, **more: Any) -> PriceRow:
    return PriceRow(model="m", effective="2026-01-01", source="test", **per_million(*rates, **more))


GPT = replace(
    row("2.50", "1.25", "2.50", "10.00"),
    tiers={
        "priority": Rates(**per_million("4.25", "2.125", "4.25", "17.00")),
        "flex": Rates(**per_million("1.25", "0.625", "1.25", "5.00")),
    },
)
GPT_LONG = replace(
    row("2.50", "0.25", "2.50", "15.00"),
    long_input=LongInput(272_000, Rates(**per_million("5.00", "0.50", "5.00", "22.50"))),
)
GPT_WRITES = row("1.25", "0.125", "1.5625", "10.00")
NANO = row("0.05", "0.005", "0.05", "0.40")
SMALL = row("0.15", "0.075", "0.15", "0.60")
OPEN = row("0.20", "0.20", "0.20", "0.60")
GROK = row("3.00", "0.75", "3.00", "15.00")
FLASH = row("0.30", "0.03", "0.30", "2.50")
DEEP = row("0.28", "0.028", "0.28", "0.42")
LLAMA = row("0.59", "0.59", "0.59", "0.79")
MEDIUM = row("0.40", "0.04", "0.40", "2.00")
QWEN = row("0.40", "0.04", "0.50", "1.20")
KIMI = row("0.60", "0.15", "0.60", "2.50")
THINKER = row("1.00", "0.10", "1.00", "2.00", "5.00")
SONNET = replace(
    row("3.00", "0.30", "3.75", "15.00", hour="6.00"),
    long_input=LongInput(200_000, Rates(**per_million("6.00", "0.60", "7.50", "22.50", hour="12.00"))),
    tiers={
        "batch": Rates(**per_million("1.50", "0.15", "1.875", "7.50", hour="3.00")),
        "geo:us": Rates(**per_million("3.30", "0.33", "4.125", "16.50", hour="6.60")),
        "speed:fast": Rates(**per_million("18.00", "1.80", "22.50", "90.00", hour="36.00")),
    },
)
HAIKU = row("1.00", "0.10", "1.25", "5.00", hour="2.00")

OPENAI, ANTHROPIC = "openai-compatible", "anthropic"

# (what, wire, where reasoning is, price row, usage object, micro-dollars)
SETTLED: list[tuple[str, str, Reasoning, PriceRow, dict[str, Any], int]] = [
    (
        "OpenAI, most of the prompt cached",
        OPENAI,
        "inside",
        GPT,
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        5_615,  # 86 x 2.50 + 1920 x 1.25 + 300 x 10
    ),
    (
        "OpenAI, three quarters of the completion reasoned (litellm 18599)",
        OPENAI,
        "inside",
        NANO,
        {
            "prompt_tokens": 1117,
            "completion_tokens": 977,
            "total_tokens": 2094,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 768},
        },
        447,  # 1117 x 0.05 = 55.85, (209 + 768) x 0.40 = 390.8, together 446.65
    ),
    (
        "reasoning at a price of its own",
        OPENAI,
        "inside",
        THINKER,
        {
            "prompt_tokens": 100,
            "completion_tokens": 1000,
            "total_tokens": 1100,
            "completion_tokens_details": {"reasoning_tokens": 600},
        },
        3_900,  # 100 x 1 + 400 x 2 + 600 x 5
    ),
    (
        "OpenAI, written to the cache",
        OPENAI,
        "inside",
        GPT_WRITES,
        {
            "prompt_tokens": 12000,
            "completion_tokens": 500,
            "total_tokens": 12500,
            "prompt_tokens_details": {"cached_tokens": 2000, "cache_write_tokens": 8000, "text_tokens": 12000},
        },
        20_250,  # 2000 x 1.25 + 2000 x 0.125 + 8000 x 1.5625 + 500 x 10
    ),
    (
        "OpenAI, predicted outputs: what was rejected is billed within the completion",
        OPENAI,
        "inside",
        GPT,
        {
            "prompt_tokens": 57,
            "completion_tokens": 40,
            "total_tokens": 97,
            "completion_tokens_details": {"accepted_prediction_tokens": 12, "rejected_prediction_tokens": 8},
        },
        543,  # 57 x 2.50 = 142.5, 40 x 10 = 400, together 542.5
    ),
    (
        "OpenAI, priority",
        OPENAI,
        "inside",
        GPT,
        {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "service_tier": "priority"},
        5_950,  # 1000 x 4.25 + 100 x 17
    ),
    (
        "OpenAI, flex, some cached",
        OPENAI,
        "inside",
        GPT,
        {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 400},
            "service_tier": "flex",
        },
        1_500,  # 600 x 1.25 + 400 x 0.625 + 100 x 5
    ),
    (
        "OpenAI, the usual tier by its name",
        OPENAI,
        "inside",
        GPT,
        {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "service_tier": "default"},
        3_500,  # 1000 x 2.50 + 100 x 10
    ),
    (
        "OpenAI, a long prompt",
        OPENAI,
        "inside",
        GPT_LONG,
        {
            "prompt_tokens": 300000,
            "completion_tokens": 2000,
            "total_tokens": 302000,
            "prompt_tokens_details": {"cached_tokens": 100000},
        },
        1_095_000,  # 200000 x 5 + 100000 x 0.50 + 2000 x 22.50
    ),
    (
        "Azure, an older version without details",
        OPENAI,
        "inside",
        SMALL,
        {"completion_tokens": 298, "prompt_tokens": 26, "total_tokens": 324},
        183,  # 26 x 0.15 = 3.9, 298 x 0.60 = 178.8, together 182.7
    ),
    (
        "vLLM, details are null",
        OPENAI,
        "inside",
        OPEN,
        {"prompt_tokens": 5120, "total_tokens": 5184, "completion_tokens": 64, "prompt_tokens_details": None},
        1_063,  # 5120 x 0.20 = 1024, 64 x 0.60 = 38.4
    ),
    (
        "Ollama's compatible endpoint",
        OPENAI,
        "inside",
        OPEN,
        {"prompt_tokens": 26, "completion_tokens": 13, "total_tokens": 39},
        13,  # 26 x 0.20 = 5.2, 13 x 0.60 = 7.8
    ),
    (
        "OpenRouter, a cost of its own that is not ours",
        OPENAI,
        "inside",
        SONNET,
        {
            "completion_tokens": 2,
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost": 0.95,
            "cost_details": {"upstream_inference_cost": 19},
            "prompt_tokens": 194,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100, "audio_tokens": 0},
            "total_tokens": 196,
        },
        687,  # 94 x 3 + 100 x 3.75 + 2 x 15
    ),
    (
        "OpenRouter with one's own key, whose cost reads 0 (forgecode 1641)",
        OPENAI,
        "inside",
        FLASH,
        {
            "prompt_tokens": 10339,
            "completion_tokens": 60,
            "total_tokens": 10399,
            "cost": 0,
            "is_byok": True,
            "prompt_tokens_details": {"cached_tokens": 10318, "cache_write_tokens": 0, "video_tokens": 0},
            "cost_details": {"upstream_inference_cost": 0.00046},
            "completion_tokens_details": {"reasoning_tokens": 0, "image_tokens": 0},
        },
        466,  # 21 x 0.30 = 6.3, 10318 x 0.03 = 309.54, 60 x 2.50 = 150
    ),
    (
        "LiteLLM before Anthropic, an hour's cache",
        OPENAI,
        "inside",
        HAIKU,
        {
            "completion_tokens": 8,
            "prompt_tokens": 5432,
            "total_tokens": 5440,
            "prompt_tokens_details": {
                "cached_tokens": 0,
                "cache_creation_tokens": 5424,
                "cache_creation_token_details": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 5424},
            },
            "cache_creation_input_tokens": 5424,
            "cache_read_input_tokens": 0,
        },
        10_896,  # 8 x 1 + 5424 x 2 + 8 x 5
    ),
    (
        "DeepSeek, hits and misses of its cache",
        OPENAI,
        "inside",
        DEEP,
        {
            "prompt_tokens": 1200,
            "completion_tokens": 350,
            "total_tokens": 1550,
            "prompt_tokens_details": {"cached_tokens": 1024},
            "completion_tokens_details": {"reasoning_tokens": 210},
            "prompt_cache_hit_tokens": 1024,
            "prompt_cache_miss_tokens": 176,
        },
        225,  # 176 x 0.28 = 49.28, 1024 x 0.028 = 28.672, 350 x 0.42 = 147, together 224.952
    ),
    (
        "xAI, reasoning beside the completion: its total says so",
        OPENAI,
        "inside",
        GROK,
        {
            "prompt_tokens": 37,
            "completion_tokens": 530,
            "total_tokens": 800,
            "prompt_tokens_details": {"text_tokens": 37, "audio_tokens": 0, "image_tokens": 0, "cached_tokens": 8},
            "completion_tokens_details": {
                "reasoning_tokens": 233,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "num_sources_used": 0,
        },
        11_538,  # 29 x 3 + 8 x 0.75 + 530 x 15 + 233 x 15
    ),
    (
        "Gemini's compatible endpoint, whose total alone counts the thoughts (any-llm 1290)",
        OPENAI,
        "outside",
        FLASH,
        {"completion_tokens": 198, "prompt_tokens": 20, "total_tokens": 623},
        1_514,  # 20 x 0.30 = 6, 198 x 2.50 = 495, 405 x 2.50 = 1012.5
    ),
    (
        "a gateway before Gemini: nothing said, all of it thought (CLIProxyAPI 5733)",
        OPENAI,
        "inside",
        FLASH,
        {
            "completion_tokens": 0,
            "total_tokens": 81,
            "prompt_tokens": 21,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        157,  # 21 x 0.30 = 6.3, 60 x 2.50 = 150
    ),
    (
        "a server without a total, reasoning outside by its setting",
        OPENAI,
        "outside",
        GROK,
        {"prompt_tokens": 10, "completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 30}},
        780,  # 10 x 3 + 20 x 15 + 30 x 15
    ),
    (
        "Groq, with its times and its usual tier",
        OPENAI,
        "inside",
        LLAMA,
        {
            "queue_time": 0.037493756,
            "prompt_tokens": 24,
            "prompt_time": 0.000680594,
            "completion_tokens": 377,
            "completion_time": 0.463333333,
            "total_tokens": 401,
            "total_time": 0.464013927,
            "service_tier": "on_demand",
        },
        312,  # 24 x 0.59 = 14.16, 377 x 0.79 = 297.83, together 311.99
    ),
    (
        "Mistral",
        OPENAI,
        "inside",
        MEDIUM,
        {
            "prompt_tokens": 16,
            "completion_tokens": 34,
            "total_tokens": 50,
            "prompt_audio_seconds": {},
            "num_cached_tokens": 8,
        },
        72,  # 8 x 0.40 = 3.2, 8 x 0.04 = 0.32, 34 x 2 = 68, together 71.52
    ),
    (
        "Qwen, an explicit cache of five minutes",
        OPENAI,
        "inside",
        QWEN,
        {
            "prompt_tokens": 3019,
            "completion_tokens": 104,
            "total_tokens": 3123,
            "prompt_tokens_details": {
                "cached_tokens": 0,
                "cache_creation": {"ephemeral_5m_input_tokens": 1605},
                "cache_creation_input_tokens": 1605,
                "cache_type": "ephemeral",
            },
        },
        1_493,  # 1414 x 0.40 = 565.6, 1605 x 0.50 = 802.5, 104 x 1.20 = 124.8, together 1492.9
    ),
    (
        "Kimi, cached tokens beside the others",
        OPENAI,
        "inside",
        KIMI,
        {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "cached_tokens": 768},
        380,  # 232 x 0.60 = 139.2, 768 x 0.15 = 115.2, 50 x 2.50 = 125, together 379.4
    ),
    (
        "Anthropic, no cache",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 2095, "output_tokens": 503},
        13_830,  # 2095 x 3 + 503 x 15
    ),
    (
        "Anthropic, written to a cache of five minutes",
        ANTHROPIC,
        "inside",
        SONNET,
        {
            "input_tokens": 21,
            "cache_creation_input_tokens": 188086,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 188086, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 393,
            "service_tier": "standard",
            "server_tool_use": None,
        },
        711_281,  # 21 x 3 = 63, 188086 x 3.75 = 705322.5, 393 x 15 = 5895
    ),
    (
        "Anthropic, read from a cache",
        ANTHROPIC,
        "inside",
        SONNET,
        {
            "input_tokens": 21,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 188086,
            "output_tokens": 393,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        },
        62_384,  # 21 x 3 = 63, 188086 x 0.30 = 56425.8, 393 x 15 = 5895
    ),
    (
        "Anthropic, caches of five minutes and of an hour in one call (litellm 42663)",
        ANTHROPIC,
        "inside",
        SONNET,
        {
            "input_tokens": 2048,
            "cache_read_input_tokens": 1800,
            "cache_creation_input_tokens": 248,
            "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
            "output_tokens": 503,
            "inference_geo": "global",
        },
        15_384,  # 2048 x 3 + 1800 x 0.30 + 148 x 3.75 + 100 x 6 + 503 x 15
    ),
    (
        "Anthropic, thinking within the output",
        ANTHROPIC,
        "inside",
        replace(SONNET, reasoning=20_000_000),
        {"input_tokens": 500, "output_tokens": 1500, "output_tokens_details": {"thinking_tokens": 900}},
        28_500,  # 500 x 3 + 600 x 15 + 900 x 20
    ),
    (
        "Anthropic, a long input: what was read from the cache counts, and the whole call is dearer",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 150000, "cache_read_input_tokens": 50001, "output_tokens": 1000},
        952_501,  # 150000 x 6 = 900000, 50001 x 0.60 = 30000.6, 1000 x 22.50 = 22500
    ),
    (
        "Anthropic, an input exactly at the limit",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 150000, "cache_read_input_tokens": 50000, "output_tokens": 1000},
        480_000,  # 150000 x 3 + 50000 x 0.30 + 1000 x 15
    ),
    (
        "Anthropic, batch",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 1000, "output_tokens": 200, "service_tier": "batch"},
        3_000,  # 1000 x 1.50 + 200 x 7.50
    ),
    (
        "Anthropic, in the United States",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 1000, "output_tokens": 100, "service_tier": "standard", "inference_geo": "us"},
        4_950,  # 1000 x 3.30 + 100 x 16.50
    ),
    (
        "Anthropic, fast",
        ANTHROPIC,
        "inside",
        SONNET,
        {"input_tokens": 1000, "output_tokens": 100, "speed": "fast", "iterations": [{"type": "message"}]},
        27_000,  # 1000 x 18 + 100 x 90
    ),
    (
        "Bedrock and Vertex before Anthropic: writes without a breakdown",
        ANTHROPIC,
        "inside",
        HAIKU,
        {
            "input_tokens": 12,
            "cache_creation_input_tokens": 3000,
            "cache_read_input_tokens": 0,
            "output_tokens": 100,
            "inference_geo": "not_available",
        },
        4_262,  # 12 x 1 + 3000 x 1.25 + 100 x 5
    ),
    (
        "the simulated models",
        "offline",
        "inside",
        GPT,
        {"input_tokens": 1000, "output_tokens": 200},
        4_500,  # 1000 x 2.50 + 200 x 10
    ),
    (
        "a script with every kind",
        "scripted",
        "inside",
        SONNET,
        {
            "input_tokens": 100,
            "cached_input_tokens": 200,
            "cache_write_tokens": 300,
            "cache_write_1h_tokens": 400,
            "output_tokens": 500,
            "reasoning_tokens": 600,
            "service_tier": "geo:us",
        },
        22_424,  # 100 x 3.30 + 200 x 0.33 + 300 x 4.125 + 400 x 6.60 + 1100 x 16.50 = 330 + 66 + 1237.5 + 2640 + 18150
    ),
]


@pytest.mark.parametrize(
    ("wire", "reasoning", "price", "raw", "expected"),
    [case[1:] for case in SETTLED],
    ids=[case[0] for case in SETTLED],
)
def test_a_usage_object_settles_to_the_amount_worked_out_by_hand(
    wire: str, reasoning: Reasoning, price: PriceRow, raw: dict[str, Any], expected: int
) -> None:
    paid = charge(normalise(wire, raw, reasoning), HELD, price)

    assert (paid.amount, paid.basis, paid.excess) == (expected, "usage", 0)
    assert cost(charged(paid), price) == expected, "an auditor finds it from the charge's own tokens"


def test_the_table_holds_twenty_objects_and_more_each_of_another_shape() -> None:
    shapes = {(wire, str(sorted(raw)), raw.get("service_tier")) for _, wire, _, _, raw, _ in SETTLED}

    assert len(SETTLED) >= 20
    assert len(shapes) >= 20
