"""What the values of a document may be: patterns of money and decimals, lengths and numbers of a case.

A case is bounded by the policy that runs, so the served document says what this service takes. Without a policy only
those bounds are written that no policy can change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from service.debate.amounts import MICRO
from service.debate.formats import FormatName
from service.intake.request import CaseRequest, DocumentRequest, GateRequest
from service.intake.validation import DOCUMENT_ID_MAX, DOLLAR_DIGITS
from service.policy import FORMAT_RULES, Limits, Policy
from service.policy.formats import UsualSize
from service.policy.task_types import CHARACTERS_MAX, REFUSE
from service.web.formats import ONE_LINE
from service.web.operation import Schema
from service.web.schema_names import SCHEMA_NAMES

_AS_SENT = (
    rf"^\+?([0-9]{{1,{DOLLAR_DIGITS}}}(\.[0-9]{{1,20}})?"
    r"|[0-9]{1,5}(\.[0-9]{1,20})?[eE][+-]?0?[0-9]|[0-9](\.[0-9]{1,20})?[eE]\+?1[0-4])$"
)
AMOUNT: Schema = {
    "type": ["number", "string"],
    "format": "decimal",
    "description": "A number, or a decimal string.",
    "minimum": 0,
    "exclusiveMaximum": 10**DOLLAR_DIGITS,
    "pattern": _AS_SENT,
}
"""An amount of a request. Answers have a string."""
CEILING: Schema = {"minimum": 1 / MICRO, "pattern": rf"^\+?[0-9]{{1,{DOLLAR_DIGITS}}}(\.[0-9]{{1,6}})?$"}
"""An amount that is compared with what is charged: exact to the micro-dollar."""
SHARE: Schema = {
    "maximum": 1,
    "pattern": r"^\+?(0(\.[0-9]{1,20})?|1(\.0{1,20})?|[0-9](\.[0-9]{1,20})?[eE]-0?[1-9])$",
    "description": "From 0 to 1: a number, or a decimal string.",
}
TO_THE_MILLE: Schema = {**SHARE, "pattern": r"^\+?(0(\.[0-9]{1,3})?|1(\.0{1,3})?)$"}
"""A share with at most three decimals."""
DECIMAL: Schema = {"type": "string", "format": "decimal"}
_DECIMAL_PATTERN = r"^-?([0-9]+(\.[0-9]+)?(E[+-]?[0-9]+)?|Infinity|s?NaN[0-9]*)$"
_DOLLARS: Schema = {"pattern": r"^-?[0-9]+\.[0-9]{2,6}$"}
_DOWNSIDE = "estimatedDownside"
_OTHER_BOUND = {
    "minimum": "exclusiveMinimum",
    "exclusiveMinimum": "minimum",
    "maximum": "exclusiveMaximum",
    "exclusiveMaximum": "maximum",
}
_SAID: Schema = {"minLength": 1, "pattern": r"^[^\x00]*[^\x00\s\x1c-\x1f\x85][^\x00]*$"}
"""A text that is not blank. Some of what Python strips is no white space to ECMA's expressions."""
WHOLE: Schema = {"pattern": r"^[^\x00]*$"}
"""A text without NUL, at which many readers would end it."""
_TASK_TYPE: Schema = {**ONE_LINE, "maxLength": CHARACTERS_MAX}


class CaseBounds(NamedTuple):
    """The bounds that a policy gives to a case.

    ``others`` says whether it takes task types that it does not know: it records them as declined, or puts a known type
    in their place. ``ceiling`` is the highest that a case may name, in US dollars. ``sizes`` are by format; one without
    a table in the policy has none. ``votes`` is the most options of a ballot.
    """

    limits: Limits
    task_types: tuple[str, ...]
    others: bool
    ceiling: float
    sizes: tuple[tuple[FormatName, UsualSize], ...]
    votes: int

    @classmethod
    def of(cls, policy: Policy) -> CaseBounds:
        """The bounds of a policy."""
        sizes = ((name, rules.size(policy.formats)) for name, rules in FORMAT_RULES.items() if rules.size)
        return cls(
            policy.limits,
            policy.task_types,
            policy.gate.unknown_task_type != REFUSE,
            policy.debate.ceiling_max / MICRO,
            tuple(sizes),
            policy.formats.ballot.votes_max,
        )

    def size(self, name: FormatName) -> UsualSize | None:
        """The size of a format."""
        return dict(self.sizes).get(name)


def bound_answers(components: dict[str, Any], requests: Collection[str]) -> None:
    """Write the pattern of each amount and decimal of an answer; ``requests`` are the schemas of bodies."""
    for name, schema in components.items():
        if name not in requests and "properties" in schema:
            members = schema["properties"]
            components[name] = {**schema, "properties": {key: _of_answer(key, part) for key, part in members.items()}}


def _of_answer(name: str, schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_of_answer(name, shape) for shape in schema["anyOf"]]}
    if isinstance(values := schema.get("additionalProperties"), dict):
        return {**schema, "additionalProperties": _of_answer(name, values)}
    if schema.get("type") == "string" and schema.get("format") == "decimal":
        return {"pattern": _DECIMAL_PATTERN, **schema}
    if schema.get("type") == "string" and name.endswith("USD"):
        return {**_DOLLARS, **schema}
    return schema


def bound_case(components: dict[str, Any], rules: CaseBounds | None) -> None:
    """Write the lengths, numbers and closed values of a case's members."""
    limits = rules.limits if rules else None
    for kind in (CaseRequest, GateRequest, DocumentRequest):
        name = SCHEMA_NAMES[kind]
        members = components[name]["properties"]
        known = _of_document(limits) if kind is DocumentRequest else _of_case(limits)
        known = {**known, "costCeilingUSD": {**CEILING, "maximum": rules.ceiling}} if rules else known
        bounded = {key: within(part, known.get(key, {})) for key, part in members.items()}
        if rules and "taskType" in bounded:
            bounded["taskType"] = _typed(bounded["taskType"], rules)
        components[name] = _needed({**components[name], "properties": bounded})
    force = components["Force"]
    reason = within(force["properties"]["reason"], {**_at_most(limits.note_characters if limits else None), **_SAID})
    components["Force"] = {**force, "properties": {**force["properties"], "reason": reason}}


def _typed(schema: Schema, rules: CaseBounds) -> Schema:
    """A task type of those that policy knows, or another where it takes others."""
    known = {"type": "string", "enum": [*rules.task_types]}
    words = {"description": schema["description"]}
    if not rules.others:
        return {**known, **words}
    return {**words, "anyOf": [known, {key: part for key, part in schema.items() if key != "description"}]}


def _needed(schema: Schema) -> Schema:
    """The schema with the downside required: a request without one is refused, in words better than a decoder's."""
    members = schema["properties"]
    if _DOWNSIDE not in members:
        return schema
    given = next(shape for shape in members[_DOWNSIDE]["anyOf"] if shape != {"type": "null"})
    rest = {key: part for key, part in members[_DOWNSIDE].items() if key not in ("anyOf", "default")}
    needed = [name for name in members if name in (*schema["required"], _DOWNSIDE)]
    return {**schema, "properties": {**members, _DOWNSIDE: {**given, **rest}}, "required": needed}


def _of_case(limits: Limits | None) -> Mapping[str, Schema]:
    note = _at_most(limits.note_characters if limits else None)
    return {
        "question": {**_at_most(limits.question_characters if limits else None), **_SAID},
        "taskType": _TASK_TYPE,
        "singleAgentAnswer": _at_most(limits.answer_characters if limits else None),
        "downsideBasis": note,
        "useCase": note,
        "intendedUse": note,
        "confidenceScore": SHARE,
        "costCeilingUSD": CEILING,
        "documents": {"maxItems": limits.documents} if limits else {},
        "metadata": {
            **({"maxProperties": limits.metadata} if limits else {}),
            "propertyNames": note,
            "additionalProperties": {"type": "string", **note},
        },
    }


def _of_document(limits: Limits | None) -> Mapping[str, Schema]:
    return {
        "text": {**_at_most(limits.document_characters if limits else None), **_SAID},
        "id": {"maxLength": DOCUMENT_ID_MAX},
        "title": _at_most(limits.note_characters if limits else None),
        "round": {"minimum": 1},
    }


def _at_most(characters: int | None) -> Schema:
    return WHOLE if characters is None else {**WHOLE, "maxLength": characters}


def within(schema: Schema, bounds: Schema) -> Schema:
    """A member's schema with its bounds; ``null`` stays what it is."""
    if "anyOf" not in schema:
        return _bounded(schema, bounds)
    shapes = [shape if shape == {"type": "null"} else _bounded(shape, bounds) for shape in schema["anyOf"]]
    return {**schema, "anyOf": shapes}


def _bounded(schema: Schema, bounds: Schema) -> Schema:
    """The schema with these bounds; one at an end takes the place of the one that was there."""
    replaced = {_OTHER_BOUND[name] for name in bounds if name in _OTHER_BOUND}
    return {**{name: part for name, part in schema.items() if name not in replaced}, **bounds}
