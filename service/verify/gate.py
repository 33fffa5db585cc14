"""The gate's decision, recomputed from its inputs: the expected cost, and `should_debate` over the case.

The decision also seals the versions by which everything else is recomputed. The step judges all of them, because some
belong to parts that no other step needs: a declined case has no layout.

The expected cost follows from seats, options and documents, which ``debate.started`` records. Those of a declined case
follow from what it asked for and from policy, but for the models of a panel that are chosen by track records. For it
the step tries the cost of policy's preference. If the decision used another cost, that amount is stated and not
recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from service import money
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import DebateStarted
from service.debate.formats import NAMES, name_of
from service.debate.model import Case, PanelOptions, SeatPlan
from service.errors import InvalidCase
from service.gate import GATES, Declared, complete_gates
from service.money import Usage
from service.policy import Policy, seating
from service.verify.asked import asked_of, options_of
from service.verify.opened_bundle import OpenedBundle
from service.verify.policy import days_of, table_of
from service.verify.steps import DECIDED, Differs, NotCheckable, Tools, at, expect
from service.verify.versions import by, refuse_unwritten, unknown_versions

ROLES_SINCE = 2
"""The first version of the envelope that has the role of the actor."""


def check_gate(evidence: OpenedBundle, tools: Tools) -> str:
    """Check that the gate decides this case as recorded, and that this build has every version that it seals."""
    refuse_unwritten(evidence.debate.decided, tools.reports)
    detail = _decides(evidence, tools)
    if why := unknown_versions(evidence.debate.decided, tools.reports):
        raise NotCheckable(why)
    return detail


def _decides(evidence: OpenedBundle, tools: Tools) -> str:
    rules, case, started = evidence.policy, evidence.debate.case, evidence.debate.started
    expected = _started_cost(evidence, started, tools) if started else _declined_cost(evidence, tools)
    if case.force is not None and evidence.envelopes[1].v < ROLES_SINCE:
        raise NotCheckable("the case was forced, and envelopes of its version do not say in which role")
    stated = expected is None
    threshold = evidence.debate.decided.decision.debate_cost_threshold
    with at(file=DECIDED, record=1):
        _decision(evidence, rules, case, threshold if expected is None else expected)
    if stated:
        raise NotCheckable(
            f"the decision follows from its inputs, but for the expected cost of {usd(threshold)} USD: a declined "
            "case does not keep the track records by which its models were chosen"
        )
    found = evidence.debate.decided.decision
    result = "debate" if found.debate else "decline"
    return f"{result}, decided by {found.decided_by}, against an expected cost of {usd(threshold)} USD"


def _decision(evidence: OpenedBundle, rules: Policy, case: Case, expected: MicroUSD) -> None:
    role = evidence.envelopes[1].actor.role
    declared = Declared(
        case.contested, case.single_agent_answer, case.force, role, case.materiality, case.asked_task_type
    )
    try:
        decision = by(evidence.debate.decided, "gate", GATES)(
            case.task_type,
            case.confidence_score,
            case.estimated_downside,
            policy=rules.gate,
            expected_cost=expected,
            declared=declared,
        )
    except InvalidCase as refused:
        raise Differs(f"the gate would have refused this case: {refused.detail}") from refused
    expect("the decision", decision, evidence.debate.decided.decision)


def _started_cost(evidence: OpenedBundle, started: DebateStarted, tools: Tools) -> MicroUSD:
    texts = list(evidence.sources.values())
    estimate = by(evidence.debate.decided, "gate", EXPECTED)
    by_seat = estimate(started.seats, table_of(started).usual, evidence.policy, texts, tools)
    with at(file="records/0002.payload.json", record=2):
        expect("what each seat was expected to cost", by_seat, dict(started.expected_by_seat))
        expect("what the debate was expected to cost", sum(by_seat.values()), started.expected_cost)
    return sum(by_seat.values())


def _declined_cost(evidence: OpenedBundle, tools: Tools) -> MicroUSD | None:
    """The cost of the table that the case asked for; ``None`` where it rests on more than case and policy.

    That is so in a panel that chooses its models by track records, which only a start keeps, and in a format that this
    build does not have.
    """
    rules, debate = evidence.policy, evidence.debate
    rule = by(debate.decided, "seating", seating.SEATINGS)
    name = rule.choose_format(rules, debate.case.format, debate.case.task_type).name
    if name not in NAMES:
        return None
    with at(file="records/0000.payload.json", record=0):
        options = options_of(debate, rules, name_of(name))
        table = seating.choose_table(options)
        asked = asked_of(debate).models
        plans = rule.seats(rules, table, asked, days_of(evidence.envelopes[1].occurred)[0])
    estimate = by(debate.decided, "gate", EXPECTED)
    expected = sum(estimate(plans, table.usual, rules, list(evidence.sources.values()), tools).values())
    threshold = debate.decided.decision.debate_cost_threshold
    drawn = isinstance(options, PanelOptions) and options.mode == "auto"
    return None if drawn and rules.gate.thresholds.get(debate.case.task_type, expected) != threshold else expected


def expected_by_seat(
    plans: Iterable[SeatPlan], usual: Mapping[str, int], rules: Policy, texts: Sequence[str], tools: Tools
) -> dict[str, MicroUSD]:
    """The expected cost of each seat: usual turns, with policy's usual sizes or with those of the documents."""
    by_seat = {}
    for plan in plans:
        if not tools.ready(plan.tokenizer):
            raise NotCheckable(f"the tokenizer {plan.tokenizer[:40]!r} is not shipped with this build")
        given = sum(money.count_tokens(text, plan.tokenizer) for text in texts)
        output = plan.allowance * rules.debate.expected_output_per_mille // 1_000
        usage = Usage(max(rules.debate.expected_input_tokens, given), output)
        by_seat[plan.seat] = money.cost(usage, plan.price) * usual.get(plan.seat, 0)
    return by_seat


Expected = Callable[[Iterable[SeatPlan], Mapping[str, int], Policy, Sequence[str], Tools], dict[str, MicroUSD]]
EXPECTED: Mapping[str, Expected] = complete_gates({"gate/1": expected_by_seat}, "verify", __file__)
"""What a debate is expected to cost, by every version of the gate, as `service.intake.expected_cost` has it too."""
