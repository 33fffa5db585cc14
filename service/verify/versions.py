"""The version of a part by which a debate is recomputed, as ``gate.decided`` seals it and nothing else says.

what the decision seals                     what comes of it
a version that this build has               the part is recomputed by it
a later version of a part                   NOT CHECKABLE, whether a step needs the part or not
a part that this build does not know        NOT CHECKABLE: a later build recomputes something by rules unknown here
a name that no build has written            FAILED

A later build may add members to payloads and contexts, and gives the schemas another version then. Where a decision
seals such a version, a payload or context with members that are not known here is NOT CHECKABLE. Under any other it is
FAILED. `UnknownMembers` says so for the debates of an export, which may lack the decision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from service.audit.bundle_texts import READMES, SCHEMAS
from service.checks.question_type import CLASSIFICATIONS
from service.debate.entries import KINDS, Entry, GateDecided
from service.debate.versions import FIRST, Part, require_parts, standing, version_of
from service.gate import GATES
from service.money import USAGES
from service.policy import FORMS
from service.policy.seating import SEATINGS
from service.prompts.layouts import LAYOUTS
from service.verify.steps import DECIDED, Differs, NotCheckable

NAME_MAX = 60
"""Characters of a name that is not known which are shown."""
SHOWN_MAX = 5
"""Parts that are not known which are shown."""
OUTSIDE = (
    "a record has members that are not known here, and the decision that names its schemas is not in this export; "
    "verify the bundle of the debate"
)
Rules = TypeVar("Rules")

KNOWN: Mapping[Part, Collection[str]] = {
    "gate": GATES,
    "seating": SEATINGS,
    "usage": USAGES,
    "layout": LAYOUTS,
    "classification": CLASSIFICATIONS,
    "policy": FORMS,
    "report": (),
    "readme": READMES,
    "schemas": SCHEMAS,
}
"""The versions of each part that this build has. The caller names those of the report: the verifier writes none."""
require_parts(KNOWN, "verify", __file__)


def refuse_unwritten(decided: GateDecided, reports: Collection[str] = ()) -> None:
    """Raise `Differs` where the decision seals a name that no build has written as the version of a part.

    ``reports`` are the versions of the report that the caller has. A caller that has none knows only the first one.
    """
    for part, known in {**KNOWN, "report": reports}.items():
        name = version_of(decided.versions, part)
        if standing(name, known or (FIRST[part],)) == "never":
            raise _unwritten(part, known or (FIRST[part],), name)


def unknown_versions(decided: GateDecided, reports: Collection[str] = ()) -> str:
    """Why this build does not have everything that the decision seals; empty where it does.

    Without ``reports`` a later version of the report is no reason: the caller looks at no report.
    """
    reasons = [
        _lacking(name, known)
        for part, known in {**KNOWN, "report": reports}.items()
        if known and standing(name := version_of(decided.versions, part), known) == "later"
    ]
    if parts := sorted(decided.versions.keys() - KNOWN.keys()):
        unknown = ", ".join(
            f"{decided.versions[part][:NAME_MAX]!r} of {part[:NAME_MAX]!r}" for part in parts[:SHOWN_MAX]
        )
        reasons.append(f"recorded under {unknown}, and this build has no such part; verify with a build that has it")
    return "; ".join(reasons)


def _unwritten(part: Part, known: Collection[str], name: str) -> Differs:
    return Differs(f"the version of {part}", " or ".join(known), name, file=DECIDED, record=1)


def _lacking(name: str, known: Collection[str]) -> str:
    has = ", ".join(known)
    return f"recorded under {name[:NAME_MAX]}, and this build has {has}; verify with a build that has it"


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
        raise _unwritten(part, known, name)
    if state != "here":
        raise NotCheckable(_lacking(name, known))
    return name


def later_schemas(decided: Entry | None) -> str:
    """Why payloads beside this decision may have members that this build does not know; empty where they may not."""
    if not isinstance(decided, GateDecided):
        return ""
    name = version_of(decided.versions, "schemas")
    if standing(name, SCHEMAS) != "later":
        return ""
    here = ", ".join(SCHEMAS)
    return f"a record has members that are not known here: recorded under {name[:NAME_MAX]}, and this build has {here}"


def has_unknown_members(entry: Entry, payload: bytes, schema: int) -> bool:
    """Whether members that this build does not know are all that sets a payload apart from one that it writes."""
    return has_more(KINDS.written(entry, payload, schema), payload)


def has_more(known: bytes, found: bytes) -> bool:
    """Whether members that are not in ``known`` are all that sets ``found`` apart from it; both are sorted JSON."""
    try:
        given = msgspec.json.decode(found)
    except (ValueError, RecursionError):
        return False
    if msgspec.json.encode(given, order="sorted") != found:
        return False
    return known != found and _within(msgspec.json.decode(known), given)


class UnknownMembers:
    """What becomes of members that this build does not know, in the records of an export.

    the decision of the debate               a member that is not known
    is there and seals later schemas         NOT CHECKABLE
    is there and seals any others            FAILED
    is not in a filtered export              NOT CHECKABLE: a later build may have written it
    is there, but not to be read here        NOT CHECKABLE: a later build wrote it
    is not in a complete export              FAILED, but where a leaf that cannot be read may be it (`unread`)

    A case comes before its decision and waits for it.
    """

    def __init__(self, what: str, expected: str, *, complete: bool) -> None:
        self._what, self._expected = what, expected
        self._absent = "" if complete else OUTSIDE
        """Why the decision of a debate may be missing."""
        self._unread = "", -1
        self._why: dict[str, str] = {}
        """Debates whose decision is there, and why their records may have such members."""
        self._waiting: dict[str, int] = {}
        """Debates with such members and no decision yet, with the index of the first such record."""
        self.gap = ""
        """Why not all records can be read; empty while they can."""

    def decided(self, debate: str, decision: Entry | None, later: str = "") -> None:
        """The decision of a debate, which settles what waits for it; raises `Differs`.

        ``later`` says why the decision cannot be read: a later build wrote it.
        """
        self._why[debate] = later or later_schemas(decision)
        if (waiting := self._waiting.pop(debate, None)) is not None:
            self._settle(waiting, self.why(debate))

    def found(self, debate: str, n: int, index: int) -> None:
        """A record with such members; raises `Differs`."""
        if n == 0:
            self._waiting.setdefault(debate, index)
        else:
            self._settle(index, self.why(debate))

    def unread(self, why: str, index: int) -> None:
        """A leaf that cannot be read may be the decision of a debate whose decision was not read before it."""
        self._unread = self._unread[0] or why, index

    def ended(self, debate: str) -> None:
        """No record of this debate follows, so nothing of it is kept."""
        self._why.pop(debate, None)

    def end(self) -> None:
        """Settle what still waits, by its index: a decision stands behind its case; raises `Differs`."""
        for index in sorted(self._waiting.values()):
            self._settle(index, self._absent or (self._unread[0] if index < self._unread[1] else ""))

    def why(self, debate: str) -> str:
        """Why a record of the debate may have such members; empty where it may not."""
        return self._why.get(debate, self._absent or self._unread[0])

    def _settle(self, index: int, why: str) -> None:
        if not why:
            raise Differs(self._what, self._expected, "something else", record=index)
        self.gap = self.gap or why


def _within(known: Any, given: Any) -> bool:
    """Whether all that is known is given, whatever is given beside it."""
    if isinstance(known, dict) and isinstance(given, dict):
        return all(name in given and _within(value, given[name]) for name, value in known.items())
    if isinstance(known, list) and isinstance(given, list):
        return len(known) == len(given) and all(map(_within, known, given))
    return type(known) is type(given) and bool(known == given)
