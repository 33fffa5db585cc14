"""Agreement beyond that of random marks, over the claims that voices marked; from -1,000 to 1,000.

    two voices     Cohen's kappa (1960): (observed - expected) / (1 - expected), expected from each voice's own habits
    more           Krippendorff's alpha for nominal data (2004): 1 - disagreement observed / expected of all marks

Both are undefined if all marks are alike: then full agreement cannot be distinguished from chance. An author's mark on
its own claim does not count, because it is no reader of it; so two debaters who only mark each other have no claim with
two readers, and the value is undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from service.checks.consensus.transcript import ShownClaims

Unit = Sequence[str]
"""The marks of one claim."""


def beyond_chance(shown: Sequence[ShownClaims], voices: Sequence[str]) -> int | None:
    """Kappa of two voices, alpha of more; ``None`` for fewer, and if chance alone gives full agreement."""
    read = [{v: claim.opinions[v].mark for v in voices if v in claim.opinions and v != claim.author} for claim in shown]
    if len(voices) == 2:
        return kappa([(marks[voices[0]], marks[voices[1]]) for marks in read if set(voices) <= set(marks)])
    return alpha([list(marks.values()) for marks in read]) if len(voices) > 2 else None


def kappa(marks: Sequence[tuple[str, str]]) -> int | None:
    """Cohen's kappa of two voices' marks on the same claims."""
    count, agreed = len(marks), sum(one == other for one, other in marks)
    here, there = Counter(one for one, _ in marks), Counter(other for _, other in marks)
    expected = sum(here[mark] * there[mark] for mark in here)
    if expected == count * count:
        return None
    return floor(1_000 * Fraction(agreed * count - expected, count * count - expected))


def alpha(units: Sequence[Unit]) -> int | None:
    """Krippendorff's nominal alpha; a claim with fewer than two marks has no pairs and is left out."""
    compared = [Counter(unit) for unit in units if len(unit) > 1]
    total = sum(compared, Counter[str]())
    values = total.total()
    expected = values * values - sum(n * n for n in total.values())
    if not expected:
        return None
    observed = sum(
        (Fraction(c.total() ** 2 - sum(n * n for n in c.values()), c.total() - 1) for c in compared), Fraction(0)
    )
    return floor(1_000 * (1 - observed * (values - 1) / expected))
