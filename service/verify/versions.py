"""The version of a part by which a debate is recomputed, as ``gate.decided`` seals it and nothing else says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from service.debate.versions import Part, standing, version_of
from service.verify.opened_bundle import Debate
from service.verify.steps import DECIDED, Differs, Unchecked

NAME_MAX = 60
"""Characters of a name that is not known which are shown."""
Rules = TypeVar("Rules")


def by(debate: Debate, part: Part, known: Mapping[str, Rules]) -> Rules:
    """The rules of the sealed version.

    Raises `Unchecked` for a version of a later build, and `Differs` for a name that no build has written.
    """
    name = version_of(debate.decided.versions, part)
    match standing(name, known):
        case "here":
            return known[name]
        case "later":
            raise Unchecked(f"recorded under {name[:NAME_MAX]}, and this build has {', '.join(known)}")
        case "never":
            raise Differs(f"the version of {part}", " or ".join(known), name, file=DECIDED, record=1)
