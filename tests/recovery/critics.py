"""Critics of known rates on the shipped proposals: what they write is made so that it says yes, or does not.

A yes is a point against the planted argument that quotes a part of the decisive passage, or that states the decisive
value. A no attacks another argument on that ground, or the planted one on no ground or on another passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

from msgspec.structs import replace

from service.evaluation.plan.model import PlannedSet
from service.evaluation.scoring import Observed, Result
from service.evaluation.scoring.figures import Figures
from service.evaluation.scoring.observed_types import CritiqueMade, Passage, PointMade
from service.evaluation.scoring.release import SHIPPED, chances
from service.evaluation.sets.items import CriticItem, Item, ItemSet
from service.evaluation.sets.labels import CriticLabel, Label
from tests.fixtures.evaluations import critic_plan
from tests.recovery.draws import Draws
from tests.recovery.lifts import NOTHING
from tests.recovery.model import Asked, Claim, Setting, Truth, a_set, shipped, whether

FAMILY_LEVEL = 0.05
"""A family of whose flaws at least half are found is called a blind spot at most so often, by its one-sided bound."""
RATING = 8.0
"""The mean of a critic's ratings of itself, which are 7, 8 and 9."""


class Rates(NamedTuple):
    """The true rates of a critic, and the family of which it finds nothing, if there is one.

    With the rates `ALWAYS` and `NEVER` it writes the same whatever the label is: a point against every argument that
    quotes every document, or no point at all.
    """

    hits: float
    alarms: float
    blind: str = ""

    def of(self, label: CriticLabel) -> float:
        """The chance of a yes."""
        if label.answer == "sound":
            return self.alarms
        return 0.0 if label.family == self.blind else self.hits


ALWAYS, NEVER = Rates(1.0, 1.0), Rates(0.0, 0.0)


def critic(name: str, about: str, asked: Sequence[Asked], rates: Rates, claims: Sequence[Claim]) -> Setting:
    """A critic of these rates, tried on these proposals."""
    return Setting(
        name=name,
        about=about,
        plan=critic_plan(
            sets=tuple(PlannedSet(one.items.manifest.id, 1, one.items.hash, "held") for one in asked),
            seed=name,
            name=name,
        ),
        asked=tuple(asked),
        observed=_Observing(rates, asked).observed,
        truths=tuple(_truths(asked, rates)),
        claims=tuple(claims),
    )


# What is tried.


@cache
def sized(pairs: int) -> tuple[Asked, ...]:
    """So many shipped flawed proposals, each with its sound twin, as one task type."""
    items: list[Item] = []
    labels: dict[str, Label] = {}
    texts: dict[str, str] = {}
    for one in shipped("critic"):
        for item in one.asked.active():
            assert isinstance(item, CriticItem)
            known = {other.pair for other in items if isinstance(other, CriticItem)}
            if item.pair in known or len(known) < pairs:
                items.append(item)
                labels[item.id] = one.sealed[item.id]
                texts |= one.asked.texts
    return (Asked(a_set(f"contract-{pairs}-critic", "critic", items, texts), labels),)


@cache
def whole() -> tuple[Asked, ...]:
    """The shipped sets as they are."""
    return tuple(Asked(one.asked, one.sealed) for one in shipped("critic"))


# What is observed.


class _Observing:
    """Critiques that say yes at the true rates, by drawn ways."""

    def __init__(self, rates: Rates, asked: Sequence[Asked]) -> None:
        self._rates = rates
        of = {id_: (set_.items, label) for set_ in asked for id_, label in set_.labels.items()}
        self._spans = {id_: _span(*one) for id_, one in of.items()}
        self._whole = {
            id_: tuple(Passage(one.id, 0, len(one.text)) for one in items.documents(items.item(id_)))
            for id_, (items, _) in of.items()
        }

    def observed(self, draws: Draws, _arm: str, item: Item, label: Label) -> Observed:
        assert isinstance(item, CriticItem)
        assert isinstance(label, CriticLabel)
        rating = 7 + int(3 * draws.unit(item.id, "rating"))
        made = CritiqueMade(self._points(draws, item, label), rating, "rejected", 0, (), ())
        return replace(NOTHING, format="adversarial/1", critique=made)

    def _points(self, draws: Draws, item: CriticItem, label: CriticLabel) -> tuple[PointMade, ...]:
        if self._rates == NEVER:
            return ()
        if self._rates == ALWAYS:
            return tuple(
                PointMade(n, (argument.n,), "This does not follow.", self._whole[item.id])
                for n, argument in enumerate(item.proposal.arguments, 1)
            )
        yes = draws.happens(self._rates.of(label), item.id, "yes")
        way, span = draws.unit(item.id, "way"), self._spans[item.id]
        return (_yes(label, span, way) if yes else _no(item, label, span, way),)


def _span(set_: ItemSet, label: Label) -> Passage:
    """Where the decisive passage stands."""
    assert isinstance(label, CriticLabel)
    texts = {one.id: one.text for one in set_.documents(set_.item(label.id))}
    at = texts[label.span.document].index(label.span.quote)
    return Passage(label.span.document, at, at + len(label.span.quote))


def _yes(label: CriticLabel, span: Passage, way: float) -> PointMade:
    if label.value is not None and way < 1 / 2:
        return PointMade(1, (label.argument,), f"The document says {label.value}, and nothing else.", ())
    half = Passage(span.document, (span.start + span.end) // 2, span.end + 40)
    return PointMade(1, (label.argument,), "The document says otherwise.", (half,))


def _no(item: CriticItem, label: CriticLabel, span: Passage, way: float) -> PointMade:
    others = tuple(argument.n for argument in item.proposal.arguments if argument.n != label.argument)
    if way < 1 / 3:
        return PointMade(1, others, "This does not follow.", (span,))
    beside = Passage(span.document, span.end, span.end + 40)
    return PointMade(1, (label.argument,), "This does not follow.", (beside,) if way < 2 / 3 else ())


# What is true, and what may be said wrongly.


def _truths(asked: Sequence[Asked], rates: Rates) -> list[Truth]:
    truths = []
    for one in asked:
        at = f"critic/{one.items.manifest.task_type}"
        seen = [label for label in one.labels.values() if isinstance(label, CriticLabel) and label.answer == "flawed"]
        hits = sum(rates.of(label) for label in seen) / len(seen)
        truths += [
            Truth(f"hits/{at}", hits, "exact"),
            Truth(f"alarms/{at}", rates.alarms, "exact"),
            Truth(f"hitBound/{at}", hits, "exact"),
            Truth(f"alarmBound/{at}", rates.alarms, "exact"),
            Truth(f"rating/{at}", RATING, "other"),
        ]
        if 0 < hits < 1 and 0 < rates.alarms < 1:
            normal = NormalDist()
            truths.append(Truth(f"detection/{at}", normal.inv_cdf(hits) - normal.inv_cdf(rates.alarms), "other"))
    return truths


def stopped(n: int, critic_: str) -> float:
    """How often a report states that its rules stop the good or the bad critic at ``n`` + ``n``."""
    rows = chances(Figures(), SHIPPED, ())
    (found,) = (r.cells for r in rows if (r.cells["flawed"], r.cells["critic"]) == (n, critic_))
    return 1 - float(found["passes"])


def outcome(result: Result) -> str:
    """What the result says of the release in all."""
    return next(found.outcome for found in result.findings if found.question == "releaseAll")


STOPPED = whether(lambda result: outcome(result) == "stops")
PASSED = whether(lambda result: outcome(result) == "passes")


def missed(family: str) -> Claim:
    """A family of which nothing is found, and which is not called a blind spot."""
    return Claim(
        f"the blind spot ({family}) is not seen",
        0.0,
        whether(lambda r: not any(f.outcome == "blindSpot" and f.about[1] == family for f in r.findings)),
    )


def others(family: str) -> Claim:
    """Any other family that is called one: a case for each family and run."""

    def seen(result: Result) -> tuple[int, int]:
        names = {str(row.cells["family"]) for row in result.table("families")} - {family}
        called = {found.about[1] for found in result.findings if found.outcome == "blindSpot"}
        return len(called & names), len(names)

    return Claim("a family that it sees is called a blind spot", FAMILY_LEVEL, seen)
