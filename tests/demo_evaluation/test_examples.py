"""The plans of examples/evaluation are accepted under the policy beside them, and name the sets as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

import pytest

from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.sets.golden_set import GoldenSet
from service.identity.caller import Caller
from service.intake import Deployment
from service.intake.deployments import deploy
from service.money import tokenizers
from service.policy.set_folders import SetFolder
from service.policy.settings import read_settings
from service.reviews.evaluation_sets import GoldenShelf
from service.reviews.evaluations import Planned, _planned
from tests.demo_evaluation import pairs
from tests.demo_evaluation.known import EXAMPLES, KNOWN, PAIRS, POLICY, Known, faults, truth

TYPES = {"contract", "security", "architecture", "investment", "compliance"}
by_plan = pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.plan)


@cache
def deployment() -> Deployment:
    """What runs under the policy of the folder."""
    made = deploy(read_settings({"GAINSAY_POLICY": str(POLICY)}))
    tokenizers.load(model.tokenizer for model in made.policy.models.values())
    return made


@cache
def sets() -> Mapping[str, GoldenSet]:
    """The shipped sets and the trial set."""
    return GoldenShelf([SetFolder(PAIRS)]).at_hand(date.max, "default")


def planned(text: str) -> Planned:
    """The plan of a file, held against policy and sets as `gainsay evaluate plan` does."""
    return _planned(text, deployment(), Caller(), sets(), {})


@by_plan
def test_a_plan_is_accepted_and_asks_every_item_of_its_sets(known: Known) -> None:
    found = planned(known.file.read_text("utf-8"))

    named = {one.id: one.sha256 for one in found.plan.sets}
    assert named == {id_: sets()[id_].hash for id_ in named}
    assert found.plan.exploratory
    assert {sets()[id_].manifest.task_type for id_ in named} == ({"contract"} if known.asks_pairs else TYPES)


def test_a_plan_with_another_hash_is_refused() -> None:
    golden = sets()["contract-critic"]
    text = (EXAMPLES / "critic-good.toml").read_text("utf-8").replace(golden.hash, "00" * 32)

    with pytest.raises(InvalidPlan, match=f"the files of contract-critic have the hash {golden.hash}"):
        planned(text)


def test_every_plan_of_the_folder_is_run_and_every_model_with_faults_is_measured() -> None:
    assert {known.file for known in KNOWN} == set(EXAMPLES.glob("*.toml")) - {POLICY}
    assert {model for known in KNOWN for model in known.measured} == set(faults())
    assert all(truth(known) for known in KNOWN)


@by_plan
def test_what_is_known_is_not_found_in_no_finding_nor_in_the_opposite(known: Known) -> None:
    opposite = {"critic-good": "stops", "critic-always": "passes", "critic-blind": "passes", "lift-useless": "better"}
    wrong = [{"about": list(about), "outcome": opposite.get(known.plan, "inconclusive")} for about in _ABOUT]

    assert not known.holds([])
    assert not known.holds(wrong)


_ABOUT = (("alone",), ("alone", "contract"), ("whole",), ("adversarial", "vote"), ("moderator", "position"))


def test_the_trial_set_is_what_its_module_writes() -> None:
    kept = {at.relative_to(PAIRS).as_posix(): at.read_bytes() for at in PAIRS.rglob("*") if at.is_file()}

    assert kept == pairs.files()
