"""What is told of the models: who may name them, and what their track records say of the next panel."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from service.debate.options import PanelOptions
from service.intake.model_ranking import Standing
from service.policy import Policy
from service.web.model_types import QUESTION_TYPES, ModelDetail, ModelList
from tests.unit.intake.test_intake import DAY, POLICY
from tests.unit.intake.test_options import drawn

FOUND = [
    Standing("belief", "birch-large", 2, 2 * 4, 2 * 100),
    Standing("factual", "birch-small", 20, 20 * 4, 20 * 380),
    Standing("factual", "birch-large", 1, 4, 4 * 90),
    Standing("factual", "gone-from-the-catalogue", 3, 3 * 4, 3 * 400),
]


def model(found: ModelList, alias: str) -> ModelDetail:
    return next(one for one in found.models if one.alias == alias)


def listed(policy: Policy = POLICY, day: str = DAY) -> ModelList:
    return ModelList.of(policy, day, FOUND)


def test_a_model_s_record_says_how_much_it_rests_on() -> None:
    records = msgspec.json.decode(msgspec.json.encode(model(listed(), "birch-large").track_records))

    assert records == [
        {"questionType": "factual", "debates": 1, "mean": 0.9, "score": 0.566},
        {"questionType": "belief", "debates": 2, "mean": 0.25, "score": 0.428},
    ]
    assert model(listed(), "alder-large").track_records == ()


def test_a_mean_is_of_the_scores_that_were_given() -> None:
    unchecked = [Standing("factual", "birch-large", 5, 4 + 4 * 3, 4 * 90 + 4 * 3 * 80)]
    listed_anew = ModelList.of(POLICY, DAY, unchecked)

    (record,) = model(listed_anew, "birch-large").track_records

    assert (record.mean, record.score) == (0.825, 0.662)  # 1320 of 16 scores; 5 debates weigh as much as 0.5


def test_the_order_of_debaters_is_the_one_by_which_a_panel_draws_them() -> None:
    started = drawn(FOUND, questionType="factual")
    assert isinstance(started.options, PanelOptions)
    ranked = sorted(started.options.track_records, key=lambda one: -one.score)

    order = listed().debater_order

    assert list(order["factual"]) == [one.model for one in ranked]
    assert order["factual"][0] == "birch-small"
    assert order["belief"][-1] == "birch-large"
    assert set(order) == set(QUESTION_TYPES)


def test_a_policy_without_a_pool_of_debaters_has_no_order() -> None:
    seats = {name: seat for name, seat in POLICY.seats.items() if name != "debater"}

    assert listed(replace(POLICY, seats=seats)).debater_order == {}


def test_a_model_may_be_named_if_it_has_a_price_and_policy_takes_its_name() -> None:
    floating = replace(POLICY.models["birch-small"], snapshot=False)
    models = {**POLICY.models, "birch-small": floating}
    strict = replace(POLICY.debate, floating_names=False)

    assert model(listed(), "birch-small").choosable
    assert not model(listed(day="2000-01-01"), "birch-small").choosable
    assert not model(listed(replace(POLICY, models=models, debate=strict)), "birch-small").choosable
    never = replace(POLICY.debate, may_choose_models=False)
    assert not model(listed(replace(POLICY, debate=never)), "birch-small").choosable
    loose = replace(POLICY.debate, floating_names=True)
    assert model(listed(replace(POLICY, models=models, debate=loose)), "birch-small").choosable
