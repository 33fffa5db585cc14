"""The policy file: every key unknown, missing and wrong, each with its line, and what it is read as."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from service.debate.amounts import MICRO
from service.errors import SettingsError
from service.policy import decode_policy, encode_policy
from service.policy.file.defaults import SETTLED
from service.policy.file.reading import read_file
from service.policy.file.tenants import all_budgets
from service.policy.settings import SHIPPED_POLICY, read_policy, refuse_unpriced
from tests.fixtures.policies import WRITTEN, Bare, changed, policy_file, refused, without

pytestmark = pytest.mark.many

SHIPPED = SHIPPED_POLICY.read_text("utf-8").splitlines()
FIRST: dict[str, Any] = WRITTEN["models"][0]
OPTIONAL = [
    *((table,) for table in SETTLED if table != "formats"),
    *((table, key) for table in SETTLED if table != "formats" for key in WRITTEN[table]),
    *(("formats", name) for name in WRITTEN["formats"] if name != "auto"),
    *(("formats", name, key) for name, table in WRITTEN["formats"].items() if name != "auto" for key in table),
    *(("formats", "panel", "thresholds", key) for key in WRITTEN["formats"]["panel"]["thresholds"]),
]
"""Everything that the shipped policy settles, but for the rows of tables whose keys a deployment chooses."""
PLACES: list[tuple[str | int, ...]] = [
    *((table,) for table in WRITTEN if table != "formats"),
    *((table, key) for table in ("policy", "gate", "debate", "limits", "budgets", "calls") for key in WRITTEN[table]),
    *(place for place in OPTIONAL if place[0] == "formats" and len(place) == 3 and place[2] != "thresholds"),
    ("providers", "offline", "kind"),
    *(("seats", "critic", key) for key in WRITTEN["seats"]["critic"]),
    *(("models", 0, key) for key in FIRST),
    *(("models", 0, "prices", 0, key) for key in FIRST["prices"][0]),
]
"""Every key that the shipped policy has, once; names that the deployment chooses are none."""


@pytest.mark.parametrize("place", [p for p in PLACES if p not in OPTIONAL], ids=lambda p: ".".join(map(str, p)))
def test_a_missing_key_is_named(tmp_path: Path, place: tuple[str | int, ...]) -> None:
    assert f"{place[-1]}: this key is missing" in refused(tmp_path, without(*place))


@pytest.mark.parametrize("place", OPTIONAL, ids=lambda p: ".".join(map(str, p)))
def test_a_key_with_a_default_may_be_left_out(tmp_path: Path, place: tuple[str | int, ...]) -> None:
    policy, shipped = read_policy(policy_file(tmp_path, **without(*place))), read_policy(SHIPPED_POLICY)

    assert policy == shipped  # the same hash too: that a default is written out changes no decision


KEYS = [
    (number, key.strip())
    for number, line in enumerate(SHIPPED, start=1)
    for key, equals, _ in [line.partition("=")]
    if equals and not line.lstrip().startswith("#")
]


@pytest.mark.parametrize(("number", "key"), KEYS, ids=str)
def test_the_line_that_is_wrong_is_named(tmp_path: Path, number: int, key: str) -> None:
    """For every key of the shipped file: with a value of a type that no key has, and with an unknown key after it."""
    indent = SHIPPED[number - 1][: -len(SHIPPED[number - 1].lstrip())]
    wrong = [*SHIPPED[: number - 1], f"{indent}{key} = 1979-05-27", *SHIPPED[number:]]
    unknown = [*SHIPPED[:number], '"celing usd" = "0.50"', *SHIPPED[number:]]

    assert re.search(rf"[ ,]line {number}: .*\.{key}: expected ", refused_text(tmp_path, wrong))
    assert re.search(
        rf"[ ,]line {number + 1}: .*celing usd: (this key is unknown|there is no such seat|no case can have)",
        refused_text(tmp_path, unknown),
    )


def refused_text(folder: Path, lines: list[str]) -> str:
    """The message with which a policy of these lines is refused."""
    path = folder / "gainsay.toml"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(SettingsError) as error:
        read_policy(path)
    return error.value.detail


def test_a_table_that_is_missing_has_no_line(tmp_path: Path) -> None:
    assert refused(tmp_path, without("providers")).startswith(": providers: this key is missing")


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

    assert re.search(rf"\b{place[-1]}: expected ", error.value.detail)


@pytest.mark.parametrize(
    "table",
    [
        (),
        ("policy",),
        ("gate",),
        ("debate",),
        ("limits",),
        ("budgets",),
        ("calls",),
        *(("formats", name) for name in WRITTEN["formats"] if name != "auto"),
        ("formats", "panel", "thresholds"),
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
    "a factor beyond all columns": (("gate", "factor"), 10**30),
    "a mapping to no task type": (("gate", "unknown_task_type"), "as:marketing"),
    "a mapping to nothing": (("gate", "unknown_task_type"), "as:"),
    "another word for unknown task types": (("gate", "unknown_task_type"), "ignore"),
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
    "a stake in words": (("debate", "swap_above_usd"), "always"),
    "a negative stake": (("debate", "swap_above_usd"), "-1"),
    "stances for whoever does not say which": (("debate", "format"), "stances"),
    "an automatic format of no task type": (("formats", "auto"), {"contarct": "panel"}),
    "an unknown automatic format": (("formats", "auto"), {"contract": "shouting"}),
    "stances automatically": (("formats", "auto"), {"contract": "stances"}),
    "automatic formats that are no table": (("formats", "auto"), "panel"),
    "a format that nobody has": (("formats", "shouting"), {}),
    "no round of stances": (("formats", "stances", "rounds"), 0),
    "more rounds than there may be": (("formats", "ballot", "rounds"), 5),
    "more rounds than any format has": (("formats", "panel", "rounds_max"), 11),
    "a debate with oneself": (("formats", "panel", "debaters"), 1),
    "more debaters than there may be": (("formats", "convergence", "debaters"), 11),
    "more debaters than any format has": (("formats", "stances", "debaters_max"), 11),
    "one vote twice": (("formats", "ballot", "votes"), ["Yes", "yes "]),
    "a vote to abstain": (("formats", "ballot", "votes"), ["yes", "Abstention"]),
    "no vote but to escalate": (("formats", "ballot", "votes"), ["escalate"]),
    "a vote without letters": (("formats", "ballot", "votes"), ["yes", " "]),
    "more votes than there may be": (("formats", "ballot", "votes_max"), 2),
    "a share of votes above one": (("formats", "ballot", "threshold_share"), "1.1"),
    "a share of votes of four decimals": (("formats", "ballot", "threshold_share"), "0.6667"),
    "an adjudicator that is none": (("formats", "panel", "adjudicator"), "judge"),
    "a track record of no debate": (("formats", "panel", "track_record_debates"), 0),
    "a threshold of no question type": (("formats", "panel", "thresholds"), {"moral": "0.5"}),
    "a threshold above one": (("formats", "panel", "thresholds"), {"belief": "1.01"}),
    "a similarity that is NaN": (("formats", "convergence", "similarity"), "NaN"),
    "a rule for ties that is none": (("formats", "convergence", "ties"), "coin"),
    "a diversity that is none": (("debate", "diversity"), "crossfamily"),
    "a rule about names that is none": (("debate", "floating_names"), "forbidden"),
    "a deadline of no time": (("calls", "turn_deadline_s"), 0),
    "a deadline of a day": (("calls", "turn_deadline_s"), 86_400),
    "a pause of no time": (("calls", "backoff_ms"), 0),
    "a longest pause below the first": (("calls", "backoff_max_ms"), 499),
    "a zone that is none": (("budgets", "zone"), "Europe/Atlantis"),
    "a zone that is a folder": (("budgets", "zone"), "Europe"),
    "a zone that is a path": (("budgets", "zone"), "../../etc/passwd"),
    "a zone that is this machine's": (("budgets", "zone"), "localtime"),
    "a zone without a name": (("budgets", "zone"), ""),
    "an amount of money in words": (("budgets", "day_usd"), "none"),
    "a negative limit of a day": (("budgets", "day_usd"), "-1"),
    "a limit of a month beyond all columns": (("budgets", "month_usd"), "1E+20"),
    "a day above its month": (("budgets", "day_usd"), "2500.01"),
    "a month below every day": (("budgets", "month_usd"), "249.99"),
    "limits of one tenant beside those of all": (("budgets", "tenants"), {"acme": {"day_usd": "1.00"}}),
    "a negative latency": (("providers", "offline", "latency_ms"), -1),
    "a script for a provider that plays none": (("providers", "offline", "script"), "replies.json"),
    "no seats": (("seats",), {}),
    "a seat that nobody asks": (("seats", "juror"), {"model": "alder-large", "allowance": 1}),
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


def test_a_month_below_the_day_that_the_file_leaves_out_is_refused_with_the_day_that_holds(tmp_path: Path) -> None:
    whole = changed("budgets", "month_usd", to="100.00")
    del whole["budgets"]["day_usd"]

    said = refused(tmp_path, whole)

    assert "budgets.day_usd: a day's limit above the month's limits nothing" in said
    assert 'the file leaves this key out, and the shipped policy has "250.00"' in said


def test_a_table_that_is_written_as_a_list_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(SHIPPED_POLICY.read_text("utf-8").replace("[calls]", "[[calls]]"), "utf-8")

    with pytest.raises(SettingsError, match=r", line \d+: calls: expected a table, found a list"):
        read_policy(path)


def test_two_prices_from_one_day_on_are_refused(tmp_path: Path) -> None:
    row = WRITTEN["models"][0]["prices"][0]

    assert "2026-01-01" in refused(tmp_path, changed("models", 0, "prices", to=[row, row]))


def test_a_scripted_provider_needs_its_script(tmp_path: Path) -> None:
    assert "providers.offline" in refused(tmp_path, changed("providers", "offline", "kind", to="scripted"))


def test_a_tenant_that_is_named_keeps_the_limits_of_all_others_that_its_table_leaves_out(tmp_path: Path) -> None:
    tenants = {"acme": {"day_usd": "10.00"}, "big": {"day_usd": "unlimited", "month_usd": "9000"}, "same": {}}
    file = read_file(policy_file(tmp_path, **{**WRITTEN, "tenants": tenants}))
    budgets = all_budgets(file.policy, file.tenants)

    found = {name: (budgets.of(name).day, budgets.of(name).month) for name in ("acme", "big", "same", "anybody")}
    others = (250 * MICRO, 2_500 * MICRO)
    assert found == {
        "acme": (10 * MICRO, 2_500 * MICRO),
        "big": (None, 9_000 * MICRO),
        "same": others,
        "anybody": others,
    }


@pytest.mark.parametrize("zone", ["UTC", "Europe/London", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
def test_a_day_may_begin_in_any_zone_that_is_known(tmp_path: Path, zone: str) -> None:
    assert read_policy(policy_file(tmp_path, **changed("budgets", "zone", to=zone))).budgets.zone == zone


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


def test_a_model_without_a_price_in_force_is_refused_at_the_start_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "gainsay.toml"
    first = next(n for n, line in enumerate(SHIPPED, start=1) if "effective" in line)
    lines = [
        line.replace("2026-01-01", "2027-01-01") if n == first else line for n, line in enumerate(SHIPPED, start=1)
    ]
    path.write_text("\n".join(lines), "utf-8")
    policy = read_policy(path)

    with pytest.raises(SettingsError, match=rf"line {first}: models\.alder-large\.prices\..* on 2026-12-31") as error:
        refuse_unpriced(policy, path, "2026-12-31")
    assert str(path) in error.value.detail
    refuse_unpriced(policy, path, "2027-01-01")
    path.unlink()
    with pytest.raises(SettingsError, match=r"models\.alder-large: .* on 2026-12-31"):
        refuse_unpriced(policy, path, "2026-12-31")


def test_the_hash_of_the_policy_is_that_of_what_it_says(tmp_path: Path) -> None:
    shipped = read_policy(SHIPPED_POLICY)
    commented = tmp_path / "commented.toml"
    commented.write_text(f"# a word\n{SHIPPED_POLICY.read_text('utf-8')}", "utf-8")

    assert read_policy(commented).gate.hash == shipped.gate.hash
    other = read_policy(policy_file(tmp_path, **changed("gate", "factor", to=51)))
    assert other.gate.hash != shipped.gate.hash
    assert len(shipped.gate.hash) == 64
    assert (shipped.gate.version, other.gate.version) == (shipped.version, other.version)


def test_a_file_may_begin_with_the_mark_of_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "gainsay.toml"
    path.write_text(SHIPPED_POLICY.read_text("utf-8"), "utf-8-sig")

    assert read_policy(path) == read_policy(SHIPPED_POLICY)


def test_a_policy_without_the_seats_of_a_format_is_read_and_does_not_offer_it(tmp_path: Path) -> None:
    """Policies that were written before there were other formats go on as they are."""
    old = without("formats")
    old["seats"] = {name: old["seats"][name] for name in ("framing", "proposer", "critic", "rebuttal", "moderator")}

    policy = read_policy(policy_file(tmp_path, **old))

    assert (policy.offered, dict(policy.formats.auto)) == (("adversarial",), {})
    assert policy.missing("stances") == ("debater", "judge", "synthesizer")
    assert read_policy(SHIPPED_POLICY).offered == ("adversarial", "stances", "ballot", "panel", "convergence")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("debate", "format"), "ballot", "debate.format: the format 'ballot' needs seats that are not filled; add "),
        (("formats", "auto"), {"contract": "panel"}, "formats.auto.contract: the format 'panel' needs seats"),
    ],
    ids=["usually", "automatically"],
)
def test_a_format_without_seats_is_debated_neither_usually_nor_automatically(
    tmp_path: Path, place: tuple[str, str], value: Any, said: str
) -> None:
    whole = changed("formats", "auto", to={})
    del whole["seats"]["debater"]
    assert read_policy(policy_file(tmp_path, **whole)).offered == ("adversarial",)

    whole[place[0]][place[1]] = value

    assert said in refused(tmp_path, whole)


def test_shares_are_read_as_whole_per_mille_and_the_stake_in_micro_dollars(tmp_path: Path) -> None:
    whole = changed("formats", "panel", "thresholds", to={"belief": "0.625"})
    whole["formats"]["ballot"]["threshold_share"] = "1"
    whole["debate"]["swap_above_usd"] = "0.50"

    policy = read_policy(policy_file(tmp_path, **whole))

    assert (policy.formats.panel.thresholds["belief"], policy.formats.panel.thresholds["factual"]) == (625, 850)
    assert (policy.formats.ballot.threshold_per_mille, policy.debate.swap_above) == (1_000, 500_000)
    assert decode_policy(encode_policy(policy)) == policy
