"""What a result and its report tell of money: who was asked when, what was held and charged, against the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.amounts import micro
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    Charge,
    DebateStarted,
    Entry,
    TurnAsked,
    TurnSpoke,
)
from service.debate.model import Pair
from service.debate.turns import TurnId
from service.money import Usage
from service.report import Line, build_result, events, html, markdown, pdf
from service.report.result.account import ratio
from service.report.result.bill import Account, Charged
from service.report.result.types import Result
from tests.fixtures.debates import TURN_COST, World, a_plan, a_start, asked, drive

CRITIC = TurnId("1.critic.1")
ESTIMATES = {"framing": 1_000, "proposer": 4_000, "critic": 6_000, "rebuttal": 2_000, "moderator": 2_000}


def a_dear_start() -> DebateStarted:
    """A debate whose critic has a fallback, with estimates and pairs."""
    start = a_start()
    seats = tuple(replace(p, fallback=a_plan("critic", "birch")) if p.seat == "critic" else p for p in start.seats)
    pairs = (Pair(("moderator", "critic"), "crossFamily"), Pair(("critic", "proposer"), "sameModel"))
    return replace(start, seats=seats, pairs=pairs, expected_by_seat=ESTIMATES)


def lines(entries: Sequence[Entry]) -> list[Line]:
    return [Line(n, f"2026-11-21T10:00:{n % 60:02d}Z", entry) for n, entry in enumerate(entries)]


def told(entries: Sequence[Entry]) -> Result:
    return build_result("d1", lines(entries))


def hard_attempts() -> list[Entry]:
    """The critic's own model answers in a shape that cannot be used, twice; its fallback speaks and tells no usage."""
    plain = drive(a_dear_start(), used=lambda _: Usage(100, 10))
    at = next(n for n, e in enumerate(plain) if isinstance(e, TurnAsked) and e.turn == CRITIC)
    spoke = plain[at + 1]
    assert isinstance(spoke, TurnSpoke)
    told_usage = Charge(700, "usage", 500, 0, 0, 50, cache_write_1h_tokens=40, tier="priority")
    return [
        *plain[:at],
        asked(CRITIC, 1),
        AttemptFailed(CRITIC, 1, "malformedReply", "no thesis", told_usage, request_id="req_1", served_model="oak-1b"),
        asked(CRITIC, 2),
        AttemptFailed(CRITIC, 2, "malformedReply", "no thesis", Charge(0, "none"), final=True),
        asked(CRITIC, 3, held=2_500, model="birch-1"),
        replace(spoke, attempt=3, charge=Charge(2_500, "reserved"), fingerprint="fp_9"),
        *plain[at + 2 :],
    ]


HARD = told(hard_attempts())


def test_every_attempt_is_a_row_with_who_was_asked_what_was_held_and_what_came_of_it() -> None:
    rows = [a for a in HARD.attempts if a.turn == CRITIC]

    assert [(a.attempt, a.model, a.held_usd, a.amount_usd, a.basis, a.outcome) for a in rows] == [
        (1, "elm-1", "0.003", "0.0007", "usage", "malformedReply"),
        (2, "elm-1", "0.003", "0.00", "none", "malformedReply"),
        (3, "birch-1", "0.0025", "0.0025", "reserved", "spoke"),
    ]
    assert [(a.served_model, a.request_id, a.fingerprint) for a in rows] == [
        ("oak-1b", "req_1", None),
        (None, None, None),
        (None, None, "fp_9"),
    ]
    assert {a.input_tokens_counted for a in rows} == {1_000}
    assert len(HARD.attempts) == 7


def test_a_seat_is_told_with_its_estimate_and_what_its_charges_rest_on() -> None:
    critic = HARD.overall_cost.by_seat["critic"]

    assert (critic.amount_usd, critic.expected_usd, critic.actual_to_estimate) == ("0.0032", "0.006", "0.533")
    assert critic.by_basis.usage == Charged(attempts=1, amount_usd="0.0007")
    assert critic.by_basis.reserved == Charged(attempts=1, amount_usd="0.0025")
    assert critic.by_basis.none == Charged(attempts=1, amount_usd="0.00")
    assert (critic.tokens.cache_write_1h, critic.tiers) == (40, ("priority",))


def test_models_have_accounts_of_their_own_when_a_fallback_spoke() -> None:
    by_model = HARD.overall_cost.by_model

    assert {name: a.attempts for name, a in by_model.items()} == {"oak-1": 3, "elm-1": 2, "birch-1": 2}
    assert by_model["birch-1"].by_basis.reserved.amount_usd == "0.0025"


def test_another_model_and_a_repair_are_noticed_and_so_is_a_charge_of_all_that_was_held() -> None:
    found = [(n.notice, n.reason) for n in HARD.notices if n.turns == (CRITIC,) and n.notice != "critiqueChecked"]

    assert found == [
        ("attemptFailed", "malformedReply"),
        ("repairAsked", "malformedReply"),
        ("attemptFailed", "malformedReply"),
        ("fallbackUsed", "malformedReply"),
        ("chargedAsHeld", "reserved"),
    ]


def test_the_stream_says_why_an_attempt_is_made() -> None:
    whole = lines(hard_attempts())
    found = [event for line in whole for event in events(line, "d1", whole[: line.n])]

    asked_events = [event.data for event in found if event.name == "asked"]

    assert [data["why"] for data in asked_events if data["turn"] == CRITIC] == ["first", "repair", "fallback"]


def test_a_fallback_that_is_asked_at_once_is_noticed_too() -> None:
    """The seat's own model may be left alone after too many failures of its vendor, and is then not asked at all."""
    plain = drive(a_dear_start())
    at = next(n for n, e in enumerate(plain) if isinstance(e, TurnAsked) and e.turn == CRITIC)

    found = told([*plain[:at], asked(CRITIC, model="birch-1"), *plain[at + 1 :]]).notices

    (notice,) = [n for n in found if n.notice == "fallbackUsed"]
    assert notice.reason == "paused"
    assert notice.detail.startswith("birch-1 is asked in the place of elm-1")


def test_a_seat_that_was_not_reached_keeps_its_estimate() -> None:
    truncated = told(drive(a_dear_start(), refuses=lambda turns: "1.rebuttal.1" in turns))

    rebuttal = truncated.overall_cost.by_seat["rebuttal"]
    assert (rebuttal.attempts, rebuttal.amount_usd, rebuttal.expected_usd) == (0, "0.00", "0.002")
    assert rebuttal.actual_to_estimate == "0.000"


def test_older_records_without_estimates_per_seat_have_none() -> None:
    plain = told(drive(a_start())).overall_cost

    assert {(a.expected_usd, a.actual_to_estimate) for a in plain.by_seat.values()} == {(None, None)}
    assert plain.actual_to_estimate == "1.000"


def test_money_under_way_is_held_at_its_seat_its_round_and_its_model_and_not_charged_yet() -> None:
    entries = drive(a_dear_start())
    at = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == CRITIC)

    now = told(entries[: at + 1])

    cost = now.overall_cost
    accounts = (cost.by_seat["critic"], cost.by_round["1"], cost.by_seat_and_round["critic"]["1"])
    assert {a.held_usd for a in accounts} == {cost.held_usd} == {"0.00325"}
    assert cost.by_round["0"].held_usd == "0.00"
    last = now.attempts[-1]
    assert (last.outcome, last.amount_usd, last.basis) == ("open", None, None)


@pytest.mark.parametrize(
    ("actual", "estimate", "said"),
    [
        (1, 3, "0.333"),
        (2, 3, "0.667"),
        (1, 2_000, "0.001"),
        (999, 2_000_000, "0.000"),
        (1_000, 2_000_000, "0.001"),
        (7, 2, "3.500"),
        (0, 5, "0.000"),
        (5, 0, None),
        (5, None, None),
    ],
)
def test_a_ratio_is_rounded_half_up_to_a_thousandth(actual: int, estimate: int | None, said: str | None) -> None:
    assert ratio(actual, estimate) == said


def _sum(accounts: Sequence[Account]) -> tuple[int, int, int]:
    return (
        sum(micro(a.amount_usd) for a in accounts),
        sum(micro(a.held_usd) for a in accounts),
        sum(a.attempts for a in accounts),
    )


worlds = st.builds(World, st.integers(0, 10_000), failing=st.integers(0, 30))


@given(worlds, st.data())
def test_seats_rounds_models_the_matrix_and_the_attempts_always_have_the_same_sums(
    world: World, data: st.DataObject
) -> None:
    entries = world.drive(a_start(max_rounds=2, ceiling=100_000))

    found = told(entries[: data.draw(st.integers(3, len(entries)))])

    cost = found.overall_cost
    whole = (
        micro(cost.spent_usd) + micro(cost.excess_usd),
        micro(cost.held_usd),
        len(found.attempts),
    )
    matrix = [cell for cells in cost.by_seat_and_round.values() for cell in cells.values()]
    for accounts in (cost.by_seat, cost.by_round, cost.by_model):
        assert _sum(list(accounts.values())) == whole
    assert _sum(matrix) == whole
    assert sum(micro(a.amount_usd or "0") for a in found.attempts) == whole[0]
    bases = (cost.by_basis.usage, cost.by_basis.reserved, cost.by_basis.none)
    assert sum(micro(b.amount_usd) for b in bases) == whole[0]
    assert sum(b.attempts for b in bases) == sum(a.outcome != "open" for a in found.attempts)


# -- the report


@pytest.mark.parametrize(
    "said",
    [
        "| Critic | 3 | 2 | 540 | 50 | 0.0032 | 0.006 | 0.533 |",
        "| birch-1 | 2 | 0 |",
        "| as held | 1 | 0.0025 |",
        "| nothing used | 1 | 0.00 |",
        "- **Service tiers billed:** priority",
        "written to an hour's cache 40",
        "- Moderator and critic: models of different families",
        "- Critic and proposer: the same model",
        "| Critic | elm-1 | elm-1 | not told | elm | scripted | offline | birch-1 |",
        "| 1.critic.1 | 1 | elm-1 | malformed reply | 1,000 | 0.003 | 0.0007 | usage told |",
        "| 1.critic.1 | 1 | oak-1b | req\\_1 | not told |",
        "| Another model was asked in a seat's place | 1.critic.1 |",
        "| A reply that could not be used was asked for again | 1.critic.1 |",
    ],
)
def test_the_report_shows(said: str) -> None:
    assert said in markdown(HARD)


def test_what_is_held_is_shown_while_anything_is() -> None:
    entries = drive(a_dear_start())
    at = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == CRITIC)

    assert "| Critic | 1 | 0 | 0 | 0 | 0.00 | 0.00325 | 0.006 | 0.000 |" in markdown(told(entries[: at + 1]))
    assert "| Held |" not in markdown(HARD)


def test_every_rendering_has_the_attempts() -> None:
    assert '<h2 id="attempts-title">Appendix E: Attempts</h2>' in html(HARD)
    assert pdf(HARD).startswith(b"%PDF")


def test_a_matrix_of_seats_and_rounds_is_shown_once_there_is_more_than_one_round() -> None:
    def once_more(world: World) -> str:
        return markdown(told(world.drive(a_start(max_rounds=2))))

    assert "| Seat | Before round 1 | Round 1 | Round 2 |" in once_more(World(1, another=100))
    assert "By seat and round" not in markdown(HARD)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("debateCeiling", "USD is left |"),
        ("tenantDay", "under the tenant's limit for the day |"),
        ("tenantMonth", "under the tenant's limit for the month |"),
        ("providerOverrun", "| a vendor billed more than was held for it, and after that nobody is asked |"),
        ("newLimit", "under newLimit |"),
    ],
)
def test_a_refusal_names_its_limit_in_words(limit: str, words: str) -> None:
    entries = drive(a_start(), refuses=lambda turns: "1.rebuttal.1" in turns)
    named = [replace(e, limit=limit) if isinstance(e, BudgetRefused) else e for e in entries]

    assert words in markdown(told(named))


def test_seats_stand_in_the_order_of_the_table_also_where_they_were_not_asked() -> None:
    sorted_by_name = dict(sorted(ESTIMATES.items()))
    start = replace(a_dear_start(), expected_by_seat=sorted_by_name)

    cost = told(drive(start, refuses=lambda turns: "1.proposer.1" in turns)).overall_cost

    assert list(cost.by_seat) == [plan.seat for plan in start.seats] != list(sorted_by_name)


def test_a_failed_attempt_that_was_billed_above_what_was_held_is_an_overrun() -> None:
    plain = drive(a_start())
    at = next(n for n, e in enumerate(plain) if isinstance(e, TurnAsked) and e.turn == CRITIC)
    dear = AttemptFailed(CRITIC, 1, "malformedReply", "no thesis", Charge(TURN_COST + 5, "usage", 9, excess=5))

    found = told([*plain[: at + 1], dear]).notices

    assert [(n.notice, n.detail) for n in found] == [
        ("providerOverrun", "malformedReply: no thesis; billed 0.000005 USD above what was held")
    ]


@pytest.mark.parametrize(
    ("charge", "usage", "why"),
    [
        (Charge(TURN_COST, "reserved"), None, "the provider did not tell what was used"),
        (
            Charge(TURN_COST, "reserved"),
            {"prompt_tokens": -5, "completion_tokens": 20},
            "what the provider reported cannot be true, or has no price; the record has it",
        ),
        (
            Charge(TURN_COST, "reserved", 900, output_tokens=20, tier="flex"),
            {"prompt_tokens": 900, "completion_tokens": 20, "service_tier": "flex"},
            "what was used has no price",
        ),
    ],
)
def test_a_charge_of_all_that_was_held_says_why(charge: Charge, usage: dict[str, Any] | None, why: str) -> None:
    entries = [
        replace(e, charge=charge, usage=usage) if isinstance(e, TurnSpoke) and e.turn == CRITIC else e
        for e in drive(a_start())
    ]

    (notice,) = [n for n in told(entries).notices if n.notice == "chargedAsHeld"]

    assert notice.detail == f"0.003 USD, all that was held: {why}"


@pytest.mark.parametrize(
    ("asked_for", "served", "noticed"),
    [
        ("gpt-4.1-2025-04-14", "gpt-3.5-turbo", True),
        ("gpt-4.1", "gpt-4.1-2025-04-14", False),
        ("anthropic/claude-sonnet-4-6", "claude-sonnet-4-6", False),
        ("claude-sonnet-4-6", "Claude-Sonnet-4-6", False),
        ("gpt-4.1", None, False),
        ("gpt-4.1", "openai/GPT-4.1-2025-04-14", False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4o-mini", "gpt-4o", True),
        ("gpt-4o-2024-11-20", "gpt-4o-2024-05-13", True),
        ("claude-sonnet-4", "claude-sonnet-4-5-20250929", True),
        ("gpt-4.1", "g", True),
    ],
)
def test_a_model_that_nobody_asked_for_is_noticed(asked_for: str, served: str | None, noticed: bool) -> None:
    started = a_dear_start()
    seats = tuple(replace(plan, model_name=asked_for) if plan.seat == "critic" else plan for plan in started.seats)
    entries = [
        replace(e, served_model=served) if isinstance(e, TurnSpoke) and e.turn == CRITIC else e
        for e in drive(replace(started, seats=seats))
    ]

    found = [n for n in told(entries).notices if n.notice == "servedModelDiffers"]

    assert [n.turns for n in found] == ([(CRITIC,)] if noticed else [])
    assert all(served in n.detail and asked_for in n.detail for n in found if served)
