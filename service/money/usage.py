"""The usage of a call by its vendor, as kinds of tokens that do not overlap.

    input = fresh + read from a cache + written to a cache       output = visible + reasoning

Vendors report these sums in different ways, and gateways add errors. So each object must pass an identity check before
it is used. `None` stands for usage that is missing or impossible; the caller then charges the reservation. `None` is
not 0: a reported zero is a zero.

    openai-compatible   prompt tokens include the cached and the written ones; whether completion tokens include the
                        reasoning ones depends on the vendor: the total decides, else the setting
    anthropic           input tokens are the fresh ones alone; output tokens include the thinking
    offline, scripted   our own simulated wire

`docs/money.md` lists the vendors' shapes; decision 0025 gives the reasons for these rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from service.debate.wires import WIRES, Wire, complete_wires
from service.errors import SettingsError

Reasoning = Literal["inside", "outside"]
Part = dict[str, Any]
"""An object of a decoded response."""

USAGE_MAX = 1_000_000_000
"""The most tokens of one kind in one call. No call has more, and a column could not hold the cost of far more."""


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens used by one call, normalised: the kinds do not overlap, and their sum is what was billed.

    ``tier`` is the vendor's service tier as in `PriceRow.tiers`, empty for the usual one.
    """

    input: int
    output: int
    cached_input: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cache_write_1h: int = 0
    tier: str = ""

    @property
    def inputs(self) -> int:
        """All tokens of the request: fresh, read from a cache, written to one."""
        return self.input + self.cached_input + self.cache_write + self.cache_write_1h

    @property
    def outputs(self) -> int:
        """All tokens of the reply: visible and reasoning."""
        return self.output + self.reasoning

    @property
    def believable(self) -> bool:
        """Whether every kind is a number of tokens that one call can have."""
        kinds = (
            self.input,
            self.output,
            self.cached_input,
            self.cache_write,
            self.reasoning,
            self.cache_write_1h,
        )
        return min(kinds) >= 0 and max(kinds) <= USAGE_MAX


class _Disbelieved(ValueError):
    """A usage object is impossible, or reports something that no price row covers."""


def normalise(wire: str, raw: object, reasoning: Reasoning = "inside") -> Usage | None:
    """The usage in a recorded object, read by the wire of its seat; raises `SettingsError` for an unknown wire.

    All inputs are in the record, so an auditor computes the same usage again.
    """
    if wire not in WIRES:
        raise SettingsError(f"expected a wire among {', '.join(WIRES)}, found {wire!r}")
    return _READ[wire](raw, reasoning)


def with_tier(raw: Mapping[str, Any], tier: object) -> dict[str, Any]:
    """The usage object plus the service tier that the response states beside it, so that the record is complete."""
    return {**raw} if tier is None or raw.get("service_tier") is not None else {**raw, "service_tier": tier}


# The wires.


def openai(raw: object, reasoning: Reasoning = "inside", tier: str = "") -> Usage | None:
    """The usage of an OpenAI-compatible chat completion, or ``None``.

    ``reasoning`` says whether completion tokens include reasoning tokens if the object's own total does not show it.
    ``tier`` is the tier that the response states, if the object itself has none (`with_tier`).
    """
    try:
        reported = _mapping(raw)
        asked, answered = _part(reported, "prompt_tokens_details"), _part(reported, "completion_tokens_details")
        _text_alone(reported, asked, answered)
        prompt, completion = _required(reported, "prompt_tokens"), _required(reported, "completion_tokens")
        cached, written, hour = _cached(reported, asked, prompt), *_written(reported, asked)
        said, reasoned = _outputs(reported, answered, prompt, completion, reasoning)
        fresh = prompt - cached - written - hour
        return _checked(
            Usage(fresh, said, cached, written, reasoned, hour, _tier(reported.get("service_tier") or tier))
        )
    except _Disbelieved:
        return None


def anthropic(raw: object, tier: str = "") -> Usage | None:
    """The usage of an Anthropic message, or ``None``; ``tier`` is used where the object names none.

    Writes to a cache without a breakdown count as writes for five minutes: the vendor's default, and what we ask for.
    """
    try:
        reported = _mapping(raw)
        _nothing(reported, _SERVER_TOOLS)
        _messages_alone(reported)
        output = _required(reported, "output_tokens")
        thought = _count(_part(reported, "output_tokens_details"), "thinking_tokens") or 0
        five, hour = _by_age(_part(reported, "cache_creation"), _count(reported, "cache_creation_input_tokens"))
        return _checked(
            Usage(
                input=_required(reported, "input_tokens"),
                output=output - thought,
                cached_input=_count(reported, "cache_read_input_tokens") or 0,
                cache_write=five,
                reasoning=thought,
                cache_write_1h=hour,
                tier=_anthropic_tier(reported, tier),
            )
        )
    except _Disbelieved:
        return None


def plain(raw: object) -> Usage | None:
    """The usage of the simulated wire, or ``None``: its kinds do not overlap, under names like those of the record."""
    try:
        reported = _mapping(raw)
        return Usage(
            _required(reported, "input_tokens"),
            _required(reported, "output_tokens"),
            _count(reported, "cached_input_tokens") or 0,
            _count(reported, "cache_write_tokens") or 0,
            _count(reported, "reasoning_tokens") or 0,
            _count(reported, "cache_write_1h_tokens") or 0,
            _tier(reported.get("service_tier")),
        )
    except _Disbelieved:
        return None


_READ: Mapping[Wire, Callable[[object, Reasoning], Usage | None]] = complete_wires(
    {
        "offline": lambda raw, _: plain(raw),
        "scripted": lambda raw, _: plain(raw),
        "openai-compatible": openai,
        "anthropic": lambda raw, _: anthropic(raw),
    },
    "money",
    __file__,
)
"""The reader of each wire's usage."""


# Parts of an OpenAI-compatible object.

_WRITES = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
_BY_AGE = ("cache_creation_token_details", "cache_creation")
_OTHER_MEDIA = frozenset({"audio_tokens", "image_tokens", "video_tokens"})
_EXTRAS = frozenset(
    {
        "server_tool_use",
        "server_side_tool_usage_details",
        "num_sources_used",
        "num_search_queries",
        "citation_tokens",
        "prompt_audio_seconds",
    }
)
_SERVER_TOOLS = frozenset({"server_tool_use"})


def _text_alone(reported: Part, asked: Part, answered: Part) -> None:
    """Raise `_Disbelieved` for use that our price rows do not cover: media other than text, searches, server tools."""
    _nothing(asked, _OTHER_MEDIA)
    _nothing(answered, _OTHER_MEDIA)
    _nothing(reported, _EXTRAS)


def _cached(reported: Part, details: Part, prompt: int) -> int:
    """The tokens read from a cache, under every name that vendors use; all reported numbers must agree."""
    cached = _agreed(
        _count(details, "cached_tokens"),
        _count(reported, "cached_tokens"),
        _count(reported, "num_cached_tokens"),
        _count(reported, "prompt_cache_hit_tokens"),
    )
    missed = _count(reported, "prompt_cache_miss_tokens")
    if missed is not None and missed + cached != prompt:
        raise _Disbelieved("hits and misses of the cache are not the prompt")
    _confirmed(reported, "cache_read_input_tokens", cached)
    return cached


def _written(reported: Part, details: Part) -> tuple[int, int]:
    """The tokens written to a cache of five minutes, and to one of an hour."""
    written = [_count(details, name) for name in _WRITES]
    parts = [part for name in _BY_AGE if (part := _part(details, name))]
    known = None if written.count(None) == len(written) else _agreed(*written)
    five, hour = _by_age(parts[0] if parts else {}, known)
    _confirmed(reported, "cache_creation_input_tokens", five + hour)
    return five, hour


def _confirmed(reported: Part, name: str, known: int) -> None:
    """Require that a count under Anthropic's name beside the prompt tokens is in their details too.

    Otherwise it is unknown whether the prompt tokens include it: LiteLLM has done both (issue 15056).
    """
    if _count(reported, name) not in (None, known):
        raise _Disbelieved(f"{name} is not in the details of the prompt tokens")


def _outputs(reported: Part, details: Part, prompt: int, completion: int, setting: Reasoning) -> tuple[int, int]:
    """The visible tokens and the reasoning tokens. The total decides whether the first include the second."""
    counts = (_count(details, "reasoning_tokens"), _count(reported, "reasoning_tokens"))
    reasoned, total = _agreed(*counts), _count(reported, "total_tokens")
    outside = setting == "outside"
    if total is not None and total == prompt + completion:
        outside = False
    elif total is not None and total == prompt + completion + reasoned:
        outside = True
    elif total is not None and outside and counts == (None, None) and total > prompt + completion:
        reasoned = total - prompt - completion  # Gemini's compatible endpoint counts thoughts in its total alone
    elif total is not None:
        raise _Disbelieved("the total is not the sum of its parts")
    return (completion, reasoned) if outside else (completion - reasoned, reasoned)


# Parts of any object.


def _messages_alone(reported: Part) -> None:
    """Raise `_Disbelieved` if more than the message ran at Anthropic: the sums omit summaries and second models."""
    steps = reported.get("iterations") or []
    if not isinstance(steps, list) or any(_mapping(step).get("type") != "message" for step in steps):
        raise _Disbelieved("a step of another kind than a message is not in the sums")


def _by_age(parts: Part, written: int | None) -> tuple[int, int]:
    """Writes to caches of five minutes and of an hour; their sum must be all writes, if both are reported."""
    five, hour = _count(parts, "ephemeral_5m_input_tokens"), _count(parts, "ephemeral_1h_input_tokens")
    if five is None and hour is None:
        return written or 0, 0
    if written is not None and written != (five or 0) + (hour or 0):
        raise _Disbelieved("the writes to the caches do not add up")
    return five or 0, hour or 0


def _checked(usage: Usage) -> Usage:
    """The usage, if every kind is within bounds and the input is not empty.

    Every request has text. An object without input is a gateway's placeholder for an unknown usage.
    """
    if not usage.believable or usage.inputs == 0:
        raise _Disbelieved("a kind of tokens is out of range, or there is no input")
    return usage


_USUAL = ("", "default", "standard", "auto", "on_demand")
_NOWHERE = ("", "global", "not_available")
_TIER = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,39}")


def _tier(name: object) -> str:
    """A tier's name, empty for the usual one. It goes into the record, so only a short word is accepted."""
    if name is None or name in _USUAL:
        return ""
    if not isinstance(name, str) or not _TIER.fullmatch(name):
        raise _Disbelieved("the tier is not the name of one")
    return name


def _anthropic_tier(reported: Part, tier: str) -> str:
    """All properties that the vendor prices separately, joined: ``priority``, ``speed:fast``, ``priority+geo:us``."""
    speed, geo = _tier(reported.get("speed")), reported.get("inference_geo")
    place = "" if geo in _NOWHERE else _tier(geo)
    parts = (_tier(reported.get("service_tier") or tier), speed and f"speed:{speed}", place and f"geo:{place}")
    return "+".join(part for part in parts if part)


def _mapping(raw: object) -> Part:
    if not isinstance(raw, dict):
        raise _Disbelieved("an object was expected")
    return raw


def _part(reported: Part, name: str) -> Part:
    """A nested object; many servers omit it or send null."""
    part = reported.get(name)
    return {} if part is None else _mapping(part)


def _count(reported: Part, name: str) -> int | None:
    """A number of tokens, or ``None`` if it is missing; raises for a truth value, a string and a fraction."""
    count = reported.get(name)
    if count is None:
        return None
    if type(count) is not int or not 0 <= count <= USAGE_MAX:  # a truth value is an instance of int
        raise _Disbelieved(f"{name} is not a number of tokens")
    return count


def _required(reported: Part, name: str) -> int:
    count = _count(reported, name)
    if count is None:
        raise _Disbelieved(f"{name} is missing")
    return count


def _agreed(*counts: int | None) -> int:
    """The one value of all counts that are present, or 0 if none is; raises `_Disbelieved` if they differ."""
    reported = {count for count in counts if count is not None}
    if len(reported) > 1:
        raise _Disbelieved("one number has two values")
    return reported.pop() if reported else 0


def _nothing(reported: Part, names: frozenset[str]) -> None:
    """Raise `_Disbelieved` unless each of these is missing, null, zero or an object of zeros."""
    for name in names.intersection(reported):
        used = reported[name]
        if any(used.values()) if isinstance(used, dict) else used:
            raise _Disbelieved(f"{name} was used, which has no price")
