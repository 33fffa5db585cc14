"""The options of a request in OpenAPI: the description of each, and the bounds that no policy can widen.

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

DESCRIPTIONS: Mapping[str, str] = {
    "maxRounds": "The most rounds of the debate; it may end earlier.",
    "minChallengeStrength": "The least strength, from 1 to 10, of an effective challenge.",
    "requireCriticRetryBelow": "The critic is asked once more if its critique is weaker than this, from 1 to 10.",
    "positions": "The positions to decide between, with distinct ids: at least two, or none for a single proposition.",
    "personas": "A persona in your words for each named seat.",
    "models": "The alias of a model by seat; the seat debater stands for all debaters.",
    "debaters": "The debaters by name, or how many there are, as the format has it.",
    "instructions": "Instructions in your words for every seat that argues, judges or writes the answer. They do not "
    "reach the seat that measures a panel, nor a debater with its own prompt.",
    "anonymizeTranscript": "Whether the judge and the synthesizer read the stances without the debaters' names.",
    "shuffleForJudge": "Whether the judge reads each round in an order derived from the debate's seed.",
    "synthesizer": "Whether the synthesizer writes the verdict into your JSON Schema at the end.",
    "outputSchema": "The JSON Schema of the projection; by default the service's own. It requires the synthesizer.",
    "votes": "The options of the vote. The service adds escalate if it is missing, and it counts as one of them.",
    "consensusThreshold": "The number of votes that decide, at most the number of debaters. Default: more than half.",
    "questionType": "The type of the question; by default the service classifies it.",
    "adjudicator": "What measures consensus: rules, or a model.",
    "mode": "How debaters are chosen: by their track records (auto), or by policy and the option models (manual).",
    "judge": "Whether a judge decides; otherwise the majority of the last answers decides.",
    "convergenceCheck": "Whether answers that agree end the debate early.",
    "convergenceSimilarity": "The overlap of words that ends the debate, with at most three decimals: a "
    "number, or a decimal string.",
    "ties": "The result of a tie: the answer of the first debater, or none.",
    "debaterInstructions": "Instructions for the debaters, in your words.",
    "judgeInstructions": "Instructions for the judge, in your words. They require the judge.",
}
"""By the names in JSON."""
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
    "name": {"description": "The debater's name, on one line.", "minLength": 1, "maxLength": NAME_MAX},
    "role": {"description": "The debater's persona, in your words.", "minLength": 1},
    "prompt": {
        "description": "A pinned prompt of the manifest that replaces the format's own.",
        "minLength": 1,
        "maxLength": NAME_MAX,
    },
}
_POSITION: Schema = {
    "id": {"description": "Letters, digits and hyphens.", "pattern": "^[A-Za-z0-9-]+$", "maxLength": POSITION_ID_MAX},
    "text": {"description": "The text of the position.", "minLength": 1},
}


def bounded(name: str, member: Schema, format_: FormatName) -> Schema:
    """An option's schema with its description and its bounds; ``null`` stays what it is."""
    if name == "debaters":
        shapes = [{**shape, **_debaters(shape, format_)} for shape in member["anyOf"]]
        return {**member, "description": DESCRIPTIONS[name], "anyOf": shapes}
    bounds = _bounds(name, member, format_)
    return within({**member, "description": DESCRIPTIONS[name]}, bounds)


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
