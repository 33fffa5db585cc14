"""The signs of a weak critique that code can measure. Recorded under `judgement/1`.

After a hard sign the critique is asked for again; soft ones are flagged. Signs and thresholds were measured on recorded
debates: the number of words or quotations does not show quality and is not used; naming the attacked arguments does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from service.debate.findings import ArgumentVerdict, CritiqueFound
from service.debate.replies import Critique, Proposal


class CritiqueThresholds(Struct, frozen=True, rename="camel"):
    """The limits at which a critique counts as weak; shares are per mille."""

    novelty_hard: int = 250
    novelty_soft: int = 500
    self_overlap: int = 500
    restating: int = 800
    restated_point: int = 800
    few_points: int = 3


THRESHOLDS = CritiqueThresholds()

_WORD = re.compile(r"[^\W\d_]{4,}")
SOFTENING = (
    "while i acknowledge",
    "i acknowledge",
    "i agree",
    "i concede",
    "i accept that",
    "to be fair",
    "this is generally reasonable",
    "generally reasonable",
    "largely correct",
    "the proposer is right",
    "a good point",
    "a valid point",
    "i find the proposition",
    "overall the proposal is sound",
)
_SOFT = re.compile(r"\b(?:" + "|".join(re.escape(p) for p in SOFTENING) + r")\b", re.IGNORECASE)


def check_critique(
    proposals: Sequence[Proposal],
    earlier: Sequence[Critique],
    critique: Critique,
    verdicts: Sequence[ArgumentVerdict],
    thresholds: CritiqueThresholds = THRESHOLDS,
) -> CritiqueFound:
    """The signs of weakness in a critique, with the numbers behind them.

    ``earlier`` are the critic's own former critiques; ``verdicts`` those on the critique's points.
    """
    attacked = _words(_text(p) for p in proposals)
    mine = _words(point.text for point in critique.points)
    arguments = {a.n for p in proposals for a in p.arguments}
    checked = [v for argument in verdicts for v in argument.verdicts]
    found = CritiqueFound(
        points=len(critique.points),
        points_naming_an_argument=sum(bool(arguments & set(point.attacks)) for point in critique.points),
        citations=len(checked),
        citations_verified=sum(v.verdict == "verified" for v in checked),
        novelty=_share(mine - attacked, mine),
        self_overlap=max((_jaccard(mine, _words(p.text for p in c.points)) for c in earlier), default=0),
        restating=_restating(proposals, critique, thresholds),
        softening=tuple(sorted({m.group(0).lower() for m in _SOFT.finditer(_critique_text(critique))})),
        weak=(),
        soft=(),
    )
    return _rate(found, thresholds)


def _rate(found: CritiqueFound, t: CritiqueThresholds) -> CritiqueFound:
    hard = {
        "noPoint": not found.points,
        "noPointNamesAnArgument": bool(found.points) and not found.points_naming_an_argument,
        "noCitationVerified": bool(found.citations) and not found.citations_verified,
        "littleNovelty": bool(found.points) and found.novelty < t.novelty_hard,
        "repeatsItself": found.self_overlap >= t.self_overlap,
        "restatesTheProposer": found.restating > t.restating,
    }
    soft = {
        "fewPoints": 0 < found.points < t.few_points,
        "limitedNovelty": t.novelty_hard <= found.novelty < t.novelty_soft,
        "noCounterEvidence": bool(found.points) and not found.citations,
        "softening": bool(found.softening),
    }
    return CritiqueFound(
        **{
            **{name: getattr(found, name) for name in found.__struct_fields__},
            "weak": tuple(name for name, holds in hard.items() if holds),
            "soft": tuple(name for name, holds in soft.items() if holds),
        }
    )


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def _text(proposal: Proposal) -> str:
    return " ".join([proposal.thesis, *(a.text for a in proposal.arguments), *(o.answer for o in proposal.objections)])


def _critique_text(critique: Critique) -> str:
    return "\n".join([critique.thesis, *(point.text for point in critique.points)])


def _restating(proposals: Sequence[Proposal], critique: Critique, t: CritiqueThresholds) -> int:
    """The share of points that have most of their words from a single argument of the proposer."""
    arguments = [_words([a.text]) for p in proposals for a in p.arguments]
    points = [_words([point.text]) for point in critique.points]
    restated = [p for p in points if any(_share(p & a, p) >= t.restated_point for a in arguments)]
    return len(restated) * 1_000 // len(points) if points else 0


def _share(part: frozenset[str], whole: frozenset[str]) -> int:
    return len(part) * 1_000 // len(whole) if whole else 0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> int:
    return _share(one & other, one | other)
