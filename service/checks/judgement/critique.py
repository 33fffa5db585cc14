"""The signs of a weak critique that code can measure. Recorded under `judgement/1`.

After a hard sign the critique is asked for again; soft ones are flagged. Signs and thresholds were measured on recorded
debates: the number of words or quotations does not show quality and is not used; naming the attacked arguments does.

    concedes   the critique concludes `upheld`; or what every proposer does, and no point attacks an argument that
               stands; or it leaves a position without a point against it
    thin       no point against a proposal both names an argument of it that stands and gives a ground
    grants     the thesis praises or grants, by its words, and says nothing else of the case

A ground is about the case: a point whose words have nothing of it gives none, with a citation or without, and a passage
that has to do neither with the argument nor with the point's words is none (`wording.relation`).

A struck point attacks nothing, because no later seat reads it, unless it is reasoning that only lacks the citation of
words that it quotes: that caps the confidence already. A struck argument needs no attack. Where no argument of
a proposal stands, a point against it has nothing to name. A proposer that itself concludes `rejected` leaves the critic
nothing to oppose: against its proposal no sign is found that compares the two, and the format flags the debate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from service.checks.attacked import NOTHING, Attacked, Shown
from service.checks.judgement.wording.grounds import (
    LIMITS,
    GroundLimits,
    gives_ground,
    is_english,
    only_grants,
    words_of,
)
from service.checks.judgement.wording.relation import CaseWords, case_words, concerns, names_it, names_the_case
from service.checks.judgement.wording.softening import softenings, unquoted
from service.debate.findings import ArgumentVerdict, CitationVerdict, CritiqueFound, StrikeReason
from service.debate.replies import Critique, Point, Proposal


class CritiqueThresholds(Struct, frozen=True, rename="camel"):
    """The limits at which a critique counts as weak; shares are per mille."""

    novelty_hard: int = 250
    novelty_soft: int = 500
    self_overlap: int = 500
    restating: int = 800
    restated_point: int = 800
    few_points: int = 3
    ground: GroundLimits = LIMITS


THRESHOLDS = CritiqueThresholds()
NEIGHBOURHOOD = 2_000
"""The characters on either side of a passage by which its language is known."""


class _Attack(NamedTuple):
    """The points that stand against one proposal: all, those that name an argument, and those with a ground as well.

    ``related`` are the grounded ones that name the case, by themselves or with another point.
    """

    points: int
    naming: int
    grounded: int
    related: int
    resisted: bool
    english: bool


class _Said(NamedTuple):
    """A critique, the verdicts on its points, what its author was shown, and the words of the case."""

    critique: Critique
    verdicts: Sequence[ArgumentVerdict]
    shown: Shown
    case: CaseWords

    def names_the_case(self, point: Point) -> bool:
        """Whether a point is about the case, by itself or with the rest of the critique."""
        others = [p.text for p in self.critique.points if p.n != point.n]
        quotes = [c.quote for c in point.citations]
        return names_the_case(point.text, quotes, self.critique.thesis, others, self.case)

    def concerns(self, point: Point, verdict: CitationVerdict, argument: str, limits: GroundLimits) -> bool:
        """Whether a verified passage has to do with an argument; in other languages than English it is taken to."""
        document = self.shown.sources.get(verdict.source_id or "")
        if document is None or verdict.span is None:
            return True
        start, end = verdict.span
        if concerns(document, verdict.span, f"{point.text} {self.critique.thesis}", argument):
            return True
        return not is_english(document[max(0, start - NEIGHBOURHOOD) : end + NEIGHBOURHOOD], limits)


def check_critique(
    proposals: Sequence[Attacked],
    earlier: Sequence[Critique],
    critique: Critique,
    verdicts: Sequence[ArgumentVerdict],
    shown: Shown = NOTHING,
    thresholds: CritiqueThresholds = THRESHOLDS,
) -> CritiqueFound:
    """The signs of weakness in a critique, with the numbers behind them.

    ``earlier`` are the critic's own former critiques; ``verdicts`` those on the critique's points; ``shown`` is what
    the critic was shown beside the proposals.
    """
    attacked = words_of(" ".join(_text(a.proposal) for a in proposals))
    mine = _words(critique)
    checked = [v for argument in verdicts for v in argument.verdicts if v.verdict != "unchecked"]
    case = case_words([*shown.asked, *(_text(a.proposal) for a in proposals)], shown.sources.values())
    said = _Said(critique, verdicts, shown, case)
    attacks = [_attack(one, said, thresholds) for one in proposals]
    found = CritiqueFound(
        points=len(critique.points),
        points_naming_an_argument=sum(_names_one(point, proposals) for point in critique.points),
        points_attacking=sum(a.naming for a in attacks),
        points_grounded=sum(a.grounded for a in attacks),
        spared=tuple(
            one.position
            for one, a in zip(proposals, attacks, strict=True)
            if one.position and a.resisted and not a.points
        ),
        unopposed=sum(a.resisted and not a.grounded for a in attacks),
        unrelated=sum(a.resisted and bool(a.grounded) and not a.related for a in attacks),
        resisted=any(a.resisted for a in attacks),
        upholds=critique.conclusion == "upheld",
        grants=all(a.english for a in attacks) and only_grants(critique.thesis, thresholds.ground),
        same_conclusion=all(
            one.proposal.conclusion == critique.conclusion
            for one, a in zip(proposals, attacks, strict=True)
            if a.resisted
        ),
        citations=len(checked),
        citations_verified=sum(v.verdict == "verified" for v in checked),
        novelty=_share(mine - attacked, mine),
        self_overlap=max((_jaccard(mine, _words(c)) for c in earlier), default=0),
        restating=_restating(proposals, critique, thresholds),
        softening=tuple(dict.fromkeys(soft.phrase for text in _texts(critique) for soft in softenings(unquoted(text)))),
        weak=(),
        soft=(),
    )
    return _rate(found, thresholds)


def _rate(found: CritiqueFound, t: CritiqueThresholds) -> CritiqueFound:
    some, resisted = bool(found.points), found.resisted
    hard = {
        "noPoint": not some,
        "noPointNamesAnArgument": some and resisted and not found.points_naming_an_argument,
        "concludesUpheld": resisted and found.upholds,
        "concludesAsProposer": resisted and found.same_conclusion and not (found.upholds or found.points_attacking),
        "sparesAPosition": some and bool(found.spared),
        "thesisGrants": resisted and found.grants,
        "thin": some and bool(found.points_naming_an_argument) and bool(found.unopposed),
        "noCitationVerified": bool(found.citations) and not found.citations_verified,
        "littleNovelty": some and resisted and found.novelty < t.novelty_hard,
        "repeatsItself": found.self_overlap >= t.self_overlap,
        "restatesTheProposer": resisted and found.restating > t.restating,
    }
    soft = {
        "fewPoints": 0 < found.points < t.few_points,
        "limitedNovelty": t.novelty_hard <= found.novelty < t.novelty_soft,
        "noCounterEvidence": some and not found.citations,
        "namesNothing": bool(found.unrelated),
        "softening": bool(found.softening),
    }
    return structs.replace(
        found,
        weak=tuple(name for name, holds in hard.items() if holds),
        soft=tuple(name for name, holds in soft.items() if holds),
    )


def _attack(attacked: Attacked, said: _Said, t: CritiqueThresholds) -> _Attack:
    """What of a critique stands against one proposal."""
    found = {v.n: v.verdicts for v in said.verdicts}
    struck = {v.n: v.struck for v in said.verdicts}
    standing = attacked.standing()
    english = is_english(_text(attacked.proposal), t.ground)
    against = [p for p in said.critique.points if p.position == attacked.position and not _void(p, struck.get(p.n))]
    naming = [p for p in against if not standing or standing.keys() & set(p.attacks)]
    grounded = related = 0
    for point in naming:
        named = {n: standing[n] for n in point.attacks if n in standing}
        text = " ".join(named.values()) or attacked.proposal.thesis
        own = _own_evidence(point, found.get(point.n, ()), attacked, named)
        evidence = any(not english or said.concerns(point, v, text, t.ground) for v in own)
        limits = t.ground if evidence or not own else structs.replace(t.ground, telling=t.ground.telling_beside)
        if gives_ground(point.text, text, evidence=evidence, english=english, limits=limits):
            about = not english or said.names_the_case(point)
            related += about
            grounded += about or names_it(said.critique.thesis, said.case)
    return _Attack(len(against), len(naming), grounded, related, attacked.proposal.conclusion != "rejected", english)


def _void(point: Point, struck: StrikeReason | None) -> bool:
    """Whether a point counts for nothing: struck, unless it is reasoning that quotes words without a citation."""
    return struck is not None and not (struck == "uncited" and point.basis == "reasoning")


def _own_evidence(
    point: Point, verdicts: Sequence[CitationVerdict], attacked: Attacked, named: Collection[int]
) -> list[CitationVerdict]:
    """The verified passages of a point that no argument that it names cites already."""
    theirs = [v for a in attacked.verdicts if a.n in named for v in a.verdicts if v.verdict == "verified"]
    quoted = {" ".join(c.quote.split()) for a in attacked.proposal.arguments if a.n in named for c in a.citations}
    return [
        v
        for c, v in zip(point.citations, verdicts, strict=False)
        if v.verdict == "verified"
        and " ".join(c.quote.split()) not in quoted
        and not any(_within(v, other) for other in theirs)
    ]


def _within(one: CitationVerdict, other: CitationVerdict) -> bool:
    """Whether a verified passage is part of another one."""
    if one.span is None or other.span is None or one.source_id != other.source_id:
        return False
    return other.span[0] <= one.span[0] and one.span[1] <= other.span[1]


def _names_one(point: Point, proposals: Sequence[Attacked]) -> bool:
    """Whether a point names an argument of the proposal that it is against, if one stands there to be named."""
    return any(
        not one.standing() or {a.n for a in one.proposal.arguments} & set(point.attacks)
        for one in proposals
        if one.position == point.position
    )


def _text(proposal: Proposal) -> str:
    return " ".join([proposal.thesis, *(a.text for a in proposal.arguments), *(o.answer for o in proposal.objections)])


def _texts(critique: Critique) -> tuple[str, ...]:
    return critique.thesis, *(point.text for point in critique.points)


def _words(critique: Critique) -> frozenset[str]:
    return words_of(" ".join(point.text for point in critique.points))


def _restating(proposals: Sequence[Attacked], critique: Critique, t: CritiqueThresholds) -> int:
    """The share of points that have most of their words from a single argument of the proposer."""
    arguments = [words_of(a.text) for one in proposals for a in one.proposal.arguments]
    points = [words_of(point.text) for point in critique.points]
    restated = [p for p in points if any(_share(p & a, p) >= t.restated_point for a in arguments)]
    return len(restated) * 1_000 // len(points) if points else 0


def _share(part: frozenset[str], whole: frozenset[str]) -> int:
    return len(part) * 1_000 // len(whole) if whole else 0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> int:
    return _share(one & other, one | other)
