"""A proposal as a critique attacks it, and what its critic was shown: what every version of the check is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.debate.findings import ArgumentVerdict
from service.debate.replies import Proposal


class Attacked(NamedTuple):
    """A proposal under attack: its position, if it has one, and the verdicts on its arguments."""

    proposal: Proposal
    position: str | None = None
    verdicts: Sequence[ArgumentVerdict] = ()

    def standing(self) -> dict[int, str]:
        """The texts of the arguments that are not struck, by number."""
        struck = {v.n for v in self.verdicts if v.struck}
        return {a.n: a.text for a in self.proposal.arguments if a.n not in struck}


class Shown(NamedTuple):
    """What a critic was shown beside the proposals: what the case asks, and its documents by id."""

    asked: Sequence[str] = ()
    sources: Mapping[str, str] = {}


NOTHING = Shown()
