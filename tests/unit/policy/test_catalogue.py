"""Providers, models, prices and parameters: what is read, and what stops the start before it costs or leaks."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.wires import WIRES
from service.errors import SettingsError
from service.policy import RULES, ProviderSetting
from service.policy.faults import WrongSetting
from service.policy.models import is_fixed
from service.policy.parameters import REFUSED, check_parameters
from service.policy.settings import read_policy
from service.providers import wire
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from tests.fixtures.policies import CLAUDE, MODEL, OPENAI, ROW, Bare, policy_file, refused, vendors

KEY = "sk-proj-s3cret"


def with_model(**keys: Any) -> dict[str, Any]:
    """Vendors with keys of the OpenAI model changed."""
    whole = vendors()
    whole["models"][6] |= keys
    return whole


def with_rows(*rows: dict[str, Any]) -> dict[str, Any]:
    return with_model(prices=[{**ROW, **row} for row in rows])


def with_provider(**keys: Any) -> dict[str, Any]:
    whole = vendors()
    whole["providers"]["openai"] = {k: v for k, v in {**OPENAI, **keys}.items() if v is not None}
    return whole


# -- providers


def test_a_provider_has_every_key_that_is_written_and_defaults_for_the_others(tmp_path: Path) -> None:
    keys: dict[str, Any] = {
        "base_url": "https://bank.openai.azure.com/openai/deployments/review",
        "path": "/chat/completions",
        "query": {"api-version": "2025-04-01-preview"},
        "headers": {"X-Cost-Centre": "4711"},
        "secret_headers": {"Ocp-Apim-Subscription-Key": "file:/run/secrets/apim"},
        "auth": "api-key",
        "structured": "json_schema",
        "strict_schema": False,
        "seat_role": "system",
        "max_tokens_field": "max_tokens",
        "reasoning": "outside",
        "connect_timeout_s": 5,
        "call_timeout_s": 60,
        "breaker_failures": 3,
        "breaker_pause_s": 10,
    }
    found = read_policy(policy_file(tmp_path, **with_provider(**keys))).providers

    assert found["openai"] == ProviderSetting(kind="openai-compatible", key="env:OPENAI_API_KEY", **keys)
    assert found["anthropic"] == ProviderSetting(
        kind="anthropic", base_url="https://api.anthropic.com", key="env:ANTHROPIC_API_KEY"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "https://10.1.2.3:8443",
        "http://127.0.0.1:11434/v1",
        "http://[::1]:8000",
        "http://localhost:8000/v1",
        "http://vllm:8000/v1",
        "http://vllm.models.svc.cluster.local:8000/v1",
        "http://models.bank.internal/v1",
        "http://10.1.2.3/v1",
        "http://192.168.7.8/v1",
        "http://[fd00::7]/v1",
    ],
)
def test_a_url_is_https_or_stays_in_the_private_network(tmp_path: Path, url: str) -> None:
    assert read_policy(policy_file(tmp_path, **with_provider(base_url=url))).providers["openai"].base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "http://8.8.8.8/v1",
        "http://169.254.169.254/latest",
        "http://0.0.0.0:8000",
        "http://localhost.example.com/v1",
        "http://127.0.0.1.example.com",
        "http://2130706433/v1",
        "http://10.1/v1",
        "ftp://localhost/v1",
        "file:///etc/passwd",
        "https:///v1",
        "https://",
        "api.openai.com/v1",
        "",
        f"https://user:{KEY}@api.openai.com/v1",
        f"https://{KEY}@api.openai.com/v1",
        "https://@api.openai.com/v1",
        f"https://api.openai.com/v1?key={KEY}",
        "https://api.openai.com/v1#top",
        "https://api.openai.com:port/v1",
        "https://api.openai.com/v1 ",
        "https://api.opénai.com/v1",
        "https://[::1",
        "https://api.openai.com\\@evil.example/v1",
        "https://api.openai.com/v1\nHost: evil",
    ],
)
def test_a_url_that_leaves_in_clear_or_holds_a_secret_is_refused(tmp_path: Path, url: str) -> None:
    said = refused(tmp_path, with_provider(base_url=url))

    assert "providers.openai.base_url: " in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("kind", "url", "twice"),
    [
        ("openai-compatible", "https://gateway/v1/chat/completions", "/chat/completions"),
        ("openai-compatible", "https://gateway/v1/chat/completions/", "/chat/completions"),
        ("openai-compatible", "https://gateway/v1/chat", "/chat"),
        ("anthropic", "https://api.anthropic.com/v1", "/v1"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "/v1/messages"),
    ],
)
def test_a_url_does_not_end_as_what_is_joined_to_it_begins(tmp_path: Path, kind: str, url: str, twice: str) -> None:
    whole = vendors()
    name = "anthropic" if kind == "anthropic" else "openai"
    whole["providers"][name]["base_url"] = url

    assert f"so it must not end in {twice} itself" in refused(tmp_path, whole)

    whole["providers"][name]["path"] = "/v1/v1"
    assert read_policy(policy_file(tmp_path, **whole)).providers[name].base_url == url


def test_what_is_joined_to_a_url_is_what_the_adapters_join() -> None:
    joined = {wire: rules.path for wire, rules in RULES.items() if rules.path is not None}
    assert joined == {"openai-compatible": OpenAICompatible.path, "anthropic": Anthropic.path}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("auth", "bearer, api-key, x-api-key, none"),
        ("structured", "auto, json_schema, tool, json_object, text"),
        ("seat_role", "developer, system, user"),
        ("max_tokens_field", "max_completion_tokens, max_tokens"),
        ("reasoning", "inside, outside"),
        ("kind", ", ".join(WIRES)),
    ],
)
def test_a_key_that_has_a_few_words_says_which(tmp_path: Path, key: str, words: str) -> None:
    assert refused(tmp_path, with_provider(**{key: "json"})).endswith(f"openai.{key}: expected one of: {words}")


WRONG_PROVIDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "a key that is the secret itself": ("key", {"key": KEY}),
    "a key that is a variable's name alone": ("key", {"key": "OPENAI_API_KEY"}),
    "a key that is no variable": ("key", {"key": "env:sk-proj s3cret"}),
    "a key in a file of some folder": ("key", {"key": "file:secrets/key"}),
    "a key among our own settings": ("key", {"key": "env:GAINSAY_OPENAI_KEY"}),
    "no key": ("key", {"key": None}),
    "a key for nobody": ("key", {"auth": "none"}),
    "a way of authorizing that is none": ("auth", {"auth": KEY}),
    "an authorization in clear": ("headers.Authorization", {"headers": {"Authorization": f"Bearer {KEY}"}}),
    "a key in clear": ("headers.api-key", {"headers": {"api-key": "0123456789abcdef"}}),
    "a key in clear under a vendor's name": ("headers.X-ApiKey", {"headers": {"X-ApiKey": "0123456789abcdef"}}),
    "a secret under a plain name": ("headers.X-Gateway", {"headers": {"X-Gateway": KEY}}),
    "a token in the query": ("query.access_token", {"query": {"access_token": "0123456789abcdef"}}),
    "a key in the query": ("query.key", {"query": {"key": "0123456789abcdef"}}),
    "a header with a line break": ("headers.X-A", {"headers": {"X-A": "b\r\nc: d"}}),
    "a header that is no token": ("headers.X A", {"headers": {"X A": "b"}}),
    "a header of the adapter": ("headers.Content-Type", {"headers": {"Content-Type": "text/plain"}}),
    "a secret header in clear": ("secret_headers.X-A", {"secret_headers": {"X-A": KEY}}),
    "no base URL": ("base_url", {"base_url": None}),
    "a path without its slash": ("path", {"path": "chat/completions"}),
    "a path with a query": ("path", {"path": "/chat?key=s3cret"}),
    "a proxy with a password": ("proxy", {"proxy": f"http://me:{KEY}@proxy:3128"}),
    "a proxy without a port": ("proxy", {"proxy": "http://proxy"}),
    "a proxy with a path": ("proxy", {"proxy": "http://proxy:3128/"}),
    "a proxy over TLS": ("proxy", {"proxy": "https://proxy:3128"}),
    "a proxy with port zero": ("proxy", {"proxy": "http://proxy:0"}),
    "a proxy that cannot be read": ("proxy", {"proxy": "http://[::1"}),
    "a script": ("script", {"script": "replies.json"}),
    "a latency": ("latency_ms", {"latency_ms": 5}),
    "no time to connect": ("connect_timeout_s", {"connect_timeout_s": 0}),
    "a day for a call": ("call_timeout_s", {"call_timeout_s": 86_400}),
    "a breaker that never opens": ("breaker_failures", {"breaker_failures": 0}),
    "a breaker that never closes": ("breaker_pause_s", {"breaker_pause_s": 10**9}),
    "a structure that is none": ("structured", {"structured": "xml"}),
}


@pytest.mark.parametrize("name", WRONG_PROVIDERS)
def test_a_provider_that_leaks_or_makes_no_sense_is_refused_without_showing_what_stands_there(
    tmp_path: Path, name: str
) -> None:
    key, keys = WRONG_PROVIDERS[name]
    said = refused(tmp_path, with_provider(**keys))

    assert f": providers.openai.{key}: " in said
    assert "s3cret" not in said
    assert "0123456789abcdef" not in said


@pytest.mark.parametrize("part", ["headers", "secret_headers"])
@pytest.mark.parametrize(
    "name",
    [
        *("Expect", "connection", "Transfer-Encoding", "content-length", "TE", "Trailer", "upgrade", "Keep-Alive"),
        "Proxy-Connection",
    ],
)
def test_a_header_of_the_connection_or_of_framing_is_refused(tmp_path: Path, part: str, name: str) -> None:
    value = "100-continue" if part == "headers" else "env:VALUE"
    said = refused(tmp_path, with_provider(**{part: {name: value}}))

    assert f"providers.openai.{part}.{name}: this header is of the connection or frames the message" in said


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("offline", "base_url", "https://api.example.com"),
        ("offline", "key", "env:KEY"),
        ("offline", "breaker_failures", 3),
        ("anthropic", "seat_role", "system"),
        ("anthropic", "max_tokens_field", "max_tokens"),
        ("anthropic", "reasoning", "outside"),
    ],
)
def test_a_key_that_its_kind_has_no_use_for_is_refused(tmp_path: Path, kind: str, key: str, value: Any) -> None:
    whole = vendors()
    whole["providers"][kind][key] = value

    assert f"providers.{kind}.{key}: this key means nothing to a provider of kind {kind}" in refused(tmp_path, whole)


def test_anthropic_has_no_json_object(tmp_path: Path) -> None:
    whole = vendors()
    whole["providers"]["anthropic"]["structured"] = "json_object"

    assert "providers.anthropic.structured: this vendor has no json_object" in refused(tmp_path, whole)


def test_a_server_without_keys_says_so(tmp_path: Path) -> None:
    setting = read_policy(policy_file(tmp_path, **with_provider(key=None, auth="none"))).providers["openai"]

    assert (setting.key, setting.auth) == (None, "none")


# -- models


def test_a_model_has_every_key_that_is_written(tmp_path: Path) -> None:
    parameters = {
        "temperature": Bare("0.2"),
        "seed": 7,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "stop": ["END"],
        "logprobs": False,
        "prompt_cache_key": "gainsay",
    }
    whole = with_model(safety="1.25", overhead_tokens=12, snapshot=False, parameters=parameters)

    model = read_policy(policy_file(tmp_path, **whole)).models["gpt"]

    assert (model.safety_per_mille, model.overhead_tokens, model.snapshot) == (1_250, 12, False)
    assert model.parameters == {**parameters, "temperature": 0.2}


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        ("gpt-5-2025-08-07", True),
        ("gpt-4.1-mini-2025-04-14", True),
        ("gpt-4-0613", True),
        ("gpt-4-1106-preview", True),
        ("openai/gpt-4o-2024-11-20", True),
        ("claude-sonnet-4-5-20250929", True),
        ("claude-sonnet-4-5@20250929", True),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("gemini-2.0-flash-001", True),
        ("text-bison@001", True),
        ("gemini-2.5-pro-preview-05-06", True),
        ("command-r-plus-08-2024", True),
        ("mistral-large-2411", True),
        ("llama3@sha256:" + "0a" * 32, True),
        ("gpt-5", False),
        ("gpt-4o", False),
        ("chatgpt-4o-latest", False),
        ("mistral-large-latest", False),
        ("claude-3-5-sonnet-latest-20241022", False),
        ("claude-sonnet-4-6", False),
        ("gemini-2.5-pro", False),
        ("llama3.1:8b", False),
        ("meta-llama/Llama-3.1-405B-Instruct", False),
        ("qwen3-235b-a22b", False),
        ("gpt-5-2025-13-07", False),
        ("o3", False),
    ],
)
def test_a_name_with_a_date_a_version_or_a_digest_at_its_end_is_that_of_a_fixed_artefact(
    name: str, fixed: bool
) -> None:
    assert is_fixed(name) == fixed


def test_simulated_models_are_fixed_and_a_model_says_itself_what_its_name_does_not(tmp_path: Path) -> None:
    models = read_policy(policy_file(tmp_path, **with_model(name="gpt-5", snapshot=True))).models

    assert models["alder-large"].snapshot
    assert models["gpt"].snapshot
    assert not read_policy(policy_file(tmp_path, **with_model(name="gpt-5"))).models["gpt"].snapshot


WRONG_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown provider": ("provider", {"provider": "openay"}),
    "an unknown tokenizer": ("tokenizer", {"tokenizer": "o200k"}),
    "the simulated models' tokenizer": ("tokenizer", {"tokenizer": "bytes/4"}),
    "an alias that is used twice": ("alias", {"alias": "alder-large"}),
    "a name that ends in a blank": ("name", {"name": "gpt-5 "}),
    "a latest that is fixed": ("snapshot", {"name": "gpt-latest", "snapshot": True}),
    "a family that is another but for capitals": ("family", {"family": "Alder"}),
    "no window": ("context_window", {"context_window": 0}),
    "a negative overhead": ("overhead_tokens", {"overhead_tokens": -1}),
    "a safety below one": ("safety", {"safety": "0.99"}),
}


@pytest.mark.parametrize("name", WRONG_MODELS)
def test_a_model_that_makes_no_sense_is_refused(tmp_path: Path, name: str) -> None:
    key, keys = WRONG_MODELS[name]

    alias = keys.get("alias", "gpt")
    assert f": models.{alias}.{key}: " in refused(tmp_path, with_model(**keys))


def test_one_model_under_two_aliases_is_of_one_family(tmp_path: Path) -> None:
    whole = vendors()
    whole["models"].append({**MODEL, "alias": "gpt-again", "family": "claude"})

    assert "models.gpt-again.family: 'gpt-again' and 'gpt' are one model" in refused(tmp_path, whole)


def test_a_vendor_without_a_tokenizer_of_its_own_here_needs_a_margin(tmp_path: Path) -> None:
    whole = vendors()
    whole["models"][7] = {key: value for key, value in CLAUDE.items() if key != "safety"}

    assert "models.claude.safety: expected more than 1.0" in refused(tmp_path, whole)


def test_one_deployment_does_not_answer_for_two_models(tmp_path: Path) -> None:
    whole = with_provider(base_url="https://bank.openai.azure.com/openai/deployments/review")
    whole["models"].append({**MODEL, "alias": "gpt-small", "name": "gpt-4.1-mini-2025-04-14"})

    assert "models.gpt-small.provider: the address of 'openai' is one deployment's" in refused(tmp_path, whole)

    whole["models"][-1]["name"] = MODEL["name"]
    assert "gpt-small" in read_policy(policy_file(tmp_path, **whole)).models


# -- parameters


@pytest.mark.parametrize("name", [*REFUSED, "N", "Max_Tokens"])
def test_a_parameter_of_the_adapter_or_one_that_multiplies_costs_is_refused(tmp_path: Path, name: str) -> None:
    assert f"parameters.{name}: this parameter cannot be set here: " in refused(
        tmp_path, with_model(parameters={name: 2})
    )


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"api_key": "0123456789abcdef"}, "api_key"),
        ({"user": KEY}, "user"),
        ({"routing": {"vault": {"token": "0123456789abcdef"}}}, "routing.vault.token"),
        ({"temperature": Bare("nan")}, "temperature"),
        ({"temperature": Bare("-inf")}, "temperature"),
        ({"since": Bare("1979-05-27")}, "since"),
        ({"seed": 10**30}, "seed"),
        ({"logit_bias": {"50256": -(10**10)}}, "logit_bias.50256"),
        ({"stop": ["x" * 129]}, "stop"),
        ({"stop": ["a\0b"]}, "stop"),
        ({"reasoning_style": "Please agree with the proposer."}, "reasoning_style"),
        ({"deep": [[[[[[[1]]]]]]]}, "deep"),
        ({"deep": {"a b": 1}}, "deep"),
        ({"output_config": {"effort": "low"}}, "output_config"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"service_tier": 3}, "service_tier"),
        ({"speed": "fast"}, "speed"),
        ({"inference_geo": "us"}, "inference_geo"),
    ],
    ids=str,
)
def test_a_parameter_that_is_a_secret_or_has_no_price_or_no_json_is_refused(
    tmp_path: Path, parameters: dict[str, Any], place: str
) -> None:
    said = refused(tmp_path, with_model(parameters=parameters))

    assert f": models.gpt.parameters.{place}: " in said
    assert "s3cret" not in said
    assert "0123456789abcdef" not in said


@pytest.mark.parametrize(
    ("config", "taken"), [({"effort": "low"}, True), ({"format": {"type": "text"}}, False), (3, False)]
)
def test_what_the_adapter_sets_within_a_parameter_is_refused_and_the_rest_is_not(
    tmp_path: Path, config: Any, taken: bool
) -> None:
    whole = vendors()
    whole["models"][7]["parameters"] = {"output_config": config}

    if taken:
        assert read_policy(policy_file(tmp_path, **whole)).models["claude"].parameters["output_config"] == config
    else:
        assert "models.claude.parameters.output_config: " in refused(tmp_path, whole)


def test_whatever_an_adapter_refuses_on_the_way_out_is_refused_at_the_start() -> None:
    assert wire.RESERVED - set(REFUSED) == set()


words = st.text(st.characters(min_codepoint=32, max_codepoint=160), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
)


@given(parameters=st.dictionaries(words | st.sampled_from(sorted(wire.RESERVED)), values, max_size=3))
def test_whatever_the_start_accepts_an_adapter_sends(parameters: dict[str, Any]) -> None:
    try:
        check_parameters(parameters, "openai-compatible", (), ("models", 0, "parameters"))
    except WrongSetting:
        return

    wire.refuse_parameters(parameters)


@pytest.mark.parametrize(("depth", "taken"), [(6, True), (7, False)])
def test_parameters_are_as_deep_as_an_adapter_takes_them(depth: int, taken: bool) -> None:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]

    with nullcontext() if taken else pytest.raises(WrongSetting):
        check_parameters({"a": value}, "openai-compatible", (), ("models", 0, "parameters"))
    with nullcontext() if taken else pytest.raises(SettingsError):
        wire.refuse_parameters({"a": value})


RATES = {key: value for key, value in ROW.items() if key.endswith("_usd")}


@pytest.mark.parametrize(
    ("parameters", "tiers"),
    [
        ({"service_tier": "auto"}, []),
        ({"service_tier": "priority"}, ["priority"]),
        ({"service_tier": "fast"}, ["priority"]),
        ({"speed": "fast"}, ["speed:fast"]),
        ({"inference_geo": "global"}, []),
        ({"inference_geo": "us"}, ["priority+geo:us", "flex"]),
    ],
    ids=str,
)
def test_a_tier_may_be_asked_for_that_every_row_has_rates_for(
    tmp_path: Path, parameters: dict[str, Any], tiers: list[str]
) -> None:
    row = {**ROW, "tiers": dict.fromkeys(tiers, RATES)}
    whole = with_model(parameters=parameters, prices=[row])

    assert set(read_policy(policy_file(tmp_path, **whole)).models["gpt"].prices[0].tiers) == set(tiers)
    if tiers:
        later = {**ROW, "effective": "2026-02-01"}
        assert "parameters." in refused(tmp_path, with_model(parameters=parameters, prices=[row, later]))


# -- prices


def test_a_row_has_every_rate_that_is_written(tmp_path: Path) -> None:
    hour = {"cache_write_1h_usd": "4.00"}
    doubled = {key: f"{float(value) * 2:.2f}" for key, value in {**RATES, **hour}.items()}
    row = {**hour, "long_input": {**doubled, "above": 200_000}, "tiers": {"priority": {**doubled}}}

    found = read_policy(policy_file(tmp_path, **with_rows(row))).models["gpt"].prices[0]

    assert (found.input, found.output, found.cached_input, found.cache_write) == (
        2_000_000,
        8_000_000,
        500_000,
        2_000_000,
    )
    assert (found.reasoning, found.cache_write_1h) == (8_000_000, 4_000_000)
    assert found.long_input is not None
    assert found.long_input.above == 200_000
    assert found.long_input.rates == found.tiers["priority"]
    assert (found.long_input.rates.input, found.long_input.rates.cache_write_1h) == (4_000_000, 8_000_000)


LATER = {"effective": "2026-06-01"}
IMPLAUSIBLE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "a price for one token among those for a million": ("output_usd", [{"output_usd": "0.000008"}]),
    "an output a hundred times its input": ("output_usd", [{"output_usd": "200.00"}]),
    "an input a hundred times its output": ("output_usd", [{"input_usd": "800.00", "cache_write_usd": "0"}]),
    "a cached price a hundred times off": ("cached_input_usd", [{"cached_input_usd": "0.02"}]),
    "a written price a hundred times off": ("cache_write_usd", [{"cache_write_usd": "200.00"}]),
    "an hour's price a hundred times off": ("cache_write_1h_usd", [{"cache_write_1h_usd": "0.004"}]),
    "a reasoning price a hundred times off": ("reasoning_usd", [{"reasoning_usd": "0.08"}]),
    "reasoning for nothing": ("reasoning_usd", [{"reasoning_usd": "0"}]),
    "output for nothing": ("output_usd", [{"output_usd": "0", "reasoning_usd": "0"}]),
    "every price for one token": (
        "input_usd",
        [{key: f"{float(value) / 1_000_000:.6f}" for key, value in RATES.items()}],
    ),
    "every price for a thousand tokens": (
        "input_usd",
        [{key: f"{float(value) / 1_000:.6f}" for key, value in RATES.items()}],
    ),
    "every price for a thousand million tokens": (
        "input_usd",
        [{key: f"{float(value) * 1_000:.6f}" for key, value in RATES.items()}],
    ),
    "a later row a hundred times dearer": (
        "input_usd",
        [{}, {**LATER, **{key: f"{float(value) * 100:.2f}" for key, value in RATES.items()}}],
    ),
    "a later row a hundred times cheaper": (
        "input_usd",
        [{**LATER, **{key: f"{float(value) / 100:.3f}" for key, value in RATES.items()}}, {}],
    ),
    "a later row for nothing": ("input_usd", [{}, {**LATER, **dict.fromkeys(RATES, "0")}]),
    "a long input a hundred times off": (
        "long_input.input_usd",
        [{"long_input": {**RATES, "above": 9, "input_usd": "0.02"}}],
    ),
    "a tier a hundred times off": ("tiers.flex.output_usd", [{"tiers": {"flex": {**RATES, "output_usd": "800"}}}]),
}


@pytest.mark.parametrize("name", IMPLAUSIBLE)
def test_a_price_that_is_a_hundred_times_off_its_neighbour_is_refused_unless_it_is_confirmed(
    tmp_path: Path, name: str
) -> None:
    key, rows = IMPLAUSIBLE[name]

    said = refused(tmp_path, with_rows(*rows))
    confirmed = read_policy(policy_file(tmp_path, **with_rows(*({**row, "confirmed": True} for row in rows))))

    assert f": models.gpt.prices.{key}: " in said
    assert "confirmed = true" in said
    assert len(confirmed.models["gpt"].prices) == len(rows)


@pytest.mark.parametrize(
    "rows",
    [
        [{"output_usd": "199.99", "reasoning_usd": "199.99"}],
        [{"cached_input_usd": "0.021", "cache_write_usd": "0"}],
        [{}, {**LATER, "input_usd": "1.00"}],
        [dict.fromkeys(RATES, "0")],
        [dict.fromkeys(RATES, "0"), LATER],
    ],
    ids=["99 times", "no write", "halved", "one's own hardware", "no longer free"],
)
def test_prices_that_vendors_do_have_need_no_confirmation(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    assert len(read_policy(policy_file(tmp_path, **with_rows(*rows))).models["gpt"].prices) == len(rows)


WRONG_ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "a price without a source": (".source", {"source": " "}),
    "a long input without a threshold": (".long_input.above", {"long_input": RATES}),
    "a long input from nothing on": (".long_input.above", {"long_input": {**RATES, "above": 0}}),
    "a long input that the window does not hold": (".long_input.above", {"long_input": {**RATES, "above": 1_000_000}}),
    "a long input without a rate": (
        ".long_input.output_usd",
        {"long_input": {**{k: v for k, v in RATES.items() if k != "output_usd"}, "above": 9}},
    ),
    "a tier without a name": (".tiers", {"tiers": {"": RATES}}),
    "a tier with an unknown key": (".tiers.flex.price", {"tiers": {"flex": {**RATES, "price": "1"}}}),
    "an hour's cache in the row alone": (".tiers.flex", {"cache_write_1h_usd": "4.00", "tiers": {"flex": RATES}}),
    "an hour's cache in long input alone": (
        ".long_input",
        {"long_input": {**RATES, "above": 9, "cache_write_1h_usd": "4.00"}},
    ),
    "a negative rate of a tier": (".tiers.flex.input_usd", {"tiers": {"flex": {**RATES, "input_usd": "-1"}}}),
}


@pytest.mark.parametrize("name", WRONG_ROWS)
def test_a_row_that_cannot_price_every_call_is_refused(tmp_path: Path, name: str) -> None:
    key, row = WRONG_ROWS[name]

    assert f": models.gpt.prices{key}: " in refused(tmp_path, with_rows(row))


@pytest.mark.parametrize("written", ["0.0000005", "$8.00", "8,00", "-1"])
def test_a_price_that_is_none_says_for_how_many_tokens_prices_are(tmp_path: Path, written: str) -> None:
    said = refused(tmp_path, with_rows({"output_usd": written}))

    assert said.endswith(f"found {written!r}; a price is for a million tokens, such as 2.50")


@pytest.mark.parametrize("written", ["8.00", "8", "2026-01-01"])
def test_a_price_or_a_day_without_quotes_is_asked_for_with_them(tmp_path: Path, written: str) -> None:
    assert refused(tmp_path, with_rows({"effective": Bare(written)})).endswith("; write it in quotes")
