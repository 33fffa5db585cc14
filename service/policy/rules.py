"""The rules of the gate, of debates and of each format: [gate], [debate] and [formats]."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.debate.model import ROUND_CEILING, Diversity
from service.debate.options import DEBATERS_MAX
from service.debate.replies.panel import QuestionType
from service.policy.bounds import COUNT_MAX
from service.policy.keys import (
    STATED,
    UNWRITTEN,
    dollars,
    dollars_each,
    fraction,
    names,
    per_mille,
    share,
    shares,
    switch,
    table_of_any,
    whole,
    words,
)

OTHER = ("other",)
"""A task type outside the risk categories: it may be asked for, and the gate then says why it is declined."""
AS = "as:"
"""Before the known task type that stands in the place of an unknown one."""
ROUNDS_MAX = 10
"""The most rounds that any format is given (the longest debates of the panel's reference)."""
DEBATERS_MIN = 2
VOTES_MAX = 20


class GatePolicy(Struct, frozen=True, rename="camel"):
    """The gate's settings, with the version and hash of the policy that they come from.

    ``thresholds`` may raise or lower the cost that the downside is compared with, per task type, in micro-dollars;
    without one it is the format's expected cost. Above ``certain_above`` micro-dollars certainty is no excuse.
    ``unknown_task_type`` is ``decline``, ``refuse``, or ``as:`` and a known type.
    """

    version: Annotated[str, UNWRITTEN]
    hash: Annotated[str, UNWRITTEN]
    factor: Annotated[int, whole(1, COUNT_MAX), STATED] = 50
    certain_above: Annotated[MicroUSD, dollars("certain_above_usd"), STATED] = 1_000_000_000_000
    confidence_floor: Annotated[Decimal, fraction(), STATED] = Decimal("0.9")
    risk_categories: Annotated[tuple[str, ...], names(), STATED] = (
        "contract",
        "security",
        "architecture",
        "investment",
        "compliance",
    )
    always: Annotated[tuple[str, ...], names(), STATED] = ()
    never: Annotated[tuple[str, ...], names(), STATED] = ()
    may_force: Annotated[tuple[str, ...], names(), STATED] = ("operator",)
    unknown_task_type: Annotated[str, STATED] = "decline"
    thresholds: Annotated[Mapping[str, MicroUSD], dollars_each("thresholdsUSD"), STATED] = {}

    @property
    def task_types(self) -> tuple[str, ...]:
        """The task types that policy knows: risk categories, and those that it always or never debates."""
        return tuple(dict.fromkeys((*self.risk_categories, *self.always, *self.never, *OTHER)))


class DebatePolicy(Struct, frozen=True, rename="camel"):
    """The settings of a debate that its case leaves out. Amounts are micro-dollars.

    ``diversity`` is the least that the seats of a debate must reach, and ``floating_names`` whether models may sit that
    are named by something else than a fixed artefact. ``adversarial_without_documents`` is whether the adversarial
    format takes a case without documents; the others take it.

    A case is high-stakes when its downside is above ``high_stakes_downside`` or its materiality is listed. Above
    ``swap_above`` the decider is asked twice, with the order turned round; ``None`` never asks it twice.
    """

    format: str
    ceiling: Annotated[MicroUSD, dollars("ceiling_usd")]
    ceiling_max: Annotated[MicroUSD, dollars("ceiling_max_usd")]
    rounds: Annotated[int, whole(1, ROUND_CEILING)]
    high_stakes_rounds: Annotated[int, whole(1, ROUND_CEILING)]
    high_stakes_downside: Annotated[MicroUSD, dollars("high_stakes_downside_usd")]
    high_stakes_materiality: Annotated[tuple[str, ...], words("high", "moderate", "low")]
    min_challenge_strength: Annotated[int, whole(1, 10)]
    require_critic_retry_below: Annotated[int, whole(1, 10)]
    attempts_per_turn: Annotated[int, whole(1, 10)]
    human_review: tuple[str, ...]
    expected_input_tokens: Annotated[int, whole(1, COUNT_MAX)]
    expected_output_per_mille: Annotated[int, per_mille("expected_output_share", 0, 1)]
    may_choose_models: bool
    diversity: Diversity = "sameModel"
    floating_names: Annotated[bool, switch("allowed", "refused")] = True
    adversarial_without_documents: Annotated[bool, switch("allowed", "refused")] = False
    swap_above: Annotated[MicroUSD | None, dollars("swap_above_usd", none="never")] = None


class StancesPolicy(Struct, frozen=True, rename="camel"):
    """The defaults of stances, and the bounds of a case."""

    rounds: int = 2
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 6
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 6
    anonymize_transcript: bool = True
    shuffle_for_judge: bool = True
    synthesizer: bool = True


class BallotPolicy(Struct, frozen=True, rename="camel"):
    """The defaults of a ballot, and the bounds of a case.

    ``votes`` are the options if a case names none; ``escalate`` is always one more. More than
    ``threshold_per_mille`` of the debaters decide, or all of them if that is 1000.
    """

    rounds: int = 2
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 4
    debaters: int = 3
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    votes: tuple[str, ...] = ("approve", "revise")
    votes_max: Annotated[int, whole(2, VOTES_MAX)] = 10
    threshold_per_mille: Annotated[int, share("threshold_share")] = 500


THRESHOLDS: Mapping[QuestionType, int] = {
    "factual": 850,
    "normative": 800,
    "business": 850,
    "prediction": 850,
    "brainstorm": 800,
    "belief": 750,
}
"""The default consensus that ends a panel, per mille."""


class PanelPolicy(Struct, frozen=True, rename="camel"):
    """The defaults of a panel, and the bounds of a case, which its reference calls the limits of a plan.

    ``rounds`` include the blind one. ``thresholds`` are the consensus that ends a debate, per mille, by question type.
    An automatic choice of models uses their track records. A model with ``track_record_debates`` debates counts half by
    its own record and half by the middle of the scale.
    """

    rounds: int = 3
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 10
    debaters: int = 3
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    adjudicator: Literal["algorithmic", "model"] = "algorithmic"
    classifier: Literal["rules", "model"] = "rules"
    mode: Literal["auto", "manual"] = "auto"
    track_record_debates: Annotated[int, whole(1, 1_000)] = 5
    thresholds: Annotated[Mapping[QuestionType, int], shares(THRESHOLDS)] = msgspec.field(
        default_factory=lambda: THRESHOLDS
    )


class ConvergencePolicy(Struct, frozen=True, rename="camel"):
    """The defaults of convergence, and the bounds of a case. ``rounds`` do not include the independent one."""

    rounds: int = 2
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 6
    debaters: int = 3
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    judge: bool = True
    convergence_check: bool = True
    similarity_per_mille: Annotated[int, share("similarity")] = 850
    ties: Literal["lowestDebater", "noAnswer"] = "lowestDebater"


class FormatsPolicy(Struct, frozen=True, rename="camel"):
    """The rules of each format but the adversarial one. ``auto`` maps task types to the format that it selects."""

    auto: Annotated[Mapping[str, str], table_of_any()] = {}
    stances: StancesPolicy = StancesPolicy()
    ballot: BallotPolicy = BallotPolicy()
    panel: PanelPolicy = PanelPolicy()
    convergence: ConvergencePolicy = ConvergencePolicy()
