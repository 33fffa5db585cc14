"""GET /v1/budget: what the caller's tenant may spend in its day and month, and what of it is gone."""

from __future__ import annotations

from datetime import datetime

from litestar import Response, get
from msgspec import Struct, field

from service.debate.amounts import usd
from service.policy import Policy
from service.store.evaluation_room import items_under_way
from service.store.pool import Database
from service.store.spend import PeriodUse, limited, use_of
from service.web.app_state import HttpRequest, app_state
from service.web.callers import caller, database
from service.web.debates import answered, known_query
from service.web.operation import JSON, Answer, Operation


class BudgetPeriod(Struct, frozen=True, kw_only=True, rename="camel"):
    """A day or month of the tenant. With a limit, its parts add up: spent, excess, held and remaining are the limit.

    They do not where the limit was lowered below what is gone. Without any limit of the tenant nothing is counted, and
    the amounts are absent.
    """

    begins: datetime
    """When the period began."""
    ends: datetime
    """When it ends. Until then money comes back from debates alone that do not spend what they hold."""
    limited: bool
    """Whether the tenant has a limit for this period."""
    limit_usd: str | None = field(default=None, name="limitUSD")
    """The limit in US dollars. Absent without one."""
    spent_usd: str | None = field(default=None, name="spentUSD")
    """US dollars that calls have cost in this period, excess left out. Money that is only held is no part of it."""
    excess_usd: str | None = field(default=None, name="excessUSD")
    """US dollars that vendors billed above reservations. They count against the limit too."""
    held_usd: str | None = field(default=None, name="heldUSD")
    """US dollars that running debates were allocated and have not spent. It is not spent, and others cannot have it:
    what a debate does not spend comes back when it ends."""
    remaining_usd: str | None = field(default=None, name="remainingUSD")
    """US dollars that are left for debates that begin now: the limit without what is spent, excess and held. Absent
    without a limit."""

    @classmethod
    def of(cls, use: PeriodUse, *, counted: bool) -> BudgetPeriod:
        """The amounts in US dollars, of a tenant whose periods are ``counted``."""
        return cls(
            begins=use.begins,
            ends=use.ends,
            limited=use.whole is not None,
            limit_usd=None if use.whole is None else usd(use.whole),
            spent_usd=usd(use.spent) if counted else None,
            excess_usd=usd(use.excess) if counted else None,
            held_usd=usd(use.held) if counted else None,
            remaining_usd=None if use.left is None else usd(use.left),
        )


class EvaluationUse(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the tenant's evaluations may spend now, and how many of their debates are under way.

    They are counted apart: an evaluation takes nothing of the tenant's own limits, and no other debate takes anything
    of these. A debate is asked when what remains pays for the most that it can cost, reservedUSD left out.
    """

    limited: bool
    """Whether evaluations have a limit at all, for a day or for a month."""
    day: BudgetPeriod
    """The present day."""
    month: BudgetPeriod
    """The present month."""
    reserved_usd: str = field(name="reservedUSD")
    """US dollars that debates under way may still be allocated. Others cannot have them."""
    debates: int
    """How many debates of evaluations are queued or run."""
    most_debates: int
    """How many debates of evaluations may be queued or run at the same time."""


class TenantBudget(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the caller's tenant may spend now. A case is refused (402) if less remains than its debate needs to begin.

    The numbers are of one moment. Debates that were submitted before their tenant had a limit are not counted.
    """

    limited: bool
    """Whether the tenant has a limit at all, for a day or for a month."""
    zone: str
    """The time zone in which days and months begin, such as `UTC`."""
    day: BudgetPeriod
    """The present day."""
    month: BudgetPeriod
    """The present month."""
    evaluations: EvaluationUse
    """What the tenant's evaluations may spend, apart from all of this."""
    ceiling_usd: str = field(name="ceilingUSD")
    """US dollars that a debate may cost where its case names no ceiling."""
    ceiling_max_usd: str = field(name="ceilingMaxUSD")
    """US dollars: the highest ceiling that a case may name."""

    @classmethod
    async def read(cls, database: Database, policy: Policy, tenant: str) -> TenantBudget:
        """The budget of a tenant by its policy; raises `StoreUnavailable`."""
        counted = limited(policy.budgets.of(tenant))
        use = await use_of(database, tenant, policy.budgets)
        own = policy.evaluations.budget
        evaluated = await use_of(database, tenant, policy.budgets, own.money, "evaluation")
        under_way = await items_under_way(database, tenant)
        return cls(
            limited=counted,
            zone=policy.budgets.zone,
            day=BudgetPeriod.of(use["day"], counted=counted),
            month=BudgetPeriod.of(use["month"], counted=counted),
            evaluations=EvaluationUse(
                limited=limited(own.money),
                day=BudgetPeriod.of(evaluated["day"], counted=limited(own.money)),
                month=BudgetPeriod.of(evaluated["month"], counted=limited(own.money)),
                reserved_usd=usd(under_way.reserved),
                debates=under_way.debates,
                most_debates=own.debates,
            ),
            ceiling_usd=usd(policy.debate.ceiling),
            ceiling_max_usd=usd(policy.debate.ceiling_max),
        )


BUDGET = Operation(
    method="get",
    path="/v1/budget",
    id="readBudget",
    scope="catalogue.read",
    tag="what runs",
    summary="Read what remains of the tenant's money for today and this month, and what a case's ceiling may be.",
    description=(
        "Of the caller's own tenant alone. Debates take their money in parts while they run: heldUSD is taken and not "
        "spent, so remainingUSD grows again when they end. POST /v1/quotes says whether one case can begin. "
        "Evaluations have money of their own."
    ),
    answers={200: Answer("The limits, and what is gone of them.", {JSON: (TenantBudget,)})},
    problems=(400, 503),
)


@get("/v1/budget")
async def budget(request: HttpRequest) -> Response[bytes]:
    """The limits of the caller's tenant, and what is gone of them."""
    known_query(request, ())
    tenant = caller(request).tenant
    policy = app_state(request).reviews.deployment_of(tenant).policy
    return answered(await TenantBudget.read(database(request), policy, tenant))
