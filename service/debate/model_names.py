"""The names by which a reply can say which model gave it: those of the debate's own models, and well-known ones.

A debate seals its seats in ``debate.started``: aliases, names at the vendor, families and providers, of fallbacks too.
The well-known list is part of the layout's version, because a model may name another product than the catalogue does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from service.debate.entries import DebateStarted

WELL_KNOWN = (
    *("ai21", "aleph alpha", "alibaba", "alibaba cloud", "amazon", "amazon nova", "amazon titan", "anthropic", "aws"),
    *(
        "aya",
        "azure",
        "azure open ai",
        "baichuan",
        "baidu",
        "bard",
        "bedrock",
        "byte dance",
        "character ai",
        "chat glm",
    ),
    *("chat gpt", "claude", "claude code", "code llama", "codestral", "codex", "cohere", "command a", "command r"),
    *("command r+", "copilot", "databricks", "dbrx", "deep mind", "deep seek", "devstral", "doubao", "ernie", "exaone"),
    *(
        "fireworks ai",
        "gemini",
        "gemma",
        "giga chat",
        "github copilot",
        "glm",
        "google",
        "google ai",
        "google deep mind",
    ),
    *("google gemini", "gpt", "gpt oss", "granite", "grok", "groq", "hugging face", "hunyuan", "ibm", "intern lm"),
    *("jamba", "kimi", "kimi k2", "llama", "llama guard", "luminous", "magistral", "medgemma", "meta", "meta ai"),
    *("meta llama", "microsoft", "microsoft copilot", "mini max", "ministral", "mistral", "mistral ai", "mixtral"),
    *("moonshot", "moonshot ai", "nemotron", "nous hermes", "nous research", "nvidia", "o1", "o3", "o4", "olmo"),
    *("open ai", "pa lm", "perplexity", "perplexity ai", "phi", "pixtral", "qwen", "qwq", "reka", "reka ai", "sber"),
    *("snowflake arctic", "stability ai", "step fun", "tencent", "together ai", "tongyi", "tongyi qianwen", "vicuna"),
    *("voxtral", "watsonx", "x ai", "xiaomi mimo", "yandex", "yandex gpt", "zephyr", "zhipu", "zhipu ai", "z ai"),
)
"""Models, product lines and makers of language models; a blank may be written, left out, or a hyphen or a dot."""

COMMON_WORDS = frozenset(
    "api base chat cloud code critic debater default fast gateway hub internal judge large local main medium mini mock "
    "model models moderator offline online open primary private prod production proposer proxy public rebuttal remote "
    "scripted server simulated small staging test the".split()
)
"""Words that operators give to providers and aliases, and that a reply may say of itself for other reasons."""

SHORTEST = 3
"""The fewest letters and digits of a name from the catalogue."""

_SIZE = r"v?\d+(?:\.\d+)*(?:[a-z]{1,2}(?![a-z]))?"
_LINES = (
    "chat|code|deepthink|experimental|flash|haiku|instant|instruct|large|latest|lite|max|medium|mini|nano|omni|opus"
)
_LINES += "|plus|preview|pro|r1|reasoner|small|sonnet|thinking|turbo|ultra"
_VERSION = rf"(?:[ :-]?{_SIZE})?(?:[ :-](?:{_LINES}|{_SIZE})(?![a-z0-9]))*"
"""What follows a name: "4o", " 3.5 sonnet", "-4.1-2025-04-14"."""
_PARTS = re.compile(r"[a-z]+|\d+|\+")
_SPELLED = 5
"""A name of so many letters is also found with one space, dot or hyphen between every two of them."""


def known_names(started: DebateStarted) -> frozenset[str]:
    """The names of the models of a debate, in small letters, without words that say nothing."""
    plans = (plan for seat in started.seats for plan in seat.with_fallback)
    return _known(tuple((p.model, p.model_name, p.family, p.provider) for p in plans))


@lru_cache(maxsize=256)
def _known(plans: tuple[tuple[str, str, str, str], ...]) -> frozenset[str]:
    given = {name for m, full, family, by in plans for name in (m, full.rpartition("/")[2], family, by)}
    folded = {" ".join(_PARTS.findall(name.casefold())) for name in given}
    return frozenset(name for name in folded if len(name.replace(" ", "")) >= SHORTEST) - COMMON_WORDS


def names_in(folded: str, known: frozenset[str]) -> list[tuple[int, int]]:
    """The names in a folded text with their versions, from left to right and without overlaps; of two the longer."""
    found = [match.span() for match in (*_well_known().finditer(folded), *_of(known).finditer(folded))]
    kept = list[tuple[int, int]]()
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


@lru_cache(maxsize=1)
def _well_known() -> re.Pattern[str]:
    return _of(frozenset(WELL_KNOWN))


@lru_cache(maxsize=256)
def _of(names: frozenset[str]) -> re.Pattern[str]:
    """A regular expression for any of these names, the longest first."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    apart = [r"[ .-]".join(name.replace(" ", "")) for name in ordered if _spelled(name)]
    written = "|".join([*map(_together, ordered), *apart]) or r"(?!)"
    return re.compile(rf"(?<![a-z0-9])(?:{written})(?![a-z]){_VERSION}(?![a-z0-9])")


def _together(name: str) -> str:
    return r"[ ._:/-]?".join(re.escape(part) for part in _PARTS.findall(name))


def _spelled(name: str) -> bool:
    plain = name.replace(" ", "")
    return len(plain) >= _SPELLED and plain.isalpha()
