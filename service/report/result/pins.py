"""The pins of the texts that a debate may ask with, of all that its record pins.

    always                       the layout, the system prompt, the text that asks for an unusable reply again
    each turn that may be asked  its prompt (a debater's own, if the case names one), its fragments, its reply's schema
    without documents            of a text with a version for such cases, that version alone

Which turns may be asked follows from the start alone: the format, its options and the case. So the stream names the
same texts in its first events as the result at the end. A record pins every current text; the bundle has them all.
"""

from __future__ import annotations

from itertools import chain

from service.debate.entries import DebateStarted
from service.debate.kernel import FORMATS
from service.debate.model import Case
from service.prompts.undocumented import in_place_of
from service.report.formats import telling_of

ALWAYS = ("house", "repair")
LAYOUT = "template."


def pins_of(started: DebateStarted, case: Case) -> dict[str, str]:
    """The pins of the prompts, templates and schemas that this debate may ask with, by id."""
    telling, roster = telling_of(started.options), FORMATS[started.format].table(started.options)
    further = telling.further(started.options, case) if telling else ()
    texts, schemas = set(ALWAYS), set[str]()
    for turn in chain(roster.seats.values(), roster.beginning, further):
        if not roster.usual.get(turn.seat, 1):  # a debate until its critic asks no later seat
            continue
        texts |= {turn.prompt or turn.asks, *turn.fragments}
        schemas.add(f"schema.{turn.asks}")
    documented = bool(case.documents)
    asked = {in_place_of(text, started.pins, documented=documented) for text in texts} | schemas
    return {id_: mark for id_, mark in started.pins.items() if id_ in asked or id_.startswith(LAYOUT)}
