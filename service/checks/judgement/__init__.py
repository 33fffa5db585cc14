"""The checks of critiques and of who argues: those without citations.

    critique    hard signs of a weak critique (it is asked for again) and soft ones (they are flagged)
    voices      which arguments of a turn are its own: neither agreement nor another side's words

Each kind has a table of its versions by the name that is recorded with a finding. A released version stays; a changed
rule is a new module and a new row. `docs/how-to/change-a-rule.md` lists the places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from service.checks.attacked import Attacked, Shown
from service.checks.judgement.critique import check_critique
from service.checks.judgement.voices import Spoken, check_voices
from service.debate.findings import ArgumentVerdict, CritiqueFound, VoicesFound
from service.debate.replies import Critique


class CritiqueEngine(Protocol):
    """Checks a critique by the proposals, its author's earlier ones, the verdicts on its points, and what was shown."""

    def __call__(
        self,
        proposals: Sequence[Attacked],
        earlier: Sequence[Critique],
        critique: Critique,
        verdicts: Sequence[ArgumentVerdict],
        shown: Shown = ...,
    ) -> CritiqueFound: ...


CRITIQUES: Mapping[str, CritiqueEngine] = {"judgement/1": check_critique}
VOICES: Mapping[str, Callable[[Sequence[Spoken], Shown], VoicesFound]] = {"judgement/1": check_voices}

__all__ = [
    "CRITIQUES",
    "VOICES",
    "Attacked",
    "CritiqueEngine",
    "Shown",
    "Spoken",
    "check_critique",
    "check_voices",
]
