"""Which starts follow from case and policy: each format's own, and the same with one member otherwise.

A line says whether the verifier accepts a start, by the version that its decision seals, beside the choices themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec.structs import replace

from service.debate.entries import CaseReceived, DebateStarted, GateDecided
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    Case,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    SeatPlan,
    StancesOptions,
    TrackRecord,
)
from service.debate.options import AskedOptions
from service.money import TOKENIZERS
from service.policy import FormatsPolicy, Policy, seating
from service.policy.rules import BallotPolicy, ConvergencePolicy, PanelPolicy, StancesPolicy
from service.policy.seating import SEATINGS, Seating
from service.verify.opened_bundle import LegalDebate
from service.verify.policy import check_start, days_of
from service.verify.steps import Differs
from tests.fixtures.debates import DECIDED, a_case, price_row, start_of
from tests.unit.policy.test_seating import a_policy
from tests.vectors.goldens import Golden, file_of, lines
from tests.vectors.goldens.seats import DAY, JUDGES, POOLS, SEATS

BEFORE, AFTER = "2026-11-20", "2026-11-22"
STAKE = 1_000_000
ASKED = (None, "auto", "adversarial", "panel", "ballot")
TASKS = ("contract", "security", "other")
DEBATERS = tuple(Debater(f"n{i}", "x") for i in range(2))
THRESHOLDS = {"factual": 850, "normative": 800, "business": 850, "prediction": 850, "brainstorm": 800, "belief": 750}
RECORDS = (TrackRecord("a1", 4, 400), TrackRecord("b1", 9, 900), TrackRecord("c1", 2, 900))
PANEL = PanelOptions(
    2, 2, human_review=False, question_type="factual", typed_by="caller", thresholds=THRESHOLDS, mode="manual"
)
OPTIONS: Mapping[str, Options] = {
    "adversarial": AdversarialOptions(1, 6, 6, human_review=False),
    "stances": StancesOptions(DEBATERS, 2, human_review=False),
    "ballot": BallotOptions(DEBATERS, 2, ("sign", "wait", "escalate"), 2, human_review=False),
    "panel": PANEL,
    "panel by a model": replace(PANEL, adjudicator="model"),
    "panel drawn": replace(PANEL, mode="auto", track_records=RECORDS),
    "convergence": ConvergenceOptions(2, 2, human_review=False),
    "convergence by votes": ConvergenceOptions(2, 2, human_review=False, judge=False),
}


def the_policy() -> Policy:
    """A policy of which every key that a start follows from is written here."""
    policy = a_policy({"debater": POOLS[1], **SEATS[1], **JUDGES[0]})
    rows = tuple(
        replace(price_row(n * 1_000, n * 4_000, n * 250, n * 1_250, n * 4_000), effective=day)
        for n, day in enumerate((BEFORE, DAY, AFTER), start=1)
    )
    models = {
        alias: replace(model, prices=rows, tokenizer=TOKENIZERS["abc".find(model.family)])
        for alias, model in policy.models.items()
    }
    debate = replace(
        policy.debate,
        format="adversarial",
        attempts_per_turn=3,
        human_review=("security",),
        swap_above=STAKE,
        mask_above=STAKE,
        ceiling_max=5_000_000,
    )
    formats = FormatsPolicy(
        auto={"contract": "panel", "security": "ballot"},
        stances=StancesPolicy(rounds_max=3, debaters_max=3),
        ballot=BallotPolicy(rounds_max=3, debaters_max=3),
        panel=PanelPolicy(rounds_max=3, debaters_max=3, thresholds=THRESHOLDS),  # type: ignore[arg-type]
        convergence=ConvergencePolicy(rounds_max=3, debaters_max=3),
    )
    calls = replace(policy.calls, turn_deadline_s=77, usage_floor_per_mille=444)
    return replace(policy, models=models, debate=debate, formats=formats, calls=calls)


def a_start(rules: Seating, policy: Policy, options: Options) -> DebateStarted:
    """A start as this policy leads to it."""
    table = seating.choose_table(options)
    order = None
    if isinstance(options, PanelOptions) and options.track_records:
        order = ("b1", "c1", "a1")  # by score; those that are level in the order of the pool
    plans = rules.seats(policy, table, {}, DAY, order)
    return replace(
        start_of(options),
        seats=plans,
        ceiling=policy.debate.ceiling_max,
        attempts_per_turn=policy.debate.attempts_per_turn,
        turn_deadline_s=policy.calls.turn_deadline_s,
        usage_floor_per_mille=policy.calls.usage_floor_per_mille,
        simulated=rules.simulated(policy, plans),
        diversity=rules.diversity(plans, table.apart),
        pairs=rules.pairs(plans, table.apart),
    )


def accepted(
    name: str,
    started: DebateStarted,
    case: Case,
    policy: Policy,
    days: Sequence[str] = (DAY,),
    asked: DebateStarted | None = None,
) -> bool:
    """Whether the verifier finds that a start follows from case and policy; ``asked`` is one as it was asked for."""
    decided = GateDecided(DECIDED.decision, versions={"seating": name})
    try:
        check_start(LegalDebate([received(case, asked or started), decided, started]), policy, started, days)
    except Differs:
        return False
    return True


def received(case: Case, started: DebateStarted) -> CaseReceived:
    """The case, with all that a request can ask for of what this start has."""
    options = started.options
    named = {name for name in AskedOptions.__struct_fields__ if hasattr(options, name)}
    if isinstance(options, PanelOptions) and options.typed_by != "caller":
        named.remove("question_type")
    asked = AskedOptions(**{name: getattr(options, name) for name in named})
    if isinstance(options, ConvergenceOptions):
        asked = replace(asked, convergence_similarity=Decimal(options.convergence_similarity) / 1_000)
    return CaseReceived(case, "local", asked, started.ceiling)


def choices(rules: Seating, policy: Policy) -> Iterator[object]:
    """The format of each case with its reason, whether its decider is asked again, and whether a person decides."""
    for task in TASKS:
        for asked in ASKED:
            yield task, asked, rules.choose_format(policy, asked, task)
        yield task, rules.human_review(policy, task)
    never = replace(policy, debate=replace(policy.debate, swap_above=None, mask_above=None))
    for downside in (None, "0", "0.999999", "1", "1.000001", "1000000", "Infinity"):
        amount = None if downside is None else Decimal(downside)
        yield downside, rules.asked_twice(policy, amount), rules.asked_twice(never, amount)
        yield "masked", downside, rules.asked_masked(policy, amount), rules.asked_masked(never, amount)
    plans = rules.seats(policy, seating.ADVERSARIAL, {}, DAY)
    for kind in ("offline", "scripted", "openai", "anthropic", "azure", "openai-compatible"):
        wired = replace(policy, providers={"vendor": replace(policy.providers["vendor"], kind=kind)})
        yield kind, rules.simulated(wired, plans)


def verdicts(name: str, rules: Seating, policy: Policy) -> Iterator[object]:
    """Whether each start is accepted, in which format and with what otherwise."""
    for form, options in OPTIONS.items():
        started = a_start(rules, policy, options)
        case = replace(a_case(), format=started.format.partition("/")[0], estimated_downside=Decimal("0.5"))
        yield form, accepted(name, started, case, policy)
        for what, other in _otherwise(started):
            yield form, what, accepted(name, other, case, policy)
            if received(case, other) != received(case, started):
                yield form, what, "not asked for", accepted(name, other, case, policy, asked=started)
        for what, reason, brought in _cases(case):
            for told in ({}, {"swapped": True}, {"human_review": True}):
                if all(hasattr(options, member) for member in told):
                    mixed = replace(started, options=replace(options, **told), format_reason=reason)
                    yield form, what, *told, accepted(name, mixed, brought, policy)
        for occurred in ("2026-11-21T00:00:00Z", "2026-11-22T00:04:59Z", "2026-11-22T00:05:00Z"):
            yield form, occurred, accepted(name, started, case, policy, days_of(occurred))


def _cases(case: Case) -> Iterator[tuple[str, str, Case]]:
    """Cases that leave the format to policy, or that have more at stake, or of another task type; with a reason."""
    auto = "auto: policy debates the task type contract as panel"
    yield "auto", auto, replace(case, format="auto")
    yield "auto without a reason", "", replace(case, format="auto")
    yield "policy's usual format", "", replace(case, format=None)
    yield "a reason without auto", auto, case
    yield "at stake", "", replace(case, estimated_downside=Decimal(1))
    yield "more at stake", "", replace(case, estimated_downside=Decimal("1.000001"))
    yield "for a person", "", replace(case, task_type="security")


def _otherwise(started: DebateStarted) -> Iterator[tuple[str, DebateStarted]]:
    """A start with one member otherwise."""
    options, first = started.options, started.seats[0]
    yield "simulated", replace(started, simulated=not started.simulated)
    yield "diversity", replace(started, diversity="sameModel")
    yield "pairs", replace(started, pairs=started.pairs[1:])
    for d in (-1, 1):
        yield f"ceiling {d}", replace(started, ceiling=started.ceiling + d)
        yield f"attempts {d}", replace(started, attempts_per_turn=started.attempts_per_turn + d)
        yield f"deadline {d}", replace(started, turn_deadline_s=started.turn_deadline_s + d)
        yield f"floor {d}", replace(started, usage_floor_per_mille=started.usage_floor_per_mille + d)
    for rounds in (3, 4):
        yield f"{rounds} rounds", replace(started, options=replace(options, max_rounds=rounds))
    for count in (3, 4):
        if hasattr(options, "debaters"):
            many = count if isinstance(options.debaters, int) else DEBATERS[:1] * count
            yield f"{count} debaters", replace(started, options=replace(options, debaters=many))
    if isinstance(options, PanelOptions):
        yield "thresholds", replace(started, options=replace(options, thresholds={**THRESHOLDS, "factual": 851}))
        for kind in ("factual", "business"):
            typed = replace(options, question_type=kind, typed_by="rules")
            yield f"typed as {kind}", replace(started, options=typed)
        for n in range(len(options.track_records)):
            records = [*options.track_records]
            records[n] = replace(records[n], score=901)
            yield f"record {n}", replace(started, options=replace(options, track_records=tuple(records)))
        yield "no record", replace(started, options=replace(options, mode="auto", track_records=RECORDS[1:]))
    for member, value in _members(first).items():
        yield f"seat {member}", replace(started, seats=(replace(first, **{member: value}), *started.seats[1:]))


def _members(plan: SeatPlan) -> dict[str, Any]:
    """Another value for each member of a seat's plan."""
    other = plan.fallback or replace(plan, fallback=None)
    return {
        name: {str: "other", int: 7, dict: {"seed": 8}}.get(type(value), None if plan.fallback else other)
        for name, value in ((name, getattr(plan, name)) for name in plan.__struct_fields__)
        if name not in ("seat", "price", "reasoning")
    } | {"price": replace(plan.price, effective=BEFORE), "reasoning": "outside"}


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "starts"): Golden(name, partial(_made, name, rules)) for name, rules in SEATINGS.items()}


def _made(name: str, rules: Seating) -> bytes:
    policy = the_policy()
    plans = rules.seats(policy, seating.ADVERSARIAL, {}, DAY)
    whole = [
        ("a whole seat", day, rules.seats(policy, seating.ADVERSARIAL, {}, day)[0])
        for day in (DAY, AFTER, "2027-01-01")
    ]
    counted = [(plan.tokenizer, plan.tokenizer_id) for plan in plans]
    return lines(name, {1: [*whole, counted, *choices(rules, policy), *verdicts(name, rules, policy)]})
