"""A debate as a person names it: its whole id, the beginning of it, or ``last`` for the newest one.

An id is a UUID of version 7 (decision 0016): its first twelve digits are the milliseconds of its creation. So the
debates with one beginning lie in a range of time, and a service finds them by it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import click

from service.cli.access.problems import whole_id
from service.cli.members import items, member
from service.errors import NotFound

if TYPE_CHECKING:
    from service.cli.access.port import Query, Service

LAST = "last"
LEAST = 8
"""The fewest digits of a beginning: those of a minute."""
DIGITS, OF_TIME = 32, 12
NAMED = 5
"""How many debates an error lists."""
_HEX = re.compile(r"[0-9a-f]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HELP = f"ID is a whole id, {LEAST} or more of its first digits, or `{LAST}` for the newest debate."


async def debate_of(service: Service, given: str) -> str:
    """The whole id in its usual spelling; raises `NotFound`, and `click.UsageError` for a beginning of several.

    Whether there is a debate of a whole id the service says, when it is asked about it.
    """
    if given == LAST:
        return await _newest(service)
    digits = given.lower().replace("-", "")
    if not _HEX.fullmatch(digits) or not LEAST <= len(digits) <= DIGITS:
        raise NotFound(
            f"there is no debate {given!r}; give its id, {LEAST} or more of its first digits, or {LAST} for the newest"
        )
    if len(digits) == DIGITS:
        return str(UUID(digits))
    found = [one for one in await _within(service, digits) if one.replace("-", "").startswith(digits)]
    if not found:
        raise NotFound(f"there is no debate whose id begins with {given}; `gainsay list` shows those that there are")
    if len(found) > 1:
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise click.UsageError(
            f"{given} begins the ids of {len(found)} debates: {', '.join(found[:NAMED])}{more}; give more digits"
        )
    return found[0]


async def _newest(service: Service) -> str:
    found = items(await service.find((("limit", "1"),)), "debates")
    if not found:
        raise NotFound("there is no debate yet; `gainsay review` makes one")
    return whole_id(member(found[0], "debateId"))


async def _within(service: Service, digits: str) -> list[str]:
    """The ids of the debates that were created when a beginning says."""
    first = int(digits[:OF_TIME].ljust(OF_TIME, "0"), 16)
    ends = int(digits[:OF_TIME].ljust(OF_TIME, "f"), 16) + 1
    try:
        query: Query = (("since", _instant(first)), ("until", _instant(ends)), ("limit", "100"))
    except OverflowError:  # no clock shows such a time
        return []
    found: list[str] = []
    after: Query = ()
    while True:
        page = await service.find((*query, *after))
        found += [whole_id(member(one, "debateId")) for one in items(page, "debates")]
        if not (following := page.get("next")) or after == (("after", str(following)),):
            return found
        after = (("after", str(following)),)


def _instant(milliseconds: int) -> str:
    at = _EPOCH + timedelta(milliseconds=milliseconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
