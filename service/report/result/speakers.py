"""One debater has one name: its seat, its letter and the caller's name, the same in transcript, events and bill.

    seat     debater-2
    label    Model B, Debater B, Debater 2   its neutral label in the transcript; none in stances, where other seats
                                             know a debater by its stance alone, which may be long
    name     legal                           the caller's, where it gave one

The reader of a result or a stream is the caller, so it may see the names; no other seat does.
"""

from __future__ import annotations

from service.debate.options import role_of
from service.report.formats import telling_of
from service.report.formats.debaters import named
from service.report.result.history import History
from service.report.result.seat_types import Speaker


def speaker_of(h: History, seat: str) -> Speaker:
    """The names of a seat; a seat that does not debate has none."""
    telling = telling_of(h.options)
    if telling is None or role_of(seat) != "debater":
        return Speaker()
    label, debater = telling.label(h, seat), named(h, seat)
    return Speaker(None if label == debater.stance else label, debater.name or None)
