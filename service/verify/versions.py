"""The version of a part by which a debate is recomputed, as ``gate.decided`` seals it and nothing else says.

A later build may add members to payloads, and gives the schemas another version then. Where a decision seals such a
version, a payload with members that are not known here is NOT CHECKABLE. Under any other it is FAILED.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from service.audit.bundle_texts import SCHEMAS
from service.debate.entries import KINDS, Entry, GateDecided
from service.debate.versions import Part, standing, version_of
from service.verify.steps import DECIDED, Differs, NotCheckable

NAME_MAX = 60
"""Characters of a name that is not known which are shown."""
Rules = TypeVar("Rules")


def by(decided: GateDecided, part: Part, known: Mapping[str, Rules]) -> Rules:
    """The rules of the sealed version; raises like `sealed`."""
    return known[sealed(decided, part, known)]


def sealed(decided: GateDecided, part: Part, known: Collection[str], *, judged: bool = True) -> str:
    """The name of the sealed version, which this build has.

    Raises `NotCheckable` for a version of a later build, and `Differs` for a name that no build has written. A step
    that only needs the part says ``judged=False``: another step judges it, and `NotCheckable` is raised for both.
    """
    name = version_of(decided.versions, part)
    state = standing(name, known)
    if state == "never" and judged:
        raise Differs(f"the version of {part}", " or ".join(known), name, file=DECIDED, record=1)
    if state != "here":
        has = ", ".join(known)
        raise NotCheckable(
            f"recorded under {name[:NAME_MAX]}, and this build has {has}; verify with a build that has it"
        )
    return name


def later_schemas(decided: Entry | None) -> str:
    """Why payloads beside this decision may have members that this build does not know; empty where they may not."""
    if not isinstance(decided, GateDecided):
        return ""
    name = version_of(decided.versions, "schemas")
    if standing(name, SCHEMAS) != "later":
        return ""
    here = ", ".join(SCHEMAS)
    return f"a payload has members that are not known here: recorded under {name[:NAME_MAX]}, and this build has {here}"


def has_unknown_members(entry: Entry, payload: bytes, schema: int) -> bool:
    """Whether members that this build does not know are all that sets a payload apart from one that it writes."""
    try:
        given = msgspec.json.decode(payload)
    except (ValueError, RecursionError):
        return False
    if msgspec.json.encode(given, order="sorted") != payload:
        return False
    known = KINDS.written(entry, payload, schema)
    return known != payload and _within(msgspec.json.decode(known), given)


def _within(known: Any, given: Any) -> bool:
    """Whether all that is known is given, whatever is given beside it."""
    if isinstance(known, dict) and isinstance(given, dict):
        return all(name in given and _within(value, given[name]) for name, value in known.items())
    if isinstance(known, list) and isinstance(given, list):
        return len(known) == len(given) and all(map(_within, known, given))
    return type(known) is type(given) and bool(known == given)
