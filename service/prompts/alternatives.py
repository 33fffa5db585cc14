"""Which pinned prompts a caller may name for a debater, by their ids. Pure."""

from __future__ import annotations

from service.debate.ballot import DRAFT
from service.debate.replies import REPLY_TYPES
from service.prompts.undocumented import UNDOCUMENTED

WHOLE = frozenset({"house", DRAFT, *REPLY_TYPES})
"""The prompts that are whole texts of a system message or a seat, and stand in the place of no other."""
_REPLACEABLE = frozenset(kind for kind in REPLY_TYPES if "." in kind)
"""The kinds of turns for which a caller may name another pinned prompt: its id begins with the kind and a dot."""


def replaced_by(prompt: str) -> str | None:
    """The kind of turn whose prompt this one may replace; ``None`` if it is no such alternative.

    ``stances.debater.open`` may stand for ``stances.debater``; ``critic.retry`` is joined to a prompt, and stands for
    none. What is for cases without documents is chosen by the case and never by a caller.
    """
    if prompt.endswith(UNDOCUMENTED):
        return None
    return next((kind for kind in _REPLACEABLE if prompt.startswith(f"{kind}.")), None)
