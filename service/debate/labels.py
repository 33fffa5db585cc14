"""Short names as models write them back: votes, stances, winners.

    case, width of spaces, line breaks      one space, full case folding
    what no model reads (`neutral`)         nothing: a model writes a name as it was shown
    quotes, brackets, stops around a name   nothing
    anything inside a name                  kept: "re-release" is not "release", "do not ship" is not "ship"

A name with words around it ("I vote: release") is another name: code does not guess the meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.debate.neutral import neutral_line
from service.debate.whose import by_tenant

_AROUND = " \"'`.,:;!?*_~()[]{}<>\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u00ab\u00bb\u2026"


@by_tenant(most=1_024)  # every entry makes the count read the same few votes again
def fold(name: str) -> str:
    """The key by which a name is compared; empty if the name holds only blanks and punctuation."""
    return " ".join(neutral_line(name).casefold().split()).strip(_AROUND)


def read(name: str, options: Iterable[str]) -> str | None:
    """The option with this name, in the option's own spelling; ``None`` if there is none."""
    said = fold(name)
    return next((option for option in options if fold(option) == said), None)


def clashing(names: Sequence[str]) -> bool:
    """Whether two of these names have the same key, or one has an empty key."""
    folded = [fold(name) for name in names]
    return len(set(folded)) != len(folded) or "" in folded
