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

from service.audit.record import commit
from service.debate.amounts import MicroUSD
from service.debate.entries import DebateStarted, GateDecision
from service.debate.formats import NAMES, name_of
from service.debate.model import Case, Document, Options, SeatPlan
from service.debate.options import role_of
from service.debate.roster import Roster
from service.debate.versions import newest
from service.errors import InvalidCase
from service.gate import GATE, GATES, Declared
from service.intake import expected_cost as costs
from service.intake import options, validation
from service.intake.formats import READINGS
from service.intake.model_ranking import Standing
from service.intake.request import CaseRequest, GateRequest, OptionsRequest, document_ids
from service.policy import ChosenFormat, Policy, encode_configuration, price_hash, seating
from service.prompts import Prompts

MADE = ("documents", "deadline")
"""Members of a case that are made of the request's; all others are copied."""
BESIDE = ("options", "cost_ceiling_usd")
"""What a request says of its debate and not of the case."""
HOW_TO = "give both one name, or list it in BESIDE (service/intake): see docs/how-to/add-a-field.md"
COPIED = tuple(name for name in Case.__struct_fields__ if name not in MADE)


class Prepared(Struct, frozen=True):
    """A checked request: the case, its documents' texts, the decision, and what a debate of it may cost at most.

    ``format_reason`` says why it is debated in its format where that was left to policy.
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


class Deployment(Struct, frozen=True):
    """The parts that run: the pinned prompts, the policy, the day by which prices are chosen, and the build.

    ``approval`` is the signed note that approves this configuration, and ``approved_by`` the name of its key.
    """

    prompts: Prompts
    policy: Policy
    day: str
    build_hash: str
    approved_by: str = "unapproved"
    approval: str = ""

    @property
    def configuration(self) -> bytes:
        """The subject of an approval; its SHA-256 is the configuration hash in every debate."""
        return encode_configuration(self.policy, self.prompts.pin)


def decide(request: GateRequest | CaseRequest, policy: Policy, day: str, role: str, prompts: Prompts) -> GateDecision:
    """The gate's decision on a request; raises `InvalidCase`.

    A panel's models are priced by preference: a decision alone reads no track records.
    """
    asked = _asked(request, policy, day, prompts)
    return _decided(request, sum(_expected(request, asked, policy).values()), policy, role)


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
    policy = deployment.policy
    validation.sizes(request, policy)
    asked = _asked(request, policy, deployment.day, deployment.prompts, standings)
    expected = _expected(request, asked, policy)
    decision = _decided(request, sum(expected.values()), policy, role)
    ids = document_ids(request)
    sources = {name: d.text for name, d in zip(ids, request.documents, strict=True)}
    case = _case(request, ids, salts, validation.deadline(request.deadline, now))
    validation.evidence(case, asked.options)
    ceiling = validation.ceiling(request.cost_ceiling_usd, policy)
    return Prepared(
        case,
        sources,
        decision,
        asked.options,
        asked.seats,
        ceiling,
        sum(expected.values()),
        expected,
        asked.chosen.reason,
    )


def needs_standings(request: CaseRequest, policy: Policy) -> bool:
    """Whether it matters to a request how models did before: only in a format that draws debaters by it."""
    chosen = policy.choose_format(request.format, request.task_type).name
    return chosen in NAMES and READINGS[name_of(chosen)].draws is not None


def start(prepared: Prepared, deployment: Deployment, seed: str) -> DebateStarted:
    """Everything that is fixed before the first turn; ``seed`` is the hash of the ``case.received`` leaf.

    Raises `CeilingTooSmall` when not even framing, one proposal and their moderation can be funded, and `TooLarge`
    when the documents do not fit a seat's window: both before a cent is spent.
    """
    started = fix(prepared, deployment, seed)
    costs.affordable(prepared.case, prepared.sources, started, deployment.prompts)
    return started


def fix(prepared: Prepared, deployment: Deployment, seed: str) -> DebateStarted:
    """The entry that `start` records, before the check of the ceiling."""
    policy, prompts = deployment.policy, deployment.prompts
    apart = seating.choose_table(prepared.options).apart
    return DebateStarted(
        format=str(prepared.options.__struct_config__.tag),
        options=prepared.options,
        seats=prepared.seats,
        pins=dict(prompts.pins()),
        pin=prompts.pin,
        policy_hash=policy.gate.hash,
        price_hash=price_hash(policy),
        configuration_hash=sha256(deployment.configuration).hexdigest(),
        build_hash=deployment.build_hash,
        approved_by=deployment.approved_by,
        approval=deployment.approval,
        seed=seed,
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
    )


class _Asked(NamedTuple):
    """A request, resolved: format, options, and the models of the seats."""

    chosen: ChosenFormat
    options: Options
    table: Roster
    seats: tuple[SeatPlan, ...]


def _asked(
    request: GateRequest | CaseRequest,
    policy: Policy,
    day: str,
    prompts: Prompts,
    standings: Sequence[Standing] = (),
) -> _Asked:
    validation.texts(request, policy)
    validation.amounts(request)
    validation.known_task(request.task_type, policy)
    chosen = validation.known_format(request, policy)
    resolved = options.resolve(request, chosen.name, policy)
    options.known_prompts(resolved, prompts)
    draws, order = READINGS[name_of(chosen.name)].draws, None
    if draws is not None:
        resolved, order = draws(resolved, policy, standings)
    table = seating.choose_table(resolved)
    return _Asked(chosen, resolved, table, _seats(request.options, table, policy, day, order))


def _seats(
    asked: OptionsRequest, table: Roster, policy: Policy, day: str, order: Sequence[str] | None
) -> tuple[SeatPlan, ...]:
    """The models of the seats: policy's, or those that the request names."""
    if asked.models and not policy.debate.may_choose_models:
        raise InvalidCase("policy does not let a case choose models; leave out options.models", pointers=("/options",))
    named = dict.fromkeys((*table.seats, *(role_of(seat) for seat in table.seats)))
    for seat, alias in asked.models.items():
        pointer = f"/options/models/{validation.key(seat)}"
        if seat not in named:
            raise InvalidCase(
                f"unknown seat {validation.check_text(seat)}; use one of: {', '.join(named)}", pointers=(pointer,)
            )
        if alias not in policy.models:
            known = ", ".join(sorted(policy.models))
            raise InvalidCase(f"unknown model {validation.check_text(alias)}; use one of: {known}", pointers=(pointer,))
    return seating.SEATING.seats(policy, table, asked.models, day, order)


def _expected(request: GateRequest | CaseRequest, asked: _Asked, policy: Policy) -> dict[str, MicroUSD]:
    """What each seat is expected to cost; a request for the gate alone has no documents."""
    texts = tuple(d.text for d in request.documents) if isinstance(request, CaseRequest) else ()
    return costs.EXPECTED[newest(GATES)](asked.seats, asked.table, policy, texts)


def _decided(request: GateRequest | CaseRequest, expected: MicroUSD, policy: Policy, role: str) -> GateDecision:
    return GATE(
        request.task_type,
        request.confidence_score,
        request.estimated_downside,
        policy=policy.gate,
        expected_cost=expected,
        declared=Declared(request.contested, request.single_agent_answer, request.force, role),
    )


def _case(request: CaseRequest, ids: tuple[str, ...], salts: Mapping[str, bytes], deadline: str | None) -> Case:
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
    return Case(**{**copied, "documents": documents, "deadline": deadline})


def build_hash(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the package's files (name -> bytes): what the deployer claims to run, not a proof of it."""
    digest = sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def complete(asked: type[Struct], made: type[Struct]) -> None:
    """Refuse to start where a field of a request reaches no case, or a member of a case comes from none."""
    fields, members = {*asked.__struct_fields__} - {*BESIDE}, {*made.__struct_fields__}
    if lost := sorted(fields - members):
        raise RuntimeError(
            f"{asked.__name__} has {', '.join(lost)}, which reaches no member of {made.__name__}; {HOW_TO}"
        )
    if empty := sorted(members - fields):
        raise RuntimeError(
            f"{made.__name__} has {', '.join(empty)}, which no field of {asked.__name__} gives; {HOW_TO}"
        )


complete(CaseRequest, Case)
