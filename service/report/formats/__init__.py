"""The rendering of each format: one file for each, with one `Telling`."""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.formats import FormatName, complete_formats
from service.debate.options import Options, format_of
from service.report.formats import adversarial, ballot, convergence, panel, stances
from service.report.formats.aspects import Given, Own, Telling

__all__ = ["TELLINGS", "Given", "Own", "Telling", "telling_of"]

TELLINGS: Mapping[FormatName, Telling] = complete_formats(
    {
        "adversarial": adversarial.TELLING,
        "stances": stances.TELLING,
        "ballot": ballot.TELLING,
        "panel": panel.TELLING,
        "convergence": convergence.TELLING,
    },
    "report",
    __file__,
)


def telling_of(options: Options | None) -> Telling | None:
    """The `Telling` of a debate with these options; ``None`` for one that has not started."""
    return TELLINGS[format_of(options)] if options else None
