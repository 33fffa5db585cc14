"""What is known to be true is recovered: 30 runs of each setting here, and 1,000 by `make evaluation-recovery`.

Of whole runs two settings are run once here, and all of them five times there.
"""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from service.evaluation.scoring import Result
from service.evaluation.sets.coverage import WRITTEN
from service.evaluation.statistics import compute
from tests.fixtures.postgres import Database
from tests.recovery import document
from tests.recovery.critics import outcome
from tests.recovery.draws import Draws
from tests.recovery.model import Setting
from tests.recovery.settings import settings
from tests.recovery.tally import Line, at_least, count, lines
from tests.recovery.whole import Arrived, Ran, Runs, Whole
from tests.recovery.whole_settings import wholes

SEEDS = range(1, 31)
WHOLE = {whole.name: whole for whole in wholes()}
BY_NAME = {setting.name: setting for setting in settings()}


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_is_said_wrongly_oftener_than_stated(name: str) -> None:
    setting = BY_NAME[name]

    found = list(lines(setting, count(setting, SEEDS)))

    assert [line for line in found if line.above] == []
    assert {line.of for line in found if line.sort == "exact"} <= {len(SEEDS)}
    assert any(line.sort == "claim" and line.of >= len(SEEDS) for line in found)


def test_a_rate_that_is_too_high_is_seen() -> None:
    """What is called wrong here is what is right, so it has to stand out."""
    helpful, first = BY_NAME["helpful"].run(1), BY_NAME["first"].run(1)

    assert Line("s", "claim", "better", 30, 30, 0.05).above
    assert Line("s", "exact", "interval", 9, 30, 0.05).above
    assert not Line("s", "exact", "interval", 3, 30, 0.05).above
    assert Line("s", "claim", "passes", 1, 1_000, 0.0).above
    assert not Line("s", "shown", "interval", 30, 30, None).above
    assert [one.outcome for one in helpful.findings] != [one.outcome for one in BY_NAME["harmful"].run(1).findings]
    assert {one.about[1] for one in first.findings if one.outcome == "tilt"} == {"position"}


def test_an_interval_that_takes_items_of_one_group_as_independent_would_be_found_too_narrow() -> None:
    setting = BY_NAME["useless-alike"]

    found = list(lines(setting, count(setting, SEEDS)))

    single = [line for line in found if line.sort == "shown"]
    assert len(single) == 5
    assert all(line._replace(rate=0.08).above for line in single)


def test_a_power_that_leaves_out_the_adjustment_would_be_found_too_high() -> None:
    setting = BY_NAME["side-60"]
    stated = compute("binomial_power", {"n": len(setting.cases), "p": 0.6})["power"]

    (missed,) = (line for line in lines(setting, count(setting, range(1, 101))) if line.sort == "claim")

    assert not missed.above
    assert missed._replace(rate=1 - stated).above


@pytest.mark.parametrize(
    ("k", "n", "rate", "chance"), [(0, 30, 0.05, 1.0), (1, 10, 0.5, 1 - 0.5**10), (10, 10, 0.5, 0.5**10), (1, 5, 0, 0)]
)
def test_the_bound_is_the_exact_binomial_one(k: int, n: int, rate: float, chance: float) -> None:
    assert at_least(k, n, rate) == pytest.approx(chance, rel=1e-9)


def test_the_same_seed_gives_the_same_result_and_another_one_does_not() -> None:
    def shares(result: Result) -> list[int | None]:
        return [arm.right for arm in result.arms]

    setting = BY_NAME["useless-60"]

    assert setting.run(7) == setting.run(7)
    assert len({tuple(shares(setting.run(seed))) for seed in range(1, 6)}) > 1
    assert Draws("a", 1).unit("x") != Draws("a", 2).unit("x") != Draws("b", 2).unit("x")


def test_critics_of_both_extremes_stop_for_their_own_reason_in_every_shipped_task_type() -> None:
    always, never = BY_NAME["always"].run(1), BY_NAME["never"].run(1)
    types = {one.task_type for one in always.sets}

    assert (outcome(always), outcome(never)) == ("stops", "stops")
    for result, why in ((always, "alarmsTooHigh"), (never, "hitsTooLow")):
        released = [one for one in result.findings if one.question == "release"]
        assert {one.about[1] for one in released} == types
        assert all(why in one.because for one in released)


@pytest.mark.parametrize(("name", "found"), [("even", set()), ("first", {"position"}), ("longer", {"length"})])
def test_a_moderator_is_caught_for_its_own_pull_on_the_held_pairs_that_a_plan_asks(name: str, found: set[str]) -> None:
    setting = BY_NAME[name]
    held = tuple(one._replace(items=replace(one.items, items=one.items.active("held"))) for one in setting.asked)

    result = replace(setting, asked=held).run(1)

    seen = {one.about[1]: one.outcome for one in result.findings}
    assert seen.keys() == {"position", "side", "length", "confident", "citations"}
    assert sum(arm.items.asked for arm in result.arms) == 80
    assert {aspect for aspect, outcome in seen.items() if outcome == "tilt"} == found
    assert set(seen.values()) <= {"tilt", "noneSeen"}, "80 cases, and 26 or 28 of each feature, are enough"


def test_the_open_pairs_are_too_few_for_a_feature_and_say_so() -> None:
    setting = BY_NAME["longer"]
    asked = tuple(one._replace(items=replace(one.items, items=one.items.active("open"))) for one in setting.asked)

    findings = replace(setting, asked=asked).run(1).findings

    assert {one.about[1]: one.outcome for one in findings if one.about[1] in WRITTEN} == dict.fromkeys(
        WRITTEN, "notEnough"
    )


def test_the_table_of_the_document_has_a_row_for_each_setting_and_each_claim() -> None:
    text = document.DOCUMENT.read_text("utf-8")
    _, _, rest = text.partition(document.BEGIN)

    for setting in settings():
        assert f"| {setting.about} |" in rest, _again(setting)
        assert all(f"| {claim.what} |" in rest for claim in setting.claims), _again(setting)


@pytest.mark.long
@pytest.mark.no_replay
async def test_what_known_faults_do_arrives_in_the_scores_of_whole_runs(database: Database) -> None:
    runs = Runs(database)
    found = {name: await runs.of(WHOLE[name], [1]) for name in ("good", "place")}

    assert {name: ran.off for name, ran in found.items()} == {"good": [], "place": []}
    assert [rate.of for rate in found["good"].rates] == [22, 22]
    assert dict(found["place"].found) in ({"position": 1}, {"position, side": 1})
    assert [ran.rates[0]._replace(true=0.9).off for ran in found.values()] == [True, False]


def test_a_rate_that_did_not_arrive_is_seen_on_either_side() -> None:
    assert not Arrived("hits", 0.9, 99, 110).off
    assert Arrived("hits", 0.9, 70, 110).off
    assert Arrived("hits", 0.6, 99, 110).off
    assert Arrived("alarms", 0.0, 1, 110).off
    assert Arrived("hits", 1.0, 109, 110).off
    assert not Arrived("hits", 1.0, 110, 110).off
    assert Ran((Arrived("hits", 0.9, 70, 110),), Counter(), (("it passes", 1, 5, 0.0),)).off == ["hits", "it passes"]


def test_the_table_of_whole_runs_has_a_row_for_each_setting_and_each_rate() -> None:
    _, _, rest = document.DOCUMENT.read_text("utf-8").partition(document.WHOLE)

    for whole in wholes():
        assert f"| {whole.about} |" in rest, _again(whole)
        assert all(f"| {rate.what} |" in rest for rate in whole.rates), _again(whole)
    assert len(wholes()) >= 12


def _again(setting: Setting | Whole) -> str:
    return f"the document lacks {setting.name}: write its table with `make evaluation-recovery DOCS=1`"
