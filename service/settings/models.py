"""The catalogue: aliases, the models behind them, how their tokens are counted, and what they cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from service.budget import TOKENIZERS
from service.policy import Model, ProviderSetting
from service.settings.lines import Path
from service.settings.parameters import check_parameters
from service.settings.prices import read_prices
from service.settings.reading import COUNT_MAX, NAME, NAMES, WrittenModel, Wrong, number, ranges, read
from service.settings.wires import SIMULATED

ROUGH = "bytes/4"
"""The simulated models' own tokenizer; nobody else's."""

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


def read_models(written: Any, providers: Mapping[str, ProviderSetting]) -> dict[str, Model]:
    """The models by alias, in the order of the file; raises `Wrong`."""
    if not isinstance(written, list) or not written:
        raise Wrong(("models",), "expected at least one table [[models]]")
    models: dict[str, Model] = {}
    for i, table in enumerate(written):
        model = _model(table, providers, ("models", i))
        if model.alias in models:
            raise Wrong(("models", i, "alias"), f"the alias {model.alias!r} is used twice")
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
    table = read(written, WrittenModel, path)
    if not NAME.fullmatch(table.alias):
        raise Wrong((*path, "alias"), f"expected an alias of {NAMES}, found {table.alias!r}")
    for key in ("name", "family"):
        found: str = getattr(table, key)
        if not found.strip() or found != found.strip() or not found.isprintable():
            raise Wrong((*path, key), f"expected a {key} of printable characters, found {found!r}")
    if table.provider not in providers:
        known = ", ".join(sorted(providers)) or "none"
        raise Wrong((*path, "provider"), f"there is no provider {table.provider!r}; there is: {known}")
    ranges(path, table, {"context_window": (1, COUNT_MAX), "overhead_tokens": (0, 100_000)})
    kind = providers[table.provider].kind
    prices = read_prices(table.alias, table.context_window, table.prices, (*path, "prices"))
    check_parameters(table.parameters, kind, prices, (*path, "parameters"))
    return Model(
        alias=table.alias,
        provider=table.provider,
        name=table.name,
        family=table.family,
        tokenizer=table.tokenizer,
        safety_per_mille=_counted(table, kind, path),
        context_window=table.context_window,
        prices=prices,
        parameters=table.parameters,
        overhead_tokens=table.overhead_tokens,
        snapshot=_snapshot(table, kind, path),
    )


def _counted(table: WrittenModel, kind: str, path: Path) -> int:
    """The safety factor per mille, held to what can be known of the tokenizer."""
    if table.tokenizer not in TOKENIZERS:
        known = ", ".join(sorted(TOKENIZERS))
        raise Wrong((*path, "tokenizer"), f"there is no tokenizer {table.tokenizer!r}; there is: {known}")
    if kind not in SIMULATED and table.tokenizer == ROUGH:
        others = ", ".join(sorted(set(TOKENIZERS) - {ROUGH})) or "none yet"
        raise Wrong((*path, "tokenizer"), f"{ROUGH} counts for simulated models alone; use one of: {others}")
    safety = number((*path, "safety"), table.safety, 1, 10)
    if kind == "anthropic" and safety == 1:
        raise Wrong(
            (*path, "safety"),
            "expected more than 1.0: no tokenizer here is this vendor's own, and without a margin its models count "
            "more than is reserved; see docs/models.md",
        )
    return int(safety * 1_000)


def _snapshot(table: WrittenModel, kind: str, path: Path) -> bool:
    """Whether the name is that of one fixed artefact: as it says, as its form says, or because it is simulated."""
    if table.snapshot and "latest" in table.name.lower():
        raise Wrong((*path, "snapshot"), f"{table.name!r} says itself that it is whatever is latest")
    if table.snapshot is not None:
        return table.snapshot
    return kind in SIMULATED or is_fixed(table.name)


def _one_deployment(setting: ProviderSetting) -> bool:
    """Whether an address is that of one deployment, which answers whatever the name in the request is (Azure)."""
    return "/deployments/" in f"{setting.base_url or ''}{setting.path or ''}"


def _apart(model: Model, other: Model, path: Path) -> None:
    if model.provider == other.provider and model.name != other.name:
        raise Wrong(
            path,
            f"the address of {model.provider!r} is one deployment's, which would answer for {model.name!r} and for "
            f"{other.name!r} ({other.alias!r}) alike, so one would be charged by the other's price; give each "
            "deployment a provider of its own",
        )


def _consistent(model: Model, other: Model, path: Path) -> None:
    """Families decide who may challenge whom, so a slip in one of them must not make a difference."""
    one, two = model.family, other.family
    if one != two and one.casefold() == two.casefold():
        raise Wrong(path, f"{one!r} and {two!r} differ in nothing but capitals; write one family one way")
    if one != two and (model.provider, model.name) == (other.provider, other.name):
        raise Wrong(path, f"{model.alias!r} and {other.alias!r} are one model, and it cannot be of two families")
