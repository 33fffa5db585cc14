"""From a request to the first entries of a debate.

Intake checks, decides and fixes a request before anything is written. It makes every refusal, with the name of the
field, so that no half-written debate exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from service.audit.record import commit
from service.debate.amounts import MicroUSD
from service.debate.entries import Arrival, CaseReceived, DebateStarted, GateDecision
from service.debate.formats import NAMES, name_of
from service.debate.model import Case, Document, Options, SeatPlan, TurnId
from service.debate.options import AskedOptions, EvaluationTerms, role_of
from service.debate.replies import Reply
from service.debate.roster import Roster
from service.debate.versions import newest
from service.errors import Faults, InvalidCase, did_you_mean
from service.gate import GATE, GATES, Declared
from service.intake import expected_cost as costs
from service.intake import options, validation
from service.intake.formats import READINGS
from service.intake.given import refuse_unusable
from service.intake.model_ranking import Standing
from service.intake.moderator_tilts import RecordedTilt, standing_tilts
from service.intake.request import CaseRequest, GateRequest, ItemRequest, OptionsRequest, document_ids
from service.intake.seated import seat_plans
from service.policy import ChosenFormat, Policy, encode_configuration, price_hash, seating
from service.prompts import Prompts

OWN = ("asked_task_type",)
"""Members of a case that no field of a request gives."""
WITHIN = ("format",)
"""Members of a case that a request gives within its options."""
MADE = ("documents", "deadline", *OWN)
"""Members of a case that are made of the request's; all others are copied."""
BESIDE = ("options", "cost_ceiling_usd")
"""What a request says of its debate and not of the case."""
HOW_TO = "give both one name, or list it in BESIDE (service/intake): see docs/how-to/add-a-field.md"
COPIED = tuple(name for name in Case.__struct_fields__ if name not in MADE)


class Prepared(Struct, frozen=True):
    """A checked request: the case, its documents' texts, the decision, and what a debate of it may cost at most.

    ``format_reason`` says why it is debated in its format where that was left to policy. ``asked`` and
    ``asked_ceiling`` are what the request itself says of its debate. ``item`` is the request of an evaluation's item.
    ``tilts`` are the tenant's findings about moderators that stand.
    """

    case: Case
    sources: Mapping[str, str]
    decision: GateDecision
    options: Options
    seats: tuple[SeatPlan, ...]
    ceiling: MicroUSD
    expected_cost: MicroUSD
    expected_by_seat: Mapping[str, MicroUSD] = {}
    format_reason: str = ""
    asked: AskedOptions | None = None
    asked_ceiling: MicroUSD | None = None
    item: ItemRequest | None = None
    tilts: tuple[RecordedTilt, ...] = ()

    @property
    def given(self) -> Mapping[TurnId, Reply]:
        """The replies in the place of models', by turn; none but in an evaluation's item."""
        return {} if self.item is None else self.item.given

    def received(self, subject: str, arrival: Arrival | None = None) -> CaseReceived:
        """The record of the case, as ``subject`` brought it."""
        received = CaseReceived(self.case, subject, self.asked, self.asked_ceiling, arrival)
        if self.item is None:
            return received
        terms = None if self.item.terms == EvaluationTerms() else self.item.terms
        return replace(received, terms=terms, given=self.given)


class Deployment(Struct, frozen=True):
    """The parts that run: the pinned prompts, the policy, the day by which prices are chosen, and the build.

    ``approval`` is the signed note that approves this configuration, and ``approved_by`` the name of its key. ``probe``
    says that the tenant is the prober's.
    """

    prompts: Prompts
    policy: Policy
    day: str
    build_hash: str
    approved_by: str = "unapproved"
    approval: str = ""
    probe: bool = False

    @property
    def configuration(self) -> bytes:
        """The subject of an approval; its SHA-256 is the configuration hash in every debate."""
        return encode_configuration(self.policy, self.prompts.pin)


def decide(request: GateRequest | CaseRequest, policy: Policy, day: str, role: str, prompts: Prompts) -> GateDecision:
    """The gate's decision on a request; raises `InvalidCase`.

    A panel's models are priced by preference: a decision alone reads no track records.
    """
    return _asked(request, _Place(policy, day, prompts, role), Faults()).decision


def prepare(
    request: CaseRequest,
    deployment: Deployment,
    role: str,
    salts: Mapping[str, bytes],
    now: datetime,
    standings: Sequence[Standing] = (),
) -> Prepared:
    """Check a request whole, and decide. ``salts`` maps every document id (`document_ids`) to 32 random bytes.

    ``standings`` are how models did in the tenant's own panels. Raises `InvalidCase`, `TooLarge` or `CeilingTooSmall`;
    nothing has been written then.
    """
    policy, faults = deployment.policy, Faults()
    deadline, ceiling = None, 0
    with faults.noted():
        validation.sizes(request, policy)
    with faults.noted():
        validation.purpose(request, probe=deployment.probe)
    with faults.noted():
        deadline = validation.deadline(request.deadline, now)
    with faults.noted():
        ceiling = validation.ceiling(request.cost_ceiling_usd, policy)
    asked = _asked(request, _Place(policy, deployment.day, deployment.prompts, role), faults, standings)
    validation.evidence(request, asked.options)
    ids = document_ids(request)
    return Prepared(
        _case(asked, request, ids, salts, deadline),
        {name: d.text for name, d in zip(ids, request.documents, strict=True)},
        asked.decision,
        asked.options,
        asked.seats,
        ceiling,
        sum(asked.expected.values()),
        asked.expected,
        asked.chosen.reason,
        request.options.recorded,
        None if request.cost_ceiling_usd is None else ceiling,
        request if isinstance(request, ItemRequest) else None,
    )


def needs_standings(request: CaseRequest, policy: Policy) -> bool:
    """Whether it matters to a request how models did before: only in a format that draws debaters by it."""
    typed, _ = validation.typed(request, policy)
    chosen = policy.choose_format(typed.format, typed.task_type).name
    return chosen in NAMES and READINGS[name_of(chosen)].draws is not None


def start(prepared: Prepared, deployment: Deployment, seed: str) -> DebateStarted:
    """Everything that is fixed before the first turn; ``seed`` is the hash of the ``case.received`` leaf.

    An evaluation's item takes that of its plan instead, and its given replies are checked. Raises `CeilingTooSmall`
    when not even framing, one proposal and their moderation can be funded, `TooLarge` when the documents do not fit a
    seat's window, and `InvalidCase` for a given reply that cannot be used: all before a cent is spent.
    """
    started = fix(prepared, deployment, seed)
    costs.affordable(prepared.case, prepared.sources, started, deployment.prompts, prepared.given)
    refuse_unusable(prepared.case, started, prepared.given)
    return started


def fix(prepared: Prepared, deployment: Deployment, seed: str) -> DebateStarted:
    """The entry that `start` records, before the check of the ceiling."""
    policy, prompts, pins = deployment.policy, deployment.prompts, deployment.prompts.pins()
    apart = seating.choose_table(prepared.options).apart
    return DebateStarted(
        format=str(prepared.options.__struct_config__.tag),
        options=prepared.options,
        seats=prepared.seats,
        pins=pins,
        pin=prompts.pin,
        policy_hash=policy.gate.hash,
        price_hash=price_hash(policy),
        configuration_hash=sha256(deployment.configuration).hexdigest(),
        build_hash=deployment.build_hash,
        approved_by=deployment.approved_by,
        approval=deployment.approval,
        seed=seed if prepared.item is None else prepared.item.evaluation.seed,
        seed_from=None if prepared.item is None else "plan",
        ceiling=prepared.ceiling,
        expected_cost=prepared.expected_cost,
        attempts_per_turn=policy.debate.attempts_per_turn,
        simulated=seating.SEATING.simulated(policy, prepared.seats),
        diversity=seating.SEATING.diversity(prepared.seats, apart),
        pairs=seating.SEATING.pairs(prepared.seats, apart),
        expected_by_seat=dict(prepared.expected_by_seat),
        turn_deadline_s=policy.calls.turn_deadline_s,
        format_reason=prepared.format_reason,
        usage_floor_per_mille=policy.calls.usage_floor_per_mille,
        tilts=standing_tilts(prepared.tilts, prepared.seats, pins, prepared.case),
    )


class _Place(NamedTuple):
    """Under what a request is read, and in which role."""

    policy: Policy
    day: str
    prompts: Prompts
    role: str


class _Table(NamedTuple):
    """The format, the options and the models of the seats of a request."""

    chosen: ChosenFormat
    options: Options
    table: Roster
    seats: tuple[SeatPlan, ...]


class _Asked(NamedTuple):
    """A request, resolved, and the gate's decision. ``own_type`` is the caller's task type where it has another."""

    chosen: ChosenFormat
    options: Options
    seats: tuple[SeatPlan, ...]
    expected: dict[str, MicroUSD]
    decision: GateDecision
    task_type: str
    own_type: str | None


def _asked(
    request: GateRequest | CaseRequest, place: _Place, faults: Faults, standings: Sequence[Standing] = ()
) -> _Asked:
    """Resolve a request, and decide; raises its faults together with those that were noted before."""
    policy = place.policy
    typed, own_type = validation.typed(request, policy)
    with faults.noted():
        validation.texts(typed, policy)
    with faults.noted():
        validation.amounts(typed)
    comparable = validation.comparable(typed)
    found: _Table | None = None
    with faults.noted():
        found = _resolved(comparable, place, faults, standings)
    expected: dict[str, MicroUSD] = {}
    if found is not None and not faults.found:
        expected = _expected(typed, found, policy)
    decision: GateDecision | None = None
    with faults.noted():
        decision = _decided(comparable, sum(expected.values()), place, own_type)
    faults.refuse()
    if found is None or decision is None:
        raise RuntimeError("a request without a fault has no decision; see service/intake")
    return _Asked(found.chosen, found.options, found.seats, expected, decision, typed.task_type, own_type)


def _resolved(
    request: GateRequest | CaseRequest, place: _Place, faults: Faults, standings: Sequence[Standing]
) -> _Table:
    policy = place.policy
    chosen = validation.known_format(request, policy)
    if isinstance(request, CaseRequest):
        with faults.noted():
            validation.documented(request, chosen, policy)
    read = options.resolve(request, chosen.name, policy, faults)
    with faults.noted():
        validation.terms(request, read.options)
    with faults.noted():
        options.known_prompts(read.options, place.prompts)
    resolved, order = read.options, None
    draws = READINGS[name_of(chosen.name)].draws
    if draws is not None:
        resolved, order = draws(resolved, policy, standings)
    table = seating.choose_table(resolved)
    evaluated = isinstance(request, ItemRequest)
    return _Table(chosen, resolved, table, _seats(read.asked, table, policy, place.day, order, chosen=evaluated))


def _seats(
    asked: OptionsRequest, table: Roster, policy: Policy, day: str, order: Sequence[str] | None, *, chosen: bool
) -> tuple[SeatPlan, ...]:
    """The models of the seats: policy's, or those that the request names. An evaluation always may (``chosen``)."""
    if asked.models and not (chosen or policy.debate.may_choose_models):
        raise InvalidCase("policy does not let a case choose models; leave out options.models", pointers=("/options",))
    faults = Faults()
    free = [seat for seat in table.seats if seat != seating.SCREENER]
    named = dict.fromkeys((*free, *(role_of(seat) for seat in free)))
    for seat, alias in asked.models.items():
        pointer = f"/options/models/{validation.key(seat)}"
        with faults.noted():
            if seat == seating.SCREENER:
                raise InvalidCase(
                    "policy alone seats the screener, which reads every case; leave out options.models.screener",
                    pointers=(pointer,),
                )
            if seat not in named:
                raise InvalidCase(
                    f"unknown seat {validation.check_text(seat)}; use one of: {', '.join(named)}"
                    f"{did_you_mean(seat, named)}",
                    pointers=(pointer,),
                )
            if alias not in policy.models:
                known = ", ".join(sorted(policy.models))
                raise InvalidCase(
                    f"unknown model {validation.check_text(alias)}; use one of: {known}"
                    f"{did_you_mean(alias, policy.models)}",
                    pointers=(pointer,),
                )
    faults.refuse()
    return seat_plans(policy, table, asked.models, day, order)


def _expected(request: GateRequest | CaseRequest, found: _Table, policy: Policy) -> dict[str, MicroUSD]:
    """What each seat is expected to cost; a request for the gate alone has no documents."""
    texts = tuple(d.text for d in request.documents) if isinstance(request, CaseRequest) else ()
    return costs.EXPECTED[newest(GATES)](found.seats, found.table, policy, texts)


def _decided(
    request: GateRequest | CaseRequest, expected: MicroUSD, place: _Place, own_type: str | None
) -> GateDecision:
    return GATE(
        request.task_type,
        request.confidence_score,
        request.estimated_downside,
        policy=place.policy.gate,
        expected_cost=expected,
        declared=Declared(
            request.contested,
            request.single_agent_answer,
            request.force,
            place.role,
            request.materiality,
            own_type,
        ),
    )


def _case(
    asked: _Asked, request: CaseRequest, ids: tuple[str, ...], salts: Mapping[str, bytes], deadline: str | None
) -> Case:
    documents = tuple(
        Document(
            id=name,
            title=d.title or name,
            commitment=commit(salts[name], d.text.encode()),
            characters=len(d.text),
            round=d.round,
        )
        for name, d in zip(ids, request.documents, strict=True)
    )
    copied = {name: getattr(request, name) for name in COPIED}
    made = {"documents": documents, "deadline": deadline, "asked_task_type": asked.own_type}
    return Case(**{**copied, **made, "task_type": asked.task_type})


def complete(asked: type[Struct], made: type[Struct]) -> None:
    """Refuse to start where a field of a request reaches no case, or a member of a case comes from none."""
    fields, members = {*asked.__struct_fields__} - {*BESIDE}, {*made.__struct_fields__} - {*OWN, *WITHIN}
    if lost := sorted(fields - members):
        raise RuntimeError(
            f"{asked.__name__} has {', '.join(lost)}, which reaches no member of {made.__name__}; {HOW_TO}"
        )
    if empty := sorted(members - fields):
        raise RuntimeError(
            f"{made.__name__} has {', '.join(empty)}, which no field of {asked.__name__} gives; {HOW_TO}"
        )


complete(CaseRequest, Case)
