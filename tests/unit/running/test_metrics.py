"""Metrics of debates: what each recorded entry adds, whoever recorded the ones before."""

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from prometheus_client.metrics import MetricWrapperBase

from service import telemetry
from service.debate.entries import (
    Arrival,
    CaseReceived,
    DebateConcluded,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSpoke,
    decode,
)
from service.debate.facts import Facts
from service.debate.findings import ConsensusFound, ConvergenceFound, Finding
from service.debate.kernel import FORMATS, decide
from service.debate.model import Ask, Check, Options, PanelOptions, Turn, labels
from service.debate.replies import Adjudication, Ballot, Critique, Judgement, Moderation, Reply
from service.debate.turns import TurnId, is_masked, split_party
from service.money import Ledger
from service.observing import labelled
from service.observing.labelled import LABELLED, Labelled
from service.running.metrics import count_entries
from tests.fixtures import formats
from tests.fixtures.debates import ITEM, Replies, World, a_start, canned, drive, start_of
from tests.fixtures.debates import found as everything
from tests.fixtures.masking import flagged, masking, otherwise
from tests.vectors.record import FOLDER, recorded_files

NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl") if ".moves." not in path.name)
OWN = [
    found.metric if isinstance(found, Labelled) else found
    for found in vars(telemetry).values()
    if isinstance(found, Labelled | MetricWrapperBase)
]
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def no_series_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins without labelled series: others leave thousands behind, and each is read at each question."""
    for metric in LABELLED:
        monkeypatch.setattr(metric.metric, "_metrics", {})
        monkeypatch.setattr(metric, "_series", {})


def recorded(name: str) -> list[Entry]:
    return [decode(line) for line in (FOLDER / f"{name}.jsonl").read_bytes().splitlines()]


def series() -> Series:
    """Every series but those that are unknown: another test may have lost the database, and NaN equals nothing.

    Those of the process itself move by themselves.
    """
    samples = [sample for metric in OWN for found in metric.collect() for sample in found.samples]
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for s in samples if not isnan(s.value)}


def added(act: Callable[[], None]) -> Series:
    """What the act adds to every series, rounded to a billionth; what stays the same is left out."""
    before = series()
    act()
    after = series()
    grown = {key: round(value - before.get(key, 0.0), 9) for key, value in after.items()}
    return {key: value for key, value in grown.items() if value}


def observe_all(entries: Sequence[Entry], parts: Sequence[int] = ()) -> None:
    """Observe a debate as it is recorded in parts, each part ending before one of these numbers."""
    ends = sorted({*parts, len(entries)})
    for begin, end in zip([0, *ends], ends, strict=False):
        count_entries(Facts.of(entries[:end]), Ledger.of(entries[:end]), entries[begin:end])


def value(found: Series, name: str, **labels: str) -> float:
    return found.get((name, tuple(sorted(labels.items()))), 0.0)


def test_a_debate_whose_critique_was_asked_again_is_counted_in_every_series() -> None:
    found = added(lambda: observe_all(recorded("retried")))

    of = {"task_type": "contract"}
    assert value(found, "gainsay_critic_retries_total", **of) == 1
    assert value(found, "gainsay_critic_challenge_strength_sum", **of, take="1") == 4
    assert value(found, "gainsay_critic_challenge_strength_sum", **of, take="2") == 8
    assert value(found, "gainsay_citations_checked_total", **of, verdict="verified") == 4
    assert value(found, "gainsay_citations_checked_total", **of, verdict="not_found") == 1
    assert value(found, "gainsay_arguments_struck_total", **of, reason="unverified_citation") == 1
    assert value(found, "gainsay_debate_cost_usd_total", **of, seat="critic", model="elm-1") == 0.006
    assert value(found, "gainsay_debate_cost_usd_total", **of, seat="moderator", model="birch-1") == 0.003
    assert value(found, "gainsay_tokens_total", model="oak-1", kind="input") == 3_000
    assert value(found, "gainsay_tokens_total", model="oak-1", kind="output") == 1_500
    assert value(found, "gainsay_tokens_total", model="elm-1", kind="input") == 2_000
    ended = {"format": "adversarial/1", "status": "completed", "stop_reason": "moderatorSatisfied"}
    assert value(found, "gainsay_debates_concluded_total", **of, **ended) == 1
    assert value(found, "gainsay_debate_confidence_total", **of, level="MODERATE") == 1
    assert value(found, "gainsay_debate_first_proposal_agreement_total", **of, agrees="false") == 1
    assert value(found, "gainsay_moderator_confidence_total", **of, level="HIGH") == 1, "before the cap"
    assert value(found, "gainsay_debate_explicit_uncertainties_sum", **of) == 1
    assert value(found, "gainsay_debate_unresolved_points_sum", **of) == 1
    assert value(found, "gainsay_debate_cost_to_estimate_ratio_sum", **of) == pytest.approx(18_000 / 15_000)


@pytest.mark.parametrize("name", NAMES)
def test_a_debate_of_the_prober_is_counted_in_no_series(name: str) -> None:
    entries = [
        replace(e, case=replace(e.case, metadata={"purpose": "probe"})) if isinstance(e, CaseReceived) else e
        for e in recorded(name)
    ]

    assert added(lambda: observe_all(entries)) == {}
    assert added(lambda: observe_all(recorded(name))) != {} or len(entries) < 3


@pytest.mark.parametrize("name", NAMES)
def test_a_debate_of_an_evaluation_is_counted_in_no_series(name: str) -> None:
    arrival = Arrival("evaluation", evaluation=ITEM)
    entries = [replace(e, arrival=arrival) if isinstance(e, CaseReceived) else e for e in recorded(name)]

    assert added(lambda: observe_all(entries)) == {}


def test_how_much_of_each_document_was_cited_is_counted_once_its_debate_is_over() -> None:
    """One document of 1,000 characters, of which every citation covers the first 20; D2 of round 2 is given later."""
    name, of = "gainsay_document_cited_share", {"task_type": "contract"}

    found, under_way = (
        added(lambda: observe_all(recorded("retried"))),
        added(lambda: observe_all(recorded("retried")[:-1])),
    )
    several = added(lambda: observe_all(recorded("new-evidence")))

    assert value(found, f"{name}_sum", **of) == 0.02
    assert value(found, f"{name}_bucket", **of, le="0.0") == 0
    assert value(several, f"{name}_count", **of) == 2
    assert value(several, f"{name}_bucket", **of, le="0.0") == 1, "nobody cited the second document"
    assert not [key for key in under_way if key[0].startswith(name)]


def test_a_seats_estimate_is_counted_once_its_debate_is_over_and_older_records_have_none() -> None:
    entries = [
        replace(e, expected_by_seat={"critic": 12_500, "moderator": 2_500}) if isinstance(e, DebateStarted) else e
        for e in recorded("retried")
    ]
    name = "gainsay_debate_expected_cost_usd_total"

    found, under_way = added(lambda: observe_all(entries)), added(lambda: observe_all(entries[:-1]))
    older = added(lambda: observe_all(recorded("retried")))

    assert value(found, name, task_type="contract", seat="critic") == 0.0125
    assert value(found, name, task_type="contract", seat="moderator") == 0.0025
    assert not [key for key in (*under_way, *older) if key[0] == name]


@pytest.mark.parametrize("name", NAMES)
def test_the_cost_that_is_counted_is_the_sum_of_all_charges(name: str) -> None:
    entries = recorded(name)
    ledger = Ledger.of(entries)

    found = added(lambda: observe_all(entries))

    cost = sum(grown for (series_name, _), grown in found.items() if series_name == "gainsay_debate_cost_usd_total")
    assert cost == pytest.approx((ledger.spent + ledger.excess) / 1_000_000)


@given(name=st.sampled_from(NAMES), parts=st.lists(st.integers(3, 40), max_size=6))
def test_a_debate_counts_the_same_in_whatever_parts_it_is_recorded(name: str, parts: list[int]) -> None:
    entries = recorded(name)

    whole = added(lambda: observe_all(entries))
    in_parts = added(lambda: observe_all(entries, [min(n, len(entries)) for n in parts]))

    assert in_parts == whole


def test_8_1_the_five_quality_metrics_are_computed_from_the_series() -> None:
    names = ("retried", "three-rounds", "truncated", "failed")

    def observe_each() -> None:
        for name in names:
            observe_all(recorded(name))

    found = added(observe_each)

    def total(name: str, **labels: str) -> float:
        return sum(v for (n, of), v in found.items() if n == name and labels.items() <= dict(of).items())

    ends = [e.outcome for name in names for e in recorded(name) if isinstance(e, DebateConcluded)]
    agreed = [end.agrees_with_first_proposal for end in ends if end.agrees_with_first_proposal is not None]
    strength = "gainsay_critic_challenge_strength"
    assert total(f"{strength}_sum") / total(f"{strength}_count") == pytest.approx(statistics.mean(_strengths(names)))
    levels = _levels(names)
    moderated = "gainsay_moderator_confidence_total"
    assert {level: total(moderated, level=level) for level in levels} == levels, "a share of each level"
    assert total(moderated) == levels.total() == 3, "the failed debate has no synthesis"
    for points in ("gainsay_debate_explicit_uncertainties", "gainsay_debate_unresolved_points"):
        assert total(f"{points}_sum", task_type="contract") / total(f"{points}_count", task_type="contract") == 1
    ratio = "gainsay_debate_cost_to_estimate_ratio"
    spent = [Ledger.of(recorded(name)).spent / 15_000 for name in names]
    assert total(f"{ratio}_sum") / total(f"{ratio}_count") == pytest.approx(statistics.mean(spent), rel=1e-3)
    agreement = "gainsay_debate_first_proposal_agreement_total"
    assert total(agreement, agrees="true") / total(agreement) == agreed.count(True) / len(agreed)


def _levels(names: Sequence[str]) -> Counter[str]:
    """How often the moderations that closed a debate gave each level."""
    return Counter(
        e.reply.confidence_level
        for told in map(recorded, names)
        for end in told[-1:]
        for e in told
        if isinstance(end, DebateConcluded) and isinstance(e, TurnSpoke) and isinstance(e.reply, Moderation)
        if e.turn == end.outcome.final_turn
    )


def _strengths(names: Sequence[str]) -> list[int]:
    entries = [entry for name in names for entry in recorded(name)]
    return [e.reply.challenge_strength for e in entries if isinstance(e, TurnSpoke) and isinstance(e.reply, Critique)]


def test_a_moderators_scores_are_counted_by_seat_and_by_the_place_of_its_label() -> None:
    entries = recorded("three-positions")
    (shown,) = [labels(turn) for turn in _moderators(entries)]

    found = added(lambda: observe_all(entries))

    told = {
        (dict(of)["seat"], dict(of)["place"]): grown
        for (name, of), grown in found.items()
        if name == "gainsay_moderator_argument_score_sum"
    }
    assert len(shown) == 7
    assert told == {(split_party(who)[0], label[-1]): int(label[-1]) for who, label in shown.items()}


def test_a_moderators_scores_count_the_same_whenever_they_are_recorded() -> None:
    entries = recorded("three-rounds")
    ends = [n for n, e in enumerate(entries, start=1) if isinstance(e, TurnSpoke) and "moderator" in e.turn]

    at_once = added(lambda: observe_all(entries))
    one_by_one = added(lambda: observe_all(entries, ends))

    assert len(ends) == 3
    assert one_by_one == at_once


def test_a_debate_without_a_synthesis_has_a_confidence_but_no_moderators() -> None:
    found = added(lambda: observe_all(recorded("failed")))

    assert value(found, "gainsay_debate_confidence_total", task_type="contract", level="LOW") == 1
    assert not {name for name, _ in found if "moderator_confidence" in name or "unresolved" in name}


def _moderators(entries: Sequence[Entry]) -> list[Turn]:
    """The moderators' turns as they were asked."""
    asked = [n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and "moderator" in e.turn]
    return [turn for n in asked if isinstance(move := decide(Facts.of(entries[:n])), Ask) for turn in move.turns]


class TheCourse(NamedTuple):
    """What the log of a debate knows of it."""

    took_s: float
    trace: str | None = None
    tenant: str = "acme"


@pytest.mark.parametrize(
    ("named", "label"), [((), None), (("acme", "globex"), "acme"), (("globex",), "other")], ids=["off", "named", "not"]
)
def test_debates_are_counted_by_tenant_where_tenants_are_named(
    monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...], label: str | None
) -> None:
    monkeypatch.setattr(labelled, "NAMED_TENANTS", {*named})
    entries, name = recorded("retried"), "gainsay_tenant_debates_concluded_total"

    found = added(lambda: count_entries(Facts.of(entries), Ledger.of(entries), entries, course=TheCourse(1.0)))

    assert {key: grown for key, grown in found.items() if key[0] == name} == (
        {(name, (("status", "completed"), ("tenant", label))): 1} if label else {}
    )
    assert not [key for key in found if "acme" in str(key) and label != "acme"]


def test_the_flags_of_a_debate_are_counted_and_how_much_of_its_ceiling_it_cost() -> None:
    entries = recorded("retried")
    *_, concluded = entries
    (started,) = (entry for entry in entries if isinstance(entry, DebateStarted))
    assert isinstance(concluded, DebateConcluded)
    flags = ("fallbackModel", "unchallenged")
    flagged_end = DebateConcluded(replace(concluded.outcome, flags=flags))

    found = added(lambda: observe_all([*entries[:-1], flagged_end]))

    name, of = "gainsay_debate_flags_total", {"task_type": "contract"}
    assert {key[1] for key in found if key[0] == name} == {
        (("flag", flag), ("task_type", "contract")) for flag in flags
    }
    assert value(found, name, **of, flag="fallbackModel") == 1
    share = found["gainsay_debate_ceiling_used_ratio_sum", (("task_type", "contract"),)]
    assert share == pytest.approx(18_000 / started.ceiling, abs=1e-6)


@pytest.mark.parametrize(
    ("trace", "kept"),
    [("ab" * 16, {"trace_id": "ab" * 16}), (None, None), ("no id of a trace", None), ("A" * 200, None)],
)
def test_how_long_a_debate_took_is_counted_once_with_the_trace_of_its_case(
    trace: str | None, kept: dict[str, str] | None
) -> None:
    entries, of = recorded("retried"), {"task_type": "contract", "format": "adversarial/1"}

    def count() -> None:
        facts, ledger = Facts.of(entries), Ledger.of(entries)
        count_entries(facts, ledger, entries[:-1], course=TheCourse(3.0, trace))
        count_entries(facts, ledger, entries[-1:], course=TheCourse(42.5, trace))

    found = added(count)

    assert value(found, "gainsay_debate_seconds_sum", **of) == 42.5
    assert value(found, "gainsay_debate_seconds_count", **of) == 1
    (family,) = telemetry.DEBATE_SECONDS.metric.collect()
    examples = {sample.labels["le"]: sample.exemplar for sample in family.samples if sample.exemplar}
    assert {le: example.labels for le, example in examples.items()} == ({"60.0": kept} if kept else {})


@pytest.mark.parametrize("status", ["failed", "aborted"])
def test_a_debate_without_a_decision_took_no_time_to_one(status: Literal["failed", "aborted"]) -> None:
    entries = recorded("retried")
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    ended = [*entries[:-1], replace(last, outcome=replace(last.outcome, status=status))]

    found = added(lambda: count_entries(Facts.of(entries), Ledger.of(entries), ended, course=TheCourse(42.5)))

    assert [dict(labels)["status"] for name, labels in found if name == "gainsay_debates_concluded_total"] == [status]
    assert [name for name, _ in found if name.startswith("gainsay_debate_seconds")] == []


def test_what_an_earlier_worker_recorded_is_not_counted_again() -> None:
    entries = recorded("retried")

    found = added(lambda: count_entries(Facts.of(entries), Ledger.of(entries), entries[-1:]))

    names = {name for name, _ in found}
    assert "gainsay_debates_concluded_total" in names
    assert not names & {"gainsay_debate_cost_usd_total", "gainsay_citations_checked_total", "gainsay_tokens_total"}


def test_a_declined_case_adds_nothing() -> None:
    entries = recorded("retried")[:2]

    assert added(lambda: observe_all(entries)) == {}


# -- the formats between debaters


def played(options: Options, replies: Replies = canned, **others: Any) -> Series:
    """What a debate of these options adds to the series."""
    entries = drive(start_of(options), replies, **others)
    return added(lambda: observe_all(entries))


def test_all_debaters_are_one_seat_in_every_series() -> None:
    found = played(formats.plain("ballot/1"))

    seats = {dict(labels)["seat"] for (_, labels) in found if "seat" in dict(labels)}
    cost = [v for (name, labels), v in found.items() if name == "gainsay_debate_cost_usd_total"]
    assert seats == {"debater"}
    assert len(cost) == 3, "one series for each model behind the debaters"


def twice_moderated() -> DebateStarted:
    return replace(a_start(), options=replace(a_start().options, swapped=True))


def test_what_came_of_asking_the_decider_again_is_counted_by_format() -> None:
    def other_winner(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, winner="wait") if isinstance(reply, Judgement) and ".swapped." in turn.id else reply

    def less_clear(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        wants = isinstance(reply, Moderation) and ".swapped." in turn.id
        return replace(reply, recommend_another_round=True) if wants else reply

    options = formats.plain("stances/1")
    name, of = "gainsay_order_checks_total", {"task_type": "contract", "format": "stances/1"}

    same = played(options)
    sensitive = played(options, other_winner)
    unchecked = played(options, fails=lambda turn, _: ".swapped." in turn)
    differs = added(lambda: observe_all(drive(twice_moderated(), less_clear)))
    once = played(replace(options, swapped=False))

    assert value(same, name, **of, result="same") == 1
    assert value(sensitive, name, **of, result="sensitive") == 1
    assert value(unchecked, name, **of, result="unchecked") == 1
    assert value(differs, name, task_type="contract", format="adversarial/1", result="differs") == 1
    assert not [key for key in once if key[0] == name]


def test_what_came_of_asking_the_decider_masked_is_counted_by_format() -> None:
    name, of = "gainsay_masked_checks_total", {"task_type": "contract", "format": "adversarial/1"}
    started = masking("adversarial/1")

    def counted(replies: Callable[[Turn, Facts], Reply], **how: Any) -> Any:
        return added(lambda: observe_all(drive(started, replies, **{"findings": flagged, **how})))

    same, none = counted(canned), counted(canned, findings=everything)
    sensitive = counted(otherwise(conclusion="rejected"))
    differs = counted(otherwise(recommend_another_round=True))
    unchecked = counted(canned, fails=lambda turn, _: is_masked(turn))

    assert value(same, name, **of, result="same") == 1
    assert value(sensitive, name, **of, result="sensitive") == 1
    assert value(differs, name, **of, result="differs") == 1
    assert value(unchecked, name, **of, result="unchecked") == 1
    assert not [key for key in none if key[0] == name]


def test_an_adjudicator_that_never_ends_a_panel_was_never_asked_again() -> None:
    def apart(turn: Turn, facts: Facts) -> Reply:
        return Adjudication(0, 0, 0, 0, "-") if turn.asks == "panel.adjudicator" else canned(turn, facts)

    found = played(replace(formats.plain("panel/1"), adjudicator="model", swapped=True), apart)

    assert not [key for key in found if key[0] == "gainsay_order_checks_total"]


def test_a_winner_is_counted_by_the_place_in_which_the_judge_saw_it_last() -> None:
    """Over seeds the place of a stance that always wins changes, for the order in a round is drawn."""
    options = replace(formats.plain("stances/1"), swapped=False)
    places: Counter[str] = Counter()

    for n in range(12):
        entries = drive(start_of(options, seed=f"{n:064x}"))
        judge = next(e for e in entries if isinstance(e, TurnAsked) and e.turn == "2.judge.1")
        move = decide(Facts.of(entries[: entries.index(judge)]))
        assert isinstance(move, Ask)
        last = [seen for seen in move.turns[0].sees if seen.startswith("2.")]
        place = ("first", "middle", "last")[last.index(TurnId("2.debater-1.1"))]

        found = added(lambda entries=entries: observe_all(entries))  # type: ignore[misc]

        assert value(found, "gainsay_judge_wins_total", model="birch-1", place=place) == 1
        places[place] += 1
    assert len(places) == 3


def test_a_verdict_for_no_single_stance_has_no_place() -> None:
    def nobody(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, winner=None) if isinstance(reply, Judgement) else reply

    found = played(formats.plain("stances/1"), nobody)

    assert not [key for key in found if key[0] == "gainsay_judge_wins_total"]


def test_votes_that_name_no_option_are_counted_as_abstentions() -> None:
    def undecided(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, vote="later") if isinstance(reply, Ballot) and turn.seat == "debater-3" else reply

    found = played(formats.plain("ballot/1"), undecided)

    assert value(found, "gainsay_votes_total", task_type="contract", read="abstention") == 8
    assert value(found, "gainsay_votes_total", task_type="contract", read="option") == 16


def test_consensus_its_rounds_and_what_lagged_are_counted() -> None:
    def agreeing(check: Check, facts: Facts) -> Finding:
        finding = everything(check, facts)
        if not isinstance(finding, ConsensusFound):
            return finding
        if check.id == "1/consensus":
            return replace(finding, lagging=("empirical_overlap",))
        return replace(finding, overall=900, terminated=True, lagging=())

    options = PanelOptions(3, 3, False, "business", "rules", formats.THRESHOLDS)
    found = played(options, findings=agreeing)
    none = played(options)
    of = {"task_type": "contract", "format": "panel/1"}

    lagged = {"question_type": "business", "dimension": "empirical_overlap", "by": "algorithmic"}
    assert value(found, "gainsay_consensus_lagging_total", **lagged) == 1
    assert value(found, "gainsay_consensus_score_sum", **of) == 0.9
    assert value(found, "gainsay_consensus_rounds_sum", **of) == 2
    assert value(none, "gainsay_consensus_lagging_total", **lagged) == 3
    assert value(none, "gainsay_consensus_score_sum", **of) == 0.5
    assert not [key for key in none if key[0].startswith("gainsay_consensus_rounds")]


def test_rounds_to_convergence_are_counted_from_the_independent_round() -> None:
    def converging(check: Check, facts: Facts) -> Finding:
        finding = everything(check, facts)
        ends = isinstance(finding, ConvergenceFound) and check.id == "1/convergence"
        return replace(finding, converged=True, why_not=()) if ends else finding

    found = played(formats.plain("convergence/1"), findings=converging)

    of = {"task_type": "contract", "format": "convergence/1"}
    assert value(found, "gainsay_consensus_rounds_sum", **of) == 1


@pytest.mark.parametrize("form", ["panel/1", "convergence/1"])
def test_voices_that_were_given_up_are_counted(form: str) -> None:
    found = played(formats.plain(form), fails=lambda turn, _: turn == "1.debater-2.1")

    assert value(found, "gainsay_missing_voices_total", task_type="contract", format=form) == 1


@pytest.mark.parametrize("form", sorted(FORMATS))
@settings(max_examples=15)
@given(seed=st.integers(0, 400), data=st.data())
def test_every_debate_of_every_format_is_counted_whole_whoever_recorded_its_parts(
    form: str, seed: int, data: st.DataObject
) -> None:
    entries = World(seed, failing=15, refusing=3).drive(start_of(data.draw(formats.options(form))))
    parts = data.draw(st.lists(st.integers(0, len(entries)), max_size=4))

    # A sum may be rounded to the one side or the other.
    assert added(lambda: observe_all(entries, parts)) == pytest.approx(added(lambda: observe_all(entries)), abs=2e-6)


def test_no_debate_is_counted_under_a_value_that_the_metric_does_not_declare() -> None:
    for path in recorded_files():
        observe_all([decode(line) for line in path.read_bytes().splitlines()])

    found = {
        (metric.name, label, sample.labels[label])
        for metric in LABELLED
        for label, known in metric.known.items()
        if isinstance(known, tuple) and known
        for collected in metric.metric.collect()
        for sample in collected.samples
        if sample.labels[label] not in known
    }

    assert found == set()
