"""Seats that think alike, in every format: by the models that spoke, one rule for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from service.debate.alike import Identity, nearness, same_name
from service.debate.entries import DebateStarted, Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.formats import FormatName
from service.debate.kernel import CURRENT, decide, replay
from service.debate.model import AdversarialOptions, Conclude, Diversity, Options, Outcome, SeatPlan, TurnId, seat_of
from service.debate.options import (
    BallotOptions,
    ConvergenceOptions,
    Debater,
    StancesOptions,
    debater_seats,
)
from tests.fixtures.debates import a_case, a_plan, a_start, drive, outcome, start_of
from tests.fixtures.panels import a_panel, agreeing, debated

DEBATERS = tuple(Debater(name, f"stance {name}") for name in ("Ada", "Ben", "Cy"))
VOTES = ("release", "revise", "escalate")
OPTIONS: Mapping[FormatName, Options] = {
    "adversarial": a_start().options,
    "stances": StancesOptions(DEBATERS, 1, human_review=False),
    "ballot": BallotOptions(DEBATERS, 1, human_review=False, votes=VOTES, consensus_threshold=2),
    "panel": a_panel(3, mode="manual").options,
    "convergence": ConvergenceOptions(3, 1, human_review=False),
}
NEAR = ("criticOnProposersModel", "deciderOnWeighedModel", "moderatorOfProposersFamily", "deciderOfDebatersFamily")
ALIKE = (*NEAR, "oneModel", "oneFamily", "criticOfProposersFamily")


def named(plan: SeatPlan, model: str, family: str | None = None, name: str | None = None) -> SeatPlan:
    """A plan with another model."""
    return replace(plan, model=model, model_name=name or model, family=family or model.partition("-")[0])


def seated(format_: FormatName, models: Mapping[str, str], **members: Any) -> DebateStarted:
    """A start of a format, each seat on a family of its own, but for those named with another model."""
    options = OPTIONS[format_]
    started = a_start() if format_ == "adversarial" else start_of(options)
    plans = tuple(
        named(a_plan(plan.seat, "none"), models.get(plan.seat, f"family{i}-1")) for i, plan in enumerate(started.seats)
    )
    return replace(started, seats=plans, **members)


def played(started: DebateStarted, **others: Any) -> list[Entry]:
    return debated(started, agreeing, **others) if started.format == "panel/1" else drive(started, **others)


def near(end: Outcome) -> tuple[set[str], set[str]]:
    """The caps and the flags that tell of seats that think alike."""
    return {cap.reason for cap in end.caps} & set(ALIKE), set(end.flags) & set(ALIKE)


def everyone(format_: FormatName, model: str) -> dict[str, str]:
    """All debaters on one model."""
    return dict.fromkeys(debater_seats(OPTIONS[format_]), model)


# -- the departures, as they were found


def test_a_panel_of_three_copies_of_one_model_is_never_highly_sure() -> None:
    end = outcome(played(seated("panel", everyone("panel", "m1"))))

    assert end.status == "completed"
    assert near(end) == ({"oneModel"}, {"oneModel", "oneFamily"})
    assert end.confidence_level != "HIGH"
    assert "oneModel" in end.human_review.reasons


def test_a_panel_of_models_of_one_family_is_never_highly_sure() -> None:
    end = outcome(played(seated("panel", {"debater-1": "oak-1", "debater-2": "oak-2", "debater-3": "oak-3"})))

    assert near(end) == ({"oneFamily"}, {"oneFamily"})
    assert end.confidence_level != "HIGH"
    assert end.human_review.required


def test_a_moderator_on_the_critics_model_is_never_highly_sure() -> None:
    end = outcome(played(seated("adversarial", {"critic": "elm-1", "moderator": "elm-1"})))

    assert near(end) == ({"deciderOnWeighedModel"}, set())
    assert (end.confidence_level, end.human_review.reasons) == ("MODERATE", ("deciderOnWeighedModel",))


def test_a_critic_on_the_proposers_model_is_never_highly_sure() -> None:
    end = outcome(played(seated("adversarial", {"critic": "oak-1", "proposer": "oak-1"})))

    assert near(end) == ({"criticOnProposersModel"}, {"criticOfProposersFamily"})
    assert (end.confidence_level, end.human_review.reasons) == ("MODERATE", ("criticOnProposersModel",))


# -- the rule, format by format


def test_every_format_gives_its_seats_their_parts() -> None:
    assert {*OPTIONS} == {*get_args(FormatName)}
    for format_, options in OPTIONS.items():
        table = CURRENT[format_].table(options)
        roles = table.roles
        assert {*roles.weighed, *roles.deciders, *roles.table} <= {*table.seats}
        assert {*roles.proposers, *roles.critics, *roles.rebuttals} <= {*roles.weighed}
        assert {*debater_seats(options)} <= {*roles.table}
        assert not {*roles.deciders} & {*roles.weighed}


@pytest.mark.parametrize("format_", OPTIONS)
def test_seats_of_distinct_families_think_apart(format_: FormatName) -> None:
    assert near(outcome(played(seated(format_, {})))) == (set(), set())


@pytest.mark.parametrize("format_", ["stances", "ballot", "panel", "convergence"])
def test_debaters_of_one_model_or_one_family_cap_every_format(format_: FormatName) -> None:
    families = {seat: f"oak-{i}" for i, seat in enumerate(debater_seats(OPTIONS[format_]))}

    assert near(outcome(played(seated(format_, everyone(format_, "oak-1"))))) == (
        {"oneModel"},
        {"oneModel", "oneFamily"},
    )
    assert near(outcome(played(seated(format_, families)))) == ({"oneFamily"}, {"oneFamily"})
    assert near(outcome(played(seated(format_, {**families, "debater-3": "elm-1"})))) == (set(), set())


def test_one_family_in_all_seats_of_an_adversarial_debate() -> None:
    models = {"proposer": "oak-1", "critic": "oak-2", "rebuttal": "oak-3"}

    apart = near(outcome(played(seated("adversarial", models))))
    whole = near(outcome(played(seated("adversarial", {**models, "moderator": "oak-4"}))))

    assert apart == (set(), {"criticOfProposersFamily"})
    assert whole == ({"moderatorOfProposersFamily", "oneFamily"}, {"criticOfProposersFamily", "oneFamily"})


@pytest.mark.parametrize(
    ("models", "caps", "flags"),
    [
        ({"critic": "oak-1", "proposer": "oak-2"}, set(), {"criticOfProposersFamily"}),
        ({"critic": "oak-1", "rebuttal": "oak-1"}, set(), {"criticOfProposersFamily"}),
        ({"moderator": "oak-1", "critic": "oak-2"}, set(), set()),
        ({"moderator": "oak-1", "rebuttal": "oak-1"}, {"deciderOnWeighedModel"}, set()),
        ({"moderator": "oak-1", "proposer": "oak-2"}, {"moderatorOfProposersFamily"}, set()),
        (
            {"moderator": "oak-1", "proposer": "oak-1"},
            {"moderatorOfProposersFamily", "deciderOnWeighedModel"},
            set(),
        ),
        ({"moderator": "oak-1", "framing": "oak-1"}, set(), set()),
        ({"critic": "oak-1", "framing": "oak-1"}, set(), set()),
    ],
)
def test_who_thinks_like_whom_in_an_adversarial_debate(models: dict[str, str], caps: set[str], flags: set[str]) -> None:
    assert near(outcome(played(seated("adversarial", models)))) == (caps, flags)


@pytest.mark.parametrize("format_", ["stances", "convergence"])
def test_a_judge_on_a_debaters_model(format_: FormatName) -> None:
    same = near(outcome(played(seated(format_, {"judge": "oak-1", "debater-2": "oak-1"}))))
    related = near(outcome(played(seated(format_, {"judge": "oak-1", "debater-2": "oak-2"}))))

    assert same == ({"deciderOnWeighedModel", "deciderOfDebatersFamily"}, set())
    assert related == ({"deciderOfDebatersFamily"}, set())


def test_an_adjudicator_or_synthesizer_of_a_debaters_family() -> None:
    for seat in ("adjudicator", "synthesizer"):
        started = start_of(a_panel(3, adjudicator="model", mode="manual").options)
        models = {seat: "oak-2", "debater-2": "oak-1"}
        plans = tuple(named(p, models.get(p.seat, f"family{i}-1")) for i, p in enumerate(started.seats))
        assert near(outcome(played(replace(started, seats=plans)))) == ({"deciderOfDebatersFamily"}, set())


def test_several_positions_share_a_proposer_and_its_model() -> None:
    started = seated("adversarial", {"critic": "oak-1", "proposer": "oak-1"})
    options = a_start(positions=("adopt", "wait")).options

    assert near(outcome(played(replace(started, options=options))))[0] == {"criticOnProposersModel"}


# -- the models that really spoke


def with_fallback(started: DebateStarted, seat: str, model: str, family: str | None = None) -> DebateStarted:
    """The seat with a fallback."""
    plan = started.seat(seat)
    backed = replace(plan, fallback=named(plan, model, family))
    return replace(started, seats=tuple(backed if p.seat == seat else p for p in started.seats))


def spoken(started: DebateStarted, by: Callable[[TurnId], str | None]) -> Outcome:
    """How the debate ends if these models answered in the place of the seats' own."""
    *entries, _ = played(started)
    asked = [replace(e, model=by(e.turn) or e.model) if isinstance(e, TurnAsked) else e for e in entries]
    replay(a_case(), asked)
    move = decide(Facts.of(asked))
    assert isinstance(move, Conclude)
    return move.outcome


def test_a_fallback_that_spoke_makes_two_seats_one_model() -> None:
    started = with_fallback(seated("adversarial", {"proposer": "oak-1"}), "critic", "oak-1")

    assert near(outcome(played(started))) == (set(), set())
    spoke = spoken(started, lambda turn: "oak-1" if seat_of(turn) == "critic" else None)
    assert near(spoke) == ({"criticOnProposersModel"}, {"criticOfProposersFamily"})


def test_a_fallback_that_spoke_in_one_round_only_counts() -> None:
    started = with_fallback(seated("convergence", {"debater-1": "oak-1", "debater-3": "oak-1"}), "debater-2", "oak-1")
    late = spoken(started, lambda turn: "oak-1" if turn == "1.debater-2.1" else None)

    assert near(outcome(played(started))) == (set(), set())
    assert near(late) == ({"oneModel"}, {"oneModel", "oneFamily"})


def test_one_fallback_that_spoke_in_every_seat_makes_the_table_one_model() -> None:
    started = seated("convergence", {})
    for seat in debater_seats(OPTIONS["convergence"]):
        started = with_fallback(started, seat, "oak-1")

    late = spoken(started, lambda turn: "oak-1" if turn.startswith("1.debater") else None)
    of_two = spoken(started, lambda turn: "oak-1" if turn in ("1.debater-1.1", "1.debater-2.1") else None)

    assert near(late) == ({"oneModel"}, {"oneModel", "oneFamily"})
    assert near(of_two) == (set(), set())


def test_a_fallback_in_the_second_order_of_the_decider_counts() -> None:
    started = seated("adversarial", {"critic": "elm-1"})
    assert isinstance(started.options, AdversarialOptions)
    options = replace(started.options, swapped=True)
    started = with_fallback(replace(started, options=options), "moderator", "elm-1")
    again = spoken(started, lambda turn: "elm-1" if turn == TurnId("1.moderator.swapped.1") else None)

    assert near(outcome(played(started))) == (set(), set())
    assert near(again)[0] == {"deciderOnWeighedModel"}


def test_a_model_that_was_planned_and_never_spoke_does_not_count() -> None:
    started = with_fallback(seated("adversarial", {"proposer": "oak-1", "critic": "oak-1"}), "critic", "elm-1")
    spoke = spoken(started, lambda turn: "elm-1" if seat_of(turn) == "critic" else None)

    assert near(spoke) == (set(), set())


def test_where_no_model_spoke_the_plan_counts() -> None:
    started = seated("adversarial", {"proposer": "oak-1", "critic": "oak-1"})

    end = outcome(played(started, fails=lambda turn, _nth: seat_of(turn) == "proposer"))

    assert end.status == "failed"
    assert "criticOnProposersModel" in {cap.reason for cap in end.caps}


# -- one model under several names

SAME_NAMES = [
    ("gpt-4.1", "gpt-4.1"),
    ("gpt-4.1", "gpt-4.1-2025-04-14"),
    ("openai/gpt-4.1", "gpt-4.1-2025-04-14"),
    ("GPT-4.1", "gpt-4-1"),
    ("claude-sonnet-4-20250514", "us.anthropic.claude-sonnet-4-20250514-v1:0"),
    ("claude-sonnet-4@20250514", "anthropic/claude-sonnet-4"),
    ("anthropic/claude-3.5-sonnet", "claude-3-5-sonnet-latest"),
    ("command-r-08-2024", "command-r"),
    ("gpt-4-0613", "gpt-4"),
    ("llama3.1:8b", "llama3.1-8b"),
]
OTHER_NAMES = [
    ("gpt-4.1", "gpt-4.1-mini"),
    ("gpt-4.1-2025-04-14", "gpt-4.1-mini-2025-04-14"),
    ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
    ("claude-sonnet-4-5", "claude-sonnet-4-6"),
    ("llama3.1:8b", "llama3.1:70b"),
    ("gemini-2.5-pro", "gemini-2.5-flash"),
    ("oak-1", "oak-2"),
]


@pytest.mark.parametrize(("one", "other"), SAME_NAMES)
def test_two_providers_may_serve_one_model_under_two_names(one: str, other: str) -> None:
    assert same_name(one, other)
    assert same_name(other, one)
    assert nearness(Identity("a", one, "maker"), Identity("b", other, "maker")) == "sameModel"
    assert nearness(Identity("a", one, "maker"), Identity("b", other, "another")) == "crossFamily"


@pytest.mark.parametrize(("one", "other"), OTHER_NAMES)
def test_other_sizes_and_other_versions_are_other_models(one: str, other: str) -> None:
    found: Diversity = nearness(Identity("a", one, "maker"), Identity("b", other, "maker"))

    assert found == "sameFamily"


def test_a_debate_sees_one_model_behind_two_providers() -> None:
    started = seated("adversarial", {})
    names = {"proposer": "gpt-4.1-2025-04-14", "critic": "openai/gpt-4.1"}
    plans = tuple(
        named(plan, f"{plan.seat}-alias", "gpt", names[plan.seat]) if plan.seat in names else plan
        for plan in started.seats
    )

    assert near(outcome(played(replace(started, seats=plans))))[0] == {"criticOnProposersModel"}


def test_a_ballot_counts_models_and_not_their_aliases() -> None:
    started = seated("ballot", {})
    plans = tuple(named(plan, f"alias-{i}", "oak", "oak-1") for i, plan in enumerate(started.seats))

    end = outcome(played(replace(started, seats=plans)))

    assert (getattr(end.result, "models", None), near(end)[0]) == (1, {"oneModel"})
