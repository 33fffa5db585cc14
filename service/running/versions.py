"""The versions that this build has of each part whose version is sealed with a case, and those that it seals.

A worker continues a debate only if it has every version that is sealed with it: other rules might charge, or lay out
requests, differently from what the record says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import get_args

from service import gate, money, policy
from service.audit import bundle_texts
from service.checks import question_type
from service.debate.versions import Part, newest, version_of
from service.errors import SettingsError
from service.policy import seating
from service.prompts import layouts
from service.report import versions as report

KNOWN: Mapping[Part, Collection[str]] = {
    "gate": gate.GATES,
    "seating": seating.SEATINGS,
    "usage": money.USAGES,
    "classification": question_type.CLASSIFICATIONS,
    "layout": layouts.LAYOUTS,
    "policy": policy.FORMS,
    "report": report.REPORTS,
    "readme": bundle_texts.READMES,
    "schemas": bundle_texts.SCHEMAS,
}
"""Every version of each part that this build has."""
if KNOWN.keys() != set(get_args(Part)):
    raise TypeError(f"expected the versions of every part, {get_args(Part)}, found {tuple(KNOWN)}")
CURRENT: Mapping[str, str] = {part: newest(names) for part, names in KNOWN.items()}
"""The versions that are sealed with a new case."""


def require(sealed: Mapping[str, str]) -> None:
    """Raise `SettingsError` unless this build has every version that is sealed with a case."""
    here = {name for names in KNOWN.values() for name in names}
    unknown = {name for part, name in sealed.items() if part not in KNOWN}
    missing = sorted(
        unknown | {version_of(sealed, part) for part in KNOWN if version_of(sealed, part) not in KNOWN[part]}
    )
    if missing:
        raise SettingsError(
            f"expected a build that has {', '.join(missing)}, by which this debate is recomputed, found one that has "
            f"{', '.join(sorted(here))}; finish the debate with a build that has them, or abort it"
        )
