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
    """How many times the expected cost the downside has to exceed, at least 1."""
    certain_above: Annotated[MicroUSD, dollars("certain_above_usd"), STATED] = 1_000_000_000_000
    """US dollars: above this downside a confident answer is debated too."""
    confidence_floor: Annotated[Decimal, fraction(), STATED] = Decimal("0.9")
    """The confidence below which an answer counts as uncertain: a share from 0 to 1, as a decimal string."""
    risk_categories: Annotated[tuple[str, ...], names(), STATED] = (
        "contract",
        "security",
        "architecture",
        "investment",
        "compliance",
    )
    """The task types that are debated on their merits."""
    always: Annotated[tuple[str, ...], names(), STATED] = ()
    """The task types that are always debated."""
    never: Annotated[tuple[str, ...], names(), STATED] = ()
    """The task types that are never debated."""
    may_force: Annotated[tuple[str, ...], names(), STATED] = ("operator", "validator")
    """The roles that may force a decision either way, with a reason."""
    unknown_task_type: Annotated[str, STATED] = "decline"
    """What becomes of a task type that policy does not know: `decline`, `refuse`, or `as:` and a known type that takes
    its place."""
    thresholds: Annotated[Mapping[str, MicroUSD], dollars_each("thresholdsUSD"), STATED] = {}
    """US dollars that the downside is compared with, by task type. Other types have the format's expected cost."""

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
    ``swap_above`` the decider is asked twice, with the order turned round; ``None`` never asks it twice. Above
    ``mask_above`` it is asked once more in a case with flagged passages, with these masked.
    """

    format: str
    """The format of a case that names none."""
    ceiling: Annotated[MicroUSD, dollars("ceiling_usd")]
    """US dollars that a debate may cost where the case names no ceiling."""
    ceiling_max: Annotated[MicroUSD, dollars("ceiling_max_usd")]
    """US dollars: the highest ceiling that a case may name."""
    rounds: Annotated[int, whole(1, ROUND_CEILING)]
    """The rounds of a usual adversarial debate, from 1 to 3."""
    high_stakes_rounds: Annotated[int, whole(1, ROUND_CEILING)]
    """The rounds of an adversarial debate with high stakes, from 1 to 3."""
    high_stakes_downside: Annotated[MicroUSD, dollars("high_stakes_downside_usd")]
    """US dollars: above this downside the stakes are high."""
    high_stakes_materiality: Annotated[tuple[str, ...], words("high", "moderate", "low")]
    """The materialities with which they are high too."""
    min_challenge_strength: Annotated[int, whole(1, 10)]
    """The least strength, from 1 to 10, of an effective challenge."""
    require_critic_retry_below: Annotated[int, whole(1, 10)]
    """Below this strength, from 1 to 10, the critic is asked once more."""
    attempts_per_turn: Annotated[int, whole(1, 10)]
    """How many attempts of one model may fail in a turn, from 1 to 10. A fallback has as many."""
    human_review: tuple[str, ...]
    """The task types whose outcome a person must always decide."""
    expected_input_tokens: Annotated[int, whole(1, COUNT_MAX)]
    expected_output_per_mille: Annotated[int, per_mille("expected_output_share", 0, 1)]
    may_choose_models: bool
    """Whether a case may name the models of its seats."""
    diversity: Diversity = "sameModel"
    """The least difference between the models of seats that challenge each other."""
    floating_names: Annotated[bool, switch("allowed", "refused")] = True
    """Whether a model may have a name that the vendor can give to another model."""
    adversarial_without_documents: Annotated[bool, switch("allowed", "refused")] = False
    """Whether the adversarial format takes a case without documents."""
    swap_above: Annotated[MicroUSD | None, dollars("swap_above_usd", none="never")] = None
    """US dollars: above this downside the decider is asked twice, the second time in the reverse order. Absent means
    never."""
    mask_above: Annotated[MicroUSD | None, dollars("mask_above_usd", none="never")] = None
    """US dollars: above this downside the decider is asked once more with the passages masked that speak to a model, if
    the case has any. Absent means never."""


class StancesPolicy(Struct, frozen=True, rename="camel"):
    """The defaults of stances, and the bounds of a case."""

    rounds: int = 2
    """The rounds where the case names none, from 1 to 10."""
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 6
    """The most rounds that a case may ask for, from 1 to 10."""
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 6
    """The most debaters that a case may have, from 2 to 10."""
    anonymize_transcript: bool = True
    """Whether the judge usually reads the stances without the debaters' names."""
    shuffle_for_judge: bool = True
    """Whether the judge usually reads each round in an order derived from the seed."""
    synthesizer: bool = True
    """Whether a synthesizer usually writes the verdict into a JSON Schema."""


class BallotPolicy(Struct, frozen=True, rename="camel"):
    """The defaults of a ballot, and the bounds of a case.

    ``votes`` are the options if a case names none; ``escalate`` is always one more. More than
    ``threshold_per_mille`` of the debaters decide, or all of them if that is 1000.
    """

    rounds: int = 2
    """The rounds where the case names none, from 1 to 10."""
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 4
    """The most rounds that a case may ask for, from 1 to 10."""
    debaters: int = 3
    """The number of debaters where the case names none, from 2 to 10."""
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    """The most debaters that a case may have, from 2 to 10."""
    votes: tuple[str, ...] = ("approve", "revise")
    """The options where the case names none. `escalate` is always one more."""
    votes_max: Annotated[int, whole(2, VOTES_MAX)] = 10
    """The most options that a case may have, from 2 to 20."""
    threshold_per_mille: Annotated[int, share("threshold_share")] = 500
    """The share of the debaters, from 0 to 1, that more than so many decide by. With 1 all have to agree."""


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
    """The rounds where the case names none, the blind one included, from 1 to 10."""
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 10
    """The most rounds that a case may ask for, the blind one included, from 1 to 10."""
    debaters: int = 3
    """The number of debaters where the case names none, from 2 to 10."""
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    """The most debaters that a case may have, from 2 to 10."""
    adjudicator: Literal["algorithmic", "model"] = "algorithmic"
    """What usually measures consensus: rules of code, or a model."""
    classifier: Literal["rules", "model"] = "rules"
    """What reads the type of a question that the case does not name: rules of code, or a model."""
    mode: Literal["auto", "manual"] = "auto"
    """How debaters are usually chosen: by their track records, or by policy's preference."""
    track_record_debates: Annotated[int, whole(1, 1_000)] = 5
    """The number of debates with which a model's own record counts half, from 1 to 1,000."""
    thresholds: Annotated[Mapping[QuestionType, int], shares(THRESHOLDS)] = msgspec.field(
        default_factory=lambda: THRESHOLDS
    )
    """The consensus that ends a debate, by type of question: shares from 0 to 1."""


class ConvergencePolicy(Struct, frozen=True, rename="camel"):
    """The defaults of convergence, and the bounds of a case. ``rounds`` do not include the independent one."""

    rounds: int = 2
    """The rounds after the independent one where the case names none, from 1 to 10."""
    rounds_max: Annotated[int, whole(1, ROUNDS_MAX)] = 6
    """The most rounds that a case may ask for, from 1 to 10."""
    debaters: int = 3
    """The number of debaters where the case names none, from 2 to 10."""
    debaters_max: Annotated[int, whole(DEBATERS_MIN, DEBATERS_MAX)] = 10
    """The most debaters that a case may have, from 2 to 10."""
    judge: bool = True
    """Whether a judge usually decides."""
    convergence_check: bool = True
    """Whether answers that agree usually end the debate early."""
    similarity_per_mille: Annotated[int, share("similarity")] = 850
    """The overlap of words that ends the debate: a share from 0 to 1."""
    ties: Literal["lowestDebater", "noAnswer"] = "lowestDebater"
    """The usual result of a tie: the answer of the first debater, or none."""


class FormatsPolicy(Struct, frozen=True, rename="camel"):
    """The rules of each format but the adversarial one. ``auto`` maps task types to the format that it selects."""

    auto: Annotated[Mapping[str, str], table_of_any()] = {}
    """The format that `auto` chooses, by task type. Other types have the usual format."""
    stances: StancesPolicy = StancesPolicy()
    """The rules of the format stances."""
    ballot: BallotPolicy = BallotPolicy()
    """The rules of the format ballot."""
    panel: PanelPolicy = PanelPolicy()
    """The rules of the format panel."""
    convergence: ConvergencePolicy = ConvergencePolicy()
    """The rules of the format convergence."""
