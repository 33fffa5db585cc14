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
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from service.budget import TOKENIZERS
from service.debate import adversarial
from service.debate.model import ROUND_CEILING, PriceRow
from service.debate.money import MicroUSD, micro
from service.errors import SettingsError
from service.gate import GatePolicy
from service.intake.checks import FORMATS
from service.policy import DebatePolicy, Limits, Model, Policy, ProviderSetting, Seat, decimal, policy_hash

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


class Settings(Struct, frozen=True):
    """Everything that a process is told from outside. Secrets are kept out of `repr` by `redacted`."""

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


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings of a process; raises `SettingsError` naming the variable or the key of the policy file."""
    given = {name: value for name, value in environment.items() if name.startswith("GAINSAY_")}
    unknown = sorted(name for name in given if name not in _KNOWN and not name.startswith("GAINSAY_TEST_"))
    if unknown:
        raise SettingsError(f"unknown settings {unknown}; the known ones are {sorted(_KNOWN)}")
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
    parameters: dict[str, int | str | bool] = {}


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
        confidence_floor=decimal(gate.confidence_floor),
        risk_categories=gate.risk_categories,
        always=gate.always,
        never=gate.never,
        may_force=gate.may_force,
        thresholds={task: micro(amount) for task, amount in gate.thresholds.items()},
    )


def _debate(debate: _Debate) -> DebatePolicy:
    written: dict[str, Any] = msgspec.structs.asdict(debate)
    money: dict[str, Any] = {n.removesuffix("_usd"): micro(written.pop(n)) for n in list(written) if n.endswith("_usd")}
    share = int(decimal(written.pop("expected_output_share")) * 1_000)
    return DebatePolicy(**written, **money, expected_output_per_mille=share)


def _model(model: _Model) -> Model:
    prices = tuple(
        PriceRow(
            model=model.alias,
            effective=row.effective,
            source=row.source,
            input=_price(row.input_usd),
            output=_price(row.output_usd),
            cached_input=_price(row.cached_input_usd),
            cache_write=_price(row.cache_write_usd),
            reasoning=_price(row.reasoning_usd),
        )
        for row in sorted(model.prices, key=lambda row: row.effective)
    )
    safety = decimal(model.safety)
    if safety < 1:
        raise ValueError(f"models.{model.alias}.safety must be at least 1, found {safety}")
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


def _price(amount: str) -> MicroUSD:
    price = micro(amount)
    if price < 0:
        raise ValueError(f"a price must not be negative, found {amount}")
    return price


def _sane(file: _File) -> None:
    """What types cannot say: ranges, dates, and names that are used twice."""
    aliases = [model.alias for model in file.models]
    if len(set(aliases)) != len(aliases):
        raise ValueError(f"every model needs an alias of its own, found {sorted(aliases)}")
    for model in file.models:
        if not model.prices:
            raise ValueError(f"models.{model.alias} has no price; no price, no call")
        for row in model.prices:
            if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.effective):
                raise ValueError(f"models.{model.alias}: effective must be YYYY-MM-DD, found {row.effective!r}")
    if file.gate.factor < 1 or file.gate.certain_factor < file.gate.factor:
        raise ValueError("gate.factor must be at least 1 and gate.certain_factor at least that")
    _sane_debate(file.debate)


def _sane_debate(debate: _Debate) -> None:
    ranges = {
        "rounds": ROUND_CEILING,
        "high_stakes_rounds": ROUND_CEILING,
        "min_challenge_strength": 10,
        "require_critic_retry_below": 10,
        "attempts_per_turn": 10,
    }
    for name, most in ranges.items():
        if not 1 <= getattr(debate, name) <= most:
            raise ValueError(f"debate.{name} must be from 1 to {most}, found {getattr(debate, name)}")
    if micro(debate.ceiling_usd) > micro(debate.ceiling_max_usd):
        raise ValueError("debate.ceiling_usd must not be above debate.ceiling_max_usd")


def _seated(policy: Policy) -> None:
    """Every seat has a model that is there, with a provider and a tokenizer that are."""
    if policy.debate.format not in FORMATS:
        raise ValueError(f"debate.format must be one of {sorted(FORMATS)}, found {policy.debate.format!r}")
    if sorted(policy.seats) != sorted(adversarial.SEATS):
        raise ValueError(f"seats must be {sorted(adversarial.SEATS)}, found {sorted(policy.seats)}")
    for name, seat in policy.seats.items():
        if seat.model not in policy.models:
            raise ValueError(f"seats.{name} names model {seat.model!r}; the catalogue has {sorted(policy.models)}")
        if seat.allowance < 1:
            raise ValueError(f"seats.{name}.allowance must be at least 1, found {seat.allowance}")
    for alias, model in policy.models.items():
        if model.provider not in policy.providers:
            raise ValueError(f"models.{alias} names provider {model.provider!r}; there is {sorted(policy.providers)}")
        if model.tokenizer not in TOKENIZERS:
            raise ValueError(f"models.{alias}.tokenizer must be one of {sorted(TOKENIZERS)}, found {model.tokenizer!r}")
