"""The time zone of [budgets]: its data are files of this machine."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from service.policy.faults import WrongSetting

_ZONE = re.compile(r"[A-Z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,3}")
"""Names as IANA writes them: no path, and none of the folders that only machines have (posix, right, localtime)."""


def check_zone(zone: str) -> None:
    """Raise `WrongSetting` for a zone of which this machine does not know when a day begins; UTC needs no data."""
    if zone == "UTC":
        return
    known = False
    if _ZONE.fullmatch(zone):
        try:
            ZoneInfo(zone)
            known = True
        except (LookupError, OSError, ValueError):  # no such file, a folder, a file that is no zone
            known = False
    if not known:
        raise WrongSetting(
            ("budgets", "zone"),
            f"expected a time zone by its IANA name, such as Europe/London, found {zone!r}, which this machine does "
            "not know; correct it, install the system's time zone data, or use UTC",
        )
