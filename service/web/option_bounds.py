"""What OpenAPI says of each option of a request: what it is for, and the bounds that no policy can widen.

A policy may narrow them; what it says is in ``GET /v1/policy``, and a refusal names the bound that was passed.
"""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.adversarial import SEATS
from service.debate.formats import FormatName
from service.debate.options import DEBATERS_MAX
from service.intake.formats.adversarial import POSITION_ID_MAX
from service.intake.formats.shared import DEBATERS_MIN
from service.intake.validation import NAME_MAX, VOTE_MAX
from service.policy.rules import VOTES_MAX
from service.web.formats import BOUNDS
from service.web.operation import Schema

DESCRIPTIONS: Mapping[str, str] = {
    "maxRounds": "The most rounds there are; a debate may end earlier.",
    "minChallengeStrength": "A critique weaker than this, of 10, is no effective challenge.",
    "requireCriticRetryBelow": "A critique weaker than this, of 10, is asked for once more.",
    "positions": "What to decide between, with distinct ids: none for a single proposition, or two and more.",
    "personas": "Who a seat is to be, in your words, by the name of the seat.",
    "models": "The alias of a model by seat; debater stands for all debaters at once.",
    "debaters": "Who debates.",
    "instructions": "What to bear in mind, in your words, for every seat that argues, judges or writes the answer; not "
    "for who measures a panel, nor for a debater with a prompt of its own.",
    "anonymizeTranscript": "Whether judge and synthesizer read the stances without the debaters' names.",
    "shuffleForJudge": "Whether the judge reads each round in an order drawn from the debate's seed.",
    "synthesizer": "Whether the verdict is put in a shape of yours at the end.",
    "outputSchema": "The JSON Schema of that shape; without one the service's own. It needs the synthesizer.",
    "votes": "What may be voted for; escalate is added where it is missing, and counts as one of them.",
    "consensusThreshold": "Votes that decide, at most as many as there are debaters. More than half if left out.",
    "questionType": "The type of the question; left out, the service finds it.",
    "adjudicator": "Who measures consensus: rules, or a model.",
    "mode": "Whether debaters are chosen by their track records (auto) or by policy and models (manual).",
    "judge": "Whether a judge decides; if not, the majority of the last answers does.",
    "convergenceCheck": "Whether answers that say the same end the debate early.",
    "convergenceSimilarity": "The share of words in common that ends the debate, with at most three decimals: a "
    "number, or a decimal string. Results give it per mille.",
    "ties": "What stands where answers have equally many votes: that of the first debater, or none.",
    "debaterInstructions": "What the debaters are to bear in mind, in your words.",
    "judgeInstructions": "What the judge is to bear in mind, in your words. It needs the judge.",
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
    "convergenceSimilarity": {"minimum": 0, "maximum": 1},
}
_DEBATER: Schema = {
    "name": {"description": "The debater's name, in one line.", "minLength": 1, "maxLength": NAME_MAX},
    "role": {"description": "Who the debater is to be, in your words.", "minLength": 1},
    "prompt": {
        "description": "A pinned prompt of the manifest in the place of the format's own.",
        "minLength": 1,
        "maxLength": NAME_MAX,
    },
}
_POSITION: Schema = {
    "id": {"description": "Letters, digits and hyphens.", "pattern": "^[A-Za-z0-9-]+$", "maxLength": POSITION_ID_MAX},
    "text": {"description": "What the position says.", "minLength": 1},
}


def bounded(name: str, member: Schema, format_: FormatName) -> Schema:
    """An option's schema with its description and its bounds; ``null`` stays what it is."""
    bounds = _bounds(name, member, format_)
    described = {**member, "description": DESCRIPTIONS[name]}
    if "anyOf" not in member:
        return {**described, **bounds}
    shapes = [shape if shape.get("type") == "null" else {**shape, **bounds} for shape in member["anyOf"]]
    return {**described, "anyOf": shapes}


def _bounds(name: str, member: Schema, format_: FormatName) -> Schema:
    match name:
        case "maxRounds":
            return {"minimum": 1, "maximum": BOUNDS[format_].rounds}
        case "positions":
            return {"items": {"allOf": [member["items"], {"properties": _POSITION}]}}
        case "debaters":
            listed = [shape for shape in member["anyOf"] if shape["type"] == "array"]
            return {**_LISTED, "items": _debater(listed[0]["items"], format_)} if listed else _COUNT
        case _:
            return _BOUNDS.get(name, {})


def _debater(item: Schema, format_: FormatName) -> Schema:
    """One debater of a list; its stance is required where the format assigns it."""
    own = BOUNDS[format_]
    found: Schema = {"properties": {**_DEBATER, "stance": own.stance or {}}}
    return {"allOf": [item, {**found, "required": ["stance"]} if own.assigned else found]}
