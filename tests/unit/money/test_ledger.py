"""The money of one debate: a ledger that never passes its ceiling."""

from hypothesis import given
from hypothesis import strategies as st

from service.debate.entries import AttemptFailed, Charge, Entry, TurnSpoke
from service.debate.model import Turn
from service.debate.turns import TurnId
from service.money import Ledger, Refusal, Usage, charge
from tests.fixtures.debates import a_start, asked, drive, price_row, reply_for


def spoke(turn: TurnId, paid: Charge) -> Entry:
    return TurnSpoke(turn, 1, reply_for(Turn(turn, "framing")), paid)


@given(st.integers(0, 1_000), st.data())
def test_no_interleaving_of_calls_spends_past_the_ceiling(ceiling: int, data: st.DataObject) -> None:
    ledger, in_flight = Ledger(ceiling), dict[TurnId, int]()

    for n in range(data.draw(st.integers(0, 30))):
        if data.draw(st.booleans()) and in_flight:
            turn = data.draw(st.sampled_from(sorted(in_flight)))
            amount: int = data.draw(st.integers(0, in_flight.pop(turn)))
            paid = Charge(amount, "usage")
            failed: bool = data.draw(st.booleans())
            ledger = ledger.add(AttemptFailed(turn, 1, "overload", "busy", paid) if failed else spoke(turn, paid))
        else:
            turns = {
                TurnId(f"1.t{n}x{i}.1"): data.draw(st.integers(0, 300)) for i in range(data.draw(st.integers(1, 4)))
            }
            if ledger.refuse(turns.values(), data.draw(st.lists(st.integers(0, 100), max_size=2))) is None:
                for turn, worst in turns.items():
                    ledger = ledger.add(asked(turn, held=worst))
                in_flight |= turns

        assert ledger.spent + sum(in_flight.values()) <= ceiling
        assert ledger.remaining == ceiling - ledger.spent - sum(in_flight.values()) >= 0


def test_a_closing_turn_is_held_although_it_is_not_asked_yet() -> None:
    ledger = Ledger(100)

    assert ledger.refuse([60], [40]) is None
    assert ledger.refuse([60], [41]) == Refusal("debateCeiling", 101, 100)
    assert ledger.refuse([30, 30], [40]) is None
    assert ledger.refuse([30, 30, 1], [40]) == Refusal("debateCeiling", 101, 100)


def test_what_is_in_flight_is_not_left() -> None:
    ledger = Ledger(100).add(asked(TurnId("1.a.1"), held=40)).add(asked(TurnId("1.b.1"), held=40))

    assert ledger.remaining == 20
    assert ledger.refuse([21]) == Refusal("debateCeiling", 21, 20)
    assert ledger.add(spoke(TurnId("1.a.1"), Charge(10, "usage"))).remaining == 50


def test_the_rest_of_a_reservation_comes_back_when_it_is_settled() -> None:
    ledger = Ledger(100).add(asked(TurnId("1.a.1"), held=100))

    settled = ledger.add(spoke(TurnId("1.a.1"), Charge(1, "usage")))

    assert (settled.spent, settled.remaining, dict(settled.held)) == (1, 99, {})


def test_a_vendor_that_bills_above_the_reservation_is_charged_in_full_and_ends_the_asking() -> None:
    price = price_row(1_000_000, 1_000_000, 0, 0, 0)
    ledger = Ledger(100).add(asked(TurnId("1.a.1"), held=40))

    paid = charge(Usage(50, 60), 40, price)
    over = ledger.add(spoke(TurnId("1.a.1"), paid))

    assert (paid.amount, paid.excess) == (110, 70)
    assert (over.spent, over.excess, over.remaining) == (40, 70, -10)
    assert over.refuse([0]) == Refusal("providerOverrun", 0, -10)


def test_a_small_overrun_ends_the_asking_too_although_money_is_left() -> None:
    ledger = (
        Ledger(1_000).add(asked(TurnId("1.a.1"), held=40)).add(spoke(TurnId("1.a.1"), Charge(41, "usage", excess=1)))
    )

    assert ledger.remaining == 959
    assert ledger.refuse([1]) == Refusal("providerOverrun", 1, 959)


@given(st.integers(1, 100), st.integers(0, 300))
def test_spent_and_excess_are_together_what_was_charged(held: int, amount: int) -> None:
    paid = Charge(amount, "usage", excess=max(0, amount - held))

    ledger = Ledger(1_000).add(asked(TurnId("1.a.1"), held=held)).add(spoke(TurnId("1.a.1"), paid))

    assert ledger.spent + ledger.excess == amount
    assert ledger.spent <= held


def test_a_ledger_is_folded_from_the_entries_of_a_debate() -> None:
    entries = drive(a_start(ceiling=77_000))

    ledger = Ledger.of(entries)

    assert ledger.ceiling == 77_000
    assert ledger.spent == sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke)) == 5 * 3_000
    assert dict(ledger.held) == {}


def test_a_ledger_is_a_value_and_adding_leaves_the_old_one_as_it_was() -> None:
    before = Ledger(100).add(asked(TurnId("1.a.1"), held=10))

    before.add(asked(TurnId("1.b.1"), held=10))
    before.add(spoke(TurnId("1.a.1"), Charge(5, "usage")))

    assert (before.spent, dict(before.held)) == (0, {"1.a.1": 10})
