"""Units in which the case of a letter changes the size: 10 mW is not 10 MW, and 8 Mb is not 8 MB.

Folding makes upper and lower case equal, so the units beside digits are compared once more in their printed form. A
unit in small letters only ("10 mw", "8 mb") is the same unit, written carelessly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.checks.patterns import lazily
from service.debate.findings import Edit

_UNIT = lazily(
    r"(?<=\d)[ \t\xa0\u2009\u202f-]?([kmgt]i?b(?:ps|/s|its?)?|m(?:wh?|hz|v|a|j|pa|ev))(?![^\W_])", re.IGNORECASE
)


def changed_units(document: str, quote: str) -> Iterator[Edit]:
    """The units of a quotation that its passage has in another size only; both are the texts as printed."""
    ours = [match[1] for match in _UNIT.finditer(quote)]
    if not ours:
        return
    theirs = [match[1] for match in _UNIT.finditer(document)]
    meant = {_meant(unit) for unit in theirs}
    for unit in ours:
        if unit.islower() or _meant(unit) in meant:
            continue
        if other := next((u for u in theirs if u.casefold() == unit.casefold() and not u.islower()), None):
            yield Edit("number", other, unit)


def _meant(unit: str) -> str:
    """A unit with only the case that has a meaning: that of milli and mega, and of bits and bytes."""
    prefix, rest = unit[0], unit[1:].removeprefix("i")
    folded = prefix if prefix in "mM" else prefix.casefold()
    is_data = rest[0] in "bB" and "it" not in rest.casefold()
    return folded + (rest[0] if is_data else "") + rest.casefold()
