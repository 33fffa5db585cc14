"""A decider whose first reply cannot be used is asked again with whatever money is left: nothing comes before it."""

import pytest
from msgspec.structs import replace

from service.debate.entries import BudgetRefused, DebateStarted
from service.debate.facts import Facts
from service.debate.kernel import FORMATS
from service.debate.model import Turn
from service.debate.replies import Reply
from service.money import worst_case
from tests.fixtures import formats
from tests.fixtures.debates import INPUT_TOKENS, a_plan, a_start, canned, drive, outcome

HELD = worst_case(INPUT_TOKENS, a_plan("judge", "oak"))


def _start(form: str, ceiling: int) -> DebateStarted:
    options = formats.plain(form)
    seats = tuple(a_plan(seat, f"wood{i}") for i, seat in enumerate(FORMATS[form].table(options).seats))
    return replace(a_start(), format=form, options=options, seats=seats, ceiling=ceiling)


@pytest.mark.parametrize(
    ("form", "decider"), [("stances/1", "2.judge.1"), ("panel/1", "3.synthesizer.1"), ("convergence/1", "2.judge.1")]
)
def test_a_decider_is_refused_only_where_the_money_for_itself_is_gone(form: str, decider: str) -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return formats.unfit(reply) if turn.id == decider and facts.attempts[turn.id] == 1 else reply

    decided = 0
    for ceiling in range(20_000, 60_000, 1_000):
        entries = drive(_start(form, ceiling), replies)
        refused = [e for e in entries if isinstance(e, BudgetRefused) and decider in e.turns]
        assert all(refusal.left < HELD for refusal in refused), ceiling
        decided += outcome(entries).final_turn == decider
    assert decided
