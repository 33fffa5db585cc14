"""The options of a request in OpenAPI: one schema for each format, tied to the value of ``format``.

The service decodes the options of all formats as one type and refuses those that the format does not know. A schema for
each format shows callers only the options that they may give.
"""

from __future__ import annotations

from typing import Any

from service.debate.formats import FormatName
from service.intake.formats import OPTIONS_OF
from service.intake.request import OptionsRequest
from service.policy import AUTO, FORMAT_RULES
from service.web.formats import BOUNDS
from service.web.operation import Schema
from service.web.option_bounds import bounded
from service.web.schema_names import SCHEMA_NAMES

OPTIONS = SCHEMA_NAMES[OptionsRequest]
"""The component for the options of any format."""


def split_options(components: dict[str, Any], ref_template: str, *requests: str) -> None:
    """Replace the schema of all options by one for each format, and tie it to ``format`` in these requests."""
    whole = components[OPTIONS]
    refs = {name: {"$ref": ref_template.format(name=_component(name))} for name in OPTIONS_OF}
    for name in OPTIONS_OF:
        components[_component(name)] = _options(whole, name)
    components[OPTIONS] = {
        "title": OPTIONS,
        "description": "The options of the case's format. Policy sets the options that are left out.",
        "anyOf": list(refs.values()),
    }
    for request in requests:
        members = components[request]["properties"]
        members["format"] = {**members["format"], "anyOf": [{"enum": [*OPTIONS_OF, AUTO]}, {"type": "null"}]}
        members["options"] = {**members["options"], "default": {}}
        components[request]["allOf"] = [_tied(name, ref) for name, ref in refs.items()]


def _component(name: str) -> str:
    return f"{name.capitalize()}Request"


def _options(whole: Schema, name: FormatName) -> Schema:
    members = {option: whole["properties"][option] for option in OPTIONS_OF[name]}
    if "debaters" in members:
        kinds = (*BOUNDS[name].debaters, "null")
        shapes = [shape for shape in members["debaters"]["anyOf"] if shape["type"] in kinds]
        members["debaters"] = {**members["debaters"], "anyOf": shapes}
    members = {option: bounded(option, member, name) for option, member in members.items()}
    found: Schema = {
        "title": _component(name),
        "description": f"The options of the format {name}.",
        "type": "object",
        "properties": members,
        "required": [],
        "additionalProperties": False,
    }
    if FORMAT_RULES[name].assigned:
        (listed,) = [shape for shape in members["debaters"]["anyOf"] if shape["type"] == "array"]
        found["properties"] = {**members, "debaters": {**listed, "description": members["debaters"]["description"]}}
        found["required"] = ["debaters"]
    return found


def _tied(name: FormatName, ref: Schema) -> Schema:
    """A rule: a request that names a format has options of that format, and must give stances that it assigns."""
    then: Schema = {"properties": {"options": ref}}
    if FORMAT_RULES[name].assigned:
        then["required"] = ["options"]
    return {"if": {"properties": {"format": {"const": name}}, "required": ["format"]}, "then": then}
