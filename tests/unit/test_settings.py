"""What a process is told from outside: every setting and every key of the policy, unknown, missing and wrong."""

from __future__ import annotations

import tomllib
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.pretty import pretty_repr

from service.app import _refuse_unpriced
from service.debate.money import MICRO
from service.errors import SettingsError
from service.settings import SHIPPED_POLICY, Settings, read_policy, read_settings

WRITTEN: dict[str, Any] = tomllib.loads(SHIPPED_POLICY.read_text("utf-8"))
SECRET = "postgresql://gainsay:s3cret@db.internal/gainsay"


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "\\u0000") + '"'
        case dict():
            return "{ " + ", ".join(f'"{key}" = {toml(inner)}' for key, inner in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
    return str(value)


class Bare(str):
    """TOML that stands as it is."""

    __slots__ = ()


def policy_file(folder: Path, **tables: Any) -> Path:
    """A policy file of these top-level tables."""
    path = folder / "gainsay.toml"
    path.write_text("\n".join(f"{name} = {toml(table)}" for name, table in tables.items()), "utf-8")
    return path


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The shipped policy with one key set."""
    whole = deepcopy(WRITTEN)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return whole


def without(*path: str | int) -> dict[str, Any]:
    whole = deepcopy(WRITTEN)
    inner: Any = whole
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return whole


def refused(folder: Path, whole: dict[str, Any]) -> str:
    """The message with which a policy is refused."""
    path = policy_file(folder, **whole)
    with pytest.raises(SettingsError) as error:
        read_policy(path)
    assert str(path) in error.value.detail
    return error.value.detail


# -- the environment


def test_without_any_setting_the_shipped_policy_runs_on_an_embedded_database() -> None:
    settings = read_settings({"HOME": "/srv/ada", "PATH": "/bin"})

    assert settings.database_url is None
    assert settings.data_dir == Path("/srv/ada/.local/share/gainsay")
    assert settings.policy_path == SHIPPED_POLICY
    assert (settings.lease_s, settings.log_level, settings.prompts_pin) == (15.0, "INFO", None)


def test_every_setting_is_taken(tmp_path: Path) -> None:
    given = {
        "GAINSAY_DATABASE_URL": SECRET,
        "GAINSAY_MIGRATE_URL": SECRET + "_owner",
        "GAINSAY_DATA_DIR": str(tmp_path),
        "GAINSAY_POLICY": str(policy_file(tmp_path, **changed("policy", "version", to="mine"))),
        "GAINSAY_PROMPTS_PIN": "0a" * 32,
        "GAINSAY_LEASE_S": "2.5",
        "GAINSAY_LOG_LEVEL": "warning",
    }

    settings = read_settings(given)

    assert (settings.database_url, settings.migrate_url) == (SECRET, SECRET + "_owner")
    assert (settings.data_dir, settings.policy.version) == (tmp_path, "mine")
    assert (settings.prompts_pin, settings.lease_s, settings.log_level) == ("0a" * 32, 2.5, "WARNING")


def test_xdg_data_home_is_heeded() -> None:
    assert read_settings({"HOME": "/srv/ada", "XDG_DATA_HOME": "/data"}).data_dir == Path("/data/gainsay")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GAINSAY_DATABSE_URL", SECRET),
        ("GAINSAY_DATABASE_URL", ""),
        ("GAINSAY_MIGRATE_URL", "  "),
        ("GAINSAY_DATA_DIR", ""),
        ("GAINSAY_POLICY", ""),
        ("GAINSAY_POLICY", "/nowhere/gainsay.toml"),
        ("GAINSAY_POLICY", "/"),
        ("GAINSAY_PROMPTS_PIN", "0a"),
        ("GAINSAY_PROMPTS_PIN", "0A" * 32),
        ("GAINSAY_LEASE_S", "soon"),
        ("GAINSAY_LEASE_S", "nan"),
        ("GAINSAY_LEASE_S", "inf"),
        ("GAINSAY_LEASE_S", "-1"),
        ("GAINSAY_LEASE_S", "0"),
        ("GAINSAY_LEASE_S", "3601"),
        ("GAINSAY_LOG_LEVEL", "LOUD"),
    ],
)
def test_an_unknown_or_wrong_setting_stops_the_start_and_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({name: value})

    assert name in error.value.detail or value in error.value.detail
    assert "s3cret" not in error.value.detail


def test_secrets_are_in_no_way_of_showing_the_settings() -> None:
    settings = read_settings({"GAINSAY_DATABASE_URL": SECRET, "GAINSAY_MIGRATE_URL": SECRET})
    screen = Console(file=StringIO(), width=200)
    screen.print(settings, [settings])

    shown = [repr(settings), str(settings), f"{settings!s}", pretty_repr(settings), screen.file.getvalue()]  # type: ignore[attr-defined]

    assert not [text for text in shown if "s3cret" in text]
    assert isinstance(settings, Settings)


# -- the policy file


MODEL: dict[str, Any] = WRITTEN["models"][0]
PLACES: list[tuple[str | int, ...]] = [
    *((table,) for table in WRITTEN),
    *((table, key) for table in ("policy", "gate", "debate", "limits") for key in WRITTEN[table]),
    ("providers", "offline", "kind"),
    *(("seats", "critic", key) for key in WRITTEN["seats"]["critic"]),
    *(("models", 0, key) for key in MODEL),
    *(("models", 0, "prices", 0, key) for key in MODEL["prices"][0]),
]
"""Every key that the schema asks for, once; names that the deployment chooses are none."""


@pytest.mark.parametrize("place", PLACES, ids=lambda p: ".".join(map(str, p)))
def test_a_missing_key_is_named(tmp_path: Path, place: tuple[str | int, ...]) -> None:
    assert str(place[-1]) in refused(tmp_path, without(*place))


@pytest.mark.parametrize("place", PLACES, ids=lambda p: ".".join(map(str, p)))
@pytest.mark.parametrize("wrong", [Bare("1979-05-27"), Bare("nan"), Bare("1.5")], ids=str)
def test_a_value_of_the_wrong_type_is_refused_at_its_place(
    tmp_path: Path, place: tuple[str | int, ...], wrong: Bare
) -> None:
    whole = changed(*place, to="@@")
    path = policy_file(tmp_path, **whole)
    path.write_text(path.read_text("utf-8").replace('"@@"', wrong, 1), "utf-8")

    with pytest.raises(SettingsError) as error:
        read_policy(path)

    assert f".{place[-1]}`" in error.value.detail


@pytest.mark.parametrize(
    "table",
    [
        (),
        ("policy",),
        ("gate",),
        ("debate",),
        ("limits",),
        ("providers", "offline"),
        ("seats", "critic"),
        ("models", 0),
        ("models", 0, "prices", 0),
    ],
    ids=str,
)
def test_an_unknown_key_is_named(tmp_path: Path, table: tuple[str | int, ...]) -> None:
    assert "celing_usd" in refused(tmp_path, changed(*table, "celing_usd", to="0.50"))


WRONG: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "an empty version": (("policy", "version"), " "),
    "a factor of nothing": (("gate", "factor"), 0),
    "a certain factor below the factor": (("gate", "certain_factor"), 49),
    "a factor beyond all columns": (("gate", "certain_factor"), 10**30),
    "a floor that is NaN": (("gate", "confidence_floor"), "nan"),
    "a floor that is no number": (("gate", "confidence_floor"), "high"),
    "a floor above one": (("gate", "confidence_floor"), "1.1"),
    "a negative floor": (("gate", "confidence_floor"), "-0.1"),
    "no risk category": (("gate", "risk_categories"), []),
    "a risk category without a name": (("gate", "risk_categories"), ["contract", ""]),
    "a risk category with NUL": (("gate", "risk_categories"), ["contract\0"]),
    "always and never at once": (("gate", "never"), ["contract"]),
    "a role without a name": (("gate", "may_force"), [""]),
    "a threshold of no task type": (("gate", "thresholds"), {"contarct": "1.00"}),
    "a negative threshold": (("gate", "thresholds"), {"contract": "-1.00"}),
    "a threshold that is no amount": (("gate", "thresholds"), {"contract": "much"}),
    "an unknown format": (("debate", "format"), "shouting"),
    "a negative ceiling": (("debate", "ceiling_usd"), "-0.50"),
    "a ceiling of nothing": (("debate", "ceiling_usd"), "0"),
    "a ceiling that is NaN": (("debate", "ceiling_usd"), "NaN"),
    "a ceiling above the highest": (("debate", "ceiling_usd"), "26"),
    "a highest ceiling beyond all columns": (("debate", "ceiling_max_usd"), "1E+20"),
    "no round": (("debate", "rounds"), 0),
    "a fourth round": (("debate", "rounds"), 4),
    "a fourth round for high stakes": (("debate", "high_stakes_rounds"), 4),
    "a negative downside": (("debate", "high_stakes_downside_usd"), "-1"),
    "an infinite downside": (("debate", "high_stakes_downside_usd"), "Infinity"),
    "an unknown materiality": (("debate", "high_stakes_materiality"), ["huge"]),
    "a strength above ten": (("debate", "min_challenge_strength"), 11),
    "a retry below nothing": (("debate", "require_critic_retry_below"), 0),
    "no attempt": (("debate", "attempts_per_turn"), 0),
    "a review of no task type": (("debate", "human_review"), ["contarct"]),
    "no expected input": (("debate", "expected_input_tokens"), 0),
    "a share above one": (("debate", "expected_output_share"), "1.5"),
    "a share that is NaN": (("debate", "expected_output_share"), "NaN"),
    "an infinite share": (("debate", "expected_output_share"), "Infinity"),
    "a limit of nothing": (("limits", "documents"), 0),
    "a negative limit": (("limits", "question_characters"), -1),
    "an unknown kind of provider": (("providers", "offline", "kind"), "carrier pigeon"),
    "a negative latency": (("providers", "offline", "latency_ms"), -1),
    "a script for a provider that plays none": (("providers", "offline", "script"), "replies.json"),
    "no seats": (("seats",), {}),
    "a seat that nobody asks": (("seats", "judge"), {"model": "alder-large", "allowance": 1}),
    "a seat with an unknown model": (("seats", "critic", "model"), "birch-huge"),
    "a seat without an allowance": (("seats", "critic", "allowance"), 0),
    "an allowance that no window holds": (("seats", "critic", "allowance"), 2_000_000),
    "no models": (("models",), []),
    "an alias that is used twice": (("models", 0, "alias"), "alder-small"),
    "an alias without letters": (("models", 0, "alias"), ""),
    "a model without a name": (("models", 0, "name"), " "),
    "a model without a family": (("models", 0, "family"), ""),
    "a model of no provider": (("models", 0, "provider"), "online"),
    "an unknown tokenizer": (("models", 0, "tokenizer"), "abacus"),
    "no window": (("models", 0, "context_window"), 0),
    "a safety below one": (("models", 0, "safety"), "0.99"),
    "a safety that is NaN": (("models", 0, "safety"), "NaN"),
    "a safety out of all proportion": (("models", 0, "safety"), "1E+400"),
    "a parameter that is a list": (("models", 0, "parameters"), {"stop": ["x"]}),
    "a parameter beyond all numbers": (("models", 0, "parameters"), {"seed": 10**30}),
    "no price": (("models", 0, "prices"), []),
    "a day that is none": (("models", 0, "prices", 0, "effective"), "2026-02-30"),
    "a day written otherwise": (("models", 0, "prices", 0, "effective"), "20260101"),
    "a week for a day": (("models", 0, "prices", 0, "effective"), "2026-W01-1"),
    "a negative price": (("models", 0, "prices", 0, "input_usd"), "-2.50"),
    "a price that is NaN": (("models", 0, "prices", 0, "output_usd"), "NaN"),
    "a price finer than a micro-dollar": (("models", 0, "prices", 0, "output_usd"), "0.0000001"),
    "a price beyond all columns": (("models", 0, "prices", 0, "cached_input_usd"), "1E+30"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_makes_no_sense_is_refused(tmp_path: Path, name: str) -> None:
    place, value = WRONG[name]
    extra = {"always": ["contract"]} if name == "always and never at once" else {}
    whole = changed(*place, to=value)
    whole["gate"].update(extra)

    assert len(refused(tmp_path, whole)) < 1_000


def test_two_prices_from_one_day_on_are_refused(tmp_path: Path) -> None:
    row = WRITTEN["models"][0]["prices"][0]

    assert "2026-01-01" in refused(tmp_path, changed("models", 0, "prices", to=[row, row]))


def test_a_scripted_provider_needs_its_script(tmp_path: Path) -> None:
    assert "providers.offline" in refused(tmp_path, changed("providers", "offline", "kind", to="scripted"))


@pytest.mark.parametrize("text", [b"[policy", b"\xff\xfe", b"a = 1\na = 2\n"], ids=["cut off", "not UTF-8", "twice"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "gainsay.toml"
    path.write_bytes(text)

    with pytest.raises(SettingsError, match="not TOML"):
        read_policy(path)


def test_prices_are_in_force_from_their_day_on(tmp_path: Path) -> None:
    row = WRITTEN["models"][0]["prices"][0]
    dearer = {**row, "effective": "2026-07-01", "input_usd": "5.00"}

    model = read_policy(policy_file(tmp_path, **changed("models", 0, "prices", to=[dearer, row]))).models["alder-large"]

    found = {
        day: price and price.input for day in ("2025-12-31", "2026-06-30", "2026-07-01") for price in [model.price(day)]
    }
    assert found == {"2025-12-31": None, "2026-06-30": 2_500_000, "2026-07-01": 5 * MICRO}


def test_a_model_without_a_price_in_force_is_refused_at_the_start(tmp_path: Path) -> None:
    policy = read_policy(policy_file(tmp_path, **changed("models", 0, "prices", 0, "effective", to="2027-01-01")))

    with pytest.raises(SettingsError, match="alder-large"):
        _refuse_unpriced(policy, "2026-12-31")
    _refuse_unpriced(policy, "2027-01-01")


def test_the_hash_of_the_policy_is_that_of_what_it_says(tmp_path: Path) -> None:
    shipped = read_policy(SHIPPED_POLICY)
    commented = tmp_path / "commented.toml"
    commented.write_text(f"# a word\n{SHIPPED_POLICY.read_text('utf-8')}", "utf-8")

    assert read_policy(commented).gate.hash == shipped.gate.hash
    other = read_policy(policy_file(tmp_path, **changed("gate", "factor", to=51)))
    assert other.gate.hash != shipped.gate.hash
    assert len(shipped.gate.hash) == 64
