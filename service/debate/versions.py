"""The versions by which a debate is recomputed, and the standing of a version's name in this build.

    what                                     where its version is sealed
    format                                   ``debate.started.format``
    citations, critique, injection,          ``check.found.engine``
    overlap, consensus, accuracy, texts,
    synthesis
    everything in `Part`                     ``gate.decided.versions``

A name is FAMILY/NUMBER, and some add ``+DATA``, the name and hash of word lists that belong to the version. Every build
keeps each released version beside its successors, so an old record is recomputed by the version that it names. A record
that names none for a part was written before that part had a version: it means the first one (`FIRST`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal, get_args

from service.debate.closed_lists import ClosedList, require_rows, table_of
from service.errors import IncompleteTable

Part = Literal["gate", "seating", "usage", "layout", "classification", "policy", "report", "readme", "schemas"]
"""The recomputed parts without an entry of their own that names their version."""
Standing = Literal["here", "later", "never"]

FIRST: Mapping[Part, str] = {
    "gate": "gate/1",
    "seating": "seating/1",
    "usage": "usage/1",
    "layout": "layout/1",
    "classification": "classification/1",
    "policy": "policy/1",
    "report": "report/1",
    "readme": "readme/1",
    "schemas": "schemas/1",
}

_PARTS = ClosedList("sealed part", "service/debate/versions.py", "docs/how-to/change-a-rule.md", IncompleteTable)

_NAME = re.compile(r"(?P<family>[a-z]{1,32})/(?P<number>[1-9]\d{0,3})(?:\+[0-9a-z-]{1,64})?")


def require_parts(rows: Mapping[Part, object], layer: str, file: str) -> None:
    """Raise `IncompleteTable` unless a layer's table has a row for each part and no other.

    The table keeps its order, which is that of ``gate.decided.versions``.
    """
    require_rows(get_args(Part), rows, _PARTS, table_of(layer, file))


def version_of(sealed: Mapping[str, str], part: Part) -> str:
    """The version of a part by which a debate is recomputed; ``sealed`` is ``gate.decided.versions``."""
    return sealed.get(part, FIRST[part])


def newest(known: Collection[str]) -> str:
    """The version with the highest number of one family: the one by which new records are written."""
    return max(known, key=number)


def number(name: str) -> int:
    """The number of a version's name."""
    found = _NAME.fullmatch(name)
    if not found:
        raise ValueError(f"expected the name of a version, FAMILY/NUMBER, found {name!r}")
    return int(found["number"])


def standing(name: str, known: Collection[str]) -> Standing:
    """The standing of a recorded version in a build that has the ``known`` versions of one family.

    ``here`` can be recomputed; ``later`` is above every number that this build knows, so only a later build can have
    written it; ``never`` is a name that no build has written: another family, a number between, or other word lists.
    """
    if name in known:
        return "here"
    found = _NAME.fullmatch(name)
    ours = [ours for ours in map(_NAME.fullmatch, known) if ours]
    if not found or not ours or found["family"] not in {one["family"] for one in ours}:
        return "never"
    return "later" if int(found["number"]) > max(int(one["number"]) for one in ours) else "never"
