"""What a process takes from its configuration at the start, and again where another one comes in force."""

from __future__ import annotations

from typing import Any, Literal

from service.audit.record import Actor, Writer
from service.intake.configuration import Configuration
from service.policy.file.tenants import all_evaluation_budgets, all_shares, all_traces, confined
from service.running.metrics_begun import begin_metrics
from service.running.worker import WorkerConfig


def begin_metrics_of(found: Configuration) -> None:
    """Begin every series of what a configuration names."""
    policies = [deployment.policy for deployment in found.every]
    begin_metrics(policies, found.usual.prompts, found.settings.metrics_tenants)


def worker_config(found: Configuration, name: str) -> WorkerConfig:
    """How a worker goes by a configuration, with what tenants have otherwise."""
    settings = found.settings
    policy, tenants = settings.policy, settings.tenants
    own: dict[str, Any] = {"shares": all_shares(policy, tenants), "confined": confined(tenants)}
    own |= {"traces": all_traces(policy, tenants), "budgets": found.budgets}
    own |= {"items": all_evaluation_budgets(policy, tenants)}
    return WorkerConfig.of(policy, name, settings.lease_s, found.usual.build_hash, **own)


def own_writer(name: str, build: str, role: Literal["selfcheck", "worker", "server"]) -> Writer:
    """A process as the author of records of its own."""
    return Writer(Actor(name, "service", role, "databaseRole"), build)
