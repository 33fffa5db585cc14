"""What is no fault of a policy and still worth a look: keys that are not there, old prices, simulated
models beside real ones, seats that think alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date

from service.debate.alike import identity, nearness
from service.debate.model import SeatPlan
from service.debate.roster import Roles
from service.errors import SettingsError
from service.policy import SIMULATED, Policy, ProviderSetting, seating
from service.policy.mounted_secrets import FILE, take
from service.policy.seating import DEBATER, SeatChoice, seat_plan
from service.providers.credentials import read_secret

PRICE_DAYS = 90
"""A price that was looked up more days ago is reported."""
_DAY = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")
_ROLES: Roles = seating.ADVERSARIAL.roles


def secrets_of(setting: ProviderSetting) -> dict[str, str]:
    """The places of a provider's secrets, by their keys in the policy."""
    named = {f"secret_headers.{header}": place for header, place in setting.secret_headers.items()}
    return ({"key": setting.key} if setting.key else {}) | named


def missing_keys(policy: Policy, environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each secret that the policy names and that cannot be read here; no secret is shown."""
    for name, setting in policy.providers.items():
        for key, place in secrets_of(setting).items():
            try:
                read_secret(place, environment)
            except SettingsError as error:
                yield f"providers.{name}.{key}: {error.detail}"


def open_key_files(policy: Policy) -> Iterator[str]:
    """A sentence for each mounted file with a secret that every user may read; one of our own user is refused."""
    for name, setting in policy.providers.items():
        for key, place in secrets_of(setting).items():
            if place.startswith(FILE) and (warning := take(place, {}).warning):
                yield f"providers.{name}.{key}: {warning}"


def old_prices(policy: Policy, day: str, days: int = PRICE_DAYS) -> Iterator[str]:
    """A sentence for each model whose price in force was looked up long ago, by the last day that its source names."""
    for alias, model in policy.models.items():
        price = model.price(day)
        if price is None or policy.providers[model.provider].kind in SIMULATED:
            continue
        read = max([found for found in _DAY.findall(price.source) if _is_day(found)], default=price.effective)
        age = (date.fromisoformat(day) - date.fromisoformat(read)).days
        if age > days:
            yield (
                f"models.{alias}: its price is of {read}, {age} days ago; compare it with the vendor's list, "
                "and add a row with a new source, also where nothing has changed"
            )


def simulated_beside(policy: Policy) -> Iterator[str]:
    """A sentence where a policy has simulated models beside real ones."""
    kinds = {alias: policy.providers[model.provider].kind for alias, model in policy.models.items()}
    simulated = [alias for alias, kind in kinds.items() if kind in SIMULATED]
    if simulated and len(simulated) < len(kinds):
        yield (
            f"models: {', '.join(simulated)} are simulated, beside real models; a debate with one of them proves "
            "nothing and says so, so take them out where cases are decided"
        )


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def alike_seats(policy: Policy, day: str) -> Iterator[str]:
    """A sentence for each cap that the seats' own models bring to a debate, fallbacks left aside."""
    places = seating.SEATING.choose(policy, seating.ADVERSARIAL)
    plans = {place.seat: seat_plan(policy, SeatChoice(place.seat, place.model), day) for place in places}
    weighed, deciders = _ROLES.weighed, _ROLES.deciders
    caps = {
        "oneModel": _one(plans, "sameModel"),
        "oneFamily": _one(plans, "sameFamily") and not _one(plans, "sameModel"),
        "criticOnProposersModel": _meet(plans, _ROLES.critics, _ROLES.proposers, "sameModel"),
        "deciderOnWeighedModel": _meet(plans, deciders, weighed, "sameModel"),
        "moderatorOfProposersFamily": _meet(plans, deciders, _ROLES.proposers, "sameFamily"),
    }
    if held := [name for name, holds in caps.items() if holds]:
        yield (
            "seats: proposer, critic, rebuttal and moderator think alike, so the confidence of every adversarial "
            f"debate is at most MODERATE and a person has to decide ({', '.join(held)}); seats with models of other "
            "families lift that"
        )
    pool = policy.seats.get(DEBATER)
    if pool and len({policy.models[alias].family for alias in (pool.model, *pool.alternatives)}) == 1:
        yield (
            "seats.debater: all debaters are of one family, so the confidence of the formats between debaters is at "
            "most MODERATE (oneFamily), and a panel that chooses its models itself is refused; add another "
            "family"
        )


def _one(plans: Mapping[str, SeatPlan], least: str) -> bool:
    table = [plans[seat] for seat in _ROLES.table]
    return any(all(_near(one, other, least) for other in table) for one in table)


def _meet(plans: Mapping[str, SeatPlan], ones: tuple[str, ...], others: tuple[str, ...], least: str) -> bool:
    return any(_near(plans[one], plans[other], least) for one in ones for other in others)


def _near(one: SeatPlan, other: SeatPlan, least: str) -> bool:
    return nearness(identity(one), identity(other)) in ("sameModel", least)
