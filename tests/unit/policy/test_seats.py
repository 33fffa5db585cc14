"""[seats]: who may sit where, and a table that is as independent as [debate] demands, or no start."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from service.errors import SettingsError
from service.policy import Seat
from service.policy.settings import SHIPPED_POLICY, read_policy
from tests.fixtures.policies import WRITTEN, policy_file, refused, vendors

SHIPPED = SHIPPED_POLICY.read_text("utf-8")


def with_seats(seats: dict[str, dict[str, Any]], **debate: str) -> dict[str, Any]:
    """Vendors with keys of seats changed, and rules of debates."""
    whole = vendors()
    for name, keys in seats.items():
        whole["seats"][name] = {**whole["seats"].get(name, {}), **keys}
    whole["debate"] |= debate
    return whole


def test_a_seat_has_its_models_in_the_order_of_preference_and_a_fallback(tmp_path: Path) -> None:
    seats = {"critic": {"model": ["birch-large", "gpt"], "fallback": "birch-small"}}

    found = read_policy(policy_file(tmp_path, **with_seats(seats))).seats

    assert found["critic"] == Seat("birch-large", 1_800, ("gpt",), "birch-small")
    assert found["proposer"] == Seat("alder-large", 1_800)


WRONG: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "a fallback that is the model": ("critic.fallback", {"critic": {"fallback": "birch-large"}}),
    "a fallback that is the only model": ("critic.fallback", {"critic": {"model": ["gpt"], "fallback": "gpt"}}),
    "an unknown fallback": ("critic.fallback", {"critic": {"fallback": "birch-huge"}}),
    "an unknown model": ("critic.model", {"critic": {"model": "birch-huge"}}),
    "an unknown alternative": ("critic.model", {"critic": {"model": ["gpt", "birch-huge"]}}),
    "no model": ("critic.model", {"critic": {"model": []}}),
    "one model twice": ("critic.model", {"critic": {"model": ["gpt", "gpt"]}}),
    "too many models": ("critic.model", {"critic": {"model": ["gpt", "claude", *WRITTEN["seats"], "birch-large"]}}),
    "a model that is no name": ("critic.model", {"critic": {"model": [1]}}),
    "an allowance that an alternative's window does not hold": (
        "critic.allowance",
        {"critic": {"model": ["birch-large", "gpt"], "allowance": 1_000_000}},
    ),
    "an allowance that the fallback's window does not hold": (
        "critic.allowance",
        {"critic": {"fallback": "gpt", "allowance": 1_000_000}},
    ),
    "a seat that nobody asks": ("juror", {"juror": {"model": "gpt", "allowance": 1}}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_seat_that_makes_no_sense_is_refused(tmp_path: Path, name: str) -> None:
    place, seats = WRONG[name]

    assert f": seats.{place}: " in refused(tmp_path, with_seats(seats))


BREAKING: dict[str, tuple[str, str, dict[str, dict[str, Any]], str]] = {
    "a moderator of the proposer's family": (
        "crossFamily",
        "moderator",
        {"moderator": {"model": "alder-small"}},
        "'alder-small' and 'alder-large' of seat 'proposer' are of one family",
    ),
    "a moderator of the rebuttal's family": (
        "crossFamily",
        "moderator",
        {"rebuttal": {"model": "cedar-small"}},
        "'cedar-large' and 'cedar-small' of seat 'rebuttal' are of one family",
    ),
    "a moderator of the critic's family": (
        "crossFamily",
        "moderator",
        {"moderator": {"model": "birch-small"}},
        "'birch-small' and 'birch-large' of seat 'critic' are of one family",
    ),
    "a critic of the proposer's family": (
        "crossFamily",
        "critic",
        {"critic": {"model": "alder-small"}, "rebuttal": {"model": "gpt"}},
        "'alder-small' and 'alder-large' of seat 'proposer' are of one family",
    ),
    "a fallback of the critic's in the proposer's family": (
        "crossFamily",
        "critic",
        {"critic": {"fallback": "alder-large"}, "proposer": {"model": "alder-small"}, "rebuttal": {"model": "gpt"}},
        "the fallback 'alder-large' and 'alder-small' of seat 'proposer' are of one family",
    ),
    "two fallbacks of one family": (
        "crossFamily",
        "moderator",
        {"moderator": {"fallback": "gpt"}, "proposer": {"fallback": "gpt"}},
        "the fallback 'gpt' and the fallback 'gpt' of seat 'proposer' are the same model",
    ),
    "one model at two seats": (
        "sameFamily",
        "critic",
        {"critic": {"model": "alder-large"}},
        "'alder-large' and 'alder-large' of seat 'proposer' are the same model",
    ),
    "one model as two fallbacks": (
        "sameFamily",
        "critic",
        {"critic": {"fallback": "alder-large"}},
        "the fallback 'alder-large' and 'alder-large' of seat 'proposer' are the same model",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_seats_that_break_the_independence_that_policy_demands_stop_the_start(tmp_path: Path, name: str) -> None:
    demanded, seat, seats, said = BREAKING[name]

    found = refused(tmp_path, with_seats(seats, diversity=demanded))

    assert f": seats.{seat}: {said}, and debate.diversity demands {demanded}" in found
    assert read_policy(policy_file(tmp_path, **with_seats(seats))).debate.diversity == "sameModel"


def test_the_line_of_the_seat_is_named(tmp_path: Path) -> None:
    text = SHIPPED.replace('diversity = "sameModel"', 'diversity = "crossFamily"')
    text = text.replace('moderator = { model = "cedar-large"', 'moderator = { model = "alder-large"')
    line = 1 + text.splitlines().index('moderator = { model = "alder-large", allowance = 1500 }')
    path = tmp_path / "gainsay.toml"
    path.write_text(text, "utf-8")

    with pytest.raises(SettingsError, match=f"line {line}: seats.moderator: "):
        read_policy(path)


def test_the_shipped_table_is_independent_as_it_stands(tmp_path: Path) -> None:
    whole = deepcopy(WRITTEN)
    whole["debate"] |= {"diversity": "crossFamily", "floating_names": "refused"}

    assert read_policy(policy_file(tmp_path, **whole)).debate.diversity == "crossFamily"


@pytest.mark.parametrize(
    "keys", [{"model": "floating"}, {"model": ["gpt", "floating"]}, {"fallback": "floating"}], ids=str
)
def test_a_floating_name_may_not_sit_where_policy_refuses_it(tmp_path: Path, keys: dict[str, Any]) -> None:
    whole = with_seats({"critic": keys})
    whole["models"].append({**whole["models"][6], "alias": "floating", "name": "gpt-5"})

    assert not read_policy(policy_file(tmp_path, **whole)).models["floating"].snapshot
    whole["debate"]["floating_names"] = "refused"
    assert ": seats.critic: 'floating' is named 'gpt-5'" in refused(tmp_path, whole)
    whole["seats"] = WRITTEN["seats"]
    assert not read_policy(policy_file(tmp_path, **whole)).debate.floating_names
