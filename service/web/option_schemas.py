"""The options of a request in OpenAPI: one schema for each format and for ``auto``, distinguished by ``format``.

The service decodes the options of all formats as one type and refuses those that the format does not know. A schema for
each format shows callers only the options that they may give.
"""

from __future__ import annotations

from typing import Any

from service.debate.formats import FormatName
from service.intake.formats import COMMON, OPTIONS_OF
from service.intake.request import OptionsRequest
from service.policy import AUTO, FORMAT_RULES
from service.web.formats import BOUNDS
from service.web.operation import Schema
from service.web.option_bounds import bounded
from service.web.schema_names import SCHEMA_NAMES
from service.web.value_bounds import CaseBounds

OPTIONS = SCHEMA_NAMES[OptionsRequest]
"""The component for the options of any format."""


def split_options(components: dict[str, Any], ref_template: str, rules: CaseBounds | None) -> None:
    """Replace the schema of all options by a choice of one for each format, and one for ``auto``."""
    whole = components[OPTIONS]
    for name in OPTIONS_OF:
        components[_component(name)] = _options(whole, name, rules)
    components[_component(AUTO)] = _automatic(whole, rules)
    refs = {name: ref_template.format(name=_component(name)) for name in (*OPTIONS_OF, AUTO)}
    components[OPTIONS] = {
        "title": OPTIONS,
        "description": "The format of a debate and its options. Policy sets the options that are left out.",
        "oneOf": [{"$ref": ref} for ref in refs.values()],
        "discriminator": {"propertyName": "format", "mapping": refs},
    }


def _component(name: str) -> str:
    return f"{name.capitalize()}Request"


def _options(whole: Schema, name: FormatName, rules: CaseBounds | None) -> Schema:
    members = {option: whole["properties"][option] for option in OPTIONS_OF[name]}
    if "debaters" in members:
        kinds = (*BOUNDS[name].debaters, "null")
        shapes = [shape for shape in members["debaters"]["anyOf"] if shape["type"] in kinds]
        members["debaters"] = {**members["debaters"], "anyOf": shapes}
    members = {option: bounded(option, member, name, rules) for option, member in members.items()}
    if not FORMAT_RULES[name].assigned:
        return _tagged(name, f"The options of the format {name}.", members)
    (listed,) = [shape for shape in members["debaters"]["anyOf"] if shape["type"] == "array"]
    members["debaters"] = {**listed, "description": members["debaters"]["description"]}
    return _tagged(name, f"The options of the format {name}.", members, "debaters")


def _automatic(whole: Schema, rules: CaseBounds | None) -> Schema:
    widest = max(OPTIONS_OF, key=lambda name: BOUNDS[name].rounds)
    members = {option: bounded(option, whole["properties"][option], widest, rules) for option in COMMON}
    return _tagged(AUTO, "The options where policy chooses the format by the task type.", members)


def _tagged(name: str, description: str, members: Schema, *required: str) -> Schema:
    return {
        "title": _component(name),
        "description": description,
        "type": "object",
        "properties": {
            "format": {
                "type": "string",
                "const": name,
                "description": "The format, which decides what the other options are.",
            },
            **members,
        },
        "required": ["format", *required],
        "additionalProperties": False,
    }
