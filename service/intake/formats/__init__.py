"""The options of each format and how intake reads them, one file for each format."""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.formats import FormatName, complete_formats
from service.intake.formats import adversarial, ballot, convergence, panel, stances
from service.intake.formats.shared import Reading

READINGS: Mapping[FormatName, Reading] = complete_formats(
    {
        "adversarial": adversarial.READING,
        "stances": stances.READING,
        "ballot": ballot.READING,
        "panel": panel.READING,
        "convergence": convergence.READING,
    },
    "intake",
    __file__,
)
OPTIONS_OF: Mapping[FormatName, tuple[str, ...]] = {name: reading.options for name, reading in READINGS.items()}
"""The options that each format knows, by their names in JSON."""
COMMON = tuple(name for name in next(iter(OPTIONS_OF.values())) if all(name in known for known in OPTIONS_OF.values()))
"""The options that every format knows: a case may give them where policy chooses its format."""
