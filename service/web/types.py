"""Types that only HTTP has; the others are in `service.intake.request` and `service.report.result.types`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from service.debate.amounts import usd
from service.debate.model import Status
from service.report.result.types import Gate
from service.reviews.abort import Aborted

REASON_MAX = 1_000


class Links(Struct, frozen=True, kw_only=True, rename="camel"):
    """The addresses of the debate, its events, its report and its abort."""

    self_: str = field(name="self")
    """The path of the debate."""
    events: str
    """The path of the stream of events."""
    report: str
    """The path of the report."""
    abort: str | None
    """The path for aborting it. Absent for a declined case."""

    @classmethod
    def of(cls, debate: str, *, declined: bool) -> Links:
        """The addresses of a debate."""
        here = address(debate)
        abort = None if declined else f"{here}/abort"
        return cls(self_=here, events=f"{here}/events", report=f"{here}/report", abort=abort)


class Submission(Struct, frozen=True, kw_only=True, rename="camel"):
    """A recorded case: queued for debate, or declined with every rule that the gate checked.

    After a wait its debate may be ``running``.
    """

    debate_id: str
    status: Literal["queued", "running", "declined"]
    """`queued` or `declined`; after a wait also `running`."""
    gate: Gate
    """The gate's decision, with every rule."""
    links: Links
    """Where the debate is found."""


class AbortRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The reason for an abort, which is recorded."""

    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None
    """Why the debate is aborted, at most 1,000 code points. It is recorded."""


class Abortion(Struct, frozen=True, kw_only=True, rename="camel"):
    """The effect of an abort. ``stillHeldUSD`` is the reservation of calls in flight, whose cost is not yet known.

    ``status`` is the status with which the debate ends. Until calls in flight return, the debate's own status stays
    ``running``.
    """

    debate_id: str
    status: Status
    """The status with which the debate ends."""
    spent_usd: str = field(name="spentUSD")
    """US dollars charged so far, excess included."""
    still_held_usd: str = field(name="stillHeldUSD")
    """US dollars reserved for calls in flight, which may still be charged."""

    @classmethod
    def of(cls, found: Aborted) -> Abortion:
        """The amounts in US dollars."""
        return cls(
            debate_id=found.debate, status=found.status, spent_usd=usd(found.spent), still_held_usd=usd(found.held)
        )


class Health(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to a probe that succeeds."""

    status: Literal["alive", "ready"]
    """`alive` of a process that answers, `ready` of one that can take work."""


def address(debate: str) -> str:
    """The path of a debate."""
    return f"/v1/debates/{debate}"
