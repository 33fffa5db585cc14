"""Known faults of simulated models in the policy file: what is read and refused, and that no real model is beside."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from service.debate.adversarial import SEATS
from service.errors import SettingsError
from service.policy import decode_policy, encode_policy
from service.policy.file.effective import effective_toml
from service.policy.file.reading import read_file
from service.policy.file.schema import policy_schema
from service.policy.file.seats import OTHERS
from service.policy.keys import keys_of
from service.policy.known_faults import EVERY_SEAT, SEAT_FAULTS, FaultShares, ModelFaults, SeatFaults
from service.policy.settings import read_policy
from tests.fixtures.policies import WRITTEN, changed, policy_file, refused, vendors

ROOT = Path(__file__).resolve().parents[3]
PLACE = ("providers", "offline", "faults")


def with_faults(**faults: Any) -> dict[str, Any]:
    return changed(*PLACE, to={"alder-large": faults})


def read(tmp_path: Path, **faults: Any) -> ModelFaults:
    return read_policy(policy_file(tmp_path, **with_faults(**faults))).providers["offline"].faults["alder-large"]


def test_shares_are_kept_in_per_mille(tmp_path: Path) -> None:
    faults = read(
        tmp_path,
        hits={"misreadFigure": "0.3", "others": "0.9"},
        false_alarms="0.125",
        accuracy="1",
        changes_at=41,
        after={"hits": "0"},
    )

    assert faults == ModelFaults(
        hits={"misreadFigure": 300, "others": 900},
        false_alarms=125,
        accuracy=1_000,
        changes_at=41,
        after=FaultShares(hits=0),
    )


def test_a_policy_without_faults_is_written_as_before(tmp_path: Path) -> None:
    plain = read_policy(policy_file(tmp_path, **changed("policy", "version", to="none")))

    assert b"faults" not in encode_policy(plain)


def test_faults_are_in_the_record_s_policy_and_in_the_effective_one(tmp_path: Path) -> None:
    seats = {"debater": {"argues_right": "0.5", "changes_at": 2, "after": {"argues_wrong": "1"}}}
    path = policy_file(
        tmp_path, **with_faults(hits="0.5", changes_at=3, after={"hits": {"others": "0.1"}}, seats=seats)
    )
    file = read_file(path)

    assert decode_policy(encode_policy(file.policy)) == file.policy
    again = tmp_path / "again.toml"
    again.write_text(effective_toml(file), "utf-8")
    assert read_policy(again).gate.hash == file.policy.gate.hash
    assert read_policy(again).providers == file.policy.providers


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"hits": "1.2"}, "hits: expected a decimal from 0 to 1, found '1.2'"),
        ({"hits": 0.5}, "hits: expected a share in quotes, or a table of shares by family of flaws"),
        ({"hits": {"misread": "0.5"}}, "hits.misread: this key is unknown"),
        ({"hit": "0.5"}, "hit: this key is unknown; did you mean 'hits'?"),
        ({"unusable": "0.1234"}, "unusable: expected a share with at most three decimals"),
        ({"accuracy": 1}, "accuracy: expected a string, found an integer; write it in quotes"),
        ({"mended": "0.5"}, "accuracy: mended and broken change a first answer; give accuracy beside them"),
        ({"correlation": "0.5"}, "accuracy: correlation is that of answers; give accuracy beside it"),
        ({"true_rate": "0.5"}, "confidence: true_rate is that of answers with a confidence; give it beside it"),
        ({"first_slot_pull": "0.6", "length_pull": "0.5"}, "first_slot_pull: first_slot_pull, length_pull and"),
        ({"changes_at": 3}, "after: changes_at and after belong together; write both or none"),
        ({"after": {"hits": "0"}}, "after: changes_at and after belong together; write both or none"),
        ({"changes_at": 0, "after": {}}, "changes_at: expected from 1 to 1000000, found 0"),
        ({"changes_at": 3, "after": {"changes_at": 4}}, "after.changes_at: this key is unknown"),
        ({"changes_at": 3, "after": {"broken": "0.1"}}, "after.accuracy: mended and broken change a first answer"),
        (
            {"rounds_alike": "0.5"},
            "rounds_alike: rounds_alike is that of turns that mend or break; give mended or broken",
        ),
        ({"seats": {"critics": {}}}, "seats.critics: there is no such seat; there is: framing, proposer, critic,"),
        ({"seats": {"critic": 3}}, "seats.critic: expected a table, found an integer"),
        ({"seats": {"critic": {"hit": "1"}}}, "seats.critic.hit: this key is unknown; did you mean 'hits'?"),
        (
            {"seats": {"framing": {"accuracy": "0.5"}}},
            "seats.framing.accuracy: this fault means nothing to the seat framing, which has: misframes, unusable, s",
        ),
        (
            {"seats": {"judge": {"changes_at": 3, "after": {"hits": "0"}}}},
            "seats.judge.after.hits: this fault means nothing to the seat judge, which has: heeds, accuracy",
        ),
        ({"seats": {"judge": {"after": {}}}}, "seats.judge.after: changes_at and after belong together"),
        ({"seats": {"judge": {"seats": {}}}}, "seats.judge.seats: this key is unknown"),
        (
            {"seats": {"critic": {"hits": "1", "confidence": "0.8", "true_rate": "0.8"}}},
            "seats.critic.true_rate: true_rate takes the place of hits and false_alarms; give it or give those",
        ),
    ],
)
def test_faults_that_make_no_sense_are_refused_at_their_key(tmp_path: Path, faults: dict[str, Any], said: str) -> None:
    assert f"providers.offline.faults.alder-large.{said}" in refused(tmp_path, with_faults(**faults))


def test_a_fault_on_a_seat_where_it_means_nothing_is_refused_with_its_line(tmp_path: Path) -> None:
    whole = (ROOT / "examples" / "evaluation" / "policy.toml").read_text("utf-8")
    path = tmp_path / "gainsay.toml"
    path.write_text(f'{whole}\n[providers.offline.faults.alder-large.seats.screener]\naccuracy = "0.5"\n', "utf-8")
    last = len(path.read_text("utf-8").splitlines())

    with pytest.raises(SettingsError, match=rf"line {last}: .*seats\.screener\.accuracy: this fault means nothing"):
        read_policy(path)


def test_every_seat_of_a_policy_has_its_faults_and_every_fault_a_seat() -> None:
    assert {*SEAT_FAULTS} == {*SEATS, *OTHERS}
    shares = {key.name for key in keys_of(FaultShares)}
    assert shares == {"unusable", "scatter"}.union(*SEAT_FAULTS.values())


@pytest.mark.parametrize("seat", SEAT_FAULTS)
def test_each_fault_of_a_seat_is_read_there_and_in_the_schema(tmp_path: Path, seat: str) -> None:
    names = [name for name in SEAT_FAULTS[seat] if not (seat == "critic" and name == "true_rate")]
    shares = dict.fromkeys((*names, "unusable", "scatter"), "0.25")

    faults = read(tmp_path, accuracy="0.5", seats={seat: {**shares, "changes_at": 2, "after": shares}})

    kept = FaultShares(**dict.fromkeys((*names, "unusable", "scatter"), 250))
    assert faults.of(seat) == SeatFaults(**{name: getattr(kept, name) for name in shares}, changes_at=2, after=kept)
    assert faults.of("another").accuracy == 500
    schema = policy_schema(WRITTEN)["properties"]["providers"]["additionalProperties"]["properties"]["faults"]
    table = schema["additionalProperties"]["properties"]["seats"]["properties"][seat]
    assert {*table["properties"]} == {*SEAT_FAULTS[seat], *EVERY_SEAT}


def test_the_examples_of_the_page_are_read_as_they_stand(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    examples = re.findall(r"```toml\n(\[providers\.offline\.faults\..*?)```", page, re.DOTALL)
    table = tomllib.loads("\n".join(examples))["providers"]["offline"]["faults"]

    found = read_policy(policy_file(tmp_path, **changed(*PLACE, to=table))).providers["offline"].faults
    assert len(examples) == 2
    assert found["cedar-large"].of("moderator").heeds == 1_000
    assert found["alder-large"].accuracy == 700


def test_all_faults_of_the_table_are_said_at_once(tmp_path: Path) -> None:
    message = refused(tmp_path, changed(*PLACE, to={"alder-large": {"hits": "2"}, "birch-large": {"broken": "2"}}))

    assert "alder-large.hits" in message
    assert "birch-large.broken" in message


def test_a_model_that_is_none_of_the_provider_s_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, changed(*PLACE, to={"alder-larger": {"hits": "0"}}))

    assert "providers.offline.faults.alder-larger: no model of this provider has this name" in message
    assert "did you mean 'alder-large'?" in message


def test_a_provider_over_a_network_has_no_faults(tmp_path: Path) -> None:
    whole = vendors()
    whole["providers"]["openai"]["faults"] = {"gpt": {"hits": "0"}}

    assert "providers.openai.faults: this key means nothing to a provider of kind openai-compatible" in refused(
        tmp_path, whole
    )


def test_real_models_beside_faulty_ones_are_refused(tmp_path: Path) -> None:
    whole = vendors()
    offline = next(name for name, table in whole["providers"].items() if table["kind"] == "offline")
    name = next(model["name"] for model in whole["models"] if model["provider"] == offline)
    whole["providers"][offline]["faults"] = {name: {"hits": "0"}}

    assert "models: models that are not offline ones stand beside models with known faults" in refused(tmp_path, whole)
