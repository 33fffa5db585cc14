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
    """The addresses of the debate, its events, its report and its abort; ``abort`` is absent for a declined case."""

    self_: str = field(name="self")
    events: str
    report: str
    abort: str | None

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
    gate: Gate
    links: Links


class AbortRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The reason for an abort, which is recorded."""

    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None


class Abortion(Struct, frozen=True, kw_only=True, rename="camel"):
    """The effect of an abort. ``stillHeldUSD`` is the reservation of calls in flight, whose cost is not yet known.

    ``status`` is the status with which the debate ends. Until calls in flight return, the debate's own status stays
    ``running``.
    """

    debate_id: str
    status: Status
    spent_usd: str = field(name="spentUSD")
    still_held_usd: str = field(name="stillHeldUSD")

    @classmethod
    def of(cls, found: Aborted) -> Abortion:
        """The amounts in US dollars."""
        return cls(
            debate_id=found.debate, status=found.status, spent_usd=usd(found.spent), still_held_usd=usd(found.held)
        )


class Health(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to a probe that succeeds."""

    status: Literal["alive", "ready"]


def address(debate: str) -> str:
    """The path of a debate."""
    return f"/v1/debates/{debate}"
