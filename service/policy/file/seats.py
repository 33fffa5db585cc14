"""Who may sit where, and whether that table is as independent as the policy itself demands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.debate.adversarial import SEATS
from service.errors import did_you_mean
from service.policy import Model, Policy, Seat, seating
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import keys_of, sound_members, tables

OTHERS = ("debater", "judge", "synthesizer", "adjudicator", "classifier", seating.SCREENER)
"""The seats of the other formats, and the screener of all; ``debater`` is the pool for all debaters of a table."""
POOL_MAX = 20
"""Models in the pool of debaters."""


def read_seats(written: Any, models: Mapping[str, Model | None] | None, faults: Faults) -> dict[str, Seat | None]:
    """The seats by name, ``None`` where there are faults, which are noted; each of the adversarial format is there.

    Without the others the formats that need them are not offered. ``models`` is ``None`` where the file has no
    catalogue, and no seat is judged by it then. Raises `WrongSetting` for what is no table.
    """
    found, known = tables(written, ("seats",)), (*SEATS, *OTHERS)
    for name in SEATS:
        if name not in found:
            faults.note(("seats", name), "this seat is missing, and every seat needs a model")
    seats: dict[str, Seat | None] = {}
    for name, table in found.items():
        own = Faults()
        if name not in known:
            near = did_you_mean(name, known)
            own.note(("seats", name), f"there is no such seat; there is: {', '.join(known)}{near}")
        else:
            with own.noted():
                seats[name] = _seat(table, models, ("seats", name), own)
        if own.found:
            seats[name] = None
        faults.found += own.found
    return seats


def _seat(written: Any, models: Mapping[str, Model | None] | None, path: Path, faults: Faults) -> Seat | None:
    table = sound_members(written, keys_of(Seat), path, faults)
    model, allowance, fallback = table.get("model"), table.get("allowance"), table.get("fallback")
    choices: tuple[str, ...] = (model,) if isinstance(model, str) else model or ()
    most = POOL_MAX if path == ("seats", seating.DEBATER) else seating.CHOICE_MAX
    if model is not None and (not 0 < len(choices) <= most or len(set(choices)) != len(choices)):
        faults.note((*path, "model"), f"expected one to {most} different models in the order of preference")
    if choices == (fallback,):
        faults.note((*path, "fallback"), f"{fallback!r} is the seat's own model, which will not answer either")
    for key, alias in (*(("model", alias) for alias in choices), ("fallback", fallback)):
        if alias is not None and models is not None:
            with faults.noted():
                _check_model(alias, models, allowance, key, path)
    return None if faults.found else Seat(choices[0], table["allowance"], choices[1:], fallback)


def _check_model(alias: str, models: Mapping[str, Model | None], allowance: int | None, key: str, path: Path) -> None:
    """Raise `WrongSetting` for a model that is not in the catalogue, or whose window does not hold the allowance."""
    if alias not in models:
        has = f"it has: {', '.join(sorted(models))}{did_you_mean(alias, models)}"
        raise WrongSetting((*path, key), f"the catalogue has no model {alias!r}; {has}")
    model = models[alias]
    if model is not None and allowance is not None and not 0 < allowance < model.context_window:
        window = model.context_window
        raise WrongSetting(
            (*path, "allowance"),
            f"expected from 1 to {window - 1}, since the window of {alias!r} is {window} tokens and has to hold "
            f"the request too, found {allowance}",
        )


def check_fixed_names(policy: Policy) -> None:
    """Raise `WrongSetting` for each seat with a floating name, where [debate] refuses those."""
    faults = Faults()
    for name, seat in policy.seats.items():
        for alias in (seat.model, *seat.alternatives, *filter(None, (seat.fallback,))):
            if not policy.debate.floating_names and not policy.models[alias].snapshot:
                faults.note(
                    ("seats", name),
                    f"{alias!r} is named {policy.models[alias].name!r}, which the vendor may give to another model, "
                    "and debate.floating_names refuses that; name a dated version, or say snapshot = true of the model "
                    "where the vendor promises it",
                )
    faults.refuse()


def check_apart(policy: Policy) -> None:
    """Raise `WrongSetting` for each pair of seats nearer to each other than [debate] demands."""
    faults = Faults()
    places = seating.SEATING.choose(policy, seating.ADVERSARIAL)
    for clash in seating.clashes(places, seating.SeatingRules(seating.APART, policy.debate.diversity)):
        one, other = clash.seats
        near = "the same model" if clash.diversity == "sameModel" else "of one family"
        faults.note(
            ("seats", one),
            f"{_who(places, one, clash.models[0])} and {_who(places, other, clash.models[1])} of seat {other!r} are "
            f"{near}, and debate.diversity demands {policy.debate.diversity}; change the models or the fallback of "
            "either seat",
        )
    faults.refuse()


def _who(places: tuple[seating.SeatChoice, ...], seat: str, alias: str) -> str:
    """A model, and whether it is the seat's own or its fallback."""
    place = next(place for place in places if place.seat == seat)
    return f"{alias!r}" if place.model.alias == alias else f"the fallback {alias!r}"
