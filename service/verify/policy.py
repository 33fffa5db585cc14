"""The policy in force: its bytes, the roster and prices that follow from it, and its approval.

policy      policy.json has the hash in the decision, the debate and every record; prices and configuration follow
seats       every model, parameter and price row of the debate is that of the policy on that day
approval    the approver signed the configuration, or the records say that it has no approval
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from service.audit import approval as approvals
from service.audit.note import PublicKey
from service.audit.record import moment
from service.debate.entries import CaseReceived, DebateStarted
from service.debate.kernel import FORMATS
from service.debate.model import ConvergenceOptions, PanelOptions, SeatPlan
from service.debate.options import Options, debaters_of, format_of, role_of
from service.debate.roster import Roster
from service.debate.turns import MODERATOR
from service.money import tokenizer_id
from service.policy import FORMS as POLICY_FORMS
from service.policy import Policy, seating
from service.prompts.alternatives import replaced_by
from service.verify.asked import asked_of, check_ceiling, options_of
from service.verify.log import vouching
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
    register = f"; its register of {len(rules.audit.keys)} keys is only words" if rules.audit.keys else ""
    if (started := evidence.debate.started) is None:
        return f"policy {decided.policy_version} with SHA-256 {decided.policy_hash}{register}; {NO_DEBATE}"
    form = by(evidence.debate.decided, "policy", POLICY_FORMS)
    with at(file=STARTED, record=2):
        expect("the hash of the price table", form.prices(rules), started.price_hash)
        expect("the policy of the debate", decided.policy_hash, started.policy_hash)
    _configuration(evidence, form.configuration(rules, started.pin), started)
    return f"policy {decided.policy_version} with its prices{register}; configuration {started.configuration_hash}"


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
        _fixed(debate, rules, started, days[0])


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


def _fixed(debate: LegalDebate, rules: Policy, started: DebateStarted, day: str) -> None:
    """Check the other members of the start that follow from policy and seats."""
    apart = table_of(started).apart
    rule = by(debate.decided, "seating", seating.SEATINGS)
    expect("whether a model is simulated", rule.simulated(rules, started.seats), started.simulated)
    expect("the diversity of the seats", rule.diversity(started.seats, apart), started.diversity)
    expect("the pairs of seats", rule.pairs(started.seats, apart), started.pairs)
    expect("the attempts of a turn", rules.debate.attempts_per_turn, started.attempts_per_turn)
    expect("the deadline of a turn", rules.calls.turn_deadline_s, started.turn_deadline_s)
    expect("the floor of a usage", rules.calls.usage_floor_per_mille, started.usage_floor_per_mille)
    _format(debate, rules, started, rule)
    _seated(debate, rules, started, day)
    _tilts(debate, started)
    check_ceiling(debate, rules, started.ceiling)
    if seating.ORDER.index(started.diversity) < seating.ORDER.index(rules.debate.diversity):
        raise Differs("the diversity of the seats", f"at least {rules.debate.diversity}", started.diversity)


def _tilts(debate: LegalDebate, started: DebateStarted) -> None:
    """Check that recorded tilts are of models that may moderate; which ones stood, a whole log shows (`tilts`)."""
    named = [(tilt.finding, tilt.model) for tilt in started.tilts]
    expect("the order of the tilts", sorted(set(named)), named)
    plans = [plan for seat in started.seats if seat.seat == MODERATOR for plan in (seat, seat.fallback)]
    if strangers := {model for _, model in named} - {plan.model for plan in plans if plan is not None}:
        raise Differs("the model of a tilt", "one that may moderate", ", ".join(sorted(strangers)))
    received = debate.entries[0]
    if named and isinstance(received, CaseReceived) and received.evaluation is not None:
        raise Differs("the tilts of an evaluation's item", "none", str(len(named)))


def _format(debate: LegalDebate, rules: Policy, started: DebateStarted, rule: seating.Seating) -> None:
    """Check that case or policy chose the format, and that its options and models are what they lead to."""
    case, options = debate.case, started.options
    chosen = rule.choose_format(rules, case.format, case.task_type)
    expect("the format", chosen.name, started.format.partition("/")[0])
    expect("why it has this format", chosen.reason, started.format_reason)
    if not case.documents and not rules.undocumented(format_of(options)):
        raise Differs("a case of this format", "one with documents, by the policy", "none")
    _debaters(options, started)
    records = options.track_records if isinstance(options, PanelOptions) else ()
    expect("the options", options_of(debate, rules, format_of(options), records), options)


def _seated(debate: LegalDebate, rules: Policy, started: DebateStarted, day: str) -> None:
    """Check that the models are those that the case asked for and that policy's rules then lead to."""
    options, asked = started.options, asked_of(debate)
    ranked = _ranked(rules, options) if isinstance(options, PanelOptions) and options.mode == "auto" else None
    rule = by(debate.decided, "seating", seating.SEATINGS)
    expected = rule.seats(rules, table_of(started), asked.models, day, ranked)
    expect("the models of the seats", _models(expected), _models(started.seats))
    expect("the seats", [plan.seat for plan in expected], [plan.seat for plan in started.seats])


def _debaters(options: Options, started: DebateStarted) -> None:
    """Check that each debater's own prompt is one that may stand in the place of its kind, and is pinned."""
    kind = f"{format_of(options)}.debater"
    for debater in debaters_of(options):
        own = debater.prompt
        if own is not None and (replaced_by(own) != kind or own not in started.pins):
            raise Differs("the prompt of a debater", f"a pinned one that may stand in the place of {kind}", own)
        if isinstance(options, ConvergenceOptions) and debater.stance:
            raise Differs("the stance of a debater", "none in convergence", debater.stance)


def _ranked(rules: Policy, options: PanelOptions) -> list[str]:
    """The pool of debaters by their track records, which are stated and not recomputed; raises `Differs`."""
    pool = rules.seats["debater"]
    found = tuple(record.model for record in options.track_records)
    expect("the models with a track record", (pool.model, *pool.alternatives), found)
    return [record.model for record in sorted(options.track_records, key=lambda record: -record.score)]


def _models(plans: Iterable[SeatPlan]) -> dict[str, tuple[str, str | None]]:
    """The model of each seat, and its fallback."""
    return {plan.seat: (plan.model, plan.fallback.model if plan.fallback else None) for plan in plans}


# The approval.


def check_approval(evidence: OpenedBundle, trust: Trust) -> str:
    """The approver of the configuration, or that it has none; raises `Differs` for an invalid approval.

    Raises `NotCheckable` for an approval by a key that is not pinned.
    """
    started = evidence.debate.started
    if started is None:
        return f"{NO_DEBATE}, so nothing ran that could be approved"
    if started.approved_by == UNAPPROVED:
        if started.approval or "approval.txt" in evidence.files:
            raise Differs("an approval of a debate that says it has none", "nothing", "a note", file="approval.txt")
        if evidence.policy.approval.required:
            raise Differs("an approval, which the policy requires", "a signed note", UNAPPROVED, file=STARTED, record=2)
        return "no approval: this configuration was not approved"
    if not started.approval:
        raise Differs(f"the note by which {started.approved_by} approved", "one", "nothing", file=STARTED, record=2)
    note = evidence.file("approval.txt", len(started.approval.encode()))
    if note != started.approval.encode():
        raise Differs("the approval", "the note of debate.started", "another", file="approval.txt")
    with at(file="approval.txt"):
        key, when = _approved(evidence.policy, started, note)
        _expect_period(key, when, trust)
    detail = f"approved by {key.name} at {when}, with the key {key.encode()}"
    why = "which only the policy names: the deployer writes the policy" if key not in trust.keys else ""
    if key in trust.keys and trust.period(key).use not in ("", "approver"):
        why = f"which is pinned {trust.period(key)}, and not for approvals"
    if key in vouching(trust, evidence.first.log):
        why = "which also signs this log: an approval by the log's own holder is none"
    if why:
        raise NotCheckable(
            f"SELF-APPROVED: {detail}, {why}; get the approver's key from the approver, and pin it with --key",
            allowed=trust.allow_self_approved,
        )
    return f"{detail}, pinned here"


def _expect_period(key: PublicKey, at_: str, trust: Trust) -> None:
    """Raise `Differs` for an approval that its pinned key gave, by its own word, when it is not pinned for that."""
    period = trust.period(key)
    if key in trust.keys and not period.holds(moment(at_) // 1_000_000):
        raise Differs("when the configuration was approved", f"within the time of its key, {period}", at_)


def _approved(rules: Policy, started: DebateStarted, note: bytes) -> tuple[PublicKey, str]:
    """The key of the policy that signed the approval, and when by its own word; raises `Differs`."""
    if rules.approval.key is None:
        raise Differs("who may approve", "a key in the policy", "none")
    key = PublicKey.parse(rules.approval.key)
    found = approvals.check(note, key, started.configuration_hash)
    expect("who approved", key.name, started.approved_by, record=2)
    return key, found.at
