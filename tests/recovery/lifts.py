"""Two arms that are alike, or of which one is better by a known share of items; and a third beside them.

gain, loss      shares of items that the debate alone, or the vote alone, answers rightly
single          stands to the debate as the vote does, drawn apart
missing         the share of a named arm's answers that are none: they count as wrong, and so they are in the truth
alike           items of one group that share every draw
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec.structs import replace

from service.evaluation.plan.model import Effect, Plan, PlannedSet
from service.evaluation.plan.power import Counted, own_power
from service.evaluation.scoring import Observed, Result
from service.evaluation.sets.items import Item, QuestionItem
from service.evaluation.sets.labels import Label, QuestionLabel
from tests.fixtures.evaluations import SEATS, lift_plan
from tests.recovery.draws import Draws
from tests.recovery.model import Asked, Claim, Setting, Truth, a_set, any_finding, whether

VOTE_RIGHT = 0.6
"""The share of items that the vote answers rightly."""
LEVEL = 0.05
SPENT = {"debate": 10_000, "vote": 10_000, "single": 2_000}
OTHER = {"yes": "no", "no": "yes"}
NOTHING = Observed(
    format="ballot/1",
    status="completed",
    said=None,
    why_none="tied",
    critique=None,
    struck_by_code=(),
    moderation=None,
    swapped=None,
    conclusion=None,
    attempts=5,
    unusable=0,
    fallbacks=0,
    charge=10_000,
    lost=0,
    seats=SEATS,
    prompts="cd" * 32,
    simulated=True,
)
"""A debate of which nothing can be said; each setting says what it observes."""


def lift(
    name: str,
    about: str,
    n: int,
    gain: float,
    loss: float,
    *,
    alike: int = 1,
    missing: float = 0.0,
    missing_in: str = "debate",
) -> Setting:
    """A lift over ``n`` questions, of which ``alike`` share a group."""
    asked = _questions(n, alike)
    plan = lift_plan(
        sets=(PlannedSet(asked.items.manifest.id, 1, asked.items.hash, "held"),),
        groups="whole" if alike > 1 else "single",
        seed=name,
        name=name,
        effect=_expected(gain, loss),
    )
    drawn = _Drawn(gain, loss, missing, missing_in, alike)
    return Setting(
        name=name,
        about=about,
        plan=plan,
        asked=(asked,),
        observed=drawn.observed,
        truths=drawn.truths(),
        claims=_claims(plan, Counted(n // alike, "units"), gain, loss, missing),
    )


def _expected(gain: float, loss: float) -> Effect:
    """The larger share as the gain: the test sees either way alike. Where nothing is there, what the notes expect."""
    if gain == loss:
        return Effect(gain=250, loss=50)
    return Effect(gain=round(1_000 * max(gain, loss)), loss=round(1_000 * min(gain, loss)))


class _Drawn:
    """What is drawn in each run, and what is true of it."""

    def __init__(self, gain: float, loss: float, missing: float, missing_in: str, alike: int) -> None:
        self._both, self._gain, self._loss = VOTE_RIGHT - loss, gain, loss
        self._missing, self._missing_in, self._alike = missing, missing_in, alike
        self._single = {True: self._both / (self._both + gain), False: loss / (1 - self._both - gain)}

    def observed(self, draws: Draws, arm: str, item: Item, label: Label) -> Observed:
        assert isinstance(item, QuestionItem)
        if arm == self._missing_in and draws.happens(self._missing, item.id, "missing"):
            return replace(NOTHING, charge=SPENT[arm])
        right = self._right(draws, arm, item.group if self._alike > 1 else item.id)
        answer = label.answer if right else OTHER[label.answer]
        if arm == "debate":  # the adversarial format answers through its proposition
            said = "upheld" if answer == item.states else "rejected"
            return replace(NOTHING, format="adversarial/1", said=said, why_none=None, charge=SPENT[arm])
        return replace(NOTHING, said=answer, why_none=None, charge=SPENT[arm])

    def _right(self, draws: Draws, arm: str, what: str) -> bool:
        drawn = draws.unit(what, "pair")
        debate = drawn < self._both + self._gain
        if arm == "debate":
            return debate
        if arm == "vote":
            return drawn < self._both or self._both + self._gain <= drawn < self._both + self._gain + self._loss
        return draws.happens(self._single[debate], what, "single")

    def truths(self) -> tuple[Truth, ...]:
        right = {"debate": self._both + self._gain, "vote": VOTE_RIGHT, "single": VOTE_RIGHT}
        right[self._missing_in] *= 1 - self._missing
        claimed = self._alike == 1
        truths = [Truth(f"agreement/{arm}", share, "other", claimed=claimed) for arm, share in right.items()]
        for other in ("vote", "single"):
            by = right["debate"] - right[other]
            truths.append(Truth(f"difference/debate-{other}", by, "other", claimed=claimed))
            if self._alike > 1:
                truths.append(Truth(f"lift/debate-{other}", by, "other", of="groups"))
        return tuple(truths)


def _claims(plan: Plan, counted: Counted, gain: float, loss: float, missing: float) -> tuple[Claim, ...]:
    claims = []
    unseen = 1 - own_power(plan, counted)
    if gain == loss:
        claims.append(Claim("a useless debate is called better", LEVEL, whether(_says("better"))))
        if not missing:
            claims.append(Claim("a useless debate is called better or worse", LEVEL, whether(_says("better", "worse"))))
    elif gain > loss:
        claims.append(Claim("a helpful debate is called worse", LEVEL, whether(_says("worse"))))
        if not missing:
            claims.append(Claim("it is not found better than the vote", unseen, whether(_primary_is_not("better"))))
    else:
        claims.append(Claim("a harmful debate is called better", LEVEL, whether(_says("better"))))
        claims.append(Claim("it is not found worse than the vote", unseen, whether(_primary_is_not("worse"))))
    if missing:
        claims.append(Claim("a difference is found where over 5 % of an arm are missing", 0.0, whether(_despite)))
    return tuple(claims)


def _says(*outcomes: str) -> Callable[[Result], bool]:
    return lambda result: any_finding(result, *outcomes)


def _primary_is_not(outcome: str) -> Callable[[Result], bool]:
    return lambda result: result.findings[0].outcome != outcome


def _despite(result: Result) -> bool:
    """Whether a comparison found something although an arm of it lacks more than the limit."""
    lacking = {
        arm.name for arm in result.arms if arm.items.asked - arm.items.answered > result.missing_limit * arm.items.asked
    }
    return any(found.outcome != "inconclusive" and lacking & set(found.about) for found in result.findings)


@cache
def _questions(n: int, alike: int) -> Asked:
    """Questions with yes and no in turn; half of the propositions of each state the label."""
    items, labels = [], {}
    for i in range(n):
        answer, id_ = ("yes", "no")[i % 2], f"q{i:03}"
        states = answer if i % 4 < 2 else OTHER[answer]
        items.append(QuestionItem(id_, "Is it so?", (), f"The answer is {states}.", states, f"g{i // alike}", "held"))
        labels[id_] = QuestionLabel(id_, answer, "construction", "It is.")
    return Asked(a_set(f"contract-{n}-questions", "questions", items, {}), labels)
