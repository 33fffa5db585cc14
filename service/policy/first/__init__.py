"""A first policy: a commented file that starts at the first try, with the models and list prices of some vendors.

The fragments beside this module have a provider and its models each, as examples/openai-anthropic.toml and the shipped
policy have them; a test compares them. A server of one's own has no list prices: what is not given is marked to be
filled in, and the file is refused until that is done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from service.policy.faults import FILL_IN

FOLDER = Path(__file__).parent
OWN = "openai-compatible"
"""The vendor whose address, models and prices only the deployment knows."""


class Family(NamedTuple):
    """The two usual models of a family, and the least allowance of a turn, where thinking is paid from it."""

    large: str
    small: str
    allowance: int = 0


VENDORS: Mapping[str, tuple[Family, ...]] = {
    "openai": (Family("gpt-4.1", "gpt-4.1-mini"),),
    "anthropic": (Family("claude-sonnet", "claude-haiku"),),
    "google": (Family("gemini-pro", "gemini-flash", 6_000),),
    "simulated": (
        Family("alder-large", "alder-small"),
        Family("birch-large", "birch-small"),
        Family("cedar-large", "cedar-small"),
    ),
}
KNOWN = (*VENDORS, OWN)


class OwnServer(NamedTuple):
    """A server of one's own, as far as it is known: ``None`` is marked to be filled in.

    ``key`` is the place of its key, ``None`` where it takes none. Prices are US dollars for a million tokens, as text.
    """

    base_url: str | None = None
    key: str | None = None
    models: tuple[str, ...] = ()
    family: str | None = None
    context_window: int | None = None
    input_usd: str | None = None
    output_usd: str | None = None


def first_policy(vendors: Sequence[str], day: str, own: OwnServer | None = None) -> str:
    """The text of a policy file for some of `KNOWN`, each once, in the order in which their models take seats."""
    own = own or OwnServer()
    families = [family for name in vendors for family in ([_own_family(own)] if name == OWN else VENDORS[name])]
    fragments = [_own(own, day) if name == OWN else (FOLDER / f"{name}.toml").read_text("utf-8") for name in vendors]
    head = _HEAD.format(day=day, vendors=" and ".join(vendors))
    parts = [head, _debate(len(families)), _seats(families), *fragments]
    return "\n".join(f"{part.strip()}\n" for part in parts)


_HEAD = """\
# A first policy of {vendors}, written by `gainsay policy init` on {day}.
#
# It has what only this deployment knows: providers, models with their prices, and who sits where. Every key that it
# leaves out has the value of the policy that Gainsay ships. `gainsay policy show FILE` prints the whole, with its hash;
# `gainsay policy check FILE` tells every fault and what to look at. docs/policy.md and docs/models.md explain the keys.
#
# Prices are an example and not an offer. Compare them with your contract before you rely on a ceiling.

[policy]
version = "first-{day}"       # decisions name it; write another with each change
"""
_ALIKE = """\
# All models here are of one family: proposer, critic, rebuttal and moderator share data and habits, and so mistakes.
# Such debates run, and say so: their confidence is at most MODERATE, and a person has to decide (the cap oneFamily).
# A second family lifts that: `gainsay policy init` with a second --vendor shows how.
"""


def _debate(families: int) -> str:
    diversity = {1: "sameModel", 2: "sameFamily"}.get(families, "crossFamily")
    demand = {
        1: "nothing is demanded, since with one family there is nothing to choose from",
        2: "seats that challenge each other have different models at least",
    }.get(families, "seats that challenge each other are of different families")
    others = "" if families == 1 else "\n[formats.panel]\ndebaters = 2\n\n[formats.convergence]\ndebaters = 2\n"
    ballot = "\n[formats.ballot]\ndebaters = 2\n" if families < 3 else ""
    alike = _ALIKE if families == 1 else ""
    ceiling = 'ceiling_usd = "1.50"        # what a debate may cost where its case names no ceiling'
    return f'{alike}[debate]\n{ceiling}\ndiversity = "{diversity}"    # {demand}\n{ballot}{others}'


def _seats(families: Sequence[Family]) -> str:
    """Frontier models make arguments and decide, efficient ones answer points and name the question."""
    one, two, three = (*families[:3], *[families[-1]] * 2)[:3]
    if len(families) == 1:
        table = ((one, one.small), (one, one.small), (one, one.large), (one, one.small), (one, one.large))
    else:
        decider = three.small if len(families) == 2 else three.large
        table = ((one, one.small), (one, one.large), (two, two.large), (one, one.small), (three, decider))
    names = (("framing", 700), ("proposer", 1_800), ("critic", 2_500), ("rebuttal", 1_500), ("moderator", 2_000))
    rows = [_seat(name, family, alias, own) for (name, own), (family, alias) in zip(names, table, strict=True)]
    return "\n".join(["[seats]", *rows, *_others(families, table[-1])])


def _others(families: Sequence[Family], decider: tuple[Family, str]) -> list[str]:
    """The seats of the other formats; with one family there is no decider apart from the debaters."""
    pool = [
        alias
        for family in families[:3]
        for alias in ([family.large, family.small] if len(families) == 1 else [family.large])
    ]
    allowance = max(1_500, *(family.allowance for family in families))
    aliases = ", ".join(json.dumps(alias) for alias in dict.fromkeys(pool))
    rows = [
        "# The other formats draw their debaters from one pool.",
        f"debater = {{ model = [{aliases}], allowance = {allowance} }}",
    ]
    if len(families) > 1:
        rows += [_seat(name, *decider, 2_000) for name in ("judge", "synthesizer")]
    return rows


def _seat(name: str, family: Family, alias: str, allowance: int) -> str:
    return f"{name} = {{ model = {json.dumps(alias)}, allowance = {max(allowance, family.allowance)} }}"


def _own_family(own: OwnServer) -> Family:
    aliases = own.models or ("model",)
    return Family(_alias(aliases[0]), _alias(aliases[-1]))


def _alias(name: str) -> str:
    """A name of a model as an alias: without its path, and with no character that aliases do not have."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name.rpartition("/")[2])
    return plain.lstrip("-_.")[:100] or "model"


def _own(own: OwnServer, day: str) -> str:
    """The provider and the models of a server of one's own."""
    key = f"key = {json.dumps(own.key)}" if own.key else 'auth = "none"               # this server takes no key'
    provider = f"""\
[providers.own]
kind = "openai-compatible"
base_url = {_value(own.base_url)}
{key}
seat_role = "system"
max_tokens_field = "max_tokens"

# No tokenizer here is known to be this model's own, so a request is counted with a margin of a half. Correct it from
# your own debates: their records have our count beside the server's.
"""
    return "\n".join([provider, *(_own_model(name, own, day) for name in own.models or (None,))])


def _own_model(name: str | None, own: OwnServer, day: str) -> str:
    priced = own.input_usd is not None and own.output_usd is not None
    source = f"given to gainsay policy init on {day} by the operator" if priced else None
    return f"""\
[[models]]
alias = {json.dumps(_alias(name or "model"))}
provider = "own"
name = {_value(name)}
family = {_value(own.family)}
tokenizer = "o200k_base"
safety = "1.5"
context_window = {_value(own.context_window)}
  [[models.prices]]            # US dollars for a million tokens, in quotes; "0" where a call costs nothing
  effective = "{day}"
  source = {_value(source)}
  input_usd = {_value(own.input_usd)}
  cached_input_usd = {_value(own.input_usd)}
  cache_write_usd = {_value(own.input_usd)}
  output_usd = {_value(own.output_usd)}
  reasoning_usd = {_value(own.output_usd)}
"""


def _value(known: str | int | None) -> str:
    return json.dumps(FILL_IN if known is None else known)
