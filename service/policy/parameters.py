"""Parameters of a model: any that the vendor knows, except the names below.

Parameters are written into the request's body as they stand, are part of what every call's hash covers, and stand in
the record. So they may not be what the adapter sets itself, since the pins are compared with that; nor what lets other
text into the request or other models answer, since neither is in the reservation; nor what multiplies a call's cost;
nor a sentence, for what is said to a model is said in the pinned prompts; nor a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from service.debate.model import PriceRow
from service.debate.wires import Wire
from service.policy.bounds import COUNT_MAX, within
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.wires import RULES

DEPTH_MAX = 6
_WORD = re.compile(r"[!-~]{0,128}")
USUAL: Mapping[str, tuple[str, ...]] = {
    "service_tier": ("auto", "default", "standard", "standard_only"),
    "speed": ("standard",),
    "inference_geo": ("global",),
}
"""Parameters by which a vendor bills other rates, each with the values under which it bills the usual ones."""
_AXIS = {"service_tier": "", "speed": "speed:", "inference_geo": "geo:"}

_ADAPTER = "the adapter sets it from the request, the seat's allowance or the reply's schema"
_TEXT = "it brings text into the request that is neither pinned nor counted"
_COST = "it makes one call cost as much as several"
_STREAM = "a reply is read whole"
_MODELS = "another model might answer than the one that is recorded and priced; give the seat a fallback"
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        ("model", "messages", "system", "input", "prompt", "instructions", "engine", "deployment"), _ADAPTER
    ),
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"), _ADAPTER),
    **dict.fromkeys(
        ("response_format", "output_format", "format", "text_format", "structured_outputs", "json_schema"), _ADAPTER
    ),
    **dict.fromkeys(("guided_json", "guided_regex", "guided_choice", "guided_grammar", "grammar"), _ADAPTER),
    **dict.fromkeys(("stream", "stream_options", "background"), _STREAM),
    **dict.fromkeys(("n", "best_of", "candidate_count", "use_beam_search"), _COST),
    **dict.fromkeys(("modalities", "audio", "prediction"), "it is billed at rates that a price row does not have"),
    **dict.fromkeys(("tools", "tool_choice", "functions", "function_call", "parallel_tool_calls"), _TEXT),
    **dict.fromkeys(
        ("mcp_servers", "web_search_options", "plugins", "container", "documents", "search_parameters"), _TEXT
    ),
    **dict.fromkeys(
        ("chat_template", "add_generation_prompt", "continue_final_message", "echo", "suffix", "transforms"), _TEXT
    ),
    **dict.fromkeys(("models", "route", "fallbacks", "fallback_models", "context_window_fallback_dict"), _MODELS),
    **dict.fromkeys(("store", "metadata"), "it has the vendor keep what a case says"),
    **dict.fromkeys(
        ("api_base", "base_url", "extra_body", "extra_headers", "extra_query", "headers"), "a provider says it"
    ),
}
_SECRET_NAME = re.compile(
    r"(?:^|[-_ .])(?:api[-_]?key|key|token|secret|passw(?:or)?d|passphrase|credentials?|auth|authorization|cookie"
    r"|signature|sig)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"(?:sk-|sk_|pk-|gsk_|xai-|hf_|ghp_|github_pat_|xox[a-z]-|AKIA|AIza|eyJ|Bearer |Basic )", re.IGNORECASE
)
_NOT_SECRET = ("prompt_cache_key",)


def looks_secret(name: str, value: str) -> bool:
    """Whether a name or a text looks like that of a key: such a thing is named in the policy, never written there."""
    if name.lower() in _NOT_SECRET:
        return False
    spoken = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name)  # apiKey, X-ApiKey
    return bool(_SECRET_NAME.search(spoken) or _SECRET_VALUE.match(value.strip()))


def check_parameters(parameters: Mapping[str, Any], wire: Wire, prices: tuple[PriceRow, ...], path: Path) -> None:
    """Raise `WrongSetting` for a parameter that a policy may not set, or a value that no request can carry."""
    faults = Faults()
    for name, value in parameters.items():
        with faults.noted():
            _check_parameter(name, value, path)
    config = parameters.get("output_config", {})
    if "output_config" in parameters and not (
        RULES[wire].output_config and isinstance(config, dict) and "format" not in config
    ):
        faults.note(
            (*path, "output_config"), f"this parameter cannot be set here: {_ADAPTER}; only Anthropic's effort can"
        )
    for name, usual in USUAL.items():
        value = parameters.get(name)
        if (
            value is not None
            and value not in usual
            and not all(_priced(f"{_AXIS[name]}{value}", row) for row in prices)
        ):
            faults.note(
                (*path, name),
                f"expected one of {', '.join(usual)}, or a value that every price row has rates for under "
                f'tiers."{_AXIS[name]}..."; found another, which has no price',
            )
    faults.refuse()


def _check_parameter(name: str, value: Any, path: Path) -> None:
    """Raise `WrongSetting` for a name that may not be set, and for what no request can carry in its value."""
    inside = (*path, name)
    if not _WORD.fullmatch(name):
        raise WrongSetting(path, "expected names of at most 128 ASCII characters without blanks")
    if why := REFUSED.get(name.lower()):
        raise WrongSetting(inside, f"this parameter cannot be set here: {why}")
    for where, inner in _walk(value, inside):
        _check_value(where, inner)


def _priced(part: str, row: PriceRow) -> bool:
    """Whether a row has rates for a tier, alone or together with others: ``priority+geo:us``."""
    parts = {part, "priority"} if part == "fast" else {part}  # OpenAI answers the one with the other
    return any(parts & set(tier.split("+")) for tier in row.tiers)


def _check_value(path: Path, value: Any) -> None:
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if isinstance(value, bool | dict | list):
        return
    if isinstance(value, int):
        within(path, value, -COUNT_MAX, COUNT_MAX)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise WrongSetting(path, "expected a number, found one that is not finite")
    elif not isinstance(value, str):
        raise WrongSetting(path, "expected a word, a number, true, false, a list or a table; write dates as strings")
    elif looks_secret(name, value):
        raise WrongSetting(
            path, "this looks like a secret, and parameters are recorded; name secrets in the provider's key"
        )
    elif not _WORD.fullmatch(value):
        raise WrongSetting(
            path, "expected a word of at most 128 ASCII characters; sentences belong into the pinned prompts"
        )


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """A value and everything inside it, with its path; raises `WrongSetting` where it goes too deep."""
    if isinstance(value, dict | list) and len(path) >= DEPTH_MAX + 4:  # models, which one, parameters, its name
        raise WrongSetting(path, f"expected tables and lists at most {DEPTH_MAX} deep")
    yield path, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        if isinstance(key, str) and not _WORD.fullmatch(key):
            raise WrongSetting(path, "expected names of at most 128 ASCII characters without blanks")
        yield from _walk(inner, (*path, key))
