"""The first policies that `gainsay policy init` writes: each starts at the first try, and says what it is worth."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from service.app import connected
from service.cli.policy_advice import alike_seats
from service.errors import SettingsError
from service.intake import Deployment, prepare, start
from service.intake.deployments import deploy
from service.intake.request import document_ids
from service.money import tokenizers
from service.policy import Policy, seating
from service.policy.file.reading import read_file
from service.policy.first import FOLDER, OWN, VENDORS, OwnServer, first_policy
from service.policy.settings import SHIPPED_POLICY, read_settings
from service.prompts import Prompts
from tests.fixtures.running import a_request

DAY = "2026-11-24"
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "openai-anthropic.toml"
REAL = tuple(name for name in VENDORS if name != "simulated")
CHOICES = [choice for n in (1, 2, 3) for choice in permutations(REAL, n)] + [("simulated",)]
MINE = OwnServer(
    "http://vllm:8000/v1", "env:VLLM_KEY", ("Qwen/Qwen3-32B", "Qwen/Qwen3-8B"), "qwen", 32_768, "0.20", "0.80"
)
KEYS = {"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2", "GEMINI_API_KEY": "k3", "VLLM_KEY": "k4"}


def written(folder: Path, vendors: tuple[str, ...], own: OwnServer | None = None) -> Path:
    path = folder / "policy.toml"
    path.write_text(first_policy(vendors, DAY, own), "utf-8")
    return path


@pytest.mark.parametrize("vendors", [*CHOICES, (OWN,), ("openai", OWN)], ids=" ".join)
async def test_a_first_policy_passes_every_check_of_a_start(
    tmp_path: Path, vendors: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)

    deployment = deploy(read_settings({"GAINSAY_POLICY": str(written(tmp_path, vendors, MINE))}))

    async with connected(deployment.policy) as providers:
        assert set(providers) == set(deployment.policy.providers)


@pytest.mark.parametrize("vendors", [*CHOICES, (OWN,)], ids=" ".join)
def test_a_usual_case_can_be_paid_in_each_format_that_is_offered(tmp_path: Path, vendors: tuple[str, ...]) -> None:
    policy = read_file(written(tmp_path, vendors, MINE), day=DAY).policy
    tokenizers.load(model.tokenizer for model in policy.models.values())

    for form in policy.offered:
        if form == "stances":  # the caller states these
            continue
        request = a_request(options={"format": form})
        deployment = Deployment(Prompts.load(), policy, DAY, "00" * 32)
        prepared = prepare(request, deployment, "operator", {name: bytes(32) for name in document_ids(request)}, NOW)
        started = start(prepared, deployment, "ab" * 32)
        assert started.expected_cost < started.ceiling, form


@pytest.mark.parametrize("vendors", CHOICES, ids=" ".join)
def test_seats_differ_as_far_as_the_vendors_allow_and_the_file_says_what_one_family_caps(
    tmp_path: Path, vendors: tuple[str, ...]
) -> None:
    path = written(tmp_path, vendors)
    policy: Policy = read_file(path).policy
    families = 3 if vendors == ("simulated",) else len(vendors)

    reached = seating.diversity(seating.seats(policy, seating.ADVERSARIAL, {}, DAY))

    assert policy.debate.diversity == {1: "sameModel", 2: "sameFamily", 3: "crossFamily"}[families]
    assert reached == policy.debate.diversity
    assert ("at most MODERATE" in path.read_text("utf-8")) == (families == 1)
    assert bool(list(alike_seats(policy, DAY))) == (families == 1)


def test_models_and_prices_are_those_of_the_example_and_of_the_shipped_policy() -> None:
    known = {
        row["alias"]: row
        for source in (EXAMPLE, SHIPPED_POLICY)
        for row in tomllib.loads(source.read_text("utf-8"))["models"]
    }
    providers = tomllib.loads(EXAMPLE.read_text("utf-8"))["providers"] | {"offline": {"kind": "offline"}}

    for name in VENDORS:
        fragment = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
        assert fragment["models"] == [known[row["alias"]] for row in fragment["models"]]
        assert fragment["providers"] == {used: providers[used] for used in fragment["providers"]}
    assert {family.large for families in VENDORS.values() for family in families} <= set(known)


def test_no_price_of_a_server_of_ones_own_is_invented(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        read_file(written(tmp_path, (OWN,)))

    for key in ("base_url", "name", "family", "context_window", "source", "input_usd", "output_usd", "reasoning_usd"):
        assert f".{key}: this value is still to be filled in" in error.value.detail


@pytest.mark.parametrize("given", [("1.00", None), (None, "1.00")])
def test_one_price_alone_leaves_the_file_unusable(tmp_path: Path, given: tuple[str | None, str | None]) -> None:
    half = MINE._replace(input_usd=given[0], output_usd=given[1])

    with pytest.raises(SettingsError, match="still to be filled in"):
        read_file(written(tmp_path, (OWN,), half))


def test_a_name_of_a_model_cannot_write_into_the_file(tmp_path: Path) -> None:
    hostile = MINE._replace(models=('x"\nfamily = "gpt"\n[gate]\nfactor = 1 #',))

    with pytest.raises(SettingsError, match="printable characters"):
        read_file(written(tmp_path, (OWN,), hostile))
