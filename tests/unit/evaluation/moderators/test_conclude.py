"""Findings from counts: which questions decide, how p-values are adjusted, and that nothing drops out unsaid."""

from __future__ import annotations

import tracemalloc
from typing import get_args

import pytest

from service.evaluation.moderators.audit import ModeratorAudit, audit_of, encode, headline
from service.evaluation.moderators.recorded import LEFT, Judged, Left
from service.evaluation.moderators.tally import Tally
from service.evaluation.plan.power import FEWEST
from service.evaluation.scoring.refused_words import refused_in
from service.evaluation.scoring.result import Finding
from service.evaluation.statistics import compute
from tests.fixtures.moderator_audits import ALDER, ALIKE, BIRCH, EVERY, LATER, Seen, audit, made

NAMES = sorted(EVERY)


def finding(found: ModeratorAudit, *about: str) -> Finding:
    (one,) = [each for each in found.findings if each.about == about]
    return one


@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_recomputed_from_its_input(name: str) -> None:
    found = made(name)

    assert {figure.id for figure in found.figures} >= {"adjusted", "windowsAdjusted"}
    assert len({figure.id for figure in found.figures}) == len(found.figures)
    for figure in found.figures:
        assert compute(figure.statistic, figure.input) == figure.output, figure.id


@pytest.mark.parametrize("name", NAMES)
def test_every_debate_is_counted_for_a_moderator_or_left_out_by_a_reason(name: str) -> None:
    found = made(name)

    read = found.read
    assert read.debates == read.counted + sum(read.left.values())
    assert read.counted == sum(one.debates for one in found.moderators)
    for moderator in found.moderators:
        series = [one for one in found.series if one.moderator == moderator.id]
        whole = next((one for one in series if one.task_type == "*"), series[0])
        assert (whole.debates, whole.missing) == (moderator.debates, moderator.missing)
        for one in series:
            side = found.figure(one.side)
            counted = side.output["decided"] + side.input["ties"] + one.missing
            by_window = [found.figure(window.side) for window in one.windows]
            assert counted == one.debates
            for member in ("first", "second", "ties"):
                assert sum(figure.input[member] for figure in by_window) == side.input[member]


@pytest.mark.parametrize("name", NAMES)
def test_the_order_in_which_debates_are_read_changes_nothing_and_json_has_all(name: str) -> None:
    assert audit_of(encode(made(name))) == made(name)
    tilt = [Seen(ALDER, "2026-01", 30, 6, 2, 1), Seen(BIRCH, "2026-02", 9, 9, places=ALIKE * 9)]
    assert {encode(audit(*tilt, shuffled=seed)) for seed in range(4)} == {encode(audit(*reversed(tilt), shuffled=9))}


@pytest.mark.parametrize("name", NAMES)
def test_no_sentence_holds_a_refused_word_and_each_part_is_said(name: str) -> None:
    found = made(name)

    refused = {said.text: words for said in found.sentences if (words := refused_in(said.text))}
    assert not refused
    for part in ("finding", "excluded", "power", "evaluations", "notShown"):
        assert found.said(part)
    assert any("a tilt may be true" in text for text in found.said("notShown"))
    assert bool(found.said("simulated")) == found.simulated


def test_a_tilt_is_said_with_its_counts_and_that_it_may_be_true() -> None:
    found = made("tilt")

    (one,) = [each for each in found.findings if each.outcome == "tilt"]
    assert headline(found) == "tilt"
    (said,) = [text for text in found.said("finding") if "was seen" in text]
    assert said.startswith(
        "alder-large (alder-large-2026), prompt moderator v1 abababababab, contract: a tilt to the proposer was seen"
    )
    assert "59 for the proposer, 16 for the critic, 3 in between left out; 78.7 % of 75 decided" in said
    assert "Which side was right in these cases is not known, so a tilt may be true" in said
    assert one.visible is None
    assert "1 of those that count have no readable moderation" in " ".join(found.said("excluded"))


def test_under_23_decided_cases_nothing_is_said_however_one_sided_they_are() -> None:
    few, enough = (audit(Seen(ALDER, "2026-01", n, 0, 5)) for n in (FEWEST - 1, FEWEST))

    assert (headline(few), few.family) == ("notEnough", ())
    assert finding(few, "m1", "contract", "side").because == ("tooFewCases",)
    assert headline(enough) == "tilt"
    assert headline(made("not decided")) == headline(made("nothing")) == "notEnough"
    assert finding(made("not decided"), "m1", "contract", "side").because == ("noCases",)


def test_where_no_tilt_was_seen_the_smallest_that_would_have_been_stands_beside_it() -> None:
    found = made("none seen")

    side, position = (finding(found, "m1", "contract", aspect) for aspect in ("side", "position"))
    assert (side.outcome, position.outcome) == ("noneSeen", "noneSeen")
    power = compute("binomial_power", {"n": 68, "p": side.visible, "alpha": 0.05 / 2})["power"]
    below = compute("binomial_power", {"n": 68, "p": (side.visible or 0) - 0.01, "alpha": 0.05 / 2})["power"]
    assert below < 0.8 <= power
    assert any("could not have been seen" in text for text in found.said("finding"))


def test_only_questions_with_enough_decided_cases_are_adjusted_and_windows_apart_from_them() -> None:
    found = made("several")

    assert found.family == ("side/m1/*", "side/m1/contract", "side/m1/security", "side/m2/contract")
    p = [found.figure(id_).output["p"] for id_ in found.family]
    assert found.figure("adjusted").input == {"p": p}
    assert found.figure("adjusted").statistic == "holm"
    windows = [w for one in found.series for w in one.windows]
    enough = [w for w in windows if found.figure(w.side).output["decided"] >= FEWEST]
    assert set(found.explored) == {w.side for w in enough}
    assert found.figure("windowsAdjusted").statistic == "benjamini_hochberg"
    assert [w.side_adjusted is not None for w in windows] == [w in enough for w in windows]


def test_another_prompt_or_model_is_another_moderator() -> None:
    found = made("several")

    assert [(one.id, one.alias, one.version) for one in found.moderators] == [
        ("m1", "alder-large", "v1"),
        ("m2", "alder-large", "v2"),
        ("m3", "birch-small", "v1"),
    ]
    one = audit(*(Seen(who, "2026-01", 12, 0) for who in (ALDER, LATER)))
    assert headline(one) == "notEnough", "12 + 12 of two prompts are not 24 of one"


def test_a_pull_to_the_place_is_seen_in_two_orders_alone() -> None:
    found = made("place")

    assert finding(found, "m1", "contract", "position").outcome == "tilt"
    assert finding(found, "m1", "contract", "side").outcome == "noneSeen"
    assert not [each for each in made("tilt").findings if each.about[2] == "position"]
    assert any("no debate" in text.lower() and "reverse order" in text for text in made("tilt").said("power"))


def test_evaluations_of_moderators_in_the_period_stand_beside_the_recorded_ones_with_their_figures() -> None:
    found = made("several")

    assert {one.standing for one in found.evaluations} == {"registered", "exploratory"}
    assert {one.evaluation[-1] for one in found.evaluations} == {"0", "1"}, "a lift is none"
    assert all(found.figure(one.figure).id.startswith("evaluation/") for one in found.evaluations)
    assert any(text.startswith("On golden pairs (") for text in found.said("evaluations"))
    assert found.simulated, "those evaluations had simulated models"


def test_what_is_kept_does_not_grow_with_the_debates() -> None:
    one = Judged(ALDER, "contract", "upheld", ("first", "second"), False)

    def kept(debates: int) -> int:
        tracemalloc.start()
        try:
            tally = Tally()
            for _ in range(debates):
                tally.add(one, "2026-01")
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    kept(10)
    # A pointer a debate would be 79,200 bytes; other threads of the process are counted too.
    assert kept(10_000) - kept(100) < 40_000


def test_every_reason_for_leaving_a_debate_out_has_its_words() -> None:
    assert set(LEFT) == set(get_args(Left))
