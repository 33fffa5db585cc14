"""What a member of a type says: the string that stands below its field in the source.

    class Tally(Struct):
        vote: str
        \"\"\"The option of the vote.\"\"\"

A field without such a string has the words of `SHARED`, where its name means the same in every type. The text names the
unit of a number and its range, "from 0 to 1", of which the schema's bounds are made (`service.web.value_forms`).
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import fields

from service.debate.options import (
    AdversarialOptions,
    AskedOptions,
    BallotOptions,
    ConvergenceOptions,
    PanelOptions,
    StancesOptions,
)

SHARED: Mapping[str, str] = {
    "debateId": "The id of the debate, a UUID of version 7.",
    "debate_id": "The id of the debate, a UUID of version 7.",
    "turn": "The turn, as round, seat, phase if the seat has several, and take: `1.critic.2` is the critic's second "
    "take in round 1.",
    "round": "The round. Round 0 comes before the first.",
    "seat": "The seat, such as `critic` or `debater-1`.",
    "position": "The id of the position that the seat speaks for. Absent unless the case has several.",
    "phase": "The phase of a ballot: proposal, critique, revision or consensus. Absent in other formats.",
    "engine": "The version of the engine of code that found this.",
    "chargedUSD": "US dollars charged for the reply, all attempts of its turn included.",
    "simulated": "Whether models that need no network speak in the place of real ones.",
    "diversity": "How far apart the models are of seats that should not think alike: of one model, of one family of "
    "models, or of different families.",
    "taskType": "The task type by which policy decides, such as `contract`.",
    "question": "The question of the case, in the caller's words.",
    "provider": "The name that policy gives to the vendor's service.",
    "family": "The model's family: models of one family may share their faults.",
    "wire": "The format of the vendor's requests, answers and usage.",
    "modelName": "The vendor's name for the model.",
    "policyHash": "The SHA-256 of the policy.",
    "policyVersion": "The version of the policy, as its file names it.",
    "priceHash": "The SHA-256 of all prices of the catalogue.",
    "promptsPin": "The SHA-256 of the manifest of prompts.",
    "configurationHash": "The SHA-256 of prompts, seats, parameters, policy and prices together.",
    "buildHash": "The SHA-256 of the code that ran.",
    "confidenceLevel": "How sure the seat is. It is not a probability.",
    "explicitUncertainties": "What the seat says that it is not sure of.",
    "threshold": "The consensus that ends the debate. A share from 0 to 1.",
    "counted": "The dimensions in the mean: those that the type of the question uses and that have a score.",
    "vetoes": "Facts that exclude consensus, whatever the scores are.",
}
"""The words of members that mean the same wherever they stand, by their names in JSON."""
OUR_OWN = "service"
"""The package whose types have texts."""
_TAGS: Mapping[str, str] = {
    "format": "The format, which distinguishes the members of one format from those of another.",
    "seat": "The kind of seat whose reply this is.",
}
"""The words of members that tell the types of a union apart."""
_SAME: Mapping[type, type] = dict.fromkeys(
    (AdversarialOptions, StancesOptions, BallotOptions, PanelOptions, ConvergenceOptions), AskedOptions
)
"""Types whose members are those of another, where they say nothing of their own."""


def member_texts(kind: type) -> dict[str, str]:
    """The text of each member of a type, by its name in JSON; a member of which nothing is said has none."""
    struct = cast(type[Struct], kind)
    tag = struct.__struct_config__.tag_field or ""
    found = {tag: _TAGS.get(tag, "")} | {
        f.encode_name: _own(struct, f.name) or SHARED.get(f.encode_name, "") for f in fields(struct)
    }
    return {name: text for name, text in found.items() if text}


def _own(kind: type[Struct], field: str) -> str:
    """The text of a field: below it in the type that declares it, or what a type that is made of others says.

    Such a type names in ``described_by`` the type that declares its fields, or has their texts in ``texts``.
    """
    declared = [*kind.__mro__, *getattr(kind, "described_by", ())]
    declared += [_SAME[one] for one in kind.__mro__ if one in _SAME]
    own: str = getattr(kind, "texts", {}).get(field, "")
    return own or next((text for one in declared if (text := _written(one.__module__).get((one.__name__, field)))), "")


@cache
def _written(module: str) -> Mapping[tuple[str, str], str]:
    """The texts of a module's classes by class and field."""
    if module.partition(".")[0] != OUR_OWN:
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        (each.name, field): text
        for each in tree.body
        if isinstance(each, ast.ClassDef)
        for field, text in _below(each.body)
    }


def _below(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Each field of a class whose next statement is a string, with that string on one line."""
    for statement, following in pairwise(body):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                yield field, " ".join(text.split())
            case _:
                pass


def described(schema: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The schema of an object with the text of each of its members."""
    members = schema["properties"]
    return {
        **schema,
        "properties": {
            name: {**part, "description": texts[name]} if name in texts else part for name, part in members.items()
        },
    }
