"""The options of convergence."""

from __future__ import annotations

from decimal import Decimal

from service.debate.model import ConvergenceOptions, Debater
from service.debate.replies import Position, Ruling
from service.errors import InvalidCase
from service.intake.formats.shared import (
    SAID,
    WHOLE,
    Reading,
    Request,
    default,
    filled,
    masked,
    most,
    named,
    number,
    reviewed,
    screened,
    spoken,
    swapped,
    unassigned,
)
from service.intake.request import OptionsRequest
from service.policy import ConvergencePolicy, Policy


def _read(request: Request, asked: OptionsRequest, policy: Policy) -> ConvergenceOptions:
    rules = policy.formats.convergence
    debaters = _debaters(asked, rules)
    judge = default(asked.judge, rules.judge)
    if judge:
        filled("judge", policy, "/options/judge", "send judge false")
    if asked.judge_instructions is not None and not judge:
        raise InvalidCase(
            "judgeInstructions are for a judge, and judge is false; leave out one of the two",
            pointers=("/options/judgeInstructions",),
        )
    similarity = asked.convergence_similarity
    return ConvergenceOptions(
        debaters=debaters,
        max_rounds=most(asked, rules.rounds, rules.rounds_max),
        human_review=reviewed(request, policy),
        judge=judge,
        convergence_check=default(asked.convergence_check, rules.convergence_check),
        convergence_similarity=rules.similarity_per_mille if similarity is None else _per_mille(similarity),
        ties=default(asked.ties, rules.ties),
        debater_instructions=spoken("debaterInstructions", asked.debater_instructions),
        judge_instructions=spoken("judgeInstructions", asked.judge_instructions),
        swapped=judge and swapped(request, policy),
        screened=screened(policy),
        masked=judge and masked(request, policy),
    )


def _debaters(asked: OptionsRequest, rules: ConvergencePolicy) -> tuple[Debater, ...] | int:
    """Debaters with names of their own, or how many there are."""
    if not isinstance(asked.debaters, tuple):
        return number(asked, rules.debaters, rules.debaters_max)
    debaters = named(asked, None, rules.debaters_max)
    unassigned("convergence", debaters)
    return debaters


def _per_mille(share: Decimal) -> int:
    if not share.is_finite() or not 0 <= share <= 1 or share * WHOLE != int(share * WHOLE):
        raise InvalidCase(
            f"convergenceSimilarity must be from 0 to 1 with at most three decimals, found {str(share)[:40]}",
            pointers=("/options/convergenceSimilarity",),
        )
    return int(share * WHOLE)


READING = Reading(
    options=(
        "debaters",
        "maxRounds",
        "judge",
        "convergenceCheck",
        "convergenceSimilarity",
        "ties",
        "debaterInstructions",
        "judgeInstructions",
        "models",
    ),
    read=_read,
    replies={
        "convergence.debater": Position("-", (SAID,)),
        "convergence.judge": Ruling("-", "-", "LOW", ("-",)),
    },
    draws=None,
    replaceable="convergence.debater",
)
