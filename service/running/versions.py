"""The versions that this build has of each part whose version is sealed with a case, and those that it seals.

A worker continues a debate only if it has the versions by which a debate runs (`RUN_BY`): other rules might charge, or
lay out requests, differently from what the record says. It leaves a debate with a part that it does not know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from service import gate, money, policy
from service.audit import bundle_texts
from service.checks import question_type
from service.debate.versions import FIRST, Part, newest, require_parts
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
require_parts(KNOWN, "running", __file__)
if gone := [first for part, first in FIRST.items() if first not in KNOWN[part]]:
    raise TypeError(f"expected the versions that a record without versions means, found none of {', '.join(gone)}")
RUN_BY: Mapping[str, Collection[str]] = {part: KNOWN[part] for part in ("usage", "layout", "schemas")}
"""The parts that a worker continues a debate by. The other parts are used before a debate starts and after its end.

Usage says what an attempt holds and costs, the layout says what a request is, and the schemas say which members entries
may have: a worker that does not know one might decide otherwise than the record needs.
"""
CURRENT: Mapping[str, str] = {part: newest(names) for part, names in KNOWN.items()}
"""The versions that are sealed with a new case."""


def require(sealed: Mapping[str, str]) -> None:
    """Raise `SettingsError` unless this build has every version by which a debate runs that is sealed with a case."""
    lacking = {
        name for part, name in sealed.items() if part not in KNOWN or (part in RUN_BY and name not in RUN_BY[part])
    }
    if lacking:
        here = {name for names in RUN_BY.values() for name in names}
        raise SettingsError(
            f"expected a build that has {', '.join(sorted(lacking))}, by which this debate runs, found one that has "
            f"{', '.join(sorted(here))}; finish the debate with a build that has them, or abort it"
        )
