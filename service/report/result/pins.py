"""The pins of the texts that a debate can ask with, of all that its record pins.

A record pins every current text, so that no question remains about any. A reader of one debate needs those of its
format, and those that all formats share: the system prompt, the layout, personas, instructions, repairs.
"""

from __future__ import annotations

from service.debate import adversarial
from service.debate.entries import DebateStarted
from service.debate.formats import NAMES
from service.debate.options import format_of

_OWN: dict[str, str] = {**{name: name for name in NAMES}, **dict.fromkeys(adversarial.SEATS, "adversarial")}
"""The format of an id by its first word: ``panel.blind`` is a panel's, ``critic.retry`` the adversarial format's."""


def pins_of(started: DebateStarted) -> dict[str, str]:
    """The pins of the prompts, templates and schemas of the debate's format, and of those that all formats share."""
    name = format_of(started.options)
    return {id_: mark for id_, mark in started.pins.items() if _OWN.get(_first(id_), name) == name}


def _first(id_: str) -> str:
    """The first word of an id; a schema's is that of the reply that it describes."""
    return id_.removeprefix("schema.").partition(".")[0]
