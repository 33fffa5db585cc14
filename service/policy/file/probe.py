"""The tenant of the prober, and who may have simulated models beside it.

The prober's tenant has simulated models alone, so that a key of it spends nothing at a vendor. In a file with such a
tenant no other may have them where real ones are configured: what a tenant decides on is then never simulated. A file
without a prober may have both, and `gainsay policy check` warns of that; a debate with one of them says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.policy.faults import Faults, Path, WrongSetting
from service.policy.file.tenants import TenantPolicy
from service.policy.policy import Policy
from service.policy.wires import SIMULATED


def check_simulated(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> None:
    """Hold all policies of a file to the rule; raises `WrongSetting` with every fault."""
    faults = Faults()
    probes = [name for name, tenant in tenants.items() if tenant.probe]
    if not probes:
        return
    for name in probes[1:]:
        faults.note(("tenants", name, "purpose"), f"the prober has one tenant, and {probes[0]!r} is it; leave one")
    for name in probes:
        if real := _models(tenants[name].policy, simulated=False):
            faults.note(
                ("tenants", name, "purpose"),
                f"the prober's tenant has simulated models alone, and its policy has {', '.join(real)}; leave out the "
                "key `policy` to give it the shipped policy, or take these models out of its file",
            )
    others = list(_others(usual, tenants))
    if any(_models(policy, simulated=False) for _, policy in others):
        faults.found += [fault for place, policy in others for fault in _refused(place, policy)]
    faults.refuse()


def _others(usual: Policy, tenants: Mapping[str, TenantPolicy]) -> Iterator[tuple[Path, Policy]]:
    """Every policy that is not the prober's, and the key to change."""
    yield ("models",), usual
    for name, tenant in tenants.items():
        if not tenant.probe and tenant.policy.models != usual.models:
            yield ("tenants", name, "policy"), tenant.policy


def _refused(place: Path, policy: Policy) -> Iterator[WrongSetting]:
    if found := _models(policy, simulated=True):
        yield WrongSetting(
            place,
            f"simulated models where real ones are configured: {', '.join(found)}; only the prober's tenant may have "
            "them, so take them out",
        )


def _models(policy: Policy, *, simulated: bool) -> list[str]:
    """The aliases of the simulated models, or of the real ones."""
    kinds = {alias: policy.providers[model.provider].kind for alias, model in policy.models.items()}
    return [alias for alias, kind in kinds.items() if (kind in SIMULATED) is simulated]
