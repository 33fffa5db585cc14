"""The options of a request in OpenAPI: the bounds that no policy can widen.

A policy may narrow a bound. ``GET /v1/policy`` shows the policy, and a refusal names the bound that was exceeded.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.adversarial import SEATS
from service.debate.formats import FormatName
from service.debate.options import DEBATERS_MAX
from service.intake.formats.adversarial import POSITION_ID_MAX
from service.intake.formats.shared import DEBATERS_MIN
from service.intake.validation import NAME_MAX, VOTE_MAX
from service.policy import FORMAT_RULES
from service.policy.rules import VOTES_MAX
from service.web.formats import BOUNDS
from service.web.operation import Schema
from service.web.value_bounds import TO_THE_MILLE, within

_STRENGTH: Schema = {"minimum": 1, "maximum": 10}
_COUNT: Schema = {"minimum": DEBATERS_MIN, "maximum": DEBATERS_MAX}
_LISTED: Schema = {"minItems": DEBATERS_MIN, "maxItems": DEBATERS_MAX}
_SAID: Schema = {"minLength": 1}
_BOUNDS: Mapping[str, Schema] = {
    "minChallengeStrength": _STRENGTH,
    "requireCriticRetryBelow": _STRENGTH,
    "personas": {"propertyNames": {"enum": list(SEATS)}, "additionalProperties": {"type": "string", **_SAID}},
    "instructions": _SAID,
    "debaterInstructions": _SAID,
    "judgeInstructions": _SAID,
    "votes": {"minItems": 1, "maxItems": VOTES_MAX, "items": {"type": "string", **_SAID, "maxLength": VOTE_MAX}},
    "consensusThreshold": {"minimum": 1, "maximum": DEBATERS_MAX},
    "convergenceSimilarity": TO_THE_MILLE,
}
_DEBATER: Schema = {
    "name": {"minLength": 1, "maxLength": NAME_MAX},
    "role": {"minLength": 1},
    "prompt": {"minLength": 1, "maxLength": NAME_MAX},
}
_POSITION: Schema = {
    "id": {"pattern": "^[A-Za-z0-9-]+$", "maxLength": POSITION_ID_MAX},
    "text": {"minLength": 1},
}


def bounded(name: str, member: Schema, format_: FormatName) -> Schema:
    """An option's schema with its bounds; ``null`` stays what it is."""
    if name == "debaters":
        shapes = [{**shape, **_debaters(shape, format_)} for shape in member["anyOf"]]
        return {**member, "anyOf": shapes}
    bounds = _bounds(name, member, format_)
    return within(member, bounds)


def _bounds(name: str, member: Schema, format_: FormatName) -> Schema:
    match name:
        case "maxRounds":
            return {"minimum": 1, "maximum": BOUNDS[format_].rounds}
        case "positions":
            return {"items": {"allOf": [member["items"], {"properties": _POSITION}]}}
        case _:
            return _BOUNDS.get(name, {})


def _debaters(shape: Schema, format_: FormatName) -> Schema:
    """The bounds of a list of debaters, or of their number."""
    match shape["type"]:
        case "array":
            return {**_LISTED, "items": _debater(shape["items"], format_)}
        case "integer":
            return _COUNT
        case _:
            return {}


def _debater(item: Schema, format_: FormatName) -> Schema:
    """One debater of a list; its stance is required where the format assigns it."""
    own = BOUNDS[format_]
    found: Schema = {"properties": {**_DEBATER, "stance": own.stance or {}}}
    return {"allOf": [item, {**found, "required": ["stance"]} if FORMAT_RULES[format_].assigned else found]}
