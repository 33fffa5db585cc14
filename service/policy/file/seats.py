"""Who may sit where, and whether that table is as independent as the policy itself demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.debate.adversarial import SEATS
from service.policy import Model, Policy, Seat, seating
from service.policy.faults import Path, WrongSetting
from service.policy.keys import keys_of, members, tables

OTHERS = ("debater", "judge", "synthesizer", "adjudicator", "classifier")
"""The seats of the other formats; ``debater`` is the pool for all debaters of a table."""
POOL_MAX = 20
"""Models in the pool of debaters."""


def read_seats(written: Any, models: Mapping[str, Model]) -> dict[str, Seat]:
    """The seats by name, each of the adversarial format there; raises `WrongSetting`.

    Without the others the formats that need them are not offered.
    """
    found = tables(written, ("seats",))
    for name in found:
        if name not in (*SEATS, *OTHERS):
            raise WrongSetting(("seats", name), f"there is no such seat; there is: {', '.join((*SEATS, *OTHERS))}")
    for name in SEATS:
        if name not in found:
            raise WrongSetting(("seats", name), "this seat is missing, and every seat needs a model")
    return {name: _seat(table, models, ("seats", name)) for name, table in found.items()}


def _seat(written: Any, models: Mapping[str, Model], path: Path) -> Seat:
    table = members(written, keys_of(Seat), path)
    model, allowance, fallback = table["model"], table["allowance"], table.get("fallback")
    choices = (model,) if isinstance(model, str) else model
    most = POOL_MAX if path == ("seats", seating.DEBATER) else seating.CHOICE_MAX
    if not 0 < len(choices) <= most or len(set(choices)) != len(choices):
        raise WrongSetting((*path, "model"), f"expected one to {most} different models in the order of preference")
    if choices == (fallback,):
        raise WrongSetting((*path, "fallback"), f"{fallback!r} is the seat's own model, which will not answer either")
    for key, alias in (*(("model", alias) for alias in choices), ("fallback", fallback)):
        if alias is None:
            continue
        if alias not in models:
            raise WrongSetting(
                (*path, key), f"the catalogue has no model {alias!r}; it has: {', '.join(sorted(models))}"
            )
        window = models[alias].context_window
        if not 0 < allowance < window:
            raise WrongSetting(
                (*path, "allowance"),
                f"expected from 1 to {window - 1}, since the window of {alias!r} is {window} tokens and has to hold "
                f"the request too, found {allowance}",
            )
    return Seat(choices[0], allowance, choices[1:], fallback)


def check_table(policy: Policy) -> None:
    """Raise `WrongSetting` for a seat that breaks what [debate] demands: fixed names and a diverse table."""
    for name, seat in policy.seats.items():
        for alias in (seat.model, *seat.alternatives, *filter(None, (seat.fallback,))):
            if not policy.debate.floating_names and not policy.models[alias].snapshot:
                raise WrongSetting(
                    ("seats", name),
                    f"{alias!r} is named {policy.models[alias].name!r}, which the vendor may give to another model, "
                    "and debate.floating_names refuses that; name a dated version, or say snapshot = true of the model "
                    "where the vendor promises it",
                )
    places = seating.SEATING.choose(policy, seating.ADVERSARIAL)
    for clash in seating.clashes(places, seating.SeatingRules(seating.APART, policy.debate.diversity)):
        one, other = clash.seats
        near = "the same model" if clash.diversity == "sameModel" else "of one family"
        raise WrongSetting(
            ("seats", one),
            f"{_who(places, one, clash.models[0])} and {_who(places, other, clash.models[1])} of seat {other!r} are "
            f"{near}, and debate.diversity demands {policy.debate.diversity}; change the models or the fallback of "
            "either seat",
        )


def _who(places: tuple[seating.SeatChoice, ...], seat: str, alias: str) -> str:
    """A model, and whether it is the seat's own or its fallback."""
    place = next(place for place in places if place.seat == seat)
    return f"{alias!r}" if place.model.alias == alias else f"the fallback {alias!r}"
