"""The options of a request in OpenAPI: their bounds, those of the policy or else those that no policy can widen.

``GET /v1/policy`` shows the policy, and a refusal names the bound that was exceeded.
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
from service.policy.keys import NAME
from service.policy.rules import VOTES_MAX
from service.web.formats import BOUNDS, ONE_LINE
from service.web.operation import Schema
from service.web.value_bounds import TO_THE_MILLE, WHOLE, CaseBounds, within

_STRENGTH: Schema = {"minimum": 1, "maximum": 10}
_SAID: Schema = {"minLength": 1, **WHOLE}
_BOUNDS: Mapping[str, Schema] = {
    "minChallengeStrength": _STRENGTH,
    "requireCriticRetryBelow": _STRENGTH,
    "models": {"propertyNames": _SAID, "additionalProperties": {"type": "string", "pattern": rf"^{NAME.pattern}$"}},
    "votes": {"minItems": 1, "maxItems": VOTES_MAX, "items": {"type": "string", **ONE_LINE, "maxLength": VOTE_MAX}},
    "consensusThreshold": {"minimum": 1, "maximum": DEBATERS_MAX},
    "convergenceSimilarity": TO_THE_MILLE,
}
_DEBATER: Schema = {
    "name": {**ONE_LINE, "maxLength": NAME_MAX},
    "prompt": {**_SAID, "maxLength": NAME_MAX},
}
_POSITION: Schema = {
    "id": {"pattern": "^[A-Za-z0-9-]+$", "maxLength": POSITION_ID_MAX},
    "text": _SAID,
}


def bounded(name: str, member: Schema, format_: FormatName, rules: CaseBounds | None) -> Schema:
    """An option's schema with its bounds; ``null`` stays what it is."""
    if name == "debaters":
        shapes = [{**shape, **_debaters(shape, format_, rules)} for shape in member["anyOf"]]
        return {**member, "anyOf": shapes}
    return within(member, _bounds(name, member, format_, rules))


def _bounds(name: str, member: Schema, format_: FormatName, rules: CaseBounds | None) -> Schema:
    said = _said(rules)
    match name:
        case "maxRounds":
            size = rules.size(format_) if rules else None
            return {"minimum": 1, "maximum": size.rounds_max if size else BOUNDS[format_].rounds}
        case "positions":
            most = {"maxItems": rules.limits.positions} if rules else {}
            return {"items": {"allOf": [member["items"], {"properties": _POSITION}]}, **most}
        case "votes":
            most = {"maxItems": rules.votes} if rules else {}
            return {**_BOUNDS["votes"], **most}
        case "personas":
            return {"propertyNames": {"enum": list(SEATS)}, "additionalProperties": {"type": "string", **said}}
        case "instructions" | "debaterInstructions" | "judgeInstructions":
            return said
        case _:
            return _BOUNDS.get(name, {})


def _said(rules: CaseBounds | None) -> Schema:
    """Words for a seat."""
    return {**_SAID, "maxLength": rules.limits.persona_characters} if rules else _SAID


def _debaters(shape: Schema, format_: FormatName, rules: CaseBounds | None) -> Schema:
    """The bounds of a list of debaters, or of their number."""
    size = rules.size(format_) if rules else None
    most = size.debaters_max if size else DEBATERS_MAX
    match shape["type"]:
        case "array":
            return {"minItems": DEBATERS_MIN, "maxItems": most, "items": _debater(shape["items"], format_, rules)}
        case "integer":
            return {"minimum": DEBATERS_MIN, "maximum": most}
        case _:
            return {}


def _debater(item: Schema, format_: FormatName, rules: CaseBounds | None) -> Schema:
    """One debater of a list; its stance is required where the format assigns it."""
    own = BOUNDS[format_]
    found: Schema = {"properties": {**_DEBATER, "role": _said(rules), "stance": own.stance or {}}}
    return {"allOf": [item, {**found, "required": ["stance"]} if FORMAT_RULES[format_].assigned else found]}
