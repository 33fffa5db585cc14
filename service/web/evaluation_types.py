"""Evaluations as HTTP answers them: a plan as it is sent, how one stands, the list of them, and an event of one."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct, field

from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationProven,
    EvaluationRegistered,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
    SetAsked,
)
from service.debate.amounts import usd
from service.evaluation.plan.model import Plan
from service.report.result.shares import share
from service.reviews.evaluations import SetAtHand, Standing
from service.store.evaluations import StoredEvaluation
from service.web.identity_types import said
from service.web.types import REASON_MAX

PLAN_MAX = 64 << 10
"""The most bytes of a request with a plan."""
EvaluationStatus = Literal["running", "concluded", "stopped", "lost"]
EventKind = Literal[
    "evaluation.registered",
    "evaluation.proven",
    "item.asked",
    "item.scored",
    "evaluation.stopped",
    "evaluation.concluded",
]


class EvaluationRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A plan that is to be registered."""

    plan: Annotated[str, Meta(min_length=1)]
    """The text of a plan file (TOML), as `gainsay evaluate plan` reads it. docs/evaluation.md lists its keys."""


class EvaluationStopRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The reason for the stop of an evaluation."""

    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None
    """Why it is stopped, at most 1,000 code points. It is recorded."""


class EvaluationSet(Struct, frozen=True, kw_only=True, rename="camel"):
    """One split of a golden set that an evaluation asks."""

    id: str
    """The id of the set."""
    version: int
    """The version of the set, from 1."""
    sha256: str
    """The hash of the set, SHA-256 in hexadecimal."""
    split: Literal["open", "held"]
    """`open` for work on prompts and models, `held` for claims."""
    items: int
    """The number of items that are asked."""
    looks: int
    """How many evaluations of the tenant had scored this split before. 0 of an open one."""

    @classmethod
    def of(cls, asked: SetAsked) -> EvaluationSet:
        """A set without the ids of its items."""
        return cls(
            id=asked.id,
            version=asked.version,
            sha256=asked.sha256,
            split=asked.split,
            items=len(asked.items),
            looks=asked.looks,
        )


class SplitCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of items of each split, without those that are retired."""

    open: int
    """The number of items for work on prompts and models."""
    held: int
    """The number of items for claims."""


class GoldenSetState(Struct, frozen=True, kw_only=True, rename="camel"):
    """A golden set that plans may name: what it is and how much it has, and no item and no label of it."""

    id: str
    """The id of the set."""
    version: int
    """The version of the set, from 1."""
    sha256: str
    """The hash of the set, SHA-256 in hexadecimal, by which a plan names it."""
    task_type: str
    """The task type of its items."""
    kind: Literal["questions", "critic", "pairs"]
    """`questions` are for plans of the kind `lift`, `critic` has proposals for critics, `pairs` has arguments for
    moderators."""
    splits: SplitCounts
    """How many items each split has."""
    documents: int
    """The number of documents of its items."""
    groups: int
    """The number of groups of items that are not independent of each other."""
    provenance: str
    """What the labels rest on and who made them, as each report shows it."""
    labelling: str
    """How the labels were made."""
    licence: str
    """The licence of the set."""
    published: str | None = None
    """The date on which the set was published: models of later training may have seen it. Absent where it was not."""
    shipped: bool
    """Whether it came with this build. Any other is a folder that the process was given."""
    looks: int
    """How many evaluations of the tenant have scored its held split so far."""
    worn: bool
    """Whether it was looked at so often that its held split supports no claim any more."""
    retired: int
    """The number of items that are not asked any more."""

    @classmethod
    def of(cls, at_hand: SetAtHand) -> GoldenSetState:
        """A set at hand."""
        about, has = at_hand.golden.manifest, at_hand.has
        return cls(
            id=about.id,
            version=about.version,
            sha256=at_hand.golden.hash,
            task_type=about.task_type,
            kind=about.kind,
            splits=SplitCounts(open=has.splits["open"], held=has.splits["held"]),
            documents=has.documents,
            groups=has.groups,
            provenance=about.provenance,
            labelling=about.labelling,
            licence=about.licence,
            published=None if about.published is None else about.published.isoformat(),
            shipped=at_hand.shipped,
            looks=at_hand.looks,
            worn=at_hand.worn,
            retired=has.retired,
        )


class GoldenSetList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Golden sets by their ids."""

    always_sent: ClassVar = ("sets",)

    sets: tuple[GoldenSetState, ...]
    """The sets that the process which answers has at hand."""


class EvaluationArm(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an arm was expected to cost when the plan was registered."""

    arm: str
    """The name of the arm."""
    expected_usd: str = field(name="expectedUSD")
    """US dollars that all debates of the arm together were expected to cost."""
    most_usd: str = field(name="mostUSD")
    """US dollars that one debate of the arm may cost at most."""


class EvaluationStop(Struct, frozen=True, kw_only=True, rename="camel"):
    """What stopped an evaluation."""

    by: Literal["ceiling", "set", "person", "fault", "revoked"]
    """`ceiling`: what was left paid for no further item; `set`: a golden set was gone, or another one; `person`: it was
    stopped; `fault`: an item could not be asked; `revoked`: the caller that registered it was revoked, or its key."""
    why: str
    """The reason, as a sentence."""


class EvaluationLinks(Struct, frozen=True, kw_only=True, rename="camel"):
    """The addresses of the evaluation and of what belongs to it."""

    self_: str = field(name="self")
    """The path of the evaluation."""
    events: str
    """The path of its events."""
    audit: str
    """The path of its records with proofs."""
    report: str
    """The path of its report, which is there once it is concluded."""
    stop: str
    """The path for stopping it."""

    @classmethod
    def of(cls, evaluation: str) -> EvaluationLinks:
        """The addresses of an evaluation by its id."""
        here = evaluation_address(evaluation)
        return cls(
            self_=here,
            events=f"{here}/events",
            audit=f"{here}/audit",
            report=f"{here}/report",
            stop=f"{here}/stop",
        )


def _shown(plan: Plan) -> dict[str, Any]:
    """A plan as its file says it, in the place of the whole numbers of its record."""
    found: dict[str, Any] = msgspec.to_builtins(plan)
    del found["form"], found["ceiling"]
    shares = {name: share(found[name]) for name in ("alpha", "margin", "missingLimit")}
    effect = {name: share(value) for name, value in found["effect"].items()}
    return {**found, **shares, "effect": effect, "ceilingUSD": usd(plan.ceiling)}


class EvaluationState(Struct, frozen=True, kw_only=True, rename="camel"):
    """How an evaluation stands: its plan, how far it is, its money, and its result once there is one."""

    evaluation_id: str
    """The id of the evaluation, a UUID of version 7."""
    name: str
    """The name that its plan has."""
    question: str
    """What is asked of it."""
    kind: Literal["lift", "critic", "moderator"]
    """What is measured."""
    status: EvaluationStatus
    """`running` until a checkpoint covers its end; then `concluded` with a result, or `stopped` without one. `lost`
    where it ended in a log that was left after a loss of records: nothing will ever prove its end, so no result is
    given."""
    stopped: EvaluationStop | None = None
    """What stopped it. What had been asked by then is concluded, unless a set was gone. Absent if nothing did."""
    paused: str | None = None
    """What it waits for. Absent where it goes on, and after its end."""
    caller: str
    """The opaque id of the caller that registered it."""
    registered_at: str
    """When it was registered, as RFC 3339 in UTC."""
    ended_at: str | None = None
    """When it ended. Absent while it runs."""
    exploratory: bool
    """Whether its result supports no claim, by its plan or because the plan was changed after the first score."""
    plan_hash: str
    """SHA-256 of the plan as it was first registered, in hexadecimal: its items are asked under this one."""
    plan: dict[str, Any]
    """The plan in force, with the members of a plan file in camel case: shares from 0 to 1, `ceilingUSD` in US dollars.
    Its record has the same as whole numbers."""
    sets: tuple[EvaluationSet, ...]
    """The golden sets that it asks."""
    quote: tuple[EvaluationArm, ...]
    """What its arms were expected to cost."""
    planned: int
    """The number of debates that its plan asks for: items times arms times repeats."""
    asked: int
    """The number of debates that were opened."""
    scored: int
    """The number of debates that ended and were scored, whatever their end."""
    ceiling_usd: str = field(name="ceilingUSD")
    """US dollars that the whole may cost."""
    spent_usd: str = field(name="spentUSD")
    """US dollars that its scored debates were charged, lost calls included."""
    finding: str | None = None
    """The finding by which the result is named, such as `better`, `inconclusive` or `notEnough`. Absent without a
    result."""
    result_hash: str | None = None
    """SHA-256 of the compared part of the result, in hexadecimal, as it is recorded. Absent without a result."""
    result: dict[str, Any] | None = None
    """The result in the form `gainsay.result/1`: every statistic with its input, findings and sentences. Absent
    without one."""
    links: EvaluationLinks
    """Where it is found."""

    @classmethod
    def of(cls, standing: Standing) -> EvaluationState:
        """How it stands, amounts in US dollars and times in UTC."""
        stored, found = standing.stored, standing.progress
        first, concluded = found.registered, None if stored.lost else found.concluded
        result = None if stored.result is None or concluded is None else msgspec.json.decode(stored.result)
        return cls(
            evaluation_id=stored.evaluation,
            name=found.plan.name,
            question=found.plan.question,
            kind=found.plan.kind,
            status=status_of(standing),
            stopped=None if found.stopped is None else EvaluationStop(by=found.stopped.by, why=found.stopped.why),
            paused=None if stored.ended is not None else stored.pause,
            caller=stored.subject,
            registered_at=said(stored.registered),
            ended_at=_instant(stored.ended),
            exploratory=found.exploratory,
            plan_hash=first.plan_hash,
            plan=_shown(found.plan),
            sets=tuple(map(EvaluationSet.of, first.sets)),
            quote=tuple(
                EvaluationArm(arm=quoted.arm, expected_usd=usd(quoted.expected), most_usd=usd(quoted.most))
                for quoted in first.quote
            ),
            planned=len(found.units),
            asked=len(found.asked),
            scored=len(found.scored),
            ceiling_usd=usd(found.plan.ceiling),
            spent_usd=usd(found.spent),
            finding=None if concluded is None else concluded.finding,
            result_hash=None if concluded is None else concluded.result,
            result=result,
            links=EvaluationLinks.of(stored.evaluation),
        )


def status_of(standing: Standing) -> EvaluationStatus:
    """Whether an evaluation runs, has a result, ended without one, or has an end that can never be proven."""
    if standing.stored.lost:
        return "lost"
    if standing.progress.concluded is not None:
        return "concluded"
    return "running" if standing.stored.ended is None else "stopped"


def version_of(standing: Standing) -> str:
    """A text that changes with all that is shown of an evaluation."""
    stored = standing.stored
    shown = (standing.progress.next_n, stored.ended, stored.pause, stored.result, stored.lost)
    return sha256(msgspec.json.encode(shown)).hexdigest()[:16]


class ListedEvaluation(Struct, frozen=True, kw_only=True, rename="camel"):
    """An evaluation in a list."""

    evaluation_id: str
    """The id of the evaluation, a UUID of version 7."""
    name: str
    """The name that its plan has."""
    ended: bool
    """Whether nothing of it follows any more."""
    lost: bool
    """Whether it ended in a log that was left after a loss of records: nothing will ever prove its end."""
    paused: str | None = None
    """What it waits for. Absent where it goes on, and after its end."""
    caller: str
    """The opaque id of the caller that registered it."""
    registered_at: str
    """When it was registered, as RFC 3339 in UTC."""
    ended_at: str | None = None
    """When it ended. Absent while it runs."""
    href: str
    """The path of the evaluation."""

    @classmethod
    def of(cls, stored: StoredEvaluation) -> ListedEvaluation:
        """A row of the list."""
        return cls(
            evaluation_id=stored.evaluation,
            name=stored.name,
            ended=stored.ended is not None,
            lost=stored.lost,
            paused=None if stored.ended is not None else stored.pause,
            caller=stored.subject,
            registered_at=said(stored.registered),
            ended_at=_instant(stored.ended),
            href=evaluation_address(stored.evaluation),
        )


class EvaluationList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Evaluations, the newest first."""

    always_sent: ClassVar = ("evaluations",)

    evaluations: tuple[ListedEvaluation, ...]
    """The evaluations of this page."""
    next: str | None = None
    """Where the next page begins: give it as `after`. Absent on the last page."""


class EvaluationEvent(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The data of an event of an evaluation: one of its entries. Members that an entry does not have are absent."""

    evaluation_id: str
    """The id of the evaluation, a UUID of version 7."""
    n: int
    """The index of the entry in the evaluation, from 0; the id of the event."""
    kind: EventKind
    """The kind of the entry; the name of the event."""
    plan_hash: str | None = None
    """SHA-256 of the plan that was registered, or of the changed one."""
    proof: str | None = None
    """The proof that a checkpoint was over the plan before the first case (C2SP tlog-proof)."""
    set: str | None = None
    """The id of the golden set."""
    item: str | None = None
    """The id of the item."""
    arm: str | None = None
    """The name of the arm."""
    repeat: int | None = None
    """How many times the item was asked in this arm, this one included, from 1."""
    debate_id: str | None = None
    """The debate that answers."""
    score: dict[str, Any] | None = None
    """What the debate came to, as it is recorded."""
    by: str | None = None
    """What stopped the evaluation."""
    why: str | None = None
    """Why it was stopped."""
    finding: str | None = None
    """The finding by which the result is named."""
    result_hash: str | None = None
    """SHA-256 of the compared part of the result."""
    exploratory: bool | None = None
    """Whether the result supports no claim."""

    @classmethod
    def of(cls, entry: EvaluationEntry) -> EvaluationEvent:
        """An entry as an event."""
        kind: EventKind = entry.__struct_config__.tag  # type: ignore[assignment] # the tag of one of the entries
        of: dict[str, Any] = {"evaluation_id": entry.evaluation, "n": entry.n, "kind": kind}
        match entry:
            case EvaluationRegistered():
                of |= {"plan_hash": entry.plan_hash}
            case EvaluationProven():
                of |= {"proof": entry.proof}
            case ItemAsked() | ItemScored():
                of |= {"set": entry.set, "item": entry.item, "arm": entry.arm, "repeat": entry.repeat}
                of |= {"debate_id": entry.debate, "score": entry.score if isinstance(entry, ItemScored) else None}
            case EvaluationStopped():
                of |= {"by": entry.by, "why": entry.why}
            case EvaluationConcluded():
                of |= {"finding": entry.finding, "result_hash": entry.result, "exploratory": entry.exploratory}
        return cls(**of)


def evaluation_address(evaluation: str) -> str:
    """The path of an evaluation."""
    return f"/v1/evaluations/{evaluation}"


def _instant(at: datetime | None) -> str | None:
    return None if at is None else said(at)
