"""The series that a process has from its start: what it runs, and every label that its policies name, at zero."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product

from service import __version__, telemetry
from service.debate.kernel import FORMATS
from service.observing import labelled
from service.policy import Policy
from service.prompts import Prompts
from service.running import checker, versions


def begin_metrics(policies: Sequence[Policy], prompts: Prompts, tenants: Collection[str] = ()) -> None:
    """Begin every series of what any of these policies names; the first is that of the process.

    ``tenants`` are those that metrics name.
    """
    labelled.NAMED_TENANTS.clear()
    labelled.NAMED_TENANTS.update(tenants)
    for tenant, status in product((*tenants, labelled.OTHER) if tenants else (), telemetry.ENDED):
        telemetry.TENANT_CONCLUDED.labels(tenant=tenant, status=status)
    telemetry.BUILD.alone(version=__version__, prompts_pin=prompts.pin[:12], policy=policies[0].version).set(1)
    for engine, version in [*versions.CURRENT.items(), *checker.ENGINES.items()]:
        telemetry.ENGINES.labels(engine=engine, version=version).set(1)

    def together(names: Callable[[Policy], Iterable[str]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for policy in policies for name in names(policy)))

    labelled.initialise(
        task_types=together(lambda policy: policy.task_types),
        formats=tuple(FORMATS),
        models=together(lambda policy: policy.models),
        seats=together(lambda policy: policy.seats),
    )
