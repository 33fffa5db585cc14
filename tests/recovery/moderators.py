"""Moderators with and without a pull, on the shipped pairs. Which side is shown first is drawn.

even         right in three of four, drawn again in the reverse order
to a place   goes by the place alone, drawn in each order
to a side    goes by the side alone, and keeps to it in the reverse order
to a length  goes with a share of cases to the side with more characters, else to the other; keeps to it as well
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from msgspec.structs import replace

from service.evaluation.plan.model import Effect, Plan, PlannedSet
from service.evaluation.plan.power import Counted, own_power
from service.evaluation.scoring import Observed, Result
from service.evaluation.scoring.observed_types import ModerationMade
from service.evaluation.sets.coverage import WRITTEN
from service.evaluation.sets.items import Item, PairItem
from service.evaluation.sets.labels import Label, PairLabel
from service.evaluation.sets.sides import characters
from tests.fixtures.evaluations import moderator_plan
from tests.recovery.draws import Draws
from tests.recovery.lifts import NOTHING
from tests.recovery.model import Asked, Claim, Setting, Truth, shipped, whether

Pull = Literal["none", "place", "side", "length"]
Said = Literal["upheld", "rejected"]
LEVEL = 0.05
RIGHT = 0.75
"""How often the even moderator is right; in each order anew."""
_ASPECT: Mapping[Pull, str] = {"place": "position", "side": "side", "length": "length"}
_METRIC: Mapping[Pull, Literal["position", "tilt", "preference"]] = {"side": "tilt", "length": "preference"}


def moderator(name: str, about: str, pull: Pull, share: float = 0.5) -> Setting:
    """A moderator that goes with a share of all cases to the first place, the proposition's side or the longer one."""
    asked = pairs()
    sets = tuple(PlannedSet(one.items.manifest.id, 1, one.items.hash, "held") for one in asked)
    effect = Effect(share=round(1000 * share) if pull != "none" else 700)
    plan = moderator_plan(sets=sets, seed=name, name=name, metric=_METRIC.get(pull, "position"), effect=effect)

    def observed(draws: Draws, _arm: str, item: Item, label: Label) -> Observed:
        assert isinstance(label, PairLabel)
        assert isinstance(item, PairItem)
        proposer_first = draws.happens(0.5, item.id, "order")
        first, second = _conclusions(draws, item, label, pull, share, proposer_first=proposer_first)
        return replace(
            NOTHING,
            format="adversarial/1",
            said=first,
            why_none=None,
            conclusion=first,
            moderation=_made(first, proposer_first=proposer_first),
            swapped=_made(second, proposer_first=not proposer_first),
        )

    n = sum(len(one.items.items) for one in asked)
    return Setting(
        name=name,
        about=about,
        plan=plan,
        asked=asked,
        observed=observed,
        truths=tuple(_truths(pull, share)),
        claims=tuple(_claims(plan, pull, share, n)),
    )


def _conclusions(
    draws: Draws, item: PairItem, label: PairLabel, pull: Pull, share: float, *, proposer_first: bool
) -> tuple[Said, Said]:
    if pull == "length":
        sides = characters(item.given)
        longer = _said(proposer=(sides["proposer"] > sides["critic"]) == draws.happens(share, item.id, "length"))
        return longer, longer
    if pull == "side":
        side: Said = "upheld" if draws.happens(share, item.id, "side") else "rejected"
        return side, side
    if pull == "place":
        first, second = (draws.happens(share, item.id, "place", order) for order in ("first", "second"))
        return _said(proposer=first == proposer_first), _said(proposer=second != proposer_first)
    right = [draws.happens(RIGHT, item.id, "right", order) for order in ("first", "second")]
    first, second = (one == (label.answer == "upheld") for one in right)
    return _said(proposer=first), _said(proposer=second)


def _said(*, proposer: bool) -> Said:
    return "upheld" if proposer else "rejected"


def _made(said: Said, *, proposer_first: bool) -> ModerationMade:
    return ModerationMade(said, "HIGH", "first" if proposer_first == (said == "upheld") else "second")


def _truths(pull: Pull, share: float) -> list[Truth]:
    consistent = RIGHT**2 + (1 - RIGHT) ** 2 if pull == "none" else 2 * share * (1 - share) if pull == "place" else 1.0
    truths = [
        Truth("position/moderator", consistent, "other"),
        Truth("side/moderator", share if pull == "side" else 0.5, "other"),
    ]
    pulled = {"length": 2 * share - 1} if pull == "length" else {}
    return truths + [Truth(f"preference/moderator/{name}", pulled.get(name, 0.0), "other") for name in WRITTEN]


def _claims(plan: Plan, pull: Pull, share: float, n: int) -> Iterator[Claim]:
    """An even moderator is called tilted at the level; a pull is missed no oftener than the plan's power states."""
    if pull == "none":
        yield Claim("an even moderator is called tilted", LEVEL, whether(lambda r: bool(_tilts(r))))
        return
    aspect = _ASPECT[pull]
    cases = sum(
        isinstance(label, PairLabel) and label.feature == "length" for one in pairs() for label in one.labels.values()
    )
    seen = own_power(plan, Counted(cases if pull == "length" else n, "items"))
    what = "the longer side" if pull == "length" else f"a {pull}"
    yield Claim(f"the pull to {what} is not seen", 1 - seen, whether(lambda r: aspect not in _tilts(r)))
    if pull == "length":
        yield Claim("another pull is seen", LEVEL, whether(lambda r: bool(_tilts(r) - {aspect})))


def _tilts(result: Result) -> set[str]:
    return {found.about[1] for found in result.findings if found.outcome == "tilt"}


@cache
def pairs() -> tuple[Asked, ...]:
    """The shipped pairs of all task types, with their labels."""
    return tuple(Asked(one.asked, one.sealed) for one in shipped("pairs"))
