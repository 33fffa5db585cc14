"""Moderators with and without a pull, on the shipped proposals: each sound or flawed, with a feature on either side.

The shipped sets have no pairs for moderators. These are made of the critics' proposals: the sound twin of one case is
to be upheld, the flawed one of the next to be rejected. Which side is shown first is drawn.

    even        right in three of four, drawn again in the reverse order
    to a place  goes by the place alone, drawn in each order
    to a side   goes by the side alone, and keeps to it in the reverse order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from msgspec.structs import replace

from service.debate.replies.adversarial import Answer, Critique, Framing, Point, Rebuttal
from service.evaluation.plan.model import Effect, Plan, PlannedSet
from service.evaluation.plan.power import Counted, own_power
from service.evaluation.scoring import Observed, Result
from service.evaluation.scoring.observed_types import ModerationMade
from service.evaluation.sets.items import CriticItem, Given, Item, PairItem
from service.evaluation.sets.labels import CriticLabel, Label, PairLabel
from tests.fixtures.evaluations import moderator_plan
from tests.recovery.draws import Draws
from tests.recovery.lifts import NOTHING
from tests.recovery.model import Asked, Claim, Setting, Truth, a_set, shipped, whether

Pull = Literal["none", "place", "side"]
Said = Literal["upheld", "rejected"]
LEVEL = 0.05
RIGHT = 0.75
"""How often the even moderator is right; in each order anew."""
FEATURES: tuple[Literal["length", "family", "confident", "citations"], ...] = (
    "length",
    "family",
    "confident",
    "citations",
)


def moderator(name: str, about: str, pull: Pull, share: float = 0.5) -> Setting:
    """A moderator that goes with a share of all cases to the first place, or to the proposition's side."""
    asked = pairs()
    sets = tuple(PlannedSet(one.items.manifest.id, 1, one.items.hash, "held") for one in asked)
    effect = Effect(share=round(1000 * share) if pull != "none" else 700)
    plan = moderator_plan(
        sets=sets, seed=name, name=name, metric="tilt" if pull == "side" else "position", effect=effect
    )

    def observed(draws: Draws, _arm: str, item: Item, label: Label) -> Observed:
        assert isinstance(label, PairLabel)
        proposer_first = draws.happens(0.5, item.id, "order")
        first, second = _conclusions(draws, item.id, label, pull, share, proposer_first=proposer_first)
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
        claims=(_claim(plan, pull, Counted(n, "items")),),
    )


def _conclusions(
    draws: Draws, item: str, label: PairLabel, pull: Pull, share: float, *, proposer_first: bool
) -> tuple[Said, Said]:
    if pull == "side":
        side: Said = "upheld" if draws.happens(share, item, "side") else "rejected"
        return side, side
    if pull == "place":
        first, second = (draws.happens(share, item, "place", order) for order in ("first", "second"))
        return _said(proposer=first == proposer_first), _said(proposer=second != proposer_first)
    right = [draws.happens(RIGHT, item, "right", order) for order in ("first", "second")]
    first, second = (one == (label.answer == "upheld") for one in right)
    return _said(proposer=first), _said(proposer=second)


def _said(*, proposer: bool) -> Said:
    return "upheld" if proposer else "rejected"


def _made(said: Said, *, proposer_first: bool) -> ModerationMade:
    return ModerationMade(said, "HIGH", "first" if proposer_first == (said == "upheld") else "second")


def _truths(pull: Pull, share: float) -> list[Truth]:
    consistent = {"none": RIGHT**2 + (1 - RIGHT) ** 2, "place": 2 * share * (1 - share), "side": 1.0}[pull]
    truths = [
        Truth("position/moderator", consistent, "other"),
        Truth("side/moderator", share if pull == "side" else 0.5, "other"),
    ]
    return truths + [Truth(f"preference/moderator/{feature}", 0.0, "other") for feature in FEATURES]


def _claim(plan: Plan, pull: Pull, counted: Counted) -> Claim:
    """An even moderator is called tilted at the level; a pull is missed no oftener than the plan's power states."""
    if pull == "none":
        return Claim("an even moderator is called tilted", LEVEL, whether(lambda r: bool(_tilts(r))))
    aspect = "position" if pull == "place" else "side"
    missed = 1 - own_power(plan, counted)
    return Claim(f"the pull to a {pull} is not seen", missed, whether(lambda r: aspect not in _tilts(r)))


def _tilts(result: Result) -> set[str]:
    return {found.about[1] for found in result.findings if found.outcome == "tilt"}


# What is judged.


@cache
def pairs() -> tuple[Asked, ...]:
    """The shipped proposals as crossed pairs: one item with the feature on the proposer's side, one on the critic's."""
    return tuple(_pairs(one.manifest.task_type, one.asked.items, one.sealed) for one in shipped("critic"))


def _pairs(task_type: str, items: Sequence[Item], sealed: Mapping[str, Label]) -> Asked:
    twins: dict[str, dict[str, CriticItem]] = {}
    for item in items:
        assert isinstance(item, CriticItem)
        label = sealed[item.id]
        assert isinstance(label, CriticLabel)
        twins.setdefault(item.pair, {})[label.answer] = item
    made: list[Item] = []
    labels: dict[str, Label] = {}
    for i, pair in enumerate(sorted(twins)):
        sound = i % 2 == 0
        given = twins[pair]["sound" if sound else "flawed"]
        for favours in ("proposer", "critic"):
            id_ = f"{pair}-{favours}"
            made.append(PairItem(id_, pair, given.question, given.documents, _given(given), given.group, given.split))
            labels[id_] = PairLabel(
                id_,
                "upheld" if sound else "rejected",
                "construction",
                FEATURES[i // 2 % len(FEATURES)],
                favours,
                "The proposal is sound." if sound else "The proposal has a planted flaw.",
            )
    return Asked(a_set(f"{task_type}-moderator", "pairs", made, {}), labels)


def _given(item: CriticItem) -> Given:
    """The proposal with the other replies that a moderator is shown."""
    return Given(
        framing=Framing(thesis="It follows.", scope="All of it.", criteria=("It is clear.",), key_documents=()),
        proposal=item.proposal,
        critique=Critique("It does not follow.", (Point(1, "It does not follow.", (1,)),), 8, "rejected"),
        rebuttal=Rebuttal("It follows.", (Answer(1, "It follows."),), (), "upheld"),
    )
