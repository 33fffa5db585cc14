"""The catalogue: aliases, the models behind them, how their tokens are counted, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Struct

from service.debate.model import PriceRow
from service.debate.wires import Wire
from service.money import TOKENIZERS
from service.policy.bounds import COUNT_MAX
from service.policy.faults import Path, WrongSetting
from service.policy.keys import NAME, NAMES, OPTIONAL, UNWRITTEN, Key, keys_of, members, per_mille, whole
from service.policy.parameters import check_parameters
from service.policy.prices import read_prices
from service.policy.wires import RULES, SIMULATED, ProviderSetting

ROUGH = "bytes/4"
"""The tokenizer of simulated models alone."""

_FIXED = re.compile(
    r"""(?:
        [-@_.]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])   # -2025-08-07, -20250929, @20250929
      | [-@_](?:0[1-9]|1[0-2])-20\d\d                               # -08-2024
      | -preview-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])          # -preview-05-06
      | [-@]\d{3,4}                                                 # @001, -002, -0613, -2411
      | @sha256:[0-9a-f]{64}
    )(?:-v\d+(?::\d+)?|-preview)?\Z""",
    re.VERBOSE,
)


class Model(Struct, frozen=True, rename="camel"):
    """A model of the catalogue. ``prices`` are in the order of their dates; the last one in force counts.

    ``overhead_tokens`` are what the vendor adds to each request beyond the text that we count; ``snapshot`` says
    whether the name is that of one fixed artefact, and not one that the vendor may give to another.
    """

    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    safety_per_mille: Annotated[int, per_mille("safety", 1, 10), OPTIONAL]
    context_window: Annotated[int, whole(1, COUNT_MAX)]
    prices: Annotated[tuple[PriceRow, ...], Key(written=tuple[Any, ...])]
    parameters: dict[str, Any] = {}
    overhead_tokens: Annotated[int, whole(0, 100_000)] = 0
    snapshot: bool = True

    def price(self, day: str) -> PriceRow | None:
        """The price row in force on a day (``YYYY-MM-DD``), or ``None``: no price, no call."""
        return next((row for row in reversed(self.prices) if row.effective <= day), None)


class Seat(Struct, frozen=True, rename="camel"):
    """The models that may sit in a seat, in the order of preference, and the most output tokens of one turn there.

    A list under ``model`` in the file is kept as the model and its alternatives. The seat ``debater`` is the pool of
    all debaters. ``fallback`` is asked where the model cannot answer.
    """

    model: Annotated[str, Key(written=str | tuple[str, ...])]
    allowance: int
    alternatives: Annotated[tuple[str, ...], UNWRITTEN] = ()
    fallback: str | None = None


def read_models(written: Any, providers: Mapping[str, ProviderSetting]) -> dict[str, Model]:
    """The models by alias, in the order of the file; raises `WrongSetting`."""
    if not isinstance(written, list) or not written:
        raise WrongSetting(("models",), "expected at least one table [[models]]")
    models: dict[str, Model] = {}
    for i, table in enumerate(written):
        model = _model(table, providers, ("models", i))
        if model.alias in models:
            raise WrongSetting(("models", i, "alias"), f"the alias {model.alias!r} is used twice")
        for other in models.values():
            _consistent(model, other, ("models", i, "family"))
            if _one_deployment(providers[model.provider]):
                _apart(model, other, ("models", i, "provider"))
        models[model.alias] = model
    return models


def is_fixed(name: str) -> bool:
    """Whether a name ends in a date, a version or a digest: the mark of one fixed artefact."""
    return "latest" not in name.lower() and bool(_FIXED.search(name))


def _model(written: Any, providers: Mapping[str, ProviderSetting], path: Path) -> Model:
    table = members(written, keys_of(Model), path)
    if not NAME.fullmatch(table["alias"]):
        raise WrongSetting((*path, "alias"), f"expected an alias of {NAMES}, found {table['alias']!r}")
    for key in ("name", "family"):
        found: str = table[key]
        if not found.strip() or found != found.strip() or not found.isprintable():
            raise WrongSetting((*path, key), f"expected a {key} of printable characters, found {found!r}")
    if table["provider"] not in providers:
        known = ", ".join(sorted(providers)) or "none"
        raise WrongSetting((*path, "provider"), f"there is no provider {table['provider']!r}; there is: {known}")
    wire = providers[table["provider"]].kind
    table["prices"] = read_prices(table["alias"], table["context_window"], table["prices"], (*path, "prices"))
    table["snapshot"] = _snapshot(table.get("snapshot"), table["name"], wire, path)
    model = Model(**{"safety_per_mille": 1_000, **table})
    check_parameters(model.parameters, wire, model.prices, (*path, "parameters"))
    check_counting(model, wire, path)
    return model


def check_counting(model: Model, wire: Wire, path: Path) -> None:
    """Raise `WrongSetting` for a tokenizer that is not there, or that counts less than the vendor of the wire."""
    if model.tokenizer not in TOKENIZERS:
        known = ", ".join(sorted(TOKENIZERS))
        raise WrongSetting((*path, "tokenizer"), f"there is no tokenizer {model.tokenizer!r}; there is: {known}")
    if wire not in SIMULATED and model.tokenizer == ROUGH:
        others = ", ".join(sorted(set(TOKENIZERS) - {ROUGH})) or "none yet"
        raise WrongSetting((*path, "tokenizer"), f"{ROUGH} counts for simulated models alone; use one of: {others}")
    if not RULES[wire].own_tokenizer and model.safety_per_mille == 1_000:
        raise WrongSetting(
            (*path, "safety"),
            "expected more than 1.0: no tokenizer here is this vendor's own, and without a margin its models count "
            "more than is reserved; see docs/models.md",
        )


def _snapshot(said: bool | None, name: str, wire: Wire, path: Path) -> bool:
    """Whether a name is that of one fixed artefact: as the file says, as its form says, or because it is simulated."""
    if said and "latest" in name.lower():
        raise WrongSetting((*path, "snapshot"), f"{name!r} says itself that it is whatever is latest")
    return said if said is not None else wire in SIMULATED or is_fixed(name)


def _one_deployment(setting: ProviderSetting) -> bool:
    """Whether an address is that of one deployment, which ignores the name in the request (Azure)."""
    return "/deployments/" in f"{setting.base_url or ''}{setting.path or ''}"


def _apart(model: Model, other: Model, path: Path) -> None:
    if model.provider == other.provider and model.name != other.name:
        raise WrongSetting(
            path,
            f"the address of {model.provider!r} is one deployment's, which would answer for {model.name!r} and for "
            f"{other.name!r} ({other.alias!r}) alike, so one would be charged by the other's price; give each "
            "deployment a provider of its own",
        )


def _consistent(model: Model, other: Model, path: Path) -> None:
    """Families decide which model may challenge which, so a slip in one of them must not make a difference."""
    one, two = model.family, other.family
    if one != two and one.casefold() == two.casefold():
        raise WrongSetting(path, f"{one!r} and {two!r} differ in nothing but capitals; write one family one way")
    if one != two and (model.provider, model.name) == (other.provider, other.name):
        raise WrongSetting(path, f"{model.alias!r} and {other.alias!r} are one model, and it cannot be of two families")
