"""[tenants.NAME]: what one tenant has otherwise than the others, and the policy that its debates go by.

    policy                                 a policy file of its own, beside the service's
    approval                               the approval of this tenant's configuration
    day_usd, month_usd, rates, webhooks    limits in the place of the service's
    running, waiting                       the same for debates that run and that wait
    evaluation_budget                      what its evaluations may spend, in the place of [evaluation.budget]
    purpose                                "probe": the tenant is the prober's (`service.policy.file.probe`)

A tenant's own file has the tables of `OWN`; of providers, models and seats those that it leaves out are the service's.
What is one for all tenants (calls, the workers' places, the audit log, the approver) is always that of the service's
file. The policy that results is whole, and its hash is what the tenant's records name. It holds nothing of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from service.debate.amounts import MicroUSD
from service.policy.evaluation import EvaluationBudget, EvaluationBudgets
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import UNLIMITED, dollars, keys_of, members, table, tables, whole, whole_or_unlimited
from service.policy.limits import Budget, Budgets, check_day_within_month
from service.policy.policy import Policy, encode_policy
from service.policy.rates import Rates
from service.policy.traces import Traces
from service.policy.webhooks import Webhooks
from service.policy.wires import SIMULATED, ProviderSetting

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
OWN = ("policy", "gate", "debate", "formats", "limits", "dropin", "providers", "models", "seats")
"""The tables of a tenant's own policy file."""
SHARED = (
    "calls",
    "queue",
    "budgets",
    "rates",
    "batches",
    "webhooks",
    "traces",
    "evaluation",
    "audit",
    "approval",
    "tenants",
)
"""The tables that hold for all tenants, or name one."""
CATALOGUE = ("providers", "models", "seats")
"""Those that the service's file gives where the tenant's leaves them out."""


class TenantRow(Struct, frozen=True):
    """A table of [tenants], as the file has it; a limit that it leaves out is ``UNSET``."""

    policy: str | None = None
    approval: str | None = None
    day: Annotated[MicroUSD | UnsetType | None, dollars("day_usd", none=UNLIMITED)] = UNSET
    month: Annotated[MicroUSD | UnsetType | None, dollars("month_usd", none=UNLIMITED)] = UNSET
    running: Annotated[int | UnsetType | None, whole_or_unlimited(1, 1_000_000)] = UNSET
    waiting: Annotated[int | UnsetType, whole(1, 1_000_000)] = UNSET
    rates: Annotated[Rates | UnsetType, table(Rates)] = UNSET
    webhooks: Annotated[Webhooks | UnsetType, table(Webhooks)] = UNSET
    traces: Annotated[Traces | UnsetType, table(Traces)] = UNSET
    evaluation_budget: Annotated[EvaluationBudget | UnsetType, table(EvaluationBudget)] = UNSET
    purpose: Literal["usual", "probe"] = "usual"

    @property
    def probe(self) -> bool:
        """Whether the tenant is the prober's."""
        return self.purpose == "probe"

    @property
    def shipped(self) -> bool:
        """Whether its policy is the shipped one: the prober's, unless it has a file of its own."""
        return self.probe and self.policy is None


class TenantPolicy(Struct, frozen=True):
    """The policy of a named tenant, the file that has it, the file of its approval, and whether it is the prober's."""

    policy: Policy
    path: FilePath
    approval: FilePath | None = None
    probe: bool = False


def read_rows(written: Any, faults: Faults) -> dict[str, TenantRow]:
    """The tables of [tenants] that can be read; the faults of the others are noted."""
    found: dict[str, TenantRow] = {}
    named: Mapping[str, Any] = {}
    with faults.noted():
        named = tables(written, ("tenants",))
    for name, row in named.items():
        path: Path = ("tenants", name)
        with faults.noted():
            if not NAME.fullmatch(name):
                raise WrongSetting(path, f"expected a tenant's name of {NAME.pattern}, found another")
            found[name] = TenantRow(**members(row, keys_of(TenantRow), path))
    return found


def refuse_shared(written: Mapping[str, Any], service: FilePath) -> Iterator[WrongSetting]:
    """A fault for each table of a tenant's own file that only the service's file may have."""
    for name in written:
        if name in SHARED:
            yield WrongSetting(
                (name,),
                f"this table holds for the whole service: write it in {service.name}, or a limit under [tenants]",
            )


def tenant_policies(
    usual: Policy, rows: Mapping[str, TenantRow], own: Mapping[str, Policy], path: FilePath
) -> dict[str, TenantPolicy]:
    """The policy of each named tenant; raises `WrongSetting` with every fault."""
    faults, found = Faults(), dict[str, TenantPolicy]()
    providers = dict(usual.providers)
    for name, row in rows.items():
        with faults.noted():
            _share_providers(name, own.get(name, usual).providers, providers)
        with faults.noted():
            policy = _policy(name, row, own.get(name, usual), usual)
            place = path if row.policy is None else path.parent / row.policy
            approval = None if row.approval is None else path.parent / row.approval
            found[name] = TenantPolicy(policy, place, approval, row.probe)
    faults.refuse()
    return found


def all_providers(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> dict[str, ProviderSetting]:
    """The providers of all policies together; one name has one setting."""
    found = dict(usual.providers)
    for tenant in tenants.values():
        found |= tenant.policy.providers
    return found


def with_all_providers(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> Policy:
    """The service's policy with the providers of all: whose keys a process needs to start."""
    return replace(usual, providers=all_providers(usual, tenants))


def all_budgets(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> Budgets:
    """The limits of all tenants, which workers keep; the zone is one."""
    named = {name: tenant.policy.budgets.others for name, tenant in tenants.items()}
    return replace(usual.budgets, tenants=named)


def all_evaluation_budgets(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> EvaluationBudgets:
    """What the evaluations of every tenant may spend, which workers keep."""
    named = {name: tenant.policy.evaluations.budget for name, tenant in tenants.items()}
    return EvaluationBudgets(usual.evaluations.budget, named)


def prober(tenants: Mapping[str, TenantPolicy]) -> str | None:
    """The prober's tenant; ``None`` where no prober is configured."""
    return next((name for name, tenant in tenants.items() if tenant.probe), None)


def confined(tenants: Mapping[str, TenantPolicy]) -> dict[str, frozenset[str]]:
    """The tenants whose debates may ask some providers alone, with these: the prober, and the simulated ones.

    A debate that began before its tenant was the prober's stays where it is; no vendor is called for it.
    """
    probes = {name: tenant.policy.providers for name, tenant in tenants.items() if tenant.probe}
    return {name: frozenset(key for key in its if its[key].kind in SIMULATED) for name, its in probes.items()}


def all_shares(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> dict[str, int | None]:
    """The most running debates of tenants with another limit than the service's; ``None`` is no limit."""
    found = {name: tenant.policy.queue.per_tenant for name, tenant in tenants.items()}
    return {name: share for name, share in found.items() if share != usual.queue.per_tenant}


def all_traces(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> dict[str, Traces]:
    """What spans may hold, of tenants with another table than the service's."""
    found = {name: tenant.policy.traced for name, tenant in tenants.items()}
    return {name: traces for name, traces in found.items() if traces != usual.traced}


def _share_providers(tenant: str, mine: Mapping[str, ProviderSetting], known: dict[str, ProviderSetting]) -> None:
    """Take a tenant's providers in; a worker has one connection for a name, so it must mean the same everywhere."""
    for name, setting in mine.items():
        if known.setdefault(name, setting) != setting:
            raise WrongSetting(
                ("tenants", tenant, "policy"),
                f"its file has other settings for the provider {name!r} than another policy; give it a name of its own",
            )


def _policy(name: str, row: TenantRow, own: Policy, usual: Policy) -> Policy:
    path: Path = ("tenants", name)
    before = usual.budgets.others
    day = before.day if isinstance(row.day, UnsetType) else row.day
    month = before.month if isinstance(row.month, UnsetType) else row.month
    check_day_within_month(Budget(day, month), path)
    waiting = usual.queue.waiting_per_tenant if isinstance(row.waiting, UnsetType) else row.waiting
    running = usual.queue.per_tenant if isinstance(row.running, UnsetType) else row.running
    evaluation = usual.evaluation
    if not isinstance(row.evaluation_budget, UnsetType):
        check_day_within_month(row.evaluation_budget.money, (*path, "evaluation_budget"))
        evaluation = replace(usual.evaluations, budget=row.evaluation_budget)
    policy = replace(
        own,
        budgets=Budgets(zone=usual.budgets.zone, others=Budget(day, month)),
        queue=replace(usual.queue, per_tenant=running, waiting_per_tenant=waiting),
        rates=usual.rates if isinstance(row.rates, UnsetType) else row.rates,
        webhooks=usual.webhooks if isinstance(row.webhooks, UnsetType) else row.webhooks,
        traces=usual.traces if isinstance(row.traces, UnsetType) else row.traces,
        evaluation=evaluation,
        calls=usual.calls,
        audit=usual.audit,
        approval=usual.approval,
    )
    return replace(policy, gate=replace(policy.gate, hash=sha256(encode_policy(policy)).hexdigest()))
