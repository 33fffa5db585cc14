"""Whether one more debate of a tenant's evaluations may be opened: a place, and money for the most that it may cost.

PostgreSQL decides it in the statement that opens the debate (migrations/0034_evaluation_budgets.sql), one at a time
for each tenant: two evaluations, or two processes, never get what is enough for one. What is opened keeps its reserve
until it ends, so it never stops for want of money that another one took. Nothing of the tenant's own limits counts.
"""

from __future__ import annotations

from datetime import UTC

from msgspec import Struct

from service.debate.amounts import MicroUSD, usd
from service.errors import BudgetExhausted, InvalidCase, QueueFull
from service.policy import EvaluationBudget
from service.store.pool import Database
from service.store.spend import RETRY_MAX_S

PLACES = "evaluationDebates"
"""The name of the limit of debates under way, beside those of money."""
ITEM_LIMITS = {"evaluationDay": "day", "evaluationMonth": "month"}
"""The limits of money, by the names that records have of them, each with its period."""
_WAIT_S = 5
"""When a place is looked for again: places come back when debates end."""


class ItemRoom(Struct, frozen=True):
    """What a debate of an evaluation needs, and what its tenant's evaluations have; the zone says when a day begins."""

    reserve: MicroUSD
    budget: EvaluationBudget
    zone: str

    @property
    def limited(self) -> bool:
        """Whether the debate has to draw its money from a limit."""
        return self.budget.day is not None or self.budget.month is not None

    def params(self) -> dict[str, object]:
        """The parameters by which statements ask for it."""
        return {
            "reserve": self.reserve,
            "places": self.budget.debates,
            "zone": self.zone,
            "day": self.budget.day,
            "month": self.budget.month,
        }


NO_ROOM: dict[str, object] = dict.fromkeys(("reserve", "places", "zone", "day", "month"))
"""The parameters of a debate that is no item of an evaluation."""


class UnderWay(Struct, frozen=True):
    """The debates of a tenant's evaluations that are under way, and what these may still draw, in micro-dollars."""

    debates: int
    reserved: MicroUSD


async def refuse_without_room(database: Database, tenant: str, room: ItemRoom) -> None:
    """Raise `QueueFull` or `BudgetExhausted` where one more debate lacks a place or money.

    Raises `InvalidCase` where no waiting would help, and `StoreUnavailable`.
    """
    if (fault := too_small(room)) is not None:
        raise fault
    rows = await database.query("item_room", {"tenant": tenant, **room.params()})
    if not rows:
        return
    (row,) = rows
    if row["short"] == PLACES:
        raise QueueFull(
            f"as many debates of the tenant's evaluations are under way as [evaluation.budget] allows, "
            f"{room.budget.debates}; the next one is asked when one of them ends",
            retry_after=_WAIT_S,
        )
    period = ITEM_LIMITS[row["short"]]
    whole = (room.budget.day if period == "day" else room.budget.month) or 0
    ends = row["ends"].astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise BudgetExhausted(
        f"of what evaluations may spend in a {period}, {usd(whole)} USD, {usd(max(0, row['remaining']))} USD are left "
        f"beside what debates under way may cost, and the next debate may cost {usd(room.reserve)} USD; the {period} "
        f"ends at {ends}. It is asked then, or when debates under way have returned what they did not spend",
        limit=row["short"],
        left=row["remaining"],
        ends=ends,
        retry_after=min(RETRY_MAX_S, max(1, int(row["ends_s"]) + 1)),
    )


def too_small(room: ItemRoom) -> InvalidCase | None:
    """The refusal of a debate that no day and no month could pay for, however long it waits."""
    for period, whole in (("month", room.budget.month), ("day", room.budget.day)):
        if whole is not None and whole < room.reserve:
            return InvalidCase(
                f"the debate may cost {usd(room.reserve)} USD, and [evaluation.budget] pays {usd(whole)} USD in a "
                f"{period}; raise {period}_usd, or take cheaper models or shorter documents"
            )
    return None


async def items_under_way(database: Database, tenant: str) -> UnderWay:
    """The debates of a tenant's evaluations that are under way now; raises `StoreUnavailable`."""
    (row,) = await database.query("items_under_way", {"tenant": tenant})
    return UnderWay(row["debates"], row["reserved"])
