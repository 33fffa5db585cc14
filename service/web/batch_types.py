"""Batches as HTTP answers them: how one stands, the list of them, and a line of results."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from service.debate.amounts import usd
from service.report.result.decision_types import Decision
from service.reviews.batches import LineResult, Progress, end_of
from service.store.batches import Refused
from service.web.identity_types import said
from service.web.types import REASON_MAX, address

BatchStatus = Literal["running", "ended"]
LineStatus = Literal[
    "waiting", "queued", "running", "completed", "truncated", "failed", "aborted", "declined", "refused"
]


class BatchAbortRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The reason for the abort of a batch, which the records of its aborted debates name."""

    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None
    """Why the batch is aborted, at most 1,000 code points. It is recorded."""


class BatchCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many lines stand how. Their sum is `cases`. A debate is `running` until its end is provable."""

    waiting: int
    """The number of lines whose case has not begun."""
    queued: int
    """The number of lines whose debate waits for a worker."""
    running: int
    """The number of lines whose debate runs, or whose end is not provable yet."""
    completed: int
    """The number of lines whose debate was completed."""
    truncated: int
    """The number of lines whose debate was cut short by money or time, with a decision by what there was."""
    failed: int
    """The number of lines whose debate failed."""
    aborted: int
    """The number of lines whose debate was aborted."""
    declined: int
    """The number of lines that the gate declined."""
    refused: int
    """The number of lines whose case was never recorded; `refused` says why."""


class BatchRefusals(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many lines were refused, by reason. Nothing of them was recorded or paid for."""

    budget: int
    """The number of lines for which the batch's ceiling had too little left."""
    deadline: int
    """The number of lines that had not begun by the batch's deadline."""
    aborted: int
    """The number of lines that had not begun when the batch was aborted."""
    revoked: int
    """The number of lines that had not begun when the caller that brought the batch was revoked."""
    invalid: int
    """The number of lines whose case was not valid any more when it was to begin."""
    key: int
    """The number of lines whose key stands for another case."""
    fault: int
    """The number of lines that faults of the service kept from being recorded."""


class BatchPause(Struct, frozen=True, kw_only=True, rename="camel"):
    """What keeps a batch from beginning its next case at present."""

    waits_for: str
    """`batchCeiling`: money that is allocated to its debates under way; `tenantDay` or `tenantMonth`: the tenant's
    limit; `queue`: a place in the queue; `database` and `fault`: an outage or a fault, after which it is tried
    again."""
    until: str | None = None
    """When that is over at the latest. Absent if that is not known."""


class BatchLinks(Struct, frozen=True, kw_only=True, rename="camel"):
    """The addresses of the batch, its results and its abort."""

    self_: str = field(name="self")
    """The path of the batch."""
    results: str
    """The path of its results."""
    abort: str
    """The path for aborting it."""


class BatchState(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a batch stands: its lines by their state, and its money."""

    batch_id: str
    """The id of the batch, a UUID of version 7."""
    name: str | None = None
    """The caller's own name of it. Absent if none was given."""
    status: BatchStatus
    """`running` until each line has its end, then `ended`."""
    ended_by: Literal["completed", "aborted", "deadline", "revoked"] | None = None
    """What ended it: `completed` where each line had its turn. Absent while it runs."""
    stopped: str | None = None
    """Why nothing more of it is begun. Absent where nothing has stopped it."""
    paused: BatchPause | None = None
    """What it waits for. Absent where it goes on, and after its end."""
    caller: str
    """The opaque id of the caller that brought it."""
    created_at: str
    """When it came, as RFC 3339 in UTC."""
    ended_at: str | None = None
    """When it ended. Absent while it runs."""
    deadline: str | None = None
    """After this time no case of it begins, and its debates end by it. Absent without a deadline."""
    cases: int
    """The number of lines with a case."""
    counts: BatchCounts
    """Its lines by their state."""
    refused: BatchRefusals
    """Its refused lines by reason."""
    joined: int
    """The number of lines whose debate was recorded under their key before. It counts in no ceiling of this batch."""
    ceiling_usd: str = field(name="ceilingUSD")
    """US dollars that all its debates may cost together."""
    spent_usd: str = field(name="spentUSD")
    """US dollars that its debates have been charged so far, what vendors billed beyond a reservation included."""
    remaining_usd: str = field(name="remainingUSD")
    """US dollars that are allocated to no debate of it. What a debate does not spend returns at its end."""
    links: BatchLinks
    """Where it is found."""

    @classmethod
    def of(cls, found: Progress) -> BatchState:
        """How it stands, amounts in US dollars and times in UTC."""
        stored, here = found.stored, batch_address(found.stored.batch)
        pause = None
        if stored.ended is None and stored.pause is not None:
            pause = BatchPause(waits_for=stored.pause, until=_instant(stored.pause_until))
        return cls(
            batch_id=stored.batch,
            name=stored.name,
            status="running" if stored.ended is None else "ended",
            ended_by=end_of(stored),
            stopped=stored.stop_detail,
            paused=pause,
            caller=stored.subject,
            created_at=said(stored.created),
            ended_at=_instant(stored.ended),
            deadline=_instant(stored.deadline),
            cases=stored.lines,
            counts=BatchCounts(**{name: found.counts.get(name, 0) for name in BatchCounts.__struct_fields__}),
            refused=BatchRefusals(**{name: found.refused.get(name, 0) for name in BatchRefusals.__struct_fields__}),
            joined=found.joined,
            ceiling_usd=usd(stored.ceiling),
            spent_usd=usd(found.spent),
            remaining_usd=usd(found.remaining),
            links=BatchLinks(self_=here, results=f"{here}/results", abort=f"{here}/abort"),
        )


class BatchList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Batches, the newest first."""

    batches: tuple[BatchState, ...]
    """The batches of this page."""
    next: str | None = None
    """Where the next page begins: give it as `after`. Absent on the last page."""


class BatchResult(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A line of a batch, and what became of it."""

    line: int
    """The number of the line in the file, from 1; blank lines are counted."""
    key: str | None = None
    """The caller's own key of the line. Absent if it had none."""
    status: LineStatus
    """The state of its debate, `waiting` before that is recorded, or `refused`."""
    debate_id: str | None = None
    joined: bool = False
    """Whether its debate was recorded under its key before this batch."""
    refused: Refused | None = None
    """Why its case was not recorded."""
    detail: str | None = None
    """The reason in words."""
    decision: Decision | None = None
    """What was decided, as the list of debates has it. Absent before its end is provable."""
    spent_usd: str | None = field(name="spentUSD", default=None)
    """US dollars that its debate has been charged so far."""
    href: str | None = None
    """The path of its debate."""

    @classmethod
    def of(cls, found: LineResult) -> BatchResult:
        """A line with amounts in US dollars."""
        status: LineStatus = found.status  # type: ignore[assignment] # states of debates, and two more
        return cls(
            line=found.line,
            key=found.key,
            status=status,
            debate_id=found.debate,
            joined=found.joined,
            refused=found.refused,  # type: ignore[arg-type] # one of the reasons of the table
            detail=found.detail,
            decision=found.decision,
            spent_usd=None if found.spent is None else usd(found.spent),
            href=None if found.debate is None else address(found.debate),
        )


COLUMNS = (
    *("line", "key", "debateId", "status", "outcome", "confidence", "humanReview", "by", "taskType", "format"),
    *("spentUSD", "answer"),
)
"""The columns of the table of decisions."""


def cells(found: LineResult) -> tuple[str, ...] | None:
    """The row of a line that has a decision."""
    decision = found.decision
    if decision is None:
        return None
    return (
        str(found.line),
        found.key or "",
        found.debate or "",
        found.status,
        decision.outcome,
        decision.confidence or "",
        "true" if decision.human_review.required else "false",
        decision.by or "",
        found.task_type or "",
        found.format or "",
        "" if found.spent is None else usd(found.spent),
        decision.answer,
    )


def batch_address(batch: str) -> str:
    """The path of a batch."""
    return f"/v1/batches/{batch}"


def _instant(at: datetime | None) -> str | None:
    return None if at is None else said(at)
