"""The known faults of simulated models: [providers.NAME.faults.MODEL], and of one seat, [....MODEL.seats.SEAT].

    the model's own table   holds in every seat; a seat passes over the keys that mean nothing to it
    a seat's table          takes its place in that seat, whole, and has only keys that mean something there

A policy with such a table has simulated models alone, so that no figure of one is taken for that of a real model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Struct

from service.errors import did_you_mean
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import AMOUNT, Key, keys_of, members, read, share, tables, whole

if TYPE_CHECKING:
    from service.policy.models import Model
    from service.policy.policy import Policy
    from service.policy.wires import ProviderSetting

FLAW_FAMILIES = (
    "misreadFigure",
    "deadlineOrDate",
    "dutyAgainstRight",
    "partiesSwapped",
    "exceptionLeftOut",
    "contradictingClause",
    "arithmeticOrUnit",
    "beyondPremises",
    "supersededVersion",
)
"""The families of planted flaws, as golden sets spell them."""
OTHERS = "others"
"""The key of a table by family for the families that it does not name."""
CASES_MAX = 1_000_000
T = TypeVar("T", bound="FaultShares")
Rate = int | dict[str, int]
"""A share in per mille, or one by family."""

_ANSWERS = ("accuracy", "correlation", "mended", "broken")
_STATED = ("confidence", "true_rate")
_DECIDES = ("heeds", *_ANSWERS, *_STATED)
SEAT_FAULTS: Mapping[str, tuple[str, ...]] = {
    "framing": ("misframes",),
    "proposer": (*_ANSWERS, "rounds_alike"),
    "critic": ("hits", "false_alarms", *_STATED),
    "rebuttal": ("concedes",),
    "moderator": ("first_slot_pull", "length_pull", "family_pull", *_DECIDES),
    "debater": (*_ANSWERS, "rounds_alike", *_STATED, "argues_right", "argues_wrong", "concedes"),
    "judge": _DECIDES,
    "synthesizer": _DECIDES,
    "adjudicator": (*_ANSWERS, "rounds_alike"),
    "classifier": ("mistypes",),
    "screener": ("false_alarms",),
}
"""The faults that mean something to each of policy's seats, beside those of every seat."""
EVERY_SEAT = ("unusable", "scatter", "changes_at", "after")
"""The keys of the table of every seat."""
_BY_FAMILY = tuple(share()._replace(name=name, member=name) for name in (*FLAW_FAMILIES, OTHERS))


def _rate() -> Key:
    """A share, or a table of shares by family of flaws."""

    def read_rate(path: Path, value: Any) -> Rate:
        if isinstance(value, str):
            kept: int = share().read(path, value)
            return kept
        if not isinstance(value, dict):
            raise WrongSetting(path, "expected a share in quotes, or a table of shares by family of flaws")
        return members(value, _BY_FAMILY, path)

    properties = {key.name: AMOUNT for key in _BY_FAMILY}
    by_family = {"type": "object", "properties": properties, "additionalProperties": False}
    schema = {"anyOf": [AMOUNT, by_family]}
    return Key("", Any, read_rate, form="0 to 1, or a table by family", schema=schema)


class FaultShares(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a simulated model does wrong in known cases, and how often: shares of cases in per mille.

    What is ``None`` is as in a simulated model without faults. ``docs/models.md`` says which seat has which of them.
    """

    hits: Annotated[Rate | None, _rate()] = None
    """In how many flawed proposals a critic says that the planted argument is wrong."""
    false_alarms: Annotated[Rate | None, _rate()] = None
    """The same in sound proposals; in how many cases a screener suspects a case that has nothing to suspect."""
    first_slot_pull: Annotated[int, share()] = 0
    """In how many cases a moderator decides for a side because of its place; then of its length, and of its family."""
    length_pull: Annotated[int, share()] = 0
    family_pull: Annotated[int, share()] = 0
    heeds: Annotated[int, share()] = 0
    """In how many cases a seat that decides goes by what the others said, and by nothing of its own."""
    accuracy: Annotated[int | None, share()] = None
    """The share of right first answers."""
    correlation: Annotated[int, share()] = 0
    """The share of cases in which an answer takes the draws common to all models."""
    mended: Annotated[int, share()] = 0
    """The share of wrong answers that a later turn puts right."""
    broken: Annotated[int, share()] = 0
    """The share of right ones that it spoils."""
    rounds_alike: Annotated[int, share()] = 1_000
    """The share of cases in which all later turns of a seat take one draw; in the others each takes its own."""
    confidence: Annotated[int | None, share()] = None
    """What the model states."""
    true_rate: Annotated[int | None, share()] = None
    """The share of right answers in replies that state it, in the place of ``accuracy``."""
    misframes: Annotated[int | None, share()] = None
    """In how many cases a framing states the opposite of the proposition; in the others it states that."""
    concedes: Annotated[int | None, share()] = None
    """In how many cases a seat grants every objection to its own side; it grants none in the others."""
    argues_right: Annotated[int | None, share()] = None
    """In how many cases a debater whose stance is right argues with a passage; without any in the others."""
    argues_wrong: Annotated[int | None, share()] = None
    """The same of one whose stance is wrong."""
    mistypes: Annotated[int, share()] = 0
    """In how many cases a classifier gives a question another type."""
    unusable: Annotated[int, share()] = 0
    """The share of replies that cannot be decoded."""
    scatter: Annotated[int, share()] = 0
    """The share of cases in which all but that is drawn anew in each debate."""


def _later() -> Key:
    """A table of shares, whole."""

    def read_later(path: Path, value: Any) -> FaultShares:
        return _shares(path, value, FaultShares)

    return Key("", Any, read_later, form="a table", schema=FaultShares)


class SeatFaults(FaultShares, frozen=True, rename="camel", omit_defaults=True):
    """Faults, and those that hold from a case on: ``changes_at`` is its line in the key file."""

    changes_at: Annotated[int | None, whole(1, CASES_MAX)] = None
    after: Annotated[FaultShares | None, _later()] = None

    def at(self, case: int) -> FaultShares:
        """The shares that hold in a case, by its number in the key file, from 1."""
        return self.after if self.after and self.changes_at is not None and case >= self.changes_at else self


def _by_seat() -> Key:
    """A table of the faults that a model has in one seat, by policy's seat."""

    def read_all(path: Path, value: Any) -> dict[str, SeatFaults]:
        faults, found = Faults(), {}
        for seat, table in tables(value, path).items():
            with faults.noted():
                found[seat] = _seat_faults((*path, seat), seat, table)
        faults.refuse()
        return found

    own = {seat: (*names, *EVERY_SEAT) for seat, names in SEAT_FAULTS.items()}
    properties = {seat: tuple(k for k in keys_of(SeatFaults) if k.name in names) for seat, names in own.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Key("", Any, read_all, form="a table by seat", schema=schema)


class ModelFaults(SeatFaults, frozen=True, rename="camel", omit_defaults=True):
    """The faults of a model in every seat, but for the ``seats`` that have faults of their own."""

    seats: Annotated[dict[str, SeatFaults], _by_seat()] = {}

    def of(self, seat: str) -> SeatFaults:
        """The faults in one of policy's seats."""
        return self.seats.get(seat, self)


def faults_by_model() -> Key:
    """A table of the faults of models, by the name of the model."""

    def read_all(path: Path, value: Any) -> dict[str, ModelFaults]:
        faults, found = Faults(), {}
        for name, table in tables(value, path).items():
            with faults.noted():
                found[name] = _model_faults((*path, name), table)
        faults.refuse()
        return found

    return Key("", Any, read_all, schema={"type": "object", "additionalProperties": ModelFaults})


def check_known_faults(policy: Policy) -> None:
    """Hold a policy to the rules of known faults: its models are simulated, and each table is that of a model."""
    faults = Faults()
    for name, provider in policy.providers.items():
        if provider.faults:
            _check_provider(name, provider, policy.models, faults)
    if any(provider.faults for provider in policy.providers.values()):
        real = [alias for alias, model in policy.models.items() if policy.providers[model.provider].kind != "offline"]
        if real:
            faults.note(
                ("models",),
                f"models that are not offline ones stand beside models with known faults: {', '.join(real)}; give them "
                "a policy of their own, so that no figure of one is taken for another's",
            )
    faults.refuse()


def _check_provider(name: str, provider: ProviderSetting, models: Mapping[str, Model], faults: Faults) -> None:
    known = sorted({model.name for model in models.values() if model.provider == name})
    for model in provider.faults:
        if model not in known:
            there = f"there is: {', '.join(known) or 'none'}{did_you_mean(model, known)}"
            faults.note(("providers", name, "faults", model), f"no model of this provider has this name; {there}")


def _model_faults(path: Path, value: Any) -> ModelFaults:
    return _changing(path, _shares(path, value, ModelFaults))


def _seat_faults(path: Path, seat: str, value: Any) -> SeatFaults:
    known = SEAT_FAULTS.get(seat)
    if known is None:
        said = f"there is: {', '.join(SEAT_FAULTS)}{did_you_mean(seat, [*SEAT_FAULTS])}"
        raise WrongSetting(path, f"there is no such seat; {said}")
    faults = Faults()
    with faults.noted():
        found = _changing(path, _shares(path, value, SeatFaults))
    for place, table in ((path, value), ((*path, "after"), _after(value))):
        faults.found += _meaningless(place, seat, table)
    faults.refuse()
    return found


def _after(value: Any) -> Any:
    return value.get("after") if isinstance(value, dict) else None


def _meaningless(path: Path, seat: str, table: Any) -> Iterator[WrongSetting]:
    """The faults of a seat's table that no turn of the seat can have."""
    shares = {key.name for key in keys_of(FaultShares)}
    for name in table if isinstance(table, dict) else ():
        if name in shares and name not in (*SEAT_FAULTS[seat], *EVERY_SEAT):
            own = ", ".join((*SEAT_FAULTS[seat], "unusable", "scatter"))
            yield WrongSetting((*path, name), f"this fault means nothing to the seat {seat}, which has: {own}")
    if seat == "critic" and isinstance(table, dict) and "true_rate" in table and {"hits", "false_alarms"} & {*table}:
        yield WrongSetting(
            (*path, "true_rate"), "true_rate takes the place of hits and false_alarms; give it or give those"
        )


def _changing(path: Path, found: T) -> T:
    if isinstance(found, SeatFaults) and (found.changes_at is None) != (found.after is None):
        raise WrongSetting((*path, "after"), "changes_at and after belong together; write both or none")
    return found


def _shares(path: Path, value: Any, kind: type[T]) -> T:
    found = read(value, kind, path)
    faults = Faults()
    faults.found += _contradictions(path, found)
    faults.refuse()
    return found


def _contradictions(path: Path, found: FaultShares) -> Iterator[WrongSetting]:
    pulls = found.first_slot_pull + found.length_pull + found.family_pull
    if pulls > 1_000:
        yield WrongSetting(
            (*path, "first_slot_pull"),
            f"first_slot_pull, length_pull and family_pull are together {pulls / 1_000:g}; a case has one pull at "
            "most, so they are 1 together at most",
        )
    if found.accuracy is None and (found.mended or found.broken):
        yield WrongSetting((*path, "accuracy"), "mended and broken change a first answer; give accuracy beside them")
    if found.true_rate is not None and found.confidence is None:
        yield WrongSetting((*path, "confidence"), "true_rate is that of answers with a confidence; give it beside it")
    if found.correlation and found.accuracy is None and found.true_rate is None:
        yield WrongSetting((*path, "accuracy"), "correlation is that of answers; give accuracy beside it")
    if found.rounds_alike != 1_000 and not (found.mended or found.broken):
        yield WrongSetting(
            (*path, "rounds_alike"), "rounds_alike is that of turns that mend or break; give mended or broken beside it"
        )
