"""Environment and policy file, as one frozen `Settings`; an unknown, missing or wrong key stops the start.

GAINSAY_DATABASE_URL   PostgreSQL for the service's role; without it an embedded server runs under the data folder
GAINSAY_MIGRATE_URL    PostgreSQL for the role that migrates
GAINSAY_DATA_DIR       the embedded server's folder (default: ~/.local/share/gainsay)
GAINSAY_POLICY         the policy file (default: the one that is shipped)
GAINSAY_PROMPTS_PIN    SHA-256 of prompts/manifest.json that this deployment promises to use
GAINSAY_LEASE_S        seconds after which a debate of a silent worker is taken over (default: 15)
GAINSAY_LOG_LEVEL      DEBUG, INFO, WARNING or ERROR (default: INFO)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.budget import TOKENIZERS
from service.debate import adversarial
from service.debate.model import ROUND_CEILING, PriceRow
from service.debate.money import MicroUSD, micro, usd
from service.errors import SettingsError
from service.gate import GatePolicy
from service.intake.checks import FORMATS
from service.policy import OTHER, DebatePolicy, Limits, Model, Policy, ProviderSetting, Seat, decimal, policy_hash

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
SHIPPED_POLICY = Path(__file__).with_name("gainsay.toml")
_KNOWN = (
    "GAINSAY_DATABASE_URL",
    "GAINSAY_MIGRATE_URL",
    "GAINSAY_DATA_DIR",
    "GAINSAY_POLICY",
    "GAINSAY_PROMPTS_PIN",
    "GAINSAY_LEASE_S",
    "GAINSAY_LOG_LEVEL",
)


COUNT_MAX = 1_000_000_000
"""Characters, tokens, factors: whatever is more is a slip of the pen."""
MONEY_MAX: MicroUSD = 10**15
"""A thousand million US dollars in micro-dollars: far more than a debate costs, far less than a column holds."""
PRICE_MAX: MicroUSD = 10**12
"""A million US dollars for a million tokens."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Settings(Struct, frozen=True):
    """Everything that a process is told from outside. The URLs may hold passwords, so no way of showing shows them."""

    policy: Policy
    data_dir: Path
    policy_path: Path
    database_url: str | None = None
    migrate_url: str | None = None
    prompts_pin: str | None = None
    lease_s: float = 15.0
    log_level: Level = "INFO"

    def __repr__(self) -> str:
        """Names only: a URL holds a password."""
        return f"Settings(policy={self.policy.version!r}, data_dir={str(self.data_dir)!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """The same where rich prints it: msgspec's own would give every field."""
        return [("policy", self.policy.version), ("data_dir", str(self.data_dir))]


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a process; raises `SettingsError` naming the variable or the key of the policy file."""
    given = {name: value for name, value in environment.items() if name.startswith("GAINSAY_")}
    unknown = sorted(name for name in given if name not in _KNOWN and not name.startswith("GAINSAY_TEST_"))
    if unknown:
        raise SettingsError(f"unknown settings {unknown}; the known ones are {sorted(_KNOWN)}")
    if empty := sorted(name for name, value in given.items() if not value.strip() or "\0" in value):
        raise SettingsError(f"expected a value in {empty}, found nothing that can be one; set them or leave them out")
    path = Path(given.get("GAINSAY_POLICY", SHIPPED_POLICY))
    pin = given.get("GAINSAY_PROMPTS_PIN")
    if pin is not None and not re.fullmatch(r"[0-9a-f]{64}", pin):
        raise SettingsError(
            "GAINSAY_PROMPTS_PIN must be a SHA-256 in 64 hexadecimal digits; see `gainsay prompts list`"
        )
    return Settings(
        policy=read_policy(path),
        data_dir=_data_dir(given, environment),
        policy_path=path,
        database_url=given.get("GAINSAY_DATABASE_URL"),
        migrate_url=given.get("GAINSAY_MIGRATE_URL"),
        prompts_pin=pin,
        lease_s=_seconds(given.get("GAINSAY_LEASE_S", "15")),
        log_level=_level(given.get("GAINSAY_LOG_LEVEL", "INFO")),
    )


def _data_dir(given: Mapping[str, str], environment: Mapping[str, str]) -> Path:
    if "GAINSAY_DATA_DIR" in given:
        return Path(given["GAINSAY_DATA_DIR"]).expanduser().resolve()
    share = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "/var/lib")) / ".local" / "share")
    return Path(share) / "gainsay"


def _level(text: str) -> Level:
    try:
        level: Level = msgspec.convert(text.upper(), Level)
    except msgspec.ValidationError as error:
        raise SettingsError(f"GAINSAY_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR, found {text!r}") from error
    return level


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= 3_600:
        raise SettingsError(f"GAINSAY_LEASE_S must be from 0.5 to 3600 seconds, found {text!r}")
    return seconds


# -- the policy file, as it is written


class _Policy(Struct, forbid_unknown_fields=True):
    version: str


class _Gate(Struct, forbid_unknown_fields=True):
    factor: int
    certain_factor: int
    confidence_floor: str
    risk_categories: tuple[str, ...]
    always: tuple[str, ...]
    never: tuple[str, ...]
    may_force: tuple[str, ...]
    thresholds: dict[str, str]


class _Debate(Struct, forbid_unknown_fields=True):
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


class _Price(Struct, forbid_unknown_fields=True):
    effective: str
    source: str
    input_usd: str
    cached_input_usd: str
    cache_write_usd: str
    output_usd: str
    reasoning_usd: str


class _Model(Struct, forbid_unknown_fields=True):
    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    context_window: int
    prices: tuple[_Price, ...]
    safety: str = "1.0"
    parameters: dict[str, Any] = {}


class _Limits(Struct, forbid_unknown_fields=True):
    question_characters: int
    answer_characters: int
    persona_characters: int
    note_characters: int
    documents: int
    document_characters: int
    total_characters: int
    positions: int
    metadata: int


class _Seat(Struct, forbid_unknown_fields=True):
    model: str
    allowance: int


class _Provider(Struct, forbid_unknown_fields=True):
    kind: Literal["offline", "scripted"]
    script: str | None = None
    latency_ms: int = 0


class _File(Struct, forbid_unknown_fields=True):
    policy: _Policy
    gate: _Gate
    debate: _Debate
    limits: _Limits
    providers: dict[str, _Provider]
    seats: dict[str, _Seat]
    models: tuple[_Model, ...]


def read_policy(path: Path) -> Policy:
    """The policy of a file; raises `SettingsError` naming the file and the key."""
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(
            f"expected a policy file at {path}, found none that can be read: {error.strerror}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    try:
        return _policy(written)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise SettingsError(f"{path}: {error}") from error
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply to be a policy") from error


def _policy(written: Mapping[str, Any]) -> Policy:
    file = msgspec.convert(written, _File)
    _sane(file)
    policy = Policy(
        version=file.policy.version,
        gate=_gate(file, policy_hash(written)),
        debate=_debate(file.debate),
        limits=Limits(**msgspec.structs.asdict(file.limits)),
        seats={name: Seat(seat.model, seat.allowance) for name, seat in file.seats.items()},
        models={model.alias: _model(model) for model in file.models},
        providers={n: ProviderSetting(s.kind, s.script, s.latency_ms) for n, s in file.providers.items()},
    )
    _seated(policy)
    return policy


def _gate(file: _File, digest: str) -> GatePolicy:
    gate = file.gate
    return GatePolicy(
        version=file.policy.version,
        hash=digest,
        factor=gate.factor,
        certain_factor=gate.certain_factor,
        confidence_floor=_number("gate.confidence_floor", gate.confidence_floor, 0, 1),
        risk_categories=gate.risk_categories,
        always=gate.always,
        never=gate.never,
        may_force=gate.may_force,
        thresholds={t: _money(f"gate.thresholds.{t}", amount) for t, amount in gate.thresholds.items()},
    )


def _debate(debate: _Debate) -> DebatePolicy:
    written: dict[str, Any] = msgspec.structs.asdict(debate)
    names = [name for name in written if name.endswith("_usd")]
    money: dict[str, Any] = {name.removesuffix("_usd"): _money(f"debate.{name}", written.pop(name)) for name in names}
    share = int(_number("debate.expected_output_share", written.pop("expected_output_share"), 0, 1) * 1_000)
    return DebatePolicy(**written, **money, expected_output_per_mille=share)


def _model(model: _Model) -> Model:
    prices = tuple(
        PriceRow(
            model=model.alias,
            effective=row.effective,
            source=row.source,
            input=_price(model.alias, row.input_usd),
            output=_price(model.alias, row.output_usd),
            cached_input=_price(model.alias, row.cached_input_usd),
            cache_write=_price(model.alias, row.cache_write_usd),
            reasoning=_price(model.alias, row.reasoning_usd),
        )
        for row in sorted(model.prices, key=lambda row: row.effective)
    )
    safety = _number(f"models.{model.alias}.safety", model.safety, 1, 10)
    return Model(
        alias=model.alias,
        provider=model.provider,
        name=model.name,
        family=model.family,
        tokenizer=model.tokenizer,
        safety_per_mille=int(safety * 1_000),
        context_window=model.context_window,
        prices=prices,
        parameters=model.parameters,
    )


def _price(alias: str, amount: str) -> MicroUSD:
    return _money(f"models.{alias}.prices", amount, PRICE_MAX)


def _number(name: str, written: str, low: int, high: int) -> Decimal:
    """A decimal within its bounds; NaN, which every comparison passes over, is in none."""
    try:
        number = decimal(written)
    except ArithmeticError:
        number = Decimal("NaN")
    if not number.is_finite() or not low <= number <= high:
        raise ValueError(f"{name} must be a decimal from {low} to {high}, found {written!r}")
    return number


def _money(name: str, written: str, most: MicroUSD = MONEY_MAX) -> MicroUSD:
    try:
        amount = micro(written)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not 0 <= amount <= most:
        raise ValueError(f"{name} must be from 0 to {usd(most)} US dollars, found {written!r}")
    return amount


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low} to {high}, found {value}")


def _sane(file: _File) -> None:
    """What types cannot say: ranges, dates, and names that are used twice or stand for nothing."""
    if not file.policy.version.strip():
        raise ValueError("policy.version is empty; decisions name it")
    _sane_gate(file.gate)
    _sane_debate(file)
    for name, most in msgspec.structs.asdict(file.limits).items():
        _within(f"limits.{name}", most, 1, COUNT_MAX)
    for name, provider in file.providers.items():
        _within(f"providers.{name}.latency_ms", provider.latency_ms, 0, 600_000)
        if (provider.kind == "scripted") != (provider.script is not None):
            raise ValueError(f"providers.{name}: a scripted provider names its script, and no other does")
    aliases = [model.alias for model in file.models]
    if len(set(aliases)) != len(aliases):
        raise ValueError(f"every model needs an alias of its own, found {sorted(aliases)}")
    for model in file.models:
        _sane_model(model)


def _sane_gate(gate: _Gate) -> None:
    if gate.factor < 1 or not gate.factor <= gate.certain_factor <= COUNT_MAX:
        raise ValueError("gate.factor must be at least 1 and gate.certain_factor at least that")
    if not gate.risk_categories:
        raise ValueError("gate.risk_categories is empty, and then nothing is ever debated; list the task types")
    for name in (*gate.risk_categories, *gate.always, *gate.never, *gate.may_force):
        if not _NAME.fullmatch(name):
            raise ValueError(f"gate: expected names of letters, digits, '-', '_' and '.', found {name!r}")
    if both := sorted(set(gate.always) & set(gate.never)):
        raise ValueError(f"gate: {both} stand under always and under never")


def _sane_debate(file: _File) -> None:
    debate, gate = file.debate, file.gate
    ranges = {
        "rounds": ROUND_CEILING,
        "high_stakes_rounds": ROUND_CEILING,
        "min_challenge_strength": 10,
        "require_critic_retry_below": 10,
        "attempts_per_turn": 10,
        "expected_input_tokens": COUNT_MAX,
    }
    for name, most in ranges.items():
        _within(f"debate.{name}", getattr(debate, name), 1, most)
    ceiling = _money("debate.ceiling_usd", debate.ceiling_usd)
    if not 0 < ceiling <= _money("debate.ceiling_max_usd", debate.ceiling_max_usd):
        raise ValueError("debate.ceiling_usd must be above 0 and not above debate.ceiling_max_usd")
    known = {*gate.risk_categories, *gate.always, *gate.never, *OTHER}
    listed = {"gate.thresholds": [*gate.thresholds], "debate.human_review": [*debate.human_review]}
    for name, found in listed.items():
        if unknown := sorted(set(found) - known):
            raise ValueError(f"{name} names task types that no case can have: {unknown}; there are {sorted(known)}")
    if odd := sorted(set(debate.high_stakes_materiality) - {"high", "moderate", "low"}):
        raise ValueError(f"debate.high_stakes_materiality: expected high, moderate or low, found {odd}")


def _sane_model(model: _Model) -> None:
    name = f"models.{model.alias}"
    if not _NAME.fullmatch(model.alias) or not all(map(str.strip, (model.name, model.family))):
        raise ValueError(f"{name}: expected an alias of letters, digits, '-', '_' and '.', a name and a family")
    _within(f"{name}.context_window", model.context_window, 1, COUNT_MAX)
    if not model.prices:
        raise ValueError(f"{name} has no price; no price, no call")
    days = [row.effective for row in model.prices]
    for day in days:
        try:
            exact = date.fromisoformat(day).isoformat() == day
        except ValueError:
            exact = False
        if not exact:
            raise ValueError(f"{name}: effective must be a day, YYYY-MM-DD, found {day!r}")
    if len(set(days)) != len(days):
        raise ValueError(f"{name} has two prices from one day on, found {sorted(days)}")
    for key, value in model.parameters.items():
        if isinstance(value, int):
            _within(f"{name}.parameters.{key}", value, -COUNT_MAX, COUNT_MAX)


def _seated(policy: Policy) -> None:
    """Every seat has a model that is there, with a provider and a tokenizer that are."""
    if policy.debate.format not in FORMATS:
        raise ValueError(f"debate.format must be one of {sorted(FORMATS)}, found {policy.debate.format!r}")
    if sorted(policy.seats) != sorted(adversarial.SEATS):
        raise ValueError(f"seats must be {sorted(adversarial.SEATS)}, found {sorted(policy.seats)}")
    for name, seat in policy.seats.items():
        if seat.model not in policy.models:
            raise ValueError(f"seats.{name} names model {seat.model!r}; the catalogue has {sorted(policy.models)}")
        _within(f"seats.{name}.allowance", seat.allowance, 1, policy.models[seat.model].context_window - 1)
    for alias, model in policy.models.items():
        if model.provider not in policy.providers:
            raise ValueError(f"models.{alias} names provider {model.provider!r}; there is {sorted(policy.providers)}")
        if model.tokenizer not in TOKENIZERS:
            raise ValueError(f"models.{alias}.tokenizer must be one of {sorted(TOKENIZERS)}, found {model.tokenizer!r}")
