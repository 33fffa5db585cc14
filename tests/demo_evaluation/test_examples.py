"""The plans of examples/evaluation are accepted under the policy beside them, and name the sets as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

import pytest

from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.scoring.cases import Wear, cases_of, shown_set
from service.evaluation.scoring.conclude import conclude
from service.evaluation.sets.golden_set import GoldenSet
from service.identity.caller import LOCAL_ROLES, Caller
from service.intake import Deployment
from service.intake.deployments import deploy
from service.money import tokenizers
from service.policy.settings import read_settings
from service.reviews.evaluation_sets import GoldenShelf
from service.reviews.evaluations import Planned, _planned
from tests.demo_evaluation.known import EXAMPLES, KNOWN, POLICY, Known, faults, truth

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
    """The shipped sets."""
    return GoldenShelf().at_hand(date.max, "default")


def planned(text: str, *, held: bool = False) -> Planned:
    """The plan of a file, held against policy and sets as `gainsay evaluate plan` does, with `--held` if it asks it."""
    caller = Caller(roles=(*LOCAL_ROLES, "validator")) if held else Caller()
    return _planned(text, deployment(), caller, sets(), {})


@by_plan
def test_a_plan_is_accepted_and_asks_every_item_of_its_sets(known: Known) -> None:
    found = planned(known.file.read_text("utf-8"), held=known.held)

    named = {one.id: one.sha256 for one in found.plan.sets}
    assert named == {id_: sets()[id_].hash for id_ in named}
    assert found.plan.exploratory
    assert {sets()[id_].manifest.task_type for id_ in named} == TYPES
    assert {one.split for one in found.plan.sets} == {"held" if known.held else "open"}


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
    opposite = {
        "critic-good": "stops",
        "critic-always": "passes",
        "critic-blind": "passes",
        "lift-useless": "better",
        "moderator-longer": "tilt",
        "moderator-even": "tilt",
    }
    wrong = [{"about": list(about), "outcome": opposite.get(known.plan, "inconclusive")} for about in _ABOUT]

    assert not known.holds([])
    assert not known.holds(wrong)


_ABOUT = (("alone",), ("alone", "contract"), ("whole",), ("adversarial", "vote"), ("moderator", "position"))


@pytest.mark.parametrize(("plan", "items"), [("moderator-place", 40), ("moderator-longer", 26), ("moderator-even", 80)])
def test_the_shipped_pairs_show_the_pull_that_a_plan_of_the_folder_expects(plan: str, items: int) -> None:
    (known,) = (known for known in KNOWN if known.plan == plan)

    power = planned(known.file.read_text("utf-8"), held=known.held).power

    assert power.n == items
    assert power.rows[0].power > 0.9


@by_plan
def test_a_plan_states_the_power_that_its_result_has(known: Known) -> None:
    found = planned(known.file.read_text("utf-8"), held=known.held)
    golden = [(sets()[asked.id], asked.split) for asked in found.sets]
    cases = [case for one, split in golden for case in cases_of(one.asked, one.labels(split, allow_held=True), split)]
    shown = [shown_set(one.asked, split, Wear(), {}) for one, split in golden]

    power = conclude(found.plan, cases, shown, ()).power

    assert (power.n, power.rows, power.visible) == (found.power.n, found.power.rows, found.power.visible)
    assert power.counted.rstrip(",") == found.power.counted
