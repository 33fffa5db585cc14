"""Who sits where: every format's table, over pools, demands of policy, and models that a case names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Diversity,
    Options,
    PanelOptions,
    SeatPlan,
    StancesOptions,
)
from service.errors import InvalidCase
from service.policy import Policy, seating
from service.policy.seating import SEATINGS, Seating
from tests.unit.policy.test_seating import a_policy
from tests.vectors.goldens import Golden, file_of, lines

DAY = "2026-11-21"
DEBATERS = tuple(Debater(f"n{i}", "x") for i in range(3))
OPTIONS: Mapping[str, Options] = {
    "adversarial": AdversarialOptions(1, 1, 1, human_review=False),
    "stances": StancesOptions(DEBATERS, 2, human_review=False, swapped=True),
    "ballot": BallotOptions(DEBATERS, 2, ("sign", "wait"), 2, human_review=False),
    "panel": PanelOptions(
        3, 3, human_review=False, question_type="factual", typed_by="classifier", thresholds={}, adjudicator="model"
    ),
    "convergence": ConvergenceOptions(3, 2, human_review=False),
}
POOLS = ("a1,a2,b1,b2", "a1,b1,c1", "c1,c2,d1,a1", "a1", "a1,a2", "d1,b1/a1", "a1,a2,b1,c1/b2")
SEATS = (
    {"proposer": "a1", "critic": "b1", "rebuttal": "a2", "moderator": "c1"},
    {"proposer": "a1,b1/a2", "critic": "a2,b2/c1", "rebuttal": "a1/b1", "moderator": "a1,b1,c1,d1/c2"},
    {"proposer": "a1/a2", "critic": "a1/a2", "rebuttal": "a2", "moderator": "a1,a2/b1"},
    {"proposer": "a1,a2,b1,b2,c1", "critic": "a1,a2,b1,b2,c1", "rebuttal": "a1", "moderator": "a1,a2,b1,b2,c1,d1"},
)
JUDGES = (
    {"judge": "c1", "synthesizer": "c1", "adjudicator": "c2", "classifier": "a1"},
    {"judge": "a1,b1/c1", "synthesizer": "a1,a2/b1", "adjudicator": "a1,b1,c2/a2", "classifier": "a1/b1"},
)
DEMANDS: tuple[Diversity, ...] = ("sameModel", "sameFamily", "crossFamily")
NAMED: tuple[Mapping[str, str], ...] = (
    {},
    {"debater": "d1"},
    {"debater-2": "a1"},
    {"debater": "b1", "debater-3": "c1"},
    {"critic": "a1"},
    {"moderator": "a1", "proposer": "b1"},
    {"synthesizer": "a1"},
    {"judge": "f1"},
)
RANKED: tuple[Sequence[str] | None, ...] = (None, ("c1", "b2", "b1", "a1"), ("a2", "a1"))
POOL = a_policy({"debater": POOLS[1], **SEATS[0], **JUDGES[0]})


def policies() -> Iterator[tuple[str, Policy]]:
    """Policies whose pools and seats have more or less to choose from."""
    for n, pool in enumerate(POOLS):
        for demand in DEMANDS:
            seats = {"debater": pool, **SEATS[n % len(SEATS)], **JUDGES[n % len(JUDGES)]}
            yield f"{n} {demand}", a_policy(seats, demand, floating_names=n % 2 == 0)


def tables(rules: Seating) -> Iterator[object]:
    """Every format's table under every policy."""
    for name, policy in policies():
        for format_, options in OPTIONS.items():
            table = seating.choose_table(options)
            for named in NAMED:
                fitting = {key: alias for key, alias in named.items() if key == "debater" or key in table.seats}
                if fitting != named:
                    continue
                for ranked in RANKED:
                    yield name, format_, named, ranked, _seated(rules, policy, options, named, ranked)


def _seated(
    rules: Seating, policy: Policy, options: Options, named: Mapping[str, str], ranked: Sequence[str] | None
) -> object:
    table = seating.choose_table(options)
    try:
        plans = rules.seats(policy, table, named, DAY, ranked)
    except InvalidCase as refused:
        return {"refused": refused.pointers}
    pairs = [f"{'-'.join(pair.seats)} {pair.diversity}" for pair in rules.pairs(plans, table.apart)]
    chosen = (
        "choose" if any(key not in table.seats for key in named) else _told(rules.choose(policy, table, named, ranked))
    )
    return [_seat(plan) for plan in plans], rules.diversity(plans, table.apart), pairs, chosen


def _told(places: Sequence[seating.SeatChoice]) -> list[str]:
    return [f"{p.seat} {p.model.alias}" + (f"/{p.fallback.alias}" if p.fallback else "") for p in places]


def _seat(plan: SeatPlan) -> str:
    return f"{plan.seat} {plan.model}" + (f"/{plan.fallback.model}" if plan.fallback else "")


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "tables"): Golden(name, partial(_made, name, rules)) for name, rules in SEATINGS.items()}


def _made(name: str, rules: Seating) -> bytes:
    plan = rules.seats(POOL, seating.ADVERSARIAL, {}, DAY)[0]
    return lines(name, {1: [("a whole seat", plan), *tables(rules)]})
