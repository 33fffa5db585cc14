"""The known faults of simulated models: [providers.NAME.faults.MODEL].

A policy with such a table has simulated models alone, so that no figure of one is taken for that of a real model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Struct

from service.errors import did_you_mean
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import AMOUNT, Key, members, read, share, tables, whole

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

    ``hits`` and ``false_alarms`` are a critic's: in how many flawed and sound proposals it says that the planted
    argument is wrong. The pulls are a moderator's: in how many cases it decides for a side because of its place, its
    length or its family. ``accuracy`` is the share of right answers, ``correlation`` that of cases in which a first
    answer takes the draw common to all models. ``mended`` is the share of wrong first answers that a later turn puts
    right, ``broken`` that of right ones that it spoils. ``confidence`` is what the model states, and ``true_rate`` the
    share of right answers in replies that state it, in the place of ``accuracy``. ``unusable`` is the share of replies
    that cannot be decoded. ``scatter`` is the share of cases in which all but that is drawn anew in each debate. What
    is ``None`` is as in a simulated model without faults.
    """

    hits: Annotated[Rate | None, _rate()] = None
    false_alarms: Annotated[Rate | None, _rate()] = None
    first_slot_pull: Annotated[int, share()] = 0
    length_pull: Annotated[int, share()] = 0
    family_pull: Annotated[int, share()] = 0
    accuracy: Annotated[int | None, share()] = None
    correlation: Annotated[int, share()] = 0
    mended: Annotated[int, share()] = 0
    broken: Annotated[int, share()] = 0
    confidence: Annotated[int | None, share()] = None
    true_rate: Annotated[int | None, share()] = None
    unusable: Annotated[int, share()] = 0
    scatter: Annotated[int, share()] = 0


def _later() -> Key:
    """A table of shares, whole."""

    def read_later(path: Path, value: Any) -> FaultShares:
        return _shares(path, value, FaultShares)

    return Key("", Any, read_later, form="a table", schema=FaultShares)


class ModelFaults(FaultShares, frozen=True, rename="camel", omit_defaults=True):
    """The faults of a model, and those that it has from a case on: ``changes_at`` is its line in the key file."""

    changes_at: Annotated[int | None, whole(1, CASES_MAX)] = None
    after: Annotated[FaultShares | None, _later()] = None

    def at(self, case: int) -> FaultShares:
        """The shares that hold in a case, by its number in the key file, from 1."""
        return self.after if self.after and self.changes_at is not None and case >= self.changes_at else self


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
    found = _shares(path, value, ModelFaults)
    if (found.changes_at is None) != (found.after is None):
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
