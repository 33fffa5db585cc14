"""A synthesizer's output against the caller's JSON Schema (Draft 2020-12), without a network and in counted steps.

    a schema is refused                                    because
    that is above `CHARACTERS_MAX` or `LEVELS_MAX`         it is sent with the request, and recorded with the debate
    of another draft                                       its words would mean something else, or nothing
    with a ``$ref`` that is not "#" or "#/a/place"         what it means must lie in the record
    with a ``$ref`` that comes back to itself in place     it can never be decided
    with ``pattern`` or ``patternProperties``              a regular expression's work has no bound
    with ``unevaluated...``, dynamic or named anchors      what they mean hangs on everything around them
    with ``dependencies`` or ``additionalItems``           this draft would pass over them in silence

``format`` is a note to the writer and is not checked, as the draft has it by default. What does not fit is told by
place and keyword: never in the words of the output, of whose property names only those that the schema has are told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from service.debate.model import Options
from service.debate.options import output_schema_of
from service.debate.projection import unreadable, value
from service.debate.replies import Projection, Reply

Schema = Mapping[str, Any]
"""What a synthesizer gives where the caller has no shape of its own: a decision and its rationale."""
CHARACTERS_MAX = 16_000
"""The longest that a schema may be, as compact JSON."""
LEVELS_MAX = 24
"""The most levels of a schema, as nested JSON."""
CHAIN_MAX = 8
"""The most schemas in a row that look at the same value: ``$ref`` to ``allOf`` to ``$ref``..."""
STEPS_MAX = 100_000
"""The most steps of one check: a keyword, a member or item that it looks at; what does not fit counts for more."""
TOLD_MAX = 3
"""How many places that do not fit are told at once."""
ERROR_MAX = 500
"""The longest that what is wrong may be, in characters, as of any reply that cannot be used."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFUSED = {
    **dict.fromkeys(("pattern", "patternProperties"), "describe the form in words, or list the values in enum"),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), "use additionalProperties or items"),
    **dict.fromkeys(
        ("$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"),
        "point at the place itself, as in #/$defs/name",
    ),
    "dependencies": "use dependentRequired or dependentSchemas",
    "additionalItems": "use prefixItems and items",
}
_ONE = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "properties")
_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_MISFIT_STEPS = 50


class _SchemaLocation(NamedTuple):
    """A schema within a schema: where it stands, and by which keyword it got there."""

    at: str
    schema: Schema
    keyword: str
    parent: str


class _Exhausted(Exception):
    """The check has taken all its steps."""


def check_schema(schema: object) -> str | None:
    """Why a caller's schema cannot be used, and what to do; ``None`` where it can."""
    if not isinstance(schema, dict):
        return "outputSchema must be a JSON Schema as an object"
    if why := unbounded(schema):
        return why
    places = {place.at: place for place in _places(schema)}
    for place in places.values():
        if why := _unusable(place, places):
            return f"outputSchema cannot be used: at {place.at[:200]}, {why}"
    if _chained(places):
        return (
            f"outputSchema cannot be used: more than {CHAIN_MAX} schemas look at the same value, one through the other "
            "($ref, allOf, anyOf, oneOf, not, if); write what is meant in one place"
        )
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        at = "".join(f"/{_escaped(str(part))}" for part in error.absolute_path)
        return f"outputSchema is no JSON Schema of draft 2020-12: at #{at[:200]}, {_said(error)}; correct it"
    return None


def misfit(schema: Schema, text: str) -> str | None:
    """Why a JSON text does not fit a schema that `check_schema` has let pass; ``None`` where it fits."""
    if why := unreadable(text):
        return why
    names = {name for place in _places(schema) for name in _members(place.schema, "properties")}
    errors: list[ValidationError] = []
    try:
        errors.extend(_counting()(schema, registry=Registry()).iter_errors(value(text)))
    except (_Exhausted, RecursionError):
        if not errors:
            return "output is too large or too nested to be checked against the schema; give a shorter one"
    found = [*dict.fromkeys(f"at {_path(e, names)}, {_said(e)}" for e in sorted(errors, key=_place_of))]
    if not found:
        return None
    more = f"; and {len(found) - TOLD_MAX} more" if len(found) > TOLD_MAX else ""
    return f"output does not fit the schema: {'; '.join(found[:TOLD_MAX])}{more}"[:ERROR_MAX]


def unfit(options: Options, reply: Reply) -> str | None:
    """Why a reply is no projection to the schema of its debate; ``None`` where it is one, or is none at all."""
    return misfit(output_schema_of(options), reply.output) if isinstance(reply, Projection) else None


def unbounded(schema: Schema) -> str | None:
    """Why a schema is too large to be looked at, or is no JSON; ``None`` for any other, whatever it says."""
    plain = f"outputSchema must be plain JSON of at most {LEVELS_MAX} levels"
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return f"{plain}, without NaN or Infinity; make it flatter"
    if len(text) > CHARACTERS_MAX:
        return f"outputSchema may have {CHARACTERS_MAX} characters as JSON, found {len(text)}; shorten it"
    try:
        value(text, levels=LEVELS_MAX)
    except ValueError as found:
        return f"{plain}, found {found}"
    return None


def _places(schema: Schema, at: str = "#", keyword: str = "", parent: str = "") -> Iterator[_SchemaLocation]:
    """The schema and every schema within it; what stands in enum, const or examples is none."""
    yield _SchemaLocation(at, schema, keyword, parent)
    for name in _ONE:
        if isinstance(inner := schema.get(name), dict):
            yield from _places(inner, f"{at}/{name}", name, at)
    for name in _SEVERAL:
        for i, inner in enumerate(part if isinstance(part := schema.get(name), list) else ()):
            if isinstance(inner, dict):
                yield from _places(inner, f"{at}/{name}/{i}", name, at)
    for name in _NAMED:
        for member, inner in _members(schema, name).items():
            if isinstance(inner, dict):
                yield from _places(inner, f"{at}/{name}/{_escaped(member)}", name, at)


def _members(schema: Schema, keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unusable(place: _SchemaLocation, places: Mapping[str, _SchemaLocation]) -> str | None:
    """What in a schema, apart from those within it, cannot be used here."""
    schema = place.schema
    if refused := next((keyword for keyword in _REFUSED if keyword in schema), None):
        return f"{refused} is not supported; {_REFUSED[refused]}"
    if str(schema.get("$schema", _DRAFT)).removesuffix("#") != _DRAFT:
        return f"$schema must be {_DRAFT}; write it in that draft, or leave $schema out if it is"
    if "$id" in schema and place.parent:
        return "$id may stand at the top alone; leave it out here"
    ref = schema.get("$ref")
    if "$ref" in schema and (not isinstance(ref, str) or "%" in ref or ref not in places):
        return "$ref must point at a schema within this one, as in #/$defs/name; nothing is fetched from elsewhere"
    return None


def _chained(places: Mapping[str, _SchemaLocation]) -> bool:
    """Whether too many schemas in a row look at the same value; those that come back to themselves do for ever."""
    inner: dict[str, set[str]] = {at: {ref} if (ref := places[at].schema.get("$ref")) else set() for at in places}
    for place in places.values():
        if place.keyword in _IN_PLACE:
            inner[place.parent].add(place.at)
    looking = set(places)
    for _ in range(CHAIN_MAX):
        looking = {one for at in looking for one in inner[at]}
    return bool(looking)


def _counting() -> Any:
    """A validator that looks nothing up, gives up after `STEPS_MAX` steps, and compares items by what they hold."""
    left = STEPS_MAX

    def counted(check: Callable[..., Iterator[ValidationError] | None]) -> Callable[..., Iterator[ValidationError]]:
        def counting(validator: Validator, asked: Any, found: Any, schema: Any) -> Iterator[ValidationError]:
            spend(1 + sum(len(part) for part in (asked, found) if isinstance(part, dict | list)))
            for error in check(validator, asked, found, schema) or ():
                spend(_MISFIT_STEPS)
                yield error

        return counting

    def spend(steps: int) -> None:
        nonlocal left
        left -= steps
        if left < 0:
            raise _Exhausted

    keywords = {**Draft202012Validator.VALIDATORS, "uniqueItems": _unique}
    checks = {name: counted(check) for name, check in keywords.items()}
    return extend(Draft202012Validator, checks)  # type: ignore[no-untyped-call]


def _unique(_: Validator, asked: Any, found: Any, __: Any) -> Iterator[ValidationError]:
    """``uniqueItems`` without comparing each item with every other."""
    if asked and isinstance(found, list) and len({_identity(item) for item in found}) != len(found):
        yield ValidationError("items that are equal")


def _identity(item: Any) -> str:
    """What an item is as JSON, whatever the order of its members; 1 and 1.0 are one number, 1 and true are not."""
    return json.dumps(_plain(item), sort_keys=True)


def _plain(item: Any) -> Any:
    match item:
        case dict():
            return {name: _plain(part) for name, part in item.items()}
        case list():
            return [_plain(part) for part in item]
        case float() if item.is_integer():
            return int(item)
    return item


def _place_of(error: ValidationError) -> tuple[object, ...]:
    """What orders what is told: the place in the output, then the words."""
    return (*((isinstance(p, str), p) for p in error.absolute_path),), _said(error)


def _path(error: ValidationError, names: set[str]) -> str:
    """Where in the output, by the schema's own names; ``*`` stands for a name that the output has made up."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" if p in names else ".*" for p in error.absolute_path)
    return f"${''.join(parts)}"[:60]


def _said(error: ValidationError | SchemaError) -> str:
    """What was expected, in words of our own and of the schema."""
    keyword: Any = error.validator
    asked: Any = error.validator_value
    found: Any = error.instance
    match keyword:
        case None:
            return "a part is there that the schema never allows"
        case "type":
            return f"expected {' or '.join(asked) if isinstance(asked, list) else asked}"
        case "required":
            return f"a property is missing: {', '.join(name for name in asked if name not in found)}"[:90]
        case "additionalProperties":
            return "expected no property that the schema does not name"
        case "enum" | "const":
            return f"expected what {keyword} says"
        case _:
            pass
    if isinstance(asked, int | float) and not isinstance(asked, bool):
        return f"expected {keyword} {asked}"
    return f"it does not fit {keyword}"
