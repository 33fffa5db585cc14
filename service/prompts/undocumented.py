"""Which text a pinned one gives way to in a case without documents, by its id.

    a case with documents       house    stances.debater    panel.blind    a prompt that a caller chose
    a case without documents    <id>.undocumented, if the debate has pinned it; else the same

So there is one rule for the system prompt, the prompts of seats, a caller's choice and fragments. A deployment that
adds a prompt of its own may add such a text beside it.
"""

from __future__ import annotations

from service.debate.facts import Facts

UNDOCUMENTED = ".undocumented"


def pin_of(facts: Facts, pin: str) -> str:
    """The id of the text that is used for a pinned one."""
    own = f"{pin}{UNDOCUMENTED}"
    return own if not facts.documented and facts.started and own in facts.started.pins else pin


def plain_id(pin: str) -> str:
    """The id of the text in whose place this one is used, or the id itself."""
    return pin.removesuffix(UNDOCUMENTED)
