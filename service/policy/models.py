"""The catalogue: aliases, the models behind them, how their tokens are counted, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType

from service.debate.model import PriceRow
from service.debate.wires import Wire
from service.errors import did_you_mean
from service.money import TOKENIZERS
from service.policy.bounds import COUNT_MAX
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import NAME, NAMES, OPTIONAL, UNWRITTEN, Key, day, keys_of, per_mille, sound_members, whole
from service.policy.parameters import check_parameters
from service.policy.prices import PRICE, read_prices
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
    whether the name is that of one fixed artefact, and not one that the vendor may give to another. ``cutoff`` is the
    last day of what it was trained on; where it is unknown, policy.json has no such member.
    """

    alias: str
    provider: str
    name: str
    family: str
    tokenizer: str
    safety_per_mille: Annotated[int, per_mille("safety", 1, 10), OPTIONAL]
    context_window: Annotated[int, whole(1, COUNT_MAX)]
    prices: Annotated[
        tuple[PriceRow, ...], Key(written=tuple[Any, ...], schema={"type": "array", "minItems": 1, "items": PRICE})
    ]
    parameters: dict[str, Any] = {}
    overhead_tokens: Annotated[int, whole(0, 100_000)] = 0
    snapshot: bool = True
    cutoff: Annotated[str | UnsetType, day()] = UNSET

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


def read_models(
    written: Any, providers: Mapping[str, tuple[Wire | None, ProviderSetting | None]] | None, faults: Faults
) -> dict[str, Model | None]:
    """The models by alias, in the order of the file, ``None`` where there are faults, which are noted.

    A model is judged by what could be read of its provider; ``providers`` is ``None`` where the file has none at all.
    Each is its wire and its setting. Raises `WrongSetting` for no list.
    """
    if not isinstance(written, list) or not written:
        raise WrongSetting(("models",), "expected at least one table [[models]]")
    models: dict[str, Model | None] = {}
    for i, table in enumerate(written):
        own = Faults()
        model = None
        with own.noted():
            model = _model(table, providers, ("models", i), own)
        alias = table.get("alias") if isinstance(table, dict) else None
        if isinstance(alias, str) and alias in models:
            own.note(("models", i, "alias"), f"the alias {alias!r} is used twice")
        if model is not None:
            _, setting = (providers or {}).get(model.provider, (None, None))
            _beside(model, [other for other in models.values() if other], setting, i, own)
        faults.found += own.found
        if isinstance(alias, str):
            models.setdefault(alias, None if own.found else model)
    return models


def _beside(
    model: Model, others: Sequence[Model], provider: ProviderSetting | None, place: int, faults: Faults
) -> None:
    """Note where a model contradicts those before it."""
    for other in others:
        with faults.noted():
            _consistent(model, other, ("models", place, "family"))
        with faults.noted():
            _one_cutoff(model, other, ("models", place, "cutoff"))
        if provider is not None and _one_deployment(provider):
            with faults.noted():
                _apart(model, other, ("models", place, "provider"))


def is_fixed(name: str) -> bool:
    """Whether a name ends in a date, a version or a digest: the mark of one fixed artefact."""
    return "latest" not in name.lower() and bool(_FIXED.search(name))


def _model(
    written: Any, providers: Mapping[str, tuple[Wire | None, ProviderSetting | None]] | None, path: Path, faults: Faults
) -> Model | None:
    """A model, or ``None`` where a key is missing or wrong, or its provider is; faults are noted."""
    table = sound_members(written, keys_of(Model), path, faults)
    _check_names(table, providers, path, faults)
    prices: tuple[PriceRow, ...] | None = None
    if "prices" in table:
        window = table.get("context_window", COUNT_MAX)
        with faults.noted():
            prices = read_prices(str(table.get("alias")), window, table["prices"], (*path, "prices"))
    wire, _ = (providers or {}).get(table.get("provider", ""), (None, None))
    lacks = {key.member for key in keys_of(Model) if key.needed} - set(table)
    if wire is not None and not lacks - {"prices", "context_window", "alias", "family"}:
        _check_wire(table, wire, prices or (), path, faults)
    elif "tokenizer" in table:
        with faults.noted():
            _check_tokenizer(table["tokenizer"], path)
    if faults.found or lacks or prices is None or wire is None:
        return None
    snapshot = _snapshot(table.get("snapshot"), table["name"], wire, path)
    return Model(**{"safety_per_mille": 1_000, **table, "prices": prices, "snapshot": snapshot})


def _check_wire(table: Mapping[str, Any], wire: Wire, prices: tuple[PriceRow, ...], path: Path, faults: Faults) -> None:
    """Note what a model of this wire may not say, as far as its table can be read."""
    with faults.noted():
        _snapshot(table.get("snapshot"), table["name"], wire, path)
    with faults.noted():
        check_parameters(table.get("parameters", {}), wire, prices, (*path, "parameters"))
    if not faults.touch((*path, "safety")):
        with faults.noted():
            check_counting(table["tokenizer"], table.get("safety_per_mille", 1_000), wire, path)


def _check_names(table: Mapping[str, Any], providers: Iterable[str] | None, path: Path, faults: Faults) -> None:
    """Note an alias, a name or a family that is none, and a provider that is not there."""
    if "alias" in table and not NAME.fullmatch(table["alias"]):
        faults.note((*path, "alias"), f"expected an alias of {NAMES}, found {table['alias']!r}")
    for key in ("name", "family"):
        found: str = table.get(key, key)
        if not found.strip() or found != found.strip() or not found.isprintable():
            faults.note((*path, key), f"expected a {key} of printable characters, found {found!r}")
    provider, known = table.get("provider"), sorted(providers or ())
    if providers is not None and provider is not None and provider not in known:
        there = f"there is: {', '.join(known) or 'none'}{did_you_mean(provider, known)}"
        faults.note((*path, "provider"), f"there is no provider {provider!r}; {there}")


def _check_tokenizer(name: str, path: Path) -> None:
    if name not in TOKENIZERS:
        there = f"{', '.join(sorted(TOKENIZERS))}{did_you_mean(name, TOKENIZERS)}"
        raise WrongSetting((*path, "tokenizer"), f"there is no tokenizer {name!r}; there is: {there}")


def check_counting(tokenizer: str, safety_per_mille: int, wire: Wire, path: Path) -> None:
    """Raise `WrongSetting` for a tokenizer that is not there, or that counts less than the vendor of the wire."""
    _check_tokenizer(tokenizer, path)
    if wire not in SIMULATED and tokenizer == ROUGH:
        others = ", ".join(sorted(set(TOKENIZERS) - {ROUGH})) or "none yet"
        raise WrongSetting((*path, "tokenizer"), f"{ROUGH} counts for simulated models alone; use one of: {others}")
    if not RULES[wire].own_tokenizer and safety_per_mille == 1_000:
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


def _one_cutoff(model: Model, other: Model, path: Path) -> None:
    if (model.provider, model.name) == (other.provider, other.name) and model.cutoff != other.cutoff:
        raise WrongSetting(
            path, f"{model.alias!r} and {other.alias!r} are one model; write the same cutoff for both, or for neither"
        )


def _consistent(model: Model, other: Model, path: Path) -> None:
    """Families decide which model may challenge which, so a slip in one of them must not make a difference."""
    one, two = model.family, other.family
    if one != two and one.casefold() == two.casefold():
        raise WrongSetting(path, f"{one!r} and {two!r} differ in nothing but capitals; write one family one way")
    if one != two and (model.provider, model.name) == (other.provider, other.name):
        raise WrongSetting(path, f"{model.alias!r} and {other.alias!r} are one model, and it cannot be of two families")
