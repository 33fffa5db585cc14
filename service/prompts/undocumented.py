"""Which text a pinned one gives way to in a case without documents, by its id.

    a case with documents       house    stances.debater    panel.blind    a prompt that a caller chose
    a case without documents    <id>.undocumented, if the debate has pinned it; else the same

So there is one rule for the system prompt, the prompts of seats, a caller's choice and fragments. A deployment that
adds a prompt of its own may add such a text beside it.
"""

from __future__ import annotations

from collections.abc import Collection

from service.debate.facts import Facts

UNDOCUMENTED = ".undocumented"


def pin_of(facts: Facts, pin: str) -> str:
    """The id of the text that is used for a pinned one."""
    return in_place_of(pin, facts.started.pins if facts.started else (), documented=facts.documented)


def in_place_of(pin: str, pinned: Collection[str], *, documented: bool) -> str:
    """The same of the ids that a debate has pinned, by whether its case has documents."""
    own = f"{pin}{UNDOCUMENTED}"
    return own if not documented and own in pinned else pin


def plain_id(pin: str) -> str:
    """The id of the text in whose place this one is used, or the id itself."""
    return pin.removesuffix(UNDOCUMENTED)
