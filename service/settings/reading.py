"""The parts of the policy file as they are written, one by one, so that what is wrong is named by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from typing import Any, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct

from service.debate.money import MicroUSD, micro, usd
from service.policy import decimal
from service.settings.lines import Path

T = TypeVar("T", bound=Struct)

COUNT_MAX = 1_000_000_000
"""Characters, tokens, factors: whatever is more is a slip of the pen."""
MONEY_MAX: MicroUSD = 10**15
"""A thousand million US dollars in micro-dollars: far more than a debate costs, far less than a column holds."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAMES = "letters, digits, '-', '_' and '.'"
_WORDS = {
    "str": "a string",
    "int": "an integer",
    "bool": "true or false",
    "float": "a number with a point",
    "object": "a table",
    "array": "a list",
    "null": "nothing",
    "datetime": "a date and time",
    "date": "a date",
    "time": "a time",
}
_UNQUOTED = (_WORDS["int"], _WORDS["float"], _WORDS["date"])
_KEY = re.compile(r"Object (contains unknown|missing required) field `(.*?)`(?: - at `[^`]*`)?", re.DOTALL)
_QUOTED = re.compile(r"`([^`$]*)`")
_AT = re.compile(r" - at `\$([^`]*)`$")


class Wrong(ValueError):
    """Something in the policy file: where it stands, and what is wrong with it. Secrets are never said."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def tables(value: Any, path: Path) -> Mapping[str, Any]:
    """A table of names that the deployment chooses; raises `Wrong` for anything else."""
    if not isinstance(value, dict):
        raise Wrong(path, f"expected a table, found {_WORDS.get(type(value).__name__, 'something else')}")
    return value


def read(value: Any, kind: type[T], path: Path) -> T:
    """One table as the type that it is written by; raises `Wrong` naming the key."""
    try:
        found: T = msgspec.convert(tables(value, path), kind)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), kind, path) from None
    return found


def _wrong(said: str, kind: type[Struct], path: Path) -> Wrong:
    """msgspec's message in the words of TOML. It may quote a value, which may be a secret in the wrong place."""
    at = _AT.search(said)
    inside = at[1].split("[")[0].strip(".").split(".") if at else []
    place = (*path, *filter(None, inside))
    if key := _KEY.fullmatch(said):
        known = ", ".join(kind.__struct_encode_fields__)
        unknown = key[1] == "contains unknown"
        missing = "this key is missing, and it has no default"
        return Wrong((*place, key[2]), f"this key is unknown; the keys here are: {known}" if unknown else missing)
    if said.startswith("Expected"):
        words = [re.findall(r"\w+", quoted) for quoted in _QUOTED.findall(said)]
        *expected, found = [_WORDS.get(word, word) for word in chain(*words)]
        quotes = "; write it in quotes" if expected == [_WORDS["str"]] and found in _UNQUOTED else ""
        return Wrong(place, f"expected {' or '.join(expected)}, found {found}{quotes}")
    allowed = _choices(get_type_hints(kind).get(inside[0] if inside else ""))
    return Wrong(place, f"expected one of: {', '.join(allowed)}")


def _choices(hint: Any) -> Iterator[str]:
    """The words that a key may have; one that may be left out has them a level deeper."""
    for inner in get_args(hint):
        if isinstance(inner, str):
            yield inner
        else:
            yield from _choices(inner)


def number(path: Path, written: str, low: int, high: int) -> Decimal:
    """A decimal within its bounds; NaN, which every comparison passes over, is in none."""
    try:
        found = decimal(written)
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or not low <= found <= high:
        raise Wrong(path, f"expected a decimal from {low} to {high}, found {written!r}")
    return found


def money(path: Path, written: str, most: MicroUSD = MONEY_MAX) -> MicroUSD:
    """An amount of US dollars in micro-dollars, from nothing to ``most``."""
    try:
        amount = micro(written)
    except ValueError as error:
        raise Wrong(path, str(error)) from None
    if not 0 <= amount <= most:
        raise Wrong(path, f"expected from 0 to {usd(most)} US dollars, found {written!r}")
    return amount


def within(path: Path, value: int, low: int, high: int) -> None:
    """Raise `Wrong` for an integer out of bounds."""
    if not low <= value <= high:
        raise Wrong(path, f"expected from {low} to {high}, found {value}")


def ranges(path: Path, table: Struct, bounds: Mapping[str, tuple[int, int]]) -> None:
    """Hold integers of a table to their bounds, by key."""
    for key, (low, high) in bounds.items():
        within((*path, key), getattr(table, key), low, high)


# -- the tables, as they are written


class WrittenPolicy(Struct, forbid_unknown_fields=True):
    """[policy]."""

    version: str


class WrittenGate(Struct, forbid_unknown_fields=True):
    """[gate]."""

    factor: int
    certain_factor: int
    confidence_floor: str
    risk_categories: tuple[str, ...]
    always: tuple[str, ...]
    never: tuple[str, ...]
    may_force: tuple[str, ...]
    thresholds: dict[str, str]


class WrittenDebate(Struct, forbid_unknown_fields=True):
    """[debate]."""

    format: str
    ceiling_usd: str
    ceiling_max_usd: str
    rounds: int
    high_stakes_rounds: int
    high_stakes_downside_usd: str
    high_stakes_materiality: tuple[str, ...]
    min_challenge_strength: int
    require_critic_retry_below: int
    attempts_per_turn: int
    human_review: tuple[str, ...]
    expected_input_tokens: int
    expected_output_share: str
    may_choose_models: bool
    diversity: Literal["sameModel", "sameFamily", "crossFamily"] = "sameModel"
    floating_names: Literal["allowed", "refused"] = "allowed"
    swap_above_usd: str = "never"


class WrittenFormats(Struct, forbid_unknown_fields=True):
    """[formats], its tables still unread."""

    auto: Any = {}
    stances: Any = {}
    ballot: Any = {}
    panel: Any = {}
    convergence: Any = {}


class WrittenStances(Struct, forbid_unknown_fields=True):
    """[formats.stances]."""

    rounds: int = 2
    rounds_max: int = 6
    debaters_max: int = 6
    anonymize_transcript: bool = True
    shuffle_for_judge: bool = True
    synthesizer: bool = True


class WrittenBallot(Struct, forbid_unknown_fields=True):
    """[formats.ballot]."""

    rounds: int = 2
    rounds_max: int = 4
    debaters: int = 3
    debaters_max: int = 10
    votes: tuple[str, ...] = ("approve", "revise")
    votes_max: int = 10
    threshold_share: str = "0.5"


class WrittenPanel(Struct, forbid_unknown_fields=True):
    """[formats.panel]."""

    rounds: int = 3
    rounds_max: int = 10
    debaters: int = 3
    debaters_max: int = 10
    adjudicator: Literal["algorithmic", "model"] = "algorithmic"
    classifier: Literal["rules", "model"] = "rules"
    mode: Literal["auto", "manual"] = "auto"
    track_record_debates: int = 5
    thresholds: Any = {}


class WrittenThresholds(Struct, forbid_unknown_fields=True):
    """[formats.panel.thresholds]: shares, by question type."""

    factual: str = "0.85"
    normative: str = "0.80"
    business: str = "0.85"
    prediction: str = "0.85"
    brainstorm: str = "0.80"
    belief: str = "0.75"


class WrittenConvergence(Struct, forbid_unknown_fields=True):
    """[formats.convergence]."""

    rounds: int = 2
    rounds_max: int = 6
    debaters: int = 3
    debaters_max: int = 10
    judge: bool = True
    convergence_check: bool = True
    similarity: str = "0.85"
    ties: Literal["lowestDebater", "noAnswer"] = "lowestDebater"


class WrittenLimits(Struct, forbid_unknown_fields=True):
    """[limits]."""

    question_characters: int
    answer_characters: int
    persona_characters: int
    note_characters: int
    documents: int
    document_characters: int
    total_characters: int
    positions: int
    metadata: int


class WrittenCalls(Struct, forbid_unknown_fields=True):
    """[calls]."""

    turn_deadline_s: int = 300
    backoff_ms: int = 500
    backoff_max_ms: int = 20_000


class WrittenBudget(Struct, forbid_unknown_fields=True):
    """A table of [budgets.tenants]: what is left out is as for the tenants that are not named."""

    day_usd: str | None = None
    month_usd: str | None = None


class WrittenBudgets(Struct, forbid_unknown_fields=True):
    """[budgets]: the limits of tenants that are not named; ``unlimited`` has to be said."""

    day_usd: str
    month_usd: str
    zone: str = "UTC"
    tenants: dict[str, Any] = {}


class WrittenQueue(Struct, forbid_unknown_fields=True):
    """[queue]."""

    running_per_worker: int = 200
    running_per_tenant: int | str = "unlimited"
    waiting: int = 10_000
    waiting_per_tenant: int = 5_000
    give_up_hours: int = 24


class WrittenWitness(Struct, forbid_unknown_fields=True):
    """One of [[audit.witnesses]]."""

    url: str
    key: str


class WrittenAudit(Struct, forbid_unknown_fields=True):
    """[audit]."""

    witnesses: tuple[Any, ...] = ()
    late_s: int = 30
    check_minutes: int = 60


class WrittenApproval(Struct, forbid_unknown_fields=True):
    """[approval]."""

    key: str | None = None
    required: bool = False


class WrittenSeat(Struct, forbid_unknown_fields=True):
    """A key of [seats]; the pool of ``debater`` is a list in ``model``."""

    model: str | tuple[str, ...]
    allowance: int
    fallback: str | None = None


class WrittenModel(Struct, forbid_unknown_fields=True):
    """One of [[models]]."""

    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    context_window: int
    prices: tuple[Any, ...]
    safety: str = "1.0"
    overhead_tokens: int = 0
    snapshot: bool | None = None
    parameters: dict[str, Any] = {}


class WrittenRates(Struct, forbid_unknown_fields=True, kw_only=True):
    """Rates in US dollars per million tokens, by kind: one of ``tiers``."""

    input_usd: str
    cached_input_usd: str
    cache_write_usd: str
    output_usd: str
    reasoning_usd: str
    cache_write_1h_usd: str | None = None


class WrittenLong(WrittenRates, forbid_unknown_fields=True, kw_only=True):
    """``long_input``: the rates of calls with more input tokens than this."""

    above: int


class WrittenPrice(WrittenRates, forbid_unknown_fields=True, kw_only=True):
    """One of [[models.prices]]."""

    effective: str
    source: str
    long_input: dict[str, Any] | None = None
    tiers: dict[str, Any] = {}
    confirmed: bool = False


class WrittenProvider(Struct, forbid_unknown_fields=True):
    """One of [providers]; what may be left out has the default of `ProviderSetting`."""

    kind: Literal["offline", "scripted", "openai-compatible", "anthropic"]
    script: str | None = None
    latency_ms: int | None = None
    base_url: str | None = None
    path: str | None = None
    query: dict[str, str] | None = None
    proxy: str | None = None
    headers: dict[str, str] | None = None
    secret_headers: dict[str, str] | None = None
    key: str | None = None
    auth: Literal["bearer", "api-key", "x-api-key", "none"] | None = None
    structured: Literal["auto", "json_schema", "tool", "json_object", "text"] | None = None
    strict_schema: bool | None = None
    seat_role: Literal["developer", "system", "user"] | None = None
    messages: Literal["apart", "together"] | None = None
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = None
    reasoning: Literal["inside", "outside"] | None = None
    connect_timeout_s: int | None = None
    call_timeout_s: int | None = None
    breaker_failures: int | None = None
    breaker_pause_s: int | None = None


class WrittenFile(Struct, forbid_unknown_fields=True):
    """The whole file, its tables still unread."""

    policy: Any
    gate: Any
    debate: Any
    limits: Any
    budgets: Any
    providers: Any
    seats: Any
    models: Any
    calls: Any = {}
    audit: Any = {}
    approval: Any = {}
    formats: Any = {}
    queue: Any = {}
