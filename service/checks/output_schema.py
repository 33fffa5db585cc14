"""A synthesizer's output against the caller's JSON Schema (Draft 2020-12), without a network and in counted steps.

    a schema is refused                                    because
    that is above `CHARACTERS_MAX` or `LEVELS_MAX`         it is sent with the request, and recorded with the debate
    of another draft                                       its words would mean something else, or nothing
    with a ``$ref`` that is not "#" or "#/a/place"         its meaning must be in the record
    with a ``$ref`` that comes back to itself in place     its check would never end
    with ``pattern`` or ``patternProperties``              a regular expression's work has no bound
    with ``unevaluated...``, dynamic or named anchors      their meaning depends on the whole schema around them
    with ``dependencies`` or ``additionalItems``           this draft would ignore them
    with names or values that `neutral` changes            a model would write them as it was shown them

``format`` is a note to the author and is not checked, the draft's default. A misfit is reported by place and keyword,
never in the words of the output; of its property names, only those that the schema has are named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from service.debate.model import Options
from service.debate.neutral import neutral
from service.debate.options import output_schema_of
from service.debate.projection import unreadable, value
from service.debate.replies import Projection, Reply

if TYPE_CHECKING:  # imported by the checks themselves: it takes a tenth of a start, and few debates have a schema
    from jsonschema.exceptions import SchemaError, ValidationError
    from jsonschema.protocols import Validator

Schema = Mapping[str, Any]
"""The schema of a synthesizer's output if the caller gives none: a decision and its rationale."""
CHARACTERS_MAX = 16_000
"""The greatest length of a schema, as compact JSON."""
LEVELS_MAX = 24
"""The most levels of a schema, as nested JSON."""
CHAIN_MAX = 8
"""The most schemas in a row that apply to the same value: ``$ref`` to ``allOf`` to ``$ref``..."""
STEPS_MAX = 100_000
"""The most steps of one check: a keyword, a member or an item is one step; a misfit is several."""
SHOWN_MAX = 3
"""The most misfits in one message."""
ERROR_MAX = 500
"""The greatest length of the message, in characters, the same as for every unusable reply."""

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
    """A schema within a schema: its place, and the keyword that holds it."""

    at: str
    schema: Schema
    keyword: str
    parent: str


class _Exhausted(Exception):
    """The check has taken all its steps."""


def check_schema(schema: object) -> str | None:
    """Why a caller's schema cannot be used, and what to do; ``None`` if it can."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

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
    """Why a JSON text does not fit a schema that `check_schema` has accepted; ``None`` if it fits."""
    from referencing import Registry

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
    more = f"; and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
    return f"output does not fit the schema: {'; '.join(found[:SHOWN_MAX])}{more}"[:ERROR_MAX]


def unfit(options: Options, reply: Reply) -> str | None:
    """Why a projection does not fit the schema of its debate; ``None`` if it does, and for other replies."""
    return misfit(output_schema_of(options), reply.output) if isinstance(reply, Projection) else None


def unbounded(schema: Schema) -> str | None:
    """Why a schema is too large to be checked, or is no JSON; ``None`` for any other schema."""
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
    """The schema and every schema within it; values in enum, const or examples are no schemas."""
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
    """The part of a schema that cannot be used here, without the schemas within it."""
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
    if hidden := next((keyword for keyword, asked in schema.items() if _is_hidden(keyword, asked)), None):
        return f"{neutral(hidden)[:60]} holds characters that no model is shown, such as zero widths; leave them out"
    return None


def _is_hidden(keyword: str, asked: Any) -> bool:
    """Whether a keyword has names or values that a model would read otherwise; notes to a reader are no such values."""
    if keyword in _ONE or keyword in _SEVERAL or (keyword in _NOTES and isinstance(asked, str)):
        return False
    names = list(asked) if keyword in _NAMED and isinstance(asked, dict) else asked
    return any(neutral(text) != text for text in _texts([keyword, names]))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from chain(value, *map(_texts, value.values()))
        case list():
            yield from chain(*map(_texts, value))
        case _:
            return


_NOTES = ("title", "description", "$comment")


def _chained(places: Mapping[str, _SchemaLocation]) -> bool:
    """Whether too many schemas in a row apply to the same value; a cycle has no end, so it counts as too many."""
    inner: dict[str, set[str]] = {at: {ref} if (ref := places[at].schema.get("$ref")) else set() for at in places}
    for place in places.values():
        if place.keyword in _IN_PLACE:
            inner[place.parent].add(place.at)
    looking = set(places)
    for _ in range(CHAIN_MAX):
        looking = {one for at in looking for one in inner[at]}
    return bool(looking)


def _counting() -> Any:
    """A validator that fetches nothing, stops after `STEPS_MAX` steps, and compares items by their contents."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

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
    from jsonschema.exceptions import ValidationError

    if asked and isinstance(found, list) and len({_identity(item) for item in found}) != len(found):
        yield ValidationError("items that are equal")


def _identity(item: Any) -> str:
    """An item's identity as JSON, without the order of members; 1 and 1.0 are the same number, 1 and true are not."""
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
    """The sort key of misfits: the place in the output, then the words."""
    return (*((isinstance(p, str), p) for p in error.absolute_path),), _said(error)


def _path(error: ValidationError, names: set[str]) -> str:
    """The place in the output, in the schema's own names; ``*`` stands for a name that only the output has."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" if p in names else ".*" for p in error.absolute_path)
    return f"${''.join(parts)}"[:60]


def _said(error: ValidationError | SchemaError) -> str:
    """The expectation that failed, in words of our own and of the schema."""
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
