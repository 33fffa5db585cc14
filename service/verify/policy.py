"""The policy in force: its bytes, the roster and prices that follow from it, and its approval.

policy      policy.json has the hash in the decision, the debate and every record; prices and configuration follow
seats       every model, parameter and price row of the debate is that of the policy on that day
approval    the approver signed the configuration, or the records say that it has no approval
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from service.audit import approval as approvals
from service.audit.note import PublicKey
from service.checks.question_type import CLASSIFICATIONS
from service.debate.amounts import MICRO
from service.debate.entries import DebateStarted
from service.debate.formats import NAMES, FormatName, complete_formats, name_of
from service.debate.kernel import FORMATS
from service.debate.model import ROUND_CEILING, Case, ConvergenceOptions, PanelOptions, SeatPlan
from service.debate.options import Options, debater_seats, debaters_of, format_of, role_of, swapped_of
from service.debate.roster import Roster
from service.money import tokenizer_id
from service.policy import FORMS as POLICY_FORMS
from service.policy import FormatsPolicy, Policy, seating
from service.prompts.alternatives import replaced_by
from service.verify.opened_bundle import LegalDebate, OpenedBundle
from service.verify.prompts import NO_DEBATE
from service.verify.steps import Differs, NotCheckable, Trust, at, expect
from service.verify.versions import by, sealed

SIMULATED = ("offline", "scripted")
UNAPPROVED = "unapproved"
MIDNIGHT = timedelta(minutes=5)
"""A case recorded just after midnight may be priced by the day before."""
STARTED = "records/0002.payload.json"


def policy(evidence: OpenedBundle) -> str:
    """Check policy, price table and configuration against the recorded hashes."""
    decided = evidence.debate.decided.decision
    expect("the SHA-256 of the policy", decided.policy_hash, evidence.digest("policy.json"), file="policy.json")
    rules = _read(evidence)
    expect("the version of the policy", rules.version, decided.policy_version, record=1)
    if (started := evidence.debate.started) is None:
        return f"policy {decided.policy_version} with SHA-256 {decided.policy_hash}; {NO_DEBATE}"
    form = by(evidence.debate.decided, "policy", POLICY_FORMS)
    with at(file=STARTED, record=2):
        expect("the hash of the price table", form.prices(rules), started.price_hash)
        expect("the policy of the debate", decided.policy_hash, started.policy_hash)
    _configuration(evidence, form.configuration(rules, started.pin), started)
    return f"policy {decided.policy_version} with its prices; configuration {started.configuration_hash}"


def _read(evidence: OpenedBundle) -> Policy:
    """The policy; raises `Differs` for bytes that no build has written in the form that the decision names."""
    sealed(evidence.debate.decided, "policy", POLICY_FORMS)
    try:
        return evidence.policy
    except NotCheckable as unread:
        raise Differs(unread.reason, file="policy.json") from None


def _configuration(evidence: OpenedBundle, expected: bytes, started: DebateStarted) -> None:
    wanted = sha256(expected).hexdigest()
    expect("the configuration hash", wanted, started.configuration_hash, file=STARTED, record=2)
    found = evidence.digest("configuration.json")
    if found != wanted:
        raise Differs("the configuration", wanted, found, file="configuration.json")


# The roster.


def seats(evidence: OpenedBundle) -> str:
    """Check models, parameters and prices against the policy on the day of the case."""
    started = evidence.debate.started
    if started is None:
        return f"{NO_DEBATE}, so no seat has a model"
    days = days_of(evidence.envelopes[2].occurred)
    check_start(evidence.debate, evidence.policy, started, days)
    names = ", ".join(f"{plan.seat} {plan.price.model}@{plan.price.effective}" for plan in started.seats)
    return f"every seat's model and price row as the policy has them on {days[0]}: {names}"


def check_start(debate: LegalDebate, rules: Policy, started: DebateStarted, days: Sequence[str]) -> None:
    """Check what of a start follows from case and policy on one of these days; raises `Differs`."""
    with at(file=STARTED, record=2):
        for plan in started.seats:
            _plan(rules, plan, days)
        _fixed(debate, rules, started)


def days_of(occurred: str) -> tuple[str, ...]:
    """The day of a time in UTC, and also the day before shortly after midnight; raises `Differs`."""
    try:
        moment = datetime.fromisoformat(occurred).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Differs("the time at which it occurred", "RFC 3339 in UTC", occurred[:40]) from None
    return tuple(dict.fromkeys((moment.date().isoformat(), (moment - MIDNIGHT).date().isoformat())))


def table_of(started: DebateStarted) -> Roster:
    """The roster of a debate; raises `Differs` if its options do not belong to its format."""
    form = FORMATS.get(started.format)
    if form is None or started.options.__struct_config__.tag != started.format:
        raise Differs("a format and its options", "those of a format that is known here", started.format[:40])
    return form.table(started.options)


def _plan(rules: Policy, plan: SeatPlan, days: Sequence[str]) -> None:
    """A seat's plan by the policy, with the policy's fallback if the seat has one."""
    role = role_of(plan.seat)
    if role not in rules.seats or plan.model not in rules.models:
        raise Differs("a seat and its model", "those of the policy", f"{plan.seat} {plan.model}")
    fallback = rules.seats[role].fallback
    if plan.fallback is not None:
        expect(f"the fallback at seat {plan.seat!r}", fallback, plan.fallback.model)
    expected = [_expected(rules, plan, day) for day in days]
    if plan not in expected:
        expect(f"seat {plan.seat!r}", expected[0], plan)


def _expected(rules: Policy, plan: SeatPlan, day: str) -> SeatPlan:
    model = rules.models[plan.model]
    provider, price = rules.providers[model.provider], model.price(day)
    if price is None:
        raise Differs(f"a price of model {model.alias!r}", f"one in force on {day}", "none")
    return SeatPlan(
        seat=plan.seat,
        model=model.alias,
        provider=model.provider,
        model_name=model.name,
        family=model.family,
        tokenizer=model.tokenizer,
        tokenizer_id=tokenizer_id(model.tokenizer),
        safety_per_mille=model.safety_per_mille,
        context_window=model.context_window,
        allowance=rules.seats[role_of(plan.seat)].allowance,
        price=price,
        parameters=model.parameters,
        wire=provider.kind,
        reasoning=provider.reasoning,
        overhead_tokens=model.overhead_tokens,
        fallback=_expected(rules, plan.fallback, day) if plan.fallback else None,
    )


def _fixed(debate: LegalDebate, rules: Policy, started: DebateStarted) -> None:
    """Check the other members of the start that follow from policy and seats."""
    case, apart = debate.case, table_of(started).apart
    rule = by(debate.decided, "seating", seating.SEATINGS)
    expect("whether a model is simulated", rule.simulated(rules, started.seats), started.simulated)
    expect("the diversity of the seats", rule.diversity(started.seats, apart), started.diversity)
    expect("the pairs of seats", rule.pairs(started.seats, apart), started.pairs)
    expect("the attempts of a turn", rules.debate.attempts_per_turn, started.attempts_per_turn)
    expect("the deadline of a turn", rules.calls.turn_deadline_s, started.turn_deadline_s)
    expect("the floor of a usage", rules.calls.usage_floor_per_mille, started.usage_floor_per_mille)
    _format(debate, rules, started, rule)
    human = rule.human_review(rules, case.task_type)
    expect("whether policy has a person decide", human, started.options.human_review)
    if started.ceiling > rules.debate.ceiling_max:
        raise Differs("the ceiling", f"at most {rules.debate.ceiling_max} micro-dollars", str(started.ceiling))
    if seating.ORDER.index(started.diversity) < seating.ORDER.index(rules.debate.diversity):
        raise Differs("the diversity of the seats", f"at least {rules.debate.diversity}", started.diversity)


def _format(debate: LegalDebate, rules: Policy, started: DebateStarted, rule: seating.Seating) -> None:
    """Check that case or policy chose the format, and that its options are within policy's limits."""
    case, options = debate.case, started.options
    chosen = rule.choose_format(rules, case.format, case.task_type)
    expect("the format", chosen.name, started.format.partition("/")[0])
    expect("why it has this format", chosen.reason, started.format_reason)
    if not case.documents and not rules.undocumented(format_of(options)):
        raise Differs("a case of this format", "one with documents, by the policy", "none")
    _debaters(options, started)
    form = _FORMATS[format_of(options)]
    swapped = rule.asked_twice(rules, case.estimated_downside) and form.has_decider(options)
    expect("whether the decider is asked twice", swapped, swapped_of(options))
    most = form.most(rules.formats)
    if most and (options.max_rounds > most[0] or len(debater_seats(options)) > most[1]):
        found = f"{options.max_rounds} rounds and {len(debater_seats(options))} debaters"
        raise Differs("the size of the debate", f"at most {most[0]} rounds and {most[1]} debaters", found)
    if isinstance(options, PanelOptions):
        expect("the consensus that ends the debate", dict(rules.formats.panel.thresholds.items()), options.thresholds)
        _typed(debate, options)
        if options.mode == "auto":
            _drawn(debate, rules, started, options)


def _debaters(options: Options, started: DebateStarted) -> None:
    """Check that each debater's own prompt is one that may stand in the place of its kind, and is pinned."""
    kind = f"{format_of(options)}.debater"
    for debater in debaters_of(options):
        own = debater.prompt
        if own is not None and (replaced_by(own) != kind or own not in started.pins):
            raise Differs("the prompt of a debater", f"a pinned one that may stand in the place of {kind}", own)
        if isinstance(options, ConvergenceOptions) and debater.stance:
            raise Differs("the stance of a debater", "none in convergence", debater.stance)


def _typed(debate: LegalDebate, options: PanelOptions) -> None:
    """Check the type of a question that the caller did not give; a classifier's turn may change it later."""
    if options.typed_by != "caller":
        classify = by(debate.decided, "classification", CLASSIFICATIONS)
        expect("the type of the question", classify(debate.case.question).question_type, options.question_type)


class Declined(NamedTuple):
    """The table of a declined case, as policy alone fills it, and how often it usually asks each seat."""

    table: Roster
    usual: Mapping[str, int]


class _Format(NamedTuple):
    """What is checked of a format.

    ``has_decider`` says whether these options have one seat that alone decides, which can be asked twice. ``most`` are
    the most rounds and debaters that policy lets a case ask for; the adversarial format has limits of its own.
    ``declined`` is the table of a declined case, which records no options: ``None`` for a format whose options do not
    follow from policy and the case alone.
    """

    has_decider: Callable[[Any], bool]
    most: Callable[[FormatsPolicy], tuple[int, int] | None]
    declined: Callable[[Policy, Case], Declined] | None


def declined_of(rules: Policy, case: Case, rule: seating.Seating) -> Declined | None:
    """The table of a declined case, as policy alone fills it; ``rule`` is the sealed version of seating.

    ``None`` where its format leaves the table open, and for a format that this build does not know.
    """
    name = rule.choose_format(rules, case.format, case.task_type).name
    declined = _FORMATS[name_of(name)].declined if name in NAMES else None
    return declined(rules, case) if declined else None


def _adversarial_declined(rules: Policy, case: Case) -> Declined:
    """Every seat is asked once a round but framing, which is asked once, in policy's rounds."""
    high = case.materiality in rules.debate.high_stakes_materiality or (
        case.estimated_downside.is_finite() and case.estimated_downside * MICRO > rules.debate.high_stakes_downside
    )
    evidence = max((d.round for d in case.documents), default=1)
    rounds = max(rules.debate.high_stakes_rounds if high else rules.debate.rounds, min(evidence, ROUND_CEILING))
    table = seating.ADVERSARIAL
    return Declined(table, {seat: times if seat == "framing" else rounds for seat, times in table.usual.items()})


def _panel_has_decider(options: PanelOptions) -> bool:
    return options.adjudicator == "model"


def _convergence_has_decider(options: ConvergenceOptions) -> bool:
    return options.judge


_FORMATS: Mapping[FormatName, _Format] = complete_formats(
    {
        "adversarial": _Format(lambda _: True, lambda _: None, _adversarial_declined),
        "stances": _Format(
            lambda _: True, lambda policy: (policy.stances.rounds_max, policy.stances.debaters_max), declined=None
        ),
        "ballot": _Format(
            lambda _: False, lambda policy: (policy.ballot.rounds_max, policy.ballot.debaters_max), declined=None
        ),
        "panel": _Format(
            _panel_has_decider, lambda policy: (policy.panel.rounds_max, policy.panel.debaters_max), declined=None
        ),
        "convergence": _Format(
            _convergence_has_decider,
            lambda policy: (policy.convergence.rounds_max, policy.convergence.debaters_max),
            declined=None,
        ),
    },
    "verify",
    __file__,
)


def _drawn(debate: LegalDebate, rules: Policy, started: DebateStarted, options: PanelOptions) -> None:
    """Check that automatically chosen debaters follow from the track records, which are stated and not recomputed."""
    pool = rules.seats["debater"]
    found = tuple(record.model for record in options.track_records)
    expect("the models with a track record", (pool.model, *pool.alternatives), found)
    ranked = [record.model for record in sorted(options.track_records, key=lambda record: -record.score)]
    others = {plan.seat: plan.model for plan in started.seats if role_of(plan.seat) != "debater"}
    places = by(debate.decided, "seating", seating.SEATINGS).choose(rules, table_of(started), others, ranked)
    expected = {place.seat: place.model.alias for place in places}
    expect("the models of the seats", expected, {plan.seat: plan.model for plan in started.seats})


# The approval.


def check_approval(evidence: OpenedBundle, trust: Trust) -> str:
    """The approver of the configuration, or that it has none; raises `Differs` for an invalid approval."""
    started = evidence.debate.started
    if started is None:
        return f"{NO_DEBATE}, so nothing ran that could be approved"
    if started.approved_by == UNAPPROVED:
        if started.approval or "approval.txt" in evidence.files:
            raise Differs("an approval of a debate that says it has none", "nothing", "a note", file="approval.txt")
        if evidence.policy.approval.required:
            raise Differs("an approval, which the policy requires", "a signed note", UNAPPROVED, file=STARTED, record=2)
        return UNAPPROVED
    if not started.approval:
        raise Differs(f"the note by which {started.approved_by} approved", "one", "nothing", file=STARTED, record=2)
    note = evidence.file("approval.txt", len(started.approval.encode()))
    if note != started.approval.encode():
        raise Differs("the approval", "the note of debate.started", "another", file="approval.txt")
    with at(file="approval.txt"):
        return _approved(evidence.policy, started, note, trust.keys)


def _approved(rules: Policy, started: DebateStarted, note: bytes, pinned: Sequence[PublicKey]) -> str:
    if rules.approval.key is None:
        raise Differs("who may approve", "a key in the policy", "none")
    key = PublicKey.parse(rules.approval.key)
    found = approvals.check(note, key, started.configuration_hash)
    expect("who approved", key.name, started.approved_by, record=2)
    whose = "pinned here" if key in pinned else "named by the policy and not pinned here"
    return f"approved by {key.name} at {found.at}, with the key {key.encode()}, {whose}"
